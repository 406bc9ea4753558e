"""A note's creation time comes from its property, else from its first indexing, never from a save."""

from __future__ import annotations

import os
import time
from datetime import datetime
from pathlib import Path

import pytest

from app.events import EventBus
from app.index.extract import stated_time
from app.index.vault_index import VaultIndex
from app.settings import IndexSettings
from app.vault.changes import ChangeSet, Create, Move, Update
from app.vault.journal import Journal
from app.vault.path import NotePath
from app.vault.store import NoteStore
from tests.index.conftest import LONG_AGO, IndexedVault, MakeVault

A, B = NotePath("a.md"), NotePath("b.md")


def created(index: VaultIndex, path: NotePath) -> float:
    note = index.note(path)
    assert note is not None
    return note.created


async def replaced(vault: IndexedVault, path: str, text: str) -> None:
    """Save as the app and most editors do: a new file replaces the old one."""
    fresh = vault.root / ".fresh"
    fresh.write_text(text, "utf-8")
    fresh.replace(vault.root / path)
    await vault.index.refresh([NotePath(path)])


async def test_a_save_does_not_move_a_note_in_time(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "one"})
    before = created(vault.index, A)
    assert before == pytest.approx(LONG_AGO, abs=1)
    await replaced(vault, "a.md", "two")
    assert created(vault.index, A) == before
    await vault.index.scan()
    assert created(vault.index, A) == before


async def test_a_note_that_moves_keeps_its_time(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "one and the same text"})
    before = created(vault.index, A)
    await replaced(vault, "a.md", "one and the other text")
    (vault.root / "a.md").rename(vault.root / "b.md")
    await vault.index.scan()
    assert created(vault.index, B) == before


async def test_the_property_comes_first(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "---\nCreated: 2021-03-04\n---\n", "b.md": "---\ncreated: [x]\n---\n"})
    assert created(vault.index, A) == datetime(2021, 3, 4).timestamp()
    assert created(vault.index, B) == pytest.approx(LONG_AGO, abs=1)
    later = f"---\ncreated: {datetime.fromtimestamp(time.time() + 86_400):%Y-%m-%dT%H:%M}\n---\n"
    await replaced(vault, "a.md", later)
    assert created(vault.index, A) > time.time()


@pytest.mark.parametrize("value", ["yesterday", "", "2021-13-01", "99999-01-01", 5, None, ["2021-03-04"]])
def test_an_invalid_time_counts_as_missing(value: object) -> None:
    assert stated_time({"created": value}) is None


@pytest.mark.parametrize("name", ["date created", "Date-Created", "created_at", "creation date"])
def test_other_common_names_of_the_property_count(name: str) -> None:
    expected = datetime(2021, 3, 4).timestamp()
    assert stated_time({"title": "x", name: "2021-03-04"}) == expected
    assert stated_time({name: "2021-03-04", "created": "soon"}) == expected
    assert stated_time({name: "2022-01-01", "created": "2021-03-04"}) == expected


async def test_a_new_index_takes_the_first_sighting_from_the_journal(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    journal = Journal(tmp_path / "data")
    store = NoteStore(root, journal)
    store.commit(ChangeSet.of(Create(A, b"one")), author="x")
    first = journal.commits()[-1].time
    store.commit(ChangeSet.of(Move(A, B, b"one", b"one")), author="x")
    store.commit(ChangeSet.of(Update(B, b"one", b"two")), author="x")
    # Another note takes the name, and is not mistaken for the old one.
    store.commit(ChangeSet.of(Create(A, b"new")), author="x")
    second = journal.commits()[0].time
    later = time.time() + 3600
    for path in (A, B):
        os.utime(root / path.text, (later, later))
    many = [B, A, *(NotePath(f"{n}.md") for n in range(40))]
    assert journal.first_seen([B, A]) == journal.first_seen(many) == {A: second, B: first}
    index = VaultIndex(root, tmp_path / "cache", IndexSettings(), EventBus(), journal.first_seen)
    (tmp_path / "cache").mkdir()
    await index.open()
    try:
        await index.scan()
        assert created(index, B) == first
        assert created(index, A) <= second + 1
    finally:
        await index.close()
        journal.close()
