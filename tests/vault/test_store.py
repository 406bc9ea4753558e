"""The store with failing disks, links, and programs that write at the same moment."""

from __future__ import annotations

import errno
import itertools
import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.errors import (
    ConflictError,
    InvalidPathError,
    LimitError,
    NotFoundError,
    StorageError,
    VaultLostError,
)
from app.vault import safe_fs
from app.vault.changes import ChangeSet, Create, Delete, Move, Update, content_hash
from app.vault.journal import Journal
from app.vault.path import NotePath
from app.vault.safe_fs import Platform
from app.vault.store import MISSING_HASH, NoteStore

resource = pytest.importorskip("resource")
P = NotePath.parse
PLATFORMS = {
    "native": None,
    "portable": Platform(has_dir_fds=False, can_swap=False, can_rename_exclusively=False),
}
OLD = {"a.md": b"alpha\n", "b.md": b"beta\n", "move.md": b"move\n", "gone.md": b"gone\n"}
CHANGES = ChangeSet.of(
    Update(P("a.md"), OLD["a.md"], b"ALPHA\n"),
    Create(P("new/fresh.md"), b"fresh\n"),
    Move(P("move.md"), P("to/moved.md"), OLD["move.md"], b"moved\n"),
    Delete(P("gone.md"), OLD["gone.md"]),
    Update(P("b.md"), OLD["b.md"], b"BETA\n"),
)
NEW = {
    "a.md": b"ALPHA\n",
    "b.md": b"BETA\n",
    "new/fresh.md": b"fresh\n",
    "to/moved.md": b"moved\n",
    ".trash/gone.md": b"gone\n",
}


class StoreBench:
    """A vault with files, its store, and a hook that runs before every disk step."""

    def __init__(self, folder: Path, platform: Platform | None = None) -> None:
        self.folder = folder
        self.root = folder / "vault"
        self.root.mkdir(exist_ok=True)
        for name, content in OLD.items():
            (self.root / name).write_bytes(content)
        self.journal = Journal(folder / "data")
        self.steps: list[str] = []
        self.hook: Callable[[str], None] = lambda name: None
        self.store = NoteStore(self.root, self.journal, step=self._step, platform=platform)

    def _step(self, name: str) -> None:
        self.steps.append(name)
        self.hook(name)

    def files(self) -> dict[str, bytes]:
        paths = [path for path in self.root.rglob("*") if path.is_file()]
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in paths}

    def check_untouched(self) -> None:
        assert self.files() == OLD
        assert [path for path in self.root.rglob("*") if path.is_dir()] == []
        assert self.journal.commits() == ()
        assert list((self.folder / "data" / "intents").iterdir()) == []


@pytest.fixture(params=PLATFORMS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreBench]:
    bench = StoreBench(tmp_path, PLATFORMS[request.param])
    yield bench
    bench.journal.close()


def all_steps() -> list[str]:
    return [
        "journal: keep",
        "intent: write",
        "intent: sync",
        "intent: name",
        "folder new",
        "folder .trash",
        "stage a.md: open",
        "stage a.md: write",
        "stage b.md: sync",
        "sync /",
        "intent: ready",
        "put a.md",
        "put new/fresh.md",
        "rename move.md",
        "put to/moved.md",
        "rename gone.md",
        "check .trash/gone.md",
        "put b.md",
        "sync .trash",
        "journal: record",
    ]


def test_a_change_set_is_written_and_recorded(bench: StoreBench):
    commit = bench.store.commit(CHANGES, author="agent", turn="t")
    assert bench.files() == NEW
    assert commit.digest == CHANGES.digest
    assert [(str(c.path), str(c.to) if c.to else None) for c in commit.changes] == [
        ("a.md", None),
        ("new/fresh.md", None),
        ("move.md", "to/moved.md"),
        ("gone.md", None),
        ("b.md", None),
    ]
    path, to, before, after = commit.changes[0]
    assert (path, to, before, after) == (P("a.md"), None, content_hash(b"alpha\n"), content_hash(b"ALPHA\n"))
    assert bench.store.recover() == []


@pytest.mark.parametrize("name", all_steps())
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_a_disk_error_at_any_step_changes_nothing(bench: StoreBench, name: str, code: int, errors: list[str]):
    errors.append("could not roll back a failed commit")

    def refuse(step: str) -> None:
        if step == name:
            raise OSError(code, os.strerror(code))

    bench.hook = refuse
    with pytest.raises(StorageError):
        bench.store.commit(CHANGES, author="agent")
    assert name in bench.steps
    bench.hook = lambda step: None
    bench.store.recover()
    bench.check_untouched()
    bench.store.commit(CHANGES, author="agent")
    assert bench.files() == NEW


def test_a_failed_rollback_is_recovered_later(bench: StoreBench, errors: list[str]):
    errors.append("could not roll back a failed commit")
    failing = False

    def refuse(step: str) -> None:
        nonlocal failing
        failing = failing or step == "put b.md"
        if failing:
            raise OSError(errno.EIO, "gone bad")

    bench.hook = refuse
    with pytest.raises(StorageError):
        bench.store.commit(CHANGES, author="agent")
    bench.hook = lambda step: None
    [recovery] = bench.store.recover()
    assert bench.files() in (OLD, NEW)
    assert recovery.is_completed == (bench.files() == NEW) == bool(bench.journal.commits())


def test_an_error_after_the_record_is_no_failure(bench: StoreBench, errors: list[str]):
    errors.append("could not clean up after a commit")

    def refuse(step: str) -> None:
        if step == "intent: remove":
            raise OSError(errno.EIO, "gone bad")

    bench.hook = refuse
    commit = bench.store.commit(CHANGES, author="agent")
    bench.hook = lambda step: None
    assert [(r.is_completed, r.commit) for r in bench.store.recover()] == [(True, commit.id)]
    assert bench.files() == NEW
    assert len(bench.journal.commits()) == 1


def test_a_full_disk_changes_nothing(tmp_path: Path):
    mount = tmp_path / "small"
    mount.mkdir()
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", mount], check=False).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        (mount / "vault").mkdir()
        (mount / "vault" / "a.md").write_bytes(b"old\n")
        journal = Journal(tmp_path / "data")
        store = NoteStore(mount / "vault", journal)
        big = os.urandom(300_000)
        change = ChangeSet.of(Update(P("a.md"), b"old\n", b"new\n"), Create(P("big.md"), big))
        with pytest.raises(StorageError):
            store.commit(change, author="agent")
        assert [path.name for path in (mount / "vault").iterdir()] == ["a.md"]
        assert (mount / "vault" / "a.md").read_bytes() == b"old\n"
        store.commit(ChangeSet.of(Update(P("a.md"), b"old\n", b"new\n")), author="agent")
        journal.close()
    finally:
        subprocess.run(["umount", mount], check=True)


def test_a_full_data_folder_changes_nothing(tmp_path: Path):
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    mount = tmp_path / "data"
    mount.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", mount], check=False).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        bench = StoreBench(tmp_path)
        (mount / "filler").write_bytes(b"x" * 300_000)
        with pytest.raises(StorageError):
            bench.store.commit(ChangeSet.of(Create(P("big.md"), os.urandom(400_000))), author="agent")
        bench.check_untouched()
        (mount / "filler").unlink()
        bench.store.commit(CHANGES, author="agent")
        bench.journal.close()
    finally:
        subprocess.run(["umount", mount], check=True)


def test_a_file_size_limit_changes_nothing(bench: StoreBench):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(step: str) -> None:
        if step == "intent: name":
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))

    bench.hook = limit
    change = ChangeSet.of(Update(P("a.md"), OLD["a.md"], b"new\n"), Create(P("big.md"), b"x" * 200_000))
    try:
        with pytest.raises(StorageError):
            bench.store.commit(change, author="agent")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    bench.check_untouched()


def test_a_folder_mounted_read_only_is_a_clear_error(bench: StoreBench):
    if os.geteuid() != 0:
        pytest.skip("only root may mount")
    root = str(bench.root)
    if subprocess.run(["mount", "--bind", root, root], check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", root], check=True)
        with pytest.raises(StorageError):
            bench.store.commit(CHANGES, author="agent")
        assert bench.store.read(P("a.md")) == OLD["a.md"]
    finally:
        subprocess.run(["umount", root], check=True)
    bench.check_untouched()


def edit_in_place(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"mine!")


def save_atomically(path: Path) -> None:
    temp = path.with_name(".editor.tmp")
    temp.write_bytes(b"mine!")
    temp.replace(path)


def test_a_file_that_differs_is_a_conflict_that_lists_all(bench: StoreBench):
    (bench.root / "a.md").write_bytes(b"mine\n")
    (bench.root / "gone.md").unlink()
    with pytest.raises(ConflictError) as caught:
        bench.store.commit(CHANGES, author="agent")
    assert caught.value.data["path"] == "a.md"
    assert caught.value.data["current_hash"] == content_hash(b"mine\n")
    conflicts = caught.value.data["conflicts"]
    assert [(c["path"], c["current_hash"]) for c in conflicts] == [
        ("a.md", content_hash(b"mine\n")),
        ("gone.md", None),
    ]
    assert bench.journal.commits() == ()


@pytest.mark.parametrize("edit", [edit_in_place, save_atomically])
@pytest.mark.parametrize("name", ["a.md", "b.md", "move.md", "gone.md"])
@pytest.mark.parametrize("step", all_steps()[:-2])
def test_an_edit_at_any_moment_is_never_lost(bench: StoreBench, step: str, name: str, edit):
    written = False

    def interfere(seen: str) -> None:
        nonlocal written
        moved = {"move.md": "to/moved.md", "gone.md": ".trash/gone.md"}.get(name, name)
        if seen == step and not written:
            written = True
            edit(bench.root / name if (bench.root / name).exists() else bench.root / moved)

    bench.hook = interfere
    try:
        bench.store.commit(CHANGES, author="agent")
    except ConflictError:
        assert bench.journal.commits() == ()
        whole = OLD
    else:
        whole = NEW
    bench.hook = lambda seen: None
    bench.store.recover()
    state = bench.files()
    assert any(content.startswith(b"mine!") for content in state.values())
    assert not [path for path in state if ".~scriptorium" in path]
    rest = {path: content for path, content in state.items() if not content.startswith(b"mine!")}
    assert rest.items() <= whole.items()
    assert len(whole) - len(rest) <= 1


@pytest.mark.parametrize("step", all_steps()[:-2])
def test_a_file_that_vanishes_at_any_moment_leaves_the_rest_whole(bench: StoreBench, step: str):
    def interfere(seen: str) -> None:
        if seen == step:
            (bench.root / "b.md").unlink(missing_ok=True)

    bench.hook = interfere
    try:
        bench.store.commit(CHANGES, author="agent")
    except ConflictError:
        assert bench.journal.commits() == ()
    bench.hook = lambda seen: None
    state = bench.files()
    state.pop("b.md", None)
    wholes = [{k: v for k, v in whole.items() if k != "b.md"} for whole in (OLD, NEW)]
    assert state in wholes


def test_text_written_through_a_file_that_was_open_is_kept(bench: StoreBench):
    with (bench.root / "a.md").open("r+b") as editor:

        def interfere(seen: str) -> None:
            if seen == "journal: record":
                editor.write(b"typed late")
                editor.flush()

        bench.hook = interfere
        bench.store.commit(CHANGES, author="agent")
    state = bench.files()
    if bench.store._vault.platform.can_swap:
        assert state.pop("a (edited outside).md") == b"typed late"
    assert state == NEW


def test_something_created_at_the_last_moment_is_not_overwritten(bench: StoreBench):
    def interfere(seen: str) -> None:
        if seen == "put new/fresh.md":
            (bench.root / "new" / "fresh.md").write_bytes(b"mine\n")
        if seen == "rename move.md":
            (bench.root / "to" / "moved.md").write_bytes(b"mine\n")

    bench.hook = interfere
    with pytest.raises(ConflictError):
        bench.store.commit(CHANGES, author="agent")
    assert bench.files() == {**OLD, "new/fresh.md": b"mine\n"}


@pytest.mark.parametrize(
    "change",
    [
        Create(P("A.md"), b"x"),
        Create(P("a.md"), b"x"),
        Move(P("b.md"), P("A.MD"), b"beta\n", b"beta\n"),
        Create(P("a.md/b.md"), b"x"),
    ],
)
def test_no_file_is_created_over_an_equal_name(bench: StoreBench, change):
    with pytest.raises(ConflictError):
        bench.store.commit(ChangeSet.of(change), author="agent")
    bench.check_untouched()


def test_a_folder_keeps_the_spelling_it_has(bench: StoreBench):
    (bench.root / "Ärger").mkdir()
    with pytest.raises(ConflictError) as caught:
        bench.store.commit(ChangeSet.of(Create(P("ärger/x.md"), b"x")), author="agent")
    assert caught.value.data["path"] == "Ärger"
    assert bench.store.disk_spelling(P("ärger/x.md")) == P("Ärger/x.md")
    assert bench.store.existing_path(P("ÄRGER")) == P("Ärger")
    bench.store.commit(ChangeSet.of(Create(bench.store.disk_spelling(P("ärger/x.md")), b"x")), author="agent")


def test_existing_path_matches_other_cases_and_unicode_forms(bench: StoreBench):
    (bench.root / "Cafe\u0301.md").write_bytes(b"x")
    assert bench.store.existing_path(P("CAFÉ.md")) == NotePath.on_disk("Cafe\u0301.md")
    assert bench.store.existing_path(P("A.md")) == P("a.md")
    assert bench.store.existing_path(P("none/a.md")) is None
    assert bench.store.exists(P("a.md"))
    assert not bench.store.exists(P("none.md"))


@pytest.mark.parametrize(
    "path", [".git/config", ".obsidian/app.json", ".scriptorium/rules.toml", ".trash/a.md", "x/.hidden/a.md"]
)
def test_hidden_folders_are_never_written(bench: StoreBench, path: str):
    for change in (Create(P(path), b"x"), Delete(P(path), b"x"), Move(P("a.md"), P(path), b"alpha\n", b"x")):
        with pytest.raises(InvalidPathError):
            bench.store.commit(ChangeSet.of(change), author="agent")
    bench.check_untouched()


@pytest.mark.parametrize("path", ["../out.md", "x/../../out.md", "/out.md", "a/./b.md"])
def test_paths_that_escape_are_refused_even_if_they_were_not_parsed(bench: StoreBench, path: str):
    with pytest.raises(InvalidPathError):
        bench.store.commit(ChangeSet.of(Create(NotePath(path), b"x")), author="agent")
    with pytest.raises((InvalidPathError, NotFoundError)):
        bench.store.read(NotePath(path))
    bench.check_untouched()


def test_links_out_of_the_vault_are_refused(bench: StoreBench):
    outside = bench.folder / "outside"
    outside.mkdir()
    (outside / "secret.md").write_bytes(b"secret")
    (bench.root / "folder").symlink_to(outside)
    (bench.root / "link.md").symlink_to(outside / "secret.md")
    for path in ("folder/secret.md", "link.md"):
        with pytest.raises(InvalidPathError):
            bench.store.read(P(path))
        for change in (Update(P(path), b"secret", b"x"), Delete(P(path), b"secret")):
            with pytest.raises(InvalidPathError):
                bench.store.commit(ChangeSet.of(change), author="agent")
    with pytest.raises((InvalidPathError, ConflictError)):
        bench.store.commit(ChangeSet.of(Create(P("folder/new.md"), b"x")), author="agent")
    assert [path.name for path in outside.iterdir()] == ["secret.md"]
    assert (outside / "secret.md").read_bytes() == b"secret"


def test_links_inside_the_vault_are_read_but_not_written_through(bench: StoreBench):
    (bench.root / "link.md").symlink_to("a.md")
    (bench.root / "sub").mkdir()
    (bench.root / "sub" / "x.md").write_bytes(b"x")
    (bench.root / "alias").symlink_to("sub")
    assert bench.store.read(P("link.md")) == OLD["a.md"]
    assert bench.store.read(P("alias/x.md")) == b"x"
    for change in (Update(P("link.md"), OLD["a.md"], b"x"), Update(P("alias/x.md"), b"x", b"y")):
        with pytest.raises(InvalidPathError):
            bench.store.commit(ChangeSet.of(change), author="agent")
    assert (bench.root / "link.md").is_symlink()


@pytest.mark.parametrize("step", all_steps()[:-2])
def test_a_folder_swapped_for_a_link_at_any_moment_writes_nothing_outside(
    bench: StoreBench, step: str, errors: list[str]
):
    errors.append("could not roll back a failed commit")
    outside = bench.folder / "outside"
    outside.mkdir()
    (bench.root / "sub").mkdir()
    (bench.root / "sub" / "x.md").write_bytes(b"old\n")
    (outside / "x.md").write_bytes(b"old\n")
    changes = (
        *CHANGES.changes[:-1],
        Update(P("sub/x.md"), b"old\n", b"new\n"),
        Create(P("sub/y.md"), b"y\n"),
        CHANGES.changes[-1],
    )

    def swap(seen: str) -> None:
        if seen == step:
            (bench.root / "sub").rename(bench.folder / "aside")
            (bench.root / "sub").symlink_to(outside)

    bench.hook = swap
    try:
        bench.store.commit(ChangeSet(changes), author="agent")
    except (StorageError, InvalidPathError, ConflictError):
        assert bench.journal.commits() == ()
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == {"x.md": b"old\n"}


def test_permissions_and_owner_stay(bench: StoreBench):
    path = bench.root / "a.md"
    path.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(path, 1234, 2345)
    bench.store.commit(ChangeSet.of(Update(P("a.md"), OLD["a.md"], b"x")), author="agent")
    status = path.stat()
    assert stat.S_IMODE(status.st_mode) == 0o640
    if os.geteuid() == 0:
        assert (status.st_uid, status.st_gid) == (1234, 2345)
    bench.store.commit(ChangeSet.of(Move(P("a.md"), P("z.md"), b"x", b"y")), author="agent")
    assert stat.S_IMODE((bench.root / "z.md").stat().st_mode) == 0o640


def test_new_files_follow_the_umask(bench: StoreBench):
    old = os.umask(0o027)
    try:
        bench.store.commit(ChangeSet.of(Create(P("n.md"), b"x")), author="agent")
    finally:
        os.umask(old)
    assert stat.S_IMODE((bench.root / "n.md").stat().st_mode) == 0o640


def test_deleted_files_get_names_of_their_own_in_the_trash(bench: StoreBench):
    (bench.root / "sub").mkdir()
    (bench.root / "sub" / "A.md").write_bytes(b"other\n")
    changes = ChangeSet.of(Delete(P("a.md"), OLD["a.md"]), Delete(P("sub/A.md"), b"other\n"))
    bench.store.commit(changes, author="agent")
    (bench.root / "a.md").write_bytes(b"third\n")
    bench.store.commit(ChangeSet.of(Delete(P("a.md"), b"third\n")), author="agent")
    trash = {path.name: path.read_bytes() for path in (bench.root / ".trash").iterdir()}
    assert trash == {"a.md": b"alpha\n", "A 2.md": b"other\n", "a 3.md": b"third\n"}


def test_the_longest_names_are_deleted_too(bench: StoreBench):
    name = "ä" * 126 + ".md"
    for content in (b"1", b"2"):
        (bench.root / name).write_bytes(content)
        bench.store.commit(ChangeSet.of(Delete(P(name), content)), author="agent")
    assert sorted(path.read_bytes() for path in (bench.root / ".trash").iterdir()) == [b"1", b"2"]


def test_large_files_are_refused(bench: StoreBench, monkeypatch: pytest.MonkeyPatch):
    assert safe_fs.MAX_FILE_BYTES == 64 * 1024 * 1024
    with (bench.root / "big.bin").open("wb") as file:
        file.truncate(safe_fs.MAX_FILE_BYTES + 1)
    with pytest.raises(LimitError):
        bench.store.read(P("big.bin"))
    with pytest.raises(LimitError):
        bench.store.commit(ChangeSet.of(Delete(P("big.bin"), b"x")), author="agent")
    with pytest.raises(LimitError):
        bench.store.commit(ChangeSet.of(Create(P("n.md"), bytes(safe_fs.MAX_FILE_BYTES + 1))), author="agent")


def test_only_regular_files_are_read(bench: StoreBench):
    (bench.root / "folder.md").mkdir()
    os.mkfifo(bench.root / "pipe.md")
    for path in ("folder.md", "pipe.md"):
        with pytest.raises(InvalidPathError):
            bench.store.read(P(path))
    with pytest.raises(NotFoundError):
        bench.store.read(P("none.md"))
    with pytest.raises(NotFoundError):
        bench.store.read(P("a.md/x.md"))


def test_names_that_are_not_unicode_survive(bench: StoreBench):
    name = NotePath.on_disk(os.fsdecode(b"caf\xe9.md"))
    (bench.root / name.text).write_bytes(b"x")
    commit = bench.store.commit(ChangeSet.of(Update(name, b"x", b"y")), author="agent")
    assert bench.store.read(name) == b"y"
    assert bench.journal.commit(commit.id).changes[0].path == name
    assert [version.path for version in bench.journal.history(name)] == [name, name]


def test_a_lost_vault_is_reported_and_works_again_when_it_returns(bench: StoreBench):
    aside = bench.folder / "aside"
    bench.root.rename(aside)
    for work in (
        lambda: bench.store.read(P("a.md")),
        lambda: bench.store.exists(P("a.md")),
        lambda: bench.store.existing_path(P("a.md")),
        lambda: bench.store.commit(CHANGES, author="agent"),
    ):
        with pytest.raises(VaultLostError):
            work()
    assert not bench.root.exists()
    aside.rename(bench.root)
    bench.store.commit(CHANGES, author="agent")
    assert bench.files() == NEW


def test_a_commit_interrupted_by_a_lost_vault_is_recovered_later(bench: StoreBench, errors: list[str]):
    errors.append("could not roll back a failed commit")
    aside = bench.folder / "aside"

    def unplug(seen: str) -> None:
        if seen == "put b.md":
            bench.root.rename(aside)

    bench.hook = unplug
    with pytest.raises((VaultLostError, ConflictError)):
        bench.store.commit(CHANGES, author="agent")
        bench.store.recover()
    bench.hook = lambda seen: None
    if aside.exists():
        aside.rename(bench.root)
    bench.store.recover()
    assert bench.files() in (OLD, NEW)
    assert bool(bench.journal.commits()) == (bench.files() == NEW)


def test_own_writes_are_recognized_by_hash_until_another_program_writes(bench: StoreBench):
    store = bench.store
    store.commit(CHANGES, author="agent")
    assert store.is_own_write(P("a.md"), content_hash(b"ALPHA\n"))
    assert store.is_own_write(P("move.md"), MISSING_HASH)
    assert store.is_own_write(P("to/moved.md"), content_hash(b"moved\n"))
    assert store.is_own_write(P("gone.md"), MISSING_HASH)
    assert not store.is_own_write(P("other.md"), MISSING_HASH)
    assert not store.is_own_write(P("a.md"), content_hash(b"theirs"))
    assert not store.is_own_write(P("a.md"), content_hash(b"ALPHA\n")), "going back to ours is a change"


def test_a_failed_commit_leaves_no_own_writes(bench: StoreBench):
    (bench.root / "a.md").write_bytes(b"mine\n")
    with pytest.raises(ConflictError):
        bench.store.commit(CHANGES, author="agent")
    assert not bench.store.is_own_write(P("b.md"), content_hash(b"BETA\n"))


def test_leftover_temporary_files_are_removed(bench: StoreBench):
    (bench.root / "sub").mkdir()
    (bench.root / ".~scriptorium-1-0").write_bytes(b"x")
    (bench.root / "sub" / ".~scriptorium-2-0").write_bytes(b"x")
    assert bench.store.cleanup() == 2
    assert bench.files() == OLD


def test_the_status_has_size_and_times(bench: StoreBench):
    os.utime(bench.root / "a.md", (1000, 2000))
    status = bench.store.stat(P("a.md"))
    assert (status.size, status.modified) == (6, 2000)


def test_a_damaged_intent_is_set_aside(bench: StoreBench):
    intents = bench.folder / "data" / "intents"
    (intents / "1-x.ready.json").write_bytes(b"{broken")
    bench.store.commit(CHANGES, author="agent")
    assert bench.files() == NEW
    assert [path.suffix for path in intents.iterdir()] == [".damaged"]
    assert "1-x.ready.damaged" in (bench.store.problem or "")


def test_a_thousand_files_in_one_commit(bench: StoreBench):
    changes = ChangeSet.of(*(Create(P(f"many/{n}.md"), b"%d" % n) for n in range(1000)))
    bench.store.commit(changes, author="agent")
    assert len(list((bench.root / "many").iterdir())) == 1000


def test_a_disk_error_for_one_of_many_files_changes_nothing(
    bench: StoreBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = {f"many {number}.md": f"old {number}\n".encode() for number in range(150)}
    for name, content in old.items():
        (bench.root / name).write_bytes(content)
    changes = ChangeSet.of(*(Update(P(name), content, content.upper()) for name, content in old.items()))
    real, failing = os.fsync, itertools.count()

    def sync(fd: int) -> None:
        if os.fstat(fd).st_size == len(b"old 100\n") and next(failing) == 20:
            raise OSError(errno.EIO, "Input/output error")
        real(fd)

    with monkeypatch.context() as patched:
        patched.setattr("app.vault.file_operations.sync_file", sync)
        with pytest.raises(StorageError, match="Nothing was written"):
            bench.store.commit(changes, author="agent")
    assert {path.name: path.read_bytes() for path in bench.root.iterdir()} == {**OLD, **old}
    bench.store.commit(changes, author="agent")
    done = {name: content.upper() for name, content in old.items()}
    assert {path.name: path.read_bytes() for path in bench.root.iterdir()} == {**OLD, **done}


def test_folders_that_a_commit_empties_are_removed_and_others_stay(bench: StoreBench):
    (bench.root / "A" / "B").mkdir(parents=True)
    (bench.root / "A" / "B" / "x.md").write_bytes(b"x")
    (bench.root / "C").mkdir()
    (bench.root / "C" / ".kept").write_bytes(b"")
    move = Move(P("A/B/x.md"), P("D/x.md"), b"x", b"x")
    commit = bench.store.commit(ChangeSet.of(move, emptied=("A", "A/B", "C", "No")), author="agent")
    assert not (bench.root / "A").exists() and (bench.root / "C").is_dir()
    plan = bench.journal.plan_undo(
        [commit.id], lambda path: b"x" if (bench.root / str(path)).exists() else None
    )
    bench.store.commit(plan.change_set, author="user")
    assert (bench.root / "A" / "B" / "x.md").read_bytes() == b"x" and not (bench.root / "D").exists()


def test_a_failure_before_the_emptied_folders_are_removed_is_recovered(bench: StoreBench, errors: list[str]):
    errors.append("could not clean up after a commit")
    (bench.root / "A").mkdir()
    (bench.root / "A" / "x.md").write_bytes(b"x")

    def crash(step: str) -> None:
        if step == "remove folder A":
            raise OSError(errno.EIO, "gone")

    bench.hook = crash
    bench.store.commit(
        ChangeSet.of(Move(P("A/x.md"), P("D/x.md"), b"x", b"x"), emptied=("A",)), author="agent"
    )
    assert (bench.root / "A").is_dir()
    bench.hook = lambda name: None
    assert [recovery.is_completed for recovery in bench.store.recover()] == [True]
    assert not (bench.root / "A").exists()


@pytest.mark.parametrize("folder", [".trash", "A/.git", "../x"])
def test_a_hidden_folder_is_never_removed(bench: StoreBench, folder: str):
    with pytest.raises(InvalidPathError):
        bench.store.commit(ChangeSet.of(Create(P("n.md"), b"n"), emptied=(folder,)), author="agent")
    bench.check_untouched()


def test_the_files_of_a_folder_include_hidden_ones_and_those_of_subfolders(bench: StoreBench):
    (bench.root / "Old" / ".git").mkdir(parents=True)
    for name in ("Old/a.md", "Old/.git/x"):
        (bench.root / name).write_bytes(b"")
    assert sorted(map(str, bench.store.files_in(P("old")))) == ["Old/.git/x", "Old/a.md"]
    assert list(bench.store.files_in(P("No"))) == [] and list(bench.store.files_in(P("a.md"))) == []


def test_a_folder_that_can_not_be_listed_is_no_empty_folder(
    bench: StoreBench, monkeypatch: pytest.MonkeyPatch
):
    (bench.root / "Old").mkdir()

    def refuse(path: object) -> None:
        raise PermissionError(errno.EACCES, "denied")

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(StorageError):
        list(bench.store.files_in(P("Old")))
