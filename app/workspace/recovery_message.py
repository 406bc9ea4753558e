"""How a change that a crash cut off was settled, in words for the user."""

from __future__ import annotations

from app.vault.transaction import Recovery


def describe(recovery: Recovery, where: str = "") -> str:
    """How a change that a crash cut off was settled, in words; `where` names a place beside the vault."""
    place = f" in {where}" if where else ""
    what = f"“{recovery.summary or 'A change'}”{place} was cut off by a crash"
    how = "and was completed." if recovery.completed else "and was taken back: nothing of it was written."
    kept = ", ".join(str(path) for path in recovery.kept)
    return f"{what} {how}" + (f" Changed by others since, and left as they are: {kept}." if kept else "")
