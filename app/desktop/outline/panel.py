"""The outline panel: the headings of the active note as a tree."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QStackedWidget, QTreeWidget, QTreeWidgetItem, QTreeWidgetItemIterator, QWidget
from shiboken6 import isValid

from app.desktop.bridge import VaultClient
from app.desktop.notes.view import NoteView
from app.desktop.shell.command_registry import panel_title
from app.desktop.shell.panel_context import PanelContext, connect_links
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.item_opening import connect_open
from app.desktop.widgets.panel import EmptyState, Panel
from app.vault.note import Heading

LINE_ROLE = int(Qt.ItemDataRole.UserRole)


class OutlinePanel(Panel):
    """Shows the headings of the note given to `set_note`.

    `open_requested` carries the note's path and the fragment `line=N` of a heading.
    """

    open_requested = Signal(str, str)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(panel_title("outline"), parent)
        self._note: NoteView | None = None
        self._headings: tuple[tuple[int, str, int], ...] | None = None
        self.tree = QTreeWidget()
        self.tree.setHeaderHidden(True)
        self.tree.setIndentation(14)
        self.tree.setUniformRowHeights(True)
        self.tree.setAccessibleName(self.tr("Headings of the note"))
        self._empty = EmptyState(theme, "list-bullets", "", "")
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.tree)
        self.column.addWidget(self._stack, 1)
        connect_open(self.tree, lambda index: self._open(self.tree.itemFromIndex(index)))
        self.set_note(None)

    def set_note(self, note: NoteView | None) -> None:
        """Show the headings of `note` and follow it; None if no note is open."""
        if note is self._note and note is not None:
            return
        if self._note is not None and isValid(self._note):
            self._note.document.loaded.disconnect(self._refresh)
            self._note.document.saved.disconnect(self._refresh)
            self._note.destroyed.disconnect(self._clear_note)
        self._note = note
        if note is not None:
            note.document.loaded.connect(self._refresh)
            note.document.saved.connect(self._refresh)
            note.destroyed.connect(self._clear_note)
        self._refresh()

    def show_headings(self, headings: Sequence[Heading]) -> None:
        """Show `headings` as a tree, each under the nearest heading above it with a higher rank."""
        rows = tuple((heading.level, heading.text, heading.line) for heading in headings)
        if rows == self._headings:
            return
        only_lines_changed = self._headings is not None and [row[:2] for row in rows] == [
            row[:2] for row in self._headings
        ]
        self._headings = rows
        self._stack.setCurrentWidget(self.tree if headings else self._empty)
        if only_lines_changed:
            self._renumber([line for *_, line in rows])
            return
        self.tree.clear()
        ancestors: list[tuple[int, QTreeWidgetItem]] = []
        for level, text, line in rows:
            item = QTreeWidgetItem([text or self.tr("(empty heading)")])
            item.setData(0, LINE_ROLE, line)
            item.setToolTip(0, text)
            while ancestors and ancestors[-1][0] >= level:
                ancestors.pop()
            if ancestors:
                ancestors[-1][1].addChild(item)
            else:
                self.tree.addTopLevelItem(item)
            ancestors.append((level, item))
        self.tree.expandAll()

    def _renumber(self, lines: list[int]) -> None:
        """Update the line numbers of the headings, keeping the expansion and the selection."""
        iterator = QTreeWidgetItemIterator(self.tree)
        for line in lines:
            if (item := iterator.value()) is not None:
                item.setData(0, LINE_ROLE, line)
            iterator += 1

    def _refresh(self, *_: object) -> None:
        page = self._note.document.page if self._note is not None else None
        if page is None:
            self._empty.set_message(
                self.tr("No note is open"), self.tr("The headings of a note are listed here.")
            )
        else:
            self._empty.set_message(self.tr("No headings"), self.tr("Start a line with # to add one."))
        self.show_headings(page.parsed.headings if page is not None else ())

    def _clear_note(self) -> None:
        self._note = None
        self._refresh()

    def _open(self, item: QTreeWidgetItem) -> None:
        if self._note is not None:
            self.open_requested.emit(self._note.path, f"line={item.data(0, LINE_ROLE)}")


def connect(panel: OutlinePanel, context: PanelContext) -> None:
    """Connect the panel to the window and the other panels."""
    connect_links(panel, context)

    def set_note() -> None:
        panel.set_note(context.note if isinstance(context.note, NoteView) else None)

    context.note_shown.connect(set_note)
    set_note()
