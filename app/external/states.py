"""States of external servers and their tools for the interface, and events about changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.events import Event
from app.external.connection import ConnectionState

ToolStatus = Literal["allowed", "new", "changed", "gone"]
"""`changed`: different from what was allowed; `gone`: allowed, but no longer offered."""


@dataclass(frozen=True, slots=True)
class ToolState:
    """A tool of a server.

    `current_text` is the server's current description, `allowed_text` the one that the user allowed. `digest`
    identifies the current description, empty if it is not offered; `registered_name` is its registry name.
    """

    name: str
    registered_name: str
    summary: str
    status: ToolStatus
    digest: str = ""
    hints: tuple[str, ...] = ()
    current_text: str = ""
    allowed_text: str = ""


@dataclass(frozen=True, slots=True)
class ServerState:
    """The state of a server.

    `reason` explains a failure, `errors` are the last lines of its error output.
    `implementation` is its name for itself, `problems` lists unusable tools and similar. `is_listed`: its
    current tools are known.
    """

    name: str
    connection_state: ConnectionState
    reason: str = ""
    implementation: str = ""
    errors: tuple[str, ...] = ()
    tools: tuple[ToolState, ...] = ()
    problems: tuple[str, ...] = ()
    is_listed: bool = False


@dataclass(frozen=True, slots=True)
class ExternalChanged(Event):
    """The state, the tools or the allowed tools of a server changed."""

    server: str


@dataclass(frozen=True, slots=True)
class ExternalProgress(Event):
    """Progress of a call of an external tool: a share from 0 to 1 if known, and the server's message."""

    tool: str
    share: float | None
    message: str
