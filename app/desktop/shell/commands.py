"""Commands as data: what the menus, the shortcuts and the command palette all show.

A command has an id, a title and perhaps shortcuts; the window says what each id does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    `menu` is the menu it stands in; `needs_vault` greys it out without one, `needs_note` while no note is
    open. `shortcuts` are in Qt's portable form ("Ctrl+P"; Ctrl is Command on macOS). One with `line` has
    a separator over it in its menu.
    """

    id: str
    title: str
    menu: str
    shortcuts: tuple[str, ...] = ()
    needs_vault: bool = True
    line: bool = False
    symbol: str = ""
    needs_note: bool = False


COMMANDS: tuple[Command, ...] = (
    Command("open-folder", "Open folder…", "File", ("Ctrl+O",), needs_vault=False, symbol="folder-open"),
    Command("open-sample", "Open the sample vault", "File", needs_vault=False, symbol="flower"),
    Command("new-note", "New note…", "File", ("Ctrl+N",), symbol="note-pencil", line=True),
    Command("daily-note", "Open today's daily note", "File", ("Alt+D",), symbol="calendar"),
    Command("random-note", "Open a random note", "File", symbol="shuffle"),
    Command("save-note", "Save", "File", ("Ctrl+S",), needs_note=True, symbol="floppy-disk"),
    Command("export-html", "Export to HTML…", "File", needs_note=True, line=True, symbol="export"),
    Command("export-pdf", "Export to PDF…", "File", needs_note=True, symbol="file-pdf"),
    Command("print-note", "Print…", "File", needs_note=True, symbol="printer"),
    Command("close-tab", "Close tab", "File", ("Ctrl+W",), line=True, needs_note=True, symbol="x"),
    Command("reopen-tab", "Reopen closed tab", "File", ("Ctrl+Shift+T",), symbol="arrow-u-up-left"),
    Command("close-vault", "Close vault", "File", symbol="x-circle"),
    Command("settings", "Settings…", "File", ("Ctrl+,",), needs_vault=False, line=True, symbol="gear-six"),
    Command("quit", "Quit", "File", ("Ctrl+Q",), needs_vault=False, symbol="power"),
    Command(
        "edit-note",
        "Switch view: live, source, reading",
        "Note",
        ("Ctrl+E",),
        needs_note=True,
        symbol="pencil-simple",
    ),
    Command("find-in-note", "Find…", "Note", ("Ctrl+F",), needs_note=True, symbol="magnifying-glass"),
    Command("replace-in-note", "Find and replace…", "Note", ("Ctrl+H",), needs_note=True, symbol="swap"),
    Command(
        "paste-plain", "Paste as plain text", "Note", ("Ctrl+Shift+V",), needs_note=True, symbol="clipboard"
    ),
    Command("insert-template", "Insert a template…", "Note", needs_note=True, symbol="note"),
    Command("bookmark-note", "Bookmark the note", "Note", needs_note=True, symbol="bookmark-simple"),
    Command("note-links", "Links of the note", "Note", ("Ctrl+Shift+L",), needs_note=True, symbol="link"),
    Command("note-history", "History…", "Note", line=True, needs_note=True, symbol="clock-counter-clockwise"),
    Command("note-graph", "Show in the graph", "Note", needs_note=True, symbol="share-network"),
    Command("note-related", "Find related notes", "Note", needs_note=True, symbol="circles-three"),
    Command("note-ask", "Give to the agent", "Note", needs_note=True, symbol="sparkle"),
    Command("note-copy-link", "Copy the link", "Note", needs_note=True, symbol="copy"),
    Command("note-reveal", "Show in the file manager", "Note", needs_note=True, symbol="folder-open"),
    Command("note-rename", "Rename…", "Note", line=True, needs_note=True, symbol="text-t"),
    Command("note-delete", "Delete…", "Note", needs_note=True, symbol="trash"),
    Command("go-note", "Go to note…", "Go", ("Ctrl+P",), symbol="file-text"),
    Command("commands", "Command palette…", "Go", ("Ctrl+Shift+P",), needs_vault=False, symbol="command"),
    Command("back", "Back", "Go", ("Alt+Left",), line=True, symbol="arrow-left"),
    Command("forward", "Forward", "Go", ("Alt+Right",), symbol="arrow-right"),
    Command("next-tab", "Next tab", "Go", ("Ctrl+Tab",), line=True, needs_note=True, symbol="caret-right"),
    Command("previous-tab", "Previous tab", "Go", ("Ctrl+Shift+Tab",), needs_note=True, symbol="caret-left"),
    Command("show-files", "Files", "View", ("Ctrl+Shift+E",), symbol="files"),
    Command("show-search", "Search", "View", ("Ctrl+Shift+F",), symbol="magnifying-glass"),
    Command("show-tags", "Tags", "View", ("Ctrl+Shift+G",), symbol="hash"),
    Command("show-outline", "Outline", "View", symbol="list-bullets"),
    Command("show-tasks", "Tasks", "View", symbol="check-square"),
    Command("show-bookmarks", "Bookmarks", "View", symbol="bookmarks"),
    Command("toggle-side", "Show or hide the side panel", "View", ("Ctrl+B",), line=True, symbol="layout"),
    Command("toggle-graph", "Show or hide the graph", "View", ("Ctrl+Shift+M",), symbol="share-network"),
    Command("toggle-agent", "Show or hide the agent", "View", ("Ctrl+Shift+A",), symbol="sparkle"),
    Command("toggle-bottom", "Show or hide activity", "View", ("Ctrl+J",), symbol="rows"),
    Command("split-right", "Split the notes", "View", ("Ctrl+\\",), needs_note=True, symbol="columns"),
    Command("focus-agent", "Ask the agent", "View", ("Ctrl+L",), line=True, symbol="chat-teardrop-text"),
    Command("show-activity", "Activity", "View", symbol="activity"),
    Command("show-audit", "Audit log", "View", symbol="clipboard-text"),
    Command("show-memory", "Memory", "View", symbol="brain"),
    Command("show-sources", "Sources", "View", symbol="broadcast"),
    Command("show-suggestions", "Suggested relations", "View", symbol="git-fork"),
    Command("show-problems", "Problems of the index", "View", symbol="warning-circle"),
    Command("graph-find", "Find in the graph", "View", line=True, symbol="magnifying-glass"),
    Command("graph-sheet", "Graph: filters, groups, forces", "View", symbol="sliders-horizontal"),
    Command("graph-png", "Save the graph as a picture…", "View", symbol="download-simple"),
    Command("graph-svg", "Save the graph as a drawing…", "View", symbol="download-simple"),
    Command("show-duplicates", "Near-duplicates", "View", symbol="copy"),
    Command("zoom-in", "Larger", "View", ("Ctrl++", "Ctrl+="), needs_vault=False, line=True),
    Command("zoom-out", "Smaller", "View", ("Ctrl+-",), needs_vault=False),
    Command("zoom-reset", "Normal size", "View", ("Ctrl+0",), needs_vault=False),
    Command("full-screen", "Full screen", "View", ("F11",), needs_vault=False),
    Command("theme-light", "Theme: light", "View", needs_vault=False, line=True, symbol="sun"),
    Command("theme-dark", "Theme: dark", "View", needs_vault=False, symbol="moon"),
    Command("theme-high-contrast", "Theme: high contrast", "View", needs_vault=False, symbol="circle-half"),
    Command("theme-system", "Theme: as the system", "View", needs_vault=False, symbol="desktop"),
    Command("rescan", "Read the vault again", "Vault", symbol="arrows-clockwise"),
    Command("reveal-vault", "Show the vault's folder", "Vault", symbol="folder-simple"),
    Command("show-connections", "Connections", "Vault", line=True, symbol="share"),
    Command("grants", "What is auto-approved…", "Vault", symbol="lock-simple"),
    Command("help-handbook", "Handbook", "Help", ("F1",), needs_vault=False, symbol="question"),
    Command("help-tools", "Tools", "Help", needs_vault=False, symbol="wrench"),
    Command("help-shortcuts", "Keyboard shortcuts", "Help", needs_vault=False, symbol="keyboard"),
    Command("check-updates", "Check for updates…", "Help", needs_vault=False, line=True, symbol="download"),
    Command("help-about", "About Scriptorium", "Help", needs_vault=False, symbol="info"),
)

MENUS = ("File", "Note", "Go", "View", "Vault", "Help")


def translate(text: str) -> str:
    """`text` in the language of the window."""
    return QCoreApplication.translate("Commands", text)


class Actions:
    """The window's `QAction`s by command id, in its menus, each bound to what `handlers` says.

    Raises:
        ValueError: a command has no handler, or a handler no command.
    """

    def __init__(self, window: QMainWindow, handlers: Mapping[str, Callable[[], object]]) -> None:
        if odd := {command.id for command in COMMANDS} ^ set(handlers):
            raise ValueError(f"commands and handlers differ: {sorted(odd)}")
        self._handlers = handlers
        self._has_vault = self._has_note = False
        self.menus: dict[str, QMenu] = {
            name: window.menuBar().addMenu(f"&{translate(name)}") for name in MENUS
        }
        self.by_id: dict[str, QAction] = {command.id: self._make(window, command) for command in COMMANDS}
        self.set_has_vault(False)

    def set_has_vault(self, has_vault: bool) -> None:
        """Grey out what needs a vault, or bring back what does not need a note too."""
        self._has_vault = has_vault
        self.set_has_note(False)

    def set_has_note(self, has_note: bool) -> None:
        """Grey out what needs an open note, or bring it back."""
        self._has_note = has_note and self._has_vault
        for command in COMMANDS:
            self.by_id[command.id].setEnabled(self._can_be_done(command))

    def run(self, command_id: str) -> None:
        """Do what the command does, if it can be done now."""
        action = self.by_id[command_id]
        if action.isEnabled():
            action.trigger()

    def available(self) -> tuple[Command, ...]:
        """The commands that can be done now."""
        return tuple(command for command in COMMANDS if self.by_id[command.id].isEnabled())

    def _can_be_done(self, command: Command) -> bool:
        return (self._has_vault or not command.needs_vault) and (self._has_note or not command.needs_note)

    def _make(self, window: QMainWindow, command: Command) -> QAction:
        action = QAction(translate(command.title), window)
        action.setShortcuts([QKeySequence(keys) for keys in command.shortcuts])
        action.setMenuRole(_ROLES.get(command.id, QAction.MenuRole.NoRole))
        handler = self._handlers[command.id]
        action.triggered.connect(lambda *_: handler())
        menu = self.menus[command.menu]
        if command.line:
            menu.addSeparator()
        menu.addAction(action)
        return action


_ROLES = {
    "settings": QAction.MenuRole.PreferencesRole,
    "quit": QAction.MenuRole.QuitRole,
    "help-about": QAction.MenuRole.AboutRole,
}


def shortcut_text(command: Command) -> str:
    """The first shortcut as this platform writes it; empty if there is none."""
    if not command.shortcuts:
        return ""
    return QKeySequence(command.shortcuts[0]).toString(QKeySequence.SequenceFormat.NativeText)
