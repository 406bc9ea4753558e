"""List, look at or take back what waits for an approval; deciding on it is for the window."""

from __future__ import annotations

import argparse

from app.cli.calls import run_call
from app.cli.exit_status import Exit
from app.cli.options import Options, add_call_options
from app.cli.screen import Screen
from app.errors import InvalidParametersError


def add_to(parser: argparse.ArgumentParser) -> None:
    """Let `parser` take an operation and an id."""
    parser.add_argument(
        "op",
        nargs="?",
        choices=("list", "status", "cancel"),
        default="list",
        help="list (the default), status or cancel",
    )
    parser.add_argument("id", nargs="?", help="of the operation, for status and cancel")
    add_call_options(parser)


async def run(given: argparse.Namespace, screen: Screen) -> Exit:
    """Ask for the caller's own operations."""
    if (given.op == "list") == (given.id is not None):
        raise InvalidParametersError(f"pending {given.op} {'takes no' if given.id else 'needs an'} id.")
    arguments = {"op": given.op, **({"pending_operation_id": given.id} if given.id else {})}
    return await run_call("pending", arguments, Options.of(given), screen)
