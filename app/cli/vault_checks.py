"""The doctor's checks of a vault: folders, disk space, file watching, holder, databases, log and leftovers.

The databases are opened read-only, so a vault that is open elsewhere or damaged is not changed.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from app import paths
from app.cli.diagnostics import CheckResult, failure, ok, warning
from app.cli.installation_checks import check_app_folder, check_disk_space
from app.errors import ScriptoriumError, StorageError
from app.permissions.audit_chain import check
from app.permissions.pluralize import pluralize
from app.servers.endpoint_file import find_endpoint
from app.storage.sqlite import connect_read_only
from app.vault.lock import find_holder

_INOTIFY = Path("/proc/sys/fs/inotify")
_MAX_COUNTED_FOLDERS = 100_000


async def check_vault(root: Path) -> list[CheckResult]:
    """Return the results of all checks of the vault at `root`."""
    results = [_check_folder(root), check_disk_space("disk space for notes", root), *_check_watching(root)]
    data = paths.data_folder() / "vaults" / paths.vault_id(root)
    if not data.is_dir():
        results.append(ok("history and log", "empty; nothing has been changed in this vault yet"))
        return results
    results.append(check_app_folder("vault data", data, private=False))
    try:
        holder = find_holder(data)
    except StorageError as error:
        results.append(failure("holder", error.message, f"Allow access: chmod -R u+rwX '{data}'"))
        # A change that is still being written looks like one that a crash interrupted.
        is_held = True
    else:
        results.append(await _check_holder(root, holder))
        is_held = holder is not None
    results += _check_databases(data, paths.cache_folder() / "vaults" / paths.vault_id(root))
    results.append(_check_log(data, root))
    results += _check_leftovers(data, is_held=is_held)
    return results


def _check_folder(root: Path) -> CheckResult:
    if not os.access(root, os.R_OK | os.X_OK):
        return failure("vault folder", f"{root} can't be read", f"Allow access: chmod u+rx '{root}'")
    if not os.access(root, os.W_OK):
        hint = f"To edit notes, allow writing: chmod u+w '{root}'"
        return warning("vault folder", f"{root} is read-only", hint)
    return ok("vault folder", str(root))


def _check_watching(root: Path) -> list[CheckResult]:
    """Check the inotify watch limit on Linux; each folder needs one watch."""
    if sys.platform != "linux":
        return []
    folders = sum(1 for _ in zip(os.walk(root), range(_MAX_COUNTED_FOLDERS), strict=False))
    try:
        limit = int((_INOTIFY / "max_user_watches").read_text())
    except (OSError, ValueError):
        return []
    message = f"{pluralize(folders, 'folder')} to watch; the limit is {limit:,}"
    if folders > limit // 2:
        hint = f"Raise the limit: sudo sysctl fs.inotify.max_user_watches={max(4 * folders, 524_288)}"
        return [warning("watching", message, hint)]
    return [ok("watching", message)]


async def _check_holder(root: Path, holder: str | None) -> CheckResult:
    endpoint = find_endpoint(root)
    if endpoint is None:
        if holder is None:
            return ok("holder", "no program has the vault open")
        hint = "Close it if it should not be running; other programs wait for it."
        return warning("holder", f"{holder} has the vault open but does not accept connections", hint)
    from app.servers.remote_vault import RemoteVaultAccess

    try:
        vault = await RemoteVaultAccess.join(endpoint)
    except ScriptoriumError as error:
        hint = "End the process and reopen the vault."
        return failure("holder", f"process {endpoint.pid} has the vault open. {error.message}", hint)
    await vault.close()
    return ok("holder", f"process {endpoint.pid} has the vault open and answers on port {endpoint.port}")


def _check_databases(data: Path, cache: Path) -> list[CheckResult]:
    """Check the integrity of the databases in both folders."""
    results = []
    for folder, hint in (
        (data, "Open the vault: the app sets the file aside, notifies you, and uses a backup or a new file."),
        (cache, f"Delete {cache}; it is rebuilt from the notes."),
    ):
        for file in sorted((*folder.glob("*.sqlite"), *folder.glob("*.sqlite3"))):
            problem = _database_problem(file)
            label = f"{'index' if folder is cache else 'history'}: {file.stem}"
            results.append(failure(label, f"{file}: {problem}", hint) if problem else ok(label, "intact"))
    return results


def _database_problem(file: Path) -> str:
    """Return a description of the damage to a database; empty if there is none."""
    try:
        with closing(connect_read_only(file)) as connection:
            (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return str(error)
    return "" if result == "ok" else str(result)


def _check_log(data: Path, root: Path) -> CheckResult:
    file = data / "audit.sqlite3"
    if not file.exists():
        return ok("audit log", "empty")
    try:
        result = check(file, paths.audit_head_file(root))
    except sqlite3.Error as error:
        return failure("audit log", f"it can't be read: {error}", "Save a copy of it before you continue.")
    if result.ok:
        message = f"intact, {pluralize(result.rows, 'entry', 'entries')} verified"
        return ok("audit log", " ".join([message, *(gap.message for gap in result.gaps)]))
    hint = "The log was modified or damaged. Export it, and compare it with a backup."
    return failure("audit log", f"damaged at entry {result.first_bad}: {result.reason}", hint)


def _check_leftovers(data: Path, is_held: bool) -> list[CheckResult]:
    """Check for changes that a crash interrupted, and for damaged files that were set aside."""
    results = []
    intents = list((data / "intents").glob("*.json")) if (data / "intents").is_dir() else []
    if intents and not is_held:
        message = f"{pluralize(len(intents), 'change')} interrupted by a crash"
        hint = "Open the vault to complete or undo them."
        results.append(warning("unfinished changes", message, hint))
    damaged = [file.name for file in sorted(data.glob("*.damaged*"))]
    if damaged:
        hint = f"Check the files in {data}, and delete them if you don't need them."
        results.append(warning("set aside", ", ".join(damaged), hint))
    return results
