"""The command line: tools and verbs on a vault, without a window."""

from __future__ import annotations

import os
from pathlib import Path

VERBS = (
    "ask",
    "audit",
    "categories",
    "completion",
    "doctor",
    "graph",
    "index",
    "mcp",
    "pending",
    "search",
    "sources",
    "tokens",
    "tools",
    "undo",
)
"""First words that are verbs, not folders; defined here because importing this module costs nothing."""

_HELP_OPTIONS = ("--help", "-h", "--version")
_LEADING_OPTIONS = ("--vault", "--json", "--approve", "--wait", "--no-wait", "--claim", "--enable-tools")


def is_command(arguments: list[str]) -> bool:
    """Return whether the arguments are a command, rather than a folder to open in the window.

    A verb, a tool or a leading option is a command, even if a folder has its name. Any other word is a folder
    if that folder exists or the word contains a path separator. Any other option belongs to the window.
    """
    if not arguments:
        return False
    first = arguments[0]
    if first in (*VERBS, *_HELP_OPTIONS) or first.partition("=")[0] in _LEADING_OPTIONS:
        return True
    if first.startswith("-") or os.sep in first or (os.altsep and os.altsep in first) or first in (".", ".."):
        return False
    if not Path(first).is_dir():
        return True
    from app.cli.tool_command import find_tool

    return find_tool(first) is not None
