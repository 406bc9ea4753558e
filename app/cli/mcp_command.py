"""`scriptorium mcp <vault>`: serve a vault over standard input and output to the program that started this.

It joins the running app, so that what changes is approved there, or opens the vault by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import uuid
from contextlib import suppress
from pathlib import Path

from app.cli.exit_status import Exit
from app.cli.options import add_enable_option, read_categories
from app.cli.screen import Screen
from app.errors import VaultLostError
from app.permissions.caller import CallerKind
from app.servers.served import Client

log = logging.getLogger(__name__)

_LONGEST_NAME = 60


def add_to(parser: argparse.ArgumentParser) -> None:
    """Let `parser` take the vault, the client's name, and whether it may only read."""
    parser.add_argument("folder", type=Path, metavar="vault", help="the vault's folder")
    parser.add_argument(
        "--name", type=_name, default="MCP client", help="what the client is called: rules know it by that"
    )
    add_enable_option(parser)
    parser.add_argument("--read-only", action="store_true", help="offer only the tools that change nothing")


async def run(given: argparse.Namespace, screen: Screen) -> int:
    """Serve until the client closes the pipe."""
    root: Path = given.folder
    if not root.is_dir():
        raise VaultLostError(f"There is no folder {root}.", path=str(root))
    enabled = read_categories(getattr(given, "enable_tools", ()))
    await _serve(root, given.name, enabled, read_only=given.read_only)
    return Exit.DONE


def _name(text: str) -> str:
    name = " ".join(text.split())
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise argparse.ArgumentTypeError(f"a name has 1 to {_LONGEST_NAME} printable letters")
    return name


async def _serve(root: Path, name: str, enable_tools: tuple[str, ...], *, read_only: bool) -> None:
    from app.cli.holding import joined
    from app.servers.mcp_stdio import serve_stdio
    from app.servers.reading_only import ReadingOnly

    _end_on_signals()
    vault = await asyncio.to_thread(joined, root, enable_tools)
    client = Client(CallerKind.MCP, name, uuid.uuid4().hex)
    opening = asyncio.create_task(vault.begin(), name="open the vault")
    try:
        await serve_stdio(ReadingOnly(vault) if read_only else vault, client)
    except asyncio.CancelledError:
        log.info("ended by a signal")
    finally:
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
        await vault.close()


def _end_on_signals() -> None:
    """End as at the end of the input: the vault is closed in order."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None
    for one in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):
            loop.add_signal_handler(one, task.cancel)
