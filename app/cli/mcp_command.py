"""`scriptorium mcp <vault>`: serve a vault over standard input and output to the program that started it.

It joins the running app, where the user approves changes, or else opens the vault itself.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.console import CliConsole
from app.cli.exit_status import ExitStatus
from app.cli.options import add_enable_option, parse_categories
from app.errors import VaultLostError
from app.permissions.caller import CallerKind
from app.servers.vault_access import Client

if TYPE_CHECKING:
    from app.servers.failover import FailoverVaultAccess

log = logging.getLogger(__name__)

_MAX_NAME_CHARS = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the vault, the client's name and the options."""
    parser.add_argument("folder", type=Path, metavar="vault", help="the vault's folder")
    parser.add_argument(
        "--name",
        type=_parse_name,
        default="MCP client",
        help="the client's name in rules and in the audit log",
    )
    add_enable_option(parser)
    parser.add_argument("--read-only", action="store_true", help="offer only tools that change nothing")


async def run(args: argparse.Namespace, console: CliConsole) -> int:
    """Serve until the client closes the pipe or a signal arrives.

    Raises:
        VaultLostError: The folder does not exist.
    """
    root: Path = args.folder
    if not root.is_dir():
        raise VaultLostError(f"The folder {root} does not exist.", path=str(root))
    enabled = parse_categories(getattr(args, "enable_tools", ()))
    await _serve(root, args.name, enabled, read_only=args.read_only)
    return ExitStatus.DONE


def _parse_name(text: str) -> str:
    name = " ".join(text.split())
    if not name or len(name) > _MAX_NAME_CHARS or not name.isprintable():
        raise argparse.ArgumentTypeError(f"a name must have 1 to {_MAX_NAME_CHARS} printable characters")
    return name


async def _serve(root: Path, name: str, enable_tools: tuple[str, ...], *, read_only: bool) -> None:
    """Serve until the client closes the pipe or a signal arrives; then close the vault."""
    # Set before the imports, which take a second, since a client may end the process at any moment.
    stop_requested = _stop_event()
    from app.cli.headless_access import create_access

    vault = await asyncio.to_thread(create_access, root, enable_tools)
    opening = asyncio.create_task(vault.begin(), name="open the vault")
    serving = asyncio.create_task(_serve_client(vault, name, read_only), name="serve the client")
    ending = asyncio.create_task(stop_requested.wait(), name="wait for a signal")
    try:
        await asyncio.wait({serving, ending}, return_when=asyncio.FIRST_COMPLETED)
        if not serving.done():
            log.info("ended by a signal")
    finally:
        for task in (serving, opening, ending):
            task.cancel()
        await asyncio.gather(serving, opening, ending, return_exceptions=True)
        await vault.close()
    if not serving.cancelled() and (error := serving.exception()) is not None:
        raise error


async def _serve_client(vault: FailoverVaultAccess, name: str, read_only: bool) -> None:
    from app.servers.mcp_stdio import serve_stdio
    from app.servers.read_only_vault import ReadOnlyVaultService

    client = Client(CallerKind.MCP, name, uuid.uuid4().hex)
    await serve_stdio(ReadOnlyVaultService(vault) if read_only else vault, client)


def _stop_event() -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set; repeated signals have no further effect."""
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):
            loop.add_signal_handler(number, stopped.set)
    return stopped
