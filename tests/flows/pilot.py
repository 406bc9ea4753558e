"""Drives the real window with mouse, keys and drops, and waits for visible results.

A `Pilot` has one open window over a real service thread and a real workspace. It knows the panels' public
parts; buttons are found by their labels.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QInputMethodEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QScrollArea,
    QTextBrowser,
    QTreeView,
    QWidget,
)

from app.agent.transcript import AnyItem, TurnFinished
from app.desktop.approval.dialog import ApprovalDialog
from app.desktop.audit.panel import AuditPanel
from app.desktop.notes.view import NoteView
from app.desktop.widgets.markdown_label import MarkdownLabel
from app.permissions.audit_entry import AuditEntry
from app.permissions.caller import Caller
from app.toolkit.call import Call
from app.toolkit.outcome import ToolOutcome
from tests.flows.window_driver import LEFT, WindowDriver


class Pilot(WindowDriver):
    """The user's actions in the window: vaults, the agent, approvals, notes, the audit log."""

    # Vaults

    def drop(self, folder: Path, over: QWidget | None = None) -> None:
        """Drag a folder from the file manager over the window and drop it."""
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(folder))])
        target, copy = over or self.window, Qt.DropAction.CopyAction
        no = Qt.KeyboardModifier.NoModifier
        enter = QDragEnterEvent(QPoint(5, 5), copy, data, LEFT, no)
        QApplication.sendEvent(target, enter)
        event = QDropEvent(QPointF(5, 5), copy, data, LEFT, no)
        QApplication.sendEvent(target, event)
        assert enter.isAccepted() and event.isAccepted()

    async def open(self, folder: Path, *, read_only: bool = False) -> None:
        """Drop a folder on the window and wait until it has been read."""
        if read_only:
            self.window.open_folder(folder, read_only=True)
        else:
            self.drop(folder)
        await self.until(lambda: self.window.windowTitle().startswith(f"{folder.name} –"), "it is open")
        await self.read()

    async def read(self) -> None:
        """Wait until the scan has ended and its result is drawn."""
        scan = self.window.session._scan
        await self.until(lambda: scan is None or scan.done(), "the vault is read")
        notes = await self.run(lambda ws: ws.index.stats().notes)
        counted = f"{notes:,} note"
        await self.until(lambda: self.window.status.counts.text().startswith(counted), "notes are counted")
        await self.until(lambda: self.agent.isVisible(), "the agent is there")

    # The agent

    async def type_prompt(self, text: str) -> None:
        field = self.agent.composer.field
        await self.click(field.viewport())
        if text.isascii():
            QTest.keyClicks(field, text)
        else:  # QTest aborts on a character without a key; an input method enters it.
            entered = QInputMethodEvent()
            entered.setCommitString(text)
            QApplication.sendEvent(field, entered)
        assert field.toPlainText() == text
        QTest.keyClick(field, Qt.Key.Key_Return)

    async def turn_over(self, turns: int) -> TurnFinished:
        """Wait until `turns` turns have ended and their text is drawn."""

        def over() -> bool:
            return len(self.finished) >= turns and self.agent._event_queue.is_empty

        await self.until(over, "the turn ends")
        return self.finished[turns - 1]

    async def ask(self, text: str) -> TurnFinished:
        """Send a request that needs no approval, and wait for the end of the turn."""
        turns = len(self.finished) + 1
        await self.type_prompt(text)
        return await self.turn_over(turns)

    async def ask_and_approve(self, text: str) -> TurnFinished:
        """Send a request, approve its proposal, and wait for the end of the turn."""
        turns = len(self.finished) + 1
        await self.type_prompt(text)
        await self.approve()
        return await self.turn_over(turns)

    async def items(self) -> tuple[AnyItem, ...]:
        """Return the items of the displayed conversation, as saved."""
        shown = self.agent._conversation
        assert shown is not None
        return await self.run(lambda ws: ws.agent.store.items(shown.id))

    async def follow_answer(self, text: str) -> None:
        """Click a link in the agent's message."""
        labels = self.agent.transcript.widget().findChildren(MarkdownLabel)
        label = next(label for label in reversed(labels) if text in label.toPlainText())
        await self.follow(label, text, self.agent.transcript)

    async def follow(self, browser: QTextBrowser, text: str, area: QScrollArea | None = None) -> None:
        """Click the link `text`; `area` scrolls to the browser in it."""

        def middle() -> QPoint:
            # Found again each time: the text may be drawn anew in the meantime.
            cursor = QTextCursor(browser.document())
            while True:
                cursor = browser.document().find(text, cursor)
                assert not cursor.isNull(), f"there is no link {text!r}"
                if cursor.charFormat().isAnchor():
                    break
            cursor.setPosition(cursor.selectionStart() + 1)
            browser.setTextCursor(cursor)
            if area is not None:
                area.ensureWidgetVisible(browser)
            return browser.cursorRect(cursor).center()

        await self.click(browser.viewport(), middle)

    # Approvals

    def start_call(
        self, tool: str, arguments: Mapping[str, object], caller: Caller
    ) -> asyncio.Task[ToolOutcome]:
        """Start a tool call of another caller, such as an MCP client, which waits for the user."""
        work = self.run(lambda ws: ws.runner.run(Call.of(tool, arguments, caller)))
        return asyncio.get_running_loop().create_task(work)

    async def question(self) -> ApprovalDialog:
        """Return the approval dialog once it accepts input."""
        await self.until(lambda: self.approvals.dialog is not None, "an approval is asked")
        dialog = self.approvals.dialog
        assert dialog is not None
        await self.until(
            lambda: dialog.isVisible() and dialog.input_delay.is_ready, "the dialog takes answers"
        )
        return dialog

    async def approve(self) -> None:
        dialog = await self.question()
        asked = dialog.current
        await self.click(dialog.bar.approve_button)
        await self.until(lambda: asked not in self.approvals.waiting, "the answer is given")

    async def deny(self, why: str = "") -> None:
        dialog = await self.question()
        asked = dialog.current
        if why:
            await self.click(dialog.bar.reason)
            QTest.keyClicks(dialog.bar.reason, why)
        await self.click(dialog.bar.deny_button)
        await self.until(lambda: asked not in self.approvals.waiting, "the answer is given")

    # Notes

    async def open_note(self, path: str) -> NoteView:
        """Open a note with a double-click in the files panel."""
        await self.until(lambda: self.files.model.index_of(path).isValid(), f"{path} is listed")
        folder = path.rpartition("/")[0]
        parts = folder.split("/") if folder else []
        self.files.expand_folders("/".join(parts[: end + 1]) for end in range(len(parts)))
        await double_click(self, self.files.tree, path)
        note = await self.shown(path)
        assert [each.path for each in self.notes].count(path) == 1
        return note

    async def shown(self, path: str) -> NoteView:
        """Return the note's tab once it is active with its text."""
        notes = self.note_area
        await self.until(lambda: notes.current is not None and notes.current.path == path, f"{path} is open")
        note = self.note
        await self.until(lambda: note.document.page is not None and note.isVisible(), f"{path} is shown")
        return note

    async def edit(self, note: NoteView) -> None:
        """Show the source, with Ctrl+E."""
        if not note.is_editing:
            await self.front()
            note.reader.setFocus()
            QTest.keyClick(note.reader, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
        await self.until(lambda: note.is_editing and note.editor.isVisible(), "the source is in front")

    async def show_reading(self, note: NoteView) -> None:
        """Show the reading view, with Ctrl+E."""
        await self.front()
        while note.is_editing:
            note.editor.setFocus()
            QTest.keyClick(note.editor, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
        await self.until(lambda: note.reader.isVisible(), "the reading view is in front")

    async def write_at_end(self, note: NoteView, text: str) -> None:
        """Type at the end of the source."""
        await self.edit(note)
        note.editor.moveCursor(QTextCursor.MoveOperation.End)
        QTest.keyClicks(note.editor, text)
        await self.until(lambda: note.document.is_dirty, "the text is not saved yet")

    async def save(self, note: NoteView) -> None:
        """Save with Ctrl+S."""
        await self.front()
        note.editor.setFocus()
        QTest.keyClick(note.editor, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
        await self.until(lambda: not note.document.is_dirty, "it is saved")

    # Audit

    async def show_audit(self) -> AuditPanel:
        """Show the audit log."""
        if not self.audit.isVisible():
            self.page.show_bottom("audit")
        await self.until(lambda: self.audit.isVisible(), "the audit log is shown")
        return self.audit

    async def select_entry(self, tool: str) -> AuditEntry:
        """Click the newest entry of a tool."""
        panel = await self.show_audit()
        newest = await self.run(lambda ws: ws.audit.entries(limit=1)[0].id)
        await self.until(lambda: self.entries and self.entries[0].id >= newest, "the log has caught up")
        await self.until(lambda: any(entry.tool == tool for entry in self.entries), f"{tool} is in the log")
        row = next(row for row, entry in enumerate(self.entries) if entry.tool == tool)
        index = panel.model.index(row, 2)
        panel.table.scrollTo(index)
        await self.click(panel.table.viewport(), panel.table.visualRect(index).center())
        await self.until(lambda: panel.detail.entry == self.entries[row], "the entry is shown")
        return self.entries[row]

    async def verdict(self) -> str:
        """Verify the log with the button, and return the result."""
        panel = await self.show_audit()
        panel.status_label.setText("")
        await self.click(panel.verify_button)
        await self.until(lambda: panel.status_label.text() not in ("", "Verifying…"), "the log is checked")
        return panel.status_label.text()


async def double_click(pilot: Pilot, tree: QTreeView, path: str) -> None:
    """Double-click as the system sends it: press, release, double-click, release."""
    index = pilot.files.model.index_of(path)
    tree.scrollTo(index)
    at = tree.visualRect(index).center()
    QTest.mouseClick(tree.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, at)
    QTest.mouseDClick(tree.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, at)
