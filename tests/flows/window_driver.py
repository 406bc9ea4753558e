"""The visible state of the window, waiting for changes, and mouse and keyboard input."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QLabel,
    QMenu,
    QWidget,
)

from app.agent.transcript import TurnFinished
from app.desktop.agent.panel import AgentPanel
from app.desktop.agent.tool_card import ToolCardView
from app.desktop.approval.approval_queue import ApprovalQueue
from app.desktop.approval.dialog import ApprovalDialog
from app.desktop.audit.panel import AuditPanel
from app.desktop.bridge import VaultClient
from app.desktop.files.panel import FilesPanel
from app.desktop.graph.panel import GraphPanel
from app.desktop.main_window import MainWindow
from app.desktop.notes.tabs import NoteTabs
from app.desktop.notes.view import NoteView
from app.desktop.runtime import tasks
from app.desktop.search.panel import SearchPanel
from app.desktop.vault_layout import VaultLayout
from app.permissions.audit_entry import AuditEntry
from app.workspace.workspace import Workspace
from tests.desktop.workspace_access import in_workspace, workspace_of

T = TypeVar("T", bound=QWidget)
LEFT = Qt.MouseButton.LeftButton
PATIENCE_S = 120.0


class WindowDriver:
    """One window, its parts, and input to any of them; `finished` counts the ended turns."""

    def __init__(self, window: MainWindow) -> None:
        self.window = window
        self.finished: list[TurnFinished] = []
        self.failures: list[tasks.TaskFailure] = []
        self.expected_failures: tuple[type[BaseException], ...] = ()
        self._disconnect = tasks.failed.connect(self.failures.append)
        window.session.opened.connect(self._follow)

    def leave(self) -> None:
        """Unsubscribe from all events."""
        self._disconnect()

    def _follow(self, client: VaultClient) -> None:
        client.events.batch.connect(
            lambda batch: self.finished.extend(event for event in batch if isinstance(event, TurnFinished))
        )

    # State

    @property
    def client(self) -> VaultClient:
        assert self.window.session.client is not None, "no vault is open"
        return self.window.session.client

    @property
    def workspace(self) -> Workspace:
        """The parts of the open vault, which the window does not see."""
        return workspace_of(self.client)

    async def run(self, fn: Callable[[Workspace], Any]) -> Any:
        """Return the result of `fn(workspace)`, computed in the service thread."""
        return await in_workspace(self.client, fn)

    @property
    def page(self) -> VaultLayout:
        assert self.window.view is not None, "no vault is open"
        return self.window.view.page

    @property
    def note_area(self) -> NoteTabs:
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
        """Return the tags of a node of the graph."""
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
        """Return the entries in the audit panel, newest first."""
        return self.audit.model.entries

    @property
    def sheets(self) -> list[QDialog]:
        """Return the open dialogs, except approvals."""
        return [
            widget
            for widget in QApplication.topLevelWidgets()
            if isinstance(widget, QDialog) and widget.isVisible() and not isinstance(widget, ApprovalDialog)
        ]

    @property
    def banners(self) -> tuple[str, ...]:
        return tuple(self.window.banners.keys)

    def banner(self, key: str) -> str:
        return self.window.banners._banners[key].accessibleName()

    def said(self) -> str:
        """Return the text of the displayed conversation, as drawn."""
        page = self.agent.transcript.widget()
        return "\n".join(words(label) for label in page.findChildren(QWidget) if words(label))

    @property
    def cards(self) -> list[ToolCardView]:
        found = self.agent.transcript.widget().findChildren(ToolCardView)
        return [card for card in found if card.isVisibleTo(self.agent)]

    # Waiting

    async def until(self, true: Callable[[], object], what: str = "", seconds: float = PATIENCE_S) -> None:
        """Wait until `true()`; a failed task of the window ends the wait."""
        deadline = asyncio.get_running_loop().time() + seconds
        while not true():
            self.check()
            late = asyncio.get_running_loop().time() >= deadline
            assert not late, f"it did not come true: {what}\n{self.describe()}"
            await asyncio.sleep(0.005)

    def describe(self) -> str:
        """Describe the state of the window, for the message of a failed test."""
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
        """Check that nothing in the window has failed, except for expected errors."""
        for failure in self.failures:
            if not isinstance(failure.error, self.expected_failures):
                raise AssertionError(f"failed to {failure.action}") from failure.error

    # Input

    async def click(self, widget: QWidget, at: QPoint | Callable[[], QPoint] | None = None) -> None:
        """Click a widget that is visible and enabled, at a point that may still move while it is laid out."""

        def place() -> QPoint:
            if at is None:
                return widget.rect().center()
            return at if isinstance(at, QPoint) else at()

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
        """Click the button `text`, in `inside` or in the open dialog."""
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
        """Choose the entry of an open menu with the mouse."""
        await self.until(lambda: any(action.text() == text for action in menu.actions()), f"menu has {text}")
        action: QAction = next(action for action in menu.actions() if action.text() == text)
        if menu.isVisible():
            QTest.mouseClick(menu, LEFT, Qt.KeyboardModifier.NoModifier, menu.actionGeometry(action).center())
        else:
            action.trigger()

    async def front(self) -> None:
        """Activate the window, as a window manager does when a dialog closes; shortcuts need it."""
        if not self.window.isActiveWindow():
            self.window.activateWindow()
            await self.until(self.window.isActiveWindow, "the window is in front")

    def key(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key in the focused widget."""
        target = QApplication.focusWidget() or self.window
        QTest.keyClick(target, key, modifier)

    def ctrl(self, key: Qt.Key) -> None:
        self.key(key, Qt.KeyboardModifier.ControlModifier)


def words(widget: QWidget) -> str:
    """Return the text that a widget draws."""
    if isinstance(widget, QLabel):
        return widget.text()
    plain = getattr(widget, "toPlainText", None)
    return plain() if plain is not None else ""
