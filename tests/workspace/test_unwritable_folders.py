"""If folders of the app can't be written, the vault is open for reading and the user is informed."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app import paths
from app.errors import StorageError
from app.permissions.caller import Caller
from app.settings import Settings, VaultSettings, save_vault_settings
from app.toolkit.call import Call
from app.toolkit.outcome import ToolOutcome
from app.workspace.opening import open_workspace
from app.workspace.workspace import Workspace
from tests.support.approver import ScriptedApprover


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[None]:
    """Mount something on a folder; skip the test if that is not allowed."""
    folder.mkdir(exist_ok=True)
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root may mount")
    if subprocess.run(["mount", *options, folder], check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    with mounted(folder, "--bind", str(folder)):
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        yield


def is_under_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *names: str) -> Path:
    """Set folders of the app that can't even be created."""
    file = tmp_path / "file"
    file.write_text("In the way.")
    for name in names:
        monkeypatch.setenv(f"SCRIPTORIUM_{name}", str(file / name.lower()))
    return file


async def opened(root: Path) -> Workspace:
    settings = Settings()
    settings.embeddings.enabled = False
    workspace = await open_workspace(root, settings, ScriptedApprover(), brief=True)
    await workspace.start_scan(lambda progress: None)
    return workspace


async def write(workspace: Workspace, text: str) -> ToolOutcome:
    arguments = {"name": "Tea", "content": text}
    return await workspace.runner.run(Call.of("update_note", arguments, Caller.user()))


async def check_only_reads(workspace: Workspace, root: Path) -> None:
    """Check that the vault can be read and searched, nothing is written, and the user knows why."""
    before = (root / "Tea.md").read_bytes()
    told = [notice for notice in workspace.notices if "open read-only" in notice]
    assert len(told) == 1 and str(paths.vault_data_folder(root)) in told[0]
    assert workspace.read_only
    found = await workspace.runner.run(Call.of("search_notes", {"query": "green"}, Caller.user()))
    assert found.success and "Tea" in str(found.result)
    refused = await write(workspace, "Refused.")
    assert not refused.success and "read-only" in refused.message
    assert (root / "Tea.md").read_bytes() == before


async def test_a_data_folder_mounted_read_only_opens_the_vault_for_reading(root: Path) -> None:
    workspace = await opened(root)
    assert (await write(workspace, "Green and black.")).success
    await workspace.close()
    with read_only(paths.data_folder()):
        workspace = await opened(root)
        own = workspace._files.session_folder
        try:
            await check_only_reads(workspace, root)
            assert len(workspace.journal.commits()) == 1
        finally:
            await workspace.close()
        assert not own.exists()
    workspace = await opened(root)
    try:
        assert not workspace.read_only and (await write(workspace, "Green and white.")).success
    finally:
        await workspace.close()


async def test_a_data_folder_after_a_crash_is_read_as_far_as_it_can_be(root: Path) -> None:
    workspace = await opened(root)
    assert (await write(workspace, "Green and black.")).success
    data = paths.vault_data_folder(root)
    kept = {name: (data / name).read_bytes() for name in ("journal.sqlite", "journal.sqlite-wal")}
    await workspace.close()
    assert kept["journal.sqlite-wal"]
    for name, content in kept.items():
        (data / name).write_bytes(content)
    with read_only(paths.data_folder()):
        workspace = await opened(root)
        try:
            await check_only_reads(workspace, root)
            assert any("The journal could not be read" in notice for notice in workspace.notices)
        finally:
            await workspace.close()
    assert {name: (data / name).read_bytes() for name in kept} == kept


async def test_a_full_disk_opens_the_vault_for_reading(root: Path) -> None:
    with mounted(paths.data_folder(), "-t", "tmpfs", "-o", "size=64k", "tmpfs"):
        (paths.data_folder() / "filler").write_bytes(bytes(40 * 1024))
        workspace = await opened(root)
        try:
            await check_only_reads(workspace, root)
        finally:
            await workspace.close()


async def test_folders_that_cannot_be_made_open_the_vault_for_reading(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = is_under_a_file(monkeypatch, tmp_path, "DATA", "CACHE", "CONFIG", "LOGS")
    workspace = await opened(root)
    try:
        await check_only_reads(workspace, root)
    finally:
        await workspace.close()
    assert file.read_text() == "In the way."


async def test_a_cache_folder_that_cannot_be_made_leaves_the_vault_writable(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_under_a_file(monkeypatch, tmp_path, "CACHE")
    workspace = await opened(root)
    try:
        assert any("cache folder can't be written" in notice for notice in workspace.notices)
        assert not workspace.read_only and (await write(workspace, "Green and black.")).success
        assert workspace._files.cache.is_dir()
    finally:
        await workspace.close()
    # In the folder that ends with the process.
    assert workspace._files.cache.is_relative_to(paths.cache_folder())


async def test_what_is_switched_off_in_a_vault_is_off_for_its_readers(root: Path) -> None:
    save_vault_settings(paths.vault_data_folder(root), VaultSettings(categories={"search": False}))
    workspace = await open_workspace(root, Settings(), None, read_only=True, brief=True)
    try:
        assert not workspace.registry.category("search").on
    finally:
        await workspace.close()


async def test_data_that_cannot_be_read_either_is_a_storage_error(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("app.workspace.vault_storage.Journal", fail)
    with pytest.raises(StorageError, match=r"Permission denied.*Your notes are unchanged"):
        await opened(root)
