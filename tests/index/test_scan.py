"""A scan indexes the folder's contents, and its counts are correct."""

from __future__ import annotations

import asyncio
import ctypes
import os
import shutil
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from itertools import groupby
from pathlib import Path

import pytest

from app.errors import VaultLostError
from app.index import extract, memory_release, parser_pool
from app.index.database import IndexDatabase
from app.index.records import ScanProgress
from app.index.vault_index import VaultIndex
from app.settings import IndexSettings
from app.vault.path import NotePath
from tests.index.conftest import IndexedVault, MakeVault

Reopen = Callable[..., Awaitable[VaultIndex]]

RICH = """---
title: The title
type: Hypothesis
confidence: 0.7
aliases: [Other, Third]
tags: [Inbox/Now]
id: rich-1
status: draft
---
# Heading

Words with #Tag/Deep and [[Target|shown]] here.

- supports [[Claim]] (confidence: 0.8, because)
- [ ] to do
- [x] done

![[img.png]]
"""


async def test_a_note_is_indexed_with_all_its_contents(make_vault: MakeVault) -> None:
    vault = await make_vault({"dir/Rich.md": RICH, "Claim.md": "x", "img.png": b"\x89PNG"})
    note = vault.index.note(NotePath("dir/Rich.md"))
    assert note is not None
    assert (note.name, note.title, note.type, note.confidence, note.id) == (
        "Rich",
        "The title",
        "hypothesis",
        0.7,
        "rich-1",
    )
    assert note.aliases == ("Other", "Third")
    assert set(note.tags) == {"Inbox/Now", "Tag/Deep"}
    assert note.properties["status"] == "draft"
    assert note.size == len(RICH.encode())
    assert len(note.hash) == 64
    assert note.problem is None
    assert not note.private
    assert [
        (link.target_text, link.type, link.confidence, link.embed) for link in vault.index.outgoing(note.path)
    ] == [
        ("Target", "LINKS_TO", None, False),
        ("Claim", "SUPPORTS", 0.8, False),
        ("img.png", "LINKS_TO", None, True),
    ]
    assert [file.path.text for file in vault.index.files()] == ["img.png"]
    stats = vault.index.stats()
    assert (stats.notes, stats.attachments, stats.links, stats.unresolved, stats.orphans) == (2, 1, 3, 1, 0)


async def test_the_next_scan_reads_only_what_changed(make_vault: MakeVault, reopened: Reopen) -> None:
    vault = await make_vault({"a.md": "a", "b.md": "b", "c.md": "c"})
    vault.write("b.md", "b2", at=time.time() - 100)
    vault.write("d.md", "d")
    (vault.root / "c.md").unlink()
    index = await reopened(vault)
    assert {entry.path.text for entry in index.resolver.entries()} == {"a.md", "b.md", "c.md"}
    report = await index.scan()
    assert (report.indexed, report.unchanged, report.removed) == (2, 1, 1)
    assert [note.path.text for note in index.notes()] == ["a.md", "b.md", "d.md"]
    again = await index.scan()
    assert (again.indexed, again.unchanged, again.removed) == (0, 3, 0)


async def test_a_touched_note_with_the_same_bytes_is_unchanged(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "a"})
    before = vault.index.notes()[0]
    vault.write("a.md", "a", at=time.time() - 500)
    vault.updates.clear()
    report = await vault.index.scan()
    assert (report.indexed, report.unchanged) == (0, 1)
    assert not vault.updates
    assert vault.index.notes()[0].modified > before.modified


async def test_an_edit_within_the_clocks_grain_is_not_missed(make_vault: MakeVault) -> None:
    now = time.time()
    vault = await make_vault()
    vault.write("a.md", "one", at=now)
    await vault.index.scan()
    vault.write("a.md", "two", at=now)
    report = await vault.index.scan()
    assert report.indexed == 1
    assert await vault.found("two") == ["a"]


async def test_folders_that_are_left_out(make_vault: MakeVault) -> None:
    files = dict.fromkeys(
        (
            "a.md",
            ".obsidian/b.md",
            ".trash/c.md",
            "x/node_modules/d.md",
            "Archive/e.md",
            "x/Archive/f.md",
            "Templates/sub/g.md",
            "draw.excalidraw.md",
            "UPPER.MD",
            "x.markdown",
            "Archiver/h.md",
        ),
        "text",
    )
    vault = await make_vault(files, exclude=("Archive", "Templates/**", "*.excalidraw.md"))
    assert [note.path.text for note in vault.index.notes()] == [
        "a.md",
        "Archiver/h.md",
        "UPPER.MD",
        "x.markdown",
    ]
    assert (await vault.index.refresh([NotePath("Archive/e.md"), NotePath(".obsidian/b.md")])).changed == ()


@pytest.mark.skipif(sys.platform == "win32", reason="needs the right to make symbolic links")
async def test_links_out_of_the_vault_are_refused_and_link_cycles_end(
    make_vault: MakeVault, tmp_path: Path
) -> None:
    vault = await make_vault({"in/a.md": "inside"}, scan=False)
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "s.md").write_text("secret")
    (vault.root / "out").symlink_to(secret)
    (vault.root / "out.md").symlink_to(secret / "s.md")
    (vault.root / "ring").symlink_to(vault.root)
    (vault.root / "again").symlink_to(vault.root / "in")
    (vault.root / "broken.md").symlink_to(vault.root / "nowhere.md")
    report = await vault.index.scan()
    assert [note.path.text for note in vault.index.notes()] == ["in/a.md"]
    assert {problem.path.text: problem.reason for problem in report.skipped} == {
        "broken.md": "it is a broken symbolic link",
        "out": "it is a symbolic link that points outside the vault",
        "out.md": "it is a symbolic link that points outside the vault",
    }
    await vault.index.refresh([NotePath("out/s.md"), NotePath("out.md"), NotePath("again/a.md")])
    assert [note.path.text for note in vault.index.notes()] == ["in/a.md"]


async def test_the_problems_of_a_new_folder_are_listed_until_they_are_solved(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "a"})
    vault.write("new/b.md", "b")
    (vault.root / "new/broken.md").symlink_to(vault.root / "nowhere.md")
    await vault.index.refresh([NotePath("new")])
    assert [problem.path.text for problem in vault.index.problems()] == ["new/broken.md"]
    (vault.root / "new/broken.md").unlink()
    await vault.index.refresh([NotePath("new")])
    assert vault.index.problems() == ()


async def test_bytes_that_are_not_utf8_are_indexed_and_marked(make_vault: MakeVault) -> None:
    vault = await make_vault({"bad.md": b"caf\xe9 findme [[other]]", "fine.md": "a real \ufffd here"})
    (problem,) = vault.index.problems()
    assert (problem.path.text, problem.kind) == ("bad.md", "marked")
    assert "UTF-8" in problem.reason
    assert await vault.found("findme") == ["bad"]
    assert vault.links("bad.md") == [("other", None)]


async def test_a_broken_properties_block_is_marked(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "---\nx: [1\n---\nstill [[here]] #tag\n"})
    (problem,) = vault.index.problems()
    assert problem.kind == "marked"
    assert vault.index.stats().indexed == 1
    assert vault.links("a.md") == [("here", None)]


async def test_a_large_note_is_listed_not_read(make_vault: MakeVault, reopened: Reopen) -> None:
    vault = await make_vault({"big.md": "findme " + "x" * 2**20, "a.md": "[[big]]"}, max_note_mib=1)
    (problem,) = (await vault.index.scan()).skipped
    assert problem.path.text == "big.md"
    assert "1 MiB" in problem.reason
    assert vault.links("a.md") == [("big", "big.md")]
    assert await vault.found("findme ") == []
    stats = vault.index.stats()
    assert (stats.notes, stats.indexed, stats.skipped, stats.failed) == (2, 1, 1, 0)
    index = await reopened(vault, IndexSettings(max_note_mib=2))
    report = await index.scan()
    assert (report.indexed, report.skipped) == (1, ())


async def test_a_hundred_megabytes_in_one_line(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "ok"}, scan=False)
    with (vault.root / "huge.md").open("wb") as file:
        for _ in range(100):
            file.write(b"y" * 2**20)
    report = await vault.index.scan()
    assert report.indexed == 1
    assert [problem.path.text for problem in report.skipped] == ["huge.md"]


async def test_three_megabytes_in_one_line_are_searched_with_a_short_snippet(make_vault: MakeVault) -> None:
    vault = await make_vault({"long.md": "word " * 600_000 + "needle " + "word " * 1000})
    (hit,) = (await vault.index.search("needle")).hits
    (snippet,) = hit.snippets
    assert len(snippet.text) < 300
    (mark,) = snippet.marks
    assert snippet.text[slice(*mark)] == "needle"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="the superuser reads everything")
async def test_an_unreadable_note_fails_and_the_scan_continues(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "a", "secret.md": "b"}, scan=False)
    (vault.root / "secret.md").chmod(0)
    report = await vault.index.scan()
    assert report.indexed == 1
    assert [problem.path.text for problem in report.failed] == ["secret.md"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
async def test_a_note_that_becomes_unreadable_fails_and_the_scan_continues(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "a", "b.md": "b", "[[a]].md": "c"})
    path = vault.root / "b.md"
    path.unlink()
    path.mkdir()
    os.mkfifo(vault.root / "pipe.md")
    vault.write("a.md", "a2", at=time.time() - 10)
    report = await vault.index.scan()
    assert (report.indexed, report.removed) == (1, 1)
    assert [problem.path.text for problem in report.skipped] == ["pipe.md"]


async def test_a_note_that_breaks_the_parser_fails_and_the_scan_continues(
    make_vault: MakeVault, monkeypatch: pytest.MonkeyPatch, errors: list[str]
) -> None:
    errors.append("bad.md could not be parsed")
    real = extract.scan

    def refuse(text: str) -> object:
        if "poison" in text:
            raise RecursionError("too deep")
        return real(text)

    monkeypatch.setattr(extract, "scan", refuse)
    vault = await make_vault({"bad.md": "poison", "good.md": "[[bad]]"})
    report = await vault.index.scan()
    assert [problem.path.text for problem in report.failed] == ["bad.md"]
    assert vault.links("good.md") == [("bad", "bad.md")]


async def test_names_that_differ_only_by_case(make_vault: MakeVault) -> None:
    vault = await make_vault({"Note.md": "upper", "x.md": "[[Note]] [[note]] [[NOTE]]"}, scan=False)
    vault.write("note.md", "lower")
    if len(list(vault.root.iterdir())) < 3:
        pytest.skip("this file system ignores case")
    await vault.index.scan()
    assert vault.links("x.md") == [("Note", "Note.md"), ("note", "note.md"), ("NOTE", "Note.md")]
    assert vault.link("x.md", 2).ambiguous


async def test_a_vault_that_vanishes_keeps_the_old_index(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "a", "b.md": "b"})
    shutil.move(vault.root, vault.root.with_name("gone"))
    with pytest.raises(VaultLostError):
        await vault.index.scan()
    with pytest.raises(VaultLostError):
        await vault.index.refresh([NotePath("a.md")], [NotePath("b.md")])
    assert len(vault.index.notes()) == 2
    shutil.move(vault.root.with_name("gone"), vault.root)
    assert (await vault.index.scan()).unchanged == 2


async def test_a_vault_that_vanishes_while_it_is_read_keeps_the_old_index(make_vault: MakeVault) -> None:
    vault = await make_vault({f"{number}.md": "one" for number in range(100)})
    for number in range(100):
        vault.write(f"{number}.md", "two two")

    def progress(now: ScanProgress) -> None:
        if now.phase == "read" and now.done == 0:
            shutil.move(vault.root, vault.root.with_name("gone"))

    with pytest.raises(VaultLostError):
        await vault.index.scan(progress)
    assert len(vault.index.notes()) == 100
    assert len(vault.index.resolver) == 100


class SlowDisk:
    """The file system as seen by the reader, with reads that wait for the disk."""

    def __init__(self) -> None:
        self.asked, self.answers = threading.Event(), threading.Event()

    def __getattr__(self, name: str) -> object:
        return getattr(os, name)

    def read(self, descriptor: int, count: int) -> bytes:
        self.asked.set()
        assert self.answers.wait(60)
        return os.read(descriptor, count)


async def test_a_slow_disk_does_not_block_queries(
    make_vault: MakeVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = await make_vault({"a.md": "alpha [[b]]", "b.md": "beta"})
    disk = SlowDisk()
    monkeypatch.setattr(extract, "os", disk)
    vault.write("b.md", "gamma, newly written")
    scan = asyncio.create_task(vault.index.scan())
    try:
        assert await asyncio.to_thread(disk.asked.wait, 60)
        assert await vault.found("alpha ") == ["a"] and await vault.found("beta ") == ["b"]
        assert [link.source.text for link in vault.index.backlinks(NotePath("b.md"))] == ["a.md"]
        assert not scan.done()
    finally:
        disk.answers.set()
    assert (await scan).indexed == 1
    assert await vault.found("gamma ") == ["b"] and await vault.found("beta ") == []


async def test_a_canceled_scan_keeps_its_results_and_resumes_the_next_time(make_vault: MakeVault) -> None:
    vault = await make_vault({f"{number}.md": f"[[{number + 1}]]" for number in range(150)}, scan=False)
    seen: list[ScanProgress] = []
    report = await vault.index.scan(seen.append, lambda: bool(seen) and seen[-1].done >= 64)
    assert report.cancelled
    assert 0 < report.indexed < 150
    assert len(vault.index.notes()) == report.indexed
    again = await vault.index.scan()
    assert not again.cancelled
    assert again.indexed + again.unchanged == 150
    assert vault.sources("7.md") == ["6.md"]


async def test_many_notes_are_read_by_processes_with_the_same_result(
    make_vault: MakeVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parser_pool, "_PROCESS_START_S", 0.0)
    files = {f"f{n % 7}/note {n}.md": f"[[note {n // 2}]] #t{n % 5}" for n in range(450)}
    vault = await make_vault(files, scan=False)
    seen: list[ScanProgress] = []
    report = await vault.index.scan(seen.append)
    assert (report.indexed, report.failed) == (450, ())
    assert [phase for phase, _ in groupby(p.phase for p in seen)] == ["walk", "read", "words"]
    for phase in ("read", "words"):
        done = [p.done for p in seen if p.phase == phase]
        assert done == sorted(done)
        assert (seen[-1].total, done[-1]) == (450, 450)
    assert len(vault.updates) > 2
    assert vault.updates[-1].total == 450
    assert vault.sources("f3/note 3.md") == ["f0/note 7.md", "f6/note 6.md"]


async def test_without_processes_a_thread_reads_the_notes(
    make_vault: MakeVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    class FailingPool:
        def __init__(self, *args: object, **options: object) -> None:
            raise OSError("no processes here")

    monkeypatch.setattr(parser_pool, "ProcessPoolExecutor", FailingPool)
    monkeypatch.setattr(parser_pool, "_PROCESS_START_S", 0.0)
    vault = await make_vault({f"{number}.md": "text" for number in range(250)})
    assert vault.index.stats().indexed == 250


def test_processes_are_started_for_what_takes_longer_than_their_start() -> None:
    assert not parser_pool.justifies_processes(300, 600_000)
    assert not parser_pool.justifies_processes(3, 50 * 2**20)
    assert parser_pool.justifies_processes(300, 20 * 2**20) and parser_pool.justifies_processes(6000, 600_000)
    assert parser_pool.justifies_processes(3000, 6 * 2**20)


async def test_the_service_thread_responds_during_a_scan(make_vault: MakeVault) -> None:
    vault = await make_vault({f"{number}.md": "text" for number in range(120)}, scan=False)
    turns, done = 0, False

    async def count() -> None:
        nonlocal turns
        while not done:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    await vault.index.scan()
    done = True
    await counting
    assert turns > 20


async def test_a_refresh_during_a_scan_is_newer_than_the_scan(make_vault: MakeVault) -> None:
    vault = await make_vault({f"{number}.md": "old" for number in range(100)}, scan=False)
    refreshes: list[asyncio.Task[object]] = []

    def progress(now: ScanProgress) -> None:
        if now.phase == "read" and now.done == 32 and not refreshes:
            changed = vault.write("99.md", "newest", at=time.time())
            (vault.root / "98.md").unlink()
            added = vault.write("100.md", "added", at=time.time())
            refreshes.append(
                asyncio.ensure_future(vault.index.refresh([changed, added], [NotePath("98.md")]))
            )

    await vault.index.scan(progress)
    await asyncio.gather(*refreshes)
    assert await vault.found("newest") == ["99"]
    assert await vault.found("added") == ["100"]
    assert vault.index.note(NotePath("98.md")) is None
    assert len(vault.index.notes()) == 100


async def test_refresh_says_what_changed(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "[[New]]", "gone.md": "x", "b.md": "[[gone]]"})
    vault.updates.clear()
    (vault.root / "gone.md").unlink()
    changed = vault.write("New.md", "hello")
    delta = await vault.index.refresh([changed], [NotePath("gone.md")])
    assert delta.changed == (changed,)
    assert delta.removed == (NotePath("gone.md"),)
    assert delta.relinked == (NotePath("a.md"), NotePath("b.md"))
    (update,) = vault.updates
    assert (update.changed, update.removed, update.total) == (delta.changed, delta.removed, 3)
    assert vault.links("a.md") == [("New", "New.md")]
    assert vault.links("b.md") == [("gone", None)]
    assert not await vault.index.refresh([changed])


async def test_refresh_takes_folders(make_vault: MakeVault) -> None:
    vault = await make_vault({"a/x.md": "1", "a/b/y.md": "2", "ab/z.md": "3", "s.md": "[[x]] [[y]]"})
    (vault.root / "a").rename(vault.root / "c")
    delta = await vault.index.refresh([NotePath("c")], [NotePath("a")])
    assert {path.text for path in delta.changed} == {"c/x.md", "c/b/y.md"}
    assert {path.text for path in delta.removed} == {"a/x.md", "a/b/y.md"}
    assert vault.links("s.md") == [("x", "c/x.md"), ("y", "c/b/y.md")]
    assert [note.path.text for note in vault.index.notes("c", recursive=False)] == ["c/x.md"]
    assert [note.path.text for note in vault.index.notes("c")] == ["c/b/y.md", "c/x.md"]
    assert [note.path.text for note in vault.index.notes("", recursive=False)] == ["s.md"]


async def test_a_rename_that_changes_only_the_case(make_vault: MakeVault) -> None:
    vault = await make_vault({"note.md": "x", "s.md": "[[Note]]"})
    (vault.root / "note.md").rename(vault.root / "Note.md")
    await vault.index.refresh([NotePath("Note.md")], [NotePath("note.md")])
    assert [note.path.text for note in vault.index.notes()] == ["Note.md", "s.md"]
    assert vault.sources("Note.md") == ["s.md"]


async def test_a_canceled_refresh_leaves_names_and_file_in_step(make_vault: MakeVault) -> None:
    vault = await make_vault({"s.md": "[[x0]] [[x1]] [[x2]]"})
    for number in range(3):
        task = asyncio.ensure_future(vault.index.refresh([vault.write(f"x{number}.md", "x")]))
        for _ in range(number * 3):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await vault.index.scan()
    names = {entry.path.text for entry in vault.index.resolver.entries()}
    assert names == {"s.md", "x0.md", "x1.md", "x2.md"}
    assert [target for _, target in vault.links("s.md")] == ["x0.md", "x1.md", "x2.md"]


async def test_a_folder_of_ten_thousand_notes_of_one_name(make_vault: MakeVault) -> None:
    vault = await make_vault(scan=False)
    for number in range(10_000):
        folder = vault.root / f"{number:05}"
        folder.mkdir()
        (folder / "N.md").write_text(f"[[N]] [[{number:05}/N]]")
    report = await vault.index.scan()
    assert report.indexed == 10_000
    assert vault.links("00042/N.md") == [("N", "00042/N.md"), ("00042/N", "00042/N.md")]
    vault.write("s.md", "[[N]]")
    await vault.index.refresh([NotePath("s.md")])
    assert vault.link("s.md").ambiguous
    vault.write("N.md", "root")
    await vault.index.refresh([NotePath("N.md")])
    assert vault.links("s.md") == [("N", "N.md")]


async def test_reads_work_from_other_threads_while_writing(make_vault: MakeVault) -> None:
    vault = await make_vault({f"{n}.md": f"[[{n + 1}]] text" for n in range(60)}, scan=False)
    stop = threading.Event()
    failures: list[BaseException] = []

    def read() -> None:
        while not stop.is_set():
            try:
                data = vault.index.graph()
                assert len(data.edges) == 0 or data.edges.max() < len(data.paths)
                vault.index.stats()
            except BaseException as error:
                failures.append(error)
                return

    thread = threading.Thread(target=read)
    thread.start()
    try:
        await vault.index.scan()
    finally:
        stop.set()
        thread.join()
    assert failures == []


async def test_a_private_note_is_marked_private(make_vault: MakeVault) -> None:
    vault: IndexedVault = await make_vault(
        {"p.md": "---\nai: private\n---\nsecret words", "q.md": "other words"}
    )
    note = vault.index.note(NotePath("p.md"))
    assert note is not None
    assert note.private
    assert await vault.found("words ") == ["p", "q"]
    assert await vault.found("words ", private=False) == ["q"]
    assert await vault.found("-other ", private=False) == []


async def test_a_folder_and_a_note_in_it_told_together_are_read_once(make_vault: MakeVault) -> None:
    vault = await make_vault({"a/x.md": "one", "a/img.png": b"i"})
    vault.write("a/x.md", "two", at=time.time())
    delta = await vault.index.refresh([NotePath("a/x.md"), NotePath("a"), NotePath("a/img.png")])
    assert delta.changed.count(NotePath("a/x.md")) == 1
    assert await vault.found("two ") == ["a/x"]


async def test_a_scan_releases_its_memory(make_vault: MakeVault, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    vault = await make_vault({"a.md": "one"})
    release = IndexDatabase.release_memory
    monkeypatch.setattr(IndexDatabase, "release_memory", lambda self: (release(self), done.append("caches")))
    monkeypatch.setattr(memory_release, "release_memory", lambda: done.append("heap"))
    await vault.index.scan()
    assert done == ["caches", "heap"]


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux says of its memory")
def test_releasing_memory_returns_it_to_the_system() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")

    before = resident()
    blocks = [ctypes.create_string_buffer(4_000) for _ in range(20_000)]
    keep = blocks[::1_000]
    blocks.clear()
    memory_release.release_memory()
    assert resident() - before < 40_000_000 and len(keep) == 20
