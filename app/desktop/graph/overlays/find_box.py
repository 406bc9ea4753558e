"""The graph's search box: type part of a name, choose a note, and the camera flies there."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from app.desktop.runtime import tasks
from app.desktop.shell.command_registry import command_title
from app.desktop.theme.colors import Theme
from app.desktop.widgets.completion_popup import CompletionPopup
from app.desktop.widgets.panel import SearchField
from app.index.completion import best_matches
from app.vault.path import name_key

_MAX_MATCHES = 100


class FindBox(SearchField):
    """A search field; `chosen` carries the chosen name's row: its index in the names given to `set_names`."""

    chosen = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, command_title("graph-find"), parent)
        self.setObjectName("graphFind")
        self.setToolTip(self.tr("Go to a note by name (F)"))
        self.setAccessibleName(self.tr("Find a note in the graph"))
        self._names: Sequence[str] = ()
        self._folders: Sequence[str] = ()
        self._name_keys: list[str] = []
        self._listed_rows: list[int] = []
        self.popup = CompletionPopup(self)
        self.popup.chosen.connect(lambda index: self._choose(self._listed_rows[index]))
        self.textEdited.connect(lambda text: self._start(self._offer_matches(text)))
        self.returnPressed.connect(lambda: self._start(self._choose_best_match(self.text())))

    def set_names(self, names: Sequence[str], folders: Sequence[str] = ()) -> None:
        """Set the names that can be found, in the order of their rows, and their folders."""
        self._names, self._folders, self._name_keys = names, folders, []

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the focus to the graph on Escape in an empty field; otherwise, handle the key as usual."""
        parent = self.parentWidget()
        if event.key() == Qt.Key.Key_Escape and not self.text() and parent is not None:
            parent.setFocus()
        else:
            super().keyPressEvent(event)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        tasks.start(work, owner=self, action=self.tr("find the note"))

    async def _offer_matches(self, text: str) -> None:
        rows = await self._find_rows(text)
        if text != self.text():
            return  # Searches end in any order; only the one for the current text may change the list.
        self._listed_rows = rows
        counts = Counter(self._names[row] for row in rows)
        self.popup.offer([self._label(row, counts[self._names[row]] > 1) for row in rows])

    async def _choose_best_match(self, text: str) -> None:
        if rows := await self._find_rows(text):
            self._choose(rows[0])

    async def _find_rows(self, text: str) -> list[int]:
        """Return the rows of the best matches; none if the text or the names have changed meanwhile."""
        if not text.strip():
            return []
        names, keys = self._names, self._name_keys
        # 100,000 names take longer than a frame.
        if not keys:
            keys = await asyncio.to_thread(lambda: [name_key(name) for name in names])
        rows = await asyncio.to_thread(best_matches, text, keys, _MAX_MATCHES)
        if names is not self._names or text != self.text():
            return []
        self._name_keys = keys
        return rows

    def _label(self, row: int, with_folder: bool) -> str:
        folder = self._folders[row] if with_folder and row < len(self._folders) else ""
        return f"{self._names[row]}  ·  {folder}" if folder else self._names[row]

    def _choose(self, row: int) -> None:
        self.popup.hide()
        self.setText(self._names[row])
        self.chosen.emit(row)
