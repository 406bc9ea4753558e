"""When the graph of a vault gets a new layout, and when all positions stay."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.desktop.bridge import ServiceThread, VaultClient
from app.desktop.graph.panel import GraphPanel
from app.desktop.theme.theme import ThemeSource
from app.graph.positions import load_communities, load_positions
from app.settings import Settings
from app.vault.path import NotePath
from tests.desktop.open_vault import OpenVault, service_of
from tests.desktop.workspace_access import in_workspace


class RecordedPanel:
    """A panel over a real index, with a record of every layout from scratch."""

    def __init__(self, panel: GraphPanel, vault: OpenVault, client: VaultClient, theme: ThemeSource) -> None:
        self.panel, self.vault, self.client, self.theme = panel, vault, client, theme
        self.arranged: list[int] = []
        self.cut_short: list[int] = []
        show_graph = panel.view.set_graph

        def set_graph(graph, positions=None, communities=None) -> None:
            if panel.view.is_arranging:
                self.cut_short.append(len(graph))
            if positions is None:
                self.arranged.append(len(graph))
            show_graph(graph, positions, communities)

        panel.view.set_graph = set_graph  # type: ignore[method-assign]

    def write(self, names: range, folder: str = "") -> list[NotePath]:
        """Write notes in a chain, each linked with the one before."""
        paths = []
        for number in names:
            file = self.vault.root / folder / f"Note {number}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"# Note {number}\n\nAfter [[Note {max(0, number - 1)}]].\n", encoding="utf-8")
            paths.append(NotePath.parse(file.relative_to(self.vault.root).as_posix()))
        return paths

    async def add(self, names: range) -> None:
        """Write notes and update the index."""
        paths = self.write(names)
        await in_workspace(self.client, lambda vault: vault.index.refresh(paths))

    async def scan(self) -> None:
        """Scan the whole vault, like the window."""
        self.panel.set_scanning(True)
        await in_workspace(self.client, lambda vault: vault.start_scan(lambda _: None))
        self.panel.set_scanning(False)

    @property
    def count(self) -> int:
        return len(self.panel.view.graph())

    @property
    def positions(self) -> dict[str, tuple[float, ...]]:
        view = self.panel.view
        return dict(zip(view.graph().paths, map(tuple, view.positions().tolist()), strict=True))

    @property
    def at_rest(self) -> bool:
        """Return whether the first layout is finished and no other is pending."""
        panel = self.panel
        return panel._is_settled and not panel.view.is_arranging and not panel._update_timer.isActive()


@pytest.fixture
def watched(tmp_path: Path, service: ServiceThread, qtbot, wait_until) -> Callable[..., object]:
    @asynccontextmanager
    async def opened(notes: int = 0) -> AsyncIterator[RecordedPanel]:
        root = tmp_path / "Vault"
        root.mkdir(exist_ok=True)
        vault = OpenVault(root, Settings())
        await service.call(vault.index.open)
        client = VaultClient(service, service_of(vault))
        theme = ThemeSource("light")
        panel = GraphPanel(client, theme)
        panel._idle_timer.setInterval(200)
        panel.resize(600, 500)
        panel.show()
        watched_panel = RecordedPanel(panel, vault, client, theme)
        watched_panel.write(range(notes))
        try:
            yield watched_panel
            await wait_until(lambda: not panel.view.is_arranging)
        finally:
            panel.shut_down()
            panel.hide()
            await client.close()
            await service.call(vault.close)
            panel.deleteLater()

    return opened


def test_a_new_vault_is_laid_out_as_a_whole(gui, watched, wait_until) -> None:
    async def main() -> None:
        async with watched(notes=120) as it:
            await it.scan()
            await wait_until(lambda: it.count == 120)
            await wait_until(lambda: it.at_rest)
            assert it.arranged and it.arranged[-1] == 120
            assert np.isfinite(it.panel.view.positions()).all()

    gui(main())


def test_an_empty_graph_says_that_it_is_loading_only_while_it_is(gui, watched, wait_until) -> None:
    async def main() -> None:
        async with watched() as it:
            scene = it.panel.view.canvas.scene
            await wait_until(lambda: not scene.is_loading)
            empty = it.panel.view.canvas.grab().toImage()
            it.panel.set_scanning(True)
            assert scene.is_loading
            assert it.panel.view.canvas.grab().toImage() != empty
            it.panel.set_scanning(False)
            await wait_until(lambda: not scene.is_loading)
            assert it.panel.view.canvas.grab().toImage() == empty

    gui(main())


def test_an_empty_graph_is_loading_until_the_last_notes_of_a_scan_are_shown(gui, watched, wait_until) -> None:
    async def main() -> None:
        async with watched(notes=3) as it:
            scene = it.panel.view.canvas.scene
            it.panel.set_scanning(True)
            # The scan ends while the empty graph is still being loaded.
            async with it.panel._update_lock:
                await in_workspace(it.client, lambda vault: vault.start_scan(lambda _: None))
                it.panel.set_scanning(False)
                loading = [scene.is_loading]
                it.panel._update_loading()
                loading.append(scene.is_loading)
            await wait_until(lambda: it.count == 3 and not scene.is_loading)
            assert loading == [True, True]

    gui(main())


def test_labels_grow_with_the_zoom_of_the_interface(gui, watched, wait_until) -> None:
    async def main() -> None:
        async with watched(notes=5) as it:
            await it.scan()
            await wait_until(lambda: it.count == 5 and it.at_rest)
            canvas = it.panel.view.canvas

            def heights() -> set[float]:
                return {bottom - top for _, top, _, bottom in canvas.labels.placed.values()}

            await wait_until(lambda: heights() and not canvas.labels.is_fading)
            before = max(heights())
            it.theme.set("light", 2.0)
            await wait_until(lambda: heights() and not canvas.labels.is_fading)
            assert 1.8 * before < max(heights()) < 2.2 * before

    gui(main())


def test_a_running_layout_is_not_interrupted(gui, watched, wait_until) -> None:
    async def main() -> None:
        async with watched(notes=60) as it:
            await it.scan()
            await wait_until(lambda: it.panel.view.is_arranging)
            await it.add(range(60, 200))
            await wait_until(lambda: it.count == 200)
            assert it.cut_short == []

    gui(main())


def test_saved_positions_are_kept_without_a_layout(gui, watched, wait_until) -> None:
    async def first() -> dict[str, tuple[float, ...]]:
        async with watched(notes=80) as it:
            await it.scan()
            await wait_until(lambda: it.count == 80 and it.at_rest)
            graph = it.panel.view.graph()
            await wait_until(lambda: load_communities(it.panel._folder, graph) is not None)
            await wait_until(lambda: load_positions(it.panel._folder, graph) is not None)
            return it.positions

    async def again(before: dict[str, tuple[float, ...]]) -> None:
        async with watched() as it:
            await wait_until(lambda: it.count == 80)
            assert not it.panel.view.canvas.scene.needs_communities
            await it.scan()
            await wait_until(lambda: it.at_rest)
            assert it.arranged == []
            assert it.positions == before

    before = gui(first())
    gui(again(before))


def test_one_more_note_moves_no_other(gui, watched, wait_until) -> None:
    async def main() -> None:
        async with watched(notes=80) as it:
            await it.scan()
            await wait_until(lambda: it.count == 80 and it.at_rest)
            before, arrangements = it.positions, len(it.arranged)
            await it.add(range(80, 81))
            await wait_until(lambda: it.count == 81)
            assert len(it.arranged) == arrangements
            assert {path: place for path, place in it.positions.items() if path in before} == before

    gui(main())


def test_very_many_new_notes_cause_a_new_layout(gui, watched, wait_until) -> None:
    async def main() -> None:
        async with watched(notes=40) as it:
            await it.scan()
            await wait_until(lambda: it.count == 40 and it.at_rest)
            arrangements = len(it.arranged)
            await it.add(range(40, 200))
            await wait_until(lambda: it.count == 200)
            assert len(it.arranged) == arrangements + 1

    gui(main())


def test_a_saved_note_updates_the_graph_without_a_rebuild(gui, watched, wait_until) -> None:
    async def main() -> None:
        async with watched(notes=80) as it:
            await it.scan()
            await wait_until(lambda: it.count == 80 and it.at_rest)
            full_reads: list[str] = []
            read = it.vault.index.graph
            it.vault.index.graph = lambda: (full_reads.append("read"), read())[1]
            await it.add(range(80, 82))
            await wait_until(lambda: it.count == 82)
            (it.vault.root / "Note 81.md").write_text("[[Note 3]] and [[Not yet]]", encoding="utf-8")
            await in_workspace(it.client, lambda vault: vault.index.refresh([NotePath("Note 81.md")]))
            await wait_until(lambda: it.count == 83)
            graph = it.panel.view.graph()
            neighbors = {graph.paths[row] for row in graph.neighbors(graph.rows["Note 81.md"]).tolist()}
            assert neighbors == {"Note 3.md", "Not yet"}
            assert full_reads == []

    gui(main())


def test_the_settings_panel_lists_the_saved_searches(gui, watched, wait_until) -> None:
    async def main() -> None:
        async with watched(notes=4) as it:
            await it.scan()
            await wait_until(lambda: it.count == 4)
            settings_panel = it.panel.view.settings_panel
            query, rows = settings_panel.filters.query, settings_panel.groups.rows
            assert not query._saved_searches_action.isVisible()
            await in_workspace(it.client, lambda vault: vault.searches.save("The third", "file:3"))
            await wait_until(lambda: [action.text() for action in query._menu.actions()] == ["The third"])
            assert query._saved_searches_action.isVisible()
            query._menu.actions()[0].trigger()
            await wait_until(lambda: query.message == "1 note")
            assert settings_panel.settings.filter == "file:3"
            it.panel.filter_by("Note")
            await wait_until(lambda: query.message == "4 notes")
            rows.add_button.click()
            (row,) = rows._rows
            row.query._menu.actions()[0].trigger()
            assert [group.query for group in settings_panel.settings.groups] == ["file:3"]
            await in_workspace(it.client, lambda vault: vault.searches.remove("The third"))
            await wait_until(
                lambda: (
                    not query._saved_searches_action.isVisible()
                    and not row.query._saved_searches_action.isVisible()
                )
            )

    gui(main())


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_queries_in_the_settings_panel_are_completed_as_in_the_search_panel(gui, watched, wait_until) -> None:
    async def main() -> None:
        async with watched(notes=2) as it:
            await it.scan()
            await wait_until(lambda: it.count == 2)
            it.vault.analysis = SimpleNamespace(embedded_note_count=0)
            it.panel.activateWindow()
            settings_panel = it.panel.view.settings_panel
            settings_panel.show()
            if not settings_panel.groups.is_expanded:
                settings_panel.expand_section(settings_panel.groups)
            settings_panel.groups.rows.add_button.click()
            (row,) = settings_panel.groups.rows._rows
            for field in (settings_panel.filters.query.field, row.query.field):
                field.setFocus()
                await wait_until(field.hasFocus)
                QTest.keyClicks(field, "ta")
                await wait_until(lambda field=field: field.popup.labels[:1] == ("tag:",))
                QTest.keyClick(field, Qt.Key.Key_Tab)
                assert field.text() == "tag:"

    gui(main())
