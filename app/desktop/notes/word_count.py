"""Count the words of the active note and of the editor's selection, for the status bar."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, QTimer, Signal
from shiboken6 import isValid

from app.desktop.notes.newlines import PARAGRAPH_SEPARATOR
from app.desktop.notes.view import NoteView
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import PluralText
from app.index.normalization import count_words
from app.vault.markdown.frontmatter import read_frontmatter

_DEBOUNCE_MS = 300


class WordCount(QObject):
    """Counts the words of the note set by `set_note`; `changed` carries the text to show, empty for none."""

    changed = Signal(str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._note: NoteView | None = None
        self._request_number = 0
        self._timer = QTimer(self, singleShot=True, interval=_DEBOUNCE_MS)
        self._timer.timeout.connect(self._start)

    def set_note(self, note: NoteView | None) -> None:
        """Count the words of `note` from now on; None if no note is open."""
        if note is not self._note:
            if self._note is not None and isValid(self._note):
                self._note.document.loaded.disconnect(self._schedule)
                self._note.document.edited.disconnect(self._schedule)
                self._note.editor.selectionChanged.disconnect(self._schedule)
                self._note.destroyed.disconnect(self._forget)
            self._note = note
            if note is not None:
                note.document.loaded.connect(self._schedule)
                note.document.edited.connect(self._schedule)
                note.editor.selectionChanged.connect(self._schedule)
                note.destroyed.connect(self._forget)
        self._start()

    def _forget(self) -> None:
        self._note = None
        self._start()

    def _schedule(self, *_: object) -> None:
        self._timer.start()

    def _start(self) -> None:
        self._request_number += 1
        if self._note is None or self._note.document.page is None:
            self.changed.emit("")
        else:
            tasks.start(
                self._count(self._note, self._request_number),
                owner=self._note,
                action=self.tr("count the words"),
            )

    async def _count(self, note: NoteView, request_number: int) -> None:
        text = note.editor.document().toRawText()
        selected = note.editor.textCursor().selectedText()
        words, characters = await asyncio.to_thread(_count_text, text)
        selected_words, _ = await asyncio.to_thread(_count_text, selected, is_note=False)
        if request_number != self._request_number:
            return
        if selected:
            self.changed.emit(
                PluralText("WordCount", "{1} of {0} word selected", "{1} of {0} words selected").format(
                    words, f"{selected_words:,}"
                )
            )
        else:
            word_text = PluralText("WordCount", "{0} word", "{0} words").format(words)
            character_text = PluralText("WordCount", "{0} character", "{0} characters").format(characters)
            self.changed.emit(f"{word_text} · {character_text}")


def _count_text(raw: str, *, is_note: bool = True) -> tuple[int, int]:
    """Return the number of words and characters in an editor's text, without properties and line breaks."""
    text = raw.replace(PARAGRAPH_SEPARATOR, "\n")
    body = text[read_frontmatter(text).body_start :] if is_note else text
    return count_words(body), len(body.replace("\n", ""))
