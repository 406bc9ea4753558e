"""The category filesystem: free in the vault, with approval outside, refused at forbidden locations."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from app import paths
from app.permissions.approval import Approved, Denied, Effect
from app.permissions.caller import Caller, CallerKind
from app.permissions.scope import Operation
from app.toolkit.call import Call
from app.toolkit.file_reader import MAX_FILE_BYTES, WALK_TIMEOUT_S, WalkLimits, walk
from tests.support.private_notes import CANARY, VARIANTS, written

MODEL = Caller(CallerKind.DESKTOP_AGENT, "Model")
PRIVATE = "Journal/Letters (private).md"
PIPES = hasattr(os, "mkfifo")


async def call(workspace, tool, /, **arguments):
    return await workspace.runner.run(Call.of(tool, arguments, MODEL))


def listed_paths(outcome) -> list[str]:
    assert outcome.success, outcome.error
    return [entry["path"] for entry in outcome.result["entries"]]


@pytest.fixture
def outside_folder(tmp_path: Path) -> Path:
    """A folder outside the vault: /Papers with two texts, a picture, and a folder below."""
    folder = tmp_path / "Papers"
    (folder / "Deep" / "Deeper").mkdir(parents=True)
    (folder / "one.txt").write_text("first line\nsecond treasure\nthird\n")
    (folder / "Deep" / "two.TXT").write_text("another Treasure\n")
    (folder / "Deep" / "Deeper" / "three.txt").write_text("treasure\n")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\0\0treasure")
    return folder


# In the vault


async def test_in_the_vault_nothing_is_asked_and_nothing_taints(workspace, approver):
    for tool, arguments in [
        ("find", {"pattern": "*.md"}),
        ("directory_list", {"path": "People"}),
        ("file_read", {"path": "Events/Trial of H4.md"}),
        ("grep", {"pattern": "clock"}),
    ]:
        outcome = await call(workspace, tool, **arguments)
        assert outcome.success and not outcome.untrusted
    assert not approver.asked


async def test_find_by_name_path_kind_and_depth(workspace):
    assert listed_paths(await call(workspace, "find", pattern="trial*")) == ["Events/Trial of H4.md"]
    assert "Events" in listed_paths(await call(workspace, "find", pattern="*", kind="folder"))
    assert listed_paths(await call(workspace, "find", pattern="Events/*act.md")) == [
        "Events/Longitude Act.md"
    ]
    assert listed_paths(await call(workspace, "find", pattern="trial*", depth=1)) == []
    outcome = await call(workspace, "find", pattern="*.md", limit=2)
    assert (
        len(listed_paths(outcome)) == 2
        and not outcome.result["complete"]
        and "first 2" in outcome.result["left_out"][-1]
    )


async def test_lines_of_a_file_are_counted_from_zero(workspace, sample_vault):
    (sample_vault / "lines.txt").write_text("a\nb\nc\nd")
    outcome = await call(workspace, "file_read", path="lines.txt", offset=1, limit=2)
    assert outcome.result["text"] == "b\nc\n" and outcome.result["total_lines"] == 4
    past = await call(workspace, "file_read", path="./lines.txt", offset=9)
    assert past.result["text"] == "" and past.result["lines"] == 0


async def test_private_notes_do_not_exist_for_a_model(workspace, sample_vault):
    (sample_vault / "Fresh.md").write_text("---\nai: private\n---\nthe treasure\n")  # Not indexed yet.
    assert PRIVATE not in listed_paths(await call(workspace, "directory_list", path="Journal"))
    assert "Fresh.md" not in listed_paths(await call(workspace, "find", pattern="fresh*"))
    outcome = await call(workspace, "grep", pattern="treasure|private")
    assert not {"Fresh.md", PRIVATE} & {hit["path"] for hit in outcome.result["matches"]}
    for path in ("Fresh.md", PRIVATE, str(sample_vault / PRIVATE)):
        assert (await call(workspace, "file_read", path=path)).error["type"] == "not_found"
        assert (await call(workspace, "grep", pattern="x", path=path)).error["type"] == "not_found"
    me = await workspace.runner.run(Call.of("file_read", {"path": PRIVATE}, Caller.user()))
    assert me.success


async def test_programs_own_data_is_neither_listed_nor_read(workspace, sample_vault):
    for folder in (".git", ".obsidian", ".scriptorium"):
        (sample_vault / folder).mkdir(exist_ok=True)
        (sample_vault / folder / "config.txt").write_text("treasure")
        outcome = await call(workspace, "file_read", path=f"{folder}/config.txt")
        assert outcome.error["type"] == "permission_denied"
    assert not [
        path for path in listed_paths(await call(workspace, "find", pattern="config*")) if path[0] == "."
    ]
    assert not (await call(workspace, "grep", pattern="^treasure$")).result["matches"]


async def test_a_binary_file_is_reported_and_not_shown(workspace, sample_vault):
    (sample_vault / "blob.bin").write_bytes(bytes(range(16)) + b"treasure")
    outcome = await call(workspace, "file_read", path="blob.bin")
    assert outcome.result["binary"] and outcome.result["text"] == "" and "not a text file" in outcome.message
    second_outcome = await call(workspace, "grep", pattern="treasure", files="*.bin")
    assert second_outcome.result["matches"] == [] and second_outcome.result["left_out"] == [
        "blob.bin: not text"
    ]


async def test_a_file_over_the_cap_is_not_read(workspace, sample_vault):
    with (sample_vault / "large.txt").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    assert (await call(workspace, "file_read", path="large.txt")).error["type"] == "limit"
    outcome = await call(workspace, "grep", pattern="x", files="large*")
    assert outcome.result["left_out"] == ["large.txt: larger than 10 MiB"]


@pytest.mark.parametrize("arguments", [{"depth": 11}, {"limit": 1001}, {"kind": "socket"}, {"pattern": ""}])
async def test_bounds_are_in_the_schema(workspace, arguments):
    outcome = await call(workspace, "find", **{"pattern": "*", **arguments})
    assert outcome.error["type"] == "invalid_parameters"


async def test_no_pattern_is_slow_and_unsupported_ones_are_errors(workspace, sample_vault):
    (sample_vault / "slow.txt").write_text("a" * 50_000 + "\n")
    assert (await call(workspace, "grep", pattern="(a+)+$b", files="slow.txt")).success
    refused = await call(workspace, "grep", pattern="(?=a)b")
    assert refused.error["type"] == "invalid_parameters" and "look-around" in refused.message


def test_a_walk_ends_when_its_time_is_up(outside_folder: Path):
    times = iter([0.0, 1.0, 2.0, *[WALK_TIMEOUT_S + 1] * 20])
    bounds = WalkLimits(clock=lambda: next(times))
    assert len(list(walk(str(outside_folder), bounds))) == 2
    assert bounds.left_out == [f"files not reached within {WALK_TIMEOUT_S:g} s"]


# Outside


async def test_a_new_folder_outside_is_asked_about_even_where_reading_outside_is_allowed(
    workspace, approver, outside_folder
):
    workspace.grants.set_session(Operation.READ, on=True)
    outcome = await call(workspace, "file_read", path=str(outside_folder / "one.txt"))
    assert outcome.success and outcome.untrusted and "second treasure" in outcome.result["text"]
    (request,) = approver.asked
    assert isinstance(request.proposal, Effect)
    assert ("folder", str(outside_folder)) in request.proposal.arguments and request.scope.outside == (
        str(outside_folder),
    )
    second_outcome = await call(workspace, "find", pattern="*.txt", path=str(outside_folder))
    assert second_outcome.untrusted and len(approver.asked) == 1
    assert sorted(Path(path).name for path in listed_paths(second_outcome)) == [
        "one.txt",
        "three.txt",
        "two.TXT",
    ]
    await call(workspace, "directory_list", path=str(outside_folder.parent))
    assert len(approver.asked) == 2


async def test_a_denial_prevents_reading(workspace, approver, outside_folder):
    approver.answers = [Denied("not these")]
    outcome = await call(workspace, "grep", pattern="treasure", path=str(outside_folder))
    assert outcome.denied and outcome.words == "not these" and "treasure" not in str(outcome.result)


async def test_existence_is_not_revealed_before_approval(workspace, approver, outside_folder):
    approver.answers = [Denied()]
    existing = await call(workspace, "file_read", path=str(outside_folder / "one.txt"))
    not_there = await call(workspace, "file_read", path=str(outside_folder / "none.txt"))
    assert existing.as_dict() == not_there.as_dict()


async def test_grep_and_lists_outside(workspace, outside_folder):
    outcome = await call(workspace, "grep", pattern="TREASURE", path=str(outside_folder), files="*.txt")
    assert [(Path(hit["path"]).name, hit["line"]) for hit in outcome.result["matches"]] == [
        ("one.txt", 2),
        ("two.TXT", 1),
        ("three.txt", 1),
    ]
    cased = await call(workspace, "grep", pattern="Treasure", path=str(outside_folder), case_sensitive=True)
    assert [Path(hit["path"]).name for hit in cased.result["matches"]] == ["two.TXT"]
    second_outcome = await call(workspace, "grep", pattern="third", path=str(outside_folder / "one.txt"))
    assert second_outcome.result["matches"][0]["line"] == 3
    names = listed_paths(await call(workspace, "directory_list", path=str(outside_folder), pattern="*.png"))
    assert names == [str(outside_folder / "picture.png")]


async def test_the_approval_of_a_link_names_its_target(workspace, approver, outside_folder, sample_vault):
    (sample_vault / "way out").symlink_to(outside_folder)
    (sample_vault / "out.txt").symlink_to(outside_folder / "one.txt")
    approver.answers = [Denied()]
    for path in ("way out/one.txt", "out.txt"):
        assert (await call(workspace, "file_read", path=path)).denied
        assert approver.asked[-1].scope.outside == (str(outside_folder),)
    assert (await call(workspace, "directory_list", path="way out")).denied
    kinds = {e["path"]: e["kind"] for e in (await call(workspace, "directory_list")).result["entries"]}
    assert kinds["way out"] == kinds["out.txt"] == "link"
    assert not (await call(workspace, "grep", pattern="treasure")).result["matches"]


async def test_a_link_outside_is_not_followed_out_of_the_folder(workspace, outside_folder, tmp_path):
    (tmp_path / "Elsewhere").mkdir()
    (tmp_path / "Elsewhere" / "secret.txt").write_text("treasure")
    (outside_folder / "link").symlink_to(tmp_path / "Elsewhere")
    (outside_folder / "file.txt").symlink_to(tmp_path / "Elsewhere" / "secret.txt")
    outcome = await call(workspace, "grep", pattern="treasure", path=str(outside_folder))
    assert "secret" not in str(outcome.result) and "file.txt" not in str(outcome.result)


async def test_a_link_created_after_the_approval_is_not_followed(
    workspace, approver, outside_folder, tmp_path
):
    (tmp_path / "Elsewhere").mkdir()
    (tmp_path / "Elsewhere" / "one.txt").write_text("not approved")

    def swap(request):
        outside_folder.rename(tmp_path / "Moved")
        outside_folder.symlink_to(tmp_path / "Elsewhere")
        return Approved(request.proposal)

    approver.answers = [swap]
    outcome = await call(workspace, "file_read", path=str(outside_folder / "one.txt"))
    assert not outcome.success and "not approved" not in str(outcome.as_dict())


async def test_a_walk_outside_does_not_enter_the_vault_or_hidden_folders(
    workspace, sample_vault, outside_folder
):
    (outside_folder / ".cache").mkdir()
    (outside_folder / ".cache" / "x.txt").write_text("treasure")
    top = sample_vault.parent
    outcome = await call(workspace, "find", pattern="*", path=str(top), depth=10)
    assert not [path for path in listed_paths(outcome) if path.startswith(f"{sample_vault}/")]
    assert not [path for path in listed_paths(outcome) if "/.cache/" in path]
    assert any("hidden folders" in said for said in outcome.result["left_out"])


CLIMBING = ("../secret.txt", "a/../../b", "..", "x\0y")
CLOSED = ("/proc/self/environ", "/dev/stdin", "/sys/kernel", "~/.ssh/id_rsa", "/somewhere/.gnupg/x")
OF_OTHER_SYSTEMS = ("CON", "aux.txt", "C:\\secrets.txt", "\\\\server\\share", "\\\\?\\C:\\x")


async def test_a_null_byte_is_named_as_the_reason(workspace):
    outcome = await call(workspace, "file_read", path="x\0y")
    assert "null byte" in outcome.error["message"] and "'..'" not in outcome.error["message"]


@pytest.mark.skipif(sys.platform == "win32", reason="these are paths of Unix")
@pytest.mark.parametrize(
    ("tool", "more"),
    [("file_read", {}), ("directory_list", {}), ("grep", {"pattern": "x"}), ("find", {"pattern": "x"})],
)
async def test_forbidden_locations_are_refused_without_a_question(workspace, approver, tool, more):
    for path in (*CLIMBING, *CLOSED, *OF_OTHER_SYSTEMS):
        outcome = await call(workspace, tool, path=path, **more)
        expected = "permission_denied" if path in CLOSED else "invalid_parameters"
        assert outcome.error["type"] == expected, path
    assert not approver.asked


async def test_the_apps_own_data_is_refused(workspace, approver):
    for folder in paths.app_folders():
        outcome = await call(workspace, "directory_list", path=str(folder))
        assert outcome.error["type"] == "permission_denied" and not approver.asked


@pytest.mark.skipif(not PIPES, reason="this system has no named pipes")
async def test_pipes_and_device_links_do_not_block(workspace, outside_folder, sample_vault):
    os.mkfifo(outside_folder / "pipe")
    (outside_folder / "zero").symlink_to("/dev/zero")
    (sample_vault / "zero.txt").symlink_to("/dev/zero")
    assert (await call(workspace, "file_read", path=str(outside_folder / "pipe"))).error is not None
    for path in (str(outside_folder / "zero"), "zero.txt"):
        assert (await call(workspace, "file_read", path=path)).error["type"] == "permission_denied"
    outcome = await call(workspace, "grep", pattern="third", path=str(outside_folder))
    assert len(outcome.result["matches"]) == 1


async def test_a_missing_file_or_folder_is_an_error(workspace, outside_folder):
    for path in ("none.txt", str(outside_folder / "none.txt")):
        assert (await call(workspace, "file_read", path=path)).error["type"] == "not_found"
        assert not (await call(workspace, "directory_list", path=path)).success


# Private notes outside the vault


@pytest.fixture
def notes_outside(outside_folder: Path) -> Path:
    """A folder outside the vault with a public note, every private one, and a link to one."""
    (outside_folder / "public.md").write_text(f"{CANARY[:6]} in public\n", "utf-8")
    for number, note in enumerate(VARIANTS.values()):
        ending = (".md", ".markdown", ".MD")[number % 3]
        (outside_folder / "Deep" / f"{CANARY} {number}{ending}").write_bytes(written(note))
    (outside_folder / "large.md").write_bytes(written(VARIANTS["plain"]) + b"x" * MAX_FILE_BYTES)
    (outside_folder / "public link.txt").symlink_to(outside_folder / "Deep" / f"{CANARY} 0.md")
    return outside_folder


def without(outcome, *names: str) -> str:
    """Return the whole answer without the caller's own input."""
    text = repr((outcome.success, outcome.result, outcome.message, outcome.error, outcome.details))
    for name in names:
        text = text.replace(name, "NAME")
    return text


async def test_private_notes_outside_do_not_exist_for_a_model(workspace, notes_outside):
    top = str(notes_outside)
    second_outcome = await call(workspace, "find", pattern="*.md", path=top)
    assert [Path(path).name for path in listed_paths(second_outcome)] == ["public.md"]
    for outcome in (
        second_outcome,
        await call(workspace, "directory_list", path=f"{top}/Deep"),
        await call(workspace, "grep", pattern="xyzzy", path=top),
        await call(workspace, "file_read", path=f"{top}/public.md"),
    ):
        assert outcome.success and CANARY not in without(outcome)
    assert "in public" in without(await call(workspace, "grep", pattern="xyzzy", path=top))


async def test_a_private_note_outside_is_answered_as_one_that_is_absent(workspace, notes_outside):
    absent = str(notes_outside / "Deep" / "absent.md")
    others = {"file_read": {}, "grep": {"pattern": "canary"}, "diff": {"other": "Events/Trial of H4.md"}}
    hidden = [notes_outside / "large.md", notes_outside / "public link.txt"]
    hidden += [path for path in (notes_outside / "Deep").iterdir() if CANARY in path.name]
    assert len(hidden) == len(VARIANTS) + 2
    for tool, arguments in others.items():
        like_absent = without(await call(workspace, tool, path=absent, **arguments), absent)
        for path in hidden:
            outcome = await call(workspace, tool, path=str(path), **arguments)
            assert without(outcome, str(path)) == like_absent, path


async def test_the_user_reads_private_notes_outside(workspace, notes_outside):
    path = str(notes_outside / "Deep" / f"{CANARY} 0.md")
    outcome = await workspace.runner.run(Call.of("file_read", {"path": path}, Caller.user()))
    assert outcome.success and CANARY in outcome.result["text"]
