"""A view with a small typed graph, and what waits until it is at rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from app.desktop.colors import DARK
from app.desktop.graph_view import GraphView
from app.desktop.graph_view.camera import Camera
from app.graph.builder import build_from
from app.graph.model import Edge, Node


@pytest.fixture
def still() -> Callable[..., None]:
    """`still(view, qtbot)` waits until nothing moves any more."""

    def wait(view: GraphView, qtbot) -> None:
        view.canvas.wake()
        glide = view.arranging.glide
        qtbot.waitUntil(lambda: not glide.moving and not view.canvas._frames.isActive(), timeout=20_000)

    return wait


@pytest.fixture
def cross(qtbot, still) -> Iterator[GraphView]:
    """Five nodes in a cross: a hub with a note in each direction; one is not written yet, one is apart."""
    view = GraphView(DARK)
    qtbot.addWidget(view, before_close_func=lambda view: view.shutdown())
    view.resize(900, 700)
    view.show()
    qtbot.waitExposed(view)
    nodes = [
        Node("hub.md", "Hub", "concept", tags=("x",)),
        Node("east.md", "East", tags=("x", "y")),
        Node("west.md", "West", folder="w"),
        Node("North", "North", "unresolved", "unresolved"),
        Node("alone.md", "Alone"),
    ]
    edges = [Edge("hub.md", "east.md"), Edge("west.md", "hub.md", "SUPPORTS"), Edge("hub.md", "North")]
    places = np.array([[0, 0], [10, 0], [-10, 0], [0, -8], [0, 8]], dtype=np.float32)
    with qtbot.waitSignal(view.arranged, timeout=20_000):
        view.set_graph(build_from(nodes, edges), places)
    view.canvas.eye.set(Camera(0, 0, 25))
    still(view, qtbot)
    yield view
