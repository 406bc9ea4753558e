"""Files whose names are not UTF-8 (`Grüße.md` in Latin-1) are listed, can be renamed, and block nothing."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest

from app.errors import InvalidPathError
from app.index.records import IndexUpdated
from app.permissions.caller import Caller, CallerKind
from app.settings import Settings
from app.toolkit.call import Call
from app.vault.changes import ChangeSet, Create
from app.vault.path import NotePath
from app.vault.undecodable import find_path, listed_path, suggest_name
from app.workspace import VaultService
from app.workspace.opening import open_workspace

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only there can a file have such a name")
RAW = NotePath.on_disk(os.fsdecode(b"Gr\xfc\xdfe.md"))
LISTED = NotePath(r"Gr\xfc\xdfe.md")


async def opened(root, approver):
    settings = Settings()
    settings.embeddings.enabled = False
    workspace = await open_workspace(root, settings, approver)
    await workspace.start_scan(lambda progress: None)
    return workspace


@pytest.fixture
async def vault(tmp_path, approver):
    root = tmp_path / "vault"
    root.mkdir()
    (root / "Tea.md").write_text("tea\n")
    (root / RAW.text).write_text("greetings\n")
    workspace = await opened(root, approver)
    try:
        yield workspace
    finally:
        await workspace.close()


async def until(workspace, condition):
    """Wait until an update of the index makes a condition true."""
    news = asyncio.Event()
    unsubscribe = workspace.events.subscribe(IndexUpdated, lambda event: news.set())
    async with asyncio.timeout(20):
        while not condition():
            await news.wait()
            news.clear()
    unsubscribe()


def listed(workspace):
    return {problem.path.text: problem.kind for problem in workspace.index.problems()}


async def test_a_misnamed_file_is_listed_with_its_bytes(vault):
    assert listed(vault) == {LISTED.text: "misnamed"}
    assert (
        listed_path(RAW) == LISTED
        and find_path(vault.root, LISTED) == RAW
        and suggest_name(RAW) == "Grüße.md"
    )


async def test_a_misnamed_file_is_renamed_and_the_rename_undone(vault):
    outcome = await VaultService(vault).notes.rename_misnamed(LISTED, "Grüße.md")
    assert outcome.success and (vault.root / "Grüße.md").read_text() == "greetings\n"
    assert vault.index.note(NotePath("Grüße.md")) is not None and listed(vault) == {}
    assert not os.path.lexists(vault.root / RAW.text)
    undone = await vault.runner.run(Call.of("undo", {"entry": outcome.entry}, Caller.user()))
    assert undone.success and (vault.root / RAW.text).read_text() == "greetings\n"
    assert listed(vault) == {LISTED.text: "misnamed"} and vault.audit.verify().ok


async def test_a_name_that_is_taken_or_bad_changes_nothing(vault):
    for name, kind in (
        ("Tea.md", "conflict"),
        ("a/b.md", "invalid_parameters"),
        ("x:y.md", "invalid_parameters"),
    ):
        outcome = await VaultService(vault).notes.rename_misnamed(LISTED, name)
        assert outcome.error["type"] == kind and (vault.root / RAW.text).read_text() == "greetings\n"
    assert (await VaultService(vault).notes.rename_misnamed(NotePath("No.md"), "x.md")).error[
        "type"
    ] == "not_found"
    assert InvalidPathError.type == "invalid_parameters"


async def test_a_folder_of_such_a_name_is_renamed_file_by_file(vault):
    folder = vault.root / os.fsdecode(b"B\xfccher")
    folder.mkdir()
    (folder / "One.md").write_text("one")
    (folder / "two.txt").write_text("two")
    await until(vault, lambda: r"B\xfccher" in listed(vault))
    assert (await VaultService(vault).notes.rename_misnamed(NotePath(r"B\xfccher"), "Bücher")).success
    assert (vault.root / "Bücher" / "One.md").read_text() == "one"
    assert (vault.root / "Bücher" / "two.txt").read_text() == "two"
    assert vault.index.note(NotePath("Bücher/One.md")) is not None


async def test_the_watcher_lists_a_new_misnamed_file_and_continues(vault):
    name = os.fsdecode(b"Caf\xe9.md")
    (vault.root / name).write_text("x")
    await until(vault, lambda: r"Caf\xe9.md" in listed(vault))
    (vault.root / "After.md").write_text("after")
    await until(vault, lambda: vault.index.note(NotePath("After.md")) is not None)
    (vault.root / name).unlink()
    await until(vault, lambda: r"Caf\xe9.md" not in listed(vault))
    (vault.root / "Later.md").write_text("later")
    await until(vault, lambda: vault.index.note(NotePath("Later.md")) is not None)


async def test_a_commit_of_such_a_file_that_was_not_logged_does_not_keep_the_vault_from_opening(
    tmp_path, approver
):
    root = tmp_path / "vault"
    root.mkdir()
    (root / RAW.text).write_text("x")
    workspace = await opened(root, approver)
    # Another program's edit was recorded in the journal, and the app was killed before it was logged.
    await asyncio.to_thread(workspace.store.record_external, ChangeSet.of(Create(RAW, b"x")), author="Other")
    await workspace.close()
    workspace = await opened(root, approver)
    try:
        assert workspace.audit.entries()[0].paths == (LISTED.text,)
        saved = await workspace.runner.run(Call.save(NotePath("New.md"), None, b"new\n"))
        assert saved.success and saved.entry > 0
    finally:
        await workspace.close()


async def test_no_tool_fails_on_a_misnamed_file(vault):
    client = Caller(CallerKind.MCP, "Client")
    for tool, arguments in (
        ("find", {"pattern": "*"}),
        ("directory_list", {}),
        ("grep", {"pattern": "greetings"}),
        ("list_notes", {}),
        ("vault_info", {}),
        ("file_read", {"path": RAW.text}),
        ("file_read", {"path": LISTED.text}),
        ("read_note", {"name": RAW.text}),
    ):
        outcome = await vault.runner.run(Call.of(tool, arguments, client))
        assert (outcome.error or {}).get("type") != "internal", (tool, outcome)
        str(outcome.as_dict()).encode()
