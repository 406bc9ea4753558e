"""The command of the MCP server that gives a program access to the vault's tools over stdio."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from app.launch import own_program

_FORWARDED_VARIABLES = ("SCRIPTORIUM_CONFIG", "SCRIPTORIUM_DATA", "SCRIPTORIUM_CACHE", "SCRIPTORIUM_LOGS")


@dataclass(frozen=True, slots=True)
class McpEndpoint:
    """The stdio server of the vault at `root`; it connects to this app while the app runs."""

    root: Path

    def command(self, name: str, *, read_only: bool) -> tuple[str, tuple[str, ...]]:
        """Return the command and its arguments for a client called `name`."""
        flags = ("--read-only",) if read_only else ()
        program, *first = own_program().words
        return program, (*first, "mcp", str(self.root), "--name", name, *flags)

    def variables(self) -> dict[str, str]:
        """Return the environment variables that make the command start this installation of the app."""
        forwarded = {name: os.environ[name] for name in _FORWARDED_VARIABLES if name in os.environ}
        return {**forwarded, **own_program().variables}
