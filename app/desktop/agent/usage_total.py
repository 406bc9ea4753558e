"""Token usage and cost since the vault was opened, as a line for the status bar."""

from __future__ import annotations

from app.agent.transcript import Usage
from app.desktop.agent.labels import format_cost
from app.desktop.runtime.translation import PluralText
from app.settings import Settings


class UsageTotal:
    """Sums the usage of turns; a turn with an unknown cost makes the sum a lower bound."""

    def __init__(self) -> None:
        self._tokens = 0
        self._cost = 0.0
        self._is_complete = True

    def add(self, usage: Usage) -> None:
        """Add the usage of a finished turn; a turn without a model costs nothing."""
        self._tokens += usage.input_tokens + usage.output_tokens
        if usage.cost is not None:
            self._cost += usage.cost
        elif usage.requests:
            self._is_complete = False

    def describe(self, settings: Settings) -> str:
        """Return the model and its usage so far; empty if no model is used."""
        if not settings.uses_model:
            return ""
        name = settings.model.model or settings.model.provider
        if not self._tokens:
            return name
        cost = format_cost(self._cost, decimals=2) if self._is_complete else f"${self._cost:.2f}+"
        tokens = PluralText("UsageTotal", "{0} token", "{0} tokens").format(self._tokens)
        return f"{name} · {tokens} · {cost}"
