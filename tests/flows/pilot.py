"""Drives the real window as a person does: by mouse, keys and drops, and waits for what can be seen.

A `Pilot` has one open window over a real service thread and a real workspace. It knows the panels' public
parts; buttons are found by the words on them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QLabel,
    QMenu,
    QTextBrowser,
    QTreeView,
    QWidget,
)

from app.agent.transcript import AnyItem, TurnFinished
from app.desktop import tasks
from app.desktop.agent_panel.markdown_label import MarkdownLabel
from app.desktop.agent_panel.panel import AgentPanel
from app.desktop.agent_panel.tool_card import ToolCardView
from app.desktop.approval_dialog import ApprovalDialog, ApprovalQueue
from app.desktop.audit_panel import AuditPanel
from app.desktop.bridge import VaultClient
from app.desktop.files_panel import FilesPanel
from app.desktop.graph_panel import GraphPanel
from app.desktop.main_window import MainWindow
from app.desktop.note_area import NoteArea
from app.desktop.note_view.view import NoteView
from app.desktop.search_panel import SearchPanel
from app.desktop.vault_page import VaultPage
from app.permissions.audit_entry import AuditEntry
from app.permissions.caller import Caller
from app.toolkit.outcome import ToolOutcome

T = TypeVar("T", bound=QWidget)
LEFT = Qt.MouseButton.LeftButton
PATIENCE_S = 30.0


class Pilot:
    """One window with whatever it has open. `finished` has the turns that have ended, in order."""

    def __init__(self, window: MainWindow) -> None:
        self.window = window
        self.finished: list[TurnFinished] = []
        self.failures: list[tasks.Failure] = []
        self.expected_failures: tuple[type[BaseException], ...] = ()
        self._disconnect = tasks.failed.connect(self.failures.append)
        window.session.opened.connect(self._follow)

    def leave(self) -> None:
        """Listen no more."""
        self._disconnect()

    # What is there

    @property
    def client(self) -> VaultClient:
        assert self.window.session.client is not None, "no vault is open"
        return self.window.session.client

    @property
    def page(self) -> VaultPage:
        assert self.window.view is not None, "no vault is open"
        return self.window.view.page

    @property
    def note_area(self) -> NoteArea:
        assert self.page.notes is not None
        return self.page.notes

    @property
    def approvals(self) -> ApprovalQueue:
        assert self.window.view is not None, "no vault is open"
        return self.window.view._approvals

    def panel(self, name: str, kind: type[T]) -> T:
        found = self.page.panel(name)
        assert isinstance(found, kind)
        return found

    @property
    def agent(self) -> AgentPanel:
        return self.panel("agent", AgentPanel)

    @property
    def audit(self) -> AuditPanel:
        return self.panel("audit", AuditPanel)

    @property
    def files(self) -> FilesPanel:
        return self.panel("files", FilesPanel)

    @property
    def search(self) -> SearchPanel:
        return self.panel("search", SearchPanel)

    @property
    def graph(self) -> GraphPanel:
        return self.panel("graph", GraphPanel)

    @property
    def nodes(self) -> frozenset[str]:
        return frozenset(self.graph.view.graph().paths)

    def tags_of(self, path: str) -> tuple[str, ...]:
        """The tags of a node of the graph."""
        graph = self.graph.view.graph()
        return graph.tags[graph.rows[path]]

    @property
    def note(self) -> NoteView:
        found = self.note_area.current
        assert isinstance(found, NoteView), "no note is open"
        return found

    @property
    def notes(self) -> list[NoteView]:
        return [tab for tab in self.note_area.tabs() if isinstance(tab, NoteView)]

    @property
    def entries(self) -> Sequence[AuditEntry]:
        """What the audit panel lists, newest first."""
        return self.audit.model.entries

    @property
    def sheets(self) -> list[QDialog]:
        """The dialogs that are open, but for approvals."""
        return [
            widget
            for widget in QApplication.topLevelWidgets()
            if isinstance(widget, QDialog) and widget.isVisible() and not isinstance(widget, ApprovalDialog)
        ]

    @property
    def banners(self) -> tuple[str, ...]:
        return tuple(self.window.banners.keys)

    def banner(self, key: str) -> str:
        return self.window.banners._shown[key].accessibleName()

    def said(self) -> str:
        """All words in the conversation on the screen, as they are drawn."""
        page = self.agent.transcript.widget()
        return "\n".join(words(label) for label in page.findChildren(QWidget) if words(label))

    @property
    def cards(self) -> list[ToolCardView]:
        found = self.agent.transcript.widget().findChildren(ToolCardView)
        return [card for card in found if card.isVisibleTo(self.agent)]

    # Waiting

    async def until(self, true: Callable[[], object], what: str = "", seconds: float = PATIENCE_S) -> None:
        """Wait until `true()`; a task of the window that fails meanwhile ends the wait."""
        deadline = asyncio.get_running_loop().time() + seconds
        while not true():
            self.check()
            late = asyncio.get_running_loop().time() >= deadline
            assert not late, f"it did not come true: {what}\n{self.sight()}"
            await asyncio.sleep(0.005)

    def sight(self) -> str:
        """What the window shows, for the message of a test that fails."""
        lines = [f"banner: {self.banner(key)}" for key in self.banners]
        for sheet in self.sheets:
            said = [words(each) for each in sheet.findChildren(QWidget) if words(each)]
            lines.append(f"sheet {sheet.windowTitle()!r}: {said}")
        if self.window.view is not None:
            lines += [f"audit: {e.tool} {e.decision} {e.result}" for e in list(self.entries)[:5]]
            lines += [f"note {note.path}: {note.notice.text}" for note in self.notes]
            lines.append(f"conversation: {self.said()}")
        return "\n".join(lines)

    def check(self) -> None:
        """Nothing that the window started has failed, but for what the test expects."""
        for failure in self.failures:
            if not isinstance(failure.error, self.expected_failures):
                raise AssertionError(f"failed to {failure.what}") from failure.error

    # Hands

    async def click(self, widget: QWidget, at: QPoint | None = None) -> None:
        """Click a widget that can be seen and pressed."""

        def place() -> QPoint:
            return at if at is not None else widget.rect().center()

        def in_sight() -> bool:
            return widget.isVisible() and widget.isEnabled() and widget.visibleRegion().contains(place())

        await self.until(in_sight, f"{widget} {widget.accessibleName()!r} can be clicked")
        pressed: list[bool] = []

        def click() -> None:
            QTest.mouseClick(widget, LEFT, Qt.KeyboardModifier.NoModifier, place())
            pressed.append(True)

        # Outside this task, as the system does it: Qt's own tool buttons run a loop while their menu is open.
        QTimer.singleShot(0, click)
        await self.until(lambda: pressed or QApplication.activePopupWidget(), "the click is taken")

    async def press(self, text: str, inside: QWidget | None = None) -> None:
        """Click the button that says `text`, in `inside` or in the dialog that is open."""
        await self.until(lambda: self._buttons(text, inside), f"there is a button {text!r}")
        await self.click(self._buttons(text, inside)[0])

    def _buttons(self, text: str, inside: QWidget | None) -> list[QAbstractButton]:
        return [
            button
            for place in ([inside] if inside is not None else self.sheets)
            for button in place.findChildren(QAbstractButton)
            if text in (button.text(), button.accessibleName(), button.toolTip()) and button.isVisible()
        ]

    async def choose(self, menu: QMenu, text: str) -> None:
        """Choose the entry of a menu that is open, by mouse."""
        await self.until(lambda: any(action.text() == text for action in menu.actions()), f"menu has {text}")
        action: QAction = next(action for action in menu.actions() if action.text() == text)
        if menu.isVisible():
            QTest.mouseClick(menu, LEFT, Qt.KeyboardModifier.NoModifier, menu.actionGeometry(action).center())
        else:
            action.trigger()

    async def front(self) -> None:
        """Bring the window to the front, as a window manager does when a dialog closes; shortcuts need it."""
        if not self.window.isActiveWindow():
            self.window.activateWindow()
            await self.until(self.window.isActiveWindow, "the window is in front")

    def key(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key where the focus is."""
        target = QApplication.focusWidget() or self.window
        QTest.keyClick(target, key, modifier)

    def ctrl(self, key: Qt.Key) -> None:
        self.key(key, Qt.KeyboardModifier.ControlModifier)

    # Vaults

    def drop(self, folder: Path, over: QWidget | None = None) -> None:
        """Drag a folder from the file manager over the window and let it go."""
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
        """Wait until the scan has ended and what follows it is drawn."""
        scan = self.window.session._scan
        await self.until(lambda: scan is None or scan.done(), "the vault is read")
        notes = await self.client.run(lambda ws: ws.index.stats().notes)
        counted = f"{notes:,} note"
        await self.until(lambda: self.window.status.counts.text().startswith(counted), "notes are counted")
        await self.until(lambda: self.agent.isVisible(), "the agent is there")

    # The agent

    def _follow(self, client: VaultClient) -> None:
        client.events.batch.connect(
            lambda batch: self.finished.extend(event for event in batch if isinstance(event, TurnFinished))
        )

    async def type_prompt(self, text: str) -> None:
        field = self.agent.composer.field
        await self.click(field.viewport())
        QTest.keyClicks(field, text)
        assert field.toPlainText() == text
        QTest.keyClick(field, Qt.Key.Key_Return)

    async def turn_over(self, turns: int) -> TurnFinished:
        """Wait until `turns` turns have ended, and what they said is drawn."""
        await self.until(lambda: len(self.finished) >= turns, "the turn ends")
        return self.finished[turns - 1]

    async def ask(self, text: str) -> TurnFinished:
        """Type a request that needs no approval, and wait for the turn's end."""
        turns = len(self.finished) + 1
        await self.type_prompt(text)
        return await self.turn_over(turns)

    async def ask_and_approve(self, text: str) -> TurnFinished:
        """Type a request, approve what it asks for, and wait for the turn's end."""
        turns = len(self.finished) + 1
        await self.type_prompt(text)
        await self.approve()
        return await self.turn_over(turns)

    async def items(self) -> tuple[AnyItem, ...]:
        """The items of the conversation on the screen, as they are saved."""
        shown = self.agent._conversation
        assert shown is not None
        return await self.client.run(lambda ws: ws.agent.store.items(shown.id))

    async def follow_answer(self, text: str) -> None:
        """Click a link in what the agent said."""
        labels = self.agent.transcript.widget().findChildren(MarkdownLabel)
        label = next(label for label in reversed(labels) if text in label.toPlainText())
        self.agent.transcript.ensureWidgetVisible(label)
        await self.follow(label, text)

    async def follow(self, browser: QTextBrowser, text: str) -> None:
        """Click the link that says `text`."""
        cursor = QTextCursor(browser.document())
        while True:
            cursor = browser.document().find(text, cursor)
            assert not cursor.isNull(), f"there is no link {text!r}"
            if cursor.charFormat().isAnchor():
                break
        cursor.setPosition(cursor.selectionStart() + 1)
        browser.setTextCursor(cursor)
        await self.click(browser.viewport(), browser.cursorRect(cursor).center())

    # Approvals

    def start_call(
        self, tool: str, arguments: Mapping[str, object], caller: Caller
    ) -> asyncio.Task[ToolOutcome]:
        """Another caller, such as an MCP client, calls a tool; it waits for the user."""
        work = self.client.run(lambda ws: ws.runner.call(tool, arguments, caller))
        return asyncio.get_running_loop().create_task(work)

    async def question(self) -> ApprovalDialog:
        """The approval dialog, once it takes answers."""
        await self.until(lambda: self.approvals.dialog is not None, "an approval is asked")
        dialog = self.approvals.dialog
        assert dialog is not None
        await self.until(lambda: dialog.isVisible() and dialog.guard.armed, "the dialog takes answers")
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
            await self.click(dialog.bar.words)
            QTest.keyClicks(dialog.bar.words, why)
        await self.click(dialog.bar.deny_button)
        await self.until(lambda: asked not in self.approvals.waiting, "the answer is given")

    # Notes

    async def open_note(self, path: str) -> NoteView:
        """Open a note by a double click in the files."""
        await self.until(lambda: self.files.model.index_of(path).isValid(), f"{path} is listed")
        folder = path.rpartition("/")[0]
        parts = folder.split("/") if folder else []
        self.files.unfold("/".join(parts[: end + 1]) for end in range(len(parts)))
        await double_click(self, self.files.tree, path)
        note = await self.shown(path)
        assert [each.path for each in self.notes].count(path) == 1
        return note

    async def shown(self, path: str) -> NoteView:
        """The note's tab, once it is in front with its text."""
        notes = self.note_area
        await self.until(lambda: notes.current is not None and notes.current.path == path, f"{path} is open")
        note = self.note
        await self.until(lambda: note.document.page is not None and note.isVisible(), f"{path} is shown")
        return note

    async def edit(self, note: NoteView) -> None:
        """Bring the source to the front, by Ctrl+E."""
        if not note.editing:
            await self.front()
            note.reader.setFocus()
            QTest.keyClick(note.reader, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
        await self.until(lambda: note.editing and note.editor.isVisible(), "the source is in front")

    async def write_at_end(self, note: NoteView, text: str) -> None:
        """Type at the end of the source."""
        await self.edit(note)
        note.editor.moveCursor(QTextCursor.MoveOperation.End)
        QTest.keyClicks(note.editor, text)
        await self.until(lambda: note.document.dirty, "the text is not saved yet")

    async def save(self, note: NoteView) -> None:
        """Save by Ctrl+S."""
        await self.front()
        note.editor.setFocus()
        QTest.keyClick(note.editor, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
        await self.until(lambda: not note.document.dirty, "it is saved")

    # Audit

    async def show_audit(self) -> AuditPanel:
        """Unfold the audit log."""
        if not self.audit.isVisible():
            self.page.show_bottom("audit")
        await self.until(lambda: self.audit.isVisible(), "the audit log is shown")
        return self.audit

    async def select_entry(self, tool: str) -> AuditEntry:
        """Click the newest entry of a tool."""
        panel = await self.show_audit()
        newest = await self.client.run(lambda ws: ws.audit.entries(limit=1)[0].id)
        await self.until(lambda: self.entries and self.entries[0].id >= newest, "the log has caught up")
        await self.until(lambda: any(entry.tool == tool for entry in self.entries), f"{tool} is in the log")
        row = next(row for row, entry in enumerate(self.entries) if entry.tool == tool)
        index = panel.model.index(row, 2)
        panel.table.scrollTo(index)
        await self.click(panel.table.viewport(), panel.table.visualRect(index).center())
        await self.until(lambda: panel.detail.entry == self.entries[row], "the entry is shown")
        return self.entries[row]

    async def verdict(self) -> str:
        """Verify the chain by the button, and read the words."""
        panel = await self.show_audit()
        panel.verdict.setText("")
        await self.click(panel.verify_button)
        await self.until(lambda: panel.verdict.text() not in ("", "Checking…"), "the log is checked")
        return panel.verdict.text()


async def double_click(pilot: Pilot, tree: QTreeView, path: str) -> None:
    """A real double click: press, release, double click, release, as the system sends it."""
    index = pilot.files.model.index_of(path)
    tree.scrollTo(index)
    at = tree.visualRect(index).center()
    QTest.mouseClick(tree.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, at)
    QTest.mouseDClick(tree.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, at)


def words(widget: QWidget) -> str:
    """The words that a widget draws."""
    if isinstance(widget, QLabel):
        return widget.text()
    plain = getattr(widget, "toPlainText", None)
    return plain() if plain is not None else ""
