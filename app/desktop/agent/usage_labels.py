"""Labels for the token usage of a session."""

from __future__ import annotations

from app.agent.transcript import Usage
from app.desktop.runtime.translation import PluralText, translate


def short_usage(usage: Usage) -> str:
    """Return the label under the prompt: "1.2k tokens · $0.010"; empty without usage."""
    tokens = usage.input_tokens + usage.output_tokens
    if not tokens:
        return ""
    label = (
        translate("Composer", "{0}k tokens").format(f"{tokens / 1000:.1f}")
        if tokens >= 1000
        else PluralText("Composer", "{0} token", "{0} tokens").format(tokens)
    )
    return f"{label} · ${usage.cost:.3f}" if usage.cost else label


def full_usage(usage: Usage) -> str:
    """Return the tooltip of the usage label."""
    if usage.cost is None:
        cost = translate("Composer", "Cost unknown")
    else:
        cost = translate("Composer", "Estimated cost: {0}").format(f"${usage.cost:.4f}")
    requests = PluralText("Composer", "{0} request", "{0} requests").format(usage.requests)
    sent = PluralText("Composer", "{0} input token", "{0} input tokens").format(usage.input_tokens)
    received = PluralText("Composer", "{0} output token", "{0} output tokens").format(usage.output_tokens)
    session = translate("Composer", "This session: {0}, {1}, {2}").format(requests, sent, received)
    return f"{session}\n{cost}"
