"""A session's model usage, and the user's limits on it.

A session lasts while a vault is open. Usage is known only after each of the model's responses, so at most one
response exceeds a limit: the turn stops at its next call.
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
    "Raise or remove the limit in the settings under Model. Usage is counted from when the vault was opened."
)


class BudgetExceededError(Exception):
    """The session or the turn reached its usage limit; `hint` says what to do."""

    def __init__(self, message: str, hint: str = RAISE_LIMIT_HINT) -> None:
        super().__init__(message)
        self.hint = hint


class UsageBudget:
    """The total usage of a session; usage without a known price adds tokens only."""

    def __init__(self) -> None:
        self._tokens = 0
        self._dollars = 0.0

    def add(self, usage: Usage) -> None:
        """Add the usage of a finished turn or of a model that a tool called."""
        self._tokens += usage.tokens
        self._dollars += usage.cost or 0.0

    def check(self, model: ModelSettings, so_far: Usage) -> None:
        """Check the session's limits, including `so_far`, the usage of the turn in progress.

        Raises:
            BudgetExceededError: A limit is reached.
        """
        tokens = self._tokens + so_far.tokens
        dollars = self._dollars + (so_far.cost or 0.0)
        if model.max_dollars_per_session and dollars >= model.max_dollars_per_session:
            raise BudgetExceededError(
                f"Stopped: this session has cost ${dollars:.2f}; your limit is "
                f"${model.max_dollars_per_session:.2f} per session."
            )
        if model.max_tokens_per_session and tokens >= model.max_tokens_per_session:
            raise BudgetExceededError(
                f"Stopped: this session has used {tokens:,} tokens; your limit is "
                f"{model.max_tokens_per_session:,} per session."
            )


def run_usage(used: RunUsage, answers: Iterable[ModelMessage]) -> Usage:
    """Return a run's usage, with the cost of its `answers` if the model's price is known."""
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
