"""What the turns of a session have used, in words. Pure."""

from __future__ import annotations

from app.agent.transcript import Usage


def short_usage(usage: Usage) -> str:
    """For the label under the prompt: "1.2k tokens · $0.010"; empty while nothing was used."""
    tokens = usage.input_tokens + usage.output_tokens
    if not tokens:
        return ""
    counted = f"{tokens / 1000:.1f}k tokens" if tokens >= 1000 else f"{tokens} tokens"
    return f"{counted} · ${usage.cost:.3f}" if usage.cost else counted


def full_usage(usage: Usage) -> str:
    """For its tool tip."""
    cost = "Its price is not known." if usage.cost is None else f"It costs about ${usage.cost:.4f}."
    return (
        f"In this session: {usage.requests:,} requests, {usage.input_tokens:,} tokens read, "
        f"{usage.output_tokens:,} written. {cost}"
    )
