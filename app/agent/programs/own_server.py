"""How a program reaches our tools: the command that serves the vault to it over its standard input."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import app

_KEPT = ("SCRIPTORIUM_CONFIG", "SCRIPTORIUM_DATA", "SCRIPTORIUM_CACHE", "SCRIPTORIUM_LOGS")


@dataclass(frozen=True, slots=True)
class OwnServer:
    """The stdio server of the vault at `root`, which joins this very app while it runs."""

    root: Path

    def command(self, name: str, *, read_only: bool) -> tuple[str, tuple[str, ...]]:
        """The program and its arguments, for a client called `name`."""
        flags = ("--read-only",) if read_only else ()
        verb = ("mcp", str(self.root), "--name", name, *flags)
        if getattr(sys, "frozen", False):
            return sys.executable, verb
        return sys.executable, ("-m", "app", *verb)

    def variables(self) -> dict[str, str]:
        """What it needs in its environment to be this very app, wherever it is started."""
        found = {name: os.environ[name] for name in _KEPT if name in os.environ}
        if not getattr(sys, "frozen", False):
            found["PYTHONPATH"] = str(Path(app.__file__ or ".").resolve().parent.parent)
        return found
