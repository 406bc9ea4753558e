"""A command joins the process that holds the vault, or opens the vault itself."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

from app.cli.console import CliConsole
from app.cli.session import _join_or_open
from app.errors import VaultBusyError


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class _LateEndpoint:
    """The process that holds the vault can be joined only after a while."""

    def __init__(self) -> None:
        self._attempts = 0

    async def join(self) -> SimpleNamespace | None:
        self._attempts += 1
        return SimpleNamespace(vault=None) if self._attempts > 1 else None

    async def open(self) -> object:
        raise VaultBusyError("The vault is open in another program.")


async def test_waiting_is_no_longer_shown_after_joining() -> None:
    terminal = _Terminal()
    opener: Any = _LateEndpoint()
    session = await _join_or_open(opener, CliConsole(io.StringIO(), terminal), 5.0)
    assert session.vault is None
    assert "Waiting" in terminal.getvalue() and terminal.getvalue().endswith(" \r")
