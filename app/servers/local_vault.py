"""The hub: an open vault for the programs outside, in the process that holds it.

Whatever way a call came in, it is made here: as a caller from outside (private notes are hidden, hints count
for nothing), in its turn, through the runner, and with what the client has read before in mind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from app.encoding import encodable, encodable_arguments
from app.errors import LimitError, NetworkError, PermissionDeniedError
from app.events import EventBus
from app.index.completion import complete
from app.permissions.caller import Caller, CallerKind
from app.permissions.pending import is_same
from app.permissions.pluralize import pluralize
from app.servers.activity import ActivityStream
from app.servers.call_tracker import CallTracker
from app.servers.change_stream import ChangeBroadcaster, ChangeStream
from app.servers.client_registry import ClientRegistry, ConnectedClient
from app.servers.fair_queue import FairQueue
from app.servers.tool_descriptors import describe_tool
from app.servers.vault_service import Client, NotePage, OnProgress, ToolDescriptor, Waiting
from app.toolkit.memory_service import VisibleBlocks, agent_key
from app.toolkit.outcome import ToolOutcome
from app.toolkit.registry import ToolRegistry
from app.toolkit.runner import ToolRunner

if TYPE_CHECKING:
    from app.toolkit.index_view import IndexView

LIST_NOTES_TOOL, LIST_TAGS_TOOL, BLOCK_TOOL = "list_notes", "list_tags", "block"
CLOSED_REASON = "the app was closed"
_MAX_PAGE_NOTES = 1000
_MAX_COMPLETIONS = 100
_MAX_PENDING = 100


def caller_of(client: Client, *, claim: str = "", tainted: bool = False) -> Caller:
    """The caller as which a client's calls are made."""
    return Caller(client.kind, client.name, uses_model=True, tainted=tainted, claim=claim, says=client.says)


class LocalVaultService:
    """A `VaultService`: the open vault itself. Belongs to the service thread.

    Args:
        name: The vault's.
        queue: In which order calls of many clients run.
    """

    def __init__(
        self,
        name: str,
        runner: ToolRunner,
        registry: ToolRegistry,
        events: EventBus,
        queue: FairQueue | None = None,
    ) -> None:
        self._name = name
        self._runner = runner
        self._registry = registry
        self._events = events
        self._queue = queue or FairQueue()
        self._asking: dict[tuple[str, str], int] = {}
        self._tasks: dict[asyncio.Task[Any], bool] = {}
        """The tasks of the calls that run, and whether the hub itself has withdrawn the call."""
        self._idle = asyncio.Event()
        self._idle.set()
        self.in_turn: Callable[[str], Caller | None] = lambda name: None
        """The turn in the panel of a client of this name, which is an agent that answers there; else None."""
        self.clients_registry = ClientRegistry(events)
        self._news = ChangeBroadcaster(runner, events)

    @property
    def name(self) -> str:
        """The vault's name."""
        return self._name

    def clients(self) -> tuple[ConnectedClient, ...]:
        """The clients that are there, the first to come first."""
        return self.clients_registry.clients

    async def close(self) -> None:
        """Withdraw the calls that run or wait, end the news and let go of the clients."""
        self._news.close()
        for task in self._tasks:
            self._tasks[task] = True
            task.cancel(CLOSED_REASON)
        await self.wait_idle()
        self.clients_registry.close()

    async def wait_idle(self) -> None:
        """Return when no call runs or waits."""
        await self._idle.wait()

    def tools_changed(self) -> None:
        """Tell the clients that they may call other tools than before."""
        self._news.broadcast("tools")

    async def tools(self, client: Client) -> tuple[ToolDescriptor, ...]:
        """The tools that `client` may call, each without the operations that it may not use."""
        self.clients_registry.mark_seen(client)
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
        waiting: Waiting = "wait",
        claim: str = "",
        progress: OnProgress | None = None,
    ) -> ToolOutcome:
        """Call a tool, as `VaultService.call` says.

        Raises:
            LimitError: the arguments are nested too deeply.
            NetworkError: the vault was closed while it ran.
        """
        tool, arguments = encodable(tool), encodable_arguments(arguments)
        caller = caller_of(client, claim=claim, tainted=self.clients_registry.is_tainted(client))
        if client.kind is CallerKind.MCP and (turn := self.in_turn(client.name)) is not None:
            tainted = caller.tainted or turn.tainted
            caller = replace(caller, turn=turn.turn, conversation=turn.conversation, tainted=tainted)
        course = CallTracker(client, tool, self._queue, self._events, progress, self._asking)
        self.clients_registry.mark_seen(client, call=True, began=1)
        work = self._submit if waiting == "pending" else self._watched
        task = asyncio.current_task()
        assert task is not None and task not in self._tasks, "a task makes one call after the other"
        self._tasks[task] = False
        self._idle.clear()
        try:
            outcome = await work(course, tool, arguments, caller)
        except asyncio.CancelledError:
            # Who else withdraws the call at the same time is told by the cancellation itself.
            if not self._tasks[task] or task.uncancel():
                raise
            raise NetworkError("The vault was closed while the call ran.") from None
        finally:
            course.end()
            self.clients_registry.mark_seen(client, began=-1)
            del self._tasks[task]
            if not self._tasks:
                self._idle.set()
        if outcome.untrusted:
            self.clients_registry.mark_tainted(client)
        return outcome

    async def _watched(
        self, course: CallTracker, tool: str, arguments: Mapping[str, object], caller: Caller
    ) -> ToolOutcome:
        return await self._runner.call_observed(tool, arguments, caller, course.observer)

    async def _submit(
        self, course: CallTracker, tool: str, arguments: Mapping[str, object], caller: Caller
    ) -> ToolOutcome:
        pending = self._runner.services.pending
        if pending is None:
            return await self._watched(course, tool, arguments, caller)
        mine = sum(is_same(one.caller, caller) for one in pending.open_operations)
        if mine >= _MAX_PENDING:
            message = f"{mine} of your operations wait for the user already."
            raise LimitError(message, limit=_MAX_PENDING)
        return await pending.submit(tool, arguments, caller, course.wait_for_turn)

    async def notes(self, client: Client, after: str = "", limit: int = 200) -> NotePage:
        """The notes that `client` may see, by path, from the one behind `after`.

        Raises:
            PermissionDeniedError: it may not list notes.
        """
        view, after = self._view(client, LIST_NOTES_TOOL), encodable(after)
        limit = min(max(limit, 1), _MAX_PAGE_NOTES)
        paths = sorted(text for one in view.notes() if (text := str(one.path)) > after)
        page = tuple(paths[:limit])
        self._looked(
            client, LIST_NOTES_TOOL, {"after": after, "limit": limit}, f"{pluralize(len(page), 'name')}."
        )
        return NotePage(page, page[-1] if len(paths) > limit else "")

    async def complete(self, client: Client, kind: Literal["note", "tag", "block"], text: str) -> list[str]:
        """Up to 100 names that go on from `text`, the best first; none of what `client` may not list."""
        text = encodable(text)
        tool = {"note": LIST_NOTES_TOOL, "tag": LIST_TAGS_TOOL, "block": BLOCK_TOOL}[kind]
        try:
            view = self._view(client, tool)
        except PermissionDeniedError:
            return []
        found = self._names(client, view, kind, text)
        self._looked(client, tool, {"begins": text}, f"{pluralize(len(found), 'name')} to go on with.")
        return found

    def _names(
        self, client: Client, view: IndexView, kind: Literal["note", "tag", "block"], text: str
    ) -> list[str]:
        if kind == "tag":
            names = [one.tag for one in sorted(view.tags(), key=lambda one: -one.count)]
        elif kind == "block":
            memory = self._runner.services.memory
            caller = caller_of(client)
            reads = self._runner.visibility_for(caller, BLOCK_TOOL).can_read
            mine = VisibleBlocks(memory.store, reads).blocks(agent_key(caller)) if memory is not None else ()
            names = [one.label for one in mine]
        else:
            shortest = view.resolver.shortest
            records = {one.path.name: one.path for one in view.notes()}
            return [shortest(records[name], None) for name in complete(records, text, _MAX_COMPLETIONS)]
        return list(complete(names, text, _MAX_COMPLETIONS))

    def changes(self, client: Client) -> ChangeStream:
        """What changes from now on, until the reader is closed; many changes come as one."""
        return self._news.subscribe(caller_of(client), self.clients_registry.hold_connection(client))

    def activity(self, client: Client) -> ActivityStream:
        """What the client's own calls come to from now on, until the reader is ended."""
        return ActivityStream(caller_of(client), self._events, self.clients_registry.hold_connection(client))

    def _looked(self, client: Client, tool: str, arguments: Mapping[str, object], line: str) -> None:
        """Names are told without a call, and leave the trace that the call would."""
        self._runner.audit_writer.log_read(caller_of(client), tool, arguments, line)

    def _view(self, client: Client, tool: str) -> IndexView:
        """The index as `client` sees it through `tool`, which it must be allowed to call."""
        self.clients_registry.mark_seen(client)
        caller = caller_of(client)
        if not any(one.name == tool for one in self._registry.tools(caller)):
            raise PermissionDeniedError(f"{client.name} may not use {tool}.", tool=tool)
        return self._runner.index_view(caller, tool)
