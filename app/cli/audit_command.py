"""Verify, show or export the audit log; this changes nothing, and the vault may be open elsewhere."""

from __future__ import annotations

import argparse
import json
import sqlite3
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app import paths
from app.cli import rendering
from app.cli.console import CliConsole, escape_controls
from app.cli.exit_status import ExitStatus
from app.cli.invoke import resolve_vault
from app.cli.options import Options, add_json_option, add_vault_option
from app.errors import InvalidParametersError
from app.permissions.audit_chain import check
from app.permissions.audit_entry import AuditFilter
from app.permissions.audit_reading import AuditLogReader
from app.permissions.pluralize import pluralize

if TYPE_CHECKING:
    from app.permissions.audit_entry import AuditEntry

_DEFAULT_LIMIT = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands verify, export and show."""
    subcommands = parser.add_subparsers(required=True, metavar="verify|export|show")
    verify = subcommands.add_parser("verify", help="check the hash chain and print the first bad entry")
    verify.add_argument("folder", nargs="?", help="the vault")
    verify.set_defaults(do=_verify)
    export = subcommands.add_parser(
        "export", help="write the audit log to a file: JSON lines if it ends in .jsonl, else CSV"
    )
    export.add_argument("places", nargs="+", metavar="[folder] file", help="the vault, and the file to write")
    export.set_defaults(do=_export)
    show = subcommands.add_parser("show", help="print the newest entries, or one in full")
    show.add_argument("entry", nargs="?", type=int, help="the number of an entry")
    show.add_argument(
        "--limit", type=int, default=_DEFAULT_LIMIT, help=f"maximum number of entries ({_DEFAULT_LIMIT})"
    )
    for name in ("text", "caller", "tool", "decision", "turn"):
        show.add_argument(f"--{name}", default="", help=f"only entries with this {name}")
    show.set_defaults(do=_show)
    for subcommand in (verify, export, show):
        add_vault_option(subcommand)
        add_json_option(subcommand)


def run(args: argparse.Namespace, console: CliConsole) -> int:
    """Run the subcommand."""
    return int(args.do(args, console))


def _root(args: argparse.Namespace, folder: str | None, console: CliConsole) -> Path:
    options = Options.from_namespace(args)
    return resolve_vault(Options(vault=folder or options.vault), console).root


def _verify(args: argparse.Namespace, console: CliConsole) -> ExitStatus:
    root = _root(args, args.folder, console)
    file = paths.data_folder() / "vaults" / paths.vault_id(root) / "audit.sqlite3"
    try:
        result = check(file, paths.audit_head_file(root))
    except sqlite3.Error as error:
        console.print_text(f"The audit log can't be read: {error}\n")
        return ExitStatus.FAILED
    if Options.from_namespace(args).json:
        console.print_text(json.dumps(asdict(result)) + "\n")
    elif result.ok:
        gaps = "".join(f"{escape_controls(gap.message)}\n" for gap in result.gaps)
        console.print_text(f"Log intact: {pluralize(result.rows, 'entry', 'entries')} verified\n{gaps}")
    else:
        console.print_text(f"Log damaged at entry {result.first_bad}: {escape_controls(result.reason)}\n")
    return ExitStatus.DONE if result.ok else ExitStatus.FAILED


def _export(args: argparse.Namespace, console: CliConsole) -> ExitStatus:
    *folders, target = args.places
    if len(folders) > 1:
        raise InvalidParametersError("audit export takes at most one vault and one file.")
    start, file = time.monotonic(), Path(target)
    with AuditLogReader.of_vault(_root(args, folders[0] if folders else None, console)) as log:
        write = log.export_jsonl if file.suffix == ".jsonl" else log.export_csv
        count = write(file)
    console.print_text(
        f"{pluralize(count, 'entry', 'entries')} written to {file} in {time.monotonic() - start:.1f} s\n"
    )
    return ExitStatus.DONE


def _show(args: argparse.Namespace, console: CliConsole) -> ExitStatus:
    audit_filter = AuditFilter(
        text=args.text, caller=args.caller, tool=args.tool, decision=args.decision, turn=args.turn
    )
    with AuditLogReader.of_vault(_root(args, None, console)) as log:
        if args.entry is not None:
            entries: tuple[AuditEntry, ...] = (log.entry(args.entry),)
        else:
            entries = log.entries(audit_filter, limit=args.limit)[::-1]
    if Options.from_namespace(args).json:
        for entry in entries:
            console.print_text(json.dumps(asdict(entry), ensure_ascii=False) + "\n")
    elif args.entry is not None:
        console.print_rows(
            (name, escape_controls(rendering.format_cell(name, value)))
            for name, value in asdict(entries[0]).items()
        )
    else:
        rendering.print_rows(console, [_entry_row(entry) for entry in entries])
    return ExitStatus.DONE


def _entry_row(entry: AuditEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "time": entry.time,
        "caller": entry.caller,
        "tool": entry.tool,
        "decision": entry.decision,
        "result": entry.result,
        "undone_by": entry.undone_by,
    }
