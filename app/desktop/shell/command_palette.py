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
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.drop_shadow import DropShadow
from app.index.completion import best_matches
from app.vault.path import name_key

ITEM_ROLE = int(Qt.ItemDataRole.UserRole)
_Index = QModelIndex | QPersistentModelIndex
_ROOT_INDEX = QModelIndex()
_MAX_ROWS = 60


@dataclass(frozen=True, slots=True)
class PaletteItem:
    """One row.

    `key` identifies the choice, `detail` is shown next to the text and `shortcut` on the right. If an alias
    matches, it is shown next to the text.
    """

    key: str
    text: str
    detail: str = ""
    shortcut: str = ""
    symbol: str = "file-text"
    aliases: tuple[str, ...] = ()


class CommandPalette(QFrame):
    """A field over a list, on top of the window; Escape or a click elsewhere closes it.

    `chosen` carries the mode it was opened in and the key of the choice. `fallback` carries the mode and the
    typed text: the user pressed Shift+Enter, or Enter while nothing matched.
    """

    chosen = Signal(str, str)
    fallback = Signal(str, str)

    def __init__(self, theme: ThemeSource, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("palette")
        self._theme = theme
        self._window = parent
        self._mode = ""
        self._choices: Sequence[PaletteItem] = ()
        self._keys: list[str] = []
        self._ranking_number = 0
        # The list is ranked in a thread. Enter waits for it, so that it never accepts a row of the previous
        # list.
        self._is_ranked = True
        self._pending_enter: bool | None = None
        self._choice_loader: Callable[[], Awaitable[Sequence[PaletteItem]]] = _no_choices
        self._is_loaded = False
        self._is_loading = False
        self._needs_reload = False
        self._previous_focus: QWidget | None = None
        self.field = QLineEdit()
        self.model = _PaletteModel(self)
        self.list = QListView()
        self.list.setModel(self.model)
        self.list.setItemDelegate(_PaletteDelegate(theme, self.list))
        self.list.setUniformItemSizes(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setMouseTracking(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(self.tr("Results"))
        self.no_match_label = QLabel()
        self.no_match_label.setProperty("tone", "muted")
        self.no_match_label.setContentsMargins(16, 12, 16, 16)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 8)  # Space for the rounded corners.
        column.setSpacing(0)
        for widget in (self.field, self.list, self.no_match_label):
            column.addWidget(widget)
        # An opaque viewport keeps the widgets below from repainting on every keystroke.
        self.list.viewport().setAutoFillBackground(True)
        self._shadow = DropShadow(parent)
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
        self._previous_focus = window.focusWidget() if not self.isVisible() else self._previous_focus
        self._mode = mode
        self._choice_loader = load
        self._choices, self._keys = (), []
        self.model.show(())
        self._show_no_match(False)
        self._ranking_number += 1
        # Clearing the field below must not rank a list that is not loaded.
        self._is_loaded = False
        self.field.setPlaceholderText(hint)
        self.field.setAccessibleName(hint)
        self.field.clear()
        self._is_ranked, self._pending_enter = False, None
        self._place()
        self._shadow.show()
        self._shadow.raise_()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)
        self.reload()

    def reload(self) -> None:
        """Load the choices again after a change; keep the typed text and the selected row."""
        self._needs_reload = True
        if not self._is_loading:
            tasks.start(self._load_choices(), owner=self, action=self.tr("list the choices"))

    def hideEvent(self, event: QHideEvent) -> None:
        """Also hide the shadow."""
        super().hideEvent(event)
        self._shadow.hide()

    def dismiss(self) -> None:
        """Close the palette and restore the focus."""
        self.hide()
        if self._previous_focus is not None and self._previous_focus.isVisible():
            self._previous_focus.setFocus(Qt.FocusReason.OtherFocusReason)
        self._previous_focus = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle list keys while the field has the focus, resizes of the window and clicks elsewhere."""
        event_type = event.type()
        if watched is self.field and isinstance(event, QKeyEvent) and event_type == QEvent.Type.KeyPress:
            return self._handle_key(event)
        loses_focus = watched is self.field and event_type == QEvent.Type.FocusOut and self.isVisible()
        if loses_focus and not self.isAncestorOf(self.window().focusWidget() or self):
            self.hide()
        if watched is self.parent() and event_type == QEvent.Type.Resize and self.isVisible():
            self._place()
        return False

    def _handle_key(self, event: QKeyEvent) -> bool:
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Escape:
            self.dismiss()
        elif key in steps:
            last = self.model.rowCount() - 1
            row = min(max(0, self.list.currentIndex().row() + steps[key]), last)
            self.list.setCurrentIndex(self.model.index(row, 0))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            if self._is_ranked:
                self._accept(shift=shift)
            else:
                self._pending_enter = shift
        else:
            return False
        return True

    def _accept(self, *, shift: bool) -> None:
        """Choose the current row; with Shift or without a row, emit `fallback` if there is text."""
        self._pending_enter = None
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

    async def _load_choices(self) -> None:
        self._is_loading = True
        try:
            while self._needs_reload:
                self._needs_reload = False
                choice_loader = self._choice_loader
                choices = await choice_loader()
                keys = await asyncio.to_thread(_search_texts, choices)
                if choice_loader is self._choice_loader:
                    selected = self.list.currentIndex().data(ITEM_ROLE) if self._is_loaded else None
                    self._choices, self._keys, self._is_loaded = choices, keys, True
                    await self._match(selected)
        finally:
            self._is_loading = False

    def _start_filter(self) -> None:
        self._is_ranked, self._pending_enter = False, None
        # A ranking in progress is for older text.
        self._ranking_number += 1
        if self._is_loaded:
            tasks.start(self._match(), owner=self, action=self.tr("list the choices"))

    async def _match(self, selected: PaletteItem | None = None) -> None:
        """Rank the choices in a thread, since 100,000 take longer than a frame; keep the `selected` item."""
        self._ranking_number += 1
        ranking_number, query, keys = self._ranking_number, self.field.text(), self._keys
        indices = await asyncio.to_thread(best_matches, query, keys, _MAX_ROWS)
        if ranking_number == self._ranking_number and keys is self._keys:
            items = tuple(_with_matched_alias(self._choices[index], query) for index in indices)
            self.model.show(items)
            rows = (row for row, item in enumerate(items) if selected and item.key == selected.key)
            self.list.setCurrentIndex(self.model.index(next(rows, 0), 0))
            self.list.scrollTo(self.list.currentIndex())
            self._show_no_match(bool(query.strip()) and not indices)
            self._is_ranked = True
            if self._pending_enter is not None:
                self._accept(shift=self._pending_enter)

    def _show_no_match(self, visible: bool) -> None:
        labels = {"notes": self.tr("No match. Press Enter to create it.")}
        self.no_match_label.setText(labels.get(self._mode, self.tr("No match.")))
        self.no_match_label.setVisible(visible)
        self.list.setVisible(not visible)
        self._place()

    def _place(self) -> None:
        parent, zoom = self._window, self._theme.zoom
        width = min(round(600 * zoom), parent.width() - 32)
        rows = self.model.rowCount()
        needed_height = (
            self.list.sizeHintForRow(0) * rows + 20 if rows else self.no_match_label.sizeHint().height()
        )
        needed_height += self.field.sizeHint().height()
        height = min(round(420 * zoom), parent.height() - 96, needed_height)
        self.setGeometry((parent.width() - width) // 2, 64, width, height)
        self._shadow.place_under(self.geometry())


async def _no_choices() -> Sequence[PaletteItem]:
    return ()


def _search_texts(choices: Sequence[PaletteItem]) -> list[str]:
    """Return the text that `best_matches` searches for each choice."""
    return [
        name_key(
            "\n".join(text.replace("\n", " ") for text in (choice.text, *choice.aliases))
            + f"\0{choice.detail}"
        )
        for choice in choices
    ]


def _with_matched_alias(choice: PaletteItem, query: str) -> PaletteItem:
    """Return the choice with the alias that matches, if its name does not, in front of its detail."""
    words = name_key(query).split()

    def matches(name: str) -> bool:
        return all(word in name_key(name) for word in words)

    alias = "" if matches(choice.text) else next(filter(matches, choice.aliases), "")
    return replace(choice, detail=f"{alias} · {choice.detail}".removesuffix(" · ")) if alias else choice


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
    """Paints an icon, the text, the detail next to it, and the shortcut on the right."""

    def __init__(self, theme: ThemeSource, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        return QSize(80, QFontMetrics(option.font).height() + round(14 * self._theme.zoom))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        choice: PaletteItem = index.data(ITEM_ROLE)
        theme, zoom = self._theme.theme, self._theme.zoom
        is_current = self.parent().currentIndex() == index  # type: ignore[union-attr]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if is_current:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.accent_soft))
            painter.drawRoundedRect(option.rect.adjusted(6, 1, -6, -1), 6, 6)
        area = QRect(option.rect).adjusted(16, 0, -16, 0)
        icon_size = round(16 * zoom)
        icon_rect = QRect(area.left(), area.center().y() - icon_size // 2, icon_size, icon_size)
        icon(theme, choice.symbol, theme.accent if is_current else theme.faint).paint(painter, icon_rect)
        area.setLeft(area.left() + icon_size + 10)
        vertical_center = Qt.AlignmentFlag.AlignVCenter
        metrics = option.fontMetrics
        if choice.shortcut:
            painter.setPen(QColor(theme.faint))
            painter.drawText(area, vertical_center | Qt.AlignmentFlag.AlignRight, choice.shortcut)
            area.setRight(area.right() - metrics.horizontalAdvance(choice.shortcut) - 12)
        text = metrics.elidedText(choice.text, Qt.TextElideMode.ElideRight, area.width())
        painter.setPen(QColor(theme.text))
        painter.drawText(area, vertical_center, text)
        area.setLeft(area.left() + metrics.horizontalAdvance(text) + 12)
        if choice.detail and area.width() > 40:
            painter.setPen(QColor(theme.faint))
            detail = metrics.elidedText(choice.detail, Qt.TextElideMode.ElideMiddle, area.width())
            painter.drawText(area, vertical_center, detail)
        painter.restore()
