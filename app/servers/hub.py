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
from app.permissions.wording import counted
from app.servers.activity import ActivityReader
from app.servers.course import Course
from app.servers.entries import entry_of
from app.servers.fair_queue import FairQueue
from app.servers.news import NewsReader, NewsRoom
from app.servers.presence import ConnectedClient, Presence
from app.servers.served import Client, NotePage, OnProgress, ToolEntry, Waiting
from app.toolkit.memory import BlocksInSight, agent_of
from app.toolkit.outcome import ToolOutcome
from app.toolkit.registry import ToolRegistry
from app.toolkit.runner import ToolRunner

if TYPE_CHECKING:
    from app.toolkit.index_view import IndexView

LIST_NOTES, LIST_TAGS, BLOCK = "list_notes", "list_tags", "block"
CLOSED = "the app was closed"
_MOST_NOTES = 1000
_MOST_NAMES = 100
_MOST_PENDING = 100


def caller_of(client: Client, *, claim: str = "", tainted: bool = False) -> Caller:
    """The caller as which a client's calls are made."""
    return Caller(client.kind, client.name, uses_model=True, tainted=tainted, claim=claim, says=client.says)


class Hub:
    """A `ServedVault`: the open vault itself. Belongs to the service thread.

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
        self.presence = Presence(events)
        self._news = NewsRoom(runner, events)

    @property
    def name(self) -> str:
        """The vault's name."""
        return self._name

    def clients(self) -> tuple[ConnectedClient, ...]:
        """The clients that are there, the first to come first."""
        return self.presence.clients

    async def close(self) -> None:
        """Withdraw the calls that run or wait, end the news and let go of the clients."""
        self._news.close()
        for task in self._tasks:
            self._tasks[task] = True
            task.cancel(CLOSED)
        await self.quiet()
        self.presence.close()

    async def quiet(self) -> None:
        """Return when no call runs or waits."""
        await self._idle.wait()

    def tools_changed(self) -> None:
        """Tell the clients that they may call other tools than before."""
        self._news.tell_all("tools")

    async def tools(self, client: Client) -> tuple[ToolEntry, ...]:
        """The tools that `client` may call, each without the operations that it may not use."""
        self.presence.saw(client)
        return tuple(
            entry_of(tool, self._registry.category(tool.category))
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
        """Call a tool, as `ServedVault.call` says.

        Raises:
            LimitError: the arguments are nested too deeply.
            NetworkError: the vault was closed while it ran.
        """
        tool, arguments = encodable(tool), encodable_arguments(arguments)
        caller = caller_of(client, claim=claim, tainted=self.presence.is_tainted(client))
        if client.kind is CallerKind.MCP and (turn := self.in_turn(client.name)) is not None:
            tainted = caller.tainted or turn.tainted
            caller = replace(caller, turn=turn.turn, conversation=turn.conversation, tainted=tainted)
        course = Course(client, tool, self._queue, self._events, progress, self._asking)
        self.presence.saw(client, call=True, began=1)
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
            self.presence.saw(client, began=-1)
            del self._tasks[task]
            if not self._tasks:
                self._idle.set()
        if outcome.untrusted:
            self.presence.taint(client)
        return outcome

    async def _watched(
        self, course: Course, tool: str, arguments: Mapping[str, object], caller: Caller
    ) -> ToolOutcome:
        return await self._runner.watched(tool, arguments, caller, course.watch)

    async def _submit(
        self, course: Course, tool: str, arguments: Mapping[str, object], caller: Caller
    ) -> ToolOutcome:
        pending = self._runner.services.pending
        if pending is None:
            return await self._watched(course, tool, arguments, caller)
        mine = sum(is_same(one.caller, caller) for one in pending.open)
        if mine >= _MOST_PENDING:
            message = f"{mine} of your operations wait for the user already."
            raise LimitError(message, limit=_MOST_PENDING)
        return await pending.submit(tool, arguments, caller, course.enter)

    async def notes(self, client: Client, after: str = "", limit: int = 200) -> NotePage:
        """The notes that `client` may see, by path, from the one behind `after`.

        Raises:
            PermissionDeniedError: it may not list notes.
        """
        view, after = self._view(client, LIST_NOTES), encodable(after)
        limit = min(max(limit, 1), _MOST_NOTES)
        paths = sorted(text for one in view.notes() if (text := str(one.path)) > after)
        page = tuple(paths[:limit])
        self._looked(client, LIST_NOTES, {"after": after, "limit": limit}, f"{counted(len(page), 'name')}.")
        return NotePage(page, page[-1] if len(paths) > limit else "")

    async def complete(self, client: Client, kind: Literal["note", "tag", "block"], text: str) -> list[str]:
        """Up to 100 names that go on from `text`, the best first; none of what `client` may not list."""
        text = encodable(text)
        tool = {"note": LIST_NOTES, "tag": LIST_TAGS, "block": BLOCK}[kind]
        try:
            view = self._view(client, tool)
        except PermissionDeniedError:
            return []
        found = self._names(client, view, kind, text)
        self._looked(client, tool, {"begins": text}, f"{counted(len(found), 'name')} to go on with.")
        return found

    def _names(
        self, client: Client, view: IndexView, kind: Literal["note", "tag", "block"], text: str
    ) -> list[str]:
        if kind == "tag":
            names = [one.tag for one in sorted(view.tags(), key=lambda one: -one.count)]
        elif kind == "block":
            memory = self._runner.services.memory
            caller = caller_of(client)
            reads = self._runner.sight(caller, BLOCK).reads
            mine = BlocksInSight(memory.store, reads).blocks(agent_of(caller)) if memory is not None else ()
            names = [one.label for one in mine]
        else:
            shortest = view.resolver.shortest
            records = {one.path.name: one.path for one in view.notes()}
            return [shortest(records[name], None) for name in complete(records, text, _MOST_NAMES)]
        return list(complete(names, text, _MOST_NAMES))

    def news(self, client: Client) -> NewsReader:
        """What changes from now on, until the reader is closed; many changes come as one."""
        return self._news.reader(caller_of(client), self.presence.hold(client))

    def activity(self, client: Client) -> ActivityReader:
        """What the client's own calls come to from now on, until the reader is ended."""
        return ActivityReader(caller_of(client), self._events, self.presence.hold(client))

    def _looked(self, client: Client, tool: str, arguments: Mapping[str, object], line: str) -> None:
        """Names are told without a call, and leave the trace that the call would."""
        self._runner.trail.look(caller_of(client), tool, arguments, line)

    def _view(self, client: Client, tool: str) -> IndexView:
        """The index as `client` sees it through `tool`, which it must be allowed to call."""
        self.presence.saw(client)
        caller = caller_of(client)
        if not any(one.name == tool for one in self._registry.tools(caller)):
            raise PermissionDeniedError(f"{client.name} may not use {tool}.", tool=tool)
        return self._runner.view(caller, tool)
