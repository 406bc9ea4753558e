"""The parts of a panel: title bar, empty state, search field, flat buttons."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import (
    QIcon,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.desktop.runtime import tasks
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.plain_labels import wrapped_label

_ICON_SIZE = 18
_TITLE_HEIGHT = 38
_MIN_NAME_CHARS = 10


class ThemedButton(QToolButton):
    """A flat button whose icon follows the theme; `label` is its tooltip and accessible name."""

    def __init__(
        self,
        theme: ThemeSource,
        symbol: str,
        label: str,
        parent: QWidget | None = None,
        size: int = _ICON_SIZE,
    ) -> None:
        super().__init__(parent)
        self._symbol = symbol
        self._theme_source = theme
        self._size = size
        self.set_label(label)
        self.setAutoRaise(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme.changed.connect(self._draw)
        self._draw(theme.theme)

    def set_label(self, label: str) -> None:
        """Replace the tooltip and the accessible name."""
        self.setToolTip(label)
        self.setAccessibleName(label)

    def set_symbol(self, symbol: str) -> None:
        """Replace the icon."""
        self._symbol = symbol
        self._draw(self._theme_source.theme)

    def _draw(self, theme: Theme) -> None:
        size = round(self._size * self._theme_source.zoom)
        self.setIconSize(QSize(size, size))
        self.setIcon(icon(theme, self._symbol))


class PanelTitle(QWidget):
    """The title bar of a panel: its name, its count, and its buttons on the right."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panelTitle")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(8, 4, 4, 4)
        self._row.setSpacing(2)
        self._name = ElidedLabel(text)
        self._count = QLabel()
        self._count.setProperty("tone", "faint")
        self._row.addWidget(self._name)
        self._row.addWidget(self._count)
        self._row.addStretch(1)
        self._buttons: list[QWidget] = []

    def minimumSizeHint(self) -> QSize:
        """Return the same minimum height for every title bar."""
        return super().minimumSizeHint().expandedTo(QSize(0, _TITLE_HEIGHT))

    def sizeHint(self) -> QSize:
        """Return the preferred size, with the same minimum height for every title bar."""
        return super().sizeHint().expandedTo(QSize(0, _TITLE_HEIGHT))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the count and elide the name if they do not fit next to the buttons."""
        super().resizeEvent(event)
        self._fit_contents()

    def _fit_contents(self) -> None:
        hints = (widget.sizeHint().width() for widget in self._buttons if not widget.isHidden())
        used_width = sum(hint + self._row.spacing() for hint in hints) + self._name.sizeHint().width() + 14
        free_width = self.width() - used_width - self._count.sizeHint().width() - self._row.spacing()
        self._count.setVisible(bool(self._count.text()) and free_width >= 0)
        max_width = _MIN_NAME_CHARS * self._name.fontMetrics().averageCharWidth()
        self._name.setMinimumWidth(min(self._name.sizeHint().width(), max_width))
        self._name.setToolTip(" ".join(part for part in (self._name.text(), self._count.text()) if part))

    def set_text(self, text: str) -> None:
        """Replace the name."""
        self._name.setText(text)
        self._fit_contents()

    def set_count(self, text: str) -> None:
        """Show `text` after the name; an empty string hides it."""
        self._count.setText(text)
        self._fit_contents()

    def add(self, widget: QWidget) -> None:
        """Add `widget` on the right."""
        self._row.addWidget(widget)
        self._buttons.append(widget)


class Panel(QWidget):
    """A column with a title bar; subclasses add their content below it."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(title)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)
        self.title = PanelTitle(title, self)
        self.column.addWidget(self.title)

    def _start(self, work: Coroutine[Any, Any, object], action: str) -> None:
        """Run `work` until it ends or the panel is destroyed; `action` is named if it fails."""
        tasks.start(work, owner=self, action=action)


class SearchField(QLineEdit):
    """A field for searching or filtering, with a magnifying glass and a clear button.

    Args:
        theme: The source of themes, or the first theme if the owner calls `set_theme`.
        label: The placeholder and accessible name.
        parent: The parent.
    """

    def __init__(self, theme: ThemeSource | Theme, label: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPlaceholderText(label)
        self.setAccessibleName(label)
        position = QLineEdit.ActionPosition
        self._search_action = self.addAction(QIcon(), position.LeadingPosition)
        self._clear_action = self.addAction(QIcon(), position.TrailingPosition)
        self._clear_action.setToolTip(self.tr("Clear"))
        self._clear_action.triggered.connect(self.clear)
        self._clear_action.setVisible(False)
        self.textChanged.connect(lambda text: self._clear_action.setVisible(bool(text)))
        if isinstance(theme, ThemeSource):
            theme.changed.connect(self.set_theme)
            theme = theme.theme
        self.set_theme(theme)

    @property
    def theme(self) -> Theme:
        """The current theme."""
        return self._theme

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Clear the field with Escape; if it is empty, pass the key to the parent."""
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme to the icons."""
        self._theme = theme
        self._search_action.setIcon(icon(theme, "magnifying-glass", theme.faint))
        self._clear_action.setIcon(icon(theme, "x", theme.muted))


class ElidedLabel(QLabel):
    """Plain text on one line, elided if needed, in the middle by default; the tooltip is the whole text."""

    def __init__(
        self,
        text: str = "",
        tone: str = "",
        parent: QWidget | None = None,
        *,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
    ) -> None:
        super().__init__(parent)
        self._elide = elide
        if tone:
            self.setProperty("tone", tone)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Replace the text."""
        super().setText(text)
        self.setToolTip(text)
        self.setAccessibleName(text)

    def minimumSizeHint(self) -> QSize:
        """Return a small width, because the text can be elided."""
        return QSize(40, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the text, elided to the width."""
        with QPainter(self) as painter:
            text = self.fontMetrics().elidedText(self.text(), self._elide, self.width())
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)


class ElidedButton(QPushButton):
    """A button whose text is elided in the middle if needed; the tooltip is the whole text."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Replace the text."""
        super().setText(text)
        self.setToolTip(text.replace("&&", "&"))

    def minimumSizeHint(self) -> QSize:
        """Return a width of a few letters, because the text can be elided."""
        size = super().minimumSizeHint()
        return QSize(min(80, size.width()), size.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the button with its text elided to the width."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        contents = self.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, self)
        gap = 4 + option.iconSize.width() if not option.icon.isNull() else 0
        option.text = self.fontMetrics().elidedText(
            option.text, Qt.TextElideMode.ElideMiddle, contents.width() - gap, Qt.TextFlag.TextShowMnemonic
        )
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        painter.end()


class WrappedButton(QPushButton):
    """A button whose label wraps to as many lines as it needs; `label` is shown verbatim."""

    def __init__(self, label: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._label = label
        self.setText(_without_mnemonics(label))
        self.setAccessibleName(label)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        """Return True: the number of lines depends on the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of the wrapped label."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        size = self.fontMetrics().size(0, "\n".join(self._lines(width)))
        return self.style().sizeFromContents(QStyle.ContentsType.CT_PushButton, option, size, self).height()

    def minimumSizeHint(self) -> QSize:
        """Return a width of a few letters, because the label can wrap."""
        size = super().minimumSizeHint()
        return QSize(min(80, size.width()), size.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the button with its label wrapped to the width."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = _without_mnemonics("\n".join(self._lines(self.width())))
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        painter.end()

    def _lines(self, width: int) -> list[str]:
        """Return the lines of the label in a button of this width."""
        if (full_width := self.sizeHint().width()) <= width:
            return [self._label]
        frame = full_width - self.fontMetrics().horizontalAdvance(self._label)
        layout = QTextLayout(self._label, self.font())
        wrapping = QTextOption()
        wrapping.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(wrapping)
        layout.beginLayout()
        ends = [0]
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(1, width - frame))
            ends.append(line.textStart() + line.textLength())
        layout.endLayout()
        # Qt counts UTF-16 units.
        text = self._label.encode("utf-16-le")
        return [text[2 * start : 2 * end].decode("utf-16-le").rstrip() for start, end in pairwise(ends)]


def _without_mnemonics(text: str) -> str:
    """Return a button's text with its ampersands escaped, which would otherwise mark a shortcut."""
    return text.replace("&", "&&")


class EmptyState(QWidget):
    """The message of an empty panel: an icon, a heading, an explanation and an optional button."""

    def __init__(
        self,
        theme: ThemeSource,
        symbol: str,
        heading: str,
        text: str,
        action: tuple[str, Callable[[], None]] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("emptyState")
        self._symbol = symbol
        self._theme_source = theme
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 8, 24, 8)
        column.setSpacing(6)
        column.addStretch(2)
        self._icon = QLabel()
        self._icon.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._heading = _centered_label(heading, "strong")
        self._text = _centered_label(text, "")
        self._text.setProperty("tone", "muted")
        for widget in (self._icon, self._heading, self._text):
            column.addWidget(widget)
        if action is not None:
            button = QPushButton(action[0])
            button.clicked.connect(action[1])
            column.addSpacing(8)
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
        theme.changed.connect(self._draw)
        self._draw(theme.theme)

    def set_message(self, heading: str, text: str) -> None:
        """Replace the message."""
        self._heading.setText(heading)
        self._text.setText(text)
        self._fit_contents()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the icon if there is no space for it above the text."""
        super().resizeEvent(event)
        self._fit_contents()

    def _fit_contents(self) -> None:
        if (column := self.layout()) is None:
            return
        icon_height = 0 if self._icon.isHidden() else self._icon.sizeHint().height() + column.spacing()
        text_height = column.totalHeightForWidth(self.width()) - icon_height
        needed_height = text_height + self._icon.sizeHint().height() + column.spacing()
        self._icon.setVisible(needed_height <= self.height())

    def _draw(self, theme: Theme) -> None:
        size = round(32 * self._theme_source.zoom)
        self._icon.setPixmap(icon(theme, self._symbol, theme.faint).pixmap(size, size))


def _centered_label(text: str, size: str) -> QLabel:
    label = wrapped_label(text)
    label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    if size:
        label.setProperty("textSize", size)
    return label
