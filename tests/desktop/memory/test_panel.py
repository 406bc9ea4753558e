"""The memory panel in a window over a real vault: read, edit, history, roll back, archive, search."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel

from app.desktop.bridge import ServiceThread
from app.desktop.memory.panel import MemoryPanel
from app.desktop.memory.sharing_dialog import SharingDialog
from app.desktop.runtime import tasks
from app.desktop.theme.theme import ThemeSource
from app.errors import ConflictError
from app.memory.block import Block, BlockType, Permission
from app.memory.schema import LogSchema
from app.permissions.caller import Caller, CallerKind
from app.vault.diff import Diff
from app.workspace.service.memory import MemoryService
from tests.desktop.whole_vault import WholeVault, whole_vault
from tests.support.open_sheets import sheets

NOTES = {"Tea.md": "Hot water and leaves.\n"}


@asynccontextmanager
async def opened(
    root: Path, service: ServiceThread, wait_until
) -> AsyncIterator[tuple[WholeVault, MemoryPanel]]:
    async with whole_vault(root, service, NOTES) as vault:
        await vault.call("block", {"op": "create", "label": "plan", "content": "one\ntwo\n"})
        await vault.call("recall", {"op": "insert", "content": "The captain drinks green tea."})
        panel = MemoryPanel(vault.client, ThemeSource("light"))
        panel.resize(1000, 500)
        panel.show()
        await wait_until(lambda: panel.list.topLevelItemCount() == 3)
        panel.list.choose_block("plan")
        await wait_until(lambda: panel.page.versions.count() == 1)
        yield vault, panel
        panel.close()


def labels(panel: MemoryPanel) -> list[str]:
    groups = [panel.list.topLevelItem(row) for row in range(panel.list.topLevelItemCount())]
    return [group.child(row).text(0) for group in groups for row in range(group.childCount())]


async def saved_block(vault: WholeVault, label: str = "plan") -> Block:
    return await vault.run(lambda workspace: workspace.memory.store.block(label, "scriptorium"))


def test_blocks_and_entries_are_listed_and_found(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (_, panel):
            assert labels(panel) == [
                "human · pinned",
                "persona · pinned",
                "plan",
                "The captain drinks green tea.",
            ]
            assert panel.page.text.toPlainText() == "one\ntwo\n"
            panel.field.setText("green")
            await wait_until(lambda: labels(panel) == ["The captain drinks green tea."])
            await wait_until(lambda: panel.page.text.isReadOnly())
            assert "captain" in panel.page.text.toPlainText() and panel.page.save_button.isHidden()
            panel.field.setText("nothing of that kind")
            await wait_until(lambda: panel.empty.isVisible())
            panel.field.clear()
            await wait_until(lambda: "plan" in labels(panel))

    gui(main())


def test_an_edit_is_saved_without_a_question_and_can_be_rolled_back(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (vault, panel):
            page = panel.page
            compared: list[Diff] = []
            page.diff_view.compared.connect(compared.append)
            assert not page.save_button.isEnabled()
            page.text.setPlainText("one\nTWO\n")
            assert page.save_button.isEnabled()
            page.save_button.click()
            await wait_until(lambda: page.versions.count() == 2 and not page.save_button.isEnabled())
            assert (await saved_block(vault)).text == "one\nTWO\n" and not vault.asked
            assert "You" in page.versions.item(0).text() and "Agent" in page.versions.item(1).text()
            page.tabs.setCurrentIndex(1)
            page.versions.setCurrentRow(1)
            await wait_until(lambda: page.roll_back_button.isEnabled())
            page.roll_back_button.click()
            await wait_until(lambda: page.versions.count() == 3 and page.text.toPlainText() == "one\ntwo\n")
            assert (await saved_block(vault)).text == "one\ntwo\n"
            assert compared and not vault.asked

    gui(main())


def test_an_edit_keeps_the_line_ends_and_spaces_of_the_rest_of_the_block(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    text = "one\r\ntwo\nthree\r\nno\u00a0break\u2028four\n"

    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (vault, panel):
            await vault.call("block", {"op": "create", "label": "mixed", "content": text})
            await wait_until(lambda: "mixed" in labels(panel))
            panel.list.choose_block("mixed")
            await wait_until(lambda: panel.page.block is not None and panel.page.block.label == "mixed")
            assert not panel.page.is_edited
            panel.page.text.insertPlainText("1: ")
            assert panel.page.is_edited
            await panel.page.save()
            assert (await saved_block(vault, "mixed")).text == f"1: {text}"

    gui(main())


def test_concurrent_edits_of_agent_and_user_are_merged(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (vault, panel):
            panel.page.text.setPlainText("mine\none\ntwo\n")
            await vault.call("block_edit", {"op": "append", "label": "plan", "content": "theirs"})
            await wait_until(lambda: panel.page.versions.count() in (1, 2))
            assert panel.page.text.toPlainText() == "mine\none\ntwo\n"
            await panel.page.save()
            assert (await saved_block(vault)).text == "mine\none\ntwo\ntheirs"
            await wait_until(lambda: panel.page.text.toPlainText() == "mine\none\ntwo\ntheirs")

    gui(main())


def test_unsaved_text_survives_another_block_and_a_setting(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (vault, panel):
            page = panel.page
            page.text.setPlainText("mine\none\ntwo\n")
            panel.list.choose_block("persona")
            assert page.block is not None and page.block.label == "persona" and not page.is_edited
            panel.field.setText("green")
            await wait_until(lambda: page.text.isReadOnly())
            panel.field.clear()
            await wait_until(lambda: "plan" in labels(panel))
            await vault.call("block_edit", {"op": "append", "label": "plan", "content": "theirs"})
            panel.list.choose_block("plan")
            assert page.text.toPlainText() == "mine\none\ntwo\n" and page.save_button.isEnabled()
            for is_pinned in (True, False):
                page.pin.click()
                title = "plan · pinned" if is_pinned else "plan"
                await wait_until(lambda title=title: panel.list.currentItem().text(0) == title)
                assert (await saved_block(vault)).view_of("scriptorium").pinned == is_pinned
                assert page.text.toPlainText() == "mine\none\ntwo\n"
            await page.save()
            assert (await saved_block(vault)).text == "mine\none\ntwo\ntheirs"
            await wait_until(lambda: page.text.toPlainText() == "mine\none\ntwo\ntheirs")

    gui(main())


def test_text_typed_while_a_save_runs_is_kept_and_can_be_saved(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (vault, panel):
            page = panel.page
            page.text.setPlainText("mine\none\ntwo\n")
            save = asyncio.ensure_future(page.save())
            await asyncio.sleep(0)
            page.text.setPlainText("mine\none\ntwo\nthree\n")
            await save
            assert (await saved_block(vault)).text == "mine\none\ntwo\n"
            await wait_until(lambda: page.versions.count() == 2)
            assert page.text.toPlainText() == "mine\none\ntwo\nthree\n" and page.is_edited
            save = asyncio.ensure_future(page.save())
            await asyncio.sleep(0)
            page.text.setPlainText("mine\none\ntwo\nthree\nfour\n")
            panel.list.choose_block("persona")
            await save
            panel.list.choose_block("plan")
            assert page.text.toPlainText() == "mine\none\ntwo\nthree\nfour\n"
            await page.save()
            assert (await saved_block(vault)).text == "mine\none\ntwo\nthree\nfour\n"
            await wait_until(lambda: not page.is_edited)

    gui(main())


def test_text_typed_after_a_save_is_kept_when_the_saved_block_arrives(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (vault, panel):
            page = panel.page
            page.text.setPlainText("mine\none\ntwo\n")
            await page.save()
            assert not page.save_button.isEnabled()
            page.text.setPlainText("mine, too\none\ntwo\n")
            await wait_until(lambda: page.versions.count() == 2)
            assert page.text.toPlainText() == "mine, too\none\ntwo\n" and page.save_button.isEnabled()
            await page.save()
            assert (await saved_block(vault)).text == "mine, too\none\ntwo\n"
            await wait_until(lambda: page.versions.count() == 3)
            assert not page.is_edited

    gui(main())


def test_a_setting_that_could_not_be_changed_is_shown_unchanged(
    gui, service: ServiceThread, wait_until, tmp_path: Path, monkeypatch
) -> None:
    async def fail(*_: object) -> None:
        raise ConflictError("The block is damaged.")

    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (_, panel):
            monkeypatch.setattr(MemoryService, "save_settings", fail)
            # A reload would show the setting again, too.
            monkeypatch.setattr(panel.page, "show_block", lambda block: None)
            panel.page.pin.click()
            assert panel.page.pin.isChecked()
            await wait_until(lambda: panel.page.status.text() == "The block is damaged.")
            assert not panel.page.pin.isChecked()

    gui(main())


def test_permission_pin_new_and_delete(gui, service: ServiceThread, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (vault, panel):
            page = panel.page
            page.permission.setCurrentIndex(list(Permission).index(Permission.READ_ONLY))
            await wait_until(lambda: panel.list.currentItem().text(2) == "Read-only")
            refused = await vault.call("block_edit", {"op": "append", "label": "plan", "content": "x"})
            assert not refused.success
            page.pin.click()
            await wait_until(lambda: panel.list.currentItem().text(0) == "plan · pinned")
            assert (await saved_block(vault)).view_of("scriptorium").pinned
            await panel.create_block("fresh idea")
            assert panel.list.currentItem().text(0) == "fresh idea"
            await panel.create_block("Fresh idea")
            assert "already" in page.status.text()
            assert page.delete.isEnabled()
            await page.delete_block()
            await wait_until(lambda: "fresh idea" not in labels(panel))
            assert len(vault.asked) == 1

    gui(main())


def test_text_that_violates_the_schema_is_reported_and_kept(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (vault, panel):
            layout = {"kind": "list"}
            arguments = {"op": "create", "label": "items", "content": "- a\n", "layout": layout}
            await vault.call("block", arguments)
            await wait_until(lambda: "items" in labels(panel))
            panel.list.choose_block("items")
            panel.page.text.setPlainText("no item\n")
            await panel.page.save()
            assert "Line 1" in panel.page.status.text()
            assert panel.page.text.toPlainText() == "no item\n"
            panel.page.discard_button.click()
            assert panel.page.text.toPlainText() == "- a\n"

    gui(main())


def test_a_block_that_could_not_be_created_is_reported_when_no_block_is_shown(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (_, panel):
            panel.field.setText("nothing of that kind")
            await wait_until(lambda: panel.empty.isVisible())
            creating = tasks.start(panel.create_block("plan"))
            await wait_until(lambda: len(sheets()) == 1)
            (message,) = sheets()
            assert any("already" in label.text() for label in message.findChildren(QLabel))
            message.accept()
            await creating

    gui(main())


def test_every_control_can_be_found(gui, service: ServiceThread, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (_, panel):
            page = panel.page
            for control in (panel.list, panel.field, page.text, page.versions, page.permission):
                assert control.accessibleName() and control.focusPolicy() != Qt.FocusPolicy.NoFocus
            buttons = (page.save_button, page.discard_button, page.roll_back_button, page.delete, page.pin)
            for button in buttons:
                assert button.toolTip() and button.text()
            assert panel.new_button.toolTip()

    gui(main())


def test_only_the_format_is_left_out_if_it_is_called_like_the_type(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (_, panel):
            assert panel.page.block is not None
            block = replace(panel.page.block, type=BlockType.LOG, schema=LogSchema(), content=())
            panel.page.show_block(replace(block, description=block.owner))
            facts = panel.page._facts_label.text().split("   ·   ")
            assert facts == ["Log", "scriptorium", "scriptorium"]

    gui(main())


def open_sheet() -> SharingDialog | None:
    dialogs = [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, SharingDialog)]
    return next((widget for widget in dialogs if widget.isVisible()), None)


def test_a_block_is_shared_with_another_agent_and_unshared(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    other = Caller(CallerKind.DESKTOP_AGENT, "Agent", uses_model=False, agent="librarian")

    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (vault, panel):
            reading = {"op": "load", "label": "plan"}
            assert not (await vault.call("block", reading, other)).success
            panel.page.share.click()
            await wait_until(open_sheet)
            sheet = open_sheet()
            assert sheet is not None
            sheet.agent.setCurrentText("scriptorium")
            sheet.share_button.click()
            assert "already belongs" in sheet.problem.text() and sheet.table.rowCount() == 0
            sheet.agent.setCurrentText("librarian")
            sheet.share_button.click()
            assert not sheet.problem.isVisible()
            sheet.agent.setCurrentText("scriptorium")
            sheet.save_button.click()
            assert sheet.isVisible() and "already belongs" in sheet.problem.text()
            sheet.agent.setCurrentText("editor")
            sheet.save_button.click()
            await wait_until(lambda: "librarian" in panel.page._facts_label.text())
            assert (await vault.call("block", reading, other)).success and not vault.asked
            panel.page.share.click()
            await wait_until(lambda: (opened := open_sheet()) is not None and opened is not sheet)
            sheet = open_sheet()
            assert sheet is not None
            assert dict(sheet.shares) == {
                "editor": Permission.READ_ONLY,  # typed, but not yet in the table when it was saved
                "librarian": Permission.READ_ONLY,
            }
            sheet.remove_button.click()
            sheet.remove_button.click()
            sheet.save_button.click()
            await wait_until(lambda: "shared" not in panel.page._facts_label.text())
            assert not (await vault.call("block", reading, other)).success

    gui(main())
