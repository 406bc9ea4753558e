"""The protocol that all servers use: an open vault as external clients see it.

There are two main implementations: one for the process that has the vault open (`local_vault.py`), and one
that connects to that process (`remote_vault.py`). The command line and the stdio server work with both.
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
    """An external program or terminal.

    `name` is the name that the user gave it with its token, or its name on this machine: rules, profiles, the
    dialog and the audit log use it. `session` identifies one of its connections. `says` is the name that it
    reports, unverified ("claude-code 2.1"). `kind` is the interface that it uses.
    """

    kind: CallerKind
    name: str
    session: str = ""
    says: str = ""

    def __post_init__(self) -> None:
        """Make the texts encodable as UTF-8: they are logged and forwarded."""
        for field in ("name", "session", "says"):
            object.__setattr__(self, field, encodable(getattr(self, field)))


@dataclass(frozen=True, slots=True)
class ToolDescriptor:
    """A tool as a client sees it; calls are validated against the schemas.

    The four flags are derived from the tool and its category, for the client's own dialogs.
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
    """The progress of a call: `stage` is an identifier, `message` a sentence for the user."""

    stage: Literal["queued", "running", "asking", "writing"]
    message: str


@dataclass(frozen=True, slots=True)
class VaultChange:
    """A change that clients may have to react to.

    `paths` are the changed notes that the client may see; empty if any note may have changed. `listed`: notes
    (or memory blocks) were added or removed, so a list of them is outdated.
    """

    kind: Literal["notes", "tools", "pending", "memory"]
    paths: tuple[str, ...] = ()
    listed: bool = False


@dataclass(frozen=True, slots=True)
class NotePage:
    """A page of the notes that a client may see; `next` starts the next page, empty on the last."""

    paths: tuple[str, ...]
    next: str = ""


OnProgress = Callable[[CallProgress], None]
NameKind = Literal["note", "tag", "block"]
NAME_KINDS: tuple[NameKind, ...] = ("note", "tag", "block")
"""The kinds of names that can be completed."""
WaitMode = Literal["wait", "pending"]
"""The mode of a call: wait for the user's answer, or return the id of a pending operation."""


class VaultAccess(Protocol):
    """An open vault for external clients; its methods enforce the rules and raise `ScriptoriumError`s."""

    @property
    def name(self) -> str:
        """The vault's name."""
        ...

    async def tools(self, client: Client) -> tuple[ToolDescriptor, ...]:
        """Return the tools that `client` may call, without the operations that it may not use."""
        ...

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
        """Call a tool. Cancellation cancels the call and withdraws its question.

        The call runs in the task that awaits it, which needs time after a cancellation to write the audit
        entry. So a task that is canceled repeatedly (by anyio) must run it in another task
        (`mcp_elicitation.run_detached`).

        Args:
            client: The calling client.
            tool: The tool's name.
            arguments: Arguments, which are validated against the tool's input schema.
            wait_mode: Whether to wait for the user.
            claim: The caller's reason for the change, shown as unverified in the dialog.
            progress: Called for each stage.

        Raises:
            LimitError: too many calls are waiting or running.
        """
        ...

    async def notes(self, client: Client, after: str = "", limit: int = 200) -> NotePage:
        """Return a page of the notes that `client` may see, sorted by path, after `after`."""
        ...

    async def complete(self, client: Client, kind: NameKind, text: str) -> list[str]:
        """Return up to 100 completions of `text`, best first."""
        ...

    def changes(self, client: Client) -> AsyncIterator[VaultChange]:
        """Return changes from now on, until the iterator is closed."""
        ...
