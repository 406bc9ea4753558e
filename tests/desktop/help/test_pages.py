"""The help: the handbook, and generated pages of tools and commands."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import QUrl

from app import __version__, paths
from app.desktop.help.dialog import _ID_ROLE, HelpDialog
from app.desktop.help.handbook import ExampleNames, read_handbook
from app.desktop.help.pages import help_pages, page_id, shortcuts_page
from app.desktop.shell.command_registry import COMMANDS, PANELS
from app.desktop.theme.theme import ThemeSource
from app.settings import Settings
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES
from app.vault.markdown.scan import scan

HANDBOOK = paths.resources_folder() / "handbook"
PAGES = help_pages(ToolRegistry(CATEGORIES, CATALOG))


@pytest.fixture
def dialog(qtbot) -> HelpDialog:
    help_dialog = HelpDialog(PAGES, ThemeSource("light"), can_run=True)
    qtbot.addWidget(help_dialog)
    return help_dialog


def test_every_tool_has_its_page_drawn(dialog) -> None:
    for tool in CATALOG:
        dialog.show_page(f"tool:{tool.name}")
        text = dialog.page.toPlainText()
        assert text.startswith(tool.name) and all(p.name in text for p in tool.parameters)
        assert "|" not in text.splitlines()[0] and not dialog.run_button.isHidden()


def listed_pages(dialog: HelpDialog) -> tuple[str, ...]:
    """Return the ids of the pages in the list that match the search."""
    items = (dialog.list.item(row) for row in range(dialog.list.count()))
    return tuple(str(item.data(_ID_ROLE)) for item in items if item.data(_ID_ROLE) and not item.isHidden())


def test_searching_lists_the_pages_that_hold_all_words(dialog) -> None:
    dialog.search.setText("rename tag everywhere nested")
    assert "tool:rename_tag" in listed_pages(dialog)
    assert "about" not in listed_pages(dialog)
    dialog.search.setText("rename_tag")
    assert dialog.current == "tool:rename_tag"
    dialog.search.setText("zyzzyva")
    assert listed_pages(dialog) == ()
    dialog.search.clear()
    assert listed_pages(dialog) == tuple(page.id for page in PAGES)


def test_every_shortcut_is_on_its_page() -> None:
    page = shortcuts_page()
    assert all(command.title.rstrip("…") in page for command in COMMANDS if command.shortcuts)


def test_about_says_the_version_and_the_licenses(dialog) -> None:
    dialog.show_page("about")
    text = dialog.page.toPlainText()
    assert __version__ in text and "Apache License 2.0" in text and "Phosphor" in text
    assert dialog.run_button.isHidden()


def test_a_tool_is_run_from_its_page(dialog, qtbot) -> None:
    dialog.show_page("tool:add_tag")
    with qtbot.waitSignal(dialog.tool_requested) as signal:
        dialog.run_button.click()
    assert signal.args == ["add_tag"]


def test_every_panel_has_exactly_one_page() -> None:
    explained = [panel for page in PAGES for panel in page.panels]
    assert sorted(explained) == sorted(panel.id for panel in PANELS)
    assert page_id(PAGES, "panel:graph") == "Graph"
    assert page_id(PAGES, "panel:nowhere") == ""


@pytest.mark.parametrize("page", read_handbook(HANDBOOK, ExampleNames()), ids=lambda page: page.id)
def test_every_link_of_the_handbook_leads_to_a_page(page, dialog) -> None:
    links = scan(page.text).links
    assert links, "a page that leads nowhere"
    assert [link.target for link in links if not page_id(PAGES, link.target)] == []
    dialog.show_page(page.id)
    assert dialog.page.toPlainText().startswith(page.title)
    assert 'href="unresolved:' not in dialog.page.toHtml()


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


def test_links_and_buttons_go_back_and_forward(dialog) -> None:
    dialog.show()
    assert not dialog.back_button.isEnabled()
    (address,) = (link for link in hrefs(dialog) if link == "note:Graph")
    dialog.page.anchorClicked.emit(QUrl(address))
    assert (
        dialog.current == "Graph" and dialog.back_button.isEnabled() and not dialog.forward_button.isEnabled()
    )
    dialog.back_button.click()
    assert dialog.current == "First steps" and dialog.forward_button.isEnabled()
    dialog.forward_button.click()
    assert dialog.current == "Graph"


def test_a_link_shows_a_page_that_the_search_left_out(dialog) -> None:
    dialog.search.setText("draw around")
    assert listed_pages(dialog) and "Approvals" not in listed_pages(dialog)
    dialog.show_page("Approvals")
    assert dialog.current == "Approvals" and dialog.search.text() == ""


def test_a_page_without_a_known_group_is_refused(tmp_path) -> None:
    (tmp_path / "Odd.md").write_text("---\ngroup: Elsewhere\n---\n# Odd\n", "utf-8")
    with pytest.raises(ValueError, match="Elsewhere"):
        read_handbook(tmp_path, ExampleNames())


def hrefs(dialog: HelpDialog) -> list[str]:
    return re.findall(r'href="([^"]+)"', dialog.page.toHtml())
