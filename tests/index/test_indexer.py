"""After any changes to files, the updated index equals a new one."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.events import EventBus
from app.index.vault_index import VaultIndex
from app.settings import IndexSettings
from app.vault.path import NotePath
from tests.index.conftest import tables

PLACES = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "a/", "b/", "a/b/"]),
    st.sampled_from(["n", "m", "é", "x.y"]),
    st.sampled_from([".md", ".md", ".markdown", ".png"]),
)
LINES = st.sampled_from(
    [
        "[[n]]",
        "[[m|x]]",
        "[[a/n]]",
        "[[b/m.md]]",
        "[[../n]]",
        "[t](./m.md)",
        "- supports [[n]]",
        "![[n.png]]",
        "[[É]]",
        "[[x.y]]",
        "[[nick]]",
        "#tag",
        "#tag/sub",
        "text 漢字",
        "[[#H]]",
        "- [ ] do it",
    ]
)
HEADS = st.sampled_from(
    ["", "", "---\naliases: [Nick]\n---\n", "---\nid: n\ntags: [Tag]\n---\n", "---\nx: [\n---\n"]
)
TEXTS = st.builds(lambda head, lines: head + "\n".join(lines), HEADS, st.lists(LINES, max_size=4))
STEPS = st.one_of(
    st.tuples(st.just("write"), PLACES, TEXTS),
    st.tuples(st.just("delete"), PLACES, st.just("")),
    st.tuples(st.just("rename"), PLACES, PLACES),
    st.tuples(st.just("scan"), st.just(""), st.just("")),
    st.tuples(st.just("quietly"), PLACES, TEXTS),
)


def said(index: VaultIndex) -> dict[str, object]:
    """Return the content of the index that depends only on the files."""
    graph = index.graph()
    return {
        "note paths": index.note_paths(),
        "notes": [replace(note, created=0.0) for note in index.notes()],
        "files": index.files(),
        "out": {note.path: index.outgoing(note.path) for note in index.notes()},
        "back": {e.path: index.backlinks(e.path) for e in index.resolver.entries()},
        "unresolved": index.unresolved(),
        "tags": index.tags(),
        "properties": index.properties(),
        "problems": index.problems(),
        "stats": index.stats(),
        "nodes": sorted(zip(graph.paths, graph.kinds, graph.types, graph.tags, strict=True)),
        "edges": sorted(
            (graph.paths[source], graph.paths[target], graph.edge_types[code])
            for (source, target), code in zip(graph.edges.tolist(), graph.codes.tolist(), strict=True)
        ),
        "names": tables(index.resolver),
    }


async def found(index: VaultIndex) -> dict[str, list[str]]:
    queries = ("text ", "漢", "tag:tag ", "task-todo:", "orphan:", "links-to:n ", "rel:supports ", "do")
    pages = {query: await index.search(query, limit=100) for query in queries}
    return {query: sorted(hit.path.text for hit in page.hits) for query, page in pages.items()}


class IndexRun:
    """One vault, one index that follows it, and a clock that always advances."""

    def __init__(self, work: Path, aliases: bool) -> None:
        self.root = work / "vault"
        self.root.mkdir()
        self.work = work
        self.settings = IndexSettings(aliases_resolve=aliases)
        self.index = VaultIndex(self.root, work / "followed", self.settings, EventBus())
        self.now = time.time() - 10_000

    def put(self, place: str, text: str) -> bool:
        path = self.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.now += 1
        os.utime(path, (self.now, self.now))
        return True

    async def step(self, kind: str, place: str, other: str) -> None:
        path = self.root / place
        self.index.notes()
        self.index.stats()
        if kind == "write":
            self.put(place, other)
            await self.index.refresh([NotePath(place)])
        elif kind == "quietly":
            self.put(place, other)
        elif kind == "delete" and path.is_file():
            path.unlink()
            await self.index.refresh([], [NotePath(place)])
        elif kind == "rename" and path.is_file() and place != other:
            (self.root / other).parent.mkdir(parents=True, exist_ok=True)
            path.replace(self.root / other)
            await self.index.refresh([NotePath(other)], [NotePath(place)])
        elif kind == "scan":
            await self.index.scan()

    async def compare(self) -> None:
        rebuilt = VaultIndex(self.root, self.work / "rebuilt", self.settings, EventBus())
        again = VaultIndex(self.root, self.work / "followed", self.settings, EventBus())
        await self.index.scan()
        await rebuilt.open()
        await rebuilt.scan()
        await again.open()
        try:
            assert said(self.index) == said(rebuilt) == said(again)
            assert await found(self.index) == await found(rebuilt)
        finally:
            await again.close()
            await rebuilt.close()
            await self.index.close()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEPS, max_size=14), st.booleans())
def test_an_index_kept_up_to_date_is_as_a_new_one(steps: list[tuple[str, str, str]], aliases: bool) -> None:
    async def run(work: Path) -> None:
        one = IndexRun(work, aliases)
        await one.index.open()
        for step in steps:
            await one.step(*step)
        await one.compare()

    with tempfile.TemporaryDirectory() as work:
        asyncio.run(run(Path(work)))
