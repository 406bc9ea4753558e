from __future__ import annotations

import asyncio
import inspect
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from app.agent.transcript import Usage
from app.desktop.agent.usage_total import UsageTotal
from app.desktop.bridge import ServiceThread, VaultClient
from app.desktop.files.panel import FilesPanel
from app.desktop.main_window import MainWindow
from app.desktop.runtime import watchdog
from app.desktop.runtime.gc_scheduler import GcScheduler
from app.desktop.shell.command_registry import COMMANDS, PANELS, PanelSpec, module_of, resolve
from app.desktop.shell.navigation import Navigation
from app.desktop.shell.status_bar import StatusBar, time_left
from app.desktop.shell.window_state import WindowState
from app.desktop.theme.theme import ThemeSource
from app.desktop.vault_layout import VaultLayout
from app.embeddings.sync_scheduler import EmbeddingProgressed
from app.embeddings.throttle import ThrottleState
from app.errors import StorageError, VaultBusyError
from app.index.records import ScanProgress
from app.permissions.approval import GrantOffer
from app.permissions.scope import Operation
from app.settings import AgentSettings, AnswerByModel, ModelSettings, Settings, load_settings
from app.settings.recent import RecentVaults
from app.vault.watcher import VaultFound, VaultLost
from app.workspace import VaultService
from tests.desktop.open_vault import SHELL_PANELS, PlainNote, open_vault
from tests.desktop.workspace_access import in_workspace
from tests.support.open_sheets import sheets
from tests.support.running_tasks import running_tasks

PLAIN = "tests.desktop.open_vault:create_plain_panel"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "Garden"
    (root / "Sub").mkdir(parents=True)
    for name in ("One", "Two", "Three"):
        (root / f"{name}.md").write_text(f"# {name}\n\nAbout {name.lower()} #tag [[One]]\n")
    (root / "Sub" / "Four.md").write_text("four")
    return root


@pytest.fixture
def in_window(gui, service: ServiceThread) -> Callable[..., object]:
    """Run `use(window)` with a window that is closed properly afterwards."""

    def run(use: Callable[[MainWindow], Awaitable[None]], opener: object = open_vault) -> None:
        async def main() -> None:
            window = MainWindow(service, Settings(), ThemeSource("light"), opener, SHELL_PANELS)
            window.show()
            try:
                await use(window)
            finally:
                if not window.ended.is_set():
                    window.close()
                    await asyncio.wait_for(window.ended.wait(), 10)
                await window.session.close()
                window.hide()
                window.deleteLater()

        gui(main())

    return run


def notes_of(window: MainWindow) -> list[PlainNote]:
    assert window.view is not None and window.view.notes is not None
    return list(window.view.notes.tabs())  # type: ignore[arg-type]


def pressable() -> list[QPushButton]:
    """Return the visible buttons; new rows appear and removed ones go in the next turn of the loop."""
    return [button for sheet in sheets() for button in sheet.findChildren(QPushButton) if button.isVisible()]


def buttons() -> list[str]:
    return [button.text() for button in pressable()]


def press(text: str) -> None:
    (button,) = (button for button in pressable() if button.text() == text)
    button.click()


def test_a_vault_is_being_read_from_its_first_appearance_unless_it_is_indexed(
    in_window, wait_until, vault: Path
) -> None:
    async def use(window: MainWindow) -> None:
        reading: list[bool] = []
        window.session.opened.connect(lambda _: reading.append(window.view.context.is_scanning))
        window.open_folder(vault)
        await wait_until(lambda: "4 notes" in window.status.counts.text())
        await wait_until(lambda: window.session._scan is not None and window.session._scan.done())
        await wait_until(lambda: not window.view.context.is_scanning)
        await window.session.close()
        window.open_folder(vault)
        await wait_until(lambda: window.view is not None)
        assert reading == [True, False]

    in_window(use)


def test_a_vault_shown_from_the_index_is_then_scanned(in_window, wait_until, vault: Path) -> None:
    async def use(window: MainWindow) -> None:
        window.open_folder(vault)
        await wait_until(lambda: "4 notes" in window.status.counts.text())
        await wait_until(lambda: window.session._scan is not None and window.session._scan.done())
        await window.session.close()
        (vault / "Late.md").write_text("Written while the vault was closed.\n", encoding="utf-8")
        reports: list[object] = []
        scan_allowed = asyncio.Event()
        window.session.opened.connect(
            lambda _: setattr(window.session, "wait_until_shown", scan_allowed.wait)
        )
        window.session.scanned.connect(reports.append)
        window.open_folder(vault)
        await wait_until(lambda: window.view is not None)
        assert window.view is not None
        await window.view.wait_until_loaded()
        files = window.view.page.panel("files")
        assert isinstance(files, FilesPanel)
        assert files.model.rowCount() > 0
        assert not files._paths & {"Late.md"}
        assert not reports
        scan_allowed.set()
        await wait_until(lambda: "5 notes" in window.status.counts.text())
        assert reports

    in_window(use)


def test_a_vault_is_opened_read_and_counted(in_window, wait_until, vault: Path) -> None:
    async def use(window: MainWindow) -> None:
        assert window.stack.currentWidget() is window.welcome
        assert not window.menu.by_id["new-note"].isEnabled()
        window.open_folder(vault)
        await wait_until(lambda: "4 notes" in window.status.counts.text())
        assert window.windowTitle() == "Garden – Scriptorium"
        assert window.menu.by_id["new-note"].isEnabled()
        assert [v.name for v in RecentVaults().list_vaults()] == ["Garden"]
        await wait_until(lambda: window.status.scan.isHidden())
        window.menu.run("close-vault")
        await wait_until(lambda: window.windowTitle() == "Scriptorium")
        assert window.stack.currentWidget() is window.welcome

    in_window(use)


def test_hidden_panels_are_created_on_demand(in_window, wait_until, vault: Path) -> None:
    async def use(window: MainWindow) -> None:
        window.open_folder(vault)
        await wait_until(lambda: window.view is not None and window.view.page.existing("files") is not None)
        page = window.view.page
        await wait_until(lambda: window.view._is_built)
        assert page.existing("tags") is None and page.existing("search") is None
        assert page.existing("problems") is None
        window.menu.run("show-tags")
        assert page.side.currentWidget() is page.existing("tags")
        window.menu.run("show-problems")
        problems = page.existing("problems")
        assert problems is not None and problems.isVisible()
        assert page.existing("search") is None

    in_window(use)


def test_notes_open_as_tabs_and_the_navigation_history_is_kept(in_window, wait_until, vault: Path) -> None:
    async def use(window: MainWindow) -> None:
        window.open_folder(vault)
        await wait_until(lambda: window.view is not None)
        for name in ("One.md", "Two.md", "One.md"):
            window.navigation.open(name)
            await asyncio.sleep(0)
        await wait_until(lambda: len(notes_of(window)) == 2)
        await wait_until(lambda: window.view.notes.current.path == "One.md")
        window.menu.run("back")
        await wait_until(lambda: window.view.notes.current.path == "Two.md")
        window.menu.run("forward")
        await wait_until(lambda: window.view.notes.current.path == "One.md")
        window.navigation.open("One.md", "line=3")
        await wait_until(lambda: window.view.notes.current.fragment == "line=3")
        window.menu.run("close-tab")
        await wait_until(lambda: len(notes_of(window)) == 1)
        window.menu.run("reopen-tab")
        await wait_until(lambda: len(notes_of(window)) == 2)
        window.menu.run("split-right")
        await wait_until(lambda: len(window.view.notes._groups) == 2)
        assert sorted(note.path for note in notes_of(window)) == ["One.md", "Two.md"]

    in_window(use)


def test_the_notes_menu_acts_on_the_active_note(in_window, wait_until, vault: Path) -> None:
    async def use(window: MainWindow) -> None:
        menu = window.menu
        window.open_folder(vault)
        await wait_until(lambda: window.view is not None)
        assert not menu.by_id["save-note"].isEnabled() and not menu.by_id["reopen-tab"].isEnabled()
        window.navigation.open("One.md")
        await wait_until(lambda: menu.by_id["save-note"].isEnabled())
        for command in ("save-note", "edit-note", "find-in-note", "replace-in-note", "note-links"):
            menu.run(command)
        assert notes_of(window)[0].done == ["save", "mode", "find", "replace", "links"]
        menu.run("close-tab")
        await wait_until(lambda: menu.by_id["reopen-tab"].isEnabled())
        assert not menu.by_id["save-note"].isEnabled()
        menu.run("reopen-tab")
        await wait_until(lambda: [note.path for note in notes_of(window)] == ["One.md"])

    in_window(use)


def test_notes_and_graph_share_the_room_that_the_user_gave_them(
    gui, service: ServiceThread, vault: Path
) -> None:
    async def main() -> None:
        workspace = await service.call(lambda: open_vault(vault, Settings(), None, False))
        client = VaultClient(service, workspace)
        specs = (PanelSpec("graph", "Graph", "share-network", "graph", PLAIN), *SHELL_PANELS)
        page = VaultLayout(client, ThemeSource("light"), specs)
        page.resize(1400, 800)
        page.show()
        page.restore({"sizes": {"centre": [900, 0]}})
        await page.notes.open("One.md")
        graph, notes = page.center.sizes()
        assert notes > graph
        page.center.setSizes([300, 900])
        await page.notes.close_current()
        assert page.notes.isHidden()
        await page.notes.open("One.md")
        graph, notes = page.center.sizes()
        assert notes > 2 * graph
        await page.notes.close_current()
        shares = page.state()["sizes"]["centre"]
        assert shares[1] > 2 * shares[0]
        page.hide()
        page.deleteLater()
        await client.close()

    gui(main())


def test_vault_and_tabs_are_remembered_while_they_are_open(in_window, wait_until, vault: Path) -> None:
    async def use(window: MainWindow) -> None:
        window.open_folder(vault)
        await wait_until(lambda: window.view is not None)
        assert WindowState.of_window().text("vault") == str(vault)
        window.navigation.open("One.md")
        await wait_until(lambda: WindowState.of_vault(vault).mapping("notes").get("groups") == [["One.md"]])
        window.menu.run("close-vault")
        await wait_until(lambda: window.windowTitle() == "Scriptorium")
        assert WindowState.of_window().text("vault") == ""

    in_window(use)


def test_panels_without_room_collapse_and_return(gui, service: ServiceThread, vault: Path) -> None:
    async def main() -> None:
        workspace = await service.call(lambda: open_vault(vault, Settings(), None, False))
        client = VaultClient(service, workspace)
        specs = (
            PanelSpec("graph", "Graph", "share-network", "graph", PLAIN),
            PanelSpec("agent", "Agent", "sparkle", "agent", PLAIN),
            *SHELL_PANELS,
        )
        page = VaultLayout(client, ThemeSource("light"), specs)
        agent, graph = page.panel("agent"), page.panel("graph")
        page.resize(1400, 800)
        page.show()
        page.restore({})
        await page.notes.open("One.md")

        def visible_areas() -> list[bool]:
            return [widget.isVisible() for widget in (page.side, graph, page.notes, agent)]

        assert visible_areas() == [True, True, True, True]
        page.resize(850, 600)
        assert visible_areas() == [False, True, True, True]
        page.resize(640, 600)
        assert visible_areas() == [False, False, True, True]
        assert page.state()["hidden"] == ["bottom"]
        page.show_side("files")
        assert visible_areas()[0]
        page.toggle("agent")
        assert not agent.isVisible()
        page.resize(1400, 800)
        assert visible_areas() == [True, True, True, False]
        page.hide()
        page.deleteLater()
        await client.close()

    gui(main())


def test_layout_and_tabs_come_back(in_window, wait_until, vault: Path) -> None:
    async def first(window: MainWindow) -> None:
        window.open_folder(vault)
        await wait_until(lambda: window.view is not None)
        for name in ("One.md", "Sub/Four.md"):
            window.navigation.open(name)
            await wait_until(lambda name=name: name in [n.path for n in notes_of(window)])
        window.menu.run("show-tags")
        window.menu.run("toggle-bottom")
        window.resize(700, 500)

    async def second(window: MainWindow) -> None:
        assert window.last_vault() == vault
        window.open_folder(window.last_vault())
        await wait_until(lambda: window.view is not None and len(notes_of(window)) == 2)
        await wait_until(lambda: window.view.notes.current.path == "Sub/Four.md")
        assert window.view.page.side.currentWidget() is window.view.page.panel("tags")
        assert not window.view.page.bottom.isHidden()
        assert window.width() == 700

    in_window(first)
    in_window(second)


def test_the_last_vault_is_remembered_when_it_is_opened(
    in_window, wait_until, vault: Path, tmp_path: Path, errors: list[str]
) -> None:
    errors.append("failed to open Other")

    def saved_vault() -> str:
        return WindowState.of_window().text("vault")  # The state that a start after kill -9 finds.

    async def refuse(root: Path, settings: Settings, approver: object, read_only: bool) -> VaultService:
        if root != vault:
            raise StorageError("The disk refused.")
        return await open_vault(root, settings, approver, read_only)  # type: ignore[arg-type]

    async def use(window: MainWindow) -> None:
        window.open_folder(vault, confirmed=True)
        await wait_until(lambda: window.view is not None)
        assert saved_vault() == str(vault)
        other = tmp_path / "Other"
        other.mkdir()
        window.open_folder(other, confirmed=True)
        await wait_until(lambda: window.view is None and window.stack.currentWidget() is window.welcome)
        assert saved_vault() == str(vault)
        window.open_folder(vault, confirmed=True)
        await wait_until(lambda: window.view is not None)
        window.menu.run("close-vault")
        await wait_until(lambda: saved_vault() == "")

    in_window(use, refuse)


def test_a_note_chosen_by_name_has_the_focus(in_window, wait_until, vault: Path) -> None:
    async def use(window: MainWindow) -> None:
        window.open_folder(vault)
        await wait_until(lambda: window.view is not None and window.view._is_built)
        window.activateWindow()
        window.view.page.panel("files").tree.setFocus()
        palette = window.palette_controller._palette
        window.menu.run("go-note")
        palette.field.setText("two")
        await wait_until(lambda: palette.model.rowCount() == 1)
        QTest.keyClick(palette.field, Qt.Key.Key_Return)
        await wait_until(lambda: bool(notes_of(window)) and window.focusWidget() is notes_of(window)[0])
        assert notes_of(window)[0].path == "Two.md"

    in_window(use)


def test_the_list_of_names_follows_the_index(in_window, wait_until, vault: Path) -> None:
    async def use(window: MainWindow) -> None:
        window.open_folder(vault)
        await wait_until(lambda: window.view is not None and window.view._is_built)
        palette = window.palette_controller._palette
        window.menu.run("go-note")
        palette.field.setText("five")
        await wait_until(lambda: palette.no_match_label.isVisible())
        (vault / "Five.md").write_text("five")
        await in_workspace(
            window.session.client, lambda workspace: workspace.start_scan(lambda progress: None)
        )
        await wait_until(lambda: palette.model.rowCount() == 1)
        assert palette.list.currentIndex().data() == "Five"

    in_window(use)


def test_unsaved_text_keeps_the_window_open(in_window, wait_until, vault: Path) -> None:
    async def use(window: MainWindow) -> None:
        window.open_folder(vault)
        await wait_until(lambda: window.view is not None)
        window.navigation.open("One.md")
        await wait_until(lambda: notes_of(window))
        (note,) = notes_of(window)
        note.dirty_changed.emit(True)
        assert window.view.notes._active_group.tabText(0).startswith("● ")
        note.may_close = False
        window.close()
        await wait_until(lambda: not [t for t in running_tasks() if "_close_window" in repr(t)])
        assert not window.ended.is_set() and window.view is not None
        note.may_close = True

    in_window(use)


def test_a_folder_without_notes_is_asked_about_first(in_window, wait_until, tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(b"x")

    async def use(window: MainWindow) -> None:
        window.open_folder(tmp_path)
        await wait_until(sheets)
        press("Cancel")
        await wait_until(lambda: not sheets())
        assert window.view is None
        window.open_folder(tmp_path)
        await wait_until(sheets)
        press("Open vault")
        await wait_until(lambda: window.view is not None)

    in_window(use)


def test_a_missing_folder_is_reported(in_window, wait_until, tmp_path: Path) -> None:
    async def use(window: MainWindow) -> None:
        window.open_folder(tmp_path / "gone")
        await wait_until(sheets)
        press("OK")
        await wait_until(lambda: not sheets())
        assert window.view is None

    in_window(use)


def test_a_vault_that_another_app_has_is_offered_read_only(in_window, wait_until, vault: Path) -> None:
    requested_modes: list[bool] = []

    async def opener(root: Path, settings: Settings, approver: object, read_only: bool) -> VaultService:
        requested_modes.append(read_only)
        if not read_only:
            raise VaultBusyError("Another Scriptorium has it.", owner="process 7")
        return await open_vault(root, settings, approver, read_only)  # type: ignore[arg-type]

    async def use(window: MainWindow) -> None:
        window.open_folder(vault)
        await wait_until(sheets)
        press("Cancel")
        await wait_until(lambda: not sheets())
        assert window.view is None
        window.open_folder(vault)
        await wait_until(sheets)
        press("Open read-only")
        await wait_until(lambda: window.view is not None)
        assert window.status.mode.text() == "Read-only"

    in_window(use, opener)
    assert requested_modes == [False, False, True]


def test_a_failure_to_open_is_a_message_and_the_window_stays(
    in_window, wait_until, vault: Path, errors: list[str]
) -> None:
    errors.append("failed to open Garden")

    async def opener(*_: object) -> VaultService:
        raise StorageError("The index can't be written: the disk is full.")

    async def use(window: MainWindow) -> None:
        window.open_folder(vault)
        await wait_until(lambda: window.banners.keys)
        assert window.view is None
        assert "disk is full" in window.banners._banners[window.banners.keys[0]].accessibleName()
        assert window.status.currentMessage() == ""

    in_window(use, opener)


def test_closing_a_vault_while_its_endpoint_opens_reports_nothing(in_window, wait_until, vault: Path) -> None:
    is_opening, may_open, has_ended = threading.Event(), threading.Event(), threading.Event()

    class SlowEndpoint:
        async def begin(self) -> str:
            is_opening.set()
            try:
                await asyncio.to_thread(may_open.wait)
                return "The address is taken."
            finally:
                has_ended.set()

    async def opener(root: Path, settings: Settings, approver: object, read_only: bool) -> VaultService:
        opened = await open_vault(root, settings, approver, read_only)  # type: ignore[arg-type]
        opened._workspace.endpoints = SlowEndpoint()  # type: ignore[assignment]
        return opened

    async def use(window: MainWindow) -> None:
        window.open_folder(vault)
        await wait_until(is_opening.is_set)
        window.menu.run("close-vault")
        await wait_until(lambda: window.view is None)
        may_open.set()
        await wait_until(lambda: has_ended.is_set() and not running_tasks())
        assert not window.banners.keys

    in_window(use, opener)


def test_a_lost_vault_shows_a_banner_and_everything_stays(in_window, wait_until, vault: Path) -> None:
    async def use(window: MainWindow) -> None:
        window.open_folder(vault)
        await wait_until(lambda: window.view is not None)
        window.navigation.open("One.md")
        await wait_until(lambda: notes_of(window))
        client = window.session.client
        await in_workspace(client, lambda w: w.events.publish(VaultLost()))
        await wait_until(lambda: "lost" in window.banners.keys)
        assert window.view is not None and len(notes_of(window)) == 1
        await in_workspace(client, lambda w: w.events.publish(VaultFound()))
        await wait_until(lambda: "lost" not in window.banners.keys)

    in_window(use)


def drop(window: QWidget, over: QWidget, folder: Path) -> bool:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(folder))])
    copy, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    left = Qt.MouseButton.LeftButton
    enter = QDragEnterEvent(QPoint(5, 5), copy, data, left, none)
    QApplication.sendEvent(over, enter)
    event = QDropEvent(QPointF(5, 5), copy, data, left, none)
    QApplication.sendEvent(over, event)
    return enter.isAccepted() and event.isAccepted()


def test_a_folder_dropped_anywhere_opens_it(in_window, wait_until, vault: Path, tmp_path: Path) -> None:
    other = tmp_path / "Other"
    other.mkdir()
    (other / "A.md").write_text("a")

    async def use(window: MainWindow) -> None:
        assert drop(window, window, vault)
        await wait_until(lambda: window.view is not None)
        tree = window.view.page.panel("files").tree
        assert drop(window, tree.viewport() if tree.viewport().acceptDrops() else tree, other)
        await wait_until(lambda: window.windowTitle().startswith("Other"))
        assert (vault / "One.md").exists()

    in_window(use)


def test_panels_are_connected_to_each_other(in_window, wait_until, vault: Path) -> None:
    async def use(window: MainWindow) -> None:
        window.open_folder(vault)
        await wait_until(lambda: window.status.scan.isHidden() and "4" in window.status.counts.text())
        page = window.view.page
        page.panel("tags").search_requested.emit("tag:tag")
        assert page.side.currentWidget() is page.panel("search")
        await wait_until(lambda: page.panel("search").model.rows)
        page.panel("search").open_requested.emit("Two.md", "line=3")
        await wait_until(lambda: notes_of(window) and notes_of(window)[0].path == "Two.md")
        files = page.panel("files")
        await wait_until(lambda: files.model.path_at(files.tree.currentIndex()) == ("Two.md", False))

    in_window(use)


def test_the_palette_goes_to_a_note_and_does_a_command(in_window, wait_until, vault: Path) -> None:
    async def use(window: MainWindow) -> None:
        window.open_folder(vault)
        await wait_until(lambda: "4" in window.status.counts.text())
        palette = window.palette_controller._palette
        window.menu.run("go-note")
        await wait_until(lambda: palette.list.model().rowCount() == 4)
        palette.field.setText("four")
        await wait_until(lambda: palette.list.model().rowCount() == 1)
        palette._choose(palette.list.model().index(0, 0))
        await wait_until(lambda: notes_of(window) and notes_of(window)[0].path == "Sub/Four.md")
        window.menu.run("commands")
        await wait_until(lambda: palette.list.model().rowCount() > 20)
        palette.field.setText("theme dark")
        await wait_until(lambda: palette.list.model().rowCount() == 1)
        palette._choose(palette.list.model().index(0, 0))
        assert window.theme.name == "dark" and load_settings().general.theme == "dark"

    in_window(use)


def test_a_saved_search_is_in_the_palette(in_window, wait_until, vault: Path) -> None:
    async def use(window: MainWindow) -> None:
        window.open_folder(vault)
        await wait_until(lambda: window.status.scan.isHidden() and "4" in window.status.counts.text())
        await in_workspace(window.session.client, lambda w: w.searches.save("Below", "path:Sub"))
        palette, page = window.palette_controller._palette, window.view.page
        window.menu.run("commands")
        await wait_until(lambda: palette.list.model().rowCount() > 20)
        palette.field.setText("Below")
        await wait_until(lambda: palette.list.model().rowCount() == 1)
        palette._choose(palette.list.model().index(0, 0))
        search = page.panel("search")
        await wait_until(lambda: {row.hit.path.text for row in search.model.rows} == {"Sub/Four.md"})
        assert page.side.currentWidget() is search

    in_window(use)


def test_the_lock_shows_auto_approvals_and_revokes_them(in_window, wait_until, vault: Path) -> None:
    async def use(window: MainWindow) -> None:
        window.open_folder(vault)
        await wait_until(lambda: window.view is not None)
        offer = GrantOffer("edits in Sub", Operation.UPDATE, folder="Sub", always=True)
        await in_workspace(window.session.client, lambda w: w.grants.add(offer))
        await wait_until(lambda: window.status.lock_button.text() == "1")
        window.menu.run("grants")
        await wait_until(lambda: sheets() and "Revoke" in buttons())
        press("Revoke")
        await wait_until(lambda: window.status.lock_button.text() == "")
        press("Done")
        await wait_until(lambda: not sheets())

    in_window(use)


def test_zoom_and_theme_are_settings(in_window) -> None:
    async def use(window: MainWindow) -> None:
        window.menu.run("zoom-in")
        assert load_settings().general.zoom == 1.1
        for _ in range(30):
            window.menu.run("zoom-in")
        assert load_settings().general.zoom == 2.5
        window.menu.run("zoom-reset")
        window.menu.run("theme-high-contrast")
        general = load_settings().general
        assert (general.zoom, general.theme) == (1.0, "high-contrast")

    in_window(use)


def test_settings_that_cannot_be_saved_are_unchanged(in_window, monkeypatch) -> None:
    def fail(settings: Settings) -> None:
        raise OSError("The disk is full")

    async def use(window: MainWindow) -> None:
        window.change_general(theme="light")
        monkeypatch.setattr("app.desktop.main_window.save_settings", fail)
        window.menu.by_id["theme-dark"].setChecked(True)
        with pytest.raises(OSError, match="The disk is full"):
            window.change_general(theme="dark")
        assert window.theme.name == "light" == window.settings.general.theme
        assert window.menu.by_id["theme-light"].isChecked()
        assert not window.menu.by_id["theme-dark"].isChecked()

    in_window(use)


def test_the_scan_can_be_stopped(in_window, wait_until, vault: Path, monkeypatch) -> None:
    async def endless(service: VaultService, progress: Callable[[ScanProgress], None]) -> None:
        progress(ScanProgress(5, 10, "read"))
        await asyncio.Event().wait()

    async def use(window: MainWindow) -> None:
        monkeypatch.setattr(VaultService, "start_scan", endless)
        status = window.status
        assert await window.session.open(vault, confirmed=True)
        await wait_until(lambda: status.scan.isVisible() and "5 / 10" in status.scan.label.text())
        scan = window.session._scan
        status.scan.cancel_button.click()
        await wait_until(lambda: scan.cancelled() and not status.scan.isVisible())

    in_window(use)


def test_every_panel_has_an_id_of_its_own() -> None:
    assert len({spec.id for spec in PANELS}) == len(PANELS)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.id)
def test_the_target_of_every_command_takes_the_window_and_its_argument(command) -> None:
    window, argument = object(), [command.argument] if command.argument else []
    inspect.signature(resolve(command.target)).bind(window, *argument)


@pytest.mark.parametrize("spec", PANELS, ids=lambda spec: spec.id)
def test_every_panel_is_created_by_its_target_and_connected_with_its_context(spec) -> None:
    inspect.signature(resolve(spec.target)).bind("client", "theme", "parent")
    connect = resolve(spec.connect)
    inspect.signature(connect).bind("panel", "context")
    is_default = connect.__name__ == "connect_links"
    assert is_default or connect.__module__ == module_of(spec.target), "a feature connects its own panel"


@pytest.mark.parametrize(
    ("done", "total", "seconds", "text"),
    [(0, 10, 5, ""), (5, 10, 1, ""), (5, 10, 10, "10 s"), (1, 100, 10, "16 min"), (10, 10, 9, "")],
)
def test_time_left(done: int, total: int, seconds: float, text: str) -> None:
    assert time_left(done, total, seconds) == text


def test_navigation_forgets_what_was_gone_back_from() -> None:
    navigation = Navigation()
    visited: list[str] = []
    navigation.open_requested.connect(lambda path, fragment: visited.append(path))
    for path in ("a", "b", "c"):
        navigation.open(path)
    navigation.back()
    navigation.back()
    navigation.open("d")
    assert visited == ["a", "b", "c", "b", "a", "d"] and not navigation.can_go_forward
    navigation.rename_path("a", "z")
    navigation.back()
    assert visited[-1] == "z" and not navigation.can_go_back


@pytest.mark.parametrize("text", ["{", "[]", '{"geometry": 3, "layout": []}'])
def test_a_damaged_memory_of_the_window_counts_as_empty(tmp_path: Path, text: str) -> None:
    (tmp_path / "window.json").write_text(text)
    state = WindowState(tmp_path / "window.json")
    assert state.text("geometry") == "" and state.mapping("layout") == {}


def test_the_watchdog_reports_a_stall_and_its_stack(gui) -> None:
    async def main() -> watchdog.StallStats:
        stall_watchdog = watchdog.Watchdog()
        await asyncio.sleep(0.05)
        threading.Event().wait(0.15)
        await asyncio.sleep(0.02)
        return stall_watchdog.stop()

    stats = gui(main())
    assert stats.longest >= 100 and stats.over_8ms >= 1
    assert "main" in stats.stack and "longest stall" in str(stats)


def test_garbage_is_collected_in_the_windows_thread_only(gui) -> None:
    import gc

    async def main() -> bool:
        scheduler = GcScheduler()
        is_enabled = gc.isenabled()
        scheduler.stop()
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        scheduler._last_full_collection = float("-inf")
        application.applicationStateChanged.emit(Qt.ApplicationState.ApplicationInactive)
        assert not scheduler._idle_timer.isActive()
        return is_enabled

    assert gui(main()) is False and gc.isenabled()
    gc.disable()


def test_the_status_line_without_a_vault(qtbot) -> None:
    status = StatusBar(ThemeSource("light"))
    qtbot.addWidget(status)
    assert status.counts.text() == "No vault open" and status.lock_button.isHidden()


@pytest.mark.skipif(sys.platform == "win32", reason="a polite kill is a signal of Unix")
def test_the_whole_app_opens_a_vault_and_ends_politely(vault: Path) -> None:
    app = subprocess.Popen(
        [sys.executable, "-m", "app", str(vault)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    while WindowState.of_window().text("vault") != str(vault) and app.poll() is None:
        time.sleep(0.05)
    app.send_signal(signal.SIGTERM)
    output, _ = app.communicate()
    assert app.returncode == 0, output
    assert "Traceback" not in output
    assert WindowState.of_window().text("vault") == str(vault), "the next start opens it again"


def test_what_the_agent_used_is_summed_for_the_session() -> None:
    usage = UsageTotal()
    model = Settings(
        model=ModelSettings(model="gpt-4.1-mini"), agent=AgentSettings(answering=AnswerByModel())
    )
    assert usage.describe(Settings()) == "" and usage.describe(model) == "gpt-4.1-mini"
    usage.add(Usage(requests=1, input_tokens=100, cost=0.001))
    assert usage.describe(model) == "gpt-4.1-mini · 100 tokens · <$0.01"
    usage.add(Usage(requests=1, input_tokens=800, output_tokens=100, cost=0.249))
    assert usage.describe(model) == "gpt-4.1-mini · 1,000 tokens · $0.25"
    usage.add(Usage(requests=1, input_tokens=5))
    assert usage.describe(model) == "gpt-4.1-mini · 1,005 tokens · $0.25+"


def test_embedding_shows_its_progress_and_can_be_paused(qtbot) -> None:
    status = StatusBar(ThemeSource("dark"))
    qtbot.addWidget(status)
    status.embedding.show_embedding(EmbeddingProgressed(3, 10))
    assert "3 / 10" in status.embedding.label.text() and not status.embedding.isHidden()
    with qtbot.waitSignal(status.pause_embedding_requested):
        status.embedding.cancel_button.click()
    status.embedding.show_embedding(EmbeddingProgressed(3, 10, ThrottleState("paused", "user")))
    assert status.embedding.label.text() == "Indexing for semantic search 3 / 10 · paused"
    with qtbot.waitSignal(status.resume_embedding_requested):
        status.embedding.cancel_button.click()
    status.embedding.show_embedding(EmbeddingProgressed(4, 10, ThrottleState("slow", "battery")))
    assert status.embedding.label.text() == "Indexing for semantic search 4 / 10 · throttled, on battery"
    status.embedding.show_embedding(EmbeddingProgressed(10, 10))
    assert status.embedding.isHidden()
