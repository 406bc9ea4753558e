"""What the tools of a category work with beside the notes; the workspace puts it together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.toolkit.meaning import Meaning


@dataclass(slots=True)
class Services:
    """One field per service; None where it is switched off, and the tool that needs it says so.

    Attributes:
        meaning: Search by meaning.
    """

    meaning: Meaning | None = None
