from __future__ import annotations

from tests.support.open_notes import open_notes

__all__ = ["open_notes"]
