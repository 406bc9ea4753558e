from __future__ import annotations

from pathlib import Path

import pytest

from app import paths
from app.desktop.bookmarks.model import Bookmarks
from app.errors import StorageError
from app.vault.obsidian import Bookmark

TEA, WATER = Bookmark("file", "Tea.md", "Brew", "Brewing"), Bookmark("file", "Water.md")


def test_they_are_kept_in_their_order_and_follow_moves(tmp_path: Path) -> None:
    bookmarks = Bookmarks(tmp_path)
    bookmarks.add(TEA)
    bookmarks.add(WATER)
    bookmarks.add(TEA)
    assert Bookmarks(tmp_path).items == (WATER, TEA)
    assert bookmarks.rename_paths({"Tea.md": "Sub/Tea.md"}) and not bookmarks.rename_paths(
        {"Other.md": "x.md"}
    )
    assert Bookmarks(tmp_path).items[1] == Bookmark("file", "Sub/Tea.md", "Brew", "Brewing")
    bookmarks.remove("Water.md")
    assert not Bookmarks(tmp_path).contains("Water.md") and Bookmarks(tmp_path).contains("Sub/Tea.md")


def test_a_damaged_file_is_set_aside_and_the_last_good_one_holds(tmp_path: Path) -> None:
    Bookmarks(tmp_path).add(TEA)
    file = paths.vault_data_folder(tmp_path) / "bookmarks.json"
    file.write_text('[{"kind": 1, "odd": 2}]')
    bookmarks = Bookmarks(tmp_path)
    assert bookmarks.items == (TEA,) and "bookmarks" in bookmarks.problem
    assert len(list(file.parent.glob("bookmarks*"))) >= 2


def test_a_disk_that_refuses_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bookmarks = Bookmarks(tmp_path)
    bookmarks.add(TEA)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("app.storage.files.write_atomic", refuse)
    with pytest.raises(StorageError, match="No space"):
        bookmarks.add(WATER)
    assert bookmarks.items == (TEA,)
