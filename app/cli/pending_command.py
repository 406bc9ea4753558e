"""List, inspect or cancel calls that wait for approval; they are approved in the window."""

from __future__ import annotations

import argparse

from app.cli.console import CliConsole
from app.cli.exit_status import ExitStatus
from app.cli.invoke import run_call
from app.cli.options import Options, add_call_options
from app.errors import InvalidParametersError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the operation and the id."""
    parser.add_argument(
        "op",
        nargs="?",
        choices=("list", "status", "cancel"),
        default="list",
        help="list (the default), status or cancel",
    )
    parser.add_argument("id", nargs="?", help="the id of the operation, for status and cancel")
    add_call_options(parser)


async def run(args: argparse.Namespace, console: CliConsole) -> ExitStatus:
    """Call the tool `pending` for the caller's own operations."""
    if (args.op == "list") == (args.id is not None):
        raise InvalidParametersError(f"pending {args.op} {'takes no' if args.id else 'needs an'} id.")
    arguments = {"op": args.op, **({"pending_operation_id": args.id} if args.id else {})}
    return await run_call("pending", arguments, Options.from_namespace(args), console)
