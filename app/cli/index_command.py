"""Update the index of a vault, and print its counts and problems.

With --vectors it also computes all embeddings for semantic search, which takes about a minute for a thousand
notes. If another program has the vault open, that program updates the index and reports the counts.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from app.cli.approvers import DenyAll
from app.cli.console import CliConsole, escape_controls
from app.cli.exit_status import ExitStatus
from app.cli.invoke import report_outcome, resolve_vault
from app.cli.options import Options, add_json_option, add_vault_option
from app.cli.session import open_session
from app.errors import InvalidParametersError
from app.permissions.pluralize import pluralize

if TYPE_CHECKING:
    from app.workspace import VaultService


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the vault's folder and the options."""
    parser.add_argument("folder", nargs="?", help="the vault")
    parser.add_argument("--vectors", action="store_true", help="also compute embeddings for semantic search")
    add_vault_option(parser)
    add_json_option(parser)


async def run(args: argparse.Namespace, console: CliConsole) -> ExitStatus:
    """Update the index and print its counts; fail if a note could not be read."""
    options = Options.from_namespace(args)
    location = resolve_vault(Options(vault=args.folder or options.vault), console)
    async with open_session(location.root, DenyAll(), console) as session:
        if args.vectors:
            if session.vault is None:
                raise InvalidParametersError(
                    "The program that has the vault open computes its embeddings. Omit --vectors."
                )
            await _embed(session.vault, console)
        outcome = await session.access.call(session.client, "vault_info", {})
    if not outcome.success:
        return report_outcome(outcome, options, console)
    if options.json:
        report_outcome(outcome, options, console)
    else:
        console.print_text(_describe_index(outcome.result))
    return ExitStatus.FAILED if outcome.result["failed"] else ExitStatus.DONE


def _describe_index(info: Mapping[str, Any]) -> str:
    """Return the counts on one line, and a line for each problem."""
    counts = [pluralize(info[f"{noun}s"], noun) for noun in ("note", "link", "tag", "orphan")]
    counts += [f"{info[state]:,} {state}" for state in ("unresolved", "indexed", "skipped", "failed")]
    lines = [
        f"  {escape_controls(str(problem['path']))}: {escape_controls(str(problem['reason']))}"
        for problem in info["problems"]
    ]
    return "\n".join([", ".join(counts), *lines, ""])


async def _embed(vault: VaultService, console: CliConsole) -> None:
    """Compute the missing embeddings and wait until they are complete.

    Raises:
        InvalidParametersError: Semantic search is off in the settings.
        StorageError: The model could not run, or some notes could not be read.
    """
    from app.embeddings.sync_scheduler import EmbeddingFailed, EmbeddingProgressed
    from app.errors import StorageError

    if not vault.settings.current.embeddings.enabled:
        raise InvalidParametersError(
            "Semantic search is off. Turn it on in the settings to compute embeddings."
        )
    finished: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def on_progress(event: EmbeddingProgressed) -> None:
        console.show_progress(f"embeddings {event.done:,} of {event.total:,}")
        if event.is_over and not finished.done():
            warning = f"{event.failed} of {event.total} notes could not be read." if event.failed else ""
            finished.set_result(warning)

    def on_failure(event: EmbeddingFailed) -> None:
        if not finished.done():
            finished.set_result(event.reason)

    vault.events.subscribe(EmbeddingProgressed, on_progress)
    vault.events.subscribe(EmbeddingFailed, on_failure)
    vault.semantic.start()
    if problem := await finished:
        raise StorageError(problem)
    console.end_progress()
