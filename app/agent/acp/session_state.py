"""What a conversation keeps of a program's session, so that it can be taken up again."""

from __future__ import annotations

import logging

from pydantic import BaseModel, ConfigDict, ValidationError

from app.agent.turn import Turn

log = logging.getLogger(__name__)


class AcpSessionState(BaseModel):
    """A session: its id with the program, how many items it has heard, and what it has cost in dollars."""

    model_config = ConfigDict(frozen=True)

    session: str
    heard: int
    cost: float = 0.0


def load_session_state(turn: Turn) -> AcpSessionState | None:
    """What the turn's conversation keeps of its program; None for nothing."""
    kept = turn.store.history(turn.conversation, _state_key(turn))
    if not kept:
        return None
    try:
        return AcpSessionState.model_validate_json(kept)
    except ValidationError:
        log.warning("what was kept of a session of %s can't be read", turn.agent)
        return None


def save_session_state(turn: Turn, session: str, cost: float) -> None:
    """Keep that the session has heard all that stands in the conversation."""
    kept = AcpSessionState(session=session, heard=len(turn.store.items(turn.conversation)), cost=cost)
    turn.store.save_history(turn.conversation, kept.model_dump_json().encode(), _state_key(turn))


def _state_key(turn: Turn) -> str:
    """Under which name of an agent it is kept; no agent of the team can be called so."""
    return f"program:{turn.agent}"
