"""A view with a small typed graph, and a wait until it is at rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from app.desktop.graph.camera import Camera
from app.desktop.graph.view import GraphView
from app.desktop.theme.colors import DARK
from app.graph.builder import build_from
from app.graph.model import GraphEdge, GraphNode


@pytest.fixture
def still() -> Callable[..., None]:
    """Return a function that waits until nothing moves: `still(view, qtbot)`."""

    def wait(view: GraphView, qtbot) -> None:
        view.canvas.run_frames()
        animation = view.layout_switch.animation
        qtbot.waitUntil(
            lambda: not animation.is_moving and not view.canvas._frames.isActive(), timeout=20_000
        )

    return wait


@pytest.fixture
def cross(qtbot, still) -> Iterator[GraphView]:
    """Five nodes in a cross: a hub with a note in each direction; one is unresolved, one is separate."""
    view = GraphView(DARK)
    qtbot.addWidget(view, before_close_func=lambda view: view.shut_down())
    view.resize(900, 700)
    view.show()
    qtbot.waitExposed(view)
    nodes = [
        GraphNode("hub.md", "Hub", "concept", tags=("x",)),
        GraphNode("east.md", "East", tags=("x", "y")),
        GraphNode("west.md", "West", folder="w"),
        GraphNode("North", "North", "unresolved", "unresolved"),
        GraphNode("alone.md", "Alone"),
    ]
    edges = [
        GraphEdge("hub.md", "east.md"),
        GraphEdge("west.md", "hub.md", "SUPPORTS"),
        GraphEdge("hub.md", "North"),
    ]
    positions = np.array([[0, 0], [10, 0], [-10, 0], [0, -8], [0, 8]], dtype=np.float32)
    with qtbot.waitSignal(view.arranged, timeout=20_000):
        view.set_graph(build_from(nodes, edges), positions)
    view.canvas.camera_animation.set(Camera(0, 0, 25))
    still(view, qtbot)
    yield view
