"""Whether a change of the theme has ended."""

from __future__ import annotations

from app.desktop.theme.theme import ThemeSource


def is_applied(source: ThemeSource) -> bool:
    """Return whether all widgets, including hidden ones, have the current theme."""
    return not source._transition._slice_timer.isActive()
