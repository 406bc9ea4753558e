"""Who calls a tool."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.encoding import encodable, is_encodable


class CallerKind(StrEnum):
    """The way in."""

    USER = "user"
    DESKTOP_AGENT = "desktop-agent"
    MCP = "mcp"
    HTTP = "http"
    CLI = "cli"
    PLUGIN = "plug-in"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the way in, a name that people know it by, and what is known of its context.

    `turn` names the agent turn or command that the call belongs to: what "undo this turn" takes back.
    `conversation` is the saved conversation, if any. `uses_model`: what it is told reaches a model or
    a program from outside, so private notes are kept from it (the built-in agent and the user see them).
    `tainted`: content from the web, an outside tool or an imported note is in its context.
    `claim` is what the caller says of the change, shown apart in the dialog and never trusted.
    `agent` is the key of the agent whose memory it works in, where that does not follow from the rest.
    `acting_for` is the program from outside on whose behalf an agent of the team calls: what holds that
    program back holds the agent back, too. `says` is what a program from outside says of itself
    ("claude-code 2.1"): shown, and never trusted.
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
        """Keep the words of programs outside encodable: every call of theirs is logged with them."""
        for name in ("name", "turn", "conversation", "claim", "agent", "acting_for", "says"):
            given = getattr(self, name)
            if not is_encodable(given):
                object.__setattr__(self, name, encodable(given))

    @classmethod
    def user(cls) -> Caller:
        """The person at the window, acting without an agent."""
        return cls(CallerKind.USER, "You", uses_model=False)
