"""Atomic commits: execute one intent at a time, and recover interrupted ones.

The steps are: store the bytes in the journal, write the intent, create folders and temporary files, enter the
phase `ready`, execute the operations, sync the folders, record the commit in the journal, remove temporary
files, remove the intent. A failure before the commit is recorded rolls everything back, except in files that
another program has changed since. After a crash, the state of the disk decides whether recovery completes the
commit or rolls it back.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from app.errors import NotFoundError, ScriptoriumError
from app.vault.commits import Commit, CommitDraft
from app.vault.file_operations import ContentReader, OperationExecutor, OperationProgress
from app.vault.journal import Journal
from app.vault.path import NotePath
from app.vault.write_ahead_log import FileOperation, Intent, Phase, Put, Rename, WriteAheadLog

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recovery:
    """The result of recovering an interrupted commit.

    `is_completed` is False if the commit was rolled back. `kept_paths` are files that were left alone,
    because another program has changed them since or the bytes are lost. `commit` is the number of the
    recorded commit, or None.
    """

    summary: str
    is_completed: bool
    paths: tuple[NotePath, ...]
    kept_paths: tuple[NotePath, ...] = ()
    commit: int | None = None


class Transaction:
    """Executes and recovers intents, one at a time; the caller holds the lock."""

    def __init__(
        self, executor: OperationExecutor, wal: WriteAheadLog, journal: Journal, step: Callable[[str], None]
    ) -> None:
        self._executor = executor
        self._wal = wal
        self._journal = journal
        self._step = step

    def run(self, intent: Intent, contents: Mapping[str, bytes]) -> Commit:
        """Execute an intent; `contents` maps hashes to bytes.

        Raises:
            ConflictError: A file changed after the check; the commit is rolled back.
            OSError, ScriptoriumError: The disk failed, or a folder can't be opened; the commit is rolled
                back. If that fails, too, recovery does it before the next commit or at the next start.
        """
        uid = intent.draft.uid
        self._step("journal: keep")
        self._journal.store_contents(contents)
        phase = None
        try:
            self._wal.write(intent)
            phase = Phase.STAGING
            self._stage(intent, contents)
            self._wal.set_phase(uid, Phase.READY, Phase.STAGING)
            phase = Phase.READY
            self._executor.execute(intent.operations)
            self._executor.sync(intent.operations)
            self._step("journal: record")
            commit = self._journal.record(intent.draft)
        except BaseException:
            self._abort(intent, phase, contents.__getitem__)
            raise
        try:
            self._clean_up(intent, is_done=True)
        except (OSError, ScriptoriumError):
            log.exception("could not clean up after a commit; trying again before the next one")
        return commit

    def _stage(self, intent: Intent, contents: Mapping[str, bytes]) -> None:
        for folder in intent.draft.folders:
            self._executor.make_folder(folder)
        puts = tuple(operation for operation in intent.operations if isinstance(operation, Put))
        self._executor.stage_all(puts, contents)
        self._executor.sync(puts)

    def _abort(self, intent: Intent, phase: Phase | None, read_content: ContentReader) -> None:
        """Roll back a failed commit, or leave that to recovery if it fails, too."""
        try:
            if phase is Phase.READY:
                with suppress(OSError):
                    self._wal.set_phase(intent.draft.uid, Phase.ROLLING_BACK, Phase.READY)
                self._roll_back(intent, read_content)
            else:
                self._discard_staged(intent)
            self._clean_up(intent, is_done=False)
        except (OSError, ScriptoriumError):
            log.exception("could not roll back a failed commit; trying again before the next one")

    def _discard_staged(self, intent: Intent) -> None:
        for operation in intent.operations:
            if isinstance(operation, Put):
                self._executor.discard(operation)

    def _roll_back(self, intent: Intent, read_content: ContentReader) -> list[NotePath]:
        kept_paths = []
        for operation, progress in reversed(
            list(zip(intent.operations, self._progress(intent), strict=True))
        ):
            if progress.is_done and not self._revert(operation, read_content):
                kept_paths.append(NotePath.on_disk(_target_path(operation)))
            elif not progress.is_done and progress.is_edited:
                kept_paths.append(NotePath.on_disk(operation.path))
        self._executor.sync(intent.operations)
        return kept_paths

    def _revert(self, operation: FileOperation, read_content: ContentReader) -> bool:
        try:
            return self._executor.undo(operation, read_content)
        except NotFoundError:
            # The old bytes are lost with the journal, so the new ones must stay.
            return False

    def _clean_up(self, intent: Intent, *, is_done: bool) -> None:
        """Remove temporary files, then unneeded folders, and finally the intent."""
        self._executor.drop([operation for operation in intent.operations if isinstance(operation, Put)])
        unneeded_folders = intent.spare if is_done else tuple(reversed(intent.draft.folders))
        for folder in unneeded_folders:
            self._executor.remove_folder(folder)
        self._step("intent: remove")
        self._wal.remove(intent.draft.uid)

    def recover(self, intent: Intent, phase: Phase) -> Recovery:
        """Complete an interrupted commit or roll it back, depending on its phase and the files on disk.

        Raises:
            OSError, ScriptoriumError: The disk failed, or a file changed during the recovery; the intent
                remains.
        """
        draft = intent.draft
        paths = tuple(change.final_path for change in draft.changes)
        recorded = self._journal.find(draft.uid)
        if recorded is not None:
            self._clean_up(intent, is_done=True)
            return Recovery(draft.summary, True, paths, (), recorded)
        if phase is Phase.STAGING:
            self._discard_staged(intent)
            self._clean_up(intent, is_done=False)
            return Recovery(draft.summary, False, paths)
        if phase is Phase.ROLLING_BACK or self._should_roll_back(intent):
            return self._finish_roll_back(intent, phase, paths)
        return self._complete(intent, paths)

    def _should_roll_back(self, intent: Intent) -> bool:
        """Return whether no operation is done, or none on the files edited since, if there are any."""
        progress = self._progress(intent)
        edited = [state for state in progress if state.is_edited]
        return not any(state.is_done for state in progress) or (
            bool(edited) and not any(state.is_done for state in edited)
        )

    def _finish_roll_back(self, intent: Intent, phase: Phase, paths: tuple[NotePath, ...]) -> Recovery:
        if phase is not Phase.ROLLING_BACK:
            self._wal.set_phase(intent.draft.uid, Phase.ROLLING_BACK, phase)
        kept_paths = self._roll_back(intent, self._journal.content)
        self._clean_up(intent, is_done=False)
        return Recovery(intent.draft.summary, False, paths, tuple(kept_paths))

    def _complete(self, intent: Intent, paths: tuple[NotePath, ...]) -> Recovery:
        kept_paths: list[NotePath] = []
        for operation, state in zip(intent.operations, self._progress(intent), strict=True):
            if state.is_edited:
                kept_paths.append(
                    NotePath.on_disk(_target_path(operation) if state.is_done else operation.path)
                )
            elif state.is_done:
                self._executor.finish(operation)
            elif not self._redo(operation):
                kept_paths.append(NotePath.on_disk(operation.path))
        self._executor.sync(intent.operations)
        draft = _without_files(intent.draft, kept_paths)
        self._step("journal: record")
        commit = self._journal.record(draft) if draft.changes else None
        self._clean_up(intent, is_done=True)
        return Recovery(draft.summary, True, paths, tuple(kept_paths), commit.id if commit else None)

    def _redo(self, operation: FileOperation) -> bool:
        """Execute an operation that a crash prevented; return False if its bytes are lost."""
        if isinstance(operation, Put) and not self._executor.is_staged(operation):
            try:
                content = self._journal.content(operation.after)
            except NotFoundError:
                return False
            self._executor.discard(operation)
            self._executor.stage(operation, content)
        self._executor.execute((operation,))
        return True

    def _progress(self, intent: Intent) -> list[OperationProgress]:
        """Return the progress of each operation; a put after a move that is not done has not begun."""
        progress: list[OperationProgress] = []
        for operation in intent.operations:
            last_progress = progress[-1] if progress else None
            previous = intent.operations[len(progress) - 1] if progress else None
            follows_move = (
                isinstance(previous, Rename) and isinstance(operation, Put) and previous.to == operation.path
            )
            is_waiting = follows_move and last_progress is not None and not last_progress.is_done
            progress.append(
                OperationProgress(is_done=False, is_edited=False)
                if is_waiting
                else self._executor.progress(operation)
            )
        return progress


def _without_files(draft: CommitDraft, kept_paths: list[NotePath]) -> CommitDraft:
    """Return the draft without the files that keep another program's changes."""
    rows = [
        (change, name)
        for change, name in zip(draft.changes, draft.trash, strict=True)
        if change.path not in kept_paths and change.to not in kept_paths
    ]
    return replace(draft, changes=tuple(row[0] for row in rows), trash=tuple(row[1] for row in rows))


def _target_path(operation: FileOperation) -> str:
    return operation.to if isinstance(operation, Rename) else operation.path
