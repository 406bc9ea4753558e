"""The handbook in its view: every page drawn, the list and its search, links, and two widths."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListWidgetItem, QPushButton

from app import __version__, paths
from app.desktop.help.addresses import addressed_page, page_address
from app.desktop.help.handbook import ExampleNames, read_handbook
from app.desktop.help.pages import SHORTCUTS, help_pages, page_id
from app.desktop.help.view import HandbookView
from app.desktop.shell.keymap import Keymap
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import web_address
from app.errors import NotFoundError
from app.settings import ShortcutSettings
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES
from app.vault.markdown.scan import scan

PAGES = help_pages(ToolRegistry(CATEGORIES, CATALOG))


@pytest.fixture
def view(qtbot) -> HandbookView:
    """The view, whose owner shows each page that the user chooses."""
    made = HandbookView(ThemeSource("light"), can_run=True)
    qtbot.addWidget(made)
    made.set_pages(PAGES)
    made.open_requested.connect(lambda address, heading: made.show_page(addressed_page(address), heading))
    made.resize(900, 600)
    made.show()
    return made


def listed_pages(view: HandbookView) -> list[str]:
    """Return the ids of the pages in the list."""
    items = [view.list.item(row) for row in range(view.list.count())]
    return [item.data(Qt.ItemDataRole.UserRole) for item in items if not item.isHidden() and _is_page(item)]


def _is_page(item: QListWidgetItem) -> bool:
    return item.flags() != Qt.ItemFlag.NoItemFlags


def test_every_tool_has_its_page_drawn(view) -> None:
    for tool in CATALOG:
        view.show_page(f"tool:{tool.name}")
        text = view.page.toPlainText()
        assert text.startswith(tool.name) and all(p.name in text for p in tool.parameters)
        assert "|" not in text.splitlines()[0] and not view.run_button.isHidden()


@pytest.mark.parametrize(
    "page", read_handbook(paths.resources_folder() / "handbook", ExampleNames()), ids=lambda page: page.id
)
def test_every_link_of_the_handbook_leads_to_a_page(page, view) -> None:
    links = scan(page.text).links
    assert links, "a page that leads nowhere"
    assert [link.target for link in links if not page_id(PAGES, link.target)] == []
    view.show_page(page.id)
    assert view.page.toPlainText().startswith(page.title)
    assert 'href="unresolved:' not in view.page.toHtml()


def test_the_page_of_shortcuts_follows_the_keymap(view) -> None:
    view.show_page(SHORTCUTS)
    assert "Ctrl+S" in view.page.toPlainText() and "random" not in view.page.toPlainText()
    custom = {"save-note": (), "random-note": ("Ctrl+|",), "note-delete": ("Ctrl+Alt+`",)}
    view.show_keymap(Keymap(ShortcutSettings(custom=custom)))
    view.refresh()
    text = view.page.toPlainText()
    assert "Ctrl+S" not in text.split() and "Open random note\nCtrl+|\n" in text
    assert "Delete\nCtrl+Alt+`\n" in text


def test_searching_lists_the_pages_that_hold_all_words(view) -> None:
    view.show_page("Graph")
    view.search.setText("rename tag everywhere nested")
    assert "tool:rename_tag" in listed_pages(view)
    assert "about" not in listed_pages(view)
    view.search.setText("rename_tag")
    assert view.current == "Graph", "a page is shown while the user types"
    QTest.keyClick(view.search, Qt.Key.Key_Return)
    assert view.current == "tool:rename_tag"
    view.search.setText("zyzzyva")
    assert listed_pages(view) == []
    QTest.keyClick(view.search, Qt.Key.Key_Return)
    assert view.current == "tool:rename_tag"
    view.search.clear()
    assert listed_pages(view) == [page.id for page in PAGES]
    assert view.list.currentItem().text().strip() == "rename tag"


def test_a_click_or_enter_in_the_list_requests_the_page_once(view) -> None:
    view.show_page("Graph")
    item = view.list.findItems("   Search", Qt.MatchFlag.MatchExactly)[0]
    view.list.scrollToItem(item)
    requested: list[str] = []
    view.open_requested.connect(lambda address, _: requested.append(address))
    at = view.list.visualItemRect(item).center()
    QTest.mouseClick(view.list.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(at))
    view.list.itemActivated.emit(item)  # As some styles do for a click.
    assert requested == [page_address("Search")] and view.current == "Search"
    QTest.keyClick(view.list, Qt.Key.Key_Down)
    assert view.current == "Search"
    QTest.keyClick(view.list, Qt.Key.Key_Return)
    assert view.current == PAGES[[page.id for page in PAGES].index("Search") + 1].id


def test_a_link_leads_to_a_page_of_a_tool_and_a_tag_to_a_search(view, qtbot) -> None:
    view.show_page("tools")
    view.page.anchorClicked.emit(QUrl("note:tool:add_tag"))
    assert view.current == "tool:add_tag"
    with qtbot.waitSignal(view.search_requested) as signal:
        view.page.anchorClicked.emit(QUrl("tag:project"))
    assert signal.args == ["tag:project"]


def test_a_link_shows_a_page_that_the_search_left_out(view) -> None:
    view.search.setText("draw around")
    assert listed_pages(view) and "Approvals" not in listed_pages(view)
    view.show_page("Approvals")
    assert view.current == "Approvals" and view.search.text() == ""
    assert view.list.currentItem().text().strip() == "Approvals"


def test_a_web_link_opens_outside_the_app_after_a_question(gui, wait_until, monkeypatch, view) -> None:
    opened: list[str] = []
    monkeypatch.setattr(web_address.QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))

    def shown(label: str) -> list[QPushButton]:
        buttons = view.findChildren(QPushButton)
        return [button for button in buttons if button.text() == label and button.isVisible()]

    async def follow(answer: str) -> None:
        view.page.anchorClicked.emit(QUrl("https://example.org/a"))
        await wait_until(lambda: shown(answer))
        assert opened == []
        shown(answer)[0].click()
        await wait_until(lambda: not shown(answer))

    async def main() -> None:
        view.show_page("Graph")
        await follow("Cancel")
        await follow("Open")
        await wait_until(lambda: opened == ["https://example.org/a"])
        assert view.current == "Graph"

    gui(main())


def test_new_pages_keep_the_search_and_forget_a_page_that_is_gone(view) -> None:
    view.show_page("tool:rename_tag")
    view.search.setText("nested tag")
    view.set_pages(page for page in PAGES if page.id != "tool:rename_tag")
    assert view.current == view.title == "" and view.run_button.isHidden()
    assert view.search.text() == "nested tag"
    assert "tool:rename_tag" not in listed_pages(view) and "about" not in listed_pages(view)
    view.search.clear()
    view.refresh()
    view.show_page("Graph")
    view.set_pages(PAGES)
    assert view.current == "Graph" and view.list.currentItem().text().strip() == "Graph"


def test_an_unknown_page_leaves_the_shown_one(view) -> None:
    view.show_page("Graph")
    with pytest.raises(NotFoundError):
        view.show_page("Nowhere")
    assert view.current == "Graph"


def test_about_says_the_version_and_the_licenses(view) -> None:
    view.show_page("about")
    text = view.page.toPlainText()
    assert __version__ in text and "Apache License 2.0" in text and "Phosphor" in text
    assert view.run_button.isHidden()


def test_a_tool_is_run_from_its_page(view, qtbot) -> None:
    view.show_page("tool:add_tag")
    with qtbot.waitSignal(view.tool_requested) as signal:
        view.run_button.click()
    assert signal.args == ["add_tag"]


def test_a_narrow_view_shows_the_list_or_the_page(view) -> None:
    view.show_page("Graph")
    assert view.contents.isVisible() and view.page.isVisible()
    view.resize(320, 600)
    assert not view.contents.isVisible() and view.page.isVisible()
    view.contents_button.click()
    assert view.contents.isVisible() and not view.page.isVisible()
    view.take_focus()
    assert view.search.hasFocus() or view.focusWidget() is view.search
    view.search.setText("tag everywhere nested")
    QTest.keyClick(view.search, Qt.Key.Key_Return)
    assert not view.contents.isVisible() and view.page.isVisible()
    view.resize(900, 600)
    assert view.contents.isVisible() and view.page.isVisible()
    view.contents_button.click()
    assert not view.contents.isVisible() and view.page.isVisible()
