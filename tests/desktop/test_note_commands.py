"""What the menus do to notes."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.desktop.bridge import Service
from app.desktop.note_commands import NoteCommands
from app.desktop.theme import ThemeSource
from tests.desktop.whole_vault import whole_vault

NOTES = {"Tea.md": "t", "Books/Tea.md": "b", "Kyoto.md": "k"}


def test_a_copied_link_means_that_note_and_no_other(
    gui, service: Service, tmp_path: Path, qtbot, wait_until
) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path / "vault", service, NOTES) as vault:
            window = QWidget()
            qtbot.addWidget(window)
            commands = NoteCommands(vault.client, ThemeSource("light"), window)
            for path, link in (("Kyoto.md", "[[Kyoto]]"), ("Books/Tea.md", "[[Books/Tea]]")):
                commands.act("copy-link", path)
                await wait_until(lambda link=link: QGuiApplication.clipboard().text() == link)
            asked: list[str] = []
            commands.ask_requested.connect(asked.append)
            commands.act("related", "Books/Tea.md")
            await wait_until(lambda: asked == ["Find notes related to [[Books/Tea]]"])

    gui(main())
