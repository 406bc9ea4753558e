"""Updates collected between two states of the graph."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.graph.builder import build_from
from app.graph.model import GraphEdge, GraphNode
from app.graph.pending_updates import PendingUpdates, unresolved_neighbors
from app.graph.renames import effective_renames

letters = st.sampled_from("abcdef")


@given(st.sets(letters, min_size=1), st.lists(st.tuples(letters, letters), max_size=8))
def test_successive_renames_map_the_known_path_to_the_current_one(notes, moves):
    news = PendingUpdates()
    today = {name: name for name in notes}
    for old, new in moves:
        if old in today.values() and new not in today.values():
            news.add_rename([(old, new)])
            today = {first: new if now == old else now for first, now in today.items()}
    moved = {first: now for first, now in today.items() if first != now}
    assert effective_renames(news.renamed, notes) == moved
    assert {path for pair in moved.items() for path in pair} <= news.touched


def test_two_notes_that_swap_paths_are_both_followed():
    news = PendingUpdates()
    news.add_rename([("a", "b"), ("b", "a")])
    assert effective_renames(news.renamed, {"a", "b"}) == {"a": "b", "b": "a"}


def test_a_rename_onto_a_note_that_stays_is_no_rename():
    assert effective_renames([("a", "b")], {"a", "b"}) == {}
    assert effective_renames([("a", "c"), ("b", "c")], {"a", "b"}) == {"a": "c"}


def test_failed_updates_are_applied_before_later_ones():
    failed, news = PendingUpdates(), PendingUpdates()
    failed.add_rename([("a", "b")])
    failed.add_paths(["x"])
    news.add_rename([("b", "c")])
    news.add_back(failed)
    assert news.renamed == (("a", "c"),)
    assert {"x", "a", "b", "c"} <= news.touched


def test_many_updates_require_a_rebuild():
    news = PendingUpdates()
    assert not news
    news.add_paths(f"n{number}" for number in range(600))
    assert news.needs_rebuild(3000)
    assert not news.needs_rebuild(100_000)
    news.mark_all()
    assert news.needs_rebuild(100_000)


def test_the_unresolved_names_around_a_note_are_those_it_links_to():
    nodes = [
        GraphNode("a.md", "a"),
        GraphNode("b.md", "b"),
        *(GraphNode(name, name, kind="unresolved") for name in "xyz"),
    ]
    graph = build_from(
        nodes,
        [GraphEdge("a.md", "x"), GraphEdge("a.md", "b.md"), GraphEdge("b.md", "y"), GraphEdge("b.md", "x")],
    )
    assert unresolved_neighbors(graph, ["a.md", "gone.md"]) == ("x",)
    assert set(unresolved_neighbors(graph, ["a.md", "b.md"])) == {"x", "y"}
