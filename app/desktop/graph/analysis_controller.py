"""Runs analyses of the whole graph and shows their results in the graph and its settings panel."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

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

T = TypeVar("T")
_MAX_RESULT_ROWS = 200
_TIME_LAYOUTS = (LayoutMode.CREATED, LayoutMode.MODIFIED)


class GraphAnalysisController(QObject):
    """Runs analyses for `view` and shows their results; a new analysis cancels the previous one.

    Accepting a suggestion goes through the approval gate, as every change does.
    """

    _progressed = Signal(float, str)

    def __init__(self, client: VaultClient, view: GraphView) -> None:
        super().__init__(view)
        self._client = client
        self._view = view
        self._part = view.sheet.analysis
        self._task: asyncio.Task[None] | None = None
        self._path_from = ""
        self._suggestions: tuple[LinkSuggestion, ...] = ()
        self._progressed.connect(self._show_progress, Qt.ConnectionType.QueuedConnection)
        self._part.asked.connect(self.ask)
        self._part.cancelled.connect(self.cancel)
        self._part.cleared.connect(self.clear)
        self._part.list.chosen.connect(self._show_row)
        self._part.list.accepted.connect(self._accept)
        self._part.list.hidden.connect(self._reject)
        view.selected.connect(self._selected)
        view.chosen.arrangement_asked.connect(self.arrange)
        view.choices_changed.connect(self._apply_settings)

    # Questions

    def ask(self, kind: str) -> None:
        """Run "communities", "pagerank", "betweenness", "path", "bridges", "orphans" or "suggestions"."""
        chosen = self._view.selection()
        if kind == "path":
            if len(chosen) == 2:
                self.ask_path(*chosen)
            return
        works: dict[str, Callable[[], Awaitable[None]]] = {
            "communities": self._communities,
            "pagerank": partial(self._importance, "pagerank"),
            "betweenness": partial(self._importance, "betweenness"),
            "bridges": self._weak_points,
            "orphans": self._orphans,
            "suggestions": partial(self._suggest, None),
        }
        self._start(works[kind])

    def ask_path(self, source: str, target: str) -> None:
        """Show the shortest path between two notes."""
        self._start(partial(self._path, source, target))

    def begin_path(self, source: str) -> None:
        """Wait for the next selected note, and show the shortest path to it from `source`."""
        self._path_from = source
        self._view.note.show_message(self.tr("Select the note at the end of the path"))

    def ask_suggestions(self, path: str) -> None:
        """Show which unlinked notes could be linked with one note."""
        self._start(partial(self._suggest, path))

    def arrange(self, kind: LayoutMode) -> None:
        """Arrange the graph by another layout."""
        self._start(partial(self._arrange, kind))

    def cancel(self) -> None:
        """Cancel the running analysis; the graph keeps its look."""
        self._stop()
        self._show_arrangement()

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self._part.show_progress("")

    def clear(self) -> None:
        """Remove the results of analyses from the graph."""
        view = self._view
        view.appearance.set_analysis(None)
        view.appearance.set_sizes(None)
        view.canvas.highlight_path(())
        view.canvas.set_glow("analysis", ())
        self._suggestions = ()
        if view.decoration.proposed:
            view.decoration.proposed = ()
            view.redecorate()
        self._tick_suggestions(False)
        self._part.show_finding(None)
        view.show_legend()

    # Answers

    async def _communities(self) -> None:
        graph = self._view.canvas.scene.graph
        found = await self._run(
            lambda vault: vault.analysis.communities(graph, progress=self._report_progress)
        )
        if graph is not self._view.canvas.scene.graph:
            return
        layer = community_layer(graph, found.labels, self._view.canvas.scene.theme)
        self._view.appearance.set_analysis(layer)
        lines = tuple(
            AnalysisResultRow(
                self._heart(graph, found.labels, place),
                group.label,
                PluralText("GraphAnalysis", "{0} note", "{0} notes").format(group.count),
            )
            for place, group in enumerate(layer.groups)
            if group.key != "part-other"
        )
        communities = PluralText("GraphAnalysis", "{0} community", "{0} communities").format(found.count)
        words = self.tr("{0}, shown as colors (modularity {1}, {2})").format(
            communities, f"{found.modularity:.2f}", found.method
        )
        self._show(AnalysisResult("communities", self.tr("Communities"), words, lines))

    @staticmethod
    def _heart(graph: Graph, of: NDArray[np.int64], place: int) -> tuple[str, ...]:
        """Return the best linked notes of a community, which the camera flies to."""
        rows = np.flatnonzero(of == place)
        best = rows[np.argsort(-graph.degree[rows], kind="stable")][:60]
        return tuple(graph.paths[row] for row in best.tolist())

    async def _importance(self, measure: Measure) -> None:
        graph = self._view.canvas.scene.graph
        found = await self._run(
            lambda vault: vault.analysis.centrality(graph, measure, progress=self._report_progress)
        )
        if graph is not self._view.canvas.scene.graph:
            return
        self._view.appearance.set_sizes(found.radii() / node_radii(graph), found.method)
        order = np.argsort(-found.score, kind="stable")[:50].tolist()
        lines = tuple(
            AnalysisResultRow((graph.paths[row],), graph.names[row], f"{100 * float(found.score[row]):.2f} %")
            for row in order
        )
        title = self.tr("Importance") if measure == "pagerank" else self.tr("Crossroads")
        words = self.tr("Node size: {0}").format(found.method)
        if not found.exact:
            words = PluralText(
                "GraphAnalysis",
                "Node size: {1}, estimated from {0} note",
                "Node size: {1}, estimated from {0} notes",
            ).format(found.sampled, found.method)
        self._show(AnalysisResult(measure, title, words, lines))

    async def _path(self, source: str, target: str) -> None:
        graph = self._view.canvas.scene.graph
        if source not in graph.rows or target not in graph.rows:
            return
        ends = graph.rows[source], graph.rows[target]
        found = await self._run(lambda vault: vault.analysis.path(graph, *ends))
        title = self.tr("Shortest path")
        if found is None:
            words = self.tr("No path connects {0} to {1}").format(*(graph.names[row] for row in ends))
            self._show(AnalysisResult("path", title, words))
            return
        if graph is not self._view.canvas.scene.graph:
            return
        self._view.canvas.highlight_path(found.rows)
        self._view.fit([graph.paths[row] for row in found.rows])
        notes = ["", *(name.replace("_", " ").lower() for name in found.relations)]
        lines = tuple(
            AnalysisResultRow((graph.paths[row],), graph.names[row], note)
            for row, note in zip(found.rows, notes, strict=True)
        )
        steps = len(found.rows) - 1
        words = PluralText("GraphAnalysis", "{0} link", "{0} links").format(steps)
        self._show(AnalysisResult("path", title, words, lines))

    async def _weak_points(self) -> None:
        graph = self._view.canvas.scene.graph
        found = await self._run(
            lambda vault: vault.analysis.cut_points(graph, progress=self._report_progress)
        )
        lines = [
            AnalysisResultRow(
                (graph.paths[a], graph.paths[b]),
                f"{graph.names[a]} – {graph.names[b]}",
                self.tr("disconnects {0}").format(int(cut)),
            )
            for (a, b), cut in zip(found.bridges.tolist(), found.cut_off.tolist(), strict=True)
        ]
        lines += [
            AnalysisResultRow(
                (graph.paths[row],), graph.names[row], self.tr("disconnects {0}").format(int(lost))
            )
            for row, lost in zip(found.articulations.tolist(), found.lost.tolist(), strict=True)
        ]
        rows = np.unique(np.concatenate([found.bridges.ravel(), found.articulations])).tolist()
        self._glow(graph, rows)
        words = self.tr("{0} and {1} whose removal would split the graph").format(
            PluralText("GraphAnalysis", "{0} link", "{0} links").format(len(found.bridges)),
            PluralText("GraphAnalysis", "{0} note", "{0} notes").format(len(found.articulations)),
        )
        self._show(AnalysisResult("bridges", self.tr("Bridges"), words, tuple(lines[:_MAX_RESULT_ROWS])))

    async def _orphans(self) -> None:
        graph = self._view.canvas.scene.graph
        found = await self._run(lambda vault: vault.analysis.orphans(graph))
        rows = [*found.notes.tolist(), *found.attachments.tolist()]
        self._glow(graph, rows)
        lines = tuple(
            AnalysisResultRow((graph.paths[row],), graph.names[row], graph.folders[row])
            for row in rows[:_MAX_RESULT_ROWS]
        )
        words = self.tr("{0} and {1} without links").format(
            PluralText("GraphAnalysis", "{0} note", "{0} notes").format(len(found.notes)),
            PluralText("GraphAnalysis", "{0} attachment", "{0} attachments").format(len(found.attachments)),
        )
        self._show(AnalysisResult("orphans", self.tr("Orphans"), words, lines))

    async def _suggest(self, path: str | None) -> None:
        graph = self._view.graph()
        self._suggestions = await self._run(
            lambda vault: vault.analysis.suggestions(graph, for_path=path, progress=self._report_progress)
        )
        self._show_suggestions()

    def _show_suggestions(self) -> None:
        view, graph = self._view, self._view.graph()
        known = [one for one in self._suggestions if {one.source, one.target} <= graph.rows.keys()]
        view.decoration.proposed = tuple(SuggestedEdge(one.source, one.target, one.score) for one in known)
        view.redecorate()
        names = {path: graph.names[row] for path, row in graph.rows.items()}
        lines = tuple(
            AnalysisResultRow(
                (one.source, one.target),
                f"{names[one.source]} – {names[one.target]}",
                self._reasons_text(one),
            )
            for one in known
        )
        words = PluralText(
            "GraphAnalysis", "{0} suggested link (dashed)", "{0} suggested links (dashed)"
        ).format(len(lines))
        finding = AnalysisResult("suggestions", self.tr("Suggested links"), words, lines, can_accept=True)
        self._show(
            finding if lines else AnalysisResult("suggestions", finding.title, self.tr("No suggestions"))
        )
        self._tick_suggestions(bool(lines))

    def _tick_suggestions(self, on: bool) -> None:
        """Set the filter switch to whether suggestions are shown."""
        choices = self._view.sheet.choices
        if choices.shown.suggestions != on:
            shown = choices.shown.model_copy(update={"suggestions": on})
            self._view.chosen.set(choices.updated(shown=shown))

    def _reasons_text(self, one: LinkSuggestion) -> str:
        kinds = {
            "neighbours": self.tr("shared links"),
            "meaning": self.tr("similar content"),
            "tags": self.tr("shared tags"),
        }
        return ", ".join(kinds.get(reason.kind, reason.kind) for reason in one.reasons)

    async def _arrange(self, kind: LayoutMode) -> None:
        view = self._view
        graph, aspect = view.canvas.scene.graph, view.canvas.page_aspect()
        name = "time" if kind in _TIME_LAYOUTS else str(kind)
        options: dict[str, object] = {"aspect": aspect}
        if kind in _TIME_LAYOUTS:
            options["by"] = str(kind)
        found = await self._run(
            lambda vault: vault.analysis.layout(graph, name, progress=self._report_progress, **options)  # type: ignore[arg-type]
        )
        if graph is not view.canvas.scene.graph:
            return
        places = [
            RegionDisc(self._called(each, kind), each.x, each.y, each.radius, each.depth)
            for each in found.regions
        ]
        moments = [AxisTick(tick.x, tick.label, tick.major) for tick in found.ticks]
        view.arranging.show(kind, found.positions, places, moments)
        self._part.show_progress("")

    def _called(self, group: Region, kind: LayoutMode) -> str:
        """Return the display name of a group."""
        odd = {UNRESOLVED: self.tr("Unresolved"), ATTACHMENTS: self.tr("Attachments")}
        return odd.get(group.key) or group.name or self._nameless(kind)

    def _nameless(self, kind: LayoutMode) -> str:
        return {
            LayoutMode.FOLDER: self.tr("Vault root"),
            LayoutMode.TAG: self.tr("No tags"),
            LayoutMode.TYPE: self.tr("No type"),
        }.get(kind, "")

    # Accepting suggestions

    def _accept(self, line: AnalysisResultRow) -> None:
        tasks.start(self._link(line), owner=self._view, what=self.tr("link the notes"))

    async def _link(self, line: AnalysisResultRow) -> None:
        """Propose the most fitting relation; the suggestion disappears when the relation is written."""

        async def link(vault: VaultService) -> bool:
            arguments = {"op": "accept", "suggestion_id": " ~ ".join(line.paths)}
            outcome = await vault.call(Call.of("suggest_relationships", arguments, Caller.user()))
            if not outcome.success and not outcome.denied:
                raise ScriptoriumError(outcome.message)
            return bool(outcome.success and not outcome.denied)

        if await self._client.run(link):
            self._remove_suggestion(line)

    def _reject(self, line: AnalysisResultRow) -> None:
        work = self._client.run(lambda vault: vault.analysis.reject(*line.paths))
        tasks.start(work, owner=self._view, what=self.tr("save your answer"))
        self._remove_suggestion(line)

    def _remove_suggestion(self, line: AnalysisResultRow) -> None:
        kept = tuple(one for one in self._suggestions if (one.source, one.target) != line.paths)
        self._suggestions = kept
        self._show_suggestions()

    # Helpers

    def _apply_settings(self, choices: GraphSettings) -> None:
        """Start or remove suggestions when their switch changes."""
        if choices.shown.suggestions and not self._suggestions and self._task is None:
            self.ask("suggestions")
        elif not choices.shown.suggestions and self._suggestions:
            self.clear()

    def _selected(self, chosen: tuple[str, ...]) -> None:
        self._part.set_path_possible(len(chosen) == 2)
        if self._path_from and chosen and chosen[-1] != self._path_from:
            source, self._path_from = self._path_from, ""
            self.ask_path(source, chosen[-1])
        elif not chosen:
            self._path_from = ""

    def _show_row(self, line: AnalysisResultRow) -> None:
        if len(line.paths) == 1:
            self._view.fly_to(line.paths[0])
        else:
            self._view.select(line.paths[:2] if len(line.paths) == 2 else line.paths)
            self._view.fit(line.paths)

    def _glow(self, graph: Graph, rows: list[int]) -> None:
        self._view.canvas.set_glow("analysis", [graph.paths[row] for row in rows])

    def _show(self, finding: AnalysisResult) -> None:
        view = self._view
        self._part.show_progress("")
        self._part.show_finding(finding)
        if view.sheet.isHidden():
            view.note.show_message(f"{finding.title}: {finding.words}")
        else:
            view.sheet.unfold(self._part)
        view.show_legend()

    def _start(self, work: Callable[[], Awaitable[None]]) -> None:
        self._stop()
        self._part.show_progress(self.tr("Working…"))
        self._task = tasks.start(self._answer(work), owner=self._view, what=self.tr("analyze the graph"))

    async def _answer(self, work: Callable[[], Awaitable[None]]) -> None:
        """Show an error in the settings panel; the graph keeps its look."""
        try:
            await work()
        except ScriptoriumError as error:
            self._part.show_progress("")
            self._part.show_finding(AnalysisResult("", self.tr("The analysis failed"), error.message))
            self._view.note.show_message(error.message)
            self._show_arrangement()
        finally:
            if self._task is asyncio.current_task():
                self._task = None

    def _show_arrangement(self) -> None:
        """Tick the current arrangement after a failed change of arrangement."""
        view = self._view
        if view.sheet.choices.arrangement is not view.arranging.kind:
            view.chosen.set(view.sheet.choices.updated(arrangement=view.arranging.kind))

    async def _run(self, question: Callable[[VaultService], Awaitable[T]]) -> T:
        return await self._client.run(question)

    def _report_progress(self, share: float, words: str) -> None:
        """Report progress; called in the service thread."""
        self._progressed.emit(share, words)

    def _show_progress(self, share: float, words: str) -> None:
        if self._task is not None:
            self._part.show_progress(words, share if share >= 0 else None)
