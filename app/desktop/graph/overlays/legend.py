"""The graph's legend; a click on an entry hides or shows its nodes."""

from __future__ import annotations

import html
from collections.abc import Collection, Sequence

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QFrame, QLabel, QToolButton, QWidget

from app.desktop.graph.node_style import LegendEntry, relation_color
from app.desktop.graph.render.sprites import draw_disc
from app.desktop.runtime.translation import PluralText
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon

_MAX_GROUPS = 8
_ALWAYS_SHOWN = ("unresolved", "attachment")
_MAX_RELATIONS = 8
_MAX_LABEL_CHARS = 20
_PADDING = 6
_MIN_ROW_HEIGHT = 24
_ENTRY_GAP = 2


class Legend(QFrame):
    """Lists node groups and relation types; can be collapsed.

    Signals:
        toggled: The key of a group, and whether to show its nodes.
        resized: The user collapsed or expanded the legend.
    """

    toggled = Signal(str, bool)
    resized = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("graphLegend")
        self.setAccessibleName(self.tr("Graph legend"))
        self._shown_state: object = None
        self._entries: list[QWidget] = []
        self._relations: list[QWidget] = []
        self._user_choice: bool | None = None
        self._is_small = False
        self._theme: Theme | None = None
        self._fold_button = QToolButton(self)
        self._fold_button.setAutoRaise(True)
        self._fold_button.setIconSize(QSize(14, 14))
        self._fold_button.clicked.connect(self._toggle)

    @property
    def is_expanded(self) -> bool:
        """True if the legend is expanded: by the user's choice, otherwise if there is space."""
        return not self._is_small if self._user_choice is None else self._user_choice

    @property
    def count(self) -> int:
        """The number of node groups listed."""
        return len(self._entries)

    def show_groups(
        self,
        groups: Sequence[LegendEntry],
        relations: Sequence[str],
        hidden: Collection[str],
        theme: Theme,
        ratio: float,
        sizes: str = "",
    ) -> None:
        """Replace the entries.

        Args:
            groups: The node groups. Empty ones are omitted; beyond the first eight, only unresolved links and
                attachments are listed.
            relations: The relation types, most frequent first; only the first eight are listed.
            hidden: The keys of hidden groups.
            theme: The theme.
            ratio: Device pixels per pixel.
            sizes: The meaning of node sizes, if it is not the number of links.
        """
        state = (tuple(groups), tuple(relations), frozenset(hidden), theme.name, ratio, sizes)
        if state == self._shown_state:
            return
        self._shown_state = state
        for widget in (*self._entries, *self._relations):
            widget.hide()
            widget.deleteLater()
        visible_groups = [group for group in groups[:_MAX_GROUPS] if group.count]
        visible_groups += [
            group for group in groups[_MAX_GROUPS:] if group.count and group.key in _ALWAYS_SHOWN
        ]
        self._entries = [
            self._create_entry(group, group.key not in hidden, theme, ratio) for group in visible_groups
        ]
        self._relations = [self._create_label(self.tr("Size: {0}").format(sizes), "")] if sizes else []
        self._relations += [self._create_relation_label(name, theme) for name in relations[:_MAX_RELATIONS]]
        self._theme = theme
        self._update_fold_button()

    def arrange(self, width: int, *, small: bool = False) -> None:
        """Lay the entries out in lines of at most `width` pixels and resize to fit.

        Relations have one line; those that do not fit are hidden. In a `small` view the legend is collapsed
        until the user expands it.
        """
        if small != self._is_small:
            self._is_small = small
            self._update_fold_button()
        # A row is as tall as its text, which grows with the zoom.
        texts = (*self._entries, *self._relations)
        row_height = max([_MIN_ROW_HEIGHT, *(widget.sizeHint().height() for widget in texts)])
        # The padding of the button grows with the zoom; a fixed size would leave no space for its icon.
        button_size = max(
            _MIN_ROW_HEIGHT, self._fold_button.sizeHint().width(), self._fold_button.sizeHint().height()
        )
        content_width = 0
        row_number = 0
        right = width - _PADDING - button_size
        for widgets in (self._entries, self._relations):
            x = _PADDING
            for widget in widgets:
                size = widget.sizeHint()
                fits = x == _PADDING or x + size.width() <= right
                widget.setVisible(self.is_expanded and (fits or widgets is self._entries))
                if widget.isHidden():
                    continue
                if not fits:
                    x, row_number = _PADDING, row_number + 1
                widget.setGeometry(x, 4 + row_number * row_height, min(size.width(), right - x), row_height)
                x += size.width() + _ENTRY_GAP
                content_width = max(content_width, x)
            row_number += bool(widgets)
        if self.is_expanded:
            self.resize(
                min(width, content_width + button_size + 4), 8 + max(button_size, row_number * row_height)
            )
            top = 4 + max(0, row_height - button_size) // 2
        else:
            self.resize(button_size + 8, button_size + 8)
            top = 4
        self._fold_button.setGeometry(self.width() - button_size - 4, top, button_size, button_size)

    def _toggle(self) -> None:
        self._user_choice = not self.is_expanded
        self._update_fold_button()
        self.resized.emit()

    def _update_fold_button(self) -> None:
        if self._theme is None:
            return
        text = self.tr("Collapse legend") if self.is_expanded else self.tr("Show legend")
        self._fold_button.setIcon(icon(self._theme, "caret-down" if self.is_expanded else "palette"))
        self._fold_button.setToolTip(text)
        self._fold_button.setAccessibleName(text)

    def _create_entry(self, group: LegendEntry, is_visible: bool, theme: Theme, ratio: float) -> QToolButton:
        button = QToolButton(self)
        label = (
            group.label
            if len(group.label) <= _MAX_LABEL_CHARS
            else group.label[: _MAX_LABEL_CHARS - 1].rstrip() + "…"
        )
        button.setText(f" {label.replace('&', '&&')}  {group.count:,}")
        button.setIcon(_draw_swatch(group, is_visible, theme, ratio))
        button.setIconSize(QSize(12, 12))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setAutoRaise(True)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.setToolTip((self.tr("Hide {0}") if is_visible else self.tr("Show {0}")).format(group.label))
        count = PluralText("Legend", "{0} node", "{0} nodes").format(group.count)
        state = self.tr("shown") if is_visible else self.tr("hidden")
        button.setAccessibleName(f"{group.label}, {count}, {state}")
        button.clicked.connect(lambda: self.toggled.emit(group.key, not is_visible))
        return button

    def _create_relation_label(self, name: str, theme: Theme) -> QLabel:
        text = name.replace("_", " ").lower()
        color = relation_color(theme, name)
        label = self._create_label(
            f'<span style="color:{color}">━</span>&nbsp;{html.escape(text)}',
            self.tr("Links of type “{0}”").format(text),
        )
        label.setTextFormat(Qt.TextFormat.RichText)
        return label

    def _create_label(self, text: str, tooltip: str) -> QLabel:
        label = QLabel(text, self)
        label.setProperty("tone", "muted")
        label.setToolTip(tooltip)
        label.setContentsMargins(6, 0, 6, 0)
        return label


def _draw_swatch(group: LegendEntry, is_visible: bool, theme: Theme, ratio: float) -> QIcon:
    """Draw an icon of the group's nodes as in the graph, or a gray ring if they are hidden."""
    pixmap = QPixmap(round(12 * ratio), round(12 * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if is_visible:
        draw_disc(painter, QPointF(6, 6), 4.2, group, theme.panel)
    else:
        painter.setPen(QPen(QColor(theme.faint), 1))
        painter.drawEllipse(QPointF(6, 6), 4.0, 4.0)
    painter.end()
    return QIcon(pixmap)
