"""After any saves, renames and deletions, a graph updated by deltas equals a rebuilt one."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.events import EventBus
from app.graph.builder import build
from app.graph.incremental_update import advance
from app.graph.model import Graph, Positions
from app.graph.pending_updates import unresolved_neighbors
from app.index.records import IndexUpdated
from app.index.vault_index import VaultIndex
from app.settings import IndexSettings
from app.vault.path import NotePath

PLACES = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "a/", "b/"]),
    st.sampled_from(["n", "m", "Late"]),
    st.sampled_from([".md", ".md", ".png"]),
)
LINES = st.sampled_from(
    [
        "[[n]]",
        "[[N]]",
        "[[m|x]]",
        "[[a/n]]",
        "[[late]]",
        "[[LATE]]",
        "[[Late]]",
        "[t](./m.md)",
        "#tag",
        "- supports [[n]] (confidence: 0.5)",
        "![[n.png]]",
        "[[far]]",
        "[[Far]]",
        "[[#H]]",
    ]
)
HEADS = st.sampled_from(["", "", "---\ntype: claim\n---\n", "---\naliases: [Late]\ntags: [x]\n---\n"])
TEXTS = st.builds(lambda head, lines: head + "\n".join(lines), HEADS, st.lists(LINES, max_size=4))
STEPS = st.one_of(
    st.tuples(st.just("write"), PLACES, TEXTS),
    st.tuples(st.just("delete"), PLACES, st.just("")),
    st.tuples(st.just("rename"), PLACES, PLACES),
    st.tuples(st.just("look"), st.just(""), st.just("")),
)


class Follower:
    """A vault on disk, its index, and a graph updated only by deltas."""

    def __init__(self, root: Path, cache: Path) -> None:
        self.root = root
        self.saves = 0
        events = EventBus()
        self.touched: set[str] = set()
        self.renamed: list[tuple[str, str]] = []
        events.subscribe(IndexUpdated, self._note)
        self.index = VaultIndex(root, cache, IndexSettings(), events)

    def _note(self, event: IndexUpdated) -> None:
        self.touched |= {path.text for path in (*event.changed, *event.removed, *event.relinked)}

    async def open(self) -> None:
        await self.index.open()
        await self.index.scan()
        self.graph = build(self.index.graph())
        self.places = np.arange(2 * len(self.graph), dtype=np.float32).reshape(-1, 2) * 3
        self.touched.clear()

    async def do(self, what: str, place: str, other: str) -> None:
        file = self.root / place
        if what == "look":
            self.follow()
        elif what == "write":
            file.parent.mkdir(exist_ok=True)
            # The same text again is not reported, although its time differs.
            self.saves += 1
            file.write_text(f"{other}\n{self.saves}", encoding="utf-8")
            await self.index.refresh([NotePath(place)])
        elif file.is_file() and what == "delete":
            file.unlink()
            await self.index.refresh([], [NotePath(place)])
        elif file.is_file() and what == "rename" and not (self.root / other).exists():
            (self.root / other).parent.mkdir(exist_ok=True)
            file.rename(self.root / other)
            self.renamed.append((place, other))
            await self.index.refresh([NotePath(other)], [NotePath(place)])

    def follow(self) -> None:
        """Update like the panel, and check the invariants of every step."""
        before, at = self.graph, self.places
        names = unresolved_neighbors(before, self.touched)
        delta = self.index.graph_delta(self.touched, names, self.renamed)
        self.graph, self.places = advance(before, at, delta)
        moved = {path for pair in delta.renamed for path in pair}
        for path, row in before.rows.items():
            now = self.graph.rows.get(path)
            if now is not None and path not in moved:
                assert self.places[now].tolist() == at[row].tolist()
        assert np.isfinite(self.places).all()
        self.touched, self.renamed = set(), []


def said(graph: Graph) -> tuple[object, ...]:
    """Return a graph without its row numbers."""
    columns = (graph.names, graph.types, graph.kinds, graph.tags, graph.folders)
    times = (graph.modified.tolist(), graph.created.tolist())
    edges = zip(graph.edges.tolist(), graph.edge_codes.tolist(), graph.confidence.tolist(), strict=True)
    return (
        sorted(zip(graph.paths, *columns, *times, strict=True)),
        sorted((graph.paths[a], graph.paths[b], graph.edge_types[c], str(x)) for (a, b), c, x in edges),
        sorted(zip(graph.paths, graph.degree.tolist(), strict=True)),
        sorted(
            (path, sorted(graph.paths[each] for each in graph.neighbors(row).tolist()))
            for path, row in graph.rows.items()
        ),
        sorted(zip(graph.paths, graph.is_note.tolist(), strict=True)),
    )


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(first=st.dictionaries(PLACES, TEXTS, max_size=6), steps=st.lists(STEPS, min_size=1, max_size=12))
def test_deltas_give_the_graph_that_a_rebuild_gives(first, steps):
    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "vault"
            root.mkdir()
            for place, text in first.items():
                (root / place).parent.mkdir(exist_ok=True)
                (root / place).write_text(text, encoding="utf-8")
            vault = Follower(root, Path(folder) / "cache")
            await vault.open()
            try:
                for step in steps:
                    await vault.do(*step)
                vault.follow()
                assert said(vault.graph) == said(build(vault.index.graph()))
                assert vault.graph.rows == {path: row for row, path in enumerate(vault.graph.paths)}
            finally:
                await vault.index.close()

    asyncio.run(run())


def scene(tmp_path: Path, notes: dict[str, str]) -> Follower:
    root = tmp_path / "vault"
    for name, text in notes.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return Follower(root, tmp_path / "cache")


def at(vault: Follower, path: str) -> list[float]:
    return vault.places[vault.graph.rows[path]].tolist()


async def test_a_created_note_replaces_its_unresolved_name(tmp_path):
    vault = scene(tmp_path, {"a.md": "[[Later]]", "b.md": "[[later]]"})
    await vault.open()
    place = at(vault, "Later")
    await vault.do("write", "Notes/Later.md", "# Later")
    vault.follow()
    assert "Later" not in vault.graph.rows
    assert at(vault, "Notes/Later.md") == place
    await vault.do("delete", "Notes/Later.md", "")
    vault.follow()
    assert at(vault, "Later") == place
    assert vault.graph.kinds[vault.graph.rows["Later"]] == "unresolved"
    await vault.index.close()


async def test_a_name_keeps_its_place_when_its_spelling_changes(tmp_path):
    vault = scene(tmp_path, {"a.md": "[[Later]]", "b.md": "[[later]]"})
    await vault.open()
    place = at(vault, "Later")
    await vault.do("write", "a.md", "no more")
    vault.follow()
    assert at(vault, "later") == place
    await vault.index.close()


async def test_a_rename_by_the_user_keeps_the_place_also_twice_at_once(tmp_path):
    vault = scene(tmp_path, {"a.md": "[[b]]", "b.md": "x", "c.md": "y"})
    await vault.open()
    place = at(vault, "b.md")
    await vault.do("rename", "b.md", "d.md")
    await vault.do("write", "b.md", "another")
    vault.follow()
    assert at(vault, "d.md") == place
    assert at(vault, "b.md") != place
    await vault.index.close()


async def test_a_save_that_changes_no_link_shares_every_table_but_the_times(tmp_path):
    vault = scene(tmp_path, {"a.md": "[[b]]", "b.md": "x"})
    await vault.open()
    before: Graph = vault.graph
    places: Positions = vault.places
    await vault.do("write", "a.md", "[[b]] and words")
    vault.follow()
    after = vault.graph
    assert after.edges is before.edges
    assert (after.paths is before.paths, after.tags is before.tags) == (True, True)
    assert after.rows is before.rows
    assert after.neighborhood is before.neighborhood
    assert (vault.places == places).all()
    vault.touched = {"a.md", "b.md"}
    vault.follow()
    assert vault.graph is after
    await vault.index.close()
