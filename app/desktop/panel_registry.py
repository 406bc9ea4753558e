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
from app.desktop.theme.theme import ThemeSource

Area = Literal["side", "graph", "notes", "right", "bottom"]
Make = Callable[[VaultClient, ThemeSource, QWidget], QWidget]


@dataclass(frozen=True, slots=True)
class PanelSpec:
    """A panel: its id, its title, its icon, where it stands, and what makes it."""

    id: str
    title: str
    symbol: str
    area: Area
    make: Make


def _files(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.files.panel import FilesPanel

    return FilesPanel(client, theme, parent)


def _search(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.search.panel import SearchPanel

    return SearchPanel(client, theme, parent)


def _tags(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.tags.panel import TagsPanel

    return TagsPanel(client, theme, parent)


def _outline(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.outline.panel import OutlinePanel

    return OutlinePanel(client, theme, parent)


def _tasks(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.tasks.panel import TasksPanel

    return TasksPanel(client, theme, parent)


def _bookmarks(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.bookmarks.panel import BookmarksPanel

    return BookmarksPanel(client, theme, parent)


def _graph(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.graph.panel import GraphPanel

    return GraphPanel(client, theme, parent)


def _notes(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.notes.spelling import Spelling
    from app.desktop.notes.tabs import NoteTabs
    from app.desktop.notes.view import NoteView

    spelling = Spelling(client)  # one for all tabs: a dictionary takes time and memory
    area = NoteTabs(client, theme, partial(NoteView, spelling=spelling), parent)
    spelling.setParent(area)
    return area


def _agent(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.agent.panel import AgentPanel

    return AgentPanel(client, theme, parent)


def _activity(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.activity.panel import ActivityPanel

    return ActivityPanel(client, theme, parent)


def _audit(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.audit.panel import AuditPanel

    return AuditPanel(client, theme, parent)


def _memory(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.memory.panel import MemoryPanel

    return MemoryPanel(client, theme, parent)


def _problems(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.problems.panel import ProblemsPanel

    return ProblemsPanel(client, theme, parent)


def _duplicates(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.duplicates.panel import DuplicatesPanel

    return DuplicatesPanel(client, theme, parent)


def _sources(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.sources.panel import SourcesPanel

    return SourcesPanel(client, theme, parent)


def _suggestions(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.suggestions.panel import SuggestionsPanel

    return SuggestionsPanel(client, theme, parent)


def _connections(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    from app.desktop.connections.panel import ConnectionsPanel

    return ConnectionsPanel(client, theme, parent)


PANELS: tuple[PanelSpec, ...] = (
    PanelSpec("files", "Files", "files", "side", _files),
    PanelSpec("search", "Search", "magnifying-glass", "side", _search),
    PanelSpec("tags", "Tags", "hash", "side", _tags),
    PanelSpec("outline", "Outline", "list-bullets", "side", _outline),
    PanelSpec("tasks", "Tasks", "check-square", "side", _tasks),
    PanelSpec("bookmarks", "Bookmarks", "bookmarks", "side", _bookmarks),
    PanelSpec("graph", "Graph", "share-network", "graph", _graph),
    PanelSpec("notes", "Notes", "file-text", "notes", _notes),
    PanelSpec("agent", "Agent", "sparkle", "right", _agent),
    PanelSpec("activity", "Activity", "activity", "bottom", _activity),
    PanelSpec("audit", "Audit log", "clipboard-text", "bottom", _audit),
    PanelSpec("memory", "Memory", "brain", "bottom", _memory),
    PanelSpec("problems", "Problems", "warning-circle", "bottom", _problems),
    PanelSpec("suggestions", "Suggestions", "git-fork", "bottom", _suggestions),
    PanelSpec("duplicates", "Duplicates", "copy", "bottom", _duplicates),
    PanelSpec("sources", "Sources", "broadcast", "bottom", _sources),
    PanelSpec("connections", "Connections", "plugs", "bottom", _connections),
)
