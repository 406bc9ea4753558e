"""A process killed at any disk step of a commit, of an undo, or of the recovery."""

from __future__ import annotations

import functools
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.vault.changes import ChangeSet, Create, Delete, Move, Update, content_hash
from app.vault.journal import Journal
from app.vault.path import NotePath
from app.vault.safe_fs import Platform
from app.vault.store import NoteStore
from tests.support.forks import Forks

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")

P = NotePath.parse
OLD = {
    "a.md": b"alpha\n",
    "gone.md": b"delete me\n",
    "move.md": b"move me\n",
    "edit/move.md": b"move and edit me\n",
    "case.md": b"same name, other case\n",
    "untouched.md": b"leave me\n",
}
NEW = {
    "a.md": b"ALPHA\r\n",
    "new/deep/fresh.md": b"fresh\n",
    "moved/move.md": b"move me\n",
    "edit/moved.md": b"moved and edited\n",
    "Case.md": b"same name, other case\n",
    "untouched.md": b"leave me\n",
    ".trash/gone.md": b"delete me\n",
}
CHANGES = ChangeSet.of(
    Update(P("a.md"), OLD["a.md"], NEW["a.md"]),
    Create(P("new/deep/fresh.md"), NEW["new/deep/fresh.md"]),
    Delete(P("gone.md"), OLD["gone.md"]),
    Move(P("move.md"), P("moved/move.md"), OLD["move.md"], OLD["move.md"]),
    Move(P("edit/move.md"), P("edit/moved.md"), OLD["edit/move.md"], NEW["edit/moved.md"]),
    Move(P("case.md"), P("Case.md"), OLD["case.md"], OLD["case.md"]),
    summary="everything at once",
)
PLATFORMS = {
    "native": None,
    "portable": Platform(has_dir_fds=False, can_swap=False, can_rename_exclusively=False),
}


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in RAM if possible: a killed process leaves the same state there, and it is fast."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as name:
        yield Path(name)


def files(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def folders(root: Path) -> set[str]:
    return {p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_dir()}


def seed(folder: Path) -> Path:
    root = folder / "vault"
    for name, content in OLD.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def killer(at: int) -> Callable[[str], None]:
    seen = 0

    def step(name: str) -> None:
        nonlocal seen
        if seen == at:
            os.kill(os.getpid(), signal.SIGKILL)
        seen += 1

    return step


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    made = Forks()
    yield made
    made.close()


def commit(folder: Path, platform: Platform | None, at: int) -> None:
    store = NoteStore(folder / "vault", Journal(folder / "data"), step=killer(at), platform=platform)
    store.commit(CHANGES, author="agent")


def undo(folder: Path, platform: Platform | None, at: int) -> None:
    journal = Journal(folder / "data")
    store = NoteStore(folder / "vault", journal, step=killer(at), platform=platform)
    plan = journal.plan_undo([1], lambda path: store.read(path) if store.exists(path) else None)
    store.commit(plan.change_set, author="user")


def recover(folder: Path, platform: Platform | None, at: int = -1) -> None:
    NoteStore(folder / "vault", Journal(folder / "data"), step=killer(at), platform=platform).recover()


@functools.cache
def steps(platform: str, what: str) -> int:
    """Return the number of disk steps."""
    seen: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        seed(folder)
        journal = Journal(folder / "data")
        store = NoteStore(folder / "vault", journal, step=seen.append, platform=PLATFORMS[platform])
        store.commit(CHANGES, author="agent")
        if what == "undo":
            seen.clear()
            plan = journal.plan_undo([1], lambda path: store.read(path) if store.exists(path) else None)
            store.commit(plan.change_set, author="user")
        journal.close()
    return len(seen)


def check(folder: Path, before: dict[str, bytes], after: dict[str, bytes], commits: int) -> bool:
    """Check that the disk is either old or new, without leftovers, and that the journal agrees."""
    root = folder / "vault"
    state = files(root)
    assert state in (before, after)
    assert not list((folder / "data" / "intents").iterdir())
    done = state == after
    journal = Journal(folder / "data")
    try:
        assert journal.problem is None
        assert len(journal.commits()) == commits + done
        for change in journal.commits(1) if done else ():
            found = state.get(str(change.changes[0].final_path))
            assert (content_hash(found) if found is not None else None) == change.changes[0].after
    finally:
        journal.close()
    return done


@pytest.mark.parametrize(
    ("platform", "at"), [(name, at) for name in PLATFORMS for at in range(steps(name, "commit"))]
)
def test_killed_at_any_step_of_a_commit(forks: Forks, tmp_path: Path, platform: str, at: int) -> None:
    root = seed(tmp_path)
    before = folders(root)
    assert forks.killed(commit, tmp_path, PLATFORMS[platform], at)
    forks.killed(recover, tmp_path, PLATFORMS[platform])
    done = check(tmp_path, OLD, NEW, 0)
    if done:
        forks.killed(undo, tmp_path, PLATFORMS[platform], -1)
        assert {k: v for k, v in files(root).items() if not k.startswith(".trash/")} == OLD
        assert folders(root) - {".trash"} == before
    else:
        assert folders(root) == before
        forks.killed(commit, tmp_path, PLATFORMS[platform], -1)
        assert files(root) == NEW


@pytest.mark.parametrize(
    ("platform", "at"), [(name, at) for name in PLATFORMS for at in range(steps(name, "undo"))]
)
def test_killed_at_any_step_of_an_undo(forks: Forks, tmp_path: Path, platform: str, at: int) -> None:
    seed(tmp_path)
    forks.killed(commit, tmp_path, PLATFORMS[platform], -1)
    assert forks.killed(undo, tmp_path, PLATFORMS[platform], at)
    forks.killed(recover, tmp_path, PLATFORMS[platform])
    check(tmp_path, NEW, {**OLD, ".trash/fresh.md": NEW["new/deep/fresh.md"]}, 1)


@pytest.mark.parametrize(
    ("platform", "at"), [(name, at) for name in PLATFORMS for at in range(3, steps(name, "commit"), 4)]
)
def test_killed_again_at_any_step_of_the_recovery(
    forks: Forks, tmp_path: Path, platform: str, at: int
) -> None:
    again, killed = 0, True
    while killed:
        folder = tmp_path / str(again)
        killed = killed_twice(forks, folder, PLATFORMS[platform], at, again)
        check(folder, OLD, NEW, 0)
        again += 1


def killed_twice(forks: Forks, folder: Path, platform: Platform | None, at: int, again: int) -> bool:
    seed(folder)
    forks.killed(commit, folder, platform, at)
    killed = forks.killed(recover, folder, platform, again)
    forks.killed(recover, folder, platform)
    return killed


@pytest.mark.parametrize("at", range(steps("native", "commit")))
@pytest.mark.parametrize("name", ["a.md", "move.md", "edit/move.md", "new/deep/fresh.md"])
def test_an_edit_between_crash_and_recovery_stays(forks: Forks, tmp_path: Path, at: int, name: str) -> None:
    root = seed(tmp_path)
    forks.killed(commit, tmp_path, None, at)
    moved = {"move.md": "moved/move.md", "edit/move.md": "edit/moved.md"}.get(name, name)
    target = root / moved if (root / moved).exists() else root / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(b"the user's own\n")
    forks.killed(recover, tmp_path, None)
    state = files(root)
    assert b"the user's own\n" in state.values()
    assert not [path for path in state if ".~scriptorium-" in path]
    rest = {path: content for path, content in state.items() if content != b"the user's own\n"}
    names = {name, moved}
    assert rest in [{k: v for k, v in whole.items() if k not in names} for whole in (OLD, NEW)]
