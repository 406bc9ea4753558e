from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF
from PySide6.QtGui import QColor, QImage

from app.desktop.graph.camera import Camera
from app.desktop.graph.canvas import Canvas
from app.desktop.graph.node_style import NO_COLOR, pack_colors
from app.desktop.theme.colors import DARK
from app.graph.incremental_update import compute_update
from app.graph.model import GraphDelta, GraphNode
from tests.graph.graphs import of_edges

PLACES = np.array([[-8, -6], [8, -6], [-8, 6], [8, 6]], dtype=np.float32)


@pytest.fixture
def canvas(qtbot):
    """a – b over c – d, at the corners of a rectangle."""
    new_canvas = Canvas(DARK)
    qtbot.addWidget(new_canvas, before_close_func=lambda canvas: canvas.close_layers())
    new_canvas.resize(800, 600)
    new_canvas.show()
    new_canvas.set_graph(of_edges(["ab", "cd"]), PLACES)
    rest(new_canvas, qtbot)
    new_canvas.camera_animation.set(Camera(0, 0, 25))
    rest(new_canvas, qtbot)
    return new_canvas


def rest(canvas: Canvas, qtbot) -> None:
    canvas.refresh()
    qtbot.waitUntil(lambda: not canvas._frames.isActive(), timeout=10_000)


def place(canvas: Canvas, path: str) -> QPoint:
    row = canvas.scene.graph.rows[path]
    at = canvas.camera.to_screen(canvas.scene.positions[[row]], canvas.width(), canvas.height())[0]
    return QPointF(float(at[0]), float(at[1])).toPoint()


def shown(canvas: Canvas) -> QImage:
    return canvas.grab().toImage()


def at(image: QImage, place: QPoint) -> QColor:
    ratio = image.devicePixelRatio()
    return image.pixelColor(round(place.x() * ratio), round(place.y() * ratio))


def test_a_node_may_have_a_color_of_its_own_and_its_link_takes_it_on(canvas, qtbot):
    before, plain = (at(shown(canvas), place(canvas, path)) for path in ("a.md", "c.md"))
    red = pack_colors(["#ff2010"])[0]
    canvas.set_node_colors(np.array([red, red, NO_COLOR, NO_COLOR], dtype=np.uint32))
    rest(canvas, qtbot)
    image = shown(canvas)
    assert at(image, place(canvas, "a.md")).name() == "#ff2010"
    assert at(image, place(canvas, "c.md")) == plain
    link = at(image, (place(canvas, "a.md") + place(canvas, "b.md")) / 2)
    assert link.red() > link.blue() + 30
    canvas.set_node_colors(None)
    rest(canvas, qtbot)
    assert at(shown(canvas), place(canvas, "a.md")) == before


def test_sizes_are_factors_within_bounds_and_can_be_picked_by(canvas, qtbot):
    scene = canvas.scene
    before = scene.pixel_radii(25.0)
    canvas.set_node_sizes(np.array([3, 1, 0.001, 1000], dtype=np.float32))
    rest(canvas, qtbot)
    assert scene.pixel_radii(25.0) / before == pytest.approx([3, 1, 0.25, 6], rel=1e-5)
    next_to_a = place(canvas, "a.md") + QPoint(round(float(before[0]) * 2), 0)
    assert scene.node_at(next_to_a.x(), next_to_a.y(), canvas.camera, 800, 600) == scene.graph.rows["a.md"]
    canvas.set_node_sizes(None)
    assert scene.node_at(next_to_a.x(), next_to_a.y(), canvas.camera, 800, 600) == -1


def test_hidden_nodes_are_neither_drawn_nor_picked_nor_linked(canvas, qtbot):
    canvas.set_visible(np.array([True, False, True, True]))
    rest(canvas, qtbot)
    image, b = shown(canvas), place(canvas, "b.md")
    assert at(image, b) == QColor(DARK.window)
    assert at(image, (place(canvas, "a.md") + b) / 2) == QColor(DARK.window)
    assert canvas.scene.node_at(b.x(), b.y(), canvas.camera, 800, 600) == -1
    canvas.set_visible(None)
    assert canvas.scene.node_at(b.x(), b.y(), canvas.camera, 800, 600) == canvas.scene.graph.rows["b.md"]


def test_a_path_is_drawn_named_and_keeps_its_nodes_bright(canvas, qtbot):
    rows = canvas.scene.graph.rows
    bright = at(shown(canvas), place(canvas, "b.md"))
    canvas.highlight_path([rows["a.md"], rows["d.md"]])
    rest(canvas, qtbot)
    image = shown(canvas)
    assert at(image, QPoint(400, 300)) == QColor(DARK.accent)
    assert at(image, place(canvas, "b.md")).lightness() < bright.lightness() / 2
    assert {rows["a.md"], rows["d.md"]} <= set(canvas.labels.placed)
    canvas.highlight_path(())
    rest(canvas, qtbot)
    assert at(shown(canvas), QPoint(400, 300)) == QColor(DARK.window)
    assert at(shown(canvas), place(canvas, "b.md")) == bright


def test_highlights_of_several_keys_are_added_and_removed(canvas, qtbot):
    next_to = {path: place(canvas, path) + QPoint(0, -16) for path in ("a.md", "d.md")}
    canvas.set_glow("communities", ["a.md"], "#ff0000")
    canvas.set_glow("orphans", ["d.md"], "#0000ff")
    rest(canvas, qtbot)
    image = shown(canvas)
    assert at(image, next_to["a.md"]).red() > at(image, next_to["a.md"]).blue() + 10
    assert at(image, next_to["d.md"]).blue() > at(image, next_to["d.md"]).red() + 10
    canvas.set_glow("communities", ())
    rest(canvas, qtbot)
    assert at(shown(canvas), next_to["a.md"]) == QColor(DARK.window)


def test_highlights_follow_their_nodes_into_the_next_state_and_end_with_another_graph(canvas, qtbot):
    scene = canvas.scene
    rows = scene.graph.rows
    canvas.set_node_colors(pack_colors(["#000001", "#000002", "#000003", "#000004"]))
    canvas.set_node_sizes(np.array([1, 2, 3, 4], dtype=np.float32))
    canvas.set_visible(np.array([True, True, False, True]))
    canvas.highlight_path([rows["d.md"], rows["b.md"]])
    graph = compute_update(scene.graph, GraphDelta(removed=("a.md",), nodes=(GraphNode("0.md", "0"),))).graph
    canvas.replace_graph(graph, np.zeros((4, 2), dtype=np.float32))
    rest(canvas, qtbot)
    row = graph.rows
    assert scene.colors[[row["b.md"], row["c.md"], row["d.md"]]].tolist() == [2, 3, 4]
    assert scene.highlights.sizes[[row["b.md"], row["0.md"]]].tolist() == [2, 1]
    assert scene.strength[row["c.md"]] == 0 < scene.strength[row["0.md"]]
    assert scene.highlights.path == [row["d.md"], row["b.md"]]
    canvas.replace_graph(
        compute_update(graph, GraphDelta(removed=("b.md",))).graph, np.zeros((3, 2), dtype=np.float32)
    )
    assert scene.highlights.path == []
    canvas.set_graph(of_edges(["xy"]), np.zeros((2, 2), dtype=np.float32))
    assert scene.highlights.colors is None
    rest(canvas, qtbot)


def test_the_overview_shows_the_whole_and_follows_changes(canvas, qtbot):
    canvas.camera_animation.set(Camera(100, 100, 60))
    with qtbot.waitSignal(canvas.overview_changed):
        canvas.request_overview(160, 120)
    overview = canvas.overview
    assert overview is not None
    for x, y in canvas.scene.positions.tolist():
        assert overview.area.contains(x, y)
    left = (canvas.scene.positions[0] - (overview.area.x(), overview.area.y())) / overview.area.width()
    pixel = overview.image.pixelColor(*(round(float(part) * overview.image.width()) for part in left))
    assert pixel.alpha() > 100
    with qtbot.waitSignal(canvas.overview_changed):
        canvas.set_visible(np.array([True, True, False, False]))
    assert canvas.overview is not overview
    canvas.request_overview(0, 0)
    assert canvas.overview is None
    rest(canvas, qtbot)


def test_the_viewport_is_the_visible_rectangle(canvas):
    assert canvas.viewport().center() == QPointF(0, 0)
    assert canvas.viewport().width() == pytest.approx(800 / 25)
    moved = []
    canvas.camera_moved.connect(lambda: moved.append(canvas.viewport().center()))
    canvas.center_on(3, 4)
    assert moved == [QPointF(3, 4)]


def test_a_lasso_selects_the_visible_nodes_inside(canvas):
    scene = canvas.scene
    corners = [(100, 50), (700, 50), (700, 200), (300, 300), (250, 550), (100, 550)]
    hook = np.array(corners, dtype=np.float32)
    inside = scene.nodes_in_polygon(hook, canvas.camera, 800, 600)
    assert {scene.graph.paths[row] for row in inside} == {"a.md", "b.md", "c.md"}
    scene.highlights.visible = np.array([True, False, True, True])
    scene.refilter()
    assert len(scene.nodes_in_polygon(hook, canvas.camera, 800, 600)) == 2
    assert scene.nodes_in_polygon(hook[:2], canvas.camera, 800, 600) == []
