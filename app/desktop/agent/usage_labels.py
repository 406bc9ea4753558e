"""Labels for the token usage of a session."""

from __future__ import annotations

from app.agent.transcript import Usage
from app.desktop.runtime.translation import translate
from app.permissions.pluralize import pluralize


def short_usage(usage: Usage) -> str:
    """Return the label under the prompt: "1.2k tokens · $0.010"; empty without usage."""
    tokens = usage.input_tokens + usage.output_tokens
    if not tokens:
        return ""
    counted = translate("Composer", "{0} tokens").format(
        f"{tokens / 1000:.1f}k" if tokens >= 1000 else tokens
    )
    return f"{counted} · ${usage.cost:.3f}" if usage.cost else counted


def full_usage(usage: Usage) -> str:
    """Return the tool tip of the usage label."""
    if usage.cost is None:
        cost = translate("Composer", "Cost unknown")
    else:
        cost = translate("Composer", "Estimated cost: {0}").format(f"${usage.cost:.4f}")
    requests = pluralize(usage.requests, translate("Composer", "request"), translate("Composer", "requests"))
    tokens = translate("Composer", "{0} input tokens, {1} output tokens")
    tokens = tokens.format(f"{usage.input_tokens:,}", f"{usage.output_tokens:,}")
    session = translate("Composer", "This session: {0}, {1}").format(requests, tokens)
    return f"{session}\n{cost}"
