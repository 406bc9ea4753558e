"""Runs analyses of the whole graph and shows their results in the graph and its settings panel."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt, Signal

from app.analysis.layout_requests import ATTACHMENTS, UNRESOLVED
from app.desktop.bridge import VaultClient
from app.desktop.graph.analysis.result import AnalysisResult, AnalysisResultRow
from app.desktop.graph.annotations import AxisTick, RegionDisc
from app.desktop.graph.color_layers import community_layer
from app.desktop.graph.settings.model import GraphSettings, LayoutMode
from app.desktop.graph.view import GraphView
from app.desktop.graph.virtual_nodes import SuggestedEdge
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import PluralText
from app.errors import ScriptoriumError
from app.graph.model import Graph, node_radii
from app.graph.static_layout import Region
from app.permissions.caller import Caller
from app.toolkit.call import Call

if TYPE_CHECKING:
    from app.analysis.centrality import Measure
    from app.analysis.service import LinkSuggestion
    from app.workspace import VaultService

_MAX_RESULT_ROWS = 200
_TIME_LAYOUTS = (LayoutMode.CREATED, LayoutMode.MODIFIED)


class GraphAnalysisController(QObject):
    """Runs analyses for `view` and shows their results; a new analysis cancels the previous one.

    Accepting a suggestion goes through the approval gate, like every change.
    """

    _progressed = Signal(float, str)

    def __init__(self, client: VaultClient, view: GraphView) -> None:
        super().__init__(view)
        self._client = client
        self._view = view
        self._section = view.settings_panel.analysis
        self._task: asyncio.Task[None] | None = None
        self._path_source = ""
        self._suggestions: tuple[LinkSuggestion, ...] = ()
        self._progressed.connect(self._show_progress, Qt.ConnectionType.QueuedConnection)
        self._section.requested.connect(self.run)
        self._section.cancelled.connect(self.cancel)
        self._section.cleared.connect(self.clear)
        self._section.list.chosen.connect(self._show_row)
        self._section.list.accepted.connect(self._accept)
        self._section.list.dismissed.connect(self._reject)
        view.selected.connect(self._follow_selection)
        view.settings_controller.arrangement_requested.connect(self.apply_layout)
        view.settings_changed.connect(self._apply_settings)

    # Running analyses

    def run(self, kind: str) -> None:
        """Run "communities", "pagerank", "betweenness", "path", "bridges", "orphans" or "suggestions".

        "path" needs two selected notes; otherwise, it does nothing.
        """
        selection = self._view.selection()
        if kind == "path":
            if len(selection) == 2:
                self.show_path(*selection)
            return
        analyses: dict[str, Callable[[], Awaitable[None]]] = {
            "communities": self._show_communities,
            "pagerank": partial(self._show_centrality, "pagerank"),
            "betweenness": partial(self._show_centrality, "betweenness"),
            "bridges": self._show_cut_points,
            "orphans": self._show_orphans,
            "suggestions": partial(self._show_link_suggestions, None),
        }
        self._start_analysis(analyses[kind])

    def show_path(self, source: str, target: str) -> None:
        """Show the shortest path between two notes."""
        self._start_analysis(partial(self._show_path, source, target))

    def start_path(self, source: str) -> None:
        """Wait for the next selected note, and show the shortest path to it from `source`."""
        self._path_source = source
        self._view.toast.show_message(self.tr("Select the note at the end of the path"))

    def suggest_links(self, path: str) -> None:
        """Suggest links between the note at `path` and unlinked notes."""
        self._start_analysis(partial(self._show_link_suggestions, path))

    def apply_layout(self, mode: LayoutMode) -> None:
        """Switch the graph to another layout."""
        self._start_analysis(partial(self._compute_layout, mode))

    def cancel(self) -> None:
        """Cancel the running analysis; the displayed layout and results stay."""
        self._cancel_task()
        self._restore_layout_choice()

    def _cancel_task(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self._section.show_progress("")

    def clear(self) -> None:
        """Remove the results of analyses from the graph and the settings panel; the layout stays."""
        view = self._view
        view.appearance.set_analysis(None)
        view.appearance.set_sizes(None)
        view.canvas.highlight_path(())
        view.canvas.set_glow("analysis", ())
        self._suggestions = ()
        if view.virtual_nodes.suggested_edges:
            view.virtual_nodes.suggested_edges = ()
            view.refresh_virtual_nodes()
        self._set_suggestions_visible(False)
        self._section.show_result(None)
        view.update_legend()

    # Showing results

    async def _show_communities(self) -> None:
        graph = self._view.canvas.scene.graph
        result = await self._client.run(
            lambda vault: vault.analysis.communities(graph, progress=self._report_progress)
        )
        if graph is not self._view.canvas.scene.graph:
            return
        layer = community_layer(graph, result.labels, self._view.canvas.scene.theme)
        self._view.appearance.set_analysis(layer)
        rows = tuple(
            AnalysisResultRow(
                self._hub_paths(graph, result.labels, community),
                group.label,
                PluralText("GraphAnalysis", "{0} note", "{0} notes").format(group.count),
            )
            for community, group in enumerate(layer.groups)
            if group.key != "part-other"
        )
        communities = PluralText("GraphAnalysis", "{0} community", "{0} communities").format(result.count)
        summary = self.tr("{0}, shown as colors").format(communities)
        self._show_result(AnalysisResult("communities", self.tr("Communities"), summary, rows))

    @staticmethod
    def _hub_paths(graph: Graph, communities: NDArray[np.int64], community: int) -> tuple[str, ...]:
        """Return the paths of a community's nodes, those with the most links first, at most 60."""
        rows = np.flatnonzero(communities == community)
        hubs = rows[np.argsort(-graph.degree[rows], kind="stable")][:60]
        return tuple(graph.paths[row] for row in hubs.tolist())

    async def _show_centrality(self, measure: Measure) -> None:
        graph = self._view.canvas.scene.graph
        result = await self._client.run(
            lambda vault: vault.analysis.centrality(graph, measure, progress=self._report_progress)
        )
        if graph is not self._view.canvas.scene.graph:
            return
        self._view.appearance.set_sizes(result.radii() / node_radii(graph), result.method)
        order = np.argsort(-result.score, kind="stable")[:50].tolist()
        rows = tuple(
            AnalysisResultRow((graph.paths[row],), graph.names[row], f"{100 * float(result.score[row]):.2f}%")
            for row in order
        )
        title = self.tr("Importance") if measure == "pagerank" else self.tr("Crossroads")
        summary = self.tr("Node size: {0}").format(result.method)
        if not result.is_exact:
            summary = PluralText(
                "GraphAnalysis",
                "Node size: {1}, estimated from {0} note",
                "Node size: {1}, estimated from {0} notes",
            ).format(result.sampled, result.method)
        self._show_result(AnalysisResult(measure, title, summary, rows))

    async def _show_path(self, source: str, target: str) -> None:
        graph = self._view.canvas.scene.graph
        if source not in graph.rows or target not in graph.rows:
            return
        ends = graph.rows[source], graph.rows[target]
        result = await self._client.run(lambda vault: vault.analysis.path(graph, *ends))
        title = self.tr("Shortest path")
        if result is None:
            summary = self.tr("No path connects {0} to {1}").format(*(graph.names[row] for row in ends))
            self._show_result(AnalysisResult("path", title, summary))
            return
        if graph is not self._view.canvas.scene.graph:
            return
        self._view.canvas.highlight_path(result.rows)
        self._view.fit([graph.paths[row] for row in result.rows])
        details = ["", *(name.replace("_", " ").lower() for name in result.relations)]
        rows = tuple(
            AnalysisResultRow((graph.paths[row],), graph.names[row], detail)
            for row, detail in zip(result.rows, details, strict=True)
        )
        steps = len(result.rows) - 1
        summary = PluralText("GraphAnalysis", "{0} link", "{0} links").format(steps)
        self._show_result(AnalysisResult("path", title, summary, rows))

    async def _show_cut_points(self) -> None:
        graph = self._view.canvas.scene.graph
        result = await self._client.run(
            lambda vault: vault.analysis.cut_points(graph, progress=self._report_progress)
        )
        rows = [
            AnalysisResultRow(
                (graph.paths[a], graph.paths[b]),
                f"{graph.names[a]} – {graph.names[b]}",
                _cut_off_text(int(count)),
            )
            for (a, b), count in zip(result.bridges.tolist(), result.cut_off.tolist(), strict=True)
        ]
        rows += [
            AnalysisResultRow((graph.paths[row],), graph.names[row], _cut_off_text(int(count)))
            for row, count in zip(result.articulations.tolist(), result.lost.tolist(), strict=True)
        ]
        nodes = np.unique(np.concatenate([result.bridges.ravel(), result.articulations])).tolist()
        self._glow(graph, nodes)
        summary = self.tr("{0} and {1} whose removal would split the graph").format(
            PluralText("GraphAnalysis", "{0} link", "{0} links").format(len(result.bridges)),
            PluralText("GraphAnalysis", "{0} note", "{0} notes").format(len(result.articulations)),
        )
        self._show_result(
            AnalysisResult("bridges", self.tr("Bridges"), summary, tuple(rows[:_MAX_RESULT_ROWS]))
        )

    async def _show_orphans(self) -> None:
        graph = self._view.canvas.scene.graph
        result = await self._client.run(lambda vault: vault.analysis.orphans(graph))
        nodes = [*result.notes.tolist(), *result.attachments.tolist()]
        self._glow(graph, nodes)
        rows = tuple(
            AnalysisResultRow((graph.paths[row],), graph.names[row], graph.folders[row])
            for row in nodes[:_MAX_RESULT_ROWS]
        )
        summary = self.tr("{0} and {1} without links").format(
            PluralText("GraphAnalysis", "{0} note", "{0} notes").format(len(result.notes)),
            PluralText("GraphAnalysis", "{0} attachment", "{0} attachments").format(len(result.attachments)),
        )
        self._show_result(AnalysisResult("orphans", self.tr("Orphans"), summary, rows))

    async def _show_link_suggestions(self, path: str | None) -> None:
        graph = self._view.graph()
        self._suggestions = await self._client.run(
            lambda vault: vault.analysis.suggestions(graph, for_path=path, progress=self._report_progress)
        )
        self._show_suggestions()

    def _show_suggestions(self) -> None:
        view, graph = self._view, self._view.graph()
        suggestions = [
            suggestion
            for suggestion in self._suggestions
            if {suggestion.source, suggestion.target} <= graph.rows.keys()
        ]
        view.virtual_nodes.suggested_edges = tuple(
            SuggestedEdge(suggestion.source, suggestion.target, suggestion.score)
            for suggestion in suggestions
        )
        view.refresh_virtual_nodes()
        names = {path: graph.names[row] for path, row in graph.rows.items()}
        rows = tuple(
            AnalysisResultRow(
                (suggestion.source, suggestion.target),
                f"{names[suggestion.source]} – {names[suggestion.target]}",
                self._reasons_text(suggestion),
            )
            for suggestion in suggestions
        )
        summary = PluralText(
            "GraphAnalysis", "{0} suggested link (dashed)", "{0} suggested links (dashed)"
        ).format(len(rows))
        result = AnalysisResult("suggestions", self.tr("Suggested links"), summary, rows, can_accept=True)
        self._show_result(
            result if rows else AnalysisResult("suggestions", result.title, self.tr("No suggestions"))
        )
        self._set_suggestions_visible(bool(rows))

    def _set_suggestions_visible(self, visible: bool) -> None:
        """Turn the suggestions on or off in the filter settings."""
        settings = self._view.settings_panel.settings
        if settings.shown.suggestions != visible:
            shown = settings.shown.model_copy(update={"suggestions": visible})
            self._view.settings_controller.set(settings.updated(shown=shown))

    def _reasons_text(self, suggestion: LinkSuggestion) -> str:
        labels = {
            "neighbors": self.tr("shared links"),
            "meaning": self.tr("similar content"),
            "tags": self.tr("shared tags"),
        }
        return ", ".join(labels.get(reason.kind, reason.kind) for reason in suggestion.reasons)

    async def _compute_layout(self, mode: LayoutMode) -> None:
        view = self._view
        graph, aspect = view.canvas.scene.graph, view.canvas.page_aspect()
        name = "time" if mode in _TIME_LAYOUTS else str(mode)
        options: dict[str, object] = {"aspect": aspect}
        if mode in _TIME_LAYOUTS:
            options["by"] = str(mode)
        layout = await self._client.run(
            lambda vault: vault.analysis.layout(graph, name, progress=self._report_progress, **options)  # type: ignore[arg-type]
        )
        if graph is not view.canvas.scene.graph:
            return
        discs = [
            RegionDisc(self._region_name(region, mode), region.x, region.y, region.radius, region.depth)
            for region in layout.regions
        ]
        ticks = [AxisTick(tick.x, tick.label, tick.major) for tick in layout.ticks]
        view.layout_switch.show(mode, layout.positions, discs, ticks)
        self._section.show_progress("")

    def _region_name(self, region: Region, mode: LayoutMode) -> str:
        """Return the display name of a region."""
        special_names = {UNRESOLVED: self.tr("Unresolved"), ATTACHMENTS: self.tr("Attachments")}
        return special_names.get(region.key) or region.name or self._unnamed_region(mode)

    def _unnamed_region(self, mode: LayoutMode) -> str:
        return {
            LayoutMode.FOLDER: self.tr("Vault root"),
            LayoutMode.TAG: self.tr("No tags"),
            LayoutMode.TYPE: self.tr("No type"),
        }.get(mode, "")

    # Accepting and rejecting suggestions

    def _accept(self, row: AnalysisResultRow) -> None:
        tasks.start(self._link(row), owner=self._view, action=self.tr("link the notes"))

    async def _link(self, row: AnalysisResultRow) -> None:
        """Propose the most likely relation; remove the suggestion once the relation is written."""

        async def link(vault: VaultService) -> bool:
            arguments = {"op": "accept", "suggestion_id": " ~ ".join(row.paths)}
            outcome = await vault.call(Call.of("suggest_relationships", arguments, Caller.user()))
            if not outcome.success and not outcome.denied:
                raise ScriptoriumError(outcome.message)
            return outcome.success

        if await self._client.run(link):
            self._remove_suggestion(row)

    def _reject(self, row: AnalysisResultRow) -> None:
        rejection = self._client.run(lambda vault: vault.analysis.reject(*row.paths))
        tasks.start(rejection, owner=self._view, action=self.tr("dismiss the suggestion"))
        self._remove_suggestion(row)

    def _remove_suggestion(self, row: AnalysisResultRow) -> None:
        self._suggestions = tuple(
            suggestion
            for suggestion in self._suggestions
            if (suggestion.source, suggestion.target) != row.paths
        )
        self._show_suggestions()

    # Helpers

    def _apply_settings(self, settings: GraphSettings) -> None:
        """Find suggestions when they are turned on; remove all results when they are turned off."""
        if settings.shown.suggestions and not self._suggestions and self._task is None:
            self.run("suggestions")
        elif not settings.shown.suggestions and self._suggestions:
            self.clear()

    def _follow_selection(self, selection: tuple[str, ...]) -> None:
        self._section.set_path_enabled(len(selection) == 2)
        if self._path_source and selection and selection[-1] != self._path_source:
            source, self._path_source = self._path_source, ""
            self.show_path(source, selection[-1])
        elif not selection:
            self._path_source = ""

    def _show_row(self, row: AnalysisResultRow) -> None:
        if len(row.paths) == 1:
            self._view.fly_to(row.paths[0])
        else:
            self._view.select(row.paths)
            self._view.fit(row.paths)

    def _glow(self, graph: Graph, nodes: list[int]) -> None:
        self._view.canvas.set_glow("analysis", [graph.paths[row] for row in nodes])

    def _show_result(self, result: AnalysisResult) -> None:
        view = self._view
        self._section.show_progress("")
        self._section.show_result(result)
        if view.settings_panel.isHidden():
            view.toast.show_message(f"{result.title}: {result.summary}")
        else:
            view.settings_panel.expand_section(self._section)
        view.update_legend()

    def _start_analysis(self, analysis: Callable[[], Awaitable[None]]) -> None:
        self._cancel_task()
        self._section.show_progress(self.tr("Working…"))
        self._task = tasks.start(
            self._run_and_report(analysis), owner=self._view, action=self.tr("analyze the graph")
        )

    async def _run_and_report(self, analysis: Callable[[], Awaitable[None]]) -> None:
        """Run an analysis and show its error, if any, in the settings panel."""
        try:
            await analysis()
        except ScriptoriumError as error:
            self._section.show_progress("")
            self._section.show_result(AnalysisResult("", self.tr("The analysis failed"), error.message))
            self._view.toast.show_message(error.message)
            self._restore_layout_choice()
        finally:
            if self._task is asyncio.current_task():
                self._task = None

    def _restore_layout_choice(self) -> None:
        """Select the displayed layout in the settings after another layout failed or was canceled."""
        view = self._view
        if view.settings_panel.settings.arrangement is not view.layout_switch.mode:
            view.settings_controller.set(
                view.settings_panel.settings.updated(arrangement=view.layout_switch.mode)
            )

    def _report_progress(self, fraction: float, text: str) -> None:
        """Report progress from the service thread; `fraction` is negative if it is unknown."""
        self._progressed.emit(fraction, text)

    def _show_progress(self, fraction: float, text: str) -> None:
        if self._task is not None:
            self._section.show_progress(text, fraction if fraction >= 0 else None)


def _cut_off_text(count: int) -> str:
    return PluralText("GraphAnalysis", "disconnects {0} note", "disconnects {0} notes").format(count)
