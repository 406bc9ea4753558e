"""The small parts that the graph's sheet is made of: sections that fold, sliders, switches, query fields."""

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
    """A heading that folds what is under it; `turned` carries the section's key and whether it is open."""

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
        """Whether its content is shown."""
        return not self.body.isHidden()

    def open(self, on: bool) -> None:
        """Show or fold its content."""
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
        """Put `widget` under what is there."""
        self.column.addWidget(widget)

    def _toggle(self) -> None:
        self.open(not self.is_open)
        self.turned.emit(self.key, self.is_open)

    def _draw(self) -> None:
        if self._theme is not None:
            symbol = "caret-down" if self.is_open else "caret-right"
            self._head.setIcon(icon(self._theme, symbol, self._theme.faint))


class _Slider(QSlider):
    """The wheel scrolls what the slider stands on; a double click asks for the first value."""

    reset = Signal()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Qt's call for the wheel."""
        event.ignore()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Qt's call for a double click."""
        self.reset.emit()
        event.accept()


class SliderRow(QWidget):
    """A name, the value, and a slider; `moved` carries the value at every step.

    Args:
        title: What is set.
        words: What it does, as the tool tip.
        low: The least value.
        high: The largest value.
        first: What a double click goes back to.
        step: The value of one step.
        shown: The value in words.
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
        self._said = QLabel()
        self._said.setProperty("tone", "muted")
        self.slider = _Slider(Qt.Orientation.Horizontal)
        self.slider.setRange(round(low / step), round(high / step))
        self.slider.setPageStep(max(1, round((high - low) / step / 10)))
        self.slider.setAccessibleName(title)
        for widget in (self, self.slider):
            widget.setToolTip(words)
        head = QHBoxLayout()
        head.addWidget(name)
        head.addStretch(1)
        head.addWidget(self._said)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.slider)
        self.setFocusProxy(self.slider)
        self.set(first)
        self.slider.valueChanged.connect(self._changed)
        self.slider.reset.connect(lambda: self.slider.setValue(round(self._first / self._step)))

    @property
    def value(self) -> float:
        """Where the slider stands."""
        return self.slider.value() * self._step

    def set(self, value: float) -> None:
        """Put the slider there, without a word."""
        blocked = self.slider.blockSignals(True)
        self.slider.setValue(round(value / self._step))
        self.slider.blockSignals(blocked)
        self._said.setText(self._shown(self.value))

    def _changed(self) -> None:
        self._said.setText(self._shown(self.value))
        self.moved.emit(self.value)


def checkbox(title: str, words: str, *, on: bool = False) -> QCheckBox:
    """A box to tick."""
    made = QCheckBox(title)
    made.setToolTip(words)
    made.setChecked(on)
    return made


class SectionComboBox(QComboBox):
    """A choice; the wheel scrolls what it stands on instead of changing it."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Qt's call for the wheel."""
        event.ignore()


def with_label(title: str, widget: QWidget) -> QWidget:
    """A name with `widget` beside it."""
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
        self._said = QLabel()
        self._said.setTextFormat(Qt.TextFormat.PlainText)
        self._said.setWordWrap(True)
        self._last = ""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.field)
        column.addWidget(self._said)
        self._said.hide()
        self.setFocusProxy(self.field)
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_DELAY_MS)
        self._typing.timeout.connect(self._ask)
        self.field.textEdited.connect(lambda _text: self._typing.start())
        self.field.textChanged.connect(self._emptied)
        self.field.returnPressed.connect(self._ask)
        self.set_theme(theme)

    def offer(self, searches: Sequence[SavedSearch]) -> None:
        """Offer these saved searches behind the star at the end of the line; without any there is none."""
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
        """The query, without spaces around it."""
        return self.field.text().strip()

    @property
    def said(self) -> str:
        """The message below the field; empty if there is none."""
        return "" if self._said.isHidden() else self._said.text()

    def set(self, query: str) -> None:
        """Show `query`, without asking."""
        self._last = query
        if query != self.text:
            self.field.setText(query)

    def show_answer(self, words: str) -> None:
        """Say under the line what was found; empty for nothing."""
        self._show_text(words, "faint")

    def show_error(self, query: str, error: QueryError) -> None:
        """Say why `query` cannot be read, and where it ends to be readable."""
        self._show_text(f"{error_marker(query, error)}{error.message}", "danger")

    def _show_text(self, words: str, tone: str) -> None:
        self._said.setText(words)
        self._said.setVisible(bool(words))
        self.field.setProperty("invalid", tone == "danger")
        if self._said.property("tone") != tone:
            self._said.setProperty("tone", tone)
            self._said.style().polish(self._said)
        self.field.style().polish(self.field)

    def _show_menu(self) -> None:
        self._menu.popup(self.field.mapToGlobal(self.field.rect().bottomLeft()))

    def _use_search(self, query: str) -> None:
        self.field.setText(query)
        self._ask()

    def _emptied(self, text: str) -> None:
        if not text and self._last:
            self._ask()

    def _ask(self) -> None:
        self._typing.stop()
        if self.text != self._last:
            self._last = self.text
            self.asked.emit(self.text)


def error_marker(query: str, error: QueryError) -> str:
    """A line that points out where reading `query` ended; empty where the error does not say."""
    position = error.data.get("position")
    if not isinstance(position, int) or position > len(query):
        return ""
    start = max(0, position - _CONTEXT_CHARS)
    before = ("…" if start else "") + query[start:position]
    return f"{before} ▸ {query[position : position + _CONTEXT_CHARS]}\n".replace(" ▸ \n", " ▸\n")
