"""A tool call whose outcome is put into words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call of `tool` with `arguments`.

    `intent` is the finer purpose where a tool serves several ("backlinks", "note-tags").
    """

    tool: str
    arguments: Mapping[str, object]
    intent: str = ""
