"""The connection page over a real vault with its local server, and programs that call it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import httpx
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QPushButton

from app.desktop.activity.item import ActivityStatus
from app.desktop.activity.model import ActivityModel
from app.desktop.bridge import ServiceThread
from app.desktop.connections.dialogs import NewProgramDialog, SetUpDialog
from app.desktop.connections.panel import ConnectionsPanel
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.dialogs import SheetDialog
from app.errors import NotFoundError
from app.permissions.approval import Denied
from app.settings import CallerProfile, Settings
from tests.desktop.whole_vault import WholeVault, whole_vault

NOTES = {
    "Tea.md": "Hot water and leaves.\n",
    "Work/Plan.md": "Write the plan.\n",
    "Work/Deep/Idea.md": "An idea.\n",
}
S = TypeVar("S", bound=QDialog)


class ConnectionsPage:
    """The panel of an open vault, with settings that take effect like in the window."""

    def __init__(self, vault: WholeVault, panel: ConnectionsPanel) -> None:
        self.vault, self.panel = vault, panel
        self.settings = vault.workspace.settings
        self.pending_changes: set[asyncio.Task[None]] = set()
        self.feed = ActivityModel()
        vault.client.events.batch.connect(self.feed.handle_events)
        panel.set_feed(self.feed)
        panel.settings_change_requested.connect(self._change)

    def _change(self, change) -> None:
        self.settings = changed = change(self.settings)
        task = asyncio.ensure_future(self.vault.run(lambda ws: ws.apply_settings(changed)))
        self.pending_changes.add(task)
        task.add_done_callback(self.pending_changes.discard)

    def profile(self, name: str) -> CallerProfile | None:
        profiles = [profile for profile in self.settings.permissions.callers if profile.caller == name]
        return profiles[0] if profiles else None

    async def call(self, token: str, tool: str, arguments: dict[str, object]) -> httpx.Response:
        assert self.panel.overview is not None
        address = self.panel.overview.server.address
        async with httpx.AsyncClient(base_url=address, trust_env=False) as client:
            return await client.post(
                f"/api/v1/tools/{tool}",
                json=arguments,
                headers={"Authorization": f"Bearer {token}", "User-Agent": "reader/1.0"},
                timeout=20,
            )


@asynccontextmanager
async def opened(
    root: Path, service: ServiceThread, wait_until, *, listens: bool = True
) -> AsyncIterator[ConnectionsPage]:
    async with whole_vault(root, service, NOTES) as vault:
        if listens:
            await vault.run(lambda workspace: workspace.endpoints.begin())
        panel = ConnectionsPanel(vault.client, ThemeSource("light"))
        page = ConnectionsPage(vault, panel)
        panel.resize(1100, 500)
        panel.show()
        await wait_until(lambda: panel.overview is not None)
        yield page
        panel.close()
        await wait_until(lambda: not page.pending_changes)


def sheet(kind: type[S]) -> S | None:
    widgets = QApplication.topLevelWidgets()
    return next((widget for widget in widgets if isinstance(widget, kind) and widget.isVisible()), None)


def press(text: str) -> None:
    """Press the button `text` of the open dialog."""
    dialog = sheet(SheetDialog)
    assert dialog is not None
    next(button for button in dialog.findChildren(QPushButton) if button.text() == text).click()


async def added(page: ConnectionsPage, wait_until, target: str, transport: str, name: str) -> str:
    """Connect a program with the dialogs and return its token."""
    page.panel.add_button.click()
    await wait_until(lambda: sheet(NewProgramDialog))
    dialog = sheet(NewProgramDialog)
    assert dialog is not None
    ids = [dialog.target_box.itemData(row).id for row in range(dialog.target_box.count())]
    dialog.target_box.setCurrentIndex(ids.index(target))
    dialog.transport_box.setCurrentIndex(dialog.transport_box.findData(transport))
    dialog.name.setText(name)
    dialog.connect_button.click()
    await wait_until(lambda: sheet(SetUpDialog))
    setup = sheet(SetUpDialog)
    assert setup is not None
    token = setup.token.text()
    setup.view.copy_button.click()
    setup.accept()
    panel = page.panel
    await wait_until(lambda: sheet(SetUpDialog) is None and panel.selected and panel.selected.name == name)
    return token


def test_an_error_stays_when_an_earlier_operation_ends(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until, listens=False) as page:
            panel, resumed = page.panel, asyncio.Event()

            async def succeed_later(vault) -> str:
                await resumed.wait()
                return "done"

            async def fail(vault) -> str:
                raise NotFoundError("There is no such program.")

            earlier = asyncio.ensure_future(panel._run_or_show_error(succeed_later))
            await asyncio.sleep(0)
            assert await panel._run_or_show_error(fail) is None
            await page.vault.run(lambda workspace: resumed.set())
            assert await earlier == "done"
            assert panel.notice.isVisible() and panel.notice.text() == "There is no such program."

    gui(main())


def test_a_program_is_connected_named_and_authorized(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as page:
            panel = page.panel
            assert panel.empty.isVisible() and panel.overview.server.address in panel.bar.status.text()
            token = await added(page, wait_until, "curl", "http", "Shell")
            assert token.startswith("scriptorium_") and token in QApplication.clipboard().text()
            await wait_until(lambda: panel.bar.http_api.isChecked())
            assert panel.selected.name == "Shell" and panel.selected.token_created is not None
            assert token not in panel.page.configuration.text.toPlainText(), "it is shown once"
            answer = await page.call(token, "read_note", {"name": "Tea"})
            assert answer.status_code == 200
            await wait_until(lambda: panel.selected.sessions and "reader/1.0" in panel.page.facts.text())
            await wait_until(
                lambda: [item.status for item in panel.page.calls.calls] == [ActivityStatus.COMPLETED]
            )
            (call,) = panel.page.calls.calls
            entries: list[int] = []
            panel.entry_requested.connect(entries.append)
            await wait_until(lambda: panel.page.calls.entry_button.isEnabled())
            panel.page.calls.entry_button.click()
            entry = await page.vault.run(lambda ws: ws.audit.entry(entries[0]))
            assert entry.caller == "Shell" and entry.tool == "read_note" == call.name
            await added(page, wait_until, "claude-desktop", "stdio", "Claude Desktop")
            assert '"--name",\n' in QApplication.clipboard().text() and panel.selected.token_created is None
            assert [item.name for item in panel.overview.programs] == ["Claude Desktop", "Shell"]

    gui(main())


def test_a_program_that_is_connected_before_the_server_listens_gets_its_address(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until, listens=False) as page:
            assert page.panel.overview is not None and not page.panel.overview.server.address
            await added(page, wait_until, "curl", "http", "Shell")
            copied = QApplication.clipboard().text()
            assert "http://127.0.0.1:" in copied and copied.endswith("/api/v1/tools"), copied

    gui(main())


def test_permissions_of_a_program_are_set_here_and_enforced(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as page:
            panel, editor = page.panel, page.panel.page.permissions
            token = await added(page, wait_until, "curl", "http", "Shell")
            editor.read_only.click()
            editor.folder.setText("Work/")
            QTest.keyClick(editor.folder, Qt.Key.Key_Return)
            editor.selected_categories.click()
            for category_id, box in editor.boxes.items():
                box.setChecked(category_id in ("notes", "search"))
            editor.boxes["search"].click()
            editor.boxes["notes"].click()
            assert "at least one" in editor.problem.text(), "no category would mean every one"
            editor.boxes["notes"].click()
            editor.tools.setText("read_*, no_such_tool")
            editor.tools.editingFinished.emit()
            assert "no_such_tool" in editor.problem.text() and not page.profile("Shell").tools
            editor.tools.setText("read_*, delete_note")
            editor.tools.editingFinished.emit()
            expected = CallerProfile(
                caller="Shell",
                categories=("notes",),
                tools=("read_*", "delete_note"),
                folders=("Work",),
                read_only=True,
            )
            assert page.profile("Shell") == expected
            await wait_until(lambda: not page.pending_changes and panel.selected.profile == expected)
            item = panel.table.currentItem()
            assert item is not None and "Read-only" in item.text(2) and "in Work" in item.text(2)
            assert (await page.call(token, "read_note", {"name": "Plan"})).status_code == 200
            for tool, arguments in (
                ("read_note", {"name": "Tea"}),
                ("delete_note", {"name": "Plan"}),
                ("search_notes", {"query": "tea"}),
            ):
                assert (await page.call(token, tool, arguments)).status_code in (403, 404), tool
            assert not page.vault.asked and (tmp_path / "Work/Plan.md").exists()
            editor.remove_folder()
            editor.all_categories.click()
            editor.tools.clear()
            editor.tools.editingFinished.emit()
            editor.read_only.click()
            assert page.profile("Shell") == CallerProfile(caller="Shell")

    gui(main())


def test_a_call_that_asks_is_seen_live_and_ends_with_the_token(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as page:
            panel = page.panel
            token = await added(page, wait_until, "curl", "http", "Shell")
            page.vault.answers_itself = False
            reviewed: list[str] = []
            panel.review_requested.connect(reviewed.append)
            calling = asyncio.ensure_future(page.call(token, "delete_note", {"name": "Tea"}))
            await wait_until(
                lambda: [item.status for item in panel.page.calls.calls] == [ActivityStatus.PENDING]
            )
            await wait_until(lambda: "1 call in progress" in panel.page.state.text())
            panel.page.calls.review_button.click()
            (question,) = page.vault.asked
            assert reviewed == [question.request.id]
            caller = question.request.caller
            assert caller.name == "Shell" and caller.says == "reader/1.0"
            panel.page.renew_button.click()
            await wait_until(lambda: sheet(SheetDialog))
            press("Renew token")
            await wait_until(lambda: sheet(SetUpDialog))
            setup = sheet(SetUpDialog)
            assert setup is not None and setup.token.text() != token
            new_token = setup.token.text()
            setup.accept()
            await wait_until(lambda: question.is_answered)
            assert (await calling).status_code >= 400, "what the old token asked for is withdrawn"
            question.answer(Denied())
            assert (await page.call(token, "read_note", {"name": "Tea"})).status_code == 401
            assert (await page.call(new_token, "read_note", {"name": "Tea"})).status_code == 200
            await wait_until(lambda: sheet(SetUpDialog) is None)
            panel.page.remove_button.click()
            await wait_until(lambda: sheet(SheetDialog))
            press("Remove")
            await wait_until(lambda: page.profile("Shell") is None)
            assert (await page.call(new_token, "read_note", {"name": "Tea"})).status_code == 401
            assert (tmp_path / "Tea.md").exists()

    gui(main())


def test_a_name_that_is_taken_is_asked_again_and_read_only_vaults_say_so(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as page:
            await added(page, wait_until, "cursor", "http", "Cursor")
            page.panel.add_button.click()
            await wait_until(lambda: sheet(NewProgramDialog))
            dialog = sheet(NewProgramDialog)
            assert dialog is not None
            dialog.transport_box.setCurrentIndex(0)
            dialog.target_box.setCurrentIndex(2)
            dialog.transport_box.setCurrentIndex(dialog.transport_box.findData("http"))
            dialog.name.setText("cursor")
            dialog.connect_button.click()
            await wait_until(
                lambda: (second_dialog := sheet(NewProgramDialog)) is not None and second_dialog is not dialog
            )
            second_dialog = sheet(NewProgramDialog)
            assert (
                second_dialog is not None
                and "already" in second_dialog.problem.text()
                and second_dialog.name.text() == "cursor"
            )
            second_dialog.reject()
            await wait_until(lambda: sheet(NewProgramDialog) is None)
            page.panel.bar.mcp.click()
            assert not page.settings.servers.mcp
            await wait_until(lambda: "MCP and the HTTP API are off" in page.panel.bar.status.text())

    gui(main())


def test_settings_of_others_stay_as_they_are() -> None:
    from app.desktop.connections import queries

    other, own = CallerProfile(caller="mcp", read_only=True), CallerProfile(caller="Shell")
    settings = Settings()
    settings.permissions.callers = (other, own)
    assert set(queries.named_profiles(settings)) == {"Shell"}
    changed = queries.with_profile(settings, CallerProfile(caller="Shell", read_only=True))
    assert changed.permissions.callers == (other, CallerProfile(caller="Shell", read_only=True))
    assert queries.without_profile(changed, "Shell").permissions.callers == (other,)
    assert settings.permissions.callers == (other, own)
