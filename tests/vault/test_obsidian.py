from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.vault.journal import Journal
from app.vault.obsidian import (
    Bookmark,
    ObsidianSettings,
    read_obsidian,
    stored_obsidian_settings,
    templates_folder,
)
from app.vault.path import NotePath
from app.vault.store import NoteStore


def settings(**files: object) -> ObsidianSettings:
    found = {
        f".obsidian/{name.replace('_', '-')}.json": value if isinstance(value, bytes) else json.dumps(value)
        for name, value in files.items()
    }

    def read(path: NotePath) -> bytes | None:
        value = found.get(path.text)
        return value.encode() if isinstance(value, str) else value

    return read_obsidian(read)


def test_the_places_and_formats_are_read() -> None:
    made = settings(
        daily_notes={
            "folder": "Journal/",
            "format": "YYYY/MM-DD",
            "template": "Templates/Day",
            "autorun": True,
        },
        templates={"folder": "/Templates", "dateFormat": "D.M.", "timeFormat": "HH"},
        app={"attachmentFolderPath": "./files", "promptDelete": False},
    )
    assert made == ObsidianSettings(
        "Journal", "YYYY/MM-DD", "Templates/Day", "Templates", "D.M.", "HH", "./files"
    )


def test_bookmarks_are_read_with_their_groups() -> None:
    items = [
        {"type": "file", "path": "Tea.md", "subpath": "#Brew", "title": "Brewing"},
        {
            "type": "group",
            "title": "Work",
            "items": [{"type": "search", "query": "tag:x"}, {"type": "graph"}],
        },
        {"type": "folder", "path": "Plants"},
        "odd",
    ]
    assert settings(bookmarks={"items": items}).bookmarks == (
        Bookmark("file", "Tea.md", "Brew", "Brewing"),
        Bookmark("search", "tag:x", group="Work"),
        Bookmark("folder", "Plants"),
    )


def test_a_broken_file_is_reported_and_the_others_apply() -> None:
    made = settings(daily_notes=b"{broken", app={"attachmentFolderPath": "files"}, templates=[1])
    assert made.attachment_folder == "files" and made.daily_folder == ""
    assert [problem.split(" ")[0] for problem in made.problems] == [
        ".obsidian/daily-notes.json",
        ".obsidian/templates.json",
    ]


NAMES = st.sampled_from(["items", "type", "path", "title"])
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner),
)


@given(st.dictionaries(st.sampled_from(["items", "folder", "format"]), JSON))
def test_no_content_makes_it_fail(value: object) -> None:
    made = settings(bookmarks=value, daily_notes=value, app=value)
    assert isinstance(made.bookmarks, tuple)


@pytest.mark.parametrize(
    ("folders", "wanted"),
    [((), "Templates"), (("Vorlagen",), "Vorlagen"), (("Templates", "Vorlagen"), "Templates")],
)
def test_the_templates_of_a_vault_without_a_setting_are_in_a_known_folder(
    tmp_path: Path, folders: tuple[str, ...], wanted: str
) -> None:
    for folder in folders:
        (tmp_path / folder).mkdir()
    found = stored_obsidian_settings(NoteStore(tmp_path, Journal(tmp_path / ".data")))
    assert templates_folder("", found) == wanted
    assert templates_folder("Forms", found) == "Forms"
