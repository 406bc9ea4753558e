"""Writing commands: daily note, templates, random note, export and print."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QFont, QGuiApplication, QPagedPaintDevice, QTextCursor
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.notes.editor.completion import SlashCommand
from app.desktop.notes.editor.live_editor import LiveEditor
from app.desktop.notes.editor.mode import ViewMode
from app.desktop.notes.editor.text_cursor import one_undo_step, replace_document
from app.desktop.notes.export import html_page, print_note, render_for_print, write_file, write_pdf
from app.desktop.notes.newlines import PARAGRAPH_SEPARATOR, for_editor
from app.desktop.notes.paste import plain_text
from app.desktop.notes.view import EDIT_ACTION_PREFIX, NoteView
from app.desktop.runtime import tasks
from app.desktop.shell.command_registry import COMMANDS_BY_ID, command_title
from app.desktop.widgets import dialogs
from app.desktop.widgets.utf16 import utf16_length
from app.errors import ScriptoriumError, StorageError
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.note_templates import ExpandedTemplate, with_properties
from app.vault.path import NotePath

_PRINT_POINTS = 10


class WritingCommands(QObject):
    """Runs the writing commands, most of them on the active note.

    `open_requested` carries a path and a fragment; `done` and `failed` carry a message for the user.

    Args:
        client: The open vault.
        current: Returns the active note, or None if none is open.
        window: The parent of dialogs.
    """

    open_requested = Signal(str, str)
    done = Signal(str)
    failed = Signal(str)

    def __init__(self, client: VaultClient, current: Callable[[], NoteView | None], window: QWidget) -> None:
        super().__init__(window)
        self._client = client
        self._current = current
        self._window = window

    def run_command(self, command: str) -> None:
        """Run "daily", "template", "random", "html", "pdf", "print" or "paste" (as plain text)."""
        if command == "paste":
            self.paste_plain()
            return
        work, label = {
            "daily": (self.open_daily_note, self.tr("open the daily note")),
            "template": (self.insert_template, self.tr("insert the template")),
            "random": (self.open_random_note, self.tr("open a random note")),
            "html": (self.export_html, self.tr("export the note")),
            "pdf": (self.export_pdf, self.tr("export the note")),
            "print": (self.print_note, self.tr("print the note")),
        }[command]
        tasks.start(work(), owner=self._window, action=label)

    def add_to_slash_menu(self, note: NoteView) -> None:
        """Add the commands for templates and the daily note to the slash menu of a note's editor."""
        known_ids = {command.id for command in note.editor.slash_commands}
        for command_id in ("insert-template", "daily-note"):
            name = COMMANDS_BY_ID[command_id].argument
            if name not in known_ids:
                note.editor.slash_commands.append(
                    SlashCommand(name, command_title(command_id), partial(self.run_command, name))
                )

    async def open_daily_note(self) -> None:
        """Open today's note, creating it from its template if needed."""
        now = datetime.now()
        try:
            daily = await self._client.run(lambda vault: vault.templates.daily_note(now))
        except ScriptoriumError as error:
            self.failed.emit(error.message)
            return
        if daily.problem:
            self.failed.emit(daily.problem)
        offset = "" if daily.cursor is None else str(daily.cursor)
        self.open_requested.emit(daily.path.text, f"{EDIT_ACTION_PREFIX}{offset}" if daily.created else "")

    async def open_random_note(self) -> None:
        """Open another note at random."""
        note = self._current()
        current = NotePath.on_disk(note.path) if note is not None and note.path else None
        path = await self._client.run(lambda vault: vault.notes.random(current))
        if path is None:
            self.failed.emit(self.tr("The vault has no other notes."))
        else:
            self.open_requested.emit(path.text, "")

    async def insert_template(self) -> None:
        """Ask for a template and insert it at the cursor, as one undo step."""
        note = self._current()
        if note is None or note.document.page is None or note.editor.isReadOnly():
            self.failed.emit(self.tr("Open an editable note first."))
            return
        paths = await self._client.run(lambda vault: vault.templates.paths())
        if not paths:
            self.failed.emit(self.tr("No templates found. Set the templates folder in Settings → Editor."))
            return
        template_path = await self._choose(paths)
        if template_path is None:
            return
        title, now = note.document.page.path.name, datetime.now()
        try:
            template = await self._client.run(
                lambda vault: vault.templates.expand_template(template_path, title, now)
            )
        except ScriptoriumError as error:
            self.failed.emit(self.tr("The template was not inserted: {0}").format(error.message))
            return
        if not note.is_editing:
            note.show_mode(ViewMode.LIVE)
        try:
            _insert_template(note.editor, template)
        except ScriptoriumError as error:
            self.failed.emit(self.tr("The template was not inserted: {0}").format(error.message))
            return
        note.editor.setFocus()

    def paste_plain(self) -> None:
        """Paste the text of the clipboard without its formatting, if the active note is being edited."""
        note, text = self._current(), plain_text(QGuiApplication.clipboard().mimeData())
        if note is not None and note.is_editing and text and not note.editor.isReadOnly():
            note.editor.insert(text)

    async def export_html(self) -> None:
        """Ask for a file and export the active note as a web page."""

        async def write(note: NoteView, path: NotePath, file: Path) -> None:
            text = note.document.text
            rendered = await self._client.run(lambda vault: render_for_print(vault, path, text))
            page = await self._client.run(
                lambda vault: asyncio.to_thread(html_page, vault, rendered, path.name)
            )
            await asyncio.to_thread(write_file, file, page.encode("utf-8"))

        await self._export("html", self.tr("Web page (*.html)"), write)

    async def export_pdf(self) -> None:
        """Ask for a file and export the active note as PDF."""

        async def write(note: NoteView, path: NotePath, file: Path) -> None:
            text, font = note.document.text, self._font()
            rendered = await self._client.run(lambda vault: render_for_print(vault, path, text))
            await asyncio.to_thread(write_pdf, rendered, path.name, font, file)

        await self._export("pdf", "PDF (*.pdf)", write)

    async def print_note(self) -> None:
        """Ask for a printer and print the active note."""
        from PySide6.QtPrintSupport import QPrintDialog, QPrinter

        note = self._current()
        if note is None or note.document.page is None:
            return
        path, text = note.document.page.path, note.document.text
        printer = QPrinter(QPrinter.PrinterMode.HighResolution)
        printer.setDocName(path.name)
        if await dialogs.run_dialog(QPrintDialog(printer, self._window)) != int(QDialog.DialogCode.Accepted):
            return
        rendered = await self._client.run(lambda vault: render_for_print(vault, path, text))
        device: QPagedPaintDevice = printer
        await asyncio.to_thread(print_note, rendered, self._font(), device)

    async def _export(
        self, suffix: str, file_filter: str, write: Callable[[NoteView, NotePath, Path], Awaitable[None]]
    ) -> None:
        note = self._current()
        if note is None or note.document.page is None:
            return
        path = note.document.page.path
        title = self.tr("Export “{0}”").format(path.name)
        file = await dialogs.pick_save_file(self._window, title, f"{path.name}.{suffix}", file_filter)
        if file is None:
            return
        file = file if file.suffix else file.with_suffix(f".{suffix}")
        try:
            await write(note, path, file)
        except StorageError as error:
            self.failed.emit(error.message)
        else:
            self.done.emit(self.tr("“{0}” was exported to {1}").format(path.name, file.name))

    async def _choose(self, templates: tuple[NotePath, ...]) -> NotePath | None:
        dialog = dialogs.SheetDialog(self._window, self.tr("Insert template"))
        template_list = QListWidget()
        template_list.setAccessibleName(self.tr("Templates"))
        template_list.setUniformItemSizes(True)
        for path in templates:
            item = QListWidgetItem(path.name, template_list)
            item.setToolTip(path.text)
        template_list.setCurrentRow(0)
        dialog.add_body(template_list)
        dialog.add_button(self.tr("Cancel"), int(QDialog.DialogCode.Rejected))
        insert_button = dialog.add_button(self.tr("Insert"), int(QDialog.DialogCode.Accepted), "primary")
        insert_button.setDefault(True)
        template_list.itemActivated.connect(lambda _: dialog.accept())
        template_list.setFocus()
        rows: list[int] = []
        dialog.accepted.connect(lambda: rows.append(template_list.currentRow()))
        if await dialogs.run_dialog(dialog) != int(QDialog.DialogCode.Accepted) or not rows:
            return None
        return templates[rows[0]]

    def _font(self) -> QFont:
        family = self._client.settings.editor.font
        font = QFont(family) if family else QFont(self._window.font().family())
        font.setPointSize(_PRINT_POINTS)
        return font


def _insert_template(editor: LiveEditor, expanded: ExpandedTemplate) -> None:
    """Insert a template's text at the cursor and merge its properties, as one undo step.

    Raises:
        InvalidParametersError: The properties can't be merged; nothing was inserted.
    """
    text = editor.document().toRawText().replace(PARAGRAPH_SEPARATOR, "\n")
    template = for_editor(expanded.text)
    body = read_frontmatter(template).body_start
    note_body = text[read_frontmatter(text).body_start :]
    properties = text[: len(text) - len(note_body)]
    merged = with_properties(text, template).removesuffix(note_body)
    cursor = editor.textCursor()
    if cursor.selectionStart() < utf16_length(properties):
        cursor.setPosition(max(utf16_length(properties), cursor.selectionEnd()))
    with one_undo_step(cursor):
        cursor.insertText(template[body:])
        replace_document(QTextCursor(editor.document()), properties, merged)
    if expanded.cursor is not None and (offset := len(for_editor(expanded.text[: expanded.cursor]))) >= body:
        cursor.setPosition(cursor.position() - utf16_length(template[offset:]))
    editor.setTextCursor(cursor)
