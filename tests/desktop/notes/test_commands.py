"""The commands on notes in the menus."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from app.desktop.bridge import ServiceThread
from app.desktop.notes.commands import NoteCommands
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from tests.desktop.whole_vault import whole_vault

NOTES = {"Tea.md": "t", "Books/Tea.md": "b", "Kyoto.md": "k"}


def test_a_copied_link_resolves_to_its_note_only(
    gui, service: ServiceThread, tmp_path: Path, qtbot, wait_until
) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path / "vault", service, NOTES) as vault:
            window = QWidget()
            qtbot.addWidget(window)
            commands = NoteCommands(vault.client, ThemeSource("light"), window)
            for path, link in (("Kyoto.md", "[[Kyoto]]"), ("Books/Tea.md", "[[Books/Tea]]")):
                commands.run_command("copy-link", path)
                await wait_until(lambda link=link: QGuiApplication.clipboard().text() == link)
            prompts: list[str] = []
            commands.ask_requested.connect(prompts.append)
            commands.run_command("related", "Books/Tea.md")
            await wait_until(lambda: prompts == ["Find notes related to [[Books/Tea]]"])

    gui(main())


def test_creating_a_note_needs_no_approval_and_a_taken_name_offers_the_note(
    gui, service: ServiceThread, tmp_path: Path, qtbot, wait_until
) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path / "vault", service, NOTES) as vault:
            window = QWidget()
            qtbot.addWidget(window)
            commands = NoteCommands(vault.client, ThemeSource("light"), window)
            created_paths: list[str] = []
            opened: list[str] = []
            commands.created.connect(created_paths.append)
            commands.open_requested.connect(lambda path, _: opened.append(path))
            await commands.create_note("Osaka", "Books")
            assert created_paths == ["Books/Osaka.md"]
            assert (tmp_path / "vault/Books/Osaka.md").read_text() == "# Osaka\n"
            entry = (await vault.run(lambda ws: ws.audit.entries()))[0]
            assert (entry.tool, entry.caller_kind) == ("save", "user") and entry.commit is not None

            asking = asyncio.get_running_loop().create_task(commands.create_note("kyoto"))
            await wait_until(lambda: bool(window.findChildren(dialogs.SheetDialog)))
            (sheet,) = window.findChildren(dialogs.SheetDialog)
            next(b for b in sheet.findChildren(QPushButton) if b.text() == "Open").click()
            await asking
            assert opened == ["Kyoto.md"] and created_paths == ["Books/Osaka.md"]
            assert (tmp_path / "vault/Kyoto.md").read_text() == "k"

    gui(main())


def test_an_invalid_name_is_explained_in_the_dialog(
    gui, service: ServiceThread, tmp_path: Path, qtbot, wait_until
) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path / "vault", service, NOTES) as vault:
            window = QWidget()
            qtbot.addWidget(window)
            commands = NoteCommands(vault.client, ThemeSource("light"), window)
            created_paths: list[str] = []
            commands.created.connect(created_paths.append)

            def field() -> QLineEdit:
                (sheet,) = window.findChildren(dialogs.SheetDialog)
                return sheet.findChild(QLineEdit)

            for name in ("Plan: 2027", "../Osaka"):
                asking = asyncio.get_running_loop().create_task(commands.create_note(name))
                await wait_until(lambda: bool(window.findChildren(dialogs.SheetDialog)))
                (sheet,) = window.findChildren(dialogs.SheetDialog)
                assert field().text() == name
                field().setText(f"{name} ")
                assert field().accessibleDescription()
                done = next(b for b in sheet.findChildren(QPushButton) if b.text() == "Create")
                assert not done.isEnabled()
                field().setText("Plan 2027" if "Plan" in name else "Osaka")
                assert done.isEnabled() and not field().accessibleDescription()
                done.click()
                await asking
                await wait_until(lambda: not window.findChildren(dialogs.SheetDialog))
            assert created_paths == ["Plan 2027.md", "Osaka.md"]
            assert not (tmp_path / "Osaka.md").exists()

    gui(main())
