"""A tool's result: typed fields and one plain sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from pydantic import BaseModel, ConfigDict, PrivateAttr


class ToolResult(BaseModel):
    """The base class of results; a tool returns a subclass with typed fields.

    `message` is one plain sentence for people ("Created Ideas/Tea."). Clients receive it together with
    `success` and the fields.
    """

    # Defer building the validators, so that startup does not wait for them.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    message: str = ""
    _untrusted: bool = PrivateAttr(default=False)
    _ends_turn: bool = PrivateAttr(default=False)

    @property
    def is_untrusted(self) -> bool:
        """True if it contains text from outside."""
        return self._untrusted

    @property
    def is_last(self) -> bool:
        """True if it ends the agent's turn."""
        return self._ends_turn

    def ending_turn(self) -> Self:
        """Return a copy of the result, marked as the last one of an agent's turn."""
        marked = self.model_copy()
        marked._ends_turn = True
        return marked

    def from_notes(self, are_from_web: Iterable[bool]) -> Self:
        """Return the result, marked as untrusted if it quotes a note that may hold a web page."""
        return self.from_outside() if any(are_from_web) else self

    def from_outside(self) -> Self:
        """Return a copy of the result, marked as untrusted: a caller that reads it becomes tainted."""
        marked = self.model_copy()
        marked._untrusted = True
        return marked
