"""The service for other programs, in the process that has the vault open.

Every server makes its calls here: as an external caller (private notes are hidden, hints are ignored), in a
fair order, through the runner, and with the taint of what the client has read before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.encoding import encodable, encodable_arguments
from app.errors import LimitError, NetworkError, PermissionDeniedError
from app.events import EventBus
from app.index.completion import complete, complete_note_names
from app.permissions.caller import Caller, CallerKind
from app.permissions.pending import is_same_caller
from app.permissions.pluralize import pluralize
from app.servers.activity import ActivityStream
from app.servers.call_tracker import CallTracker
from app.servers.change_stream import ChangeBroadcaster, ChangeStream
from app.servers.client_registry import ClientRegistry, ConnectedClient
from app.servers.fair_queue import FairQueue
from app.servers.security import CLOSED_REASON
from app.servers.tool_descriptors import describe_tool
from app.servers.vault_access import Client, NameKind, NotePage, OnProgress, ToolDescriptor, WaitMode
from app.toolkit.call import Call
from app.toolkit.memory_service import Memory, VisibleBlocks, agent_key
from app.toolkit.outcome import ToolOutcome
from app.toolkit.pending import PendingOperations
from app.toolkit.registry import ToolRegistry
from app.toolkit.runner import ToolRunner

if TYPE_CHECKING:
    from app.toolkit.index_view import IndexView

LIST_NOTES_TOOL, LIST_TAGS_TOOL, BLOCK_TOOL = "list_notes", "list_tags", "block"
_MAX_PAGE_NOTES = 1000
_MAX_COMPLETIONS = 100
_MAX_PENDING_OPERATIONS = 100


def caller_of(client: Client, *, claim: str = "", tainted: bool = False) -> Caller:
    """Return the caller for a client's calls."""
    return Caller(client.kind, client.name, uses_model=True, tainted=tainted, claim=claim, says=client.says)


class LocalVaultAccess:
    """A `VaultAccess` for the vault that is open in this process. Belongs to the service thread.

    Args:
        name: The vault's name.
    """

    def __init__(
        self,
        name: str,
        runner: ToolRunner,
        registry: ToolRegistry,
        events: EventBus,
        pending: PendingOperations,
        memory: Memory,
    ) -> None:
        self._name = name
        self._runner = runner
        self._registry = registry
        self._events = events
        self._pending = pending
        self._memory = memory
        self._queue = FairQueue()
        self._open_questions: dict[tuple[str, str], int] = {}
        self._tasks: dict[asyncio.Task[Any], bool] = {}
        """The tasks of running calls, and whether this service has canceled the call."""
        self._idle = asyncio.Event()
        self._idle.set()
        self.find_turn_caller: Callable[[str], Caller | None] = lambda tool_name: None
        """Returns the caller of the panel's current turn if the named client is answering it, else None."""
        self.client_registry = ClientRegistry(events)
        self._broadcaster = ChangeBroadcaster(runner, events)

    @property
    def name(self) -> str:
        """The vault's name."""
        return self._name

    def clients(self) -> tuple[ConnectedClient, ...]:
        """Return the connected clients in order of arrival."""
        return self.client_registry.clients

    async def close(self) -> None:
        """Cancel all calls, end the streams of changes and stop tracking the clients."""
        self._broadcaster.close()
        for task in self._tasks:
            self._tasks[task] = True
            task.cancel(CLOSED_REASON)
        await self.wait_idle()
        self.client_registry.close()

    async def wait_idle(self) -> None:
        """Wait until no call is running or waiting."""
        await self._idle.wait()

    def notify_tools_changed(self) -> None:
        """Notify the clients that their tools have changed."""
        self._broadcaster.broadcast("tools")

    async def tools(self, client: Client) -> tuple[ToolDescriptor, ...]:
        """Return the tools that `client` may call, without the operations that it may not use."""
        self.client_registry.mark_seen(client)
        return tuple(
            describe_tool(tool, self._registry.category(tool.category))
            for tool in self._registry.tools(caller_of(client))
        )

    async def call(
        self,
        client: Client,
        tool: str,
        arguments: Mapping[str, object],
        *,
        wait_mode: WaitMode = "wait",
        claim: str = "",
        progress: OnProgress | None = None,
    ) -> ToolOutcome:
        """Call a tool; see `VaultAccess.call`.

        Raises:
            LimitError: the arguments are nested too deeply, or too many of the client's operations are
                pending.
            NetworkError: the vault was closed during the call.
        """
        tool, arguments = encodable(tool), encodable_arguments(arguments)
        caller = caller_of(client, claim=claim, tainted=self.client_registry.is_tainted(client))
        if client.kind is CallerKind.MCP and (turn := self.find_turn_caller(client.name)) is not None:
            tainted = caller.tainted or turn.tainted
            caller = replace(caller, turn=turn.turn, conversation=turn.conversation, tainted=tainted)
        tracker = CallTracker(client, tool, self._queue, self._events, progress, self._open_questions)
        self.client_registry.mark_seen(client, call=True, open_change=1)
        work = self._submit if wait_mode == "pending" else self._run
        task = asyncio.current_task()
        assert task is not None and task not in self._tasks, "a task makes one call at a time"
        self._tasks[task] = False
        self._idle.clear()
        try:
            outcome = await work(tracker, tool, arguments, caller)
        except asyncio.CancelledError:
            # A concurrent cancellation by the client must be raised.
            if not self._tasks[task] or task.uncancel():
                raise
            raise NetworkError("The vault was closed during the call.") from None
        finally:
            tracker.end()
            self.client_registry.mark_seen(client, open_change=-1)
            del self._tasks[task]
            if not self._tasks:
                self._idle.set()
        if outcome.untrusted:
            self.client_registry.mark_tainted(client)
        return outcome

    async def _run(
        self, tracker: CallTracker, tool: str, arguments: Mapping[str, object], caller: Caller
    ) -> ToolOutcome:
        call = Call.of(tool, arguments, caller, observer=tracker.observer, call_id=tracker.id)
        return await self._runner.run(call)

    async def _submit(
        self, tracker: CallTracker, tool: str, arguments: Mapping[str, object], caller: Caller
    ) -> ToolOutcome:
        if not self._pending.can_wait:
            return await self._run(tracker, tool, arguments, caller)
        waiting_count = sum(
            is_same_caller(operation.caller, caller) for operation in self._pending.open_operations
        )
        if waiting_count >= _MAX_PENDING_OPERATIONS:
            message = (
                f"{waiting_count} of your operations are already waiting for the user. "
                "Cancel some, or try again later."
            )
            raise LimitError(message, limit=_MAX_PENDING_OPERATIONS)
        return await self._pending.submit(tool, arguments, caller, tracker.wait_for_turn)

    async def notes(self, client: Client, after: str = "", limit: int = 200) -> NotePage:
        """Return a page of the notes that `client` may see: those after the path `after`, sorted by path.

        The read is logged like a call of the tool `list_notes`.

        Raises:
            PermissionDeniedError: the client may not list notes.
        """
        view, after = self._view(client, LIST_NOTES_TOOL), encodable(after)
        limit = min(max(limit, 1), _MAX_PAGE_NOTES)
        paths = sorted(text for note in view.notes() if (text := str(note.path)) > after)
        page = tuple(paths[:limit])
        self._log_read(
            client, LIST_NOTES_TOOL, {"after": after, "limit": limit}, f"{pluralize(len(page), 'name')}."
        )
        return NotePage(page, page[-1] if len(paths) > limit else "")

    async def complete(self, client: Client, kind: NameKind, text: str) -> list[str]:
        """Return up to 100 completions of `text`, best first; none if `client` may not list such names.

        The read is logged like a call of the tool that lists these names.
        """
        text = encodable(text)
        tool = {"note": LIST_NOTES_TOOL, "tag": LIST_TAGS_TOOL, "block": BLOCK_TOOL}[kind]
        try:
            view = self._view(client, tool)
        except PermissionDeniedError:
            return []
        names = self._complete_names(client, view, kind, text)
        self._log_read(client, tool, {"begins": text}, f"{pluralize(len(names), 'completion')}.")
        return names

    def _complete_names(self, client: Client, view: IndexView, kind: NameKind, text: str) -> list[str]:
        if kind == "tag":
            names = [tag_count.tag for tag_count in sorted(view.tags(), key=lambda tag: -tag.count)]
        elif kind == "block":
            caller = caller_of(client)
            reads = self._runner.visibility_for(caller, BLOCK_TOOL).can_read
            blocks = VisibleBlocks(self._memory.store, reads).blocks(agent_key(caller))
            names = [block.label for block in blocks]
        else:
            return list(complete_note_names(view, text, _MAX_COMPLETIONS))
        return list(complete(names, text, _MAX_COMPLETIONS))

    def changes(self, client: Client) -> ChangeStream:
        """Return a stream of changes from now on; many changes are combined into one."""
        return self._broadcaster.subscribe(caller_of(client), self.client_registry.hold_connection(client))

    def activity(self, client: Client) -> ActivityStream:
        """Return a stream of events about the client's own calls from now on."""
        return ActivityStream(caller_of(client), self._events, self.client_registry.hold_connection(client))

    def _log_read(self, client: Client, tool: str, arguments: Mapping[str, object], summary: str) -> None:
        """Log that names were read, as a call of the tool would."""
        self._runner.audit_writer.log_read(caller_of(client), tool, arguments, summary)

    def _view(self, client: Client, tool: str) -> IndexView:
        """Return the client's view of the index through `tool`.

        Raises:
            PermissionDeniedError: the client may not call the tool.
        """
        self.client_registry.mark_seen(client)
        caller = caller_of(client)
        if not any(visible_tool.name == tool for visible_tool in self._registry.tools(caller)):
            raise PermissionDeniedError(f"{client.name} may not use {tool}.", tool=tool)
        return self._runner.index_view(caller, tool)
