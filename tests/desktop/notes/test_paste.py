"""Pasting and dropping into a real note: images, files, notes, addresses and formatted text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QImage, QTextCursor

from app.desktop.bridge import ServiceThread
from app.desktop.files.model import NOTE_MIME
from app.desktop.notes.paste import PasteHandler
from app.desktop.notes.view import NoteView
from app.desktop.theme.theme import ThemeSource
from tests.desktop.whole_vault import WholeVault, whole_vault

NOTES = {"A.md": "# A\n\nwords here\n\n```\ncode\n```\n", "Sub/B.md": "# B\n"}


@pytest.fixture
def opened(service: ServiceThread, tmp_path: Path, qtbot) -> Callable:
    @asynccontextmanager
    async def make() -> AsyncIterator[tuple[WholeVault, NoteView]]:
        async with whole_vault(tmp_path / "vault", service, NOTES) as vault:
            vault.workspace.settings.editor.image_name = "Pasted in {{title}}"
            view = NoteView(vault.client, ThemeSource("light"))
            qtbot.addWidget(view)
            view.show()
            await view.open("A.md")
            view.editor.moveCursor(QTextCursor.MoveOperation.End)
            yield vault, view
            view.document.discard_changes()

    return make


def picture(color: int) -> QMimeData:
    image = QImage(8, 8, QImage.Format.Format_RGB32)
    image.fill(color)
    data = QMimeData()
    data.setImageData(image)
    return data


def select(view: NoteView, words: str) -> None:
    cursor = view.editor.textCursor()
    cursor.setPosition(view.editor.text().index(words))
    cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, len(words))
    view.editor.setTextCursor(cursor)


def test_images_become_attachments_of_their_own(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened() as (vault, view):
            view.editor.insertFromMimeData(picture(0xFF0000))
            # Text typed before the image is written goes to its own position.
            cursor = QTextCursor(view.editor.document())
            cursor.insertText("typed meanwhile\n")
            await wait_until(lambda: "![[Pasted in A.png]]" in view.editor.text())
            assert view.editor.text() == f"typed meanwhile\n{NOTES['A.md']}![[Pasted in A.png]]"
            view.editor.insertFromMimeData(picture(0x00FF00))
            await wait_until(lambda: "![[Pasted in A 1.png]]" in view.editor.text())
            files = vault.root / "Attachments"
            assert {file.name for file in files.iterdir()} == {"Pasted in A.png", "Pasted in A 1.png"}
            assert QImage(str(files / "Pasted in A.png")).pixelColor(0, 0).name() == "#ff0000"
            commits = await vault.run(lambda ws: ws.journal.commits())
            assert len(commits) == 2 and not vault.asked
            undo = await vault.run(
                lambda ws: ws.journal.plan_undo([commits[0].id], lambda p: ws.store.read(p))
            )
            assert [str(path) for path in undo.change_set.paths] == ["Attachments/Pasted in A 1.png"]

    gui(main())


def test_files_and_notes_become_links(gui, opened, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with opened() as (vault, view):
            outside = tmp_path / "numbers.csv"
            outside.write_text("1,2\n")
            data = QMimeData()
            data.setUrls([QUrl.fromLocalFile(str(outside)), QUrl.fromLocalFile(str(vault.root / "Sub/B.md"))])
            view.editor.insertFromMimeData(data)
            await wait_until(lambda: view.editor.text().endswith("[[numbers.csv]]\n[[B]]"))
            assert (vault.root / "Attachments/numbers.csv").read_text() == "1,2\n"
            dragged = QMimeData()
            dragged.setData(NOTE_MIME, b"Sub/B.md")
            dragged.setText("[[B]]")
            view.editor.insertFromMimeData(dragged)
            await wait_until(lambda: view.editor.text().endswith("[[B]][[B]]"))
            gone = QMimeData()
            gone.setUrls([QUrl.fromLocalFile(str(tmp_path / "gone.txt"))])
            view.editor.insertFromMimeData(gone)
            await wait_until(lambda: "Nothing was inserted" in view.notice.text)

    gui(main())


def test_an_address_over_words_becomes_a_link_and_formatting_becomes_markdown(gui, opened) -> None:
    async def main() -> None:
        async with opened() as (_, view):
            address = QMimeData()
            address.setText("https://example.org/a_(b)")
            select(view, "words")
            view.editor.insertFromMimeData(address)
            assert "[words](<https://example.org/a_(b)>) here" in view.editor.text()
            view.editor.undo()
            assert view.editor.text() == NOTES["A.md"]
            rich = QMimeData()
            rich.setHtml("<p>One <b>bold</b></p><ul><li>x</li></ul>")
            rich.setText("One bold\nx")
            select(view, "here")
            view.editor.insertFromMimeData(rich)
            assert "words One **bold**\n\n- x\n" in view.editor.text()
            view.editor.undo()
            # In code, and from a code editor, text stays unchanged.
            select(view, "code")
            view.editor.insertFromMimeData(rich)
            assert "```\nOne bold\nx\n```" in view.editor.text()
            view.editor.undo()
            rich.setData("vscode-editor-data", b"{}")
            select(view, "here")
            view.editor.insertFromMimeData(rich)
            assert "words One bold\nx\n" in view.editor.text()
            view.editor.undo()
            assert view.editor.text() == NOTES["A.md"]

    gui(main())


@pytest.mark.parametrize("where", ["words", "code"])
def test_html_without_formatting_and_without_text_is_pasted_as_its_text(gui, opened, where: str) -> None:
    async def main() -> None:
        async with opened() as (_, view):
            data = QMimeData()
            data.setHtml("<p>a &amp; b</p><p>c</p>")
            select(view, where)
            view.editor.insertFromMimeData(data)
            assert view.editor.text() == NOTES["A.md"].replace(where, "a & b\nc")
            view.editor.undo()
            assert view.editor.text() == NOTES["A.md"]

    gui(main())


def test_an_image_is_not_put_into_another_note(gui, opened, wait_until, monkeypatch) -> None:
    add_image = PasteHandler._add_image
    is_opened = asyncio.Event()

    async def add_image_later(*arguments):
        await is_opened.wait()
        return await add_image(*arguments)

    async def main() -> None:
        async with opened() as (vault, view):
            monkeypatch.setattr(PasteHandler, "_add_image", add_image_later)
            view.editor.insertFromMimeData(picture(0xFF))
            await view.open("Sub/B.md")
            is_opened.set()
            await wait_until(lambda: "another note" in view.notice.text)
            assert view.editor.text() == NOTES["Sub/B.md"]
            assert (vault.root / "Attachments/Pasted in A.png").exists()

    gui(main())
