"""The document of a note view: its loaded state, unsaved text, saving and external changes.

It knows the view only as the owner of its tasks. The view passes it the editor's document and handles its
signals.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QWidget

from app.desktop.bridge import VaultClient
from app.desktop.notes.drafts import DraftStore, NoteDraft
from app.desktop.notes.newlines import from_editor
from app.desktop.runtime import tasks
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.path import NotePath
from app.vault.store import NotesChanged
from app.workspace.service.edits import Failed, SaveConflict, Saved, SaveResult, merge_texts
from app.workspace.service.note_data import NoteData

log = logging.getLogger(__name__)
_DRAFT_DELAY_MS = 900
_DRAFT_INTERVAL_S = 10.0
# A longer pause starts a new editing session: a new entry in the note's history.
_SESSION_PAUSE_S = 30 * 60
_MAX_SAVE_ATTEMPTS = 5
_MAX_SAVED_CHARS_PER_S = 150_000
_MAX_SAVE_DELAY_S = 20.0
Answers = tuple[tuple[str, Callable[[], None]], ...]


@dataclass(slots=True)
class Conflict:
    """A change to the note on disk while there is unsaved text.

    Attributes:
        base: The note that the unsaved text is based on.
        theirs: The note on disk; None if it was deleted, or moved outside the app.
        result: The user's merge so far, after choosing to decide later; None if there is none.
    """

    base: NoteData
    theirs: NoteData | None
    result: str | None = None


class NoteDocument(QObject):
    """The state of one open note.

    Signals:
        loaded: A `NoteData` that replaces everything shown.
        text_changed: The editor's new text, to apply as one undo step.
        saved: The `NoteData` on disk; the user may have continued typing.
        renamed: The `NoteData` at its new path.
        edited: The text was edited, or a conflict ended: there may be text to save.
        unsaved_changed: Whether to warn about unsaved text: during a conflict, after a failed save, or
            without autosave.
        notice_requested: A message and its tone.
        question_requested: A question and its answers.
        notice_cleared: The message or question no longer applies.
        comparison_requested: The user wants to see both sides of the conflict.
    """

    loaded = Signal(object)
    text_changed = Signal(str)
    saved = Signal(object)
    renamed = Signal(object)
    edited = Signal()
    unsaved_changed = Signal(bool)
    notice_requested = Signal(str, str)
    question_requested = Signal(str, object)
    notice_cleared = Signal()
    comparison_requested = Signal()

    def __init__(self, client: VaultClient, source: QTextDocument, view: QWidget) -> None:
        super().__init__(view)
        self._view = view
        self._client = client
        self._source = source
        self._drafts = DraftStore(client.root)
        self.page: NoteData | None = None
        self.conflict: Conflict | None = None
        self._is_deleted = False
        self.failure = ""
        self._is_dirty = False
        self._shows_warning = False
        self._saved_length = 0
        self._session = ""
        self._last_save = 0.0
        # Saving and loading external changes are mutually exclusive: each starts from the other's result.
        self._lock = asyncio.Lock()
        self._draft_saved_at = 0.0
        self._draft_timer = QTimer(self)
        self._draft_timer.setSingleShot(True)
        self._draft_timer.setInterval(_DRAFT_DELAY_MS)
        self._draft_timer.timeout.connect(self.save_draft)
        client.events.batch.connect(self._receive)

    @property
    def is_dirty(self) -> bool:
        """True if the editor holds unsaved text."""
        return self._is_dirty

    @property
    def has_autosave(self) -> bool:
        """True if autosave is enabled in the settings."""
        return self._client.settings.editor.autosave

    @property
    def min_save_delay_s(self) -> float:
        """The minimum delay of an automatic save for a note of this length, in seconds.

        Every save stores a version of the whole note, then parses and indexes it, so about ten saves a minute
        are enough for a note of a million characters.
        """
        return min(self._source.characterCount() / _MAX_SAVED_CHARS_PER_S, _MAX_SAVE_DELAY_S)

    @property
    def text(self) -> str:
        """The text as it would be saved now, with the note's own line endings; empty without a note."""
        if self.page is None:
            return ""
        return from_editor(self._source.toRawText(), self.page.text) if self._is_dirty else self.page.text

    @property
    def is_blank(self) -> bool:
        """True if the note can be read and has no text; properties do not count."""
        text = self.text
        is_readable = self.page is not None and not self.page.problem
        return is_readable and not text[read_frontmatter(text).body_start :].strip()

    @property
    def is_editable(self) -> bool:
        """True if the vault is writable and the editor preserves the note's text exactly.

        Only meaningful right after loading: with unsaved changes it is False.
        """
        page = self.page
        if page is None or page.problem or self._client.read_only:
            return False
        return self._is_in_editor(page)

    async def open(self, path: NotePath) -> None:
        """Load the note at `path`, offering to restore unsaved text from an earlier session.

        Raises:
            NotFoundError: The note does not exist; the loaded note stays.
            StorageError: The note can't be read; the loaded note stays.
        """
        page = await self._client.run(lambda vault: vault.notes.load(path))
        self._set_page(page)
        draft = self._drafts.load(page.path)
        if draft is None or page.problem or self._client.read_only:
            return  # A note that can't be edited now keeps its draft.
        if draft.text == page.text:
            self._drafts.drop(page.path)
        else:
            self._offer_draft(draft, page)

    def mark_edited(self) -> None:
        """Update the unsaved state after an edit; schedule a draft, or delete it if nothing is unsaved."""
        if self.page is None or self.page.problem:
            return
        # Typing the saved text again leaves nothing to save; only texts of equal length are compared.
        is_saved_text = self._source.characterCount() == self._saved_length and self._is_in_editor(self.page)
        self._set_dirty(not is_saved_text)
        self.edited.emit()
        if self._is_dirty:
            # Typing without a pause must not postpone the draft indefinitely.
            is_overdue = time.monotonic() - self._draft_saved_at > _DRAFT_INTERVAL_S
            if not (is_overdue and self._draft_timer.isActive()):
                self._draft_timer.start()
        else:
            self._drafts.drop(self.page.path)

    def save_draft(self) -> bool:
        """Write any unsaved text to a draft outside the vault, so that a crash does not lose it.

        Returns:
            False if the draft can't be written. The error is only logged.
        """
        try:
            self._write_draft()
        except OSError as error:
            # The text stays in the editor, and the next edit tries again.
            log.warning("the draft of a note could not be written: %s", error)
            return False
        return True

    def _write_draft(self) -> None:
        if self.page is not None and self._is_dirty:
            result = None if self.conflict is None else self.conflict.result
            self._drafts.save(self.page.path, self.page.hash, self.text, result)
            self._draft_saved_at = time.monotonic()

    def discard_changes(self) -> None:
        """Discard the unsaved text, its draft and the conflict; the editor keeps showing the text."""
        if self.page is not None:
            self._drafts.drop(self.page.path)
        self.conflict = None
        self._set_dirty(False)

    def leave_draft(self) -> None:
        """Leave the unsaved text as a draft, which is offered when the note is opened again.

        Raises:
            OSError: The draft can't be written; the text stays unsaved.
        """
        self._write_draft()
        self._set_dirty(False)

    async def save(self) -> bool:
        """Save the text, after any save in progress.

        Returns:
            True if no text is unsaved or the text was saved; False after an error or with an unresolved
                conflict.

        Raises:
            NotFoundError, StorageError: The note was saved or has changed, but can't be read again.
        """
        async with self._lock:
            for _ in range(_MAX_SAVE_ATTEMPTS):
                if (saved := await self._save()) is not None:
                    return saved
            self._fail(self.tr("Another program keeps changing the note."))
            return False

    async def _save(self) -> bool | None:
        """Save once; return None after merging an intermediate change, so that the caller saves again."""
        page, length, raw = self.page, self._source.characterCount(), self._source.toRawText()
        if page is None or not self._is_dirty:
            return True
        if self.conflict is not None:
            return False
        text = from_editor(raw, page.text)
        if text == page.text:
            self._drafts.drop(page.path)
            self._saved_length = length
            self._set_dirty(False)
            return True
        session = self._current_session()
        result = await self._client.run(lambda vault: vault.edits.save(page, text, session))
        if isinstance(result, SaveConflict):
            await self._apply_external(result)
            return None if self.conflict is None else False
        return self._handle_save_result(result, raw, length)

    @property
    def is_saving(self) -> bool:
        """True while the note is being saved, or an external change is being loaded."""
        return self._lock.locked()

    def _is_in_editor(self, page: NoteData) -> bool:
        return from_editor(self._source.toRawText(), page.text) == page.text

    def _current_session(self) -> str:
        """Return the id that groups the saves of one editing session in the history, like an agent's turn."""
        now = time.monotonic()
        if not self._session or now - self._last_save > _SESSION_PAUSE_S:
            self._session = f"writing-{uuid.uuid4().hex[:16]}"
        self._last_save = now
        return self._session

    def _set_page(self, page: NoteData) -> None:
        if self.page is None or self.page.path != page.path:
            self._session = ""
        self.page = page
        self.conflict = None
        self._is_deleted = False
        self._set_dirty(False)
        self.loaded.emit(page)
        self._saved_length = self._source.characterCount()
        self.notice_cleared.emit()
        if page.problem:
            text = self.tr("{0} It is read-only and will not be changed.").format(page.problem)
            self.notice_requested.emit(text, "warning")
        elif self._client.read_only:
            return  # The status bar shows this for the whole vault.
        elif not self.is_editable:
            text = self.tr("This note has characters that the editor can't preserve, so it is read-only.")
            self.notice_requested.emit(text, "warning")

    def _set_dirty(self, dirty: bool) -> None:
        self._is_dirty = dirty
        if not dirty:
            self.failure = ""
            self._draft_saved_at = 0.0
            self._draft_timer.stop()
        elif not self._draft_saved_at:
            self._draft_saved_at = time.monotonic()
        self.refresh_state()

    def refresh_state(self) -> None:
        """Emit `unsaved_changed` if the need for a warning has changed, for example with the settings."""
        needs_warning = bool(self.failure) or self.conflict is not None or not self.has_autosave
        shows_warning = self._is_dirty and needs_warning
        if shows_warning != self._shows_warning:
            self._shows_warning = shows_warning
            self.unsaved_changed.emit(shows_warning)

    def _handle_save_result(self, result: SaveResult, raw: str, length: int) -> bool:
        match result:
            case Saved(page):
                self._drafts.drop(page.path)
                self.page = page
                self.conflict = None
                self.failure = ""
                self._saved_length = length
                self._set_dirty(self._source.toRawText() != raw)
                self.saved.emit(page)
                self.notice_cleared.emit()
                return True
            case SaveConflict(theirs):
                self._enter_conflict(theirs)
            case Failed(reason):
                self._fail(reason)
        return False

    def _fail(self, reason: str) -> None:
        self.save_draft()
        self.failure = reason
        self.refresh_state()
        self.notice_requested.emit(self.tr("Not saved. {0} Your text is kept here.").format(reason), "danger")

    def _offer_draft(self, draft: NoteDraft, page: NoteData) -> None:
        question = self.tr("This note has unsaved text from an earlier session.")
        if draft.base_hash != page.hash:
            question += self.tr(" The note has changed since then.")
        restore = (self.tr("Restore"), partial(self._set_text, draft.text))
        discard = (self.tr("Discard"), self._drop_draft)
        answers: Answers = (restore, discard)
        if draft.result is not None:
            answers = (
                restore,
                (self.tr("Restore merged text"), partial(self._set_text, draft.result)),
                discard,
            )
        self.question_requested.emit(question, answers)

    def _set_text(self, text: str) -> None:
        self.text_changed.emit(text)
        self._set_dirty(True)
        self.notice_cleared.emit()
        self.edited.emit()

    def _drop_draft(self) -> None:
        if self.page is not None:
            self._drafts.drop(self.page.path)
        self.notice_cleared.emit()

    def _enter_conflict(self, theirs: NoteData | None, *, by_app: bool = False) -> None:
        """Keep the unsaved text and ask the user; the note is not written until the user decides."""
        if self.page is None or (self.conflict is not None and _is_same_note(self.conflict.theirs, theirs)):
            return
        result = None if self.conflict is None else self.conflict.result
        self.conflict = Conflict(self.page, theirs, result)
        self.save_draft()
        self.refresh_state()
        if theirs is None:
            text = self.tr("The note was deleted, or moved outside the app. Your text is kept here.")
            create = (self.tr("Create it again"), self._start_recreating)
            self.question_requested.emit(
                text, (create, (self.tr("Discard my text"), self._discard_after_deletion))
            )
            return
        answers: Answers = (
            (self.tr("Compare"), self.comparison_requested.emit),
            (self.tr("Keep mine"), self.keep_mine),
            (self.tr("Keep theirs"), self.keep_theirs),
            (self.tr("Merge"), self.merge),
        )
        text = self.tr(
            "The note was changed outside the app while you were writing. Choose which text to keep."
        )
        if by_app:
            text = self.tr(
                "The note was changed by the app while you were writing. Choose which text to keep."
            )
        self.question_requested.emit(text, answers)

    def keep_mine(self) -> None:
        """Overwrite the file with the unsaved text; the file's text stays in the note's history.

        Does nothing without a conflict, or if the note was deleted.
        """
        self.resolve(self.text)

    def keep_theirs(self) -> None:
        """Load the text on disk; undo in the editor restores the unsaved text."""
        if self.conflict is not None and self.conflict.theirs is not None:
            self.resolve(self.conflict.theirs.text)

    def postpone_decision(self, result: str | None) -> None:
        """Store the user's merge so far with the conflict; the next comparison shows it."""
        if self.conflict is not None:
            self.conflict.result = result
            self.save_draft()

    def load_result(self, text: str) -> None:
        """Load the user's merge if the conflict has since ended; undo restores the previous text."""
        if self.conflict is None and self.page is not None and text != self.text:
            self.text_changed.emit(text)
            self.mark_edited()
            self.save_draft()

    def merge(self) -> None:
        """Merge both texts and save the result; if they can't be merged, let the user compare them."""
        self._start(self._merge(), self.tr("merge the note"))

    async def compute_merge(self) -> str | None:
        """Merge both texts of the conflict.

        Returns:
            The merged text; None if the changes overlap, or if there is no conflict with a readable note on
                disk.
        """
        conflict = self.conflict
        if conflict is None or conflict.theirs is None or conflict.theirs.problem:
            return None
        return await asyncio.to_thread(
            merge_texts, conflict.base.content, self.text.encode("utf-8"), conflict.theirs.content
        )

    async def _merge(self) -> None:
        while True:
            conflict, own_text = self.conflict, self.text
            text = await self.compute_merge()
            # The user may have continued typing, or the file may have changed again.
            if self.conflict is conflict and self.text == own_text:
                break
        if self.conflict is None:
            return
        if text is None:
            self.comparison_requested.emit()
        else:
            self.resolve(text)

    def resolve(self, text: str) -> None:
        """Resolve the conflict with `text` and save it; the file's text stays in the note's history.

        Does nothing without a conflict, or if the note was deleted: see `recreate`.
        """
        conflict = self.conflict
        if conflict is None or conflict.theirs is None:
            return
        own_text, base = self.text, conflict.base
        self.page, self.conflict = conflict.theirs, None
        if text != own_text:
            self.text_changed.emit(text)
        if self.page.path != base.path:
            self.renamed.emit(self.page)
        self._set_dirty(True)
        self.notice_cleared.emit()
        self._start(self.save(), self.tr("save the note"))

    def _start_recreating(self) -> None:
        self._start(self.recreate(), self.tr("create the note again"))

    async def recreate(self) -> bool:
        """Write the unsaved text of a deleted note to disk; return whether that succeeded.

        Raises:
            NotFoundError, StorageError: The note was written, but can't be read again.
        """
        async with self._lock:
            if self.page is None:
                return False
            path, text = self.page.path, self.text
            raw, length = self._source.toRawText(), self._source.characterCount()
            session = self._current_session()
            result = await self._client.run(lambda vault: vault.edits.create(path, text, session))
            return self._handle_save_result(result, raw, length)

    def _discard_after_deletion(self) -> None:
        self.discard_changes()
        self.notice_requested.emit(self.tr("This note no longer exists."), "warning")

    def _receive(self, events: tuple[object, ...]) -> None:
        if self.page is None:
            return
        path = self.page.path
        for event in events:
            if isinstance(event, NotesChanged):
                moved = dict(event.moved)
                if path in moved or path in event.paths or path in event.removed:
                    path = moved.get(path, path)
                    self._start(self._follow(path), self.tr("reload the note"))

    async def _follow(self, path: NotePath) -> None:
        """Load the current note at `path`, keeping unsaved text."""
        async with self._lock:
            await self._apply_external(await self._client.run(lambda vault: vault.edits.read_conflict(path)))

    async def _apply_external(self, change: SaveConflict) -> None:
        """Apply the current note on disk.

        A change made through the app was approved by the user, so it is merged into the unsaved text unless
        the two overlap.
        """
        # Read the state only here: the user may have resolved a conflict while the note was being read.
        previous, page = self.page, change.theirs
        if previous is None:
            return
        if page is None:
            self._handle_deleted()
        elif page.content == previous.content:
            if page.path != previous.path:
                self._follow_move(page)
            self._end_conflict()
            self._end_deletion()
        elif not self._is_dirty:
            self._set_page(page)
        else:
            await self._follow_change(page, by_app=change.by_app)

    def _handle_deleted(self) -> None:
        if self._is_dirty:
            self._enter_conflict(None)
        else:
            self._is_deleted = True
            text = self.tr("This note was deleted or moved. Its last version is shown.")
            self.notice_requested.emit(text, "warning")

    def _end_deletion(self) -> None:
        """Remove the notice of the deletion: the note is back, for example after an undo."""
        if self._is_deleted:
            self._is_deleted = False
            self.notice_cleared.emit()

    def _follow_move(self, page: NoteData) -> None:
        previous, self.page = self.page, page
        if previous is not None:
            self._drafts.drop(previous.path)
        self.save_draft()
        self.renamed.emit(page)

    def _end_conflict(self) -> None:
        """End the conflict: the file once more matches the text that the unsaved text is based on."""
        if self.conflict is not None:
            self.conflict = None
            self.refresh_state()
            self.notice_cleared.emit()
            self.edited.emit()

    async def _follow_change(self, theirs: NoteData, *, by_app: bool) -> None:
        if not by_app or theirs.problem or self.page is None:
            self._enter_conflict(theirs)
            return
        base = self.page.content
        while True:
            own_text = self.text
            text = await asyncio.to_thread(merge_texts, base, own_text.encode("utf-8"), theirs.content)
            if self.text == own_text:
                break
        if text is None:
            self._enter_conflict(theirs, by_app=True)
            return
        is_moved = self.page.path != theirs.path
        self.page = theirs
        self.text_changed.emit(text)
        self.mark_edited()
        if is_moved:
            self.renamed.emit(theirs)

    def _start(self, coro: Coroutine[Any, Any, object], action: str) -> None:
        tasks.start(coro, owner=self._view, action=action)


def _is_same_note(first: NoteData | None, second: NoteData | None) -> bool:
    if first is None or second is None:
        return first is second
    return first.path == second.path and first.content == second.content
