"""The handbook in a tab of a real vault: one per group, found by its address, and no note."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
import shiboken6

from app.desktop.bridge import ServiceThread
from app.desktop.help.addresses import is_page_address, page_address
from app.desktop.notes.handbook_tab import HandbookTab
from app.desktop.notes.tabs import NoteTabs
from app.desktop.theme.theme import ThemeSource
from app.errors import NotFoundError, StorageError
from app.settings import Settings
from app.vault.path import NotePath
from tests.desktop.open_vault import PlainNote
from tests.desktop.whole_vault import WholeVault, whole_vault

GRAPH, SEARCH = page_address("Graph"), page_address("Search")
TOOLS = page_address("tools")


@pytest.fixture
def with_tabs(gui, service: ServiceThread, tmp_path: Path, qtbot) -> Callable[..., None]:
    """Run `use(vault, tabs)` with the tabs of a vault that has one note."""

    def run(use: Callable) -> None:
        async def main() -> None:
            async with whole_vault(tmp_path / "vault", service, {"A.md": "# A\n"}) as vault:
                tabs = NoteTabs(vault.client, ThemeSource("light"), PlainNote)
                qtbot.addWidget(tabs)
                await use(vault, tabs)

        gui(main())

    return run


def test_each_group_has_one_tab_for_all_pages(with_tabs, wait_until) -> None:
    async def use(_: WholeVault, tabs: NoteTabs) -> None:
        shown: list[str] = []
        tabs.shown.connect(shown.append)
        await tabs.open("A.md")
        await tabs.open(GRAPH)
        await tabs.open(SEARCH)
        (_, tab) = tabs.tabs()
        assert isinstance(tab, HandbookTab) and tab.address == tabs.address == SEARCH
        assert shown[-1] == tab.path == ""
        group = tabs._active_group
        assert group.tabText(1) == "Handbook: Search" and group.tabToolTip(1) == ""
        await tabs.open(GRAPH, in_other_group=True)
        assert tabs.state()["groups"] == [["A.md", SEARCH], [GRAPH]]
        tabs.split()  # Moves the other tab here, whose page stays.
        await wait_until(lambda: tabs.state()["groups"] == [["A.md", GRAPH]])

    with_tabs(use)


def test_a_page_that_does_not_exist_adds_no_tab(with_tabs) -> None:
    async def use(_: WholeVault, tabs: NoteTabs) -> None:
        await tabs.restore({"groups": [["A.md", page_address("Removed"), GRAPH]], "front": GRAPH})
        assert tabs.state()["groups"] == [["A.md", GRAPH]] and tabs.address == GRAPH
        with pytest.raises(NotFoundError):
            await tabs.open(page_address("Removed"))
        assert tabs.address == GRAPH

    with_tabs(use)


def test_a_handbook_that_can_not_be_read_is_reported(with_tabs, monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    async def use(_: WholeVault, tabs: NoteTabs) -> None:
        monkeypatch.setattr("app.desktop.help.pages.read_handbook", fail)
        with pytest.raises(StorageError, match="Permission denied"):
            await tabs.open(GRAPH)
        assert tabs.tabs() == ()

    with_tabs(use)


def test_a_tab_that_is_closed_while_the_handbook_loads_reports_no_error(with_tabs, wait_until) -> None:
    async def use(_: WholeVault, tabs: NoteTabs) -> None:
        opening = asyncio.ensure_future(tabs.open(GRAPH))
        await wait_until(lambda: bool(tabs.tabs()) and tabs.tabs()[0]._loading_lock.locked())
        # Until a page is loaded, the address names the handbook.
        assert is_page_address(tabs.tabs()[0].address) and tabs.address == ""
        shiboken6.delete(tabs.tabs()[0])
        await opening
        await tabs.open(page_address(""))
        assert tabs.address == page_address("First steps")

    with_tabs(use)


def test_pages_are_read_again_after_the_settings_or_notes_changed(with_tabs, wait_until) -> None:
    async def use(vault: WholeVault, tabs: NoteTabs) -> None:
        await tabs.open(TOOLS)
        (tab,) = tabs.tabs()
        assert "Web (off)" in tab.page.toPlainText().splitlines()
        permissions = Settings().permissions.model_copy(update={"categories": {"web": True}})
        settings = vault.client.settings.model_copy(update={"permissions": permissions})
        await vault.client.run(lambda service: service.settings.apply(settings))
        await wait_until(lambda: tab._is_stale)
        await tabs.open(TOOLS)
        assert "Web" in tab.page.toPlainText().splitlines()
        await tabs.open(GRAPH)
        assert not tab._is_stale
        path = NotePath("Kettle.md")
        await vault.client.run(lambda service: service.edits.create(path, "[[A]]\n"))
        await wait_until(lambda: tab._is_stale)

    with_tabs(use)


def test_pages_stay_stale_if_they_can_not_be_read(with_tabs, monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    async def use(_: WholeVault, tabs: NoteTabs) -> None:
        await tabs.open(GRAPH)
        (tab,) = tabs.tabs()
        tab._is_stale = True
        with monkeypatch.context() as patched:
            patched.setattr("app.desktop.help.pages.read_handbook", fail)
            with pytest.raises(StorageError):
                await tabs.open(SEARCH)
        assert tab._is_stale and tab.address == GRAPH
        await tabs.open(SEARCH)
        assert not tab._is_stale and tab.address == SEARCH

    with_tabs(use)


def test_pages_have_the_fonts_of_the_notes(with_tabs, wait_until) -> None:
    async def use(vault: WholeVault, tabs: NoteTabs) -> None:
        await tabs.open(GRAPH)
        (tab,) = tabs.tabs()
        editor = Settings().editor.model_copy(update={"font_size": 21.0})
        settings = vault.client.settings.model_copy(update={"editor": editor})
        await vault.client.run(lambda service: service.settings.apply(settings))
        await wait_until(lambda: tab.page.font().pointSizeF() == 21.0)

    with_tabs(use)
