"""What a session has spent on models, and the limits of the user on it.

A session is the time that a vault is open. What a turn used is known after each answer of the model, so a
limit is passed by one answer at most: the turn stops at the next call that the model asks for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from app.agent.transcript import Usage
from app.settings import ModelSettings

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.usage import RunUsage

RAISE_LIMIT_HINT = (
    "Raise or remove the limit in the settings under Model. It counts from when the vault was opened."
)


class BudgetExceededError(Exception):
    """The session or the turn has used what it may; the message says so, and `hint` what helps."""

    def __init__(self, message: str, hint: str = RAISE_LIMIT_HINT) -> None:
        super().__init__(message)
        self.hint = hint


class UsageBudget:
    """Sums what the turns of a session used; a turn whose price is not known adds tokens only."""

    def __init__(self) -> None:
        self._tokens = 0
        self._dollars = 0.0

    def add(self, usage: Usage) -> None:
        """A turn has ended."""
        self._tokens += usage.tokens
        self._dollars += usage.cost or 0.0

    def check(self, model: ModelSettings, so_far: Usage) -> None:
        """See that the session may go on, with what the turn under way has used so far.

        Raises:
            SpentError: it may not.
        """
        tokens = self._tokens + so_far.tokens
        dollars = self._dollars + (so_far.cost or 0.0)
        if model.max_dollars_per_session and dollars >= model.max_dollars_per_session:
            raise BudgetExceededError(
                f"Stopped: this session has cost ${dollars:.2f}, and you allow "
                f"${model.max_dollars_per_session:.2f} a session."
            )
        if model.max_tokens_per_session and tokens >= model.max_tokens_per_session:
            raise BudgetExceededError(
                f"Stopped: this session has used {tokens:,} tokens, and you allow "
                f"{model.max_tokens_per_session:,} a session."
            )


def run_usage(used: RunUsage, answers: Iterable[ModelMessage]) -> Usage:
    """Tokens and, where the price of the model is known, the cost of a run's `answers`."""
    from pydantic_ai.messages import ModelResponse

    cost: float | None = 0.0
    for message in answers:
        if isinstance(message, ModelResponse) and cost is not None:
            try:
                cost += float(message.cost().total_price)
            except (LookupError, ValueError, AssertionError):
                cost = None
    return Usage(
        requests=used.requests, input_tokens=used.input_tokens, output_tokens=used.output_tokens, cost=cost
    )
