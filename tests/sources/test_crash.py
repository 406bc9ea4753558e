"""A process killed at a disk step of a commit to a source folder: the folder, journal and log."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app import paths
from app.settings import Settings
from app.sources.config import FolderConfig, SourceConfigStore
from app.sources.file_source import folder_hash
from app.vault.changes import ChangeSet
from app.vault.journal import Journal
from app.vault.store import NoteStore
from app.workspace.opening import open_workspace
from tests.support.forks import Forks
from tests.vault.test_crash import CHANGES, NEW, OLD, files, killer, seed, steps

Step = Callable[[str], None]

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")


def store_of(root: Path, folder: Path, journal: Journal, step: Step = lambda name: None) -> NoteStore:
    """Return the store of the folder, as its source makes it: the journal is the vault's."""
    intents = paths.vault_data_folder(root) / "sources" / "desk" / "intents"
    return NoteStore(folder, journal, place=f"files-{folder_hash(folder)}", log_folder=intents, step=step)


def commit(root: Path, folder: Path, at: int) -> None:
    """Commit, and die at disk step `at`, or at -1 when all is written but not yet recorded in the journal."""
    step = before_it_is_recorded if at < 0 else killer(at)
    store = store_of(root, folder, Journal(paths.vault_data_folder(root)), step)
    store.commit(ChangeSet(CHANGES.changes, CHANGES.summary, store.place), author="Agent", entry="call-1")


@pytest.fixture
def forks() -> Iterator[Forks]:
    fork_counter = Forks()
    yield fork_counter
    fork_counter.close()


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "Tea.md").write_text("Leaves.\n", "utf-8")
    return root


def test_killed_at_a_step_the_folder_is_wholly_old_or_new_and_the_journal_says_which(
    forks: Forks, tmp_path: Path, vault: Path
) -> None:
    outcomes = set()
    # Every third step: the steps are those of the vault's own commits, which are all tested.
    for at in range(0, steps("native", "commit"), 3):
        folder = seed(tmp_path / str(at))
        before = len(commits(vault))
        assert forks.killed(commit, vault, folder, at)
        journal = Journal(paths.vault_data_folder(vault))
        try:
            # The vault's own recovery, which runs first, does not concern it.
            assert NoteStore(vault, journal).recover() == []
            store = store_of(vault, folder, journal)
            store.recover()
            state = files(folder)
            assert state in (OLD, NEW), at
            journal_commits = journal.commits(place=store.place)
            assert len(journal_commits) == (state == NEW) and len(commits(vault)) == before + len(
                journal_commits
            ), at
            if journal_commits:
                plan = journal.plan_undo(
                    [journal_commits[0].id], lambda path, store=store: read_note(store, path)
                )
                store.commit(plan.change_set, author="You")
                assert {name: held for name, held in files(folder).items() if ".trash" not in name} == OLD
        finally:
            journal.close()
        outcomes.add(state == NEW)
    assert outcomes == {True, False} and files(vault) == {"Tea.md": b"Leaves.\n"}


def commits(vault: Path) -> tuple[int, ...]:
    journal = Journal(paths.vault_data_folder(vault))
    try:
        return tuple(one.id for one in journal.commits(1000))
    finally:
        journal.close()


def read_note(store: NoteStore, path):
    return store.read(path) if store.exists(path) else None


def before_it_is_recorded(step: str) -> None:
    """Kill the process when all is written but not yet recorded in the journal."""
    if step == "journal: record":
        os.kill(os.getpid(), signal.SIGKILL)


async def test_commits_completed_on_opening_are_reported_and_logged(
    forks: Forks, tmp_path: Path, vault: Path
) -> None:
    folder = seed(tmp_path)
    config = FolderConfig(id="desk", name="Desk", folder=str(folder))
    SourceConfigStore(paths.vault_data_folder(vault)).save((config,))
    assert forks.killed(commit, vault, folder, -1)
    journal = Journal(paths.vault_data_folder(vault))
    assert journal.commits() == ()
    journal.close()
    settings = Settings()
    settings.embeddings.enabled = False
    workspace = await open_workspace(vault, settings, None)
    try:
        assert files(folder) == NEW
        (journal_commits,) = workspace.journal.commits()
        (entry,) = workspace.audit.entries()
        assert (entry.commit, entry.caller, entry.call) == (journal_commits.id, "Agent", "call-1")
        assert any("everything at once" in notice and "Desk" in notice for notice in workspace.notices)
    finally:
        await workspace.close()
