from __future__ import annotations

import threading
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QEnterEvent,
    QImage,
    QPainter,
    QPaintEvent,
    QRegion,
    QWheelEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.desktop.graph.camera import Camera
from app.desktop.graph.interaction.keyboard import neighbor_in_direction
from app.desktop.graph.node_style import ColorBy
from app.desktop.graph.render import overlay_painter
from app.desktop.graph.settings.model import LayoutMode
from app.desktop.graph.view import GraphView
from app.desktop.theme.colors import DARK, LIGHT
from app.graph.builder import build_from
from app.graph.incremental_update import compute_update
from app.graph.layouts.force_directed import compute_layout
from app.graph.model import GraphDelta, GraphEdge, GraphNode, affected_rows
from tests.graph.graphs import of_edges, planted

LEFT = Qt.MouseButton.LeftButton


def typed():
    """A hub with a note in each direction, of several types; one is unresolved."""
    nodes = [
        GraphNode("hub.md", "Hub", "concept"),
        GraphNode("east.md", "East", "hypothesis"),
        GraphNode("west.md", "West", "source"),
        GraphNode("north.md", "North", "entity"),
        GraphNode("South", "South", "unresolved", "unresolved"),
    ]
    edges = [
        GraphEdge("hub.md", "east.md", "SUPPORTS", 0.9),
        GraphEdge("west.md", "hub.md", "CONTRADICTS", 0.4),
        GraphEdge("hub.md", "north.md"),
        GraphEdge("hub.md", "South"),
    ]
    positions = np.array([[0, 0], [10, 0], [-10, 0], [0, -8], [0, 8]], dtype=np.float32)
    return build_from(nodes, edges), positions


@pytest.fixture
def view(qtbot):
    graph_view = GraphView(DARK)
    qtbot.addWidget(graph_view, before_close_func=lambda view: view.canvas.close_layers())
    graph_view.resize(800, 600)
    graph_view.show()
    qtbot.waitExposed(graph_view)
    return graph_view


@pytest.fixture
def star(view, qtbot):
    graph, positions = typed()
    with qtbot.waitSignal(view.arranged):
        view.set_graph(graph, positions)
    view.canvas.camera_animation.set(Camera(0, 0, 25))
    rest(view, qtbot)
    return view


def rest(view: GraphView, qtbot) -> None:
    """Wait until nothing moves."""
    view.canvas.run_frames()
    qtbot.waitUntil(lambda: not view.canvas._frames.isActive(), timeout=10_000)


def place(view: GraphView, path: str) -> QPoint:
    canvas = view.canvas
    at = canvas.camera.to_screen(canvas.scene.positions, canvas.width(), canvas.height())
    return QPointF(*at[canvas.scene.graph.rows[path]].tolist()).toPoint()


def color(image: QImage, at: QPoint) -> str:
    ratio = image.devicePixelRatio()
    return image.pixelColor(round(at.x() * ratio), round(at.y() * ratio)).name()


def close_to(first: str, second: str) -> bool:
    a, b = QColor(first).toTuple()[:3], QColor(second).toTuple()[:3]
    return max(abs(one - other) for one, other in zip(a, b, strict=True)) <= 12


def test_nodes_have_the_colors_of_their_types_at_their_places(star):
    image = star.canvas.picture(800, 600, 2.0)
    kinds = {"hub.md": "concept", "east.md": "hypothesis", "west.md": "source", "north.md": "entity"}
    for path, kind in kinds.items():
        assert close_to(color(image, place(star, path)), DARK.node_colors[kind])
    assert close_to(color(image, place(star, "South")), DARK.window), "a note not written yet is hollow"
    assert close_to(color(image, QPoint(700, 500)), DARK.window)


def test_relations_have_their_colors(star):
    image = star.canvas.picture(800, 600)

    def between(first, second):
        return QColor(color(image, (place(star, first) + place(star, second)) / 2))

    supports, contradicts = between("hub.md", "east.md"), between("west.md", "hub.md")
    assert supports.green() > supports.red() + 20
    assert contradicts.red() > contradicts.green() + 20


@given(st.integers(0, 9000), st.integers(1, 3000))
def test_of_very_many_links_a_fair_part_is_drawn(count, limit):
    links = np.arange(count) * 3
    sample = overlay_painter._sample(links, limit)
    assert len(sample) == min(count, limit)
    indices = sample // 3
    assert (np.diff(indices) > 0).all()
    assert np.diff(indices, prepend=-1, append=count).max() <= max(1, -(-count // limit))


def test_a_large_glow_fades_smoothly_and_is_drawn_from_a_small_image(monkeypatch):
    images = []
    draw = overlay_painter._gradient_image
    monkeypatch.setattr(
        overlay_painter, "_gradient_image", lambda *key: images.append(draw(*key)) or images[-1]
    )
    picture = QImage(900, 900, QImage.Format.Format_ARGB32_Premultiplied)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    overlay_painter._paint_gradient(painter, QPointF(450, 450), 400.0, "#ff0000", 1.0)
    painter.end()
    alphas = [picture.pixelColor(x, 450).alpha() for x in range(450, 900)]
    assert alphas[0] > 245 and alphas[380] > 0 and not any(alphas[402:])
    assert max(abs(one - other) for one, other in pairwise(alphas)) <= 4
    assert images[0].sizeInBytes() <= 70_000


def test_the_theme_changes_every_color(star, qtbot):
    star.set_theme(LIGHT)
    rest(star, qtbot)
    image = star.canvas.grab().toImage()
    assert close_to(color(image, place(star, "hub.md")), LIGHT.node_colors["concept"])
    assert close_to(color(image, QPoint(700, 500)), LIGHT.window)


def test_click_selects_control_adds_and_the_ground_clears(star, qtbot):
    selections = []
    star.selected.connect(selections.append)
    QTest.mouseClick(star.canvas, LEFT, pos=place(star, "east.md"))
    QTest.mouseClick(star.canvas, LEFT, Qt.KeyboardModifier.ControlModifier, place(star, "west.md"))
    QTest.mouseClick(star.canvas, LEFT, Qt.KeyboardModifier.ControlModifier, place(star, "east.md"))
    QTest.mouseClick(star.canvas, LEFT, pos=QPoint(700, 500))
    assert selections == [("east.md",), ("east.md", "west.md"), ("west.md",), ()]


def test_a_shift_drag_selects_what_it_encloses(star):
    canvas, shift = star.canvas, Qt.KeyboardModifier.ShiftModifier
    QTest.mousePress(canvas, LEFT, shift, QPoint(360, 60))
    QTest.mouseMove(canvas, QPoint(500, 200))
    QTest.mouseMove(canvas, QPoint(720, 400))
    assert canvas.rubber_band is not None
    QTest.mouseRelease(canvas, LEFT, shift, QPoint(720, 400))
    assert set(star.selection()) == {"hub.md", "east.md", "north.md"}
    assert canvas.rubber_band is None


def test_double_click_and_enter_open(star, qtbot):
    with qtbot.waitSignal(star.open_requested) as opened:
        QTest.mouseDClick(star.canvas, LEFT, pos=place(star, "west.md"))
    assert opened.args == ["west.md"]
    star.select(["hub.md"])
    with qtbot.waitSignal(star.open_requested) as opened:
        QTest.keyClick(star.canvas, Qt.Key.Key_Return)
    assert opened.args == ["hub.md"]


def test_right_click_selects_and_asks_for_the_menu(star, qtbot):
    at = place(star, "north.md")
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, star.canvas.mapToGlobal(at))
    with qtbot.waitSignal(star.context_requested) as requested:
        QApplication.sendEvent(star.canvas, event)
    assert requested.args[0] == "north.md"
    assert star.selection() == ("north.md",)


def test_arrows_walk_the_links_and_escape_clears(star):
    canvas = star.canvas
    walked = []
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Up):
        QTest.keyClick(canvas, key)
        walked.append(star.selection()[-1])
    assert walked == ["hub.md", "east.md", "hub.md", "north.md", "north.md"]
    assert "North" in canvas.accessibleName()
    assert "Hub" in canvas.accessibleDescription()
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    assert star.selection() == ()
    assert "5" in canvas.accessibleName()


def test_a_step_prefers_the_direction_to_the_distance(star):
    scene = star.canvas.scene
    rows = scene.graph.rows
    assert neighbor_in_direction(scene, rows["hub.md"], 0.0, 1.0) == rows["South"]
    assert neighbor_in_direction(scene, rows["east.md"], 1.0, 0.0) == -1


def test_the_wheel_zooms_at_the_pointer(star, qtbot):
    at = QPointF(place(star, "east.md"))
    before = star.canvas.camera.scale
    wheel = QWheelEvent(
        at,
        star.canvas.mapToGlobal(at),
        QPoint(),
        QPoint(0, 480),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(star.canvas, wheel)
    rest(star, qtbot)
    assert star.canvas.camera.scale > 2 * before
    assert (QPointF(place(star, "east.md")) - at).manhattanLength() <= 2


def test_keys_zoom_and_show_everything(star, qtbot):
    before = star.canvas.camera.scale
    QTest.keyClick(star.canvas, Qt.Key.Key_Plus)
    rest(star, qtbot)
    assert star.canvas.camera.scale == pytest.approx(before * 1.5, rel=0.01)
    QTest.keyClick(star.canvas, Qt.Key.Key_0)
    rest(star, qtbot)
    assert star.canvas.camera == star.canvas.fit_camera()


def test_fitted_nodes_stay_visible_in_a_smaller_view_until_the_camera_is_moved(star, qtbot):
    star.fit(["east.md", "north.md"])
    rest(star, qtbot)
    star.resize(400, 300)
    rest(star, qtbot)
    fitted = star.canvas.camera
    for path in ("east.md", "north.md"):
        assert star.canvas.rect().contains(place(star, path))
    star.zoom(1.5)
    rest(star, qtbot)
    zoomed = star.canvas.camera
    assert zoomed != fitted
    star.resize(800, 600)
    rest(star, qtbot)
    assert star.canvas.camera == zoomed


class PaintedArea(QObject):
    """Collects the areas of a widget that are painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.region = QRegion()
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            self.region += event.region()
        return False


def test_a_new_graph_is_painted_before_its_links_are_drawn(view, qtbot):
    rest(view, qtbot)
    canvas = view.canvas
    is_released = threading.Event()
    blocked = canvas.layers.edges.run_in_worker(lambda: is_released.wait(20))
    canvas.refresh()
    qtbot.waitUntil(lambda: canvas.layers.edges.is_busy)
    graph, positions = typed()
    painted = PaintedArea(canvas)
    view.set_graph(graph, positions)
    try:
        qtbot.waitUntil(lambda: painted.region.contains(canvas.rect().center()))
        assert not blocked.done()
    finally:
        is_released.set()
    rest(view, qtbot)


def test_the_legend_names_no_groups_of_notes_before_they_are_found(view, qtbot):
    is_released = threading.Event()
    view.canvas.layers.edges.run_in_worker(lambda: is_released.wait(20))
    graph, _ = planted(groups=2, size=12)
    view.set_graph(graph, np.zeros((len(graph), 2), dtype=np.float32))
    assert view.legend.count == 0
    with qtbot.waitSignal(view.canvas.communities_found):
        is_released.set()
    assert view.legend.count > 1
    rest(view, qtbot)


def test_dragging_the_ground_pans(star):
    before = star.canvas.camera
    QTest.mousePress(star.canvas, LEFT, pos=QPoint(650, 500))
    QTest.mouseMove(star.canvas, QPoint(660, 500))
    QTest.mouseMove(star.canvas, QPoint(700, 480))
    QTest.mouseRelease(star.canvas, LEFT, pos=QPoint(700, 480))
    assert star.canvas.camera == before.moved(50, -20)


def test_a_drag_from_a_node_too_small_to_be_meant_pans_and_a_click_chooses_it(star, qtbot):
    star.canvas.camera_animation.set(Camera(0, 0, 0.02))
    rest(star, qtbot)
    before, hub = star.canvas.camera, place(star, "hub.md")
    QTest.mousePress(star.canvas, LEFT, pos=hub)
    QTest.mouseMove(star.canvas, hub + QPoint(10, 0))
    QTest.mouseMove(star.canvas, hub + QPoint(50, -20))
    QTest.mouseRelease(star.canvas, LEFT, pos=hub + QPoint(50, -20))
    assert star.canvas.camera == before.moved(50, -20)
    assert star.canvas.dragged_rows is None
    QTest.mouseClick(star.canvas, LEFT, pos=place(star, "hub.md"))
    assert len(star.canvas.scene.selection) == 1
    QTest.mousePress(star.canvas, LEFT, pos=place(star, "hub.md"))
    QTest.mouseMove(star.canvas, hub)
    assert star.canvas.dragged_rows is not None
    QTest.mouseRelease(star.canvas, LEFT, pos=hub)


def test_hover_highlights_the_neighbors_and_dims_the_rest(view, qtbot):
    graph = of_edges(["ab", "cd"])
    positions = np.array([[-6, -6], [6, -6], [-6, 6], [6, 6]], dtype=np.float32)
    with qtbot.waitSignal(view.arranged):
        view.set_graph(graph, positions)
    view.set_color_by(ColorBy.TYPE)
    view.canvas.camera_animation.set(Camera(0, 0, 25))
    rest(view, qtbot)
    full = color(view.canvas.grab().toImage(), place(view, "d.md"))
    view.canvas.hover(graph.rows["a.md"])
    rest(view, qtbot)
    image = view.canvas.grab().toImage()
    assert color(image, place(view, "b.md")) == full
    dimmed = QColor(color(image, place(view, "d.md")))
    assert dimmed.lightness() < QColor(full).lightness() / 2
    view.canvas.hover(-1)
    rest(view, qtbot)
    assert color(view.canvas.grab().toImage(), place(view, "d.md")) == full


def test_a_recomposed_frame_is_the_same(star):
    """The layers below the labels are cached from the second time on."""
    frames = [star.canvas.grab().toImage() for _ in range(4)]
    assert all(frame == frames[0] for frame in frames)
    star.canvas.scene.selection = [0]
    chosen = [star.canvas.grab().toImage() for _ in range(3)]
    assert chosen[0] != frames[0]
    assert chosen[0] == chosen[1] == chosen[2]
    star.canvas.scene.selection = []
    assert star.canvas.grab().toImage() == frames[0]


def test_a_filter_dims_or_hides_and_hidden_nodes_cannot_be_picked(star, qtbot):
    canvas = star.canvas
    star.set_filter({"hub.md"})
    assert canvas.scene.strength[canvas.scene.graph.rows["east.md"]] < 0.2
    star.settings_panel.filters.box("dimmed").click()
    QTest.mouseClick(canvas, LEFT, pos=place(star, "east.md"))
    assert star.selection() == ()
    star.set_filter(None)
    QTest.mouseClick(canvas, LEFT, pos=place(star, "east.md"))
    assert star.selection() == ("east.md",)


def test_the_legend_and_the_toggles_hide_kinds_of_nodes(star):
    scene = star.canvas.scene
    assert [group.key for group in scene.nodes.groups][-1] == "unresolved"
    star.legend.toggled.emit("source", False)
    star.settings_panel.filters.box("unresolved").click()
    hidden = {scene.graph.paths[row] for row in np.flatnonzero(scene.strength == 0)}
    assert hidden == {"west.md", "South"}
    star.legend.toggled.emit("source", True)
    star.settings_panel.filters.box("unresolved").click()
    assert (scene.strength == 1).all()
    assert star.legend.count == 5
    opened = star.legend.height()
    QTest.mouseClick(star.legend._fold_button, LEFT)
    assert star.legend.height() < opened
    assert star.canvas.insets.bottom == 0


def test_finding_a_name_flies_there(star, qtbot, gui, wait_until):
    async def find() -> None:
        star.find_box.setText("eas")
        QTest.keyClick(star.find_box, Qt.Key.Key_Return)
        await wait_until(star.selection)

    gui(find())
    rest(star, qtbot)
    assert star.selection() == ("east.md",)
    assert (place(star, "east.md") - QPoint(400, 300)).manhattanLength() <= 2


def test_the_local_graph_shows_the_surroundings_and_returns(star, qtbot):
    before = star.positions().copy()
    star.show_local("east.md", 1)
    rest(star, qtbot)
    assert set(star.canvas.scene.graph.paths) == {"east.md", "hub.md"}
    assert star.graph().paths == typed()[0].paths
    star.local_bar.depth_changed.emit(2)
    rest(star, qtbot)
    assert len(star.canvas.scene.graph) == 5
    star.show_whole_graph()
    rest(star, qtbot)
    assert (star.positions() == before).all()


def test_a_note_renamed_in_another_layout_of_a_local_graph_keeps_its_place(star, qtbot):
    star.show_local("hub.md", 1)
    rest(star, qtbot)
    scene = star.canvas.scene
    before = scene.positions[scene.graph.rows["north.md"]].tolist()
    star.layout_switch.show(LayoutMode.FOLDER, scene.positions + 30, (), ())
    qtbot.waitUntil(lambda: not star.layout_switch.animation.is_moving, timeout=10_000)
    delta = GraphDelta(renamed=(("north.md", "sub/North.md"),))
    star.update_graph(compute_update(star.graph(), delta).graph, dict(delta.renamed))
    star.layout_switch.show_force_layout()
    qtbot.waitUntil(lambda: not star.layout_switch.animation.is_moving, timeout=10_000)
    assert scene.positions[scene.graph.rows["sub/North.md"]].tolist() == before


def test_a_saved_note_changes_the_graph_and_leaves_places_camera_and_selection(star, qtbot):
    star.select(["west.md"])
    camera, before = star.canvas.camera, star.positions().copy()
    delta = GraphDelta(
        renamed=(("north.md", "sub/North.md"),),
        nodes=(GraphNode("new.md", "New", "concept"),),
        edges=(GraphEdge("new.md", "hub.md"),),
    )
    star.update_graph(compute_update(star.graph(), delta).graph, dict(delta.renamed))
    rest(star, qtbot)
    rows = star.graph().rows
    assert "new.md" in rows
    assert star.canvas.camera == camera
    assert star.selection() == ("west.md",)
    assert star.positions()[rows["sub/North.md"]].tolist() == before[3].tolist()
    assert np.linalg.norm(star.positions()[rows["new.md"]]) < 6


def test_a_graph_without_positions_is_laid_out_and_reports_the_end(view, qtbot):
    graph, _ = planted(10, 30)
    with qtbot.waitSignal(view.arranged, timeout=30_000):
        view.set_graph(graph)
        aspect = view.canvas.page_aspect()
    rest(view, qtbot)
    assert (view.positions() == compute_layout(graph, aspect=aspect)).all()
    assert view.canvas.camera == view.canvas.fit_camera()


def test_dragging_a_node_moves_its_surroundings_and_nothing_far(view, qtbot):
    graph, _ = planted(16, 30)
    before = compute_layout(graph)
    with qtbot.waitSignal(view.arranged):
        view.set_graph(graph, before)
    rest(view, qtbot)
    row = int(graph.degree.argmax())
    start = place(view, graph.paths[row])
    QTest.mousePress(view.canvas, LEFT, pos=start)
    QTest.mouseMove(view.canvas, start + QPoint(8, 0))
    QTest.mouseMove(view.canvas, start + QPoint(90, 0))
    qtbot.waitUntil(lambda: (place(view, graph.paths[row]) - start).x() > 80)
    with qtbot.waitSignal(view.arranged):
        QTest.mouseRelease(view.canvas, LEFT, pos=start + QPoint(90, 0))
    moved = np.abs(view.positions() - before).max(axis=1)
    far = np.setdiff1d(np.arange(len(graph)), affected_rows(graph, row))
    assert moved[row] > 1
    assert (moved[far] == 0).all()


def test_the_graph_may_change_under_a_hover_and_a_drag(star, qtbot):
    star.canvas.hover(star.graph().rows["east.md"])
    start = place(star, "east.md")
    QTest.mousePress(star.canvas, LEFT, pos=start)
    QTest.mouseMove(star.canvas, start + QPoint(8, 0))
    QTest.mouseMove(star.canvas, start + QPoint(30, 0))
    delta = GraphDelta(removed=("west.md", "north.md", "east.md"))
    star.update_graph(compute_update(star.graph(), delta).graph)
    QTest.mouseMove(star.canvas, start + QPoint(60, 0))
    QTest.mouseRelease(star.canvas, LEFT, pos=start + QPoint(60, 0))
    rest(star, qtbot)
    star.canvas.hover(1)
    star.set_graph(of_edges(["ab"]))
    rest(star, qtbot)
    assert len(star.positions()) == 2


def test_labels_never_overlap(view, qtbot):
    graph, _ = planted(10, 30)
    with qtbot.waitSignal(view.arranged):
        view.set_graph(graph, compute_layout(graph))
    view.zoom(2.5)
    rest(view, qtbot)
    boxes = list(view.canvas.labels.placed.values())
    assert len(boxes) > 8
    for place_, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[place_ + 1 :]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top


def test_from_afar_the_heaviest_notes_are_landmarks(view, qtbot):
    graph, _ = planted(10, 30)
    with qtbot.waitSignal(view.arranged):
        view.set_graph(graph, compute_layout(graph))
    view.zoom(0.02)
    rest(view, qtbot)
    canvas = view.canvas
    named = set(canvas.labels.placed)
    assert named and named <= set(canvas.scene.heaviest[:7].tolist())


def test_a_pending_proposal_glows_until_it_is_decided(star, qtbot):
    star.set_pending({"east.md"})
    star.set_changed({"west.md"})
    frames: list[None] = []
    star.canvas._frames.timeout.connect(lambda: frames.append(None))
    qtbot.waitUntil(lambda: len(frames) >= 4)
    image = star.canvas.picture(800, 600)
    next_to_west = place(star, "west.md") + QPoint(0, -16)
    assert not close_to(color(image, next_to_west), DARK.window)
    star.set_pending(())
    rest(star, qtbot)


@pytest.mark.parametrize("count", [0, 1])
def test_nearly_empty_graphs_are_shown(view, qtbot, count):
    with qtbot.waitSignal(view.arranged):
        view.set_graph(of_edges([], lonely="x"[:count]))
    rest(view, qtbot)
    image = view.canvas.grab().toImage()
    pixels = [color(image, QPoint(x, y)) for x in range(300, 500, 2) for y in range(260, 340, 2)]
    assert any(not close_to(pixel, DARK.window) for pixel in pixels)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Return, Qt.Key.Key_0, Qt.Key.Key_Minus, Qt.Key.Key_Escape):
        QTest.keyClick(view.canvas, key)
    QTest.mouseMove(view.canvas, QPoint(400, 300))
    rest(view, qtbot)


def test_a_new_graph_may_arrive_during_a_layout(view, qtbot):
    big, _ = planted(20, 30)
    small = of_edges(["ab"])
    view.set_graph(big)
    qtbot.waitUntil(lambda: view.canvas.layout_thread.is_busy)
    assert view.is_arranging
    view.set_graph(small)
    rest(view, qtbot)
    assert view.positions().shape == (2, 2)


def test_a_plain_vault_is_colored_by_community_and_a_typed_one_by_type(star, view):
    assert star.canvas.scene.coloring is ColorBy.TYPE
    graph, _ = planted(4, 20)
    view.set_graph(graph, compute_layout(graph))
    assert view.canvas.scene.coloring is ColorBy.COMMUNITY
    view.set_color_by(ColorBy.FOLDER)
    assert view.canvas.scene.coloring is ColorBy.FOLDER


def test_leaving_the_view_ends_the_hover(star):
    star.canvas.hover(0)
    QApplication.sendEvent(star.canvas, QEvent(QEvent.Type.Leave))
    assert star.canvas.scene.hovered == -1


def test_the_find_box_makes_room_for_the_toolbar(star: GraphView) -> None:
    for width in (800, 420, 350, 300, 200):
        star.resize(width, 600)
        QApplication.processEvents()
        find, bar = star.find_box.geometry(), star.toolbar.geometry()
        assert star.find_box.isVisible() and not find.intersects(bar)
        assert star.rect().contains(find) and (width < 250 or star.rect().contains(bar))


def test_what_a_drag_needs_is_loaded_when_the_pointer_comes(cross) -> None:
    canvas = cross.canvas
    enter = QEnterEvent(QPointF(1, 1), QPointF(1, 1), QPointF(1, 1))
    QApplication.sendEvent(canvas, enter)
    assert canvas.layout_thread._thread is None, "not while the vault is being opened"
    QApplication.sendEvent(canvas, QEvent(QEvent.Type.Leave))
    cross.warm_up()
    assert canvas.layout_thread._thread is None, "not without a pointer"
    QApplication.sendEvent(canvas, enter)
    assert canvas.layout_thread._thread is not None
