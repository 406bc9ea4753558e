"""List the sources of a vault, add or remove one, and pause or resume it.

A source is a folder outside the vault whose files agents may load (`folder`), or a stream of changes: to
notes (`notes`), to files in a folder (`watch`), or in a feed (`feed`).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import ValidationError

from app.cli.console import CliConsole
from app.cli.exit_status import ExitStatus
from app.cli.invoke import report_outcome, resolve_vault, run_call
from app.cli.options import Options, add_call_options
from app.cli.owner import confirm, open_owned
from app.errors import InvalidParametersError
from app.memory.block import Permission
from app.toolkit.call import Call
from app.toolkit.outcome import ToolOutcome

if TYPE_CHECKING:
    from app.sources.config import SourceConfig
    from app.workspace import VaultService

_PANEL_NAME = "the Sources panel"
_PERMISSIONS = ("read_only", "append", "read_write", "admin")
_QUESTIONS = {
    "folder": "Let agents read the files in {0}",
    "watch": "Notify agents of changes to the files in {0}",
    "feed": "Notify agents of new items in {0}, which is fetched over the network",
    "notes": "Notify agents of changes to notes{0}",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their arguments."""
    subcommands = parser.add_subparsers(metavar="list|add|remove|pause|resume", dest="op")
    list_parser = subcommands.add_parser("list", help="list the sources and their states (the default)")
    add = subcommands.add_parser("add", help="add a source")
    add.add_argument("kind", choices=tuple(_QUESTIONS), help="the kind of source")
    add.add_argument("place", nargs="?", help="the folder, the feed's address, or a glob for notes")
    add.add_argument("--name", help="the display name")
    help_text = "let agents do more than read: GLOB=PERMISSION, the first match applies; permissions: "
    add.add_argument(
        "--rule", action="append", default=[], metavar="RULE", help=help_text + ", ".join(_PERMISSIONS)
    )
    name_parsers = [
        subcommands.add_parser(name, help=f"{name} a source") for name in ("remove", "pause", "resume")
    ]
    for subparser in name_parsers:
        subparser.add_argument("source", help="the id or the name of the source")
    for subparser in (parser, list_parser, add, *name_parsers):
        add_call_options(subparser)


async def run(args: argparse.Namespace, console: CliConsole) -> ExitStatus:
    """List the sources, or change them."""
    options = Options.from_namespace(args)
    match args.op:
        case None | "list":
            return await run_call("source", {"op": "list"}, options, console)
        case "pause" | "resume":
            return await run_call("source", {"op": args.op, "source_id": args.source}, options, console)
    root = resolve_vault(options, console).root
    source = _build_source(args) if args.op == "add" else None
    async with open_owned(root, console, _PANEL_NAME) as vault:
        if source is not None:
            message = _QUESTIONS[args.kind].format(_place_of(source)) + _describe_rules(args.rule)
            await confirm(f"{message}.", options, console)
            info = await vault.sources.add(source)
            return await _show_source(vault, info.id, options, console)
        info = vault.sources.get(args.source)
        await confirm(f"Remove the source {info.name}; its files are not changed.", options, console)
        await vault.sources.remove(info.id)
    outcome = ToolOutcome(True, {"source_id": info.id}, f"Removed the source {info.name}.")
    return report_outcome(outcome, options, console)


async def _show_source(
    vault: VaultService, source_id: str, options: Options, console: CliConsole
) -> ExitStatus:
    from app.permissions.caller import Caller

    outcome = await vault.call(Call.of("source", {"op": "status", "source_id": source_id}, Caller.user()))
    return report_outcome(outcome, options, console)


def _build_source(args: argparse.Namespace) -> SourceConfig:
    """Return the source to add.

    Raises:
        InvalidParametersError: Its name, its place or a rule is missing or invalid.
    """
    kind, place = args.kind, args.place or ""
    if not place and kind != "notes":
        needed = "address" if kind == "feed" else "folder"
        raise InvalidParametersError(f"sources add {kind} needs the {needed}.")
    if args.rule and kind != "folder":
        raise InvalidParametersError("--rule applies only to folder sources.")
    rules = [_parse_rule(rule) for rule in args.rule]
    try:
        return _create_config(kind, place, args.name, rules)
    except ValueError as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise InvalidParametersError(f"This is not a valid source: {reason}. Nothing was changed.") from error


def _create_config(
    kind: str, place: str, name: str | None, rules: list[tuple[str, Permission]]
) -> SourceConfig:
    """Return the configuration of a source. Raises `ValueError`."""
    from app.sources.config import FeedConfig, FileRule, FolderConfig, FolderStreamConfig, VaultStreamConfig
    from app.sources.sources import new_id

    if kind == "notes":
        globs = (place,) if place else ()
        return VaultStreamConfig(id=new_id("vault"), name=name or "Notes", globs=globs)
    if kind == "feed":
        return FeedConfig(id=new_id("feed"), name=name or urlsplit(place).hostname or place, url=place)
    folder = Path(place).expanduser().absolute()
    name = name or folder.name or str(folder)
    if kind == "watch":
        return FolderStreamConfig(id=new_id("folder"), name=name, folder=str(folder))
    file_rules = tuple(FileRule(glob=glob, permission=permission) for glob, permission in rules)
    return FolderConfig(id=new_id("files"), name=name, folder=str(folder), rules=file_rules)


def _parse_rule(text: str) -> tuple[str, Permission]:
    glob, _, permission = text.rpartition("=")
    if not glob or permission not in _PERMISSIONS:
        raise InvalidParametersError(
            f"{text!r} is not a rule: write GLOB=PERMISSION, with one of {', '.join(_PERMISSIONS)}.",
            allowed=list(_PERMISSIONS),
        )
    return glob, Permission(permission)


def _describe_rules(rules: list[str]) -> str:
    return f", and change them according to {'; '.join(rules)}" if rules else ""


def _place_of(source: SourceConfig) -> str:
    globs = getattr(source, "globs", ())
    place = getattr(source, "folder", "") or getattr(source, "url", "")
    return str(place) or (f" that match {globs[0]}" if globs else "")
