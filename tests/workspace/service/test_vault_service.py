"""The service of an open vault, as a front end without a window uses it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.errors import ConflictError, VaultBusyError
from app.permissions.caller import Caller
from app.settings import Settings
from app.toolkit.call import Call
from app.vault.path import NotePath
from app.workspace import VaultService, open_vault
from app.workspace.workspace import Workspace

LATITUDE = NotePath("Concepts/Latitude.md")


@pytest.fixture
def vault(workspace: Workspace) -> VaultService:
    return VaultService(workspace)


def test_a_note_is_found_by_path_name_and_link(vault: VaultService) -> None:
    assert vault.notes.find("Concepts/Latitude.md") == vault.notes.find("Latitude") == LATITUDE
    assert vault.notes.find("No such note") is None and vault.notes.find("") is None
    assert vault.notes.shortest(LATITUDE, None) == "Latitude"
    assert "Latitude" in vault.notes.complete_names("latit", 8)


def test_notes_that_are_only_linked_are_not_among_the_related(vault: VaultService) -> None:
    related = vault.notes.related(LATITUDE, 5)
    assert 0 < len(related) <= 5
    for one in related:
        assert {reason.kind for reason in one.reasons} - {"FORWARDLINK_TO", "BACKLINK_FROM"}
    assert vault.notes.related(NotePath("No such note.md"), 5) == ()


async def test_a_saved_note_has_a_commit_a_version_and_a_planned_undo(vault: VaultService) -> None:
    text = vault.notes.read(LATITUDE)
    word = text.split()[-1]
    changed = text.replace(word, word + b" and more")
    assert (await vault.call(Call.save(LATITUDE, text, changed, Caller.user()))).success
    (entry,) = vault.history.entries(limit=1)
    (commit,) = vault.history.commits(path=LATITUDE)
    assert entry.commit == commit.id
    newest, *_ = vault.history.versions(LATITUDE)
    assert newest.hash is not None and vault.history.content(newest.hash) == vault.notes.read(LATITUDE)
    plan = vault.history.plan_undo({"entry": entry.id})
    assert plan.commits == (commit.id,) and not plan.conflicts
    assert (await vault.call(Call.of("undo", {"entry": entry.id}, Caller.user()))).success
    assert vault.notes.read(LATITUDE) == text


async def test_edits_of_a_block_by_the_user_and_an_agent_are_merged(vault: VaultService) -> None:
    assert (await vault.memory.create("plan")).success
    with pytest.raises(ConflictError):
        await vault.memory.create("plan")
    (made,) = [one for one in (await vault.memory.overview("")).blocks if one.label == "plan"]
    assert (await vault.memory.save_text(made, "one\ntwo\nthree")).success
    (before,) = [one for one in (await vault.memory.overview("")).blocks if one.label == "plan"]
    assert (await vault.memory.save_text(before, "one\ntwo\nthree\nfour")).success
    # Written on the version that was read before the line was added.
    assert (await vault.memory.save_text(before, "zero\none\ntwo\nthree")).success
    (after,) = [one for one in (await vault.memory.overview("")).blocks if one.label == "plan"]
    assert after.text == "zero\none\ntwo\nthree\nfour"
    assert len(vault.memory.history(after.path).versions) == 4


async def test_the_graph_is_updated_by_differences(vault: VaultService) -> None:
    data = await vault.graph.data()
    delta = await vault.graph.delta([LATITUDE.text], [], [])
    assert LATITUDE.text in data.paths and LATITUDE.text in delta.sources


async def test_a_vault_that_is_open_read_only_has_no_tokens(sample_vault: Path) -> None:
    vault = await open_vault(sample_vault, Settings(), None, read_only=True)
    try:
        assert vault.read_only and vault.connections.named_clients() == ()
        with pytest.raises(VaultBusyError):
            _ = vault.connections.tokens
        assert await vault.connections.begin() == ""
    finally:
        await vault.close()


async def test_a_change_of_settings_applies_at_once(vault: VaultService) -> None:
    assert not vault.tools.category("web").on
    vault.settings.enable_categories(["web"])
    assert vault.tools.category("web").on
    assert "fetch_page" in {tool.name for tool in vault.tools.tools(Caller.user())}
    assert vault.settings.current.embeddings.enabled is False
    assert (await asyncio.to_thread(lambda: vault.semantic.note_count)) == 0
