"""The baseline detects the changes of other programs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.vault import baseline as module
from app.vault.baseline import VaultBaseline
from app.vault.changes import Create, Delete, Move, Update, after_of, before_of
from app.vault.path import NotePath


def nobody(path: NotePath, digest: str) -> bool:
    return False


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    (root / "Plants").mkdir(parents=True)
    (root / "Tea.md").write_text("Tea\n")
    (root / "Plants/Mint.md").write_text("Mint\n")
    return root


@pytest.fixture
def imprint(vault, tmp_path):
    made = VaultBaseline(vault, tmp_path)
    made.capture()
    yield made
    made.close()


def test_each_kind_of_change_is_reported_once_with_the_bytes_of_both_sides(vault, imprint):
    (vault / "Tea.md").write_text("Green tea\n")
    (vault / "New.md").write_text("New\n")
    (vault / "Plants/Mint.md").rename(vault / "Mint.md")
    found = imprint.diff(None, nobody)
    assert set(found.changes) == {
        Update(NotePath("Tea.md"), b"Tea\n", b"Green tea\n"),
        Create(NotePath("New.md"), b"New\n"),
        Move(NotePath("Plants/Mint.md"), NotePath("Mint.md"), b"Mint\n", b"Mint\n"),
    }
    assert not imprint.diff(None, nobody)
    (vault / "Tea.md").unlink()
    assert imprint.diff([NotePath("Tea.md")], nobody).changes == (Delete(NotePath("Tea.md"), b"Green tea\n"),)


def test_own_and_merely_touched_files_are_not_reported(vault, imprint):
    (vault / "Tea.md").write_text("Ours\n")
    os.utime(vault / "Plants/Mint.md", (1, 1))
    assert not imprint.diff(None, lambda path, digest: path == NotePath("Tea.md"))
    (vault / "Tea.md").write_text("Theirs\n")
    assert imprint.diff(None, nobody).changes == (Update(NotePath("Tea.md"), b"Ours\n", b"Theirs\n"),)


def test_hidden_and_temporary_files_are_ignored(vault, imprint):
    (vault / ".obsidian").mkdir()
    (vault / ".obsidian/app.json").write_text("{}")
    (vault / "Tea.md.tmp").write_text("half")
    assert not imprint.diff(None, nobody)


def test_a_file_without_a_copy_is_named(vault, imprint, monkeypatch):
    monkeypatch.setattr(module, "MAX_ATTACHMENT_BYTES", 4)
    (vault / "map.png").write_bytes(b"12345")
    assert imprint.diff(None, nobody).unsaved == (NotePath("map.png"),)
    (vault / "map.png").write_bytes(b"1234567")
    assert imprint.diff(None, nobody).unsaved == (NotePath("map.png"),)
    assert not imprint.diff(None, nobody)


def test_on_a_full_disk_a_change_is_still_reported_without_a_copy(vault, imprint, monkeypatch):
    def full(content: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(imprint, "_bytes", Wrapped(imprint._bytes, full))
    (vault / "Tea.md").write_text("Green tea\n")
    # The earlier content is stored already; the current one is on the disk.
    assert imprint.diff(None, nobody).changes == (Update(NotePath("Tea.md"), b"Tea\n", b"Green tea\n"),)
    (vault / "Tea.md").write_text("Black tea\n")
    assert imprint.diff(None, nobody).unsaved == (NotePath("Tea.md"),)


class Wrapped:
    """A file on a full disk."""

    def __init__(self, file, write) -> None:
        self._file = file
        self.write = write

    def __getattr__(self, name: str):
        return getattr(self._file, name)


NAMES = st.sampled_from(["A.md", "B.md", "C.txt", "F/A.md"])
STEPS = st.lists(st.tuples(NAMES, st.one_of(st.none(), st.binary(max_size=8))), max_size=8)


@settings(max_examples=40)
@given(first=STEPS, then=STEPS)
def test_the_changes_lead_from_the_old_to_the_new_state(tmp_path_factory, first, then):
    root = tmp_path_factory.mktemp("vault")
    (root / "F").mkdir()
    play(root, first)
    imprint = VaultBaseline(root, root.parent)
    try:
        imprint.capture()
        state = files(root)
        play(root, then)
        for change in imprint.diff(None, nobody).changes:
            assert state.pop(str(change.path), None) == before_of(change)
            place = change.to if isinstance(change, Move) else change.path
            if (after := after_of(change)) is not None:
                state[str(place)] = after
        assert state == files(root)
    finally:
        imprint.close()


def play(root: Path, steps) -> None:
    for name, content in steps:
        if content is None:
            (root / name).unlink(missing_ok=True)
        else:
            (root / name).write_bytes(content)


def files(root: Path) -> dict[str, bytes]:
    found = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}
