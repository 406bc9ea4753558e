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

    Attributes:
        name: The server's name for the tool.
        registered_name: The name in the registry.
        summary: The beginning of the description, on one line.
        status: How the current description relates to the allowed one.
        digest: Identifies the current description; empty if the tool is not offered.
        hints: The server's claims about the tool, in words.
        current_text: The current description; empty if the tool is not offered.
        allowed_text: The description that the user allowed; empty if not allowed.
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

    Attributes:
        name: The name in the settings.
        connection_state: Whether the server is running.
        reason: Explains a failure; else empty.
        implementation: The name and version that the server reports.
        errors: The last lines of its error output.
        tools: The tools that it offers or that the user has allowed.
        problems: Unusable tools, missing variables and conflicts.
        is_listed: Whether the tools that it offers are known.
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
    """Published when a server's state, tools or allowed tools may have changed."""

    server: str


@dataclass(frozen=True, slots=True)
class ExternalProgress(Event):
    """Published when a call progresses: the share from 0 to 1, if known, and the server's message."""

    tool: str
    share: float | None
    message: str
