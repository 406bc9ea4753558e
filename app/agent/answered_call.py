"""A tool call whose outcome is formatted as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call to `tool` with `arguments`.

    `intent` names the call's purpose if the tool serves several ("backlinks", "note-tags").
    """

    tool: str
    arguments: Mapping[str, object]
    intent: str = ""
