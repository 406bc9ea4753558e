"""Detect changes that programs make to the vault without the gate; journal, log and show them.

During a program's turn, every file change that the app did not make is attributed to the program. Another
program may write at the same time, so the log records whether the agent itself reported the file. A baseline
of the vault, taken when the turn begins, keeps the previous content.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from app.agent.transcript import ToolCard
from app.agent.turn import Turn, complete_card
from app.errors import NotFoundError, ScriptoriumError
from app.permissions.caller import Caller
from app.toolkit.external_changes import DIRECT_EDIT, ExternalChangeRecorder
from app.vault.baseline import BaselineDiff, VaultBaseline, change_set_of
from app.vault.changes import FileChange, content_hash, touched_paths
from app.vault.path import NotePath
from app.vault.store import MISSING_HASH, NoteStore

log = logging.getLogger(__name__)

_REPORTED_EDIT_REASON = "{0} made this change without approval and reported it"
_UNREPORTED_EDIT_REASON = "made while {0} was working but not reported by it; possibly by another program"


@dataclass(slots=True, eq=False)
class WatchedTurn:
    """A program's turn in progress; `reported_files` returns the files that it reports as changed."""

    turn: Turn
    reported_files: Callable[[], Iterable[str]]
    change_count: int = 0


class ExternalEditTracker:
    """Watches the vault's files while programs work in it.

    Args:
        root: The vault's folder.
        folder: The folder for the baseline's temporary file.
        store: The vault's notes.
        recorder: Journals and logs the changes.
    """

    def __init__(self, root: Path, folder: Path, store: NoteStore, recorder: ExternalChangeRecorder) -> None:
        self._root = root
        self._folder = folder
        self._store = store
        self._recorder = recorder
        self._baseline: VaultBaseline | None = None
        self._watched: list[WatchedTurn] = []
        self._recorded: set[NotePath] = set()
        self._lock = asyncio.Lock()
        self._stop = threading.Event()

    async def begin(self, turn: Turn, reported_files: Callable[[], Iterable[str]]) -> WatchedTurn:
        """Watch the files during a turn; changes from now on are attributed to its program.

        Takes a baseline unless other turns are being watched. A read-only vault is not watched.

        Raises:
            StorageError: The copy of the notes can't be stored.
        """
        watched = WatchedTurn(turn, reported_files)
        if not self._store.writable:
            return watched
        async with self._lock:
            await self._capture_baseline()
            self._watched.append(watched)
        return watched

    async def prepare(self) -> None:
        """Take a baseline ahead of `begin`, because it is slow in a large vault; raises like `begin`."""
        if self._store.writable:
            async with self._lock:
                await self._capture_baseline()

    async def _capture_baseline(self) -> None:
        if self._baseline is None:
            self._baseline = VaultBaseline(self._root, self._folder)
        if not self._watched:
            await asyncio.to_thread(self._baseline.capture, self._stop.is_set)

    async def end(self, watched: WatchedTurn) -> None:
        """Record the remaining changes of the turn and stop watching the files for it."""
        if watched in self._watched:
            await self.collect()
            self._watched.remove(watched)

    async def collect(self, paths: Iterable[NotePath] | None = None) -> frozenset[NotePath]:
        """Record the changes that programs have made.

        Args:
            paths: The files to check; None for the whole vault.

        Returns:
            The files among `paths` whose current content is recorded, so that other watchers can skip them;
                empty if `paths` is None.
        """
        if self._baseline is None or self._stop.is_set():
            return frozenset()
        requested = None if paths is None else tuple(paths)
        if self._watched:
            async with self._lock:
                diff = await asyncio.to_thread(self._baseline.diff, requested, self._store.is_own_write)
                if diff:
                    await self._record_by_turn(diff)
        recorded = self._recorded.intersection(requested or ())
        return await asyncio.to_thread(self._still_recorded, recorded) if recorded else frozenset()

    def close(self) -> None:
        """Discard the baseline."""
        self._stop.set()
        if self._baseline is not None:
            self._baseline.close()

    def _still_recorded(self, paths: Iterable[NotePath]) -> frozenset[NotePath]:
        """Return the files that have not changed since they were recorded."""
        return frozenset(path for path in paths if self._store.is_own_write(path, self._digest(path)))

    def _digest(self, path: NotePath) -> str:
        try:
            return content_hash(self._store.read(path))
        except NotFoundError:
            return MISSING_HASH
        except ScriptoriumError:
            return "unreadable"

    async def _record_by_turn(self, diff: BaselineDiff) -> None:
        """Record the changes, grouped by turn and by whether the turn's program reported them."""
        groups: dict[tuple[int, bool], tuple[WatchedTurn, list[FileChange], list[NotePath]]] = {}
        for change in diff.changes:
            watched, reported = self._turn_of(touched_paths(change))
            groups.setdefault((id(watched), reported), (watched, [], []))[1].append(change)
        for path in diff.unsaved:
            watched, reported = self._turn_of((path,))
            groups.setdefault((id(watched), reported), (watched, [], []))[2].append(path)
        for (_, reported), (watched, changes, unsaved) in groups.items():
            await self._record(watched, BaselineDiff(tuple(changes), tuple(unsaved)), reported)

    def _turn_of(self, paths: Iterable[NotePath]) -> tuple[WatchedTurn, bool]:
        """Return the turn whose program reported one of these files and True, or the latest and False."""
        texts = {path.text for path in paths}
        for watched in reversed(self._watched):
            if not texts.isdisjoint(self._relative_path(name) for name in watched.reported_files()):
                return watched, True
        return self._watched[-1], False

    def _relative_path(self, name: str) -> str:
        path = PurePath(name)
        if path.is_absolute():
            try:
                return path.relative_to(self._root).as_posix()
            except ValueError:
                return ""
        return path.as_posix()

    async def _record(self, watched: WatchedTurn, diff: BaselineDiff, reported: bool) -> None:
        turn = watched.turn
        change_set = change_set_of(diff)
        reason = (_REPORTED_EDIT_REASON if reported else _UNREPORTED_EDIT_REASON).format(turn.caller.name)
        outcome = await self._recorder.record(change_set, _program_caller(turn.caller), reason, diff.unsaved)
        watched.change_count += len(diff.changes) + len(diff.unsaved)
        self._recorded.update(change_set.paths)
        paths = [str(path) for path in (*change_set.paths, *diff.unsaved)]
        turn.flush()
        card = ToolCard(
            turn=turn.caller.turn,
            at=time.time(),
            agent=turn.agent,
            call=f"{DIRECT_EDIT}:{outcome.entry}",
            tool=DIRECT_EDIT,
            arguments=json.dumps({"files": ", ".join(paths)}, ensure_ascii=False),
        )
        turn.put(complete_card(card, outcome))


def _program_caller(caller: Caller) -> Caller:
    """Return the program as the caller of an external edit, without its description of the change."""
    return replace(caller, claim="")
