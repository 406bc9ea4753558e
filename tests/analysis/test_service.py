"""The analysis of an open vault runs in a process, can be stopped, and stores rejections."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from app.analysis.rejections import FILE_NAME, Rejections
from app.analysis.service import GraphAnalysisService
from app.errors import NotFoundError
from app.events import EventBus
from app.graph.builder import build, build_from
from app.graph.model import GraphEdge, GraphNode
from app.index.vault_index import VaultIndex
from app.settings import IndexSettings
from app.vault.path import NotePath
from app.vault.store import NotesChanged
from tests.graph.graphs import of_edges, planted

NOTES = {
    "a.md": "[[hub]] [[other]]",
    "b.md": "[[hub]] [[other]]",
    "hub.md": "x",
    "other.md": "x",
    "secret.md": "---\nai: private\n---\n[[hub]] [[other]] [[a]]",
    "ruled.md": "[[hub]] [[other]]",
}


class OpenedAnalysis:
    def __init__(self, root: Path) -> None:
        self.events = EventBus()
        self.index = VaultIndex(root / "vault", root / "cache", IndexSettings(), self.events)
        self.data = root / "data"
        self.analyst = self.another()

    def another(self) -> GraphAnalysisService:
        return GraphAnalysisService(
            self.index, lambda: None, self.data, self.events, lambda path: path.name == "ruled"
        )


@pytest.fixture
async def vault(tmp_path: Path) -> AsyncIterator[OpenedAnalysis]:
    for folder in ("vault", "data"):
        (tmp_path / folder).mkdir()
    for name, text in NOTES.items():
        (tmp_path / "vault" / name).write_text(text, encoding="utf-8")
    made = OpenedAnalysis(tmp_path)
    await made.index.open()
    await made.index.scan()
    yield made
    await made.analyst.close()
    await made.index.close()


async def test_questions_are_answered_by_rows_of_the_graph_that_was_asked_about(vault):
    graph, _ = planted(4, 25)
    told: list[str] = []
    found = await vault.analyst.communities(graph, lambda share, words: told.append(words))
    assert found.count >= 4 and len(found.labels) == len(graph)
    assert told
    assert len((await vault.analyst.centrality(graph, "pagerank")).score) == len(graph)
    assert vault.analyst._worker.worker_id
    chain = of_edges(["ab", "bc", "cd", "ax"], lonely="z")
    row = chain.rows
    trail = await vault.analyst.path(chain, row["d.md"], row["x.md"])
    assert trail is not None
    assert [chain.paths[each][0] for each in trail.rows] == list("dcbax")
    assert await vault.analyst.path(chain, row["a.md"], row["z.md"]) is None
    assert len((await vault.analyst.cut_points(chain)).bridges) == 4
    await goes_by_some_relations_only(vault)
    await arranges(vault, graph)


async def goes_by_some_relations_only(vault):
    nodes = [GraphNode(f"{name}.md", name) for name in "abc"]
    edges = [
        GraphEdge("a.md", "c.md"),
        GraphEdge("a.md", "b.md", "SUPPORTS"),
        GraphEdge("c.md", "b.md", "SUPPORTS"),
        GraphEdge("a.md", "b.md"),
    ]
    graph = build_from(nodes, edges)
    rows = graph.rows
    straight = await vault.analyst.path(graph, rows["a.md"], rows["c.md"])
    typed = await vault.analyst.path(graph, rows["a.md"], rows["c.md"], ["SUPPORTS"])
    assert straight is not None and typed is not None
    assert (straight.rows, straight.relations) == ((0, 2), ("LINKS_TO",))
    assert (typed.rows, typed.relations) == ((0, 1, 2), ("SUPPORTS",) * 2)
    assert await vault.analyst.path(graph, 0, 2, ["CITES"]) is None


async def test_private_and_ruled_notes_are_suggested_to_the_user_alone(vault):
    graph = build(vault.index.graph())
    everything = await vault.analyst.suggestions(graph)
    seen = {path for each in everything for path in (each.source, each.target)}
    assert {"a.md", "b.md", "secret.md", "ruled.md"} <= seen
    public = await vault.analyst.suggestions(graph, private=False)
    assert public
    said = {path for each in public for path in (each.source, each.target)}
    said |= {name for each in public for reason in each.reasons for name in reason.names}
    assert not said & {"secret.md", "ruled.md"}
    assert await vault.analyst.suggestions(graph, for_path="secret.md", private=False) == ()
    assert await vault.analyst.suggestions(graph, for_path="nothing.md") == ()
    await rejected_links_stay_rejected_also_after_a_restart_and_a_rename(vault, graph)


async def rejected_links_stay_rejected_also_after_a_restart_and_a_rename(vault, graph):
    async def pairs(analyst: GraphAnalysisService) -> set[frozenset[str]]:
        found = await analyst.suggestions(graph, for_path="a.md")
        return {frozenset((each.source, each.target)) for each in found}

    pair = frozenset(("a.md", "b.md"))
    assert pair in await pairs(vault.analyst)
    vault.analyst.reject("b.md", "a.md")
    assert pair not in await pairs(vault.analyst)
    again = vault.another()
    assert pair not in await pairs(again)
    vault.events.publish(NotesChanged((), (), ((NotePath("b.md"), NotePath("new/b.md")),), "You", None))
    assert again.rejected() == (("a.md", "new/b.md"),)
    assert pair in await pairs(again)
    again.restore_suggestion("new/b.md", "a.md")
    assert vault.another().rejected() == ()
    await again.close()


def test_a_damaged_list_of_rejections_is_set_aside(tmp_path):
    (tmp_path / FILE_NAME).write_text("{", encoding="utf-8")
    rejections = Rejections(tmp_path)
    assert rejections.pairs == ()
    rejections.add("b", "a")
    assert ("a", "b") in rejections and ("b", "a") in Rejections(tmp_path)
    (aside,) = tmp_path.glob("rejected-links.damaged-*.json")
    assert aside.read_text(encoding="utf-8") == "{" and aside.name in rejections.problem


async def test_the_semantic_layout_needs_an_embedded_note(vault):
    with pytest.raises(NotFoundError):
        await vault.analyst.layout(of_edges(["ab"]), "meaning")


async def arranges(vault, graph):
    for kind in ("folder", "tag", "type", "time"):
        arranged = await vault.analyst.layout(graph, kind)
        assert arranged.kind == kind
        assert arranged.positions.shape == (len(graph), 2)
        assert np.isfinite(arranged.positions).all()
