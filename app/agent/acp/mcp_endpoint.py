"""How a program reaches our tools: the command that serves the vault to it over its standard input."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from app.launch import own_program

_FORWARDED_VARIABLES = ("SCRIPTORIUM_CONFIG", "SCRIPTORIUM_DATA", "SCRIPTORIUM_CACHE", "SCRIPTORIUM_LOGS")


@dataclass(frozen=True, slots=True)
class McpEndpoint:
    """The stdio server of the vault at `root`, which joins this very app while it runs."""

    root: Path

    def command(self, name: str, *, read_only: bool) -> tuple[str, tuple[str, ...]]:
        """The program and its arguments, for a client called `name`."""
        flags = ("--read-only",) if read_only else ()
        program, *first = own_program().words
        return program, (*first, "mcp", str(self.root), "--name", name, *flags)

    def variables(self) -> dict[str, str]:
        """What it needs in its environment to be this very app, wherever it is started."""
        found = {name: os.environ[name] for name in _FORWARDED_VARIABLES if name in os.environ}
        return {**found, **own_program().variables}
