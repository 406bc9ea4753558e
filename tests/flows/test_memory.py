"""The memory in the real window: found by its tab, read, edited, compared and rolled back, with authors."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.desktop.memory.panel import MemoryPanel
from app.desktop.runtime import tasks
from app.memory.block import Block
from app.permissions.caller import Caller, CallerKind
from app.vault.diff import Diff
from tests.flows.pilot import Pilot

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Agent", turn="turn-1")


def _kept(workspace) -> Block:
    return workspace.memory.store.block("plan", "scriptorium")


def _authors(panel: MemoryPanel) -> list[str]:
    """Return the authors of the versions, newest first, as listed."""
    rows = [panel.page.versions.item(row).text() for row in range(panel.page.versions.count())]
    return [row.splitlines()[0].rpartition("·")[2].strip() for row in rows]


async def choose_version(pilot: Pilot, panel: MemoryPanel, row: int) -> None:
    versions = panel.page.versions
    await pilot.click(versions.viewport(), versions.visualItemRect(versions.item(row)).center())


def test_a_block_is_read_edited_compared_rolled_back_and_says_who_wrote_it(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        pilot.page.show_bottom("memory")
        panel = pilot.panel("memory", MemoryPanel)
        page = panel.page
        made = {"op": "create", "label": "plan", "content": "Water the camellia.\nDrink tea.\n"}
        assert (await pilot.start_call("block", made, AGENT)).success
        await pilot.until(lambda: panel.list.topLevelItemCount() == 2, "the panel follows the agent")
        panel.list.choose_block("plan")
        await pilot.until(lambda: _authors(panel) == ["Agent"], "its history is read")
        assert page.text.toPlainText() == "Water the camellia.\nDrink tea.\n"

        await pilot.click(page.text.viewport())
        QTest.keyClick(page.text, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClicks(page.text, "Do not forget: ")
        QTest.keyClick(page.text, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
        await pilot.until(lambda: _authors(panel) == ["You", "Agent"], "the person's edit is a version")
        assert pilot.approvals.dialog is None, "the person is not asked about an edit of their own"

        compared: list[Diff] = []
        page.diff_view.compared.connect(compared.append)
        tabs = page.tabs.tabBar()
        await pilot.click(tabs, tabs.tabRect(1).center())
        await pilot.until(lambda: page.versions.isVisible() and not page.roll_back_button.isEnabled())
        await choose_version(pilot, panel, 1)
        await pilot.until(page.roll_back_button.isEnabled, "another version may be taken")
        assert not compared[-1].before and compared[-1].after[-1] == b"Drink tea.\n", "it is all new"
        await choose_version(pilot, panel, 0)
        await pilot.until(lambda: (compared[-1].added, compared[-1].removed) == (1, 1), "one line changed")
        await choose_version(pilot, panel, 1)
        await pilot.until(page.roll_back_button.isEnabled)
        await pilot.click(page.roll_back_button)
        await pilot.until(lambda: _authors(panel) == ["You", "You", "Agent"], "going back is a version, too")
        assert (await pilot.run(_kept)).text == "Water the camellia.\nDrink tea.\n"
        entry = await pilot.select_entry("save")
        assert entry.caller == "You"

    app_run(use)


def test_closing_asks_about_unsaved_text_of_every_block(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        pilot.page.show_bottom("memory")
        panel = pilot.panel("memory", MemoryPanel)
        made = {"op": "create", "label": "plan", "content": "one\n"}
        assert (await pilot.start_call("block", made, AGENT)).success
        await pilot.until(lambda: panel.list.topLevelItemCount() == 2, "the panel follows the agent")
        panel.list.choose_block("plan")
        panel.page.text.setPlainText("two\n")
        panel.list.choose_block("persona")
        before = panel.page.text.toPlainText()
        panel.page.text.setPlainText("Be brief.\n")
        assert pilot.window.view is not None
        for answers, may_close in ((("Cancel",), False), (("Save", "Discard"), True)):
            closing = tasks.start(pilot.window.view.confirm_close())
            for answer in answers:
                await pilot.until(lambda: pilot.sheets, "it asks")
                sheet = pilot.sheets[0]
                await pilot.press(answer, sheet)
                await pilot.until(lambda sheet=sheet: sheet not in pilot.sheets)
            assert await closing is may_close
            assert (await pilot.run(_kept)).text == ("two\n" if may_close else "one\n")
        assert panel.page.is_edited, "discarded text stays until the vault is closed"
        panel.page.text.setPlainText(before)

    app_run(use)
