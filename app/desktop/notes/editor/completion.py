"""Completion while typing: detect the request, list dates and commands, and show the popup."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from PySide6.QtCore import QModelIndex, QRect, QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QListView, QWidget

_MAX_ROWS = 9
_MIN_WIDTH, _MAX_WIDTH = 200, 480
_POPUP_GAP = 3
_BLOCK = re.compile(r"(!?)\[\[([^\[\]|#^\n]*)(#?)\^([^\[\]|#^\n]{0,80})$")
_HEADING = re.compile(r"(!?)\[\[([^\[\]|#^\n]*)#([^\[\]|^\n]{0,80})$")
_NOTE = re.compile(r"(!?)\[\[([^\[\]|#^\n]{0,80})$")
_TAG = re.compile(r"(?:^|(?<=[\s(,]))#([\w\-/]{1,60})$|(?<=[^#\s][ \t])#()$")
_DATE = re.compile(r"(?:^|(?<=[\s(]))@([\w-]{0,20})$")
_COMMAND = re.compile(r"(?:^[ \t>]*|(?<=\s))/([\w ]{0,24})$")


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """The text before the cursor that can be completed.

    Attributes:
        kind: "note", "embed", "heading", "block", "tag", "date" or "command".
        word: The typed part.
        note: For a heading or block, the note that contains it; empty for the edited note.
        missing: The text that belongs before the `^` of a block and was not typed.
    """

    kind: str
    word: str
    note: str = ""
    missing: str = ""


@dataclass(frozen=True, slots=True)
class CompletionItem:
    """A completion: its label, and the text that replaces the typed part."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A slash command; one without `run` is a snippet or an editor command."""

    id: str
    title: str
    run: Callable[[], None] | None = None


def find_request(before: str, *, is_in_code: bool = False) -> CompletionRequest | None:
    """Return the completion request at the end of the text before the cursor; None if there is none.

    Args:
        before: The line up to the cursor.
        is_in_code: Whether the line is in code, where nothing is completed.
    """
    if is_in_code or before.count("`") % 2:
        return None
    if match := _BLOCK.search(before):
        return CompletionRequest("block", match[4], match[2], "" if match[3] else "#")
    if match := _HEADING.search(before):
        return CompletionRequest("heading", match[3], match[2])
    if match := _NOTE.search(before):
        return CompletionRequest("embed" if match[1] else "note", match[2])
    if match := _TAG.search(before):
        return CompletionRequest("tag", match[1] or "")
    if match := _DATE.search(before):
        return CompletionRequest("date", match[1])
    if match := _COMMAND.search(before):
        return CompletionRequest("command", match[1])
    return None


def date_items(word: str, today: date) -> list[CompletionItem]:
    """Return the days whose name or date starts with the word after "@", as ISO dates."""
    days = {"today": 0, "tomorrow": 1, "yesterday": -1}
    for days_ahead in range(2, 8):
        days[f"next {today + timedelta(days=days_ahead):%A}".lower()] = days_ahead
    query = word.casefold()
    items = []
    for name, days_ahead in days.items():
        day = (today + timedelta(days=days_ahead)).isoformat()
        if name.removeprefix("next ").startswith(query) or name.startswith(query) or day.startswith(query):
            items.append(CompletionItem(f"{name.title()}   {day}", day))
    return items


def command_items(word: str, commands: Sequence[SlashCommand]) -> list[CompletionItem]:
    """Return the commands whose title, or a word in it, starts with the typed text."""
    query = word.casefold()
    return [
        CompletionItem(command.title, command.id)
        for command in commands
        if any(
            part.startswith(query) for part in (command.title.casefold(), *command.title.casefold().split())
        )
    ]


class CompletionPopup(QListView):
    """A list below or above the line with the cursor, never over it; the editor keeps the focus.

    `chosen` carries the index of the chosen item.
    """

    chosen = Signal(int)

    def __init__(self, editor: QWidget) -> None:
        super().__init__(editor)
        self._labels = QStringListModel(self)
        self.setModel(self._labels)
        self.setObjectName("popup")
        self.setAccessibleName(self.tr("Completions"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.entered.connect(self.setCurrentIndex)
        self.clicked.connect(self._choose)
        self.hide()

    @property
    def is_open(self) -> bool:
        """True if the list is shown."""
        return self.isVisible()

    def offer(self, labels: list[str], cursor_area: QRect) -> None:
        """Show labels next to a line.

        Args:
            labels: The completions; an empty list closes the popup.
            cursor_area: The area of the cursor, in the editor.
        """
        if not labels:
            self.hide()
            return
        self._labels.setStringList(labels)
        self.setCurrentIndex(self._labels.index(0, 0))
        self._place(cursor_area)
        self.show()
        self.raise_()

    def handle_key(self, event: QKeyEvent) -> bool:
        """Handle a key for the open list; return whether it was handled. Escape is left to the editor."""
        if not self.is_open or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab):
            self._choose(self.currentIndex())
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._step(-1 if key == Qt.Key.Key_Up else 1)
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            self._step(-_MAX_ROWS if key == Qt.Key.Key_PageUp else _MAX_ROWS, wrap=False)
        else:
            return False
        return True

    def _step(self, rows: int, *, wrap: bool = True) -> None:
        count = self._labels.rowCount()
        row = self.currentIndex().row() + rows
        row = row % count if wrap else min(max(0, row), count - 1)
        self.setCurrentIndex(self._labels.index(row, 0))

    def _choose(self, index: QModelIndex) -> None:
        self.hide()
        if index.isValid():
            self.chosen.emit(index.row())

    def _place(self, cursor_area: QRect) -> None:
        """Position the list below the line if there is space, otherwise on the side with more space."""
        editor = self.parentWidget()
        area = editor.rect() if editor is not None else QRect()
        row_height = max(1, self.sizeHintForRow(0))
        frame = 2 * self.frameWidth() + 2
        full_height = min(self._labels.rowCount(), _MAX_ROWS) * row_height + frame
        below, above = (
            area.bottom() - cursor_area.bottom() - _POPUP_GAP,
            cursor_area.top() - area.top() - _POPUP_GAP,
        )
        is_below = below >= full_height or below >= above
        height = min(full_height, max(row_height + frame, below if is_below else above))
        width = min(max(_MIN_WIDTH, self.sizeHintForColumn(0) + 32), _MAX_WIDTH, area.width() - 8)
        left = max(area.left() + 4, min(cursor_area.left(), area.right() - width - 4))
        top = cursor_area.bottom() + _POPUP_GAP if is_below else cursor_area.top() - _POPUP_GAP - height
        self.setGeometry(left, top, width, height)
