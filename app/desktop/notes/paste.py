"""Paste or drop into a note: images, files, notes, URLs and formatted text.

Files are written through the store as the user's own change, so they are journaled and can be undone; the
inserted text is one undo step in the editor.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMimeData, QObject, Signal
from PySide6.QtGui import QImage, QTextBlock, QTextCursor, QTextDocumentFragment
from PySide6.QtWidgets import QTextEdit

from app.desktop.bridge import VaultClient
from app.desktop.files.model import NOTE_MIME
from app.desktop.notes.html_to_markdown import html_to_markdown, sanitize_html
from app.desktop.notes.newlines import PARAGRAPH_SEPARATOR, for_editor
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import translate
from app.errors import ScriptoriumError, StorageError
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.workspace import VaultService

# Longer HTML is converted in a thread so that it does not block the window.
_MAX_SYNC_HTML_CHARS = 20_000
_URL = re.compile(r"(?:https?|ftp|mailto|obsidian|zotero):\S+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TAG = re.compile(r"<[^>]*>|<!--.*?-->", re.S)
# Code editors also copy colored HTML, but the user wants the plain text.
_CODE_EDITOR_FORMATS = ("vscode-editor-data", "application/x-qt-creator", "application/vnd.code.copymetadata")


class PasteHandler(QObject):
    """Inserts pasted or dropped content into the text of one editor.

    `failed` carries a message for the user.

    Args:
        client: The open vault.
        editor: The editor; its document holds the source of the note.
        current_note: Returns the path of the note in the editor.
    """

    failed = Signal(str)

    def __init__(
        self, client: VaultClient, editor: QTextEdit, current_note: Callable[[], NotePath | None]
    ) -> None:
        super().__init__(editor)
        self._client = client
        self._editor = editor
        self._current_note = current_note

    def handle_paste(self, data: QMimeData) -> bool:
        """Handle pasted or dropped content; return False to let the editor insert it as plain text."""
        notes = bytes(data.data(NOTE_MIME).data()).decode().splitlines() if data.hasFormat(NOTE_MIME) else []
        files = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
        if notes:
            self._insert_later(lambda note: self._link_notes(notes, note), self.tr("link to the note"))
        elif files:
            self._insert_later(lambda note: self._link_files(files, note), self.tr("add the file"))
        elif data.hasImage() and not _has_more_text(data):
            image = QImage(data.imageData())
            if image.isNull():
                return False
            self._insert_later(lambda note: self._add_image(image, note), self.tr("paste the image"))
        else:
            return self._paste_text(data)
        return True

    def _paste_text(self, data: QMimeData) -> bool:
        cursor, text = self._editor.textCursor(), data.text().strip()
        if is_in_code_block(cursor.block()):
            return self._insert_text(cursor, "", data)
        if cursor.hasSelection() and _URL.fullmatch(text):
            return _link_selection(cursor, text)
        if not data.hasHtml() or any(data.hasFormat(format_name) for format_name in _CODE_EDITOR_FORMATS):
            return False
        html = data.html()
        if len(html) > _MAX_SYNC_HTML_CHARS:
            fallback = plain_text(data)
            self._insert_later(lambda _: _convert(html, fallback), self.tr("paste the text"))
            return True
        return self._insert_text(cursor, html_to_markdown(html), data)

    def _insert_text(self, cursor: QTextCursor, markdown: str, data: QMimeData) -> bool:
        """Insert `markdown`, or else the text of HTML-only content; return False if there is neither."""
        text = markdown or ("" if data.hasText() else plain_text(data))
        if not text:
            return False
        cursor.insertText(text)
        self._editor.ensureCursorVisible()
        return True

    def _insert_later(self, create_text: Callable[[NotePath], Awaitable[str]], action: str) -> None:
        """Start creating text to insert at the current cursor position, even if nearby text changes."""
        note = self._current_note()
        if note is not None:
            cursor = QTextCursor(self._editor.textCursor())
            tasks.start(self._insert(create_text, note, cursor), owner=self._editor, action=action)

    async def _insert(
        self, create_text: Callable[[NotePath], Awaitable[str]], note: NotePath, cursor: QTextCursor
    ) -> None:
        try:
            text = await create_text(note)
        except ScriptoriumError as error:
            self.failed.emit(self.tr("Nothing was inserted: {0}").format(error.message))
            return
        if not shiboken6.isValid(self._editor):
            return
        if self._current_note() != note:
            self.failed.emit(self.tr("{0} was not inserted, because another note is shown.").format(text))
        elif text:
            cursor.insertText(text)
            self._editor.ensureCursorVisible()

    async def _link_notes(self, notes: Iterable[str], note: NotePath) -> str:
        paths = [NotePath.on_disk(path) for path in notes]
        links = await self._client.run(
            lambda vault: [vault.attachments.link(path, note, embed=False) for path in paths]
        )
        return "\n".join(links)

    async def _link_files(self, files: Iterable[Path], note: NotePath) -> str:
        links = await self._client.run(lambda vault: vault.attachments.link_files(note, files))
        return "\n".join(links)

    async def _add_image(self, image: QImage, note: NotePath) -> str:
        content = await asyncio.to_thread(encode_png, image)
        now = datetime.now()

        async def add(vault: VaultService) -> str:
            path = await vault.attachments.add(note, vault.attachments.image_name(note, now), content)
            return vault.attachments.link(path, note, embed=True)

        return await self._client.run(add)


def plain_text(data: QMimeData) -> str:
    """Return the text of pasted content without its formatting, even if it has only HTML."""
    if text := data.text():
        return for_editor(text)
    fragment = QTextDocumentFragment.fromHtml(sanitize_html(data.html()))
    return fragment.toPlainText().replace("\ufffc", "").strip("\n")


def encode_png(image: QImage) -> bytes:
    """Return an image as PNG; may run in any thread.

    Raises:
        StorageError: The image can't be encoded.
    """
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    written = image.save(buffer, "PNG")  # type: ignore[call-overload]
    buffer.close()
    if not written:
        raise StorageError(translate("PasteHandler", "The image can't be converted to PNG."))
    return bytes(content.data())


def is_in_code_block(block: QTextBlock) -> bool:
    """Return whether a line is in a fenced code block, where text is pasted verbatim."""
    fence, line = "", block.document().begin()
    while line.isValid() and line != block:
        if match := _FENCE.match(line.text()):
            if not fence:
                fence = match[1]
            elif match[1].startswith(fence) and not line.text().strip().strip(fence[0]):
                fence = ""
        line = line.next()
    return bool(fence)


def _link_selection(cursor: QTextCursor, url: str) -> bool:
    selected = cursor.selectedText()
    if PARAGRAPH_SEPARATOR in selected or _URL.fullmatch(selected.strip()) or "[[" in selected:
        return False
    text = selected.replace("[", "\\[").replace("]", "\\]")
    target = f"<{url}>" if re.search(r"[()<>]", url) else url
    cursor.insertText(f"[{text}]({target})")
    return True


def _has_more_text(data: QMimeData) -> bool:
    """Return whether HTML next to an image has text, for example a table copied from a spreadsheet."""
    return data.hasHtml() and bool(_TAG.sub("", data.html()).strip())


async def _convert(html: str, fallback: str) -> str:
    return await asyncio.to_thread(html_to_markdown, html) or fallback
