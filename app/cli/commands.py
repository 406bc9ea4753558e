"""The verbs of the command line: what can be done with a vault without a window."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from app import __version__, paths
from app.cli import index_command, tools_command
from app.errors import ScriptoriumError
from app.permissions.audit import AuditLog


def main(arguments: list[str]) -> int:
    """Run a verb; the exit status is 0 when it succeeded, 1 when it found something wrong, 2 for misuse."""
    given = _parser().parse_args(arguments)
    try:
        return int(given.run(given))
    except ScriptoriumError as error:
        print(f"scriptorium: {error.message}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scriptorium",
        description="Runs a verb on a vault. Without a verb, `scriptorium [folder]` opens the window.",
    )
    parser.add_argument("--version", action="version", version=f"scriptorium {__version__}")
    verbs = parser.add_subparsers(required=True, metavar="verb")
    index = verbs.add_parser("index", help="bring the index of a vault up to date and print its counts")
    index.add_argument("vault", type=Path)
    index.set_defaults(run=_index)
    audit = verbs.add_parser("audit", help="check or export the audit log of a vault")
    what = audit.add_subparsers(required=True, metavar="what")
    verify = what.add_parser("verify", help="check the hash chain and name the first bad row")
    verify.add_argument("vault", type=Path)
    verify.set_defaults(run=_verify)
    export = what.add_parser("export", help="write the log to a file (.csv or .jsonl)")
    export.add_argument("vault", type=Path)
    export.add_argument("file", type=Path)
    export.set_defaults(run=_export)
    tools_command.add_parser(verbs)
    return parser


def _index(given: argparse.Namespace) -> int:
    return index_command.run(given.vault)


def _log(given: argparse.Namespace) -> AuditLog:
    root: Path = given.vault.resolve()
    if not root.is_dir():
        raise ScriptoriumError(f"{root} is not a folder.")
    return AuditLog(paths.vault_data_folder(root), paths.audit_head_file(root))


def _verify(given: argparse.Namespace) -> int:
    log = _log(given)
    try:
        check = log.verify()
    finally:
        log.close()
    if check.ok:
        print(f"{check.rows} entries, the chain is whole")
        return 0
    print(f"row {check.first_bad}: {check.reason}")
    return 1


def _export(given: argparse.Namespace) -> int:
    start, log = time.monotonic(), _log(given)
    try:
        write = log.export_jsonl if given.file.suffix == ".jsonl" else log.export_csv
        write(given.file)
    finally:
        log.close()
    print(f"written to {given.file} in {time.monotonic() - start:.1f} s")
    return 0
