"""Controls of the graph's settings panel: collapsible sections, sliders, switches and query fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QIcon, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QSizePolicy,
    QSlider,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.desktop.search.query_field import QueryField
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.errors import QueryError
from app.index.saved_searches import SavedSearch

_TYPING_DELAY_MS = 220
_CONTEXT_CHARS = 14


class CollapsibleSection(QWidget):
    """A heading that collapses its content; `turned` carries the section's key and whether it is open."""

    turned = Signal(str, bool)

    def __init__(self, key: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.key = key
        self._theme: Theme | None = None
        self._head = QToolButton(self)
        self._head.setObjectName("graphSectionHead")
        self._head.setText(title)
        self._head.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._head.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._head.setIconSize(QSize(12, 12))
        self._head.setCheckable(True)
        self._head.setAutoRaise(True)
        self._head.clicked.connect(self._toggle)
        self.body = QWidget(self)
        self.column = QVBoxLayout(self.body)
        self.column.setContentsMargins(6, 2, 6, 10)
        self.column.setSpacing(6)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(2)
        whole.addWidget(self._head)
        whole.addWidget(self.body)
        self.open(True)

    @property
    def is_open(self) -> bool:
        """True if the content is visible."""
        return not self.body.isHidden()

    def open(self, on: bool) -> None:
        """Expand or collapse the content."""
        self.body.setVisible(on)
        self._head.setChecked(on)
        words = self.tr("{0}, expanded") if on else self.tr("{0}, collapsed")
        self._head.setAccessibleName(words.format(self._head.text()))
        self._head.setToolTip(self.tr("Collapse section") if on else self.tr("Expand section"))
        self._draw()

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme to the arrow."""
        self._theme = theme
        self._draw()

    def add(self, widget: QWidget) -> None:
        """Append `widget` to the content."""
        self.column.addWidget(widget)

    def _toggle(self) -> None:
        self.open(not self.is_open)
        self.turned.emit(self.key, self.is_open)

    def _draw(self) -> None:
        if self._theme is not None:
            symbol = "caret-down" if self.is_open else "caret-right"
            self._head.setIcon(icon(self._theme, symbol, self._theme.faint))


class _Slider(QSlider):
    """A slider that leaves the wheel to the panel; a double-click requests the default value."""

    reset = Signal()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the panel."""
        event.ignore()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Request the default value."""
        self.reset.emit()
        event.accept()


class SliderRow(QWidget):
    """A name, a value and a slider; `moved` carries the value at every step.

    Args:
        title: The name.
        words: The tool tip.
        low: The lowest value.
        high: The highest value.
        first: The default value, which a double-click restores.
        step: The difference of one step.
        shown: Formats the value.
    """

    moved = Signal(float)

    def __init__(
        self,
        title: str,
        words: str,
        low: float,
        high: float,
        first: float,
        step: float,
        shown: Callable[[float], str],
    ) -> None:
        super().__init__()
        self._step, self._first, self._shown = step, first, shown
        name = QLabel(title)
        self._value_label = QLabel()
        self._value_label.setProperty("tone", "muted")
        self.slider = _Slider(Qt.Orientation.Horizontal)
        self.slider.setRange(round(low / step), round(high / step))
        self.slider.setPageStep(max(1, round((high - low) / step / 10)))
        self.slider.setAccessibleName(title)
        for widget in (self, self.slider):
            widget.setToolTip(words)
        head = QHBoxLayout()
        head.addWidget(name)
        head.addStretch(1)
        head.addWidget(self._value_label)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.slider)
        self.setFocusProxy(self.slider)
        self.set_value(first)
        self.slider.valueChanged.connect(self._changed)
        self.slider.reset.connect(lambda: self.slider.setValue(round(self._first / self._step)))

    @property
    def value(self) -> float:
        """The current value."""
        return self.slider.value() * self._step

    def set_value(self, value: float) -> None:
        """Set the value without emitting a signal."""
        blocked = self.slider.blockSignals(True)
        self.slider.setValue(round(value / self._step))
        self.slider.blockSignals(blocked)
        self._value_label.setText(self._shown(self.value))

    def _changed(self) -> None:
        self._value_label.setText(self._shown(self.value))
        self.moved.emit(self.value)


def checkbox(title: str, words: str) -> QCheckBox:
    """Create a check box."""
    made = QCheckBox(title)
    made.setToolTip(words)
    return made


class SectionComboBox(QComboBox):
    """A combo box that leaves the wheel to the panel."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the panel."""
        event.ignore()


def with_label(title: str, widget: QWidget) -> QWidget:
    """Return a row of a label and `widget`."""
    made = QWidget()
    row = QHBoxLayout(made)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    name = QLabel(title)
    name.setBuddy(widget)
    row.addWidget(name)
    row.addWidget(widget, 1)
    if not widget.accessibleName():
        widget.setAccessibleName(title)
    return made


class GraphQueryField(QWidget):
    """A query field with a menu of saved searches, and the number of results or the error below it.

    `asked` carries the query when the user pauses or presses Enter.
    """

    asked = Signal(str)

    def __init__(self, theme: Theme, hint: str, words: str) -> None:
        super().__init__()
        self.field = QueryField(theme, hint)
        self.field.setToolTip(words)
        self.field.setAccessibleName(words)
        self._star = self.field.addAction(QIcon(), QLineEdit.ActionPosition.TrailingPosition)
        self._star.setToolTip(self.tr("Saved searches"))
        self._star.setVisible(False)
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._star.triggered.connect(self._show_menu)
        self._message = QLabel()
        self._message.setTextFormat(Qt.TextFormat.PlainText)
        self._message.setWordWrap(True)
        self._last = ""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.field)
        column.addWidget(self._message)
        self._message.hide()
        self.setFocusProxy(self.field)
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_DELAY_MS)
        self._typing.timeout.connect(self._ask)
        self.field.textEdited.connect(lambda _text: self._typing.start())
        self.field.textChanged.connect(self._on_cleared)
        self.field.returnPressed.connect(self._ask)
        self.set_theme(theme)

    def show_saved_searches(self, searches: Sequence[SavedSearch]) -> None:
        """Show saved searches in the menu of the star; hide the star if there are none."""
        self._menu.clear()
        for one in searches:
            action = self._menu.addAction(one.name)
            action.setToolTip(one.query)
            action.triggered.connect(lambda _=False, query=one.query: self._use_search(query))
        self._star.setVisible(bool(searches))

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        self.field.set_theme(theme)
        self._star.setIcon(icon(theme, "star"))

    @property
    def text(self) -> str:
        """The query, stripped."""
        return self.field.text().strip()

    @property
    def message(self) -> str:
        """The message below the field; empty if there is none."""
        return "" if self._message.isHidden() else self._message.text()

    def set_query(self, query: str) -> None:
        """Show `query` without emitting a signal."""
        self._last = query
        if query != self.text:
            self.field.setText(query)

    def show_answer(self, text: str) -> None:
        """Show the result below the field; empty for none."""
        self._show_text(text, "faint")

    def show_error(self, query: str, error: QueryError) -> None:
        """Show the error of `query` and its position."""
        self._show_text(f"{error_marker(query, error)}{error.message}", "danger")

    def _show_text(self, text: str, tone: str) -> None:
        self._message.setText(text)
        self._message.setVisible(bool(text))
        self.field.setProperty("invalid", tone == "danger")
        if self._message.property("tone") != tone:
            self._message.setProperty("tone", tone)
            self._message.style().polish(self._message)
        self.field.style().polish(self.field)

    def _show_menu(self) -> None:
        self._menu.popup(self.field.mapToGlobal(self.field.rect().bottomLeft()))

    def _use_search(self, query: str) -> None:
        self.field.setText(query)
        self._ask()

    def _on_cleared(self, text: str) -> None:
        if not text and self._last:
            self._ask()

    def _ask(self) -> None:
        self._typing.stop()
        if self.text != self._last:
            self._last = self.text
            self.asked.emit(self.text)


def error_marker(query: str, error: QueryError) -> str:
    """Return a line that marks the position of an error in `query`; empty if it is unknown."""
    position = error.data.get("position")
    if not isinstance(position, int) or position > len(query):
        return ""
    start = max(0, position - _CONTEXT_CHARS)
    before = ("…" if start else "") + query[start:position]
    return f"{before} ▸ {query[position : position + _CONTEXT_CHARS]}\n".replace(" ▸ \n", " ▸\n")
