"""`scriptorium index <vault>`: scan a vault without a window and print what was found."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from app import paths
from app.errors import ScriptoriumError
from app.events import EventBus
from app.index.records import ScanProgress
from app.index.vault_index import VaultIndex
from app.settings import load_settings


def run(vault: Path) -> int:
    """Scan the vault; the exit status is 1 when a note could not be read."""
    root = vault.resolve()
    if not root.is_dir():
        raise ScriptoriumError(f"{root} is not a folder.")
    return asyncio.run(_scan(root))


async def _scan(root: Path) -> int:
    index = VaultIndex(root, paths.vault_cache_folder(root), load_settings().index, EventBus())
    await index.open()
    try:
        report = await index.scan(_show, lambda: False)
        stats = index.stats()
    finally:
        await index.close()
    print(
        f"{stats.notes} notes, {stats.links} links, {stats.tags} tags; "
        f"{report.indexed} indexed, {report.unchanged} unchanged, {len(report.skipped)} skipped, "
        f"{len(report.failed)} failed"
    )
    for problem in (*report.skipped, *report.failed):
        print(f"  {problem.path}: {problem.reason}")
    return 1 if report.failed else 0


def _show(progress: ScanProgress) -> None:
    if sys.stderr.isatty():
        print(f"\r{progress.phase} {progress.done}/{progress.total}", end="", file=sys.stderr, flush=True)
