"""How external servers and their tools stand, for people; and the events that tell of changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.events import Event
from app.external.connection import ConnectionState

ToolStatus = Literal["allowed", "new", "changed", "gone"]
"""`changed`: allowed once, and now another one; `gone`: allowed, and not offered any more."""


@dataclass(frozen=True, slots=True)
class ToolState:
    """A tool of a server. `now` is all that the server says of it, `allowed` what the user has allowed.

    `digest` names what it is now, empty where it is not offered; `called` is its name in the registry.
    """

    name: str
    called: str
    summary: str
    status: ToolStatus
    digest: str = ""
    hints: tuple[str, ...] = ()
    now: str = ""
    allowed: str = ""


@dataclass(frozen=True, slots=True)
class ServerState:
    """A server. `words` say why it failed, `errors` are the last lines of its error output.

    `says` is what it calls itself, `problems` are tools that can't be taken and the like. `listed`: its tools
    are known as they are now.
    """

    name: str
    standing: ConnectionState
    words: str = ""
    says: str = ""
    errors: tuple[str, ...] = ()
    tools: tuple[ToolState, ...] = ()
    problems: tuple[str, ...] = ()
    listed: bool = False


@dataclass(frozen=True, slots=True)
class ExternalChanged(Event):
    """A server stands otherwise, offers something else, or another tool is allowed."""

    server: str


@dataclass(frozen=True, slots=True)
class ExternalProgress(Event):
    """How far a call of an external tool is: a share from 0 to 1 where known, and the server's words."""

    tool: str
    share: float | None
    words: str
