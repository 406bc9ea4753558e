"""What a tool gives back: typed fields and one plain sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from pydantic import BaseModel, ConfigDict, PrivateAttr


class ToolResult(BaseModel):
    """The result of a tool; each tool has its own subclass with typed fields.

    `message` is one plain sentence for people ("Created Ideas/Tea."). On the wire it stands beside
    `success` and the fields.
    """

    # A start need not wait for the validators of all results there may be.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    message: str = ""
    _untrusted: bool = PrivateAttr(default=False)
    _ends_turn: bool = PrivateAttr(default=False)

    @property
    def is_untrusted(self) -> bool:
        """Whether it holds text from outside that nobody here has vouched for."""
        return self._untrusted

    @property
    def is_last(self) -> bool:
        """Whether the agent's turn is over with it."""
        return self._ends_turn

    def ending_turn(self) -> Self:
        """Return the same result, marked as the last one of an agent's turn."""
        marked = self.model_copy()
        marked._ends_turn = True
        return marked

    def from_notes(self, are_from_web: Iterable[bool]) -> Self:
        """The same result, marked by `from_outside` if a note that it quotes holds a page of the web."""
        return self.from_outside() if any(are_from_web) else self

    def from_outside(self) -> Self:
        """The same result, marked as holding text from outside: who reads it is tainted from then on."""
        marked = self.model_copy()
        marked._untrusted = True
        return marked
