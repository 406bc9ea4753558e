"""Take back the last change that a call made, or a call or a turn of the log; what was written since is kept.

What it takes back is shown first, and the change that does it is asked about like any other. Changes that you
typed in the window are not the last change; name their number (`scriptorium audit show`) to take one back.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from app.cli.calls import chosen, run_call
from app.cli.exit_status import Exit
from app.cli.kinds import Kind
from app.cli.options import Options, add_call_options
from app.cli.screen import Screen, safe
from app.errors import NotFoundError
from app.permissions.audit_reading import AuditReading
from app.permissions.wording import counted

if TYPE_CHECKING:
    from pathlib import Path

    from app.permissions.audit_entry import AuditEntry

_YES = frozenset({Kind.CREATE, Kind.UPDATE, Kind.DELETE})
_TYPED = "save"
_AT_ONCE = 100
_MOST_PATHS = 10


def add_to(parser: argparse.ArgumentParser) -> None:
    """Let `parser` take what is to be undone."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("entry", nargs="?", type=int, help="the number of a call in the log (the last change)")
    what.add_argument("--turn", help="the id of an agent's turn")
    what.add_argument("--commit", type=int, help="the number of a commit of the journal")
    parser.add_argument("--yes", action="store_true", help=f"as --approve {','.join(sorted(_YES))}")
    add_call_options(parser)


async def run(given: argparse.Namespace, screen: Screen) -> Exit:
    """Say what goes, and call the tool `undo` for it."""
    options = Options.of(given)
    choice = chosen(options, screen)
    options = replace(options, vault=str(choice.root))
    if given.yes:
        options = replace(options, approve=options.approve | _YES)
    if given.turn:
        return await run_call("undo", {"turn": given.turn}, options, screen)
    entry = _entry(choice.root, given.entry, given.commit)
    _tell(entry, screen)
    return await run_call("undo", {"entry": entry.id}, options, screen)


def _entry(root: Path, number: int | None, commit: int | None) -> AuditEntry:
    """The entry of the log that is meant.

    Raises:
        NotFoundError: there is none, or it wrote nothing.
    """
    with AuditReading.of_vault(root) as log:
        if number is not None:
            return log.entry(number)
        if commit is not None:
            found = log.entry_of_commit(commit)
            if found is None:
                raise NotFoundError(f"The log has no call that made commit {commit}.", commit=commit)
            return found
        before: int | None = None
        while page := log.entries(limit=_AT_ONCE, before_id=before):
            for entry in page:
                if _is_change(entry):
                    return entry
            before = page[-1].id
    raise NotFoundError("There is nothing to undo: no call has changed anything, or all was taken back.")


def _is_change(entry: AuditEntry) -> bool:
    written = entry.commit is not None and entry.undone_by is None
    return written and not entry.undoes and entry.tool != _TYPED


def _tell(entry: AuditEntry, screen: Screen) -> None:
    from app.cli.rendering import cell

    when = cell("time", entry.time)
    by = safe(entry.caller)
    screen.tell(f"Takes back entry {entry.id}: {entry.tool} by {by}, {when}. {safe(entry.result)}")
    for path in entry.paths[:_MOST_PATHS]:
        screen.tell(f"  {safe(path)}")
    if len(entry.paths) > _MOST_PATHS:
        screen.tell(f"  and {counted(len(entry.paths) - _MOST_PATHS, 'other file')}")
