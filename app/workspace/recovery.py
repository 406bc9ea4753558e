"""How a change that a crash cut off was settled, in words for the user."""

from __future__ import annotations

from app.vault.transaction import Recovery


def told(recovery: Recovery) -> str:
    """How a change that a crash cut off was settled, in words."""
    what = f"“{recovery.summary or 'A change'}” was cut off by a crash"
    how = "and was completed." if recovery.completed else "and was taken back: nothing of it was written."
    kept = ", ".join(str(path) for path in recovery.kept)
    return f"{what} {how}" + (f" Changed by others since, and left as they are: {kept}." if kept else "")
