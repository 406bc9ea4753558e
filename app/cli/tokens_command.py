"""List the programs with an HTTP token, and create, renew or revoke tokens.

A token is printed once, when it is created or renewed; only its hash is stored.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from app import paths
from app.cli import rendering
from app.cli.console import CliConsole, escape_controls
from app.cli.exit_status import ExitStatus
from app.cli.invoke import resolve_vault
from app.cli.options import Options, add_call_options
from app.cli.owner import confirm, open_owned
from app.errors import InvalidParametersError, StorageError
from app.events import EventBus

if TYPE_CHECKING:
    from app.servers.tokens import ClientTokens

_MENU_PATH = "Vault, Connections"
_QUESTIONS = {
    "create": "Create a token for “{0}”. A program on this machine can use this vault's tools with it.",
    "renew": "Renew the token of “{0}”. The current token stops working.",
    "revoke": "Revoke the token of “{0}”. The program can no longer connect.",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the operation and the program's name."""
    help_text = "list (the default), create, renew or revoke"
    parser.add_argument("op", nargs="?", choices=("list", *_QUESTIONS), default="list", help=help_text)
    parser.add_argument("name", nargs="?", help="the program's name in rules and in the audit log")
    add_call_options(parser)


async def run(args: argparse.Namespace, console: CliConsole) -> ExitStatus:
    """List the tokens, or change one."""
    options = Options.from_namespace(args)
    if (args.op == "list") == (args.name is not None):
        requirement = "takes no" if args.name else "needs a"
        raise InvalidParametersError(f"tokens {args.op} {requirement} program name.", op=args.op)
    root = resolve_vault(options, console).root
    if args.op == "list":
        _list(root, options, console)
        return ExitStatus.DONE
    async with open_owned(root, console, _MENU_PATH) as vault:
        await confirm(_QUESTIONS[args.op].format(args.name), options, console)
        token = _change_token(vault.connections.tokens, args.op, args.name)
    _show(args.name, token, options, console)
    return ExitStatus.DONE


def _change_token(tokens: ClientTokens, op: str, name: str) -> str:
    """Create, renew or revoke a token; return the new token, or an empty string after revoking."""
    match op:
        case "create":
            return tokens.create(name)
        case "renew":
            return tokens.renew(name)
        case _:
            tokens.revoke(name)
            return ""


def _show(name: str, token: str, options: Options, console: CliConsole) -> None:
    if options.json:
        console.print_text(json.dumps({"name": name, **({"token": token} if token else {})}) + "\n")
    elif token:
        console.print_message(f"The token of {escape_controls(name)} (shown only once):")
        console.print_text(token + "\n")
    else:
        console.print_text(f"Revoked the token of {escape_controls(name)}.\n")


def _list(root: Path, options: Options, console: CliConsole) -> None:
    from app.servers.tokens import ClientTokens

    tokens = ClientTokens(paths.data_folder() / "vaults" / paths.vault_id(root), EventBus())
    if tokens.problem:
        raise StorageError(tokens.problem)
    rows = [{"name": client.name, "created": client.made} for client in tokens.clients]
    if options.json:
        console.print_text(json.dumps(rows, ensure_ascii=False) + "\n")
    elif rows:
        rendering.print_rows(console, rows)
    else:
        console.print_message("No program has a token.")
