"""The note behind a view: its last known state, whether there is unsaved text, saving, and outside changes.

It knows no widgets: the view gives it the editor's text and shows what it says by signals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from app.desktop import tasks
from app.desktop.bridge import VaultClient
from app.desktop.note_view import page as pages
from app.desktop.note_view import saving
from app.desktop.note_view.drafts import Draft, Drafts
from app.desktop.note_view.line_ends import from_editor
from app.desktop.note_view.page import Page
from app.errors import NotFoundError
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.path import NotePath
from app.vault.store import NotesChanged

_DRAFT_MS = 900
Answers = tuple[tuple[str, Callable[[], None]], ...]


class NoteDocument(QObject):
    """The state of one note.

    `loaded` carries a `Page` to show in place of all that was shown, `text_changed` a text to put into the
    editor; `saved` a `Page` that is on the disk while the user may have typed on. `dirty_changed` says
    whether there is unsaved text. `said` carries a sentence and its tone, `asked` a question and its answers;
    both are over when `settled` comes. `raw` gives the editor's text, as `QTextDocument.toRawText` does.
    """

    loaded = Signal(object)
    text_changed = Signal(str)
    saved = Signal(object)
    dirty_changed = Signal(bool)
    said = Signal(str, str)
    asked = Signal(str, object)
    settled = Signal()

    def __init__(self, client: VaultClient, raw: Callable[[], str], parent: QObject) -> None:
        super().__init__(parent)
        self._client = client
        self._raw = raw
        self._drafts = Drafts(client.workspace.root)
        self.page: Page | None = None
        self.dirty = False
        self._saves = asyncio.Lock()
        self._draft_soon = QTimer(self)
        self._draft_soon.setSingleShot(True)
        self._draft_soon.setInterval(_DRAFT_MS)
        self._draft_soon.timeout.connect(self.keep_draft)
        client.events.batch.connect(self._receive)

    @property
    def text(self) -> str:
        """The text as it would be saved now, with the note's own line ends."""
        if self.page is None:
            return ""
        return from_editor(self._raw(), self.page.text) if self.dirty else self.page.text

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to read in it, and it can be written in; properties do not count."""
        text = self.text
        readable = self.page is not None and not self.page.problem
        return readable and not text[read_frontmatter(text).body_start :].strip()

    @property
    def editable(self) -> bool:
        """Whether the editor gives the note's text back as it is; if not, editing would lose something."""
        page = self.page
        return page is not None and not page.problem and from_editor(self._raw(), page.text) == page.text

    async def open(self, path: NotePath) -> None:
        """Load the note at `path`; unsaved text of an earlier run is offered.

        Raises:
            NotFoundError, StorageError: it is not there, or can't be read; what was loaded stays.
        """
        page = await self._client.run(lambda ws: pages.load(ws, path))
        self._take(page)
        draft = self._drafts.load(page.path)
        if draft is None or page.problem or draft.text == page.text:
            self._drafts.drop(page.path)
        else:
            self._offer(draft, page)

    def touched(self) -> None:
        """The user typed."""
        if self.page is not None and not self.page.problem:
            self._set_dirty(True)
            self._draft_soon.start()

    def keep_draft(self) -> None:
        """Keep the unsaved text outside the vault, so that a crash does not lose it."""
        if self.page is not None and self.dirty:
            self._drafts.save(self.page.path, self.page.hash, self.text)

    def throw_away(self) -> None:
        """Give the unsaved text up."""
        if self.page is not None:
            self._drafts.drop(self.page.path)
        self._set_dirty(False)

    async def save(self) -> bool:
        """Save what was typed, after a save that is under way; whether it is on the disk now."""
        async with self._saves:
            page, typed = self.page, self._raw()
            if page is None or not self.dirty:
                return True
            text = self.text
            return self._settle(await self._client.run(lambda ws: saving.save(ws, page, text)), typed)

    @property
    def is_saving(self) -> bool:
        """Whether a save is under way."""
        return self._saves.locked()

    def _take(self, page: Page) -> None:
        self.page = page
        self._set_dirty(False)
        self.loaded.emit(page)
        self.settled.emit()
        if page.problem:
            self.said.emit(f"{page.problem} It is shown for reading and stays as it is.", "warning")
        elif not self.editable:
            words = "This note has characters that the editor can't keep, so it is for reading only."
            self.said.emit(words, "warning")

    def _set_dirty(self, dirty: bool) -> None:
        if dirty != self.dirty:
            self.dirty = dirty
            self.dirty_changed.emit(dirty)

    def _settle(self, result: saving.Result, typed: str) -> bool:
        match result:
            case saving.Saved(page):
                self._drafts.drop(page.path)
                self.page = page
                self._set_dirty(self._raw() != typed)
                self.saved.emit(page)
                self.settled.emit()
                return True
            case saving.Changed(theirs, merged):
                self.keep_draft()
                self._ask_about_change(theirs, merged)
            case saving.Failed(reason):
                self.keep_draft()
                self.said.emit(f"Not saved: {reason} Your text is kept here.", "danger")
        return False

    # Questions

    def _offer(self, draft: Draft, page: Page) -> None:
        changed = "" if draft.base_hash == page.hash else " The note was changed since then."
        question = f"There is unsaved text of this note from an earlier session.{changed}"
        answers = (("Take it", partial(self._put, draft.text)), ("Throw it away", self._drop_draft))
        self.asked.emit(question, answers)

    def _put(self, text: str) -> None:
        self.text_changed.emit(text)
        self._set_dirty(True)
        self.settled.emit()

    def _drop_draft(self) -> None:
        if self.page is not None:
            self._drafts.drop(self.page.path)
        self.settled.emit()

    def _ask_about_change(self, theirs: Page | None, merged: str | None) -> None:
        """The note was changed outside while there is unsaved text here: the user chooses."""
        if theirs is None:
            words = "The note was deleted or moved outside. Your text is kept here."
            self.asked.emit(words, (("Make it again", self._make_again), ("Close without it", self._give_up)))
            return
        answers: Answers = (
            ("Load theirs", partial(self._load, theirs)),
            ("Keep mine", partial(self._use, theirs, None)),
        )
        if merged is not None:
            answers = (("Merge both", partial(self._use, theirs, merged)), *answers)
        self.asked.emit("The note was changed outside while you were writing.", answers)

    def _use(self, theirs: Page, text: str | None) -> None:
        """Save `text` (None: what was typed) over what is on the disk, which stays in the note's history."""
        mine = self.text if text is None else text
        self.page = theirs
        self.text_changed.emit(mine)
        self._set_dirty(True)
        self.settled.emit()
        self._start(self.save(), "save the note")

    def _load(self, theirs: Page) -> None:
        self._drafts.drop(theirs.path)
        self._take(theirs)

    def _make_again(self) -> None:
        if self.page is not None:
            self._start(self._make(self.page.path, self.text), "make the note again")

    async def _make(self, path: NotePath, text: str) -> None:
        typed = self._raw()
        self._settle(await self._client.run(lambda ws: saving.create(ws, path, text)), typed)

    def _give_up(self) -> None:
        self.throw_away()
        self.said.emit("This note does not exist any more.", "warning")

    # Keeping up with others

    def _receive(self, events: tuple[object, ...]) -> None:
        if self.page is None:
            return
        own = self.page.path
        for event in events:
            if isinstance(event, NotesChanged):
                moved = dict(event.moved)
                if own in moved or own in event.paths or own in event.removed:
                    own = moved.get(own, own)
                    self._start(self._follow(own), "follow the note")

    async def _follow(self, path: NotePath) -> None:
        """Show the note as it is now, at `path`; unsaved text is not touched without a question."""
        old = self.page
        if old is None:
            return
        if self.dirty:
            text, typed = self.text, self._raw()
            result = await self._client.run(lambda ws: saving.compare(ws, old, text, path))
            if isinstance(result, saving.Changed) and not _same(result.theirs, old):
                self._settle(result, typed)
            return
        try:
            page = await self._client.run(lambda ws: pages.load(ws, path))
        except NotFoundError:
            self.said.emit("This note was deleted or moved. What you see is how it was.", "warning")
            return
        if not self.dirty and not _same(page, old):
            self._take(page)

    def _start(self, coro: object, what: str) -> None:
        tasks.start(coro, owner=self.parent(), what=what)  # type: ignore[arg-type]


def _same(page: Page | None, other: Page) -> bool:
    return page is not None and page.content == other.content and page.path == other.path
