"""The command palette: notes by name, commands and tools by title, each with its shortcut."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFontMetrics, QHideEvent, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QLineEdit,
    QListView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.desktop.runtime import tasks
from app.desktop.theme.theme import ThemeSource, icon
from app.desktop.widgets.drop_shadow import DropShadow
from app.desktop.widgets.fuzzy_match import best_matches, matched_alias

ITEM_ROLE = int(Qt.ItemDataRole.UserRole)
_Index = QModelIndex | QPersistentModelIndex
_ROOT_INDEX = QModelIndex()
_MAX_ROWS = 60


@dataclass(frozen=True, slots=True)
class PaletteItem:
    """One row.

    `key` identifies the choice, `note` is shown next to the text and `shortcut` at the right. `others` are
    alternative names; the one that matches is shown next to the text.
    """

    key: str
    text: str
    note: str = ""
    shortcut: str = ""
    symbol: str = "file-text"
    others: tuple[str, ...] = ()


class CommandPalette(QFrame):
    """A field over a list, on top of the window; Escape or a click elsewhere closes it.

    `chosen` carries the mode it was opened in and the key of the choice. `fallback` carries the mode and
    the typed text, when Shift+Enter is pressed or nothing matches.
    """

    chosen = Signal(str, str)
    fallback = Signal(str, str)

    def __init__(self, theme: ThemeSource, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("palette")
        self._theme = theme
        self._over = parent
        self._mode = ""
        self._choices: Sequence[PaletteItem] = ()
        self._keys: list[str] = []
        self._round = 0
        # The list is ranked in a thread: Enter waits for it, and never accepts a row of the previous list.
        self._is_ranked = True
        self._enter: bool | None = None
        self._load: Callable[[], Awaitable[Sequence[PaletteItem]]] = _no_choices
        self._loaded = False
        self._filling = False
        self._outdated = False
        self._before: QWidget | None = None
        self.field = QLineEdit()
        self.model = _PaletteModel(self)
        self.list = QListView()
        self.list.setModel(self.model)
        self.list.setItemDelegate(_PaletteDelegate(theme, self.list))
        self.list.setUniformItemSizes(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setMouseTracking(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(self.tr("Choices"))
        self.nothing = QLabel()
        self.nothing.setProperty("tone", "muted")
        self.nothing.setContentsMargins(16, 12, 16, 16)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 8)  # round corners under the list
        column.setSpacing(0)
        for widget in (self.field, self.list, self.nothing):
            column.addWidget(widget)
        # An opaque viewport keeps the widgets below from repainting with every letter.
        self.list.viewport().setAutoFillBackground(True)
        self._shade = DropShadow(parent)
        self.field.textChanged.connect(self._start_filter)
        self.field.installEventFilter(self)
        self.list.clicked.connect(self._choose)
        parent.installEventFilter(self)
        self.hide()

    @property
    def mode(self) -> str:
        """The mode in which the palette was opened; empty while it is closed."""
        return self._mode if self.isVisible() else ""

    def open(self, mode: str, hint: str, load: Callable[[], Awaitable[Sequence[PaletteItem]]]) -> None:
        """Show the palette for `mode`; `load` returns the choices, in the order for an empty field."""
        window = self.window()
        self._before = window.focusWidget() if not self.isVisible() else self._before
        self._mode = mode
        self._load = load
        self._choices, self._keys = (), []
        self.model.show(())
        self._show_no_match(False)
        self._round += 1
        # Clearing the field below must not rank a list that is not loaded.
        self._loaded = False
        self.field.setPlaceholderText(hint)
        self.field.setAccessibleName(hint)
        self.field.clear()
        self._is_ranked, self._enter = False, None
        self._place()
        self._shade.show()
        self._shade.raise_()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)
        self.reload()

    def reload(self) -> None:
        """Load the choices again because they changed; keep what is typed and the selected row."""
        self._outdated = True
        if not self._filling:
            tasks.start(self._fill(), owner=self, what=self.tr("list the choices"))

    def hideEvent(self, event: QHideEvent) -> None:
        """Hide the shadow, too."""
        super().hideEvent(event)
        self._shade.hide()

    def dismiss(self) -> None:
        """Close the palette and restore the focus."""
        self.hide()
        if self._before is not None and self._before.isVisible():
            self._before.setFocus(Qt.FocusReason.OtherFocusReason)
        self._before = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle list keys while the field has the focus, resizes of the window and clicks elsewhere."""
        kind = event.type()
        if watched is self.field and isinstance(event, QKeyEvent) and kind == QEvent.Type.KeyPress:
            return self._key(event)
        leaves = watched is self.field and kind == QEvent.Type.FocusOut and self.isVisible()
        if leaves and not self.isAncestorOf(self.window().focusWidget() or self):
            self.hide()
        if watched is self.parent() and kind == QEvent.Type.Resize and self.isVisible():
            self._place()
        return False

    def _key(self, event: QKeyEvent) -> bool:
        moves = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Escape:
            self.dismiss()
        elif key in moves:
            last = self.model.rowCount() - 1
            row = min(max(0, self.list.currentIndex().row() + moves[key]), last)
            self.list.setCurrentIndex(self.model.index(row, 0))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            if self._is_ranked:
                self._accept(shift=shift)
            else:
                self._enter = shift
        else:
            return False
        return True

    def _accept(self, *, shift: bool) -> None:
        """Accept the current row, or wait for the ranking of the typed text."""
        self._enter = None
        index = self.list.currentIndex()
        if index.isValid() and not shift:
            self._choose(index)
        elif self.field.text().strip():
            mode, text = self._mode, self.field.text().strip()
            self.dismiss()
            self.fallback.emit(mode, text)

    def _choose(self, index: QModelIndex) -> None:
        choice: PaletteItem = index.data(ITEM_ROLE)
        mode = self._mode
        self.dismiss()
        self.chosen.emit(mode, choice.key)

    async def _fill(self) -> None:
        self._filling = True
        try:
            while self._outdated:
                self._outdated = False
                load = self._load
                choices = await load()
                keys = await asyncio.to_thread(_search_texts, choices)
                if load is self._load:
                    selected = self.list.currentIndex().data(ITEM_ROLE) if self._loaded else None
                    self._choices, self._keys, self._loaded = choices, keys, True
                    await self._match(selected)
        finally:
            self._filling = False

    def _start_filter(self) -> None:
        self._is_ranked, self._enter = False, None
        # A ranking that is under way belongs to older text and must not count as this one's.
        self._round += 1
        if self._loaded:
            tasks.start(self._match(), owner=self, what=self.tr("list the choices"))

    async def _match(self, selected: PaletteItem | None = None) -> None:
        """Rank in a thread, which takes longer than a frame for 100,000 names; keep the `selected` item."""
        self._round += 1
        round_number, query, keys = self._round, self.field.text(), self._keys
        found = await asyncio.to_thread(best_matches, query, keys, _MAX_ROWS)
        if round_number == self._round and keys is self._keys:
            items = tuple(_with_matched_alias(self._choices[index], query) for index in found)
            self.model.show(items)
            rows = (row for row, item in enumerate(items) if selected and item.key == selected.key)
            self.list.setCurrentIndex(self.model.index(next(rows, 0), 0))
            self.list.scrollTo(self.list.currentIndex())
            self._show_no_match(bool(query.strip()) and not found)
            self._is_ranked = True
            if self._enter is not None:
                self._accept(shift=self._enter)

    def _show_no_match(self, on: bool) -> None:
        labels = {"notes": self.tr("No match. Press Enter to create it.")}
        self.nothing.setText(labels.get(self._mode, self.tr("No match.")))
        self.nothing.setVisible(on)
        self.list.setVisible(not on)
        self._place()

    def _place(self) -> None:
        parent, zoom = self._over, self._theme.zoom
        width = min(round(600 * zoom), parent.width() - 32)
        rows = self.model.rowCount()
        needed = self.list.sizeHintForRow(0) * rows + 20 if rows else self.nothing.sizeHint().height()
        needed += self.field.sizeHint().height()
        height = min(round(420 * zoom), parent.height() - 96, needed)
        self.setGeometry((parent.width() - width) // 2, 64, width, height)
        self._shade.place_under(self.geometry())


async def _no_choices() -> Sequence[PaletteItem]:
    return ()


def _search_texts(choices: Sequence[PaletteItem]) -> list[str]:
    """Return the text that `best_matches` searches for each of the choices."""
    return [
        "\n".join(text.replace("\n", " ") for text in (choice.text, *choice.others)).casefold()
        + f"\0{choice.note}".casefold()
        for choice in choices
    ]


def _with_matched_alias(choice: PaletteItem, query: str) -> PaletteItem:
    """Return the choice with the alias that matches the query in its note."""
    other = matched_alias(query, choice.text, choice.others)
    return replace(choice, note=f"{other} · {choice.note}".removesuffix(" · ")) if other else choice


class _PaletteModel(QAbstractListModel):
    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._rows: tuple[PaletteItem, ...] = ()

    def show(self, rows: tuple[PaletteItem, ...]) -> None:
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def rowCount(self, parent: _Index = _ROOT_INDEX) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == ITEM_ROLE:
            return row
        return row.text if role == Qt.ItemDataRole.DisplayRole else None


class _PaletteDelegate(QStyledItemDelegate):
    """Paints an icon, the text, the note next to it, and the shortcut at the right."""

    def __init__(self, theme: ThemeSource, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        return QSize(80, QFontMetrics(option.font).height() + round(14 * self._theme.zoom))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        choice: PaletteItem = index.data(ITEM_ROLE)
        theme, zoom = self._theme.theme, self._theme.zoom
        current = self.parent().currentIndex() == index  # type: ignore[union-attr]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if current:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.accent_soft))
            painter.drawRoundedRect(option.rect.adjusted(6, 1, -6, -1), 6, 6)
        area = QRect(option.rect).adjusted(16, 0, -16, 0)
        side = round(16 * zoom)
        mark = QRect(area.left(), area.center().y() - side // 2, side, side)
        icon(theme, choice.symbol, theme.accent if current else theme.faint).paint(painter, mark)
        area.setLeft(area.left() + side + 10)
        middle = Qt.AlignmentFlag.AlignVCenter
        metrics = option.fontMetrics
        if choice.shortcut:
            painter.setPen(QColor(theme.faint))
            painter.drawText(area, middle | Qt.AlignmentFlag.AlignRight, choice.shortcut)
            area.setRight(area.right() - metrics.horizontalAdvance(choice.shortcut) - 12)
        text = metrics.elidedText(choice.text, Qt.TextElideMode.ElideRight, area.width())
        painter.setPen(QColor(theme.text))
        painter.drawText(area, middle, text)
        area.setLeft(area.left() + metrics.horizontalAdvance(text) + 12)
        if choice.note and area.width() > 40:
            painter.setPen(QColor(theme.faint))
            note = metrics.elidedText(choice.note, Qt.TextElideMode.ElideMiddle, area.width())
            painter.drawText(area, middle, note)
        painter.restore()
