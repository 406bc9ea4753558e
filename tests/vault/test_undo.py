"""Undo restores files, keeps later edits, and reports conflicts."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.errors import InvalidParametersError
from app.vault.changes import ChangeSet, Create, Delete, FileChange, Move, Update, content_hash
from app.vault.journal import Journal
from app.vault.path import NotePath
from app.vault.store import NoteStore
from app.vault.undo import UndoPlan

P = NotePath.parse
# In RAM if the system supports that: hundreds of commits, each with several syncs.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class UndoVault:
    def __init__(self, folder: Path) -> None:
        (folder / "vault").mkdir()
        self.root = folder / "vault"
        self.journal = Journal(folder / "data")
        self.store = NoteStore(self.root, self.journal)

    def read(self, path: NotePath) -> bytes | None:
        return self.store.read(path) if self.store.exists(path) else None

    def commit(self, *changes: FileChange) -> int:
        return self.store.commit(ChangeSet.of(*changes), author="agent").id

    def plan(self, *commits: int) -> UndoPlan:
        return self.journal.plan_undo(commits, self.read)

    def undo(self, *commits: int) -> UndoPlan:
        plan = self.plan(*commits)
        assert plan.conflicts == ()
        if plan.change_set:
            self.store.commit(plan.change_set, author="user")
        return plan

    def files(self) -> dict[str, bytes]:
        paths = [path for path in self.root.rglob("*") if path.is_file() and path.parent.name != ".trash"]
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def vault(tmp_path: Path):
    vault = UndoVault(tmp_path)
    yield vault
    vault.journal.close()


def test_undo_of_a_delete_restores_the_note_from_the_trash(vault: UndoVault):
    (vault.root / "a.md").write_bytes(b"1\n")
    inode = (vault.root / "a.md").stat().st_ino
    number = vault.commit(Delete(P("a.md"), b"1\n"))
    assert (vault.root / ".trash" / "a.md").read_bytes() == b"1\n"
    vault.undo(number)
    assert vault.files() == {"a.md": b"1\n"}
    assert (vault.root / "a.md").stat().st_ino == inode
    assert not (vault.root / ".trash").exists()


def test_a_trash_copy_that_was_changed_stays(vault: UndoVault):
    (vault.root / "a.md").write_bytes(b"1\n")
    number = vault.commit(Delete(P("a.md"), b"1\n"))
    (vault.root / ".trash" / "a.md").write_bytes(b"changed\n")
    vault.undo(number)
    assert vault.files() == {"a.md": b"1\n"}
    assert (vault.root / ".trash" / "a.md").read_bytes() == b"changed\n"


def test_undo_of_a_create_moves_the_note_to_the_trash_and_removes_its_folders(vault: UndoVault):
    number = vault.commit(Create(P("x/y/a.md"), b"1\n"))
    vault.undo(number)
    assert vault.files() == {}
    assert not (vault.root / "x").exists()
    assert (vault.root / ".trash" / "a.md").read_bytes() == b"1\n"


def test_a_folder_with_something_of_the_user_stays(vault: UndoVault):
    number = vault.commit(Create(P("x/y/a.md"), b"1\n"))
    (vault.root / "x" / "mine.md").write_bytes(b"mine")
    vault.undo(number)
    assert vault.files() == {"x/mine.md": b"mine"}
    assert not (vault.root / "x" / "y").exists()


def test_a_created_note_that_was_edited_is_a_conflict(vault: UndoVault):
    number = vault.commit(Create(P("a.md"), b"1\n"))
    (vault.root / "a.md").write_bytes(b"1\nmine\n")
    plan = vault.plan(number)
    assert not plan.change_set
    [conflict] = plan.conflicts
    assert (conflict.path, conflict.ours, conflict.theirs_missing) == (P("a.md"), b"1\nmine\n", True)
    vault.store.commit(plan.resolve({P("a.md"): None}), author="user", undoes=plan.commits)
    assert vault.files() == {}
    assert vault.journal.commit(number).undone_by is not None


def test_undo_of_a_move_moves_back_with_what_was_written_since(vault: UndoVault):
    (vault.root / "a.md").write_bytes(b"head\nold\ntail\n")
    number = vault.commit(Move(P("a.md"), P("sub/b.md"), b"head\nold\ntail\n", b"head\nnew\ntail\n"))
    (vault.root / "sub" / "b.md").write_bytes(b"head\nnew\ntail\nmine\n")
    vault.undo(number)
    assert vault.files() == {"a.md": b"head\nold\ntail\nmine\n"}
    assert not (vault.root / "sub").exists()


def test_a_later_move_by_the_user_stays(vault: UndoVault):
    (vault.root / "a.md").write_bytes(b"old\n")
    update = vault.commit(Update(P("a.md"), b"old\n", b"new\n"))
    vault.commit(Move(P("a.md"), P("b.md"), b"new\n", b"new\n"))
    vault.undo(update)
    assert vault.files() == {"b.md": b"old\n"}


def test_a_move_to_a_name_that_is_taken_again_is_a_conflict(vault: UndoVault):
    (vault.root / "a.md").write_bytes(b"1\n")
    number = vault.commit(Move(P("a.md"), P("b.md"), b"1\n", b"1\n"))
    (vault.root / "a.md").write_bytes(b"mine\n")
    plan = vault.plan(number)
    assert not plan.change_set
    assert [conflict.path for conflict in plan.conflicts] == [P("a.md")]
    assert vault.files() == {"a.md": b"mine\n", "b.md": b"1\n"}


def test_later_edits_elsewhere_in_the_note_stay(vault: UndoVault):
    text = b"".join(b"line %d\n" % n for n in range(20))
    (vault.root / "a.md").write_bytes(text)
    number = vault.commit(Update(P("a.md"), text, text.replace(b"line 3\n", b"agent\n")))
    (vault.root / "a.md").write_bytes(text.replace(b"line 3\n", b"agent\n").replace(b"line 15\n", b"mine\n"))
    vault.undo(number)
    assert vault.files() == {"a.md": text.replace(b"line 15\n", b"mine\n")}


def test_a_conflicting_line_shows_both_texts_and_writes_nothing(vault: UndoVault):
    (vault.root / "a.md").write_bytes(b"old\n")
    (vault.root / "b.md").write_bytes(b"old\n")
    number = vault.commit(Update(P("a.md"), b"old\n", b"agent\n"), Update(P("b.md"), b"old\n", b"agent\n"))
    (vault.root / "a.md").write_bytes(b"mine\n")
    plan = vault.plan(number)
    [conflict] = plan.conflicts
    assert (conflict.ours, conflict.theirs, conflict.base) == (b"mine\n", b"old\n", b"agent\n")
    assert plan.change_set.paths == (P("b.md"),)
    vault.store.commit(plan.resolve({P("a.md"): b"both\n"}), author="user", undoes=plan.commits)
    assert vault.files() == {"a.md": b"both\n", "b.md": b"old\n"}
    with pytest.raises(InvalidParametersError):
        plan.resolve({P("c.md"): b""})


def test_undo_of_a_note_that_was_deleted_since_asks(vault: UndoVault):
    (vault.root / "a.md").write_bytes(b"old\n")
    number = vault.commit(Update(P("a.md"), b"old\n", b"new\n"))
    (vault.root / "a.md").unlink()
    plan = vault.plan(number)
    assert not plan.change_set
    assert plan.conflicts[0].ours_missing
    vault.store.commit(plan.resolve({P("a.md"): b"old\n"}), author="user")
    assert vault.files() == {"a.md": b"old\n"}


def test_a_swap_of_two_names_is_undone_in_one(vault: UndoVault):
    (vault.root / "a.md").write_bytes(b"A\n")
    (vault.root / "b.md").write_bytes(b"B\n")
    numbers = [
        vault.commit(Move(P("a.md"), P("t.md"), b"A\n", b"A\n")),
        vault.commit(Move(P("b.md"), P("a.md"), b"B\n", b"B\n")),
        vault.commit(Move(P("t.md"), P("b.md"), b"A\n", b"A\n")),
    ]
    vault.undo(*numbers)
    assert vault.files() == {"a.md": b"A\n", "b.md": b"B\n"}


def test_case_only_moves_are_undone(vault: UndoVault):
    (vault.root / "a.md").write_bytes(b"1\n")
    number = vault.commit(Move(P("a.md"), P("A.md"), b"1\n", b"1\n"))
    assert vault.files() == {"A.md": b"1\n"}
    vault.undo(number)
    assert vault.files() == {"a.md": b"1\n"}


def test_undo_is_undone_and_the_marks_follow(vault: UndoVault):
    number = vault.commit(Create(P("a.md"), b"1\n"))
    vault.undo(number)
    undo = vault.journal.commits(1)[0]
    assert undo.undoes == (number,)
    assert vault.journal.commit(number).undone_by == undo.id
    vault.undo(undo.id)
    assert vault.files() == {"a.md": b"1\n"}
    assert vault.journal.commit(number).undone_by is None
    assert vault.journal.commit(undo.id).undone_by is not None


def test_undoing_twice_changes_nothing(vault: UndoVault):
    (vault.root / "a.md").write_bytes(b"old\n")
    numbers = [
        vault.commit(Update(P("a.md"), b"old\n", b"new\n")),
        vault.commit(Create(P("b.md"), b"b\n")),
        vault.commit(Move(P("b.md"), P("c.md"), b"b\n", b"b\n")),
        vault.commit(Delete(P("c.md"), b"b\n")),
    ]
    vault.undo(*numbers)
    assert not vault.plan(*numbers).change_set


def test_a_name_that_another_file_had_in_between_is_not_followed(vault: UndoVault):
    first = vault.commit(Create(P("a.md"), b"a\n"))
    second = vault.commit(Create(P("b.md"), b"b\n"))
    third = vault.commit(Delete(P("b.md"), b"b\n"))
    fourth = vault.commit(Move(P("a.md"), P("b.md"), b"a\n", b"a\n"))
    for number, expected in (
        (fourth, {"a.md": b"a\n"}),
        (third, {"a.md": b"a\n", "b.md": b"b\n"}),
        (second, {"a.md": b"a\n"}),
        (first, {}),
    ):
        vault.undo(number)
        assert vault.files() == expected


NAMES = ["a.md", "b.md", "c/d.md", "c/e.md", "f/g/h.md", "A.md"]
texts = st.sampled_from([b"one\ntwo\nthree\n", b"one\ntwo\n", b"\xef\xbb\xbfx\r\n"])
contents = st.binary(max_size=6) | texts
actions = st.tuples(st.sampled_from("cudm"), st.sampled_from(NAMES), st.sampled_from(NAMES), contents)
sequences = st.lists(st.lists(actions, min_size=1, max_size=4), min_size=1, max_size=7)


def change_of(files: dict[str, bytes], kind: str, name: str, other: str, content: bytes) -> FileChange | None:
    """Return the change and apply it to these files, if it is valid for them."""
    there = {P(each).key: each for each in files}
    here = there.get(P(name).key)
    if kind == "c":
        if here is not None:
            return None
        files[name] = content
        return Create(P(name), content)
    if here is None:
        return None
    before = files[here]
    if kind == "u":
        files[here] = content
        return Update(P(here), before, content) if content != before else None
    if kind == "d":
        del files[here]
        return Delete(P(here), before)
    if other == here or (P(other).key in there and P(other).key != P(here).key):
        return None
    del files[here]
    files[other] = content if len(content) % 2 else before
    return Move(P(here), P(other), before, files[other])


def run(vault: UndoVault, sequence) -> list[tuple[int, dict[str, bytes]]]:
    """Commit the valid changes; return the number of each commit with the files before it."""
    files = vault.files()
    done = []
    for group in sequence:
        before, changes, keys = dict(files), [], set()
        for action in group:
            trial = dict(files)
            change = change_of(trial, *action)
            if change is None:
                continue
            touched = {change.path.key} | ({change.to.key} if isinstance(change, Move) else set())
            if not touched & keys:
                keys |= touched
                files = trial
                changes.append(change)
        if changes:
            done.append((vault.commit(*changes), before))
            assert vault.files() == files
            assert_consistent(vault)
    return done


def assert_consistent(vault: UndoVault) -> None:
    """Check that the disk matches the journal's last commit, and that all contents are stored."""
    last = vault.journal.commits(1)[0]
    for change in last.changes:
        now = vault.read(change.final_path)
        assert (None if now is None else content_hash(now)) == change.after
        for key in filter(None, (change.before, change.after)):
            assert content_hash(vault.journal.content(key)) == key


quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(sequences)
def test_undoing_all_from_the_last_to_the_first_restores_every_state(sequence):
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        vault = UndoVault(Path(name))
        for number, before in reversed(run(vault, sequence)):
            vault.undo(number)
            assert vault.files() == before
        vault.journal.close()


@quick
@given(sequences)
def test_undoing_all_at_once_restores_the_first_state(sequence):
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        vault = UndoVault(Path(name))
        done = run(vault, sequence)
        if done:
            plan = vault.undo(*[number for number, _ in done])
            assert vault.files() == done[0][1]
            if plan.change_set:
                assert_consistent(vault)
                vault.undo(vault.journal.commits(1)[0].id)
        vault.journal.close()


@quick
@given(sequences, st.integers(0, 6))
def test_undoing_one_restores_its_files_if_nothing_else_touched_them(sequence, pick):
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        vault = UndoVault(Path(name))
        done = run(vault, sequence)
        if done:
            number, before = done[pick % len(done)]
            touched = {path.key for path in vault.journal.commit(number).paths}
            later = {path.key for c in vault.journal.commits() if c.id > number for path in c.paths}
            now = vault.files()
            plan = vault.plan(number)
            if not touched & later:
                vault.undo(number)
                expected = {n: c for n, c in now.items() if P(n).key not in touched}
                expected |= {n: c for n, c in before.items() if P(n).key in touched}
                assert vault.files() == expected
            elif plan.change_set:
                vault.store.commit(plan.change_set, author="user")
                assert_consistent(vault)
        vault.journal.close()


@quick
@given(sequences, st.lists(st.tuples(st.sampled_from(NAMES), st.booleans()), max_size=3), st.data())
def test_no_undo_ever_loses_a_line_that_was_written_since(sequence, edits, data):
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        vault = UndoVault(Path(name))
        done = run(vault, sequence)
        lines = []
        for number, (note, at_the_end) in enumerate(edits):
            if (path := vault.root / note).exists():
                lines.append(b"the user's line %d\n" % number)
                old = path.read_bytes()
                path.write_bytes(old + b"\n" + lines[-1] if at_the_end else lines[-1] + old)
        picked = data.draw(st.sets(st.sampled_from([number for number, _ in done]))) if done else set()
        plan = vault.plan(*picked)
        if plan.change_set:
            vault.store.commit(plan.change_set, author="user")
            assert_consistent(vault)
        everything = b"".join(vault.files().values())
        for line in lines:
            assert line in everything
        for conflict in plan.conflicts:
            assert (vault.read(conflict.path) or b"") == conflict.ours
        vault.journal.close()


def test_a_moved_note_in_conflict_goes_back_to_its_place_with_the_text_that_is_picked(vault: UndoVault):
    vault.commit(Create(P("a.md"), b"1\n2\n"), Create(P("b.md"), b"[[a]]\n"))
    made = vault.commit(
        Move(P("a.md"), P("c.md"), b"1\n2\n", b"1\nTWO\n"), Update(P("b.md"), b"[[a]]\n", b"[[c]]\n")
    )
    vault.commit(Update(P("c.md"), b"1\nTWO\n", b"1\nzwei\n"))
    plan = vault.plan(made)
    (conflict,) = plan.conflicts
    assert (conflict.path, conflict.restored_path) == (P("c.md"), P("a.md"))
    kept = plan.resolve({})
    taken = plan.resolve({P("c.md"): conflict.theirs})
    assert kept.changes[-1] == Move(P("c.md"), P("a.md"), b"1\nzwei\n", b"1\nzwei\n")
    assert plan.resolve({P("c.md"): None}).changes[-1] == Delete(P("c.md"), b"1\nzwei\n")
    vault.store.commit(taken, author="user", undoes=plan.commits)
    assert vault.files() == {"a.md": b"1\n2\n", "b.md": b"[[a]]\n"}
    assert vault.journal.commit(made).undone_by is not None


def test_a_moved_note_in_conflict_stays_where_its_old_place_is_taken(vault: UndoVault):
    vault.commit(Create(P("a.md"), b"1\n2\n"))
    made = vault.commit(Move(P("a.md"), P("c.md"), b"1\n2\n", b"1\nTWO\n"))
    vault.commit(Update(P("c.md"), b"1\nTWO\n", b"1\nzwei\n"), Create(P("a.md"), b"new\n"))
    plan = vault.plan(made)
    (conflict,) = plan.conflicts
    assert conflict.restored_path is None
    assert plan.resolve({P("c.md"): conflict.theirs}).changes == (Update(P("c.md"), b"1\nzwei\n", b"1\n2\n"),)


def test_a_note_moved_twice_in_what_is_undone_goes_back_all_the_way(vault: UndoVault):
    vault.commit(Create(P("a.md"), b"1\n2\n"))
    first = vault.commit(Move(P("a.md"), P("b.md"), b"1\n2\n", b"1\n2\n"))
    second = vault.commit(Move(P("b.md"), P("c.md"), b"1\n2\n", b"1\nTWO\n"))
    vault.commit(Update(P("c.md"), b"1\nTWO\n", b"1\nzwei\n"))
    (conflict,) = vault.plan(first, second).conflicts
    assert conflict.restored_path == P("a.md")
    (conflict,) = vault.plan(second).conflicts
    assert conflict.restored_path == P("b.md")


def test_the_undo_side_of_a_conflict_includes_later_edits_without_conflict(vault: UndoVault):
    lines = b"".join(b"line %d\n" % n for n in range(12))
    vault.commit(Create(P("a.md"), lines))
    changed = lines.replace(b"line 2\n", b"agent\n").replace(b"line 9\n", b"agent too\n")
    made = vault.commit(Update(P("a.md"), lines, changed))
    mine = changed.replace(b"agent\n", b"mine\n") + b"added\n"
    vault.commit(Update(P("a.md"), changed, mine))
    (conflict,) = vault.plan(made).conflicts
    assert conflict.ours == mine
    assert conflict.theirs == lines + b"added\n"


def test_the_undo_of_an_undo_is_called_redo(vault: UndoVault):
    def run(change_set: ChangeSet) -> int:
        return vault.store.commit(change_set, author="user").id

    first = run(ChangeSet.of(Create(P("a.md"), b"1"), summary="Undo: a note of this name"))
    second = run(ChangeSet.of(Create(P("b.md"), b"2"), summary="Create b"))
    summaries = []
    for commits in ([first], [second, first]):
        numbers = commits
        for _ in range(3):
            plan = vault.plan(*numbers)
            summaries.append(plan.change_set.summary)
            numbers = [run(plan.change_set)]
    assert summaries == [
        "Undo: Undo: a note of this name",
        "Redo: Undo: a note of this name",
        "Undo: Undo: a note of this name",
        "Undo 2 changes",
        "Redo 2 changes",
        "Undo 2 changes",
    ]
