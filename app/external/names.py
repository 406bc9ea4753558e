"""Names of foreign tools and arguments that every model provider and our registry accept."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from pydantic import BaseModel

SEPARATOR = "__"
"""Separates the server's name from the tool's; it never occurs in the server's part."""
_MAX_TOOL_NAME, _MAX_SERVER_NAME, _MAX_ARGUMENT_NAME = 64, 24, 60
_HASH_LENGTH = 6
_RESERVED_ARGUMENTS = frozenset({"op", "success", "message"})


def server_slug(name: str) -> str:
    """Return a server's name as a prefix of its tools and category: lower-case letters, digits, _."""
    made = re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")
    if made and len(made) <= _MAX_SERVER_NAME:
        return made
    return f"{made[: _MAX_SERVER_NAME - _HASH_LENGTH - 1]}_{_mark(name)}".lstrip("_")


def category_of(name: str) -> str:
    """Return the id of the category of a server's tools."""
    return f"external_{server_slug(name)}"


def tool_name(server: str, tool: str) -> str:
    """Return the registry name of a server's tool; a name that had to be changed ends with a hash.

    So two tools never get the same name, and a tool's name does not depend on the other tools.
    """
    before = f"{server_slug(server)}{SEPARATOR}"
    kept = re.sub(r"[^A-Za-z0-9_-]", "_", tool)
    if kept == tool and tool and len(before) + len(tool) <= _MAX_TOOL_NAME:
        return f"{before}{tool}"
    return f"{before}{kept[: _MAX_TOOL_NAME - len(before) - _HASH_LENGTH - 1]}_{_mark(tool)}"


def argument_names(names: Iterable[str]) -> dict[str, str]:
    """Map our argument names to those of a foreign tool: {ours: theirs}.

    Our names work in every front end and collide with no reserved name.
    """
    ours: dict[str, str] = {}
    for theirs in names:
        name = re.sub(r"[^A-Za-z0-9_]", "_", theirs).lstrip("_")[:_MAX_ARGUMENT_NAME] or "argument"
        if name[0].isdigit():
            name = f"n{name}"
        if hasattr(BaseModel, name) or name in _RESERVED_ARGUMENTS or name.startswith("model_"):
            name = f"{name}_"
        while name in ours:
            name = f"{name[: _MAX_ARGUMENT_NAME - _HASH_LENGTH]}_{_mark(f'{name} {theirs}')}"
        ours[name] = theirs
    return ours


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_LENGTH]
