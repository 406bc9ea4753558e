"""The saved state of a program's session, from which a conversation resumes it."""

from __future__ import annotations

import logging

from pydantic import BaseModel, ConfigDict, ValidationError

from app.agent.turn import Turn

log = logging.getLogger(__name__)


class AcpSessionState(BaseModel):
    """A saved session: the program's id for it, the number of items it received, and its cost in dollars."""

    model_config = ConfigDict(frozen=True)

    session: str
    heard: int
    cost: float = 0.0


def load_session_state(turn: Turn) -> AcpSessionState | None:
    """Return the saved session of the turn's program; None if there is none."""
    saved = turn.store.history(turn.conversation, _state_key(turn))
    if not saved:
        return None
    try:
        return AcpSessionState.model_validate_json(saved)
    except ValidationError:
        log.warning("cannot read the saved session of %s", turn.agent)
        return None


def save_session_state(turn: Turn, session: str, cost: float) -> None:
    """Save the session's id and cost, and mark every item of the conversation as received."""
    state = AcpSessionState(session=session, heard=len(turn.store.items(turn.conversation)), cost=cost)
    turn.store.save_history(turn.conversation, state.model_dump_json().encode(), _state_key(turn))


def _state_key(turn: Turn) -> str:
    """Return the agent name that the state is saved under; no team agent can have it."""
    return f"program:{turn.agent}"
