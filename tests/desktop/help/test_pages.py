"""The help: the handbook, and generated pages of tools and commands."""

from __future__ import annotations

import re

import pytest

from app import paths
from app.desktop.help.handbook import ExampleNames, read_handbook
from app.desktop.help.pages import FIRST, help_pages, page_id, referenced_page, shortcuts_page
from app.desktop.shell.command_registry import COMMANDS, PANELS
from app.desktop.shell.keymap import Keymap
from app.errors import StorageError
from app.settings import Settings, ShortcutSettings
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES

HANDBOOK = paths.resources_folder() / "handbook"
PAGES = help_pages(ToolRegistry(CATEGORIES, CATALOG))


def test_every_shortcut_is_on_its_page() -> None:
    page = shortcuts_page(Keymap(ShortcutSettings()))
    assert all(command.title.rstrip("…") in page for command in COMMANDS if command.shortcuts)


def test_every_panel_has_exactly_one_page() -> None:
    explained = [panel for page in PAGES for panel in page.panels]
    assert sorted(explained) == sorted(panel.id for panel in PANELS)
    assert page_id(PAGES, "panel:graph") == "Graph"
    assert page_id(PAGES, "panel:nowhere") == ""


def test_a_button_names_a_page_or_a_panel() -> None:
    assert referenced_page("panel:notes") == "Editor"
    assert referenced_page("shortcuts") == "shortcuts"
    assert referenced_page("") == referenced_page("panel:") == referenced_page("panel:nowhere") == FIRST


def test_the_handbook_names_existing_settings() -> None:
    groups = {field.title for field in Settings.model_fields.values()}
    pages = read_handbook(HANDBOOK, ExampleNames())
    named = {(group, page.id) for page in pages for group in re.findall(r"\*Settings → ([^*]+)\*", page.text)}
    assert named and [reference for reference in named if reference[0] not in groups] == []


def test_the_handbook_names_existing_shortcuts() -> None:
    keys = {key for command in COMMANDS for key in command.shortcuts}
    # Keys of a panel or of the editor, not of a command.
    other_keys = {"Ctrl+K", "Ctrl+M", "Ctrl+Enter", "Alt+A"}
    pages = read_handbook(HANDBOOK, ExampleNames())
    pattern = re.compile(r"`((?:Ctrl|Alt)\+[^`]+)`(?!-)")
    named = {(key, page.id) for page in pages for key in pattern.findall(page.text)}
    assert named and [reference for reference in named if reference[0] not in keys | other_keys] == []


def test_examples_use_names_of_the_open_vault() -> None:
    names = ExampleNames(note="Tea", other="Kettle", tag="drink", folder="Kitchen")
    text = "".join(page.text for page in read_handbook(HANDBOOK, names))
    assert "*find notes about Tea*" in text and "`tag:drink`" in text and "[[Kettle]]" in text
    assert not re.search(r"(?<!\{)\{(note|other|tag|folder)\}", text) and "{{title}}" in text


def test_a_page_without_a_known_group_is_refused(tmp_path) -> None:
    (tmp_path / "Odd.md").write_text("---\ngroup: Elsewhere\n---\n# Odd\n", "utf-8")
    with pytest.raises(ValueError, match="Elsewhere"):
        read_handbook(tmp_path, ExampleNames())


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), ValueError("unknown group")])
def test_a_handbook_that_can_not_be_read_is_a_storage_error(monkeypatch, error: Exception) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("app.desktop.help.pages.read_handbook", fail)
    message = f"Could not read the handbook: {error.strerror if isinstance(error, OSError) else error}."
    with pytest.raises(StorageError) as raised:
        help_pages(ToolRegistry(CATEGORIES, CATALOG))
    assert raised.value.message == message
    with pytest.raises(StorageError):
        referenced_page("panel:graph")
