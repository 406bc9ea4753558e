"""Labels of model providers, of token usage and of its cost."""

from __future__ import annotations

from app.agent.models import PROVIDERS
from app.agent.transcript import Usage
from app.desktop.runtime.translation import PluralText, translate


def short_usage(usage: Usage) -> str:
    """Return the label under the prompt, for example "1.2k tokens · $0.010"; empty if no tokens were used."""
    tokens = usage.input_tokens + usage.output_tokens
    if not tokens:
        return ""
    label = format_tokens(tokens)
    return f"{label} · {format_cost(usage.cost, decimals=3)}" if usage.cost else label


def full_usage(usage: Usage) -> str:
    """Return the tooltip of the usage label: requests, tokens and estimated cost."""
    if usage.cost is None:
        cost = translate("Composer", "Cost unknown")
    else:
        cost = translate("Composer", "Estimated cost: {0}").format(format_cost(usage.cost, decimals=4))
    requests = PluralText("Composer", "{0} request", "{0} requests").format(usage.requests)
    sent = PluralText("Composer", "{0} input token", "{0} input tokens").format(usage.input_tokens)
    received = PluralText("Composer", "{0} output token", "{0} output tokens").format(usage.output_tokens)
    session = translate("Composer", "This session: {0}, {1}, {2}").format(requests, sent, received)
    return f"{session}\n{cost}"


def format_tokens(tokens: int) -> str:
    """Format a number of tokens: "812 tokens", "1.2k tokens", "1.2M tokens"."""
    if tokens < 1000:
        return PluralText("Composer", "{0} token", "{0} tokens").format(tokens)
    thousands = f"{tokens / 1000:.1f}"
    if thousands != "1000.0" and tokens < 1_000_000:
        return translate("Composer", "{0}k tokens").format(thousands)
    return translate("Composer", "{0}M tokens").format(f"{tokens / 1_000_000:.1f}")


def format_cost(dollars: float, *, decimals: int) -> str:
    """Format an amount: "$0.02", or "<$0.01" if it would be rounded to zero."""
    rounded = f"{dollars:.{decimals}f}"
    if dollars > 0 and not float(rounded):
        return f"<${10**-decimals:.{decimals}f}"
    return f"${rounded}"


def provider_label(id_: str) -> str:
    """Return the display name of a provider."""
    return next((provider.label for provider in PROVIDERS if provider.id == id_), id_)
