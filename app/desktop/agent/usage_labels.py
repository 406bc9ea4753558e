"""Labels for the token usage of a session."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.agent.transcript import Usage
from app.permissions.pluralize import pluralize


def short_usage(usage: Usage) -> str:
    """Return the label under the prompt: "1.2k tokens · $0.010"; empty without usage."""
    tokens = usage.input_tokens + usage.output_tokens
    if not tokens:
        return ""
    counted = _tr("{0} tokens").format(f"{tokens / 1000:.1f}k" if tokens >= 1000 else tokens)
    return f"{counted} · ${usage.cost:.3f}" if usage.cost else counted


def full_usage(usage: Usage) -> str:
    """Return the tool tip of the usage label."""
    if usage.cost is None:
        cost = _tr("Cost unknown")
    else:
        cost = _tr("Estimated cost: {0}").format(f"${usage.cost:.4f}")
    requests = pluralize(usage.requests, _tr("request"), _tr("requests"))
    tokens = _tr("{0} input tokens, {1} output tokens")
    tokens = tokens.format(f"{usage.input_tokens:,}", f"{usage.output_tokens:,}")
    return f"{_tr('This session')}: {requests}, {tokens}\n{cost}"


def _tr(text: str) -> str:
    return QCoreApplication.translate("Composer", text)
