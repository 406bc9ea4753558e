"""Atomic commits: the execution of one intent, and the recovery of interrupted ones.

The steps are: store the bytes in the journal, write the intent, create folders and temporary files, enter the
phase `ready`, execute the operations, sync the folders, record the commit in the journal, remove temporary
files, remove the intent. A failure before the record rolls everything back. After a crash, the next start
recovers by the state of the disk.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from app.errors import NotFoundError, ScriptoriumError
from app.vault.commits import Commit, CommitDraft
from app.vault.file_operations import Image, OperationExecutor, OperationProgress
from app.vault.journal import Journal
from app.vault.path import NotePath
from app.vault.write_ahead_log import FileOperation, Intent, Phase, Put, Rename, WriteAheadLog

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recovery:
    """The result of recovering an interrupted commit.

    `completed` says whether the commit was completed or rolled back. `kept` are files that another program
    has changed since, which were left alone. `commit` is the recorded commit, if there is one.
    """

    summary: str
    completed: bool
    paths: tuple[NotePath, ...]
    kept: tuple[NotePath, ...] = ()
    commit: int | None = None


class Transaction:
    """Executes and recovers intents, one at a time; the caller holds the lock."""

    def __init__(
        self, doer: OperationExecutor, intents: WriteAheadLog, journal: Journal, step: Callable[[str], None]
    ) -> None:
        self._doer = doer
        self._intents = intents
        self._journal = journal
        self._step = step

    def run(self, intent: Intent, contents: Mapping[str, bytes]) -> Commit:
        """Execute an intent; `contents` maps hashes to bytes.

        Raises:
            ConflictError: a file changed after the check; everything was rolled back.
            OSError, StorageError: the disk failed; the commit is rolled back, now or at the next start.
        """
        uid = intent.draft.uid
        self._step("journal: keep")
        self._journal.store_contents(contents)
        phase = None
        try:
            self._intents.write(intent)
            phase = Phase.STAGING
            self._stage(intent, contents)
            self._intents.set_phase(uid, Phase.READY, Phase.STAGING)
            phase = Phase.READY
            self._doer.execute(intent.deeds)
            self._doer.sync(intent.deeds)
            self._step("journal: record")
            commit = self._journal.record(intent.draft)
        except BaseException:
            self._abort(intent, phase, contents.__getitem__)
            raise
        try:
            self._clean_up(intent, done=True)
        except (OSError, ScriptoriumError):
            log.exception("could not clean up after a commit; trying again before the next one")
        return commit

    def _stage(self, intent: Intent, contents: Mapping[str, bytes]) -> None:
        for folder in intent.draft.folders:
            self._doer.make_folder(folder)
        puts = tuple(deed for deed in intent.deeds if isinstance(deed, Put))
        self._doer.stage_all(puts, contents)
        self._doer.sync(puts)

    def _abort(self, intent: Intent, phase: Phase | None, image: Image) -> None:
        """Roll back a failed commit, or leave that to recovery if it fails, too."""
        try:
            if phase is Phase.READY:
                with suppress(OSError):
                    self._intents.set_phase(intent.draft.uid, Phase.BACK, Phase.READY)
                self._roll_back(intent, image)
            else:
                self._discard(intent)
            self._clean_up(intent, done=False)
        except (OSError, ScriptoriumError):
            log.exception("could not roll back a failed commit; trying again before the next one")

    def _discard(self, intent: Intent) -> None:
        for deed in intent.deeds:
            if isinstance(deed, Put):
                self._doer.discard(deed)

    def _roll_back(self, intent: Intent, image: Image) -> list[NotePath]:
        kept = []
        for deed, progress in reversed(list(zip(intent.deeds, self._progress(intent), strict=True))):
            if progress.done and not self._undo(deed, image):
                kept.append(NotePath.on_disk(_target_path(deed)))
            elif not progress.done and progress.edited:
                kept.append(NotePath.on_disk(deed.path))
        self._doer.sync(intent.deeds)
        return kept

    def _undo(self, deed: FileOperation, image: Image) -> bool:
        try:
            return self._doer.undo(deed, image)
        except NotFoundError:
            # The old bytes are lost with the journal, so the new ones must stay.
            return False

    def _clean_up(self, intent: Intent, *, done: bool) -> None:
        """Remove temporary files, then unneeded folders, and finally the intent."""
        self._doer.drop([deed for deed in intent.deeds if isinstance(deed, Put)])
        spare = intent.spare if done else tuple(reversed(intent.draft.folders))
        for folder in spare:
            self._doer.remove_folder(folder)
        self._step("intent: remove")
        self._intents.remove(intent.draft.uid)

    def recover(self, intent: Intent, phase: Phase) -> Recovery:
        """Recover an interrupted commit: complete it if the result is consistent, else roll it back."""
        draft = intent.draft
        paths = tuple(change.place for change in draft.changes)
        recorded = self._journal.find(draft.uid)
        if recorded is not None:
            self._clean_up(intent, done=True)
            return Recovery(draft.summary, True, paths, (), recorded)
        if phase is Phase.STAGING:
            self._discard(intent)
            self._clean_up(intent, done=False)
            return Recovery(draft.summary, False, paths)
        if phase is Phase.BACK or self._better_back(intent):
            return self._settle_back(intent, phase, paths)
        return self._settle_forward(intent, paths)

    def _better_back(self, intent: Intent) -> bool:
        """Return whether to roll back: no operation is done, or none of those on files edited since."""
        states = self._progress(intent)
        edited = [state for state in states if state.edited]
        return not any(state.done for state in states) or (bool(edited) and not any(s.done for s in edited))

    def _settle_back(self, intent: Intent, phase: Phase, paths: tuple[NotePath, ...]) -> Recovery:
        if phase is not Phase.BACK:
            self._intents.set_phase(intent.draft.uid, Phase.BACK, phase)
        kept = self._roll_back(intent, self._journal.content)
        self._clean_up(intent, done=False)
        return Recovery(intent.draft.summary, False, paths, tuple(kept))

    def _settle_forward(self, intent: Intent, paths: tuple[NotePath, ...]) -> Recovery:
        kept: list[NotePath] = []
        for deed, state in zip(intent.deeds, self._progress(intent), strict=True):
            if state.edited:
                kept.append(NotePath.on_disk(_target_path(deed) if state.done else deed.path))
            elif state.done:
                self._doer.finish(deed)
            elif not self._redo(deed):
                kept.append(NotePath.on_disk(deed.path))
        self._doer.sync(intent.deeds)
        draft = _without_files(intent.draft, kept)
        self._step("journal: record")
        commit = self._journal.record(draft) if draft.changes else None
        self._clean_up(intent, done=True)
        return Recovery(draft.summary, True, paths, tuple(kept), commit.id if commit else None)

    def _redo(self, deed: FileOperation) -> bool:
        """Execute an operation that a crash prevented; return False if its bytes are lost."""
        if isinstance(deed, Put) and not self._doer.is_staged(deed):
            try:
                content = self._journal.content(deed.after)
            except NotFoundError:
                return False
            self._doer.discard(deed)
            self._doer.stage(deed, content)
        self._doer.execute((deed,))
        return True

    def _progress(self, intent: Intent) -> list[OperationProgress]:
        """Return the progress of each operation; a put after a move that is not done has not begun."""
        found: list[OperationProgress] = []
        for deed in intent.deeds:
            last = found[-1] if found else None
            before = intent.deeds[len(found) - 1] if found else None
            follows = isinstance(before, Rename) and isinstance(deed, Put) and before.to == deed.path
            waiting = follows and last is not None and not last.done
            found.append(
                OperationProgress(done=False, edited=False) if waiting else self._doer.progress(deed)
            )
        return found


def _without_files(draft: CommitDraft, kept: list[NotePath]) -> CommitDraft:
    """Return the draft without the files that keep another program's changes."""
    rows = [
        (change, name)
        for change, name in zip(draft.changes, draft.trash, strict=True)
        if change.path not in kept and change.to not in kept
    ]
    return replace(draft, changes=tuple(row[0] for row in rows), trash=tuple(row[1] for row in rows))


def _target_path(deed: FileOperation) -> str:
    return deed.to if isinstance(deed, Rename) else deed.path
