"""A snapshot of the graph as vector shapes."""

from __future__ import annotations

from dataclasses import replace

from app.desktop.graph.export_dialog import ExportOptions
from app.desktop.graph.snapshot import draw_shapes, take_snapshot
from app.desktop.graph.view import GraphView


def test_labels_of_a_drawing_are_as_large_as_in_the_view(cross: GraphView) -> None:
    canvas = cross.canvas
    options = ExportOptions("svg", canvas.width(), canvas.height(), 1, False, True, False)
    snapshot = take_snapshot(canvas, (), (), options)
    names = canvas.scene.graph.names
    sizes = dict(zip(names, canvas.labels.sizes.tolist(), strict=True))
    drawn = {label.text: label.size for label in draw_shapes(snapshot).labels}
    assert drawn == sizes
    unlabeled = replace(snapshot, options=replace(options, labels=False))
    assert not draw_shapes(unlabeled).labels
