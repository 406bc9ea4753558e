"""What every way in works with: an open vault as clients from outside see it.

Two things are a `VaultService`: the hub of the process that holds the vault (`hub.py`), and the link to
such a process (`link.py`), so that the command line and the stdio server need not know which it is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from app.encoding import encodable
from app.permissions.caller import CallerKind
from app.toolkit.outcome import ToolOutcome


@dataclass(frozen=True, slots=True)
class Client:
    """A program (or a terminal) that calls from outside.

    `name` is the one that the user gave it with its token, or that it goes by on this machine: rules,
    profiles, the dialog and the audit log know it by that. `session` is one connection of it. `says` is
    what it says of itself ("claude-code 2.1"), never trusted. `kind` is its way in.
    """

    kind: CallerKind
    name: str
    session: str = ""
    says: str = ""

    def __post_init__(self) -> None:
        """Keep the words of the program encodable: they are logged and sent on."""
        for field in ("name", "session", "says"):
            object.__setattr__(self, field, encodable(getattr(self, field)))


@dataclass(frozen=True, slots=True)
class ToolDescriptor:
    """A tool as a client may see it; the schemas are those that its calls are held to.

    The four marks are true statements made from the tool's declaration, for the client's own dialogs.
    """

    name: str
    title: str
    description: str
    category: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool


@dataclass(frozen=True, slots=True)
class CallProgress:
    """How far a call has come: `stage` is a word, `message` a sentence for people."""

    stage: Literal["queued", "running", "asking", "writing"]
    message: str


@dataclass(frozen=True, slots=True)
class VaultChange:
    """Something that clients may have to look at again.

    `paths` are notes that changed and that the client may see; none: any of them may have. `listed`: there
    are other notes than before (or blocks, of the memory), so a list of them is out of date.
    """

    kind: Literal["notes", "tools", "pending", "memory"]
    paths: tuple[str, ...] = ()
    listed: bool = False


@dataclass(frozen=True, slots=True)
class NotePage:
    """Some of the notes that a client may see; `next` begins the page after it, empty on the last."""

    paths: tuple[str, ...]
    next: str = ""


OnProgress = Callable[[CallProgress], None]
NameKind = Literal["note", "tag", "block"]
NAME_KINDS: tuple[NameKind, ...] = ("note", "tag", "block")
"""What names can be completed."""
Waiting = Literal["wait", "pending"]
"""Whether a call waits for the user's answer, or comes back with the id of a pending operation."""


class VaultService(Protocol):
    """An open vault for clients from outside; its methods hold the rules and raise `ScriptoriumError`s."""

    @property
    def name(self) -> str:
        """The vault's name."""
        ...

    async def tools(self, client: Client) -> tuple[ToolDescriptor, ...]:
        """The tools that `client` may call, each without the operations that it may not use."""
        ...

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
        """Call a tool, through the runner. Cancelling the call withdraws it and its question.

        It runs in the task that awaits it, which needs time then to write the call's end into the log: a
        task that is cancelled again and again (by anyio) makes calls in another one (`mcp_asking.apart`).

        Args:
            client: Who calls.
            tool: The tool's name.
            arguments: As its input schema says; checked again here.
            waiting: Whether to wait for the user.
            claim: What the caller says of the change, shown apart in the dialog.
            progress: Told of each stage.

        Raises:
            LimitError: too many calls wait or run already.
        """
        ...

    async def notes(self, client: Client, after: str = "", limit: int = 200) -> NotePage:
        """The notes that `client` may see, by path, from the one behind `after`."""
        ...

    async def complete(self, client: Client, kind: Literal["note", "tag", "block"], text: str) -> list[str]:
        """Up to 100 names that go on from `text`, the best first."""
        ...

    def changes(self, client: Client) -> AsyncIterator[VaultChange]:
        """What changes from now on, until the iterator is closed."""
        ...
