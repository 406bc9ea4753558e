"""A message for the user about how an interrupted change was recovered."""

from __future__ import annotations

from app.vault.transaction import Recovery


def recovery_message(recovery: Recovery, where: str = "") -> str:
    """Return a message about the recovery of a change; `where` names a store outside the vault."""
    place = f" in {where}" if where else ""
    what = f"“{recovery.summary or 'A change'}”{place} was interrupted by a crash"
    how = "and was completed." if recovery.completed else "and was undone; nothing was written."
    kept = ", ".join(str(path) for path in recovery.kept)
    return f"{what} {how}" + (f" Files changed since then were left unchanged: {kept}." if kept else "")
