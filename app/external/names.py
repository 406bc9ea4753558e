"""Names of external tools and arguments that every model provider and our registry accept."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from pydantic import BaseModel

SEPARATOR = "__"
"""Separates the server's name from the tool's."""
_MAX_TOOL_NAME_CHARS = 64
_MAX_SERVER_NAME_CHARS = 24
_MAX_ARGUMENT_NAME_CHARS = 60
_HASH_CHARS = 6
_RESERVED_ARGUMENTS = frozenset({"op", "success", "message"})


def server_slug(name: str) -> str:
    """Return a server's name as a prefix for its tools and category: lowercase letters, digits and _.

    A name without such characters, or with too many, ends with a hash.
    """
    slug = re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")
    if slug and len(slug) <= _MAX_SERVER_NAME_CHARS:
        return slug
    return f"{slug[: _MAX_SERVER_NAME_CHARS - _HASH_CHARS - 1]}_{_short_hash(name)}".lstrip("_")


def category_id(name: str) -> str:
    """Return the id of the category for a server's tools."""
    return f"external_{server_slug(name)}"


def tool_name(server: str, tool: str) -> str:
    """Return the registry name of a server's tool; a name that had to be changed ends with a hash.

    The hash keeps changed names distinct, and makes a name independent of the server's other tools.
    """
    prefix = f"{server_slug(server)}{SEPARATOR}"
    cleaned = re.sub(r"[^A-Za-z0-9_-]", "_", tool)
    if cleaned == tool and tool and len(prefix) + len(tool) <= _MAX_TOOL_NAME_CHARS:
        return f"{prefix}{tool}"
    return f"{prefix}{cleaned[: _MAX_TOOL_NAME_CHARS - len(prefix) - _HASH_CHARS - 1]}_{_short_hash(tool)}"


def argument_names(names: Iterable[str]) -> dict[str, str]:
    """Map our argument names to those of an external tool: {ours: theirs}.

    Our names work in every front end, and none is reserved.
    """
    own_names: dict[str, str] = {}
    for server_name in names:
        name = re.sub(r"[^A-Za-z0-9_]", "_", server_name).lstrip("_")[:_MAX_ARGUMENT_NAME_CHARS] or "argument"
        if name[0].isdigit():
            name = f"n{name}"
        if hasattr(BaseModel, name) or name in _RESERVED_ARGUMENTS or name.startswith("model_"):
            name = f"{name}_"
        while name in own_names:
            name = f"{name[: _MAX_ARGUMENT_NAME_CHARS - _HASH_CHARS]}_{_short_hash(f'{name} {server_name}')}"
        own_names[name] = server_name
    return own_names


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_CHARS]
