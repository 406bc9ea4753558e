"""The window's commands and panels as data.

Menus, the command palette, keyboard shortcuts, the activity bar and the help read these tables. Targets are
names, so reading the tables does not import any feature: the welcome page appears before any panel is loaded.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtGui import QAction

from app.desktop.runtime.translation import QT_TRANSLATE_NOOP, translate

Area = Literal["side", "graph", "notes", "right", "bottom"]
When = Literal["always", "vault", "tab", "note"]


@dataclass(frozen=True, slots=True)
class Command:
    """A command in the window's menus.

    Attributes:
        id: Stored in settings and window state; never changes.
        title: Shown in its menu and in the command palette.
        menu: The menu that contains it.
        target: `module:function` or `module:Class.method`; called with the window and, if it is not empty,
            `argument`.
        argument: Distinguishes commands that share a function.
        shortcuts: The default shortcuts in Qt's portable form ("Ctrl+P"; Ctrl is Command on macOS). The user
            can change them; `keymap.Keymap` has the current ones.
        when: When it is enabled: always, with an open vault, with an open tab (a note or a page of the
            handbook), or with an open note.
        separator: True if a line separates it from the command above it in the menu.
        icon: Shown in the command palette.
        group: The group of mutually exclusive commands that it belongs to; the active one has a check mark.
            Empty for none.
        role: Its place in the application menu of macOS.
    """

    id: str
    title: str
    menu: str
    target: str
    argument: str = ""
    shortcuts: tuple[str, ...] = ()
    when: When = "vault"
    separator: bool = False
    icon: str = "caret-right"
    group: str = ""
    role: QAction.MenuRole = QAction.MenuRole.NoRole


@dataclass(frozen=True, slots=True)
class PanelSpec:
    """A panel in a vault's window.

    Attributes:
        id: Stored in the window state; never changes.
        title: Shown on its tab or as the tooltip of its button, and by the command that opens it.
        icon: Shown in the activity bar and in the command palette.
        area: Its area in the window.
        target: `module:callable`; called with the client, the theme and the parent.
        connect: `module:function`; connects the panel to its `PanelContext`.
    """

    id: str
    title: str
    icon: str
    area: Area
    target: str
    connect: str = "app.desktop.shell.panel_context:connect_links"


PANELS: tuple[PanelSpec, ...] = (
    PanelSpec(
        "files",
        QT_TRANSLATE_NOOP("Commands", "Files"),
        "files",
        "side",
        "app.desktop.files.panel:FilesPanel",
        connect="app.desktop.files.panel:connect",
    ),
    PanelSpec(
        "search",
        QT_TRANSLATE_NOOP("Commands", "Search"),
        "magnifying-glass",
        "side",
        "app.desktop.search.panel:SearchPanel",
        connect="app.desktop.search.panel:connect",
    ),
    PanelSpec(
        "tags",
        QT_TRANSLATE_NOOP("Commands", "Tags"),
        "hash",
        "side",
        "app.desktop.tags.panel:TagsPanel",
        connect="app.desktop.tags.panel:connect",
    ),
    PanelSpec(
        "outline",
        QT_TRANSLATE_NOOP("Commands", "Outline"),
        "list-bullets",
        "side",
        "app.desktop.outline.panel:OutlinePanel",
        connect="app.desktop.outline.panel:connect",
    ),
    PanelSpec(
        "tasks",
        QT_TRANSLATE_NOOP("Commands", "Tasks"),
        "check-square",
        "side",
        "app.desktop.tasks.panel:TasksPanel",
    ),
    PanelSpec(
        "bookmarks",
        QT_TRANSLATE_NOOP("Commands", "Bookmarks"),
        "bookmarks",
        "side",
        "app.desktop.bookmarks.panel:BookmarksPanel",
        connect="app.desktop.bookmarks.panel:connect",
    ),
    PanelSpec(
        "graph",
        QT_TRANSLATE_NOOP("Commands", "Graph"),
        "share-network",
        "graph",
        "app.desktop.graph.panel:GraphPanel",
        connect="app.desktop.graph.panel:connect",
    ),
    PanelSpec(
        "notes",
        QT_TRANSLATE_NOOP("Commands", "Notes"),
        "file-text",
        "notes",
        "app.desktop.notes.panel:create_note_tabs",
        connect="app.desktop.notes.panel:connect",
    ),
    PanelSpec(
        "agent",
        QT_TRANSLATE_NOOP("Commands", "Agent"),
        "sparkle",
        "right",
        "app.desktop.agent.panel:AgentPanel",
        connect="app.desktop.agent.panel:connect",
    ),
    PanelSpec(
        "activity",
        QT_TRANSLATE_NOOP("Commands", "Activity"),
        "activity",
        "bottom",
        "app.desktop.activity.panel:ActivityPanel",
        connect="app.desktop.activity.panel:connect",
    ),
    PanelSpec(
        "audit",
        QT_TRANSLATE_NOOP("Commands", "Audit log"),
        "clipboard-text",
        "bottom",
        "app.desktop.audit.panel:AuditPanel",
        connect="app.desktop.audit.panel:connect",
    ),
    PanelSpec(
        "memory",
        QT_TRANSLATE_NOOP("Commands", "Memory"),
        "brain",
        "bottom",
        "app.desktop.memory.panel:MemoryPanel",
    ),
    PanelSpec(
        "problems",
        QT_TRANSLATE_NOOP("Commands", "Problems"),
        "warning-circle",
        "bottom",
        "app.desktop.problems.panel:ProblemsPanel",
        connect="app.desktop.problems.panel:connect",
    ),
    PanelSpec(
        "suggestions",
        QT_TRANSLATE_NOOP("Commands", "Suggestions"),
        "git-fork",
        "bottom",
        "app.desktop.suggestions.panel:SuggestionsPanel",
        connect="app.desktop.suggestions.panel:connect",
    ),
    PanelSpec(
        "duplicates",
        QT_TRANSLATE_NOOP("Commands", "Duplicates"),
        "copy",
        "bottom",
        "app.desktop.duplicates.panel:DuplicatesPanel",
    ),
    PanelSpec(
        "sources",
        QT_TRANSLATE_NOOP("Commands", "Sources"),
        "broadcast",
        "bottom",
        "app.desktop.sources.panel:SourcesPanel",
    ),
    PanelSpec(
        "connections",
        QT_TRANSLATE_NOOP("Commands", "Connections"),
        "share",
        "bottom",
        "app.desktop.connections.panel:ConnectionsPanel",
        connect="app.desktop.connections.panel:connect",
    ),
)

_PANELS_BY_ID = {panel.id: panel for panel in PANELS}


def _panel_command(
    panel_id: str, *, menu: str = "View", shortcuts: tuple[str, ...] = (), separator: bool = False
) -> Command:
    """Return the command that shows a panel, with the panel's title and icon."""
    panel = _PANELS_BY_ID[panel_id]
    function = "show_side_panel" if panel.area == "side" else "show_bottom_panel"
    return Command(
        f"show-{panel_id}",
        panel.title,
        menu,
        f"app.desktop.vault_commands:{function}",
        panel_id,
        shortcuts=shortcuts,
        separator=separator,
        icon=panel.icon,
    )


COMMANDS: tuple[Command, ...] = (
    Command(
        "open-folder",
        QT_TRANSLATE_NOOP("Commands", "Open folder…"),
        "File",
        "app.desktop.main_window:MainWindow.pick_folder",
        shortcuts=("Ctrl+O",),
        when="always",
        icon="folder-open",
    ),
    Command(
        "open-sample",
        QT_TRANSLATE_NOOP("Commands", "Open sample vault"),
        "File",
        "app.desktop.main_window:MainWindow.open_sample",
        when="always",
        icon="flower",
    ),
    Command(
        "new-note",
        QT_TRANSLATE_NOOP("Commands", "New note…"),
        "File",
        "app.desktop.vault_commands:create_note",
        shortcuts=("Ctrl+N",),
        separator=True,
        icon="note-pencil",
    ),
    Command(
        "daily-note",
        QT_TRANSLATE_NOOP("Commands", "Open today's daily note"),
        "File",
        "app.desktop.vault_commands:run_writing_command",
        "daily",
        shortcuts=("Alt+D",),
        icon="calendar",
    ),
    Command(
        "random-note",
        QT_TRANSLATE_NOOP("Commands", "Open random note"),
        "File",
        "app.desktop.vault_commands:run_writing_command",
        "random",
        icon="shuffle",
    ),
    Command(
        "save-note",
        QT_TRANSLATE_NOOP("Commands", "Save"),
        "File",
        "app.desktop.vault_commands:run_in_note",
        "save",
        shortcuts=("Ctrl+S",),
        when="note",
        icon="floppy-disk",
    ),
    Command(
        "export-html",
        QT_TRANSLATE_NOOP("Commands", "Export to HTML…"),
        "File",
        "app.desktop.vault_commands:run_writing_command",
        "html",
        when="note",
        separator=True,
        icon="export",
    ),
    Command(
        "export-pdf",
        QT_TRANSLATE_NOOP("Commands", "Export to PDF…"),
        "File",
        "app.desktop.vault_commands:run_writing_command",
        "pdf",
        when="note",
        icon="file-pdf",
    ),
    Command(
        "print-note",
        QT_TRANSLATE_NOOP("Commands", "Print…"),
        "File",
        "app.desktop.vault_commands:run_writing_command",
        "print",
        when="note",
        icon="printer",
    ),
    Command(
        "close-tab",
        QT_TRANSLATE_NOOP("Commands", "Close tab"),
        "File",
        "app.desktop.vault_commands:close_tab",
        shortcuts=("Ctrl+W",),
        when="tab",
        separator=True,
        icon="x",
    ),
    Command(
        "reopen-tab",
        QT_TRANSLATE_NOOP("Commands", "Reopen closed tab"),
        "File",
        "app.desktop.vault_commands:reopen_tab",
        shortcuts=("Ctrl+Shift+T",),
        icon="arrow-u-up-left",
    ),
    Command(
        "close-vault",
        QT_TRANSLATE_NOOP("Commands", "Close vault"),
        "File",
        "app.desktop.main_window:MainWindow.close_vault",
        icon="x-circle",
    ),
    Command(
        "settings",
        QT_TRANSLATE_NOOP("Commands", "Settings…"),
        "File",
        "app.desktop.main_window:MainWindow.show_settings",
        shortcuts=("Ctrl+,",),
        when="always",
        separator=True,
        icon="gear-six",
        role=QAction.MenuRole.PreferencesRole,
    ),
    Command(
        "quit",
        QT_TRANSLATE_NOOP("Commands", "Quit"),
        "File",
        "app.desktop.window_commands:quit_app",
        shortcuts=("Ctrl+Q",),
        when="always",
        icon="power",
        role=QAction.MenuRole.QuitRole,
    ),
    Command(
        "edit-note",
        QT_TRANSLATE_NOOP("Commands", "Switch view: live, source, reading"),
        "Note",
        "app.desktop.vault_commands:run_in_note",
        "mode",
        shortcuts=("Ctrl+E",),
        when="note",
        icon="pencil-simple",
    ),
    Command(
        "find-in-note",
        QT_TRANSLATE_NOOP("Commands", "Find…"),
        "Note",
        "app.desktop.vault_commands:run_in_note",
        "find",
        shortcuts=("Ctrl+F",),
        when="tab",
        icon="magnifying-glass",
    ),
    Command(
        "replace-in-note",
        QT_TRANSLATE_NOOP("Commands", "Find and replace…"),
        "Note",
        "app.desktop.vault_commands:run_in_note",
        "replace",
        shortcuts=("Ctrl+H",),
        when="note",
        icon="swap",
    ),
    Command(
        "paste-plain",
        QT_TRANSLATE_NOOP("Commands", "Paste as plain text"),
        "Note",
        "app.desktop.vault_commands:run_writing_command",
        "paste",
        shortcuts=("Ctrl+Shift+V",),
        when="note",
        icon="clipboard",
    ),
    Command(
        "insert-template",
        QT_TRANSLATE_NOOP("Commands", "Insert template…"),
        "Note",
        "app.desktop.vault_commands:run_writing_command",
        "template",
        when="note",
        icon="note",
    ),
    Command(
        "bookmark-note",
        QT_TRANSLATE_NOOP("Commands", "Bookmark note"),
        "Note",
        "app.desktop.vault_commands:toggle_bookmark",
        when="note",
        icon="bookmark-simple",
    ),
    Command(
        "note-links",
        QT_TRANSLATE_NOOP("Commands", "Show links"),
        "Note",
        "app.desktop.vault_commands:run_in_note",
        "links",
        shortcuts=("Ctrl+Shift+L",),
        when="note",
        icon="link",
    ),
    Command(
        "note-history",
        QT_TRANSLATE_NOOP("Commands", "History…"),
        "Note",
        "app.desktop.vault_commands:run_note_command",
        "history",
        when="note",
        separator=True,
        icon="clock-counter-clockwise",
    ),
    Command(
        "note-graph",
        QT_TRANSLATE_NOOP("Commands", "Show in graph"),
        "Note",
        "app.desktop.vault_commands:run_note_command",
        "graph",
        when="note",
        icon="share-network",
    ),
    Command(
        "note-related",
        QT_TRANSLATE_NOOP("Commands", "Find related notes"),
        "Note",
        "app.desktop.vault_commands:run_note_command",
        "related",
        when="note",
        icon="circles-three",
    ),
    Command(
        "note-ask",
        QT_TRANSLATE_NOOP("Commands", "Attach to agent prompt"),
        "Note",
        "app.desktop.vault_commands:run_note_command",
        "ask",
        when="note",
        icon="sparkle",
    ),
    Command(
        "note-copy-link",
        QT_TRANSLATE_NOOP("Commands", "Copy link"),
        "Note",
        "app.desktop.vault_commands:run_note_command",
        "copy-link",
        when="note",
        icon="copy",
    ),
    Command(
        "note-reveal",
        QT_TRANSLATE_NOOP("Commands", "Show in file manager"),
        "Note",
        "app.desktop.vault_commands:run_note_command",
        "reveal",
        when="note",
        icon="folder-open",
    ),
    Command(
        "note-rename",
        QT_TRANSLATE_NOOP("Commands", "Rename…"),
        "Note",
        "app.desktop.vault_commands:run_note_command",
        "rename",
        when="note",
        separator=True,
        icon="text-t",
    ),
    Command(
        "note-delete",
        QT_TRANSLATE_NOOP("Commands", "Delete…"),
        "Note",
        "app.desktop.vault_commands:run_note_command",
        "delete",
        when="note",
        icon="trash",
    ),
    Command(
        "go-note",
        QT_TRANSLATE_NOOP("Commands", "Go to note…"),
        "Go",
        "app.desktop.window_commands:show_note_palette",
        shortcuts=("Ctrl+P",),
        icon="file-text",
    ),
    Command(
        "commands",
        QT_TRANSLATE_NOOP("Commands", "Command palette…"),
        "Go",
        "app.desktop.window_commands:show_command_palette",
        shortcuts=("Ctrl+Shift+P",),
        when="always",
        icon="command",
    ),
    Command(
        "back",
        QT_TRANSLATE_NOOP("Commands", "Back"),
        "Go",
        "app.desktop.window_commands:go_back",
        shortcuts=("Alt+Left",),
        separator=True,
        icon="arrow-left",
    ),
    Command(
        "forward",
        QT_TRANSLATE_NOOP("Commands", "Forward"),
        "Go",
        "app.desktop.window_commands:go_forward",
        shortcuts=("Alt+Right",),
        icon="arrow-right",
    ),
    Command(
        "next-tab",
        QT_TRANSLATE_NOOP("Commands", "Next tab"),
        "Go",
        "app.desktop.vault_commands:show_next_tab",
        shortcuts=("Ctrl+Tab",),
        when="tab",
        separator=True,
        icon="caret-right",
    ),
    Command(
        "previous-tab",
        QT_TRANSLATE_NOOP("Commands", "Previous tab"),
        "Go",
        "app.desktop.vault_commands:show_previous_tab",
        shortcuts=("Ctrl+Shift+Tab",),
        when="tab",
        icon="caret-left",
    ),
    _panel_command("files", shortcuts=("Ctrl+Shift+E",)),
    Command(
        "show-search",
        _PANELS_BY_ID["search"].title,
        "View",
        "app.desktop.vault_commands:show_search",
        shortcuts=("Ctrl+Shift+F",),
        icon="magnifying-glass",
    ),
    _panel_command("tags", shortcuts=("Ctrl+Shift+G",)),
    _panel_command("outline"),
    _panel_command("tasks"),
    _panel_command("bookmarks"),
    Command(
        "toggle-side",
        QT_TRANSLATE_NOOP("Commands", "Show or hide the side panel"),
        "View",
        "app.desktop.vault_commands:toggle_area",
        "side",
        shortcuts=("Ctrl+B",),
        separator=True,
        icon="layout",
    ),
    Command(
        "toggle-graph",
        QT_TRANSLATE_NOOP("Commands", "Show or hide the graph"),
        "View",
        "app.desktop.vault_commands:toggle_area",
        "graph",
        shortcuts=("Ctrl+Shift+M",),
        icon="share-network",
    ),
    Command(
        "toggle-agent",
        QT_TRANSLATE_NOOP("Commands", "Show or hide the agent"),
        "View",
        "app.desktop.vault_commands:toggle_area",
        "agent",
        shortcuts=("Ctrl+Shift+A",),
        icon="sparkle",
    ),
    Command(
        "toggle-bottom",
        QT_TRANSLATE_NOOP("Commands", "Show or hide the bottom panel"),
        "View",
        "app.desktop.vault_commands:toggle_area",
        "bottom",
        shortcuts=("Ctrl+J",),
        icon="rows",
    ),
    Command(
        "split-right",
        QT_TRANSLATE_NOOP("Commands", "Split notes"),
        "View",
        "app.desktop.vault_commands:split_notes",
        shortcuts=("Ctrl+\\",),
        when="tab",
        icon="columns",
    ),
    Command(
        "focus-agent",
        QT_TRANSLATE_NOOP("Commands", "Ask the agent"),
        "View",
        "app.desktop.vault_commands:focus_agent",
        shortcuts=("Ctrl+L",),
        separator=True,
        icon="chat-teardrop-text",
    ),
    _panel_command("activity"),
    _panel_command("audit"),
    _panel_command("memory"),
    _panel_command("problems"),
    _panel_command("suggestions"),
    _panel_command("duplicates"),
    _panel_command("sources"),
    Command(
        "graph-find",
        QT_TRANSLATE_NOOP("Commands", "Find in graph"),
        "View",
        "app.desktop.vault_commands:run_in_graph",
        "find",
        separator=True,
        icon="magnifying-glass",
    ),
    Command(
        "graph-sheet",
        QT_TRANSLATE_NOOP("Commands", "Graph settings"),
        "View",
        "app.desktop.vault_commands:run_in_graph",
        "settings",
        icon="sliders-horizontal",
    ),
    Command(
        "graph-png",
        QT_TRANSLATE_NOOP("Commands", "Export graph as PNG…"),
        "View",
        "app.desktop.vault_commands:run_in_graph",
        "png",
        icon="download-simple",
    ),
    Command(
        "graph-svg",
        QT_TRANSLATE_NOOP("Commands", "Export graph as SVG…"),
        "View",
        "app.desktop.vault_commands:run_in_graph",
        "svg",
        icon="download-simple",
    ),
    Command(
        "zoom-in",
        QT_TRANSLATE_NOOP("Commands", "Zoom in"),
        "View",
        "app.desktop.window_commands:zoom_in",
        shortcuts=("Ctrl++", "Ctrl+="),
        when="always",
        separator=True,
    ),
    Command(
        "zoom-out",
        QT_TRANSLATE_NOOP("Commands", "Zoom out"),
        "View",
        "app.desktop.window_commands:zoom_out",
        shortcuts=("Ctrl+-",),
        when="always",
    ),
    Command(
        "zoom-reset",
        QT_TRANSLATE_NOOP("Commands", "Reset zoom"),
        "View",
        "app.desktop.window_commands:reset_zoom",
        shortcuts=("Ctrl+0",),
        when="always",
    ),
    Command(
        "full-screen",
        QT_TRANSLATE_NOOP("Commands", "Full screen"),
        "View",
        "app.desktop.window_commands:toggle_full_screen",
        shortcuts=("F11",),
        when="always",
    ),
    Command(
        "theme-light",
        QT_TRANSLATE_NOOP("Commands", "Theme: light"),
        "View",
        "app.desktop.window_commands:set_theme",
        "light",
        when="always",
        separator=True,
        icon="sun",
        group="theme",
    ),
    Command(
        "theme-dark",
        QT_TRANSLATE_NOOP("Commands", "Theme: dark"),
        "View",
        "app.desktop.window_commands:set_theme",
        "dark",
        when="always",
        icon="moon",
        group="theme",
    ),
    Command(
        "theme-high-contrast",
        QT_TRANSLATE_NOOP("Commands", "Theme: high contrast"),
        "View",
        "app.desktop.window_commands:set_theme",
        "high-contrast",
        when="always",
        icon="circle-half",
        group="theme",
    ),
    Command(
        "theme-system",
        QT_TRANSLATE_NOOP("Commands", "Theme: system"),
        "View",
        "app.desktop.window_commands:set_theme",
        "system",
        when="always",
        icon="desktop",
        group="theme",
    ),
    Command(
        "rescan",
        QT_TRANSLATE_NOOP("Commands", "Rescan vault"),
        "Vault",
        "app.desktop.window_commands:rescan",
        icon="arrows-clockwise",
    ),
    Command(
        "reveal-vault",
        QT_TRANSLATE_NOOP("Commands", "Show vault folder"),
        "Vault",
        "app.desktop.vault_commands:reveal_vault",
        icon="folder-simple",
    ),
    _panel_command("connections", menu="Vault", separator=True),
    Command(
        "grants",
        QT_TRANSLATE_NOOP("Commands", "Auto-approve rules…"),
        "Vault",
        "app.desktop.main_window:MainWindow.show_grants",
        icon="lock-simple",
    ),
    Command(
        "help-handbook",
        QT_TRANSLATE_NOOP("Commands", "Handbook"),
        "Help",
        "app.desktop.main_window:MainWindow.show_handbook",
        shortcuts=("F1",),
        when="always",
        icon="question",
    ),
    Command(
        "help-tools",
        QT_TRANSLATE_NOOP("Commands", "Tools"),
        "Help",
        "app.desktop.main_window:MainWindow.show_help",
        "tools",
        when="always",
        icon="wrench",
    ),
    Command(
        "help-shortcuts",
        QT_TRANSLATE_NOOP("Commands", "Keyboard shortcuts"),
        "Help",
        "app.desktop.main_window:MainWindow.show_help",
        "shortcuts",
        when="always",
        icon="keyboard",
    ),
    Command(
        "check-updates",
        QT_TRANSLATE_NOOP("Commands", "Check for updates…"),
        "Help",
        "app.desktop.main_window:MainWindow.check_for_updates",
        when="always",
        separator=True,
        icon="download",
    ),
    Command(
        "help-about",
        QT_TRANSLATE_NOOP("Commands", "About Scriptorium"),
        "Help",
        "app.desktop.main_window:MainWindow.show_help",
        "about",
        when="always",
        icon="info",
        role=QAction.MenuRole.AboutRole,
    ),
)

COMMANDS_BY_ID = {command.id: command for command in COMMANDS}

MENUS = (
    QT_TRANSLATE_NOOP("Commands", "File"),
    QT_TRANSLATE_NOOP("Commands", "Note"),
    QT_TRANSLATE_NOOP("Commands", "Go"),
    QT_TRANSLATE_NOOP("Commands", "View"),
    QT_TRANSLATE_NOOP("Commands", "Vault"),
    QT_TRANSLATE_NOOP("Commands", "Help"),
)


def module_of(target: str) -> str:
    """Return the module name in a target."""
    return target.partition(":")[0]


def resolve(target: str) -> Callable[..., Any]:
    """Import a target's module and return the target's function, method or class."""
    module, _, name = target.partition(":")
    resolved: Callable[..., Any] = operator.attrgetter(name)(importlib.import_module(module))
    return resolved


def translate_title(title: str) -> str:
    """Translate a title in the tables into the user's language."""
    return translate("Commands", title)


def command_title(command_id: str) -> str:
    """Return a command's title in the user's language."""
    return translate_title(COMMANDS_BY_ID[command_id].title)


def panel_title(panel_id: str) -> str:
    """Return a panel's title in the user's language."""
    return translate_title(_PANELS_BY_ID[panel_id].title)
