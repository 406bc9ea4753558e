"""Streams that notify clients of changes to notes, tools, memory and pending operations.

A client that reads slowly loses detail instead of building up a backlog: at most one change of each kind
waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from app.events import EventBus
from app.external.states import ExternalChanged
from app.index.records import IndexUpdated
from app.memory.changes import MEMORY_PLACE
from app.permissions.caller import Caller
from app.permissions.pending import is_same_caller
from app.servers.vault_access import VaultChange
from app.toolkit.document_stores import DocumentsChanged
from app.toolkit.pending import PendingChanged

if TYPE_CHECKING:
    from app.toolkit.runner import ToolRunner
    from app.vault.path import NotePath

Kind = Literal["notes", "tools", "pending", "memory"]
_MAX_QUEUED_PATHS = 200
_MAX_CHECKED_PATHS = 50


class ChangeStream:
    """Asynchronous iterator over the changes for one client, from its creation until `aclose`."""

    def __init__(self, caller: Caller, unsubscribe: Callable[[ChangeStream], None]) -> None:
        self.caller = caller
        self._unsubscribe_self = unsubscribe
        self._waiting: dict[Kind, set[str] | None] = {}
        self._listed: set[Kind] = set()
        self._has_changes = asyncio.Event()
        self._ended = False

    def __aiter__(self) -> ChangeStream:
        return self

    async def __anext__(self) -> VaultChange:
        while not self._waiting:
            if self._ended:
                raise StopAsyncIteration
            self._has_changes.clear()
            await self._has_changes.wait()
        kind = next(iter(self._waiting))
        paths = self._waiting.pop(kind)
        is_listed = kind in self._listed
        self._listed.discard(kind)
        return VaultChange(kind, tuple(sorted(paths or ())), is_listed)

    async def aclose(self) -> None:
        """End the stream, as `end` does."""
        self.end()

    def end(self) -> None:
        """End the stream after the queued changes."""
        if not self._ended:
            self._ended = True
            self._unsubscribe_self(self)
            self._has_changes.set()

    def push(self, kind: Kind, paths: tuple[str, ...] | None = None, *, listed: bool = False) -> None:
        """Add a change.

        Args:
            kind: The kind of change.
            paths: The changed notes; None if there are none, or too many to name.
            listed: Whether a list of the notes or memory blocks is outdated.
        """
        if listed:
            self._listed.add(kind)
        pending = self._waiting.get(kind, set())
        if paths is None or pending is None or len(pending) + len(paths) > _MAX_QUEUED_PATHS:
            self._waiting[kind] = None
        else:
            self._waiting[kind] = pending | set(paths)
        self._has_changes.set()


class ChangeBroadcaster:
    """Builds the streams of changes from the vault's events, filtered by what each client may see."""

    def __init__(self, runner: ToolRunner, events: EventBus) -> None:
        self._runner = runner
        self._readers: list[ChangeStream] = []
        self._total: int | None = None
        self._private: frozenset[NotePath] | None = None
        self._unsubscribe = (
            events.subscribe(IndexUpdated, self._handle_index_update),
            events.subscribe(PendingChanged, self._handle_pending_change),
            events.subscribe(DocumentsChanged, self._handle_documents_change),
            events.subscribe(ExternalChanged, lambda _: self.broadcast("tools")),
        )

    def close(self) -> None:
        """End all streams."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        for reader in tuple(self._readers):
            reader.end()

    def subscribe(self, caller: Caller, release: Callable[[], None]) -> ChangeStream:
        """Return a new stream for `caller`; `release` is called when it ends."""

        def unsubscribe(reader: ChangeStream) -> None:
            self._readers.remove(reader)
            release()

        if self._private is None:
            self._private = self._runner.private_notes
        reader = ChangeStream(caller, unsubscribe)
        self._readers.append(reader)
        return reader

    def broadcast(self, kind: Kind) -> None:
        """Send a change of this kind to every stream."""
        for reader in tuple(self._readers):
            reader.push(kind)

    def _handle_index_update(self, event: IndexUpdated) -> None:
        removed = {*event.removed, *(source for source, _ in event.moved)}
        touched = {*event.changed, *removed, *(destination for _, destination in event.moved)}
        listed = bool(removed) or event.total != self._total
        self._total = event.total
        if not self._readers or len(touched) > _MAX_CHECKED_PATHS:
            self._private = None
            for reader in tuple(self._readers):
                reader.push("notes", listed=listed)
            return
        # The index no longer knows whether a deleted note was private.
        private = self._private
        reported = touched - removed if private is None else touched - (removed & private)
        self._private = self._runner.private_notes
        for reader in tuple(self._readers):
            if visible := self._visible_paths(reader.caller, reported):
                reader.push("notes", visible, listed=listed)
            elif removed and private is None:
                reader.push("notes", listed=listed)

    def _visible_paths(self, caller: Caller, paths: set[NotePath]) -> tuple[str, ...]:
        """Return the paths that the caller may know of."""
        return tuple(str(path) for path in paths if self._runner.can_see(caller, path))

    def _handle_pending_change(self, event: PendingChanged) -> None:
        for reader in tuple(self._readers):
            if is_same_caller(event.operation.caller, reader.caller):
                reader.push("pending")

    def _handle_documents_change(self, event: DocumentsChanged) -> None:
        if event.place == MEMORY_PLACE:
            for reader in tuple(self._readers):
                reader.push("memory", listed=True)
