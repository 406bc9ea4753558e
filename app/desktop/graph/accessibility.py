"""Accessible names and descriptions of the graph."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.desktop.graph.scene import Scene
from app.permissions.pluralize import pluralize

_MAX_LISTED_NEIGHBORS = 12


def accessible_text(scene: Scene) -> tuple[str, str]:
    """Return the accessible name and description of the graph and its selection."""
    graph = scene.graph
    if not scene.selection:
        name = _tr("Graph of {0}").format(pluralize(len(graph), _tr("note"), _tr("notes")))
        keys = "Arrow keys follow links, L lists them, Enter opens, Escape clears, plus and minus zoom."
        return name, _tr(keys)
    row = scene.selection[-1]
    neighbors = graph.neighbors(row)
    kind = graph.types[row] if graph.kinds[row] == "note" else graph.kinds[row]
    links = pluralize(len(neighbors), _tr("link"), _tr("links"))
    name = f"{graph.names[row]}, {kind}, {links}"
    if len(scene.selection) > 1:
        name = _tr("{0} selected, last: {1}").format(len(scene.selection), name)
    listed = ", ".join(graph.names[neighbor] for neighbor in neighbors[:_MAX_LISTED_NEIGHBORS].tolist())
    return name, _tr("Linked with {0}").format(listed) if listed else _tr("No links")


def _tr(text: str) -> str:
    return QCoreApplication.translate("Canvas", text)
