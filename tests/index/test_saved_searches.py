"""Saved searches outlive the index and the app, and are never in the vault."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.errors import InvalidParametersError, StorageError
from app.events import EventBus
from app.index.saved_searches import FILE_NAME, SavedSearches, SavedSearchesChanged


def searches(folder: Path, **options: bool) -> SavedSearches:
    return SavedSearches(folder, EventBus(), **options)


def names(saved: SavedSearches) -> list[str]:
    return [one.name for one in saved.list_searches()]


def test_saved_searches_are_restored_sorted_by_name(tmp_path: Path) -> None:
    saved = searches(tmp_path)
    saved.save("open  tasks ", " task-todo: ", "modified", "folder")
    saved.save("Claims", "type:hypothesis")
    again = searches(tmp_path).list_searches()
    assert [(one.name, one.query, one.order, one.group) for one in again] == [
        ("Claims", "type:hypothesis", "relevance", ""),
        ("open tasks", "task-todo:", "modified", "folder"),
    ]


def test_one_of_the_same_name_is_replaced(tmp_path: Path) -> None:
    saved = searches(tmp_path)
    saved.save("Inbox", "tag:inbox")
    saved.save("INBOX", "tag:in")
    assert [(one.name, one.query) for one in saved.list_searches()] == [("INBOX", "tag:in")]


def test_renaming_and_removing(tmp_path: Path) -> None:
    saved = searches(tmp_path)
    saved.save("a", "x")
    saved.save("b", "y")
    with pytest.raises(InvalidParametersError):
        saved.rename("a", "B")
    with pytest.raises(InvalidParametersError):
        saved.rename("a", " ")
    assert names(saved) == ["a", "b"]
    saved.rename("a", "A")
    saved.rename("b", "0")
    assert names(saved) == ["0", "A"]
    saved.remove("0")
    saved.remove("gone")
    assert names(searches(tmp_path)) == ["A"]


def test_changes_are_published(tmp_path: Path) -> None:
    events = EventBus()
    told: list[SavedSearchesChanged] = []
    events.subscribe(SavedSearchesChanged, told.append)
    SavedSearches(tmp_path, events).save("a", "x")
    assert [one.name for one in told[0].searches] == ["a"]


@pytest.mark.parametrize("content", [b"{", b'[{"name": ""}]', b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_kept_aside(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    saved = searches(tmp_path)
    assert saved.list_searches() == ()
    (aside,) = tmp_path.glob("searches.damaged-*.json")
    assert aside.name in saved.problem
    assert aside.read_bytes() == content
    saved.save("a", "x")
    assert names(searches(tmp_path)) == ["a"]


def test_a_failed_write_keeps_what_was_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("the disk is full")

    saved = searches(tmp_path)
    saved.save("a", "x")
    monkeypatch.setattr("app.storage.files.write_atomic", refuse)
    with pytest.raises(StorageError):
        saved.save("b", "y")
    with pytest.raises(StorageError):
        saved.rename("a", "c")
    assert names(saved) == names(searches(tmp_path)) == ["a"]


def test_a_read_only_process_does_not_write_saved_searches(tmp_path: Path) -> None:
    searches(tmp_path).save("a", "x")
    reader = searches(tmp_path, writable=False)
    assert names(reader) == ["a"]
    with pytest.raises(StorageError):
        reader.save("b", "y")


def test_an_invalid_search_is_refused(tmp_path: Path) -> None:
    for name, query in (("", "x"), ("a", " "), ("a" * 200, "x")):
        with pytest.raises(InvalidParametersError):
            searches(tmp_path).save(name, query)
