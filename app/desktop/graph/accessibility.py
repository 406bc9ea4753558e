"""Accessible names and descriptions of the graph."""

from __future__ import annotations

from app.desktop.graph.scene import Scene
from app.desktop.runtime.translation import PluralText, translate

_MAX_LISTED_NEIGHBORS = 12


def accessible_text(scene: Scene) -> tuple[str, str]:
    """Return the accessible name and description of the graph, or of the last selected node."""
    graph = scene.graph
    if not scene.selection:
        name = PluralText("Canvas", "Graph of {0} node", "Graph of {0} nodes").format(len(graph))
        return name, translate(
            "Canvas",
            "Arrow keys follow links, L lists them, Enter opens, Escape clears, plus and minus zoom.",
        )
    row = scene.selection[-1]
    neighbors = graph.neighbors(row)
    kind = graph.types[row] if graph.kinds[row] == "note" else graph.kinds[row]
    links = PluralText("Canvas", "{0} link", "{0} links").format(len(neighbors))
    name = f"{graph.names[row]}, {kind}, {links}"
    if len(scene.selection) > 1:
        name = translate("Canvas", "{0} selected, last: {1}").format(len(scene.selection), name)
    if not len(neighbors):
        return name, translate("Canvas", "No links")
    names = [graph.names[neighbor] for neighbor in neighbors[:_MAX_LISTED_NEIGHBORS].tolist()]
    return name, translate("Canvas", "Linked to {0}").format(", ".join(names))
