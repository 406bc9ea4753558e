"""What a screen reader is told about the graph."""

from __future__ import annotations

from app.desktop.graph.scene import Scene


def accessible_text(scene: Scene) -> tuple[str, str]:
    """The accessible name and description of what is shown and chosen."""
    if not scene.selection:
        words = "Arrows walk along the links, L lists them, Enter opens, Escape clears, plus and minus zoom."
        return f"Graph of {len(scene.graph)} notes", words
    row = scene.selection[-1]
    neighbours = scene.graph.neighbors(row)
    listed = ", ".join(scene.graph.names[each] for each in neighbours[:12].tolist())
    kind = scene.graph.types[row] if scene.graph.kinds[row] == "note" else scene.graph.kinds[row]
    name = f"{scene.graph.names[row]}, {kind}, {len(neighbours)} links"
    if len(scene.selection) > 1:
        name = f"{len(scene.selection)} selected, last {name}"
    return name, f"Linked with {listed}" if listed else "Linked with nothing"
