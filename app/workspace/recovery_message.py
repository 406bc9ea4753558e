"""A message for the user about how an interrupted change was recovered."""

from __future__ import annotations

from app.vault.transaction import Recovery


def recovery_message(recovery: Recovery, store_name: str = "") -> str:
    """Return a message about the recovery of a change; `store_name` names a store outside the vault."""
    location = f" in {store_name}" if store_name else ""
    change = f"“{recovery.summary or 'A change'}”{location} was interrupted by a crash"
    result = "and was completed." if recovery.is_completed else "and was undone; nothing was written."
    unchanged_files = ", ".join(str(path) for path in recovery.kept_paths)
    return f"{change} {result}" + (
        f" Files changed since then were left unchanged: {unchanged_files}." if unchanged_files else ""
    )
