from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtTest import QTest

from app.desktop.graph.overlays.neighbor_list import neighbors_of
from app.desktop.graph.view import GraphView
from app.desktop.theme.colors import DARK, LIGHT
from app.graph.builder import build_from
from app.graph.model import GraphEdge, GraphNode


def linked():
    names = ("Hub", "east", "West", "North", "Alone")
    nodes = [GraphNode(f"{name}.md", name) for name in names]
    edges = [
        GraphEdge("Hub.md", "North.md"),
        GraphEdge("Hub.md", "east.md", "SUPPORTS", 0.9),
        GraphEdge("West.md", "Hub.md", "PART_OF"),
        GraphEdge("east.md", "Hub.md"),
        GraphEdge("North.md", "West.md"),
    ]
    return build_from(nodes, edges)


@pytest.fixture
def view(qtbot):
    graph_view = GraphView(DARK)
    qtbot.addWidget(graph_view, before_close_func=lambda view: view.canvas.close_layers())
    graph_view.resize(900, 700)
    graph_view.show()
    qtbot.waitExposed(graph_view)
    graph_view.activateWindow()
    positions = np.array([[0, 0], [9, 0], [-9, 0], [0, -9], [20, 20]], dtype=np.float32)
    graph_view.set_graph(linked(), positions)
    return graph_view


def lines(view: GraphView) -> list[str]:
    model: QAbstractItemModel = view.neighbors.list.model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def key(view: GraphView, which: Qt.Key) -> None:
    QTest.keyClick(view.neighbors.list, which)


@pytest.fixture
def listed(view, qtbot):
    """The list of the hub's links, with keyboard focus."""
    view.select(["Hub.md"])
    view.toggle_neighbors()
    qtbot.waitUntil(view.neighbors.list.hasFocus)
    return view


def test_each_link_is_a_line_with_its_relation_and_direction():
    graph = linked()
    neighbors = neighbors_of(graph, graph.rows["Hub.md"])
    assert [(neighbor.name, neighbor.relation, neighbor.outgoing) for neighbor in neighbors] == [
        ("east", "supports", True),
        ("North", "", True),
        ("West", "part of", False),
        ("east", "", False),
    ]
    assert [neighbor.accessible_text for neighbor in neighbors] == [
        "east, supports, from this note",
        "North, linked from this note",
        "West, part of, to this note",
        "east, links to this note",
    ]
    assert neighbors_of(graph, graph.rows["Alone.md"]) == ()


def test_the_list_is_hidden_until_requested_and_follows_the_selection(view):
    assert view.neighbors.isHidden()
    view.select(["Hub.md"])
    assert lines(view) == []
    view.toggle_neighbors()
    assert lines(view) == ["east  ·  supports", "North", "West  ·  part of", "east"]
    view.select(["North.md"])
    assert lines(view) == ["West", "Hub"]
    assert view.neighbors.list.accessibleName() == "Links of North, 2 links"
    view.select([])
    assert lines(view) == []
    view.toggle_neighbors()
    assert view.neighbors.isHidden()


def test_the_selection_follows_the_current_line_and_the_list_stays(listed):
    before = lines(listed)
    key(listed, Qt.Key.Key_Down)
    assert listed.selection() == ("North.md",)
    key(listed, Qt.Key.Key_Down)
    assert listed.selection() == ("West.md",)
    assert lines(listed) == before


def test_enter_opens_right_follows_and_left_goes_back(listed, qtbot):
    with qtbot.waitSignal(listed.open_requested) as opened:
        key(listed, Qt.Key.Key_Return)
    assert opened.args == ["east.md"]
    key(listed, Qt.Key.Key_Down)
    key(listed, Qt.Key.Key_Right)
    assert listed.selection() == ("North.md",)
    assert lines(listed) == ["West", "Hub"]
    key(listed, Qt.Key.Key_Left)
    assert listed.selection() == ("Hub.md",)
    assert lines(listed)[0] == "east  ·  supports"
    key(listed, Qt.Key.Key_Left)
    assert listed.selection() == ("Hub.md",)


def test_the_l_key_focuses_the_list_and_escape_leaves_it(view, qtbot):
    view.select(["Hub.md"])
    view.canvas.setFocus()
    QTest.keyClick(view.canvas, Qt.Key.Key_L)
    qtbot.waitUntil(view.neighbors.list.hasFocus)
    key(view, Qt.Key.Key_Escape)
    assert view.canvas.hasFocus() and view.neighbors.isVisible()
    QTest.keyClick(view.canvas, Qt.Key.Key_L)
    assert view.neighbors.isHidden() and view.canvas.hasFocus()


def test_a_changed_graph_updates_the_list(listed):
    graph = build_from(
        [GraphNode("Hub.md", "Hub"), GraphNode("New.md", "New")], [GraphEdge("Hub.md", "New.md", "SUPPORTS")]
    )
    listed.update_graph(graph)
    assert lines(listed) == ["New  ·  supports"]


def test_the_graph_makes_room_and_the_theme_reaches_the_list(listed):
    assert listed.canvas.insets.right >= listed.neighbors.width()
    assert listed.neighbors.geometry().right() < listed.width()
    listed.set_theme(LIGHT)
    model = listed.neighbors.list.model()
    assert not model.index(0, 0).data(Qt.ItemDataRole.DecorationRole).isNull()
    assert model.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole) == "east, supports, from this note"
