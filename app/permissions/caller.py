"""The caller of a tool."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.encoding import encodable, is_encodable


class CallerKind(StrEnum):
    """The interface through which a caller connects."""

    USER = "user"
    DESKTOP_AGENT = "desktop-agent"
    MCP = "mcp"
    HTTP = "http"
    CLI = "cli"
    PLUGIN = "plug-in"


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a tool: its interface, its display name, and its context.

    `turn` names the agent turn or command that the call belongs to; "undo this turn" undoes all its calls.
    `conversation` is the saved conversation, if any. `uses_model`: results reach a model or a program outside
    the app, so private notes are withheld (the built-in agent and the user see them). `tainted`: the context
    holds content from the web, an external tool or an imported note. `claim` is the caller's own description
    of the change, shown separately in the dialog but never trusted. `agent` is the key of the agent whose
    memory is used, if the other fields do not determine it. `acting_for` is the external program for which a
    team agent makes the call; that program's restrictions apply to the agent too. `says` is an external
    program's own identification ("claude-code 2.1"), shown but never trusted.
    """

    kind: CallerKind
    name: str
    turn: str = ""
    conversation: str = ""
    uses_model: bool = True
    tainted: bool = False
    claim: str = ""
    agent: str = ""
    acting_for: str = ""
    says: str = ""

    def __post_init__(self) -> None:
        """Make the strings of external programs encodable, since every call is logged with them."""
        for name in ("name", "turn", "conversation", "claim", "agent", "acting_for", "says"):
            text = getattr(self, name)
            if not is_encodable(text):
                object.__setattr__(self, name, encodable(text))

    @classmethod
    def user(cls) -> Caller:
        """Return the user of the window, acting without an agent."""
        return cls(CallerKind.USER, "You", uses_model=False)
