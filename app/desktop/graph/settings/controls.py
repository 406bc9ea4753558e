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
from app.desktop.widgets.plain_labels import wrapped_label
from app.errors import QueryError
from app.index.saved_searches import SavedSearch

_TYPING_DELAY_MS = 220
_CONTEXT_CHARS = 14


class CollapsibleSection(QWidget):
    """A heading that collapses its content; `toggled` carries the section's key and its expanded state."""

    toggled = Signal(str, bool)

    def __init__(self, key: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.key = key
        self._theme: Theme | None = None
        self._header = QToolButton(self)
        self._header.setObjectName("graphSectionHead")
        self._header.setText(title)
        self._header.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._header.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._header.setIconSize(QSize(12, 12))
        self._header.setCheckable(True)
        self._header.setAutoRaise(True)
        self._header.clicked.connect(self._toggle)
        self.body = QWidget(self)
        self.column = QVBoxLayout(self.body)
        self.column.setContentsMargins(6, 2, 6, 10)
        self.column.setSpacing(6)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self._header)
        layout.addWidget(self.body)
        self.set_expanded(True)

    @property
    def is_expanded(self) -> bool:
        """True if the content is visible."""
        return not self.body.isHidden()

    def set_expanded(self, expanded: bool) -> None:
        """Expand or collapse the content."""
        self.body.setVisible(expanded)
        self._header.setChecked(expanded)
        template = self.tr("{0}, expanded") if expanded else self.tr("{0}, collapsed")
        self._header.setAccessibleName(template.format(self._header.text()))
        self._header.setToolTip(self.tr("Collapse section") if expanded else self.tr("Expand section"))
        self._update_arrow()

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme to the arrow."""
        self._theme = theme
        self._update_arrow()

    def add(self, widget: QWidget) -> None:
        """Append `widget` to the content."""
        self.column.addWidget(widget)

    def _toggle(self) -> None:
        self.set_expanded(not self.is_expanded)
        self.toggled.emit(self.key, self.is_expanded)

    def _update_arrow(self) -> None:
        if self._theme is not None:
            symbol = "caret-down" if self.is_expanded else "caret-right"
            self._header.setIcon(icon(self._theme, symbol, self._theme.faint))


class _Slider(QSlider):
    """A slider that leaves scrolling to the panel; a double-click requests the default value."""

    reset_requested = Signal()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Let the panel scroll instead."""
        event.ignore()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Request the default value."""
        self.reset_requested.emit()
        event.accept()


class SliderRow(QWidget):
    """A name, a value and a slider; `moved` carries the value at every step.

    Args:
        title: The name.
        tooltip: The tooltip.
        minimum: The lowest value.
        maximum: The highest value.
        default: The default value, which a double-click restores.
        step: The distance between neighboring values.
        format_value: Formats the value.
    """

    moved = Signal(float)

    def __init__(
        self,
        title: str,
        tooltip: str,
        minimum: float,
        maximum: float,
        default: float,
        step: float,
        format_value: Callable[[float], str],
    ) -> None:
        super().__init__()
        self._step, self._default, self._format = step, default, format_value
        name = QLabel(title)
        self._value_label = QLabel()
        self._value_label.setProperty("tone", "muted")
        self.slider = _Slider(Qt.Orientation.Horizontal)
        self.slider.setRange(round(minimum / step), round(maximum / step))
        self.slider.setPageStep(max(1, round((maximum - minimum) / step / 10)))
        self.slider.setAccessibleName(title)
        for widget in (self, self.slider):
            widget.setToolTip(tooltip)
        header = QHBoxLayout()
        header.addWidget(name)
        header.addStretch(1)
        header.addWidget(self._value_label)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(header)
        column.addWidget(self.slider)
        self.setFocusProxy(self.slider)
        self.set_value(default)
        self.slider.valueChanged.connect(self._emit_value)
        self.slider.reset_requested.connect(lambda: self.slider.setValue(round(self._default / self._step)))

    @property
    def value(self) -> float:
        """The current value."""
        return self.slider.value() * self._step

    def set_value(self, value: float) -> None:
        """Set the value without emitting a signal."""
        blocked = self.slider.blockSignals(True)
        self.slider.setValue(round(value / self._step))
        self.slider.blockSignals(blocked)
        self._value_label.setText(self._format(self.value))

    def _emit_value(self) -> None:
        self._value_label.setText(self._format(self.value))
        self.moved.emit(self.value)


def create_checkbox(title: str, tooltip: str) -> QCheckBox:
    """Create a checkbox."""
    box = QCheckBox(title)
    box.setToolTip(tooltip)
    return box


class SectionComboBox(QComboBox):
    """A combo box that leaves scrolling to the panel."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Let the panel scroll instead."""
        event.ignore()


def with_label(title: str, widget: QWidget) -> QWidget:
    """Return a row with a label and `widget`."""
    container = QWidget()
    row = QHBoxLayout(container)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    name = QLabel(title)
    name.setBuddy(widget)
    row.addWidget(name)
    row.addWidget(widget, 1)
    if not widget.accessibleName():
        widget.setAccessibleName(title)
    return container


class GraphQueryField(QWidget):
    """A query field with a menu of saved searches, and the number of results or the error below it.

    `submitted` carries the changed query when the user pauses typing, presses Enter, clears the field or
    chooses a saved search.
    """

    submitted = Signal(str)

    def __init__(self, theme: Theme, hint: str, description: str) -> None:
        super().__init__()
        self.field = QueryField(theme, hint)
        self.field.setToolTip(description)
        self.field.setAccessibleName(description)
        self._saved_searches_action = self.field.addAction(QIcon(), QLineEdit.ActionPosition.TrailingPosition)
        self._saved_searches_action.setToolTip(self.tr("Saved searches"))
        self._saved_searches_action.setVisible(False)
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._saved_searches_action.triggered.connect(self._show_menu)
        self._message = wrapped_label()
        self._submitted_query = ""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.field)
        column.addWidget(self._message)
        self._message.hide()
        self.setFocusProxy(self.field)
        self._typing_timer = QTimer(self, singleShot=True, interval=_TYPING_DELAY_MS)
        self._typing_timer.timeout.connect(self._submit)
        self.field.textEdited.connect(lambda _text: self._typing_timer.start())
        self.field.textChanged.connect(self._handle_clear)
        self.field.returnPressed.connect(self._submit)
        self.set_theme(theme)

    def show_saved_searches(self, searches: Sequence[SavedSearch]) -> None:
        """List the saved searches in the star's menu; hide the star if there are none."""
        self._menu.clear()
        for search in searches:
            action = self._menu.addAction(search.name)
            action.setToolTip(search.query)
            action.triggered.connect(lambda _=False, query=search.query: self._use_search(query))
        self._saved_searches_action.setVisible(bool(searches))

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        self.field.set_theme(theme)
        self._saved_searches_action.setIcon(icon(theme, "star"))

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
        self._submitted_query = query
        if query != self.text:
            self.field.setText(query)

    def show_result(self, text: str) -> None:
        """Show a result below the field; an empty string hides it."""
        self._show_message(text, "faint")

    def show_error(self, query: str, error: QueryError) -> None:
        """Show an error in `query`, with its position if it is known."""
        self._show_message(f"{error_marker(query, error)}{error.message}", "danger")

    def _show_message(self, text: str, tone: str) -> None:
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
        self._submit()

    def _handle_clear(self, text: str) -> None:
        if not text and self._submitted_query:
            self._submit()

    def _submit(self) -> None:
        self._typing_timer.stop()
        if self.text != self._submitted_query:
            self._submitted_query = self.text
            self.submitted.emit(self.text)


def error_marker(query: str, error: QueryError) -> str:
    """Return a line that marks an error's position in `query`; empty if the position is unknown."""
    position = error.data.get("position")
    if not isinstance(position, int) or position > len(query):
        return ""
    start = max(0, position - _CONTEXT_CHARS)
    text_before = ("…" if start else "") + query[start:position]
    return f"{text_before} ▸ {query[position : position + _CONTEXT_CHARS]}\n".replace(" ▸ \n", " ▸\n")
