"""Changing a source in the panel, over a real vault."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from app.desktop.bridge import ServiceThread
from app.desktop.runtime import tasks
from app.desktop.sources.edit_dialog import SourceDialog
from app.desktop.sources.panel import SourcesPanel
from app.desktop.sources.rules_editor import RulesEditor
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.sources.config import FeedConfig, FolderConfig, VaultStreamConfig
from tests.desktop.whole_vault import whole_vault
from tests.support.open_sheets import sheets


def open_sheet() -> SourceDialog | None:
    dialogs = [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, SourceDialog)]
    return next((widget for widget in dialogs if widget.isVisible()), None)


def test_a_feeds_interval_and_a_streams_globs_are_changed(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    feed = FeedConfig(id="feed-1", name="News", url="https://example.org/feed", paused=True)
    stream = VaultStreamConfig(id="vault-1", name="This vault")

    async def main() -> None:
        async with whole_vault(tmp_path, service, {"Tea.md": "Hot.\n"}) as vault:
            for config in (feed, stream):
                await vault.run(lambda workspace, config=config: workspace.sources.add(config))
            panel = SourcesPanel(vault.client, ThemeSource("light"))
            panel.resize(900, 400)
            panel.show()
            await wait_until(lambda: len(panel.sources) == 2)
            panel.choose("feed-1")
            panel.details.edit_button.click()
            await wait_until(open_sheet)
            sheet = open_sheet()
            assert sheet is not None and sheet.minutes is not None and sheet.address is not None
            sheet.name.setText("  ")
            sheet.save_button.click()
            assert sheet.problem.isVisible() and sheet.problem.text() == "“Name” is required."
            sheet.name.setText("Daily")
            sheet.minutes.setValue(30)
            sheet.address.setText("file:///etc/passwd")
            sheet.save_button.click()
            await wait_until(lambda: (other := open_sheet()) is not None and other is not sheet)
            sheet = open_sheet()
            assert sheet is not None and sheet.address is not None and sheet.problem.text()
            assert sheet.name.text() == "Daily", "what was typed is still there"
            sheet.address.setText("https://example.org/daily")
            sheet.save_button.click()
            await wait_until(lambda: panel.selected is not None and panel.selected.name == "Daily")
            assert panel.selected is not None and panel.selected.config == feed.model_copy(
                update={"name": "Daily", "minutes": 30, "url": "https://example.org/daily"}
            )
            await wait_until(lambda: open_sheet() is None)
            panel.choose("vault-1")
            panel.details.edit_button.click()
            await wait_until(open_sheet)
            sheet = open_sheet()
            assert sheet is not None and sheet.globs is not None and sheet.address is None
            sheet.globs.setPlainText("Projects/**\n\n Tea.md \nProjects/**\n")
            sheet.save_button.click()
            await wait_until(lambda: "Projects/**, Tea.md" in panel.details.summary.text())
            saved = await vault.run(lambda workspace: workspace.sources.get("vault-1").config)
            assert isinstance(saved, VaultStreamConfig) and saved.globs == ("Projects/**", "Tea.md")
            panel.close()

    gui(main())


def test_all_patterns_are_kept(qtbot: QtBot) -> None:
    config = VaultStreamConfig(id="vault-1", name="This vault")
    dialog = SourceDialog(config, ThemeSource("light"), None)
    qtbot.addWidget(dialog)
    patterns = tuple(f"Folder {number}/**" for number in range(150))
    assert dialog.globs is not None
    dialog.globs.setPlainText("\n".join(patterns))
    dialog.save_button.click()
    assert isinstance(dialog.config, VaultStreamConfig) and dialog.config.globs == patterns


@pytest.mark.parametrize("address", ["http://[", "https://example.org/" + "a" * 4000])
def test_a_feed_with_an_invalid_address_is_not_accepted(
    gui, service: ServiceThread, wait_until, tmp_path: Path, address: str
) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, {"Tea.md": "Hot.\n"}) as vault:
            panel = SourcesPanel(vault.client, ThemeSource("light"))
            panel.show()
            following = tasks.start(panel._follow_feed())
            await wait_until(sheets)
            (prompt,) = sheets()
            field = prompt.findChild(QLineEdit)
            (accept,) = [one for one in prompt.findChildren(QPushButton) if one.text() == "Follow"]
            assert field is not None
            field.setText(address)
            assert "malformed or too long" in field.accessibleDescription() and not accept.isEnabled()
            prompt.reject()
            await following
            panel.close()

    gui(main())


def test_an_error_stays_when_an_earlier_operation_ends(
    gui, service: ServiceThread, wait_until, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = tmp_path / "Desk"
    desk.mkdir()
    config = FolderConfig(id="files-1", name="Desk", folder=str(desk))

    async def main() -> None:
        async with whole_vault(tmp_path / "vault", service, {"Tea.md": "Hot.\n"}) as vault:
            sources, resumed = vault.workspace.sources, asyncio.Event()
            await vault.run(lambda workspace: workspace.sources.add(config))
            stop = sources._stop

            async def stop_later(source_id: str) -> None:
                await resumed.wait()
                await stop(source_id)

            monkeypatch.setattr(sources, "_stop", stop_later)
            panel = SourcesPanel(vault.client, ThemeSource("light"))
            panel.show()
            await wait_until(lambda: panel.selected is not None)
            pausing = asyncio.ensure_future(
                panel._run_or_show_error(lambda notes: notes.sources.set_paused(config.id, True))
            )
            while not await vault.run(lambda workspace: workspace.sources.get(config.id).config.paused):
                pass
            await panel._add(config.model_copy(update={"id": "again"}))
            assert panel.notice.isVisible() and "already" in panel.notice.text()
            await vault.run(lambda workspace: resumed.set())
            assert await pausing
            assert panel.notice.isVisible() and "already" in panel.notice.text()
            assert await panel._run_or_show_error(lambda notes: notes.sources.remove(config.id))
            assert not panel.notice.isVisible()
            panel.close()

    gui(main())


def test_a_folder_with_a_long_name_is_added(
    gui, service: ServiceThread, wait_until, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("n" * 220)
    folder.mkdir()

    async def pick(*_: object) -> Path:
        return folder

    async def main() -> None:
        async with whole_vault(tmp_path / "vault", service, {"Tea.md": "Hot.\n"}) as vault:
            panel = SourcesPanel(vault.client, ThemeSource("light"))
            monkeypatch.setattr(dialogs, "pick_folder", pick)
            panel.add_folder()
            await wait_until(lambda: panel.sources)
            assert panel.sources[0].name == "n" * 200
            panel.close()

    gui(main())


@pytest.mark.parametrize(("column", "limit"), [(0, 500), (2, 200)])
def test_rules_with_a_too_long_text_are_reported_and_not_saved(
    gui, wait_until, qtbot: QtBot, column: int, limit: int
) -> None:
    async def main() -> None:
        editor = RulesEditor(ThemeSource("light"))
        qtbot.addWidget(editor)
        editor.show()
        saved: list[FolderConfig] = []
        editor.saved.connect(saved.append)
        editor.show_rules(FolderConfig(id="files-1", name="Desk", folder="Desk"))
        editor.add_rule()
        editor.table.item(0, column).setText("a" * (limit + 1))
        editor.save_button.click()
        await wait_until(sheets)
        assert not saved and editor.save_button.isEnabled()
        assert editor.table.item(0, column).text() == "a" * (limit + 1)
        sheets()[0].accept()
        await wait_until(lambda: not sheets())
        editor.table.item(0, column).setText("a" * limit)
        editor.save_button.click()
        assert len(saved) == 1

    gui(main())
