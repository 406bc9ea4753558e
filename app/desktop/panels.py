"""Which panels the window of a vault has, where each stands, and what makes it.

Each part is imported when a vault is opened, not when the app starts: the welcome page is there first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from PySide6.QtWidgets import QWidget

from app.desktop.bridge import VaultClient
from app.desktop.theme import ThemeSource

Area = Literal["side", "graph", "notes", "right", "bottom"]
Make = Callable[[VaultClient, ThemeSource, QWidget], QWidget]


@dataclass(frozen=True, slots=True)
class PanelKind:
    """A panel: its id, its title, its icon, where it stands, and what makes it."""

    id: str
    title: str
    symbol: str
    area: Area
    make: Make


def _files(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.files_panel import FilesPanel

    return FilesPanel(client, theme, parent)


def _search(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.search_panel import SearchPanel

    return SearchPanel(client, theme, parent)


def _tags(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.tags_panel import TagsPanel

    return TagsPanel(client, theme, parent)


def _outline(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.writing.outline_panel import OutlinePanel

    return OutlinePanel(client, theme, parent)


def _tasks(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.writing.tasks_panel import TasksPanel

    return TasksPanel(client, theme, parent)


def _bookmarks(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.writing.bookmarks_panel import BookmarksPanel

    return BookmarksPanel(client, theme, parent)


def _graph(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.graph_panel import GraphPanel

    return GraphPanel(client, theme, parent)


def _notes(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.note_area import NoteArea
    from app.desktop.note_view.view import NoteView
    from app.desktop.notes.spelling import Spelling

    spelling = Spelling(client)  # one for all tabs: a dictionary takes time and memory
    area = NoteArea(client, theme, partial(NoteView, spelling=spelling), parent)
    spelling.setParent(area)
    return area


def _agent(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.agent_panel.panel import AgentPanel

    return AgentPanel(client, theme, parent)


def _activity(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.activity_panel import ActivityPanel

    return ActivityPanel(client, theme, parent)


def _audit(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.audit_panel import AuditPanel

    return AuditPanel(client, theme, parent)


def _memory(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.memory_panel.panel import MemoryPanel

    return MemoryPanel(client, theme, parent)


def _problems(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.problems_panel import ProblemsPanel

    return ProblemsPanel(client, theme, parent)


def _duplicates(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.duplicates_panel import DuplicatesPanel

    return DuplicatesPanel(client, theme, parent)


def _sources(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.sources_panel import SourcesPanel

    return SourcesPanel(client, theme, parent)


def _suggestions(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.suggestions.panel import SuggestionsPanel

    return SuggestionsPanel(client, theme, parent)


def _connections(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.connections.panel import ConnectionsPanel

    return ConnectionsPanel(client, theme, parent)


PANELS: tuple[PanelKind, ...] = (
    PanelKind("files", "Files", "files", "side", _files),
    PanelKind("search", "Search", "magnifying-glass", "side", _search),
    PanelKind("tags", "Tags", "hash", "side", _tags),
    PanelKind("outline", "Outline", "list-bullets", "side", _outline),
    PanelKind("tasks", "Tasks", "check-square", "side", _tasks),
    PanelKind("bookmarks", "Bookmarks", "bookmarks", "side", _bookmarks),
    PanelKind("graph", "Graph", "share-network", "graph", _graph),
    PanelKind("notes", "Notes", "file-text", "notes", _notes),
    PanelKind("agent", "Agent", "sparkle", "right", _agent),
    PanelKind("activity", "Activity", "activity", "bottom", _activity),
    PanelKind("audit", "Audit log", "clipboard-text", "bottom", _audit),
    PanelKind("memory", "Memory", "brain", "bottom", _memory),
    PanelKind("problems", "Problems", "warning-circle", "bottom", _problems),
    PanelKind("suggestions", "Suggestions", "git-fork", "bottom", _suggestions),
    PanelKind("duplicates", "Duplicates", "copy", "bottom", _duplicates),
    PanelKind("sources", "Sources", "broadcast", "bottom", _sources),
    PanelKind("connections", "Connections", "plugs", "bottom", _connections),
)
