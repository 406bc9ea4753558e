"""The graph's context menus: for one node, for several and for the background."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from app.desktop.bridge import VaultClient
from app.desktop.graph.view import GraphView
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import PluralText
from app.desktop.shell.command_registry import command_title
from app.permissions.caller import Caller
from app.vault.path import NotePath

_MAX_OPENED_NOTES = 12
_LOCAL_GRAPH_DEPTH = 2


class GraphMenu(QObject):
    """Opens context menus over `view`.

    Signals:
        open_requested: A path, or the name of a missing note.
        action_requested: An action, for example "rename", and a note's path.
        path_start_chosen: The note at which a path starts.
        path_requested: Both ends of a path.
        suggestions_requested: The note to suggest links for.
        search_requested: A query.
    """

    open_requested = Signal(str)
    action_requested = Signal(str, str)
    path_start_chosen = Signal(str)
    path_requested = Signal(str, str)
    suggestions_requested = Signal(str)
    search_requested = Signal(str)

    def __init__(self, client: VaultClient, view: GraphView) -> None:
        super().__init__(view)
        self._client = client
        self._view = view
        view.context_requested.connect(self._request_menu)

    def _request_menu(self, path: str, position: QPoint) -> None:
        tasks.start(self._open_menu(path, position), owner=self._view, action=self.tr("open the menu"))

    async def _open_menu(self, path: str, position: QPoint) -> None:
        tools = await self._client.run(
            lambda vault: frozenset(tool.name for tool in vault.tools.tools(Caller.user()))
        )
        self.create_menu(path, tools).popup(position)

    def create_menu(self, path: str, tools: Collection[str]) -> QMenu:
        """Return the menu for a node, for the background, or for a selection that includes the node.

        Args:
            path: The node; empty for the background.
            tools: The names of the tools that the user may call.
        """
        menu = QMenu(self._view)
        menu.aboutToHide.connect(menu.deleteLater)
        selection = self._view.selection()
        if not path:
            self._fill_background(menu)
        elif path in selection and len(selection) > 1:
            self._fill_several(menu, selection)
        else:
            self._fill_one(menu, path, tools)
        return menu

    def _fill_one(self, menu: QMenu, path: str, tools: Collection[str]) -> None:
        graph = self._view.canvas.scene.graph
        kind = graph.kinds[graph.rows[path]] if path in graph.rows else "unresolved"
        if kind == "tag":
            menu.addAction(
                self.tr("Search for this tag"), partial(self.search_requested.emit, f"tag:{path[1:]}")
            )
        else:
            label = self.tr("Create note…") if kind == "unresolved" else self.tr("Open")
            menu.addAction(label, partial(self.open_requested.emit, path))
        menu.addAction(self.tr("Local graph"), partial(self._view.show_local, path, _LOCAL_GRAPH_DEPTH))
        if kind != "note":
            return
        menu.addSeparator()
        self._add_tools(
            menu,
            path,
            tools,
            (
                (command_title("note-related"), "related", "find_related"),
                (self.tr("Summarize"), "summarize", "summarize_node"),
                (self.tr("Add a relation…"), "relate", "create_relationship"),
                (self.tr("Merge with…"), "merge", "merge_nodes"),
            ),
        )
        menu.addAction(self.tr("Shortest path to…"), partial(self.path_start_chosen.emit, path))
        menu.addAction(self.tr("Suggest links"), partial(self.suggestions_requested.emit, path))
        menu.addSeparator()
        menu.addAction(command_title("note-ask"), partial(self.action_requested.emit, "ask", path))
        menu.addAction(
            command_title("note-copy-link"), partial(self.action_requested.emit, "copy-link", path)
        )
        menu.addSeparator()
        self._add_tools(
            menu,
            path,
            tools,
            (
                (command_title("note-history"), "history", "note_history"),
                (command_title("note-rename"), "rename", "move_note"),
            ),
        )
        menu.addSeparator()
        self._add_tools(menu, path, tools, ((command_title("note-delete"), "delete", "delete_note"),))

    def _add_tools(
        self, menu: QMenu, path: str, tools: Collection[str], entries: tuple[tuple[str, str, str], ...]
    ) -> None:
        """Add the entries whose tool the user may call."""
        for label, action, tool in entries:
            if tool in tools:
                menu.addAction(label, partial(self.action_requested.emit, action, path))

    def _fill_several(self, menu: QMenu, selection: tuple[str, ...]) -> None:
        notes = tuple(path for path in selection if NotePath(path).is_note)
        title = menu.addAction(self.tr("{0} selected").format(f"{len(selection):,}"))
        title.setEnabled(False)
        if 0 < len(notes) <= _MAX_OPENED_NOTES:
            menu.addAction(self.tr("Open all"), partial(self._open_all, notes))
        menu.addAction(self.tr("Local graph"), partial(self._view.show_local, selection, 1))
        menu.addAction(self.tr("Zoom to selection"), partial(self._view.fit, selection))
        if len(selection) == 2:
            menu.addAction(
                self.tr("Shortest path between notes"), partial(self.path_requested.emit, *selection)
            )
        if notes:
            menu.addSeparator()
            menu.addAction(command_title("note-ask"), partial(self._attach_all, notes))
            menu.addAction(self.tr("Copy links"), partial(self._copy, notes))

    def _fill_background(self, menu: QMenu) -> None:
        view = self._view
        menu.addAction(self.tr("Fit to view"), lambda: view.fit())
        if view.is_local:
            menu.addAction(self.tr("Whole graph"), view.show_whole_graph)
        if view.selection():
            menu.addAction(self.tr("Clear selection"), partial(view.select, ()))
        menu.addAction(self.tr("Re-run layout"), view.arrange)
        menu.addSeparator()
        menu.addAction(command_title("graph-png"), partial(view.export_requested.emit, "png"))
        menu.addAction(command_title("graph-svg"), partial(view.export_requested.emit, "svg"))
        if view.settings_panel.isHidden():
            menu.addSeparator()
            menu.addAction(command_title("graph-sheet"), view.toggle_settings)

    def _open_all(self, notes: tuple[str, ...]) -> None:
        for path in notes:
            self.open_requested.emit(path)

    def _attach_all(self, notes: tuple[str, ...]) -> None:
        for path in notes:
            self.action_requested.emit("ask", path)

    def _copy(self, notes: tuple[str, ...]) -> None:
        tasks.start(self._copy_links(notes), owner=self._view, action=self.tr("copy the links"))

    async def _copy_links(self, notes: tuple[str, ...]) -> None:
        paths = [NotePath(path) for path in notes]
        names = await self._client.run(lambda vault: [vault.notes.shortest(path, None) for path in paths])
        QGuiApplication.clipboard().setText("\n".join(f"- [[{name}]]" for name in names))
        self._view.toast.show_message(
            PluralText("GraphMenus", "{0} link copied", "{0} links copied").format(len(names))
        )
