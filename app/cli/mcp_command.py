"""`scriptorium mcp <vault>`: serve a vault over standard input and output to the program that started this.

It joins the running app, so that what changes is approved there, or opens the vault by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import logging.handlers
import signal
import sys
import uuid
from contextlib import suppress
from pathlib import Path

from app import __version__, paths
from app.errors import ScriptoriumError
from app.permissions.caller import CallerKind
from app.servers.served import Client

_MOST_LOG = 1_000_000
_LONGEST_NAME = 60


def main(arguments: list[str]) -> int:
    """Serve until the client closes the pipe; the exit status."""
    given = parser().parse_args(arguments)
    root: Path = given.vault
    if not root.is_dir():
        print(f"scriptorium mcp: there is no folder {root}", file=sys.stderr)
        return 2
    _log_to_file()
    try:
        asyncio.run(_serve(root, given.name, read_only=given.read_only))
    except ScriptoriumError as error:
        print(f"scriptorium mcp: {error.message}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 0
    return 0


def parser() -> argparse.ArgumentParser:
    """What the verb takes."""
    made = argparse.ArgumentParser(
        prog="scriptorium mcp",
        description="Serve a vault to an MCP client over standard input and output.",
    )
    made.add_argument("vault", type=Path, help="the vault's folder")
    made.add_argument(
        "--name", type=_name, default="MCP client", help="what the client is called: rules know it by that"
    )
    made.add_argument("--read-only", action="store_true", help="offer only the tools that change nothing")
    made.add_argument("--version", action="version", version=f"scriptorium {__version__}")
    return made


def _name(text: str) -> str:
    name = " ".join(text.split())
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise argparse.ArgumentTypeError(f"a name has 1 to {_LONGEST_NAME} printable letters")
    return name


def _log_to_file() -> None:
    folder = paths.log_folder()
    folder.mkdir(parents=True, exist_ok=True)
    handler = logging.handlers.RotatingFileHandler(
        folder / "mcp.log", maxBytes=_MOST_LOG, backupCount=1, encoding="utf-8", delay=True
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.INFO)


async def _serve(root: Path, name: str, *, read_only: bool) -> None:
    from app.cli.holding import joined
    from app.servers.mcp_stdio import serve_stdio
    from app.servers.reading_only import ReadingOnly

    _end_on_signals()
    vault = joined(root)
    client = Client(CallerKind.MCP, name, uuid.uuid4().hex)
    opening = asyncio.create_task(vault.begin(), name="open the vault")
    try:
        await serve_stdio(ReadingOnly(vault) if read_only else vault, client)
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
