"""Using the graph: filters and groups, menus, analysis, layouts, pictures, and saved settings."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from app.desktop.graph.export_dialog import ExportOptions
from app.desktop.graph.panel import GraphPanel
from app.desktop.graph.settings.model import LayoutMode
from app.desktop.runtime import tasks
from app.vault.markdown.scan import scan
from tests.flows.pilot import Pilot


async def ready(pilot: Pilot, count: int) -> GraphPanel:
    """Wait until the graph has all nodes and is at rest, and return it."""
    graph = pilot.graph
    await pilot.until(lambda: len(pilot.nodes) == count and not graph.view.is_arranging, "the graph is there")
    return graph


def bright(graph: GraphPanel) -> set[str]:
    scene = graph.view.canvas.scene
    return {path for path, row in scene.graph.rows.items() if scene.strength[row] > 0.5}


def entries(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if action.text()]


def type_query(field, text: str) -> None:
    field.field.clear()
    QTest.keyClicks(field.field, text)
    QTest.keyClick(field.field, Qt.Key.Key_Return)


def test_filters_and_groups_are_searches_that_follow_the_vault_and_are_kept(app_run, garden: Path) -> None:
    async def first(pilot: Pilot) -> None:
        await pilot.open(garden)
        graph = await ready(pilot, 5)
        view = graph.view
        pilot.window.menu.run("graph-sheet")
        type_query(view.settings_panel.filters.query, "tag:(")
        await pilot.until(
            lambda: "▸" in view.settings_panel.filters.query.message, "the place of the error is shown"
        )
        assert len(bright(graph)) == 5
        type_query(view.settings_panel.filters.query, "tag:nature")
        await pilot.until(lambda: bright(graph) == {"Water.md", "Plants/Camellia.md"}, "the rest is faint")
        assert view.settings_panel.filters.query.message == "2 notes"
        (garden / "Sea.md").write_text("Salt [[Water]]. #nature\n", "utf-8")
        await pilot.until(lambda: "Sea.md" in bright(graph), "a new note that the filter finds is bright")
        type_query(view.settings_panel.filters.query, "")
        await pilot.until(lambda: len(bright(graph)) == 6, "the filter is off")
        view.settings_panel.groups.rows.add_button.click()
        type_query(view.settings_panel.groups.rows._rows[0].query, "path:Plants")
        await pilot.until(lambda: view.appearance.counts() == (2,), "the group is coloured")
        assert view.appearance.entries()[0][0].label == "path:Plants"

    async def again(pilot: Pilot) -> None:
        await pilot.open(garden)
        graph = await ready(pilot, 6)
        assert [group.query for group in graph.view.settings_panel.settings.groups] == ["path:Plants"]
        await pilot.until(lambda: graph.view.appearance.counts() == (2,), "the group is there at once")

    app_run(first)
    app_run(again)


def test_the_menus_offer_what_can_be_done_with_the_node(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        graph = await ready(pilot, 5)
        view, menu = graph.view, graph._menu
        tools = {"find_related", "delete_note"}
        one = entries(menu.create_menu("Tea.md", tools))
        assert one[0] == "Open"
        assert {"Local graph", "Find related notes", "Delete…", "Shortest path to…"} <= set(one)
        assert not {"Summarize", "Merge with…", "Add a relation…", "Rename…"} & set(one), "no tool, no entry"
        every = {"summarize_node", "merge_nodes", "create_relationship", "move_note", *tools}
        assert {"Summarize", "Merge with…", "Add a relation…"} <= set(
            entries(menu.create_menu("Tea.md", every))
        )
        assert entries(menu.create_menu("Kettle", every)) == ["Create note…", "Local graph"]
        view.select(["Tea.md", "Water.md"])
        several = menu.create_menu("Tea.md", every)
        assert entries(several)[0] == "2 selected"
        await pilot.choose(several, "Copy links")
        await pilot.until(lambda: QGuiApplication.clipboard().text() == "- [[Tea]]\n- [[Water]]", "copied")
        await pilot.choose(menu.create_menu("Water.md", every), "Attach to agent prompt")
        await pilot.until(lambda: len(pilot.agent.composer.notes) == 2, "the agent has both")
        view.context_requested.emit("", QPoint(5, 5))
        shown = "Export graph as PNG…"
        await pilot.until(lambda: any(shown in entries(each) for each in view.findChildren(QMenu)), "a menu")
        for each in view.findChildren(QMenu):
            each.close()

    app_run(use)


def test_questions_about_the_graph_are_answered_in_it(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        graph = await ready(pilot, 5)
        view, section = graph.view, graph.view.settings_panel.analysis
        view.toggle_settings()
        view.settings_panel.expand_section(section)
        section.buttons["communities"].click()
        await pilot.until(lambda: section.summary.startswith("Communities."), "communities are found")
        assert view.appearance.entries()[0][0].key == "part-0"
        section.buttons["pagerank"].click()
        await pilot.until(lambda: section.summary.startswith("Importance."), "importance is measured")
        assert view.canvas.scene.highlights.sizes is not None
        assert section.list.model.rows[0].paths == ("Tea.md",)
        view.select(["Water.md", "Plants/Mint.md"])
        section.buttons["path"].click()
        await pilot.until(lambda: section.summary == "Shortest path. 2 links", "the way is found")
        rows = view.canvas.scene.graph.rows
        way = [rows[path] for path in ("Water.md", "Tea.md", "Plants/Mint.md")]
        assert view.canvas.scene.highlights.path == way
        section.clear_button.click()
        assert section.summary == "" and not view.canvas.scene.highlights.path
        assert view.canvas.scene.highlights.sizes is None and view.canvas.scene.highlights.colors is None

    app_run(use)


def test_a_suggested_link_is_proposed_through_the_gate(app_run, garden: Path) -> None:
    mint, camellia = garden / "Plants/Mint.md", garden / "Plants/Camellia.md"

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        graph = await ready(pilot, 5)
        view, section = graph.view, graph.view.settings_panel.analysis
        view.toggle_settings()
        view.settings_panel.expand_section(section)
        before = {path: path.read_bytes() for path in (mint, camellia)}
        section.buttons["suggestions"].click()
        await pilot.until(lambda: "(dashed)" in section.summary, "links are suggested")
        assert view.canvas.scene.graph.suggested.any() and view.settings_panel.settings.shown.suggestions
        count = len(section.list.model.rows)
        pair = section.list.current
        section.list.accept_button.click()
        await pilot.approve()
        await pilot.until(lambda: len(section.list.model.rows) == count - 1, "it is linked")
        source, target = pair.paths
        text = (garden / source).read_text("utf-8")
        (relation,) = scan(text).relations
        assert relation.link.target == Path(target).stem
        for path, was in before.items():
            assert path.read_bytes().startswith(was), "nothing but the relation is added"
        entry = await pilot.select_entry("suggest_relationships")
        assert entry.tool == "suggest_relationships"

    app_run(use)


def test_by_meaning_is_grayed_out_with_its_reason_while_nothing_is_known(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        section = (await ready(pilot, 5)).view.settings_panel.layout_section
        button = section.buttons[LayoutMode.MEANING]
        assert button.isEnabled()
        pilot.window.menu.run("graph-sheet")
        await pilot.until(lambda: not button.isEnabled(), "it cannot be asked for")
        assert section.reason_label.text() == button.toolTip() != ""
        assert all(each is button or each.isEnabled() for each in section.buttons.values())

    app_run(use)


def test_a_layout_is_shown_and_remembered(app_run, garden: Path) -> None:
    async def first(pilot: Pilot) -> None:
        await pilot.open(garden)
        graph = await ready(pilot, 5)
        await pilot.until(lambda: graph._is_settled, "the layout is kept")
        graph.view.settings_panel.layout_section.buttons[LayoutMode.FOLDER].click()
        await pilot.until(
            lambda: graph.view.layout_switch.mode is LayoutMode.FOLDER, "nodes are on their way"
        )
        await pilot.until(lambda: not graph.view.layout_switch.animation.is_moving, "they are there")
        assert {disc.name for disc in graph.view.annotations.discs} >= {"Plants"}

    async def again(pilot: Pilot) -> None:
        await pilot.open(garden)
        graph = await ready(pilot, 5)
        await pilot.until(lambda: graph.view.layout_switch.mode is LayoutMode.FOLDER, "it is by folder again")

    app_run(first)
    app_run(again)


@pytest.mark.parametrize("transparent", [True, False])
def test_pictures_of_any_size_are_saved_and_a_bad_path_is_reported(
    app_run, garden: Path, tmp_path: Path, transparent: bool
) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        graph = await ready(pilot, 5)
        png, svg = tmp_path / "graph.png", tmp_path / "graph.svg"
        await graph._exporter.save(png, ExportOptions("png", 700, 500, 2, True, True, transparent))
        image = QImage(str(png))
        assert (image.width(), image.height()) == (1400, 1000)
        corner = image.pixelColor(2, 2)
        ground = QColor(graph.view.canvas.scene.theme.window)
        assert corner.alpha() == 0 if transparent else corner == ground
        await graph._exporter.save(svg, ExportOptions("svg", 700, 500, 1, True, True, transparent))
        names = {each.text for each in ET.parse(svg).iter("{http://www.w3.org/2000/svg}text")}
        assert "Tea" in names
        pilot.window.view.graph.run_command("png")
        await pilot.press("Cancel")
        bad = ExportOptions("png", 300, 300, 1, True, False, False)
        saving = graph._exporter.save(tmp_path / "no folder" / "graph.png", bad)
        tasks.start(saving, owner=graph, action="save the graph")
        await pilot.until(lambda: bool(pilot.sheets), "what went wrong is told")
        assert "No file was written" in pilot.describe()
        await pilot.press("OK")
        assert sorted(path.name for path in tmp_path.glob("graph.*")) == ["graph.png", "graph.svg"]

    app_run(use)


def test_a_note_made_here_is_marked_in_the_graph_at_once(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        graph = await ready(pilot, 5)
        pilot.window.view.commands.create("Saucer")
        await pilot.until(lambda: graph.view.selection() == ("Saucer.md",), "it is selected in the graph")

    app_run(use)
