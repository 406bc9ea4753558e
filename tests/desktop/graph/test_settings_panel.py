"""The settings of the graph and their effect."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from app.desktop.graph.analysis.result import AnalysisResult, AnalysisResultRow
from app.desktop.graph.annotations import AxisTick, RegionDisc
from app.desktop.graph.overlays.minimap import Minimap
from app.desktop.graph.settings.model import (
    GraphSettings,
    LayoutMode,
    QueryGroup,
    VisibilitySettings,
)
from app.desktop.graph.view import GraphView
from app.desktop.theme.colors import DARK, LIGHT
from app.errors import QueryError
from app.graph.force_params import RANGES, ForceParams
from app.graph.incremental_update import compute_update
from app.graph.model import GraphDelta, GraphNode

LEFT = Qt.MouseButton.LeftButton


def at(view: GraphView, path: str) -> QPoint:
    canvas = view.canvas
    places = canvas.camera.to_screen(canvas.scene.positions, canvas.width(), canvas.height())
    return QPointF(*places[canvas.scene.graph.rows[path]].tolist()).toPoint()


def shown(view: GraphView) -> set[str]:
    scene = view.canvas.scene
    return {scene.graph.paths[row] for row in np.flatnonzero(scene.strength > 0.5)}


def place_of(view: GraphView, path: str) -> list[float]:
    return view.canvas.scene.positions[view.canvas.scene.graph.rows[path]].tolist()


def test_the_lasso_selects_what_it_goes_around(cross, qtbot):
    QTest.keyClick(cross.canvas, Qt.Key.Key_A)
    assert cross.toolbar.lasso.isChecked()
    hub, east = at(cross, "hub.md"), at(cross, "east.md")
    corners = [
        hub + QPoint(-40, -40),
        QPoint(east.x() + 40, hub.y() - 40),
        east + QPoint(40, 40),
        hub + QPoint(-40, 40),
    ]
    QTest.mousePress(cross.canvas, LEFT, pos=corners[0])
    for corner in corners[1:]:
        QTest.mouseMove(cross.canvas, corner)
        assert cross.annotations.outline and cross.annotations.isVisible()
    QTest.mouseRelease(cross.canvas, LEFT, pos=corners[-1])
    assert set(cross.selection()) == {"hub.md", "east.md"}
    assert not cross.annotations.outline
    QTest.mouseClick(cross.canvas, LEFT, pos=at(cross, "west.md"))
    assert cross.selection() == ("west.md",), "a mere click with the lasso is a click"
    QTest.keyClick(cross.canvas, Qt.Key.Key_A)
    assert not cross.toolbar.lasso.isChecked()


def test_kinds_of_nodes_can_be_left_out(cross):
    everything = shown(cross)
    for name, hidden in (("orphans", "alone.md"), ("unresolved", "North")):
        cross.settings_panel.filters.box(name).click()
        assert everything - shown(cross) == {hidden}
        cross.settings_panel.filters.box(name).click()
    assert shown(cross) == everything


def test_tag_nodes_appear_and_disappear_without_moving_notes(cross, qtbot, still):
    before = {path: place_of(cross, path) for path in cross.graph().paths}
    cross.settings_panel.filters.box("tags").click()
    still(cross, qtbot)
    graph = cross.canvas.scene.graph
    assert {path for path in graph.paths if path.startswith("#")} == {"#x", "#y"}
    assert len(cross.positions()) == len(cross.graph()) == 5
    assert graph.neighbors(graph.rows["#x"]).tolist() == [graph.rows["hub.md"], graph.rows["east.md"]]
    assert {path: place_of(cross, path) for path in before} == before
    cross.settings_panel.filters.box("tags").click()
    assert len(cross.canvas.scene.graph) == 5
    assert {path: place_of(cross, path) for path in before} == before


def test_filter_and_search_both_apply_after_a_pending_change(cross):
    cross.appearance.set_filter_result({"hub.md", "east.md"})
    cross.set_filter({"east.md", "west.md"})
    assert shown(cross) == {"east.md"}
    cross.set_pending({"alone.md"})
    assert shown(cross) == {"alone.md"}
    assert (cross.canvas.scene.strength > 0).all(), "the rest is faint, not gone"
    cross.set_pending(())
    cross.set_filter(None)
    cross.settings_panel.filters.box("dimmed").click()
    assert (cross.canvas.scene.strength > 0).sum() == 2


def test_groups_come_first_in_the_legend_and_can_be_hidden_there(cross, qtbot):
    groups = (QueryGroup(query="tag:x", color="palette-2"), QueryGroup(query="w", color="palette-4"))
    cross.set_groups(groups, [{"hub.md", "east.md"}, {"west.md", "hub.md"}])
    entries, hidden = cross.appearance.entries()
    assert [(entry.label, entry.count) for entry in entries[:2]] == [("tag:x", 2), ("w", 1)] and not hidden
    colors = cross.canvas.scene.colors & 0xFFFFFF
    rows = cross.canvas.scene.graph.rows
    assert f"#{colors[rows['hub.md']]:06x}" == DARK.node_colors["palette-2"]
    cross.set_theme(LIGHT)
    colors = cross.canvas.scene.colors & 0xFFFFFF
    assert f"#{colors[rows['west.md']]:06x}" == LIGHT.node_colors["palette-4"]
    cross.legend.toggled.emit("query-0", False)
    assert not {"hub.md", "east.md"} & shown(cross)
    delta = GraphDelta(nodes=(GraphNode("new.md", "New"),))
    cross.update_graph(compute_update(cross.graph(), delta).graph)
    assert not {"hub.md", "east.md"} & shown(cross) and "new.md" in shown(cross)
    cross.set_groups((), ())
    assert {"hub.md", "east.md"} <= shown(cross)


def test_groups_are_added_reordered_and_removed(cross, qtbot):
    rows, changes = cross.settings_panel.groups.rows, []
    cross.settings_changed.connect(changes.append)
    for query in ("tag:a", "tag:b"):
        rows.add_button.click()
        field = rows._rows[-1].query
        QTest.keyClicks(field.field, query)
        QTest.keyClick(field.field, Qt.Key.Key_Return)
    assert [group.query for group in changes[-1].groups] == ["tag:a", "tag:b"]
    rows._rows[1]._up_button.click()
    assert [group.query for group in changes[-1].groups] == ["tag:b", "tag:a"]
    rows._rows[0]._remove_button.click()
    assert [group.query for group in changes[-1].groups] == ["tag:a"]


def test_a_query_that_cannot_be_read_says_where(cross):
    field = cross.settings_panel.filters.query
    field.show_error("tag:(", QueryError("Expected a word.", position=5))
    assert field.message == "tag:( ▸\nExpected a word."
    field.show_result("")
    assert field.message == ""


def test_sliders_move_the_nodes_and_their_defaults_move_them_back(cross, qtbot, still):
    before = np.ptp(cross.positions(), axis=0).max()
    cross.settings_panel.forces.sliders["spacing"].slider.setValue(36)
    still(cross, qtbot)
    assert np.ptp(cross.positions(), axis=0).max() > 1.3 * before
    assert cross.settings_panel.settings.forces == ForceParams(spacing=36)
    cross.settings_panel.forces.reset_button.click()
    assert cross.settings_panel.settings.forces == ForceParams() and cross.canvas.forces.spacing == 16


def test_sliders_reach_the_limits_of_the_forces(cross):
    for name, (low, high) in RANGES.items():
        row = cross.settings_panel.forces.sliders[name]
        for value, limit in ((row.slider.minimum(), low), (row.slider.maximum(), high)):
            row.slider.setValue(value)
            assert (
                getattr(cross.settings_panel.settings.forces, name)
                == getattr(cross.canvas.forces, name)
                == limit
            )


def test_space_freezes_the_graph(cross):
    QTest.keyClick(cross.canvas, Qt.Key.Key_Space)
    assert cross.canvas.layout_thread.is_paused
    assert cross.toolbar.pause.isChecked() and cross.settings_panel.forces.pause.isChecked()
    cross.toolbar.pause.click()
    assert not cross.canvas.layout_thread.is_paused and not cross.settings_panel.forces.pause.isChecked()


def test_nodes_glide_to_another_layout_and_back(cross, qtbot, still):
    requested = []
    cross.settings_controller.arrangement_requested.connect(requested.append)
    before = cross.positions().copy()
    cross.settings_panel.layout_section.buttons[LayoutMode.TYPE].click()
    assert requested == [LayoutMode.TYPE]
    positions = np.array([[row * 4.0, 3.0] for row in range(5)], dtype=np.float32)
    cross.layout_switch.show(
        LayoutMode.TYPE, positions, [RegionDisc("Note", 4, 3, 9, 0)], [AxisTick(0.0, "2024", True)]
    )
    still(cross, qtbot)
    assert np.allclose(cross.canvas.scene.positions, positions)
    assert np.allclose(cross.positions(), before), "kept for the next start is where the links had them"
    assert cross.annotations.isVisible() and not cross.settings_panel.forces.sliders["spacing"].isEnabled()
    delta = GraphDelta(nodes=(GraphNode("new.md", "New"),))
    cross.update_graph(compute_update(cross.graph(), delta).graph)
    still(cross, qtbot)
    assert np.allclose(cross.canvas.scene.positions[:5], positions)
    cross.settings_panel.layout_section.buttons[LayoutMode.FORCE].click()
    still(cross, qtbot)
    assert np.allclose(cross.canvas.scene.positions[:5], before)
    assert not cross.annotations.isVisible() and cross.settings_panel.forces.sliders["spacing"].isEnabled()


def test_a_layout_chosen_while_nodes_return_keeps_the_force_layout(cross, qtbot, still):
    before = cross.positions().copy()
    cross.layout_switch.show(LayoutMode.TYPE, before + 20, (), ())
    still(cross, qtbot)
    cross.layout_switch.show_force_layout()
    cross.layout_switch.show(LayoutMode.FOLDER, before + 40, (), ())
    still(cross, qtbot)
    assert np.allclose(cross.canvas.scene.positions, before + 40)
    assert np.allclose(cross.positions(), before)


def test_the_map_moves_the_view_and_is_there_while_a_part_is_seen(cross, qtbot, still):
    small: Minimap = cross.minimap
    assert small.isHidden() and not small.is_on
    QTest.keyClick(cross.canvas, Qt.Key.Key_M)
    qtbot.waitUntil(lambda: cross.canvas.overview is not None and small.isVisible())
    cross.zoom(4)
    still(cross, qtbot)
    QTest.mouseClick(small, LEFT, pos=QPoint(12, small.height() // 2))
    left = cross.canvas.camera.x
    QTest.mouseClick(small, LEFT, pos=QPoint(small.width() - 12, small.height() // 2))
    assert cross.canvas.camera.x > left
    small.setFocus()
    before = cross.canvas.camera.x
    QTest.keyClick(small, Qt.Key.Key_Left)
    assert cross.canvas.camera.x < before
    QTest.keyClick(cross.canvas, Qt.Key.Key_M)
    assert small.isHidden() and cross.settings_panel.settings.minimap is False


def test_the_local_graph_of_several_notes(cross, qtbot, still):
    cross.show_local(("east.md", "alone.md"), 1)
    still(cross, qtbot)
    assert set(cross.canvas.scene.graph.paths) == {"east.md", "hub.md", "alone.md"}
    assert set(cross.selection()) == {"east.md", "alone.md"}
    cross.show_whole_graph()
    assert len(cross.canvas.scene.graph) == 5


def test_saved_settings_apply_before_a_graph_exists(cross):
    choices = GraphSettings(
        shown=VisibilitySettings(orphans=False), forces=ForceParams(gravity=0.5), minimap=True
    )
    cross.settings_controller.restore(choices)
    assert "alone.md" not in shown(cross)
    assert cross.canvas.forces.gravity == 0.5
    assert cross.settings_panel.forces.sliders["gravity"].value == 0.5


def test_sections_fold_and_the_folding_is_saved(cross):
    changes = []
    cross.settings_changed.connect(changes.append)
    cross.toggle_settings()
    assert not cross.settings_panel.forces.is_expanded
    cross.settings_panel.forces._header.click()
    assert cross.settings_panel.forces.is_expanded and "forces" not in changes[-1].folded
    QTest.keyClick(cross.settings_panel.filters.query.field, Qt.Key.Key_Escape)
    assert cross.settings_panel.isHidden() and cross.canvas.hasFocus()


def test_the_settings_panel_and_the_list_of_links_replace_each_other(cross):
    cross.toggle_settings()
    assert cross.canvas.insets.right == cross.settings_panel.width()
    assert cross.legend.geometry().right() < cross.settings_panel.geometry().left()
    cross.toggle_neighbors()
    assert cross.settings_panel.isHidden() and cross.neighbors.isVisible()
    assert cross.toolbar.list.isChecked() and not cross.toolbar.settings.isChecked()


def test_a_result_is_announced_listed_and_cleared(cross):
    section, chosen, accepted = cross.settings_panel.analysis, [], []
    cross.toggle_settings()
    cross.settings_panel.expand_section(section)
    section.list.chosen.connect(chosen.append)
    section.list.accepted.connect(accepted.append)
    rows = tuple(AnalysisResultRow((f"{name}.md", "hub.md"), f"{name} – Hub") for name in ("east", "west"))
    section.show_progress("Counting…", 0.5)
    section.show_progress("")
    section.show_result(
        AnalysisResult("suggestions", "Suggested links", "2 could be made", rows, can_accept=True)
    )
    assert section.summary == "Suggested links. 2 could be made"
    assert section.buttons["suggestions"].isChecked() and not section.buttons["bridges"].isChecked()
    QTest.keyClick(section.list.view, Qt.Key.Key_Down)
    assert chosen == [rows[1]]
    section.list.accept_button.click()
    assert accepted == [rows[1]]
    section.show_result(None)
    assert section.summary == "" and not section.buttons["suggestions"].isChecked()


def test_the_find_box_lists_names_and_distinguishes_duplicates(cross, gui, wait_until):
    box = cross.find_box
    box.set_names(["Index", "Index", "Indexing", "Other"], ["a", "b", "", ""])
    chosen = []
    box.chosen.connect(chosen.append)

    async def find() -> None:
        cross.activateWindow()
        box.setFocus()
        await wait_until(box.hasFocus)
        QTest.keyClicks(box, "ind")
        await wait_until(lambda: box.popup.labels == ("Index  ·  a", "Index  ·  b", "Indexing"))
        QTest.keyClick(box, Qt.Key.Key_Down)
        QTest.keyClick(box, Qt.Key.Key_Return)

    gui(find())
    assert chosen == [1] and not box.popup.is_open
