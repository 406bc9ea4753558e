"""A crash leaves the old or the new file; a damaged file is restored from its last good version."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.storage import files
from app.storage.files import DurableFile, replacing, to_json, write_atomic


def parse(content: bytes) -> list[int]:
    return [int(one) for one in json.loads(content)]


@pytest.fixture
def kept(tmp_path: Path) -> DurableFile[list[int]]:
    return DurableFile(tmp_path / "data" / "numbers.json", "The list of numbers", parse, list, "Count again.")


def test_what_is_saved_is_loaded_and_private(kept: DurableFile[list[int]]) -> None:
    kept.save(to_json([1, 2]))
    assert kept.load() == ([1, 2], "")
    assert [stat.S_IMODE(file.stat().st_mode) for file in kept.path.parent.iterdir()] == [0o600, 0o600]
    assert stat.S_IMODE(kept.path.parent.stat().st_mode) == 0o700


def test_a_missing_file_is_empty_and_not_reported(kept: DurableFile[list[int]]) -> None:
    assert kept.load() == ([], "")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=50))
def test_any_content_is_read_or_set_aside_and_reported(kept: DurableFile[list[int]], content: bytes) -> None:
    kept.save(to_json([1, 2]))
    for aside in kept.path.parent.glob("numbers.damaged-*"):
        aside.unlink()
    kept.path.write_bytes(content)
    value, problem = kept.load()
    asides = [one.read_bytes() for one in kept.path.parent.glob("numbers.damaged-*.json")]
    if problem:
        assert (value, asides) == ([1, 2], [content])
        assert kept.load() == ([1, 2], "")
    else:
        assert (value, asides) == (parse(content), [])


def test_without_a_good_version_the_user_is_told_the_consequence(kept: DurableFile[list[int]]) -> None:
    kept.save(to_json([1]))
    kept.path.write_bytes(b"{")
    kept.backup.write_bytes(b"{")
    value, problem = kept.load()
    assert value == []
    assert problem.startswith("The list of numbers could not be read")
    assert problem.endswith("Count again.")


def test_an_edit_by_hand_becomes_the_last_good_version(kept: DurableFile[list[int]]) -> None:
    kept.save(to_json([1]))
    kept.path.write_bytes(b"[1, 2, 3]")
    kept.load()
    kept.path.write_bytes(b"[1, 2, 3")
    assert kept.load()[0] == [1, 2, 3]


def test_a_folder_in_the_place_of_the_file_is_set_aside(kept: DurableFile[list[int]]) -> None:
    (kept.path / "inside").mkdir(parents=True)
    value, problem = kept.load()
    assert (value, "set aside" in problem) == ([], True)
    kept.save(to_json([4]))
    assert kept.load() == ([4], "")


def test_a_read_only_process_leaves_a_damaged_file_alone(kept: DurableFile[list[int]]) -> None:
    kept.save(to_json([1]))
    kept.path.write_bytes(b"{")
    value, problem = kept.load(writable=False)
    assert value == [1]
    assert "not changed" in problem and problem.endswith("The last good version is in effect.")
    assert kept.path.read_bytes() == b"{"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    kept: DurableFile[list[int]], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    kept.save(to_json([1]))
    with monkeypatch.context() as patched:
        patched.setattr(*((os, "fsync") if step == "fsync" else (Path, "replace")), refuse)
        with pytest.raises(OSError, match="No space"):
            kept.save(to_json([2]))
    assert kept.load() == ([1], "")
    assert len(list(kept.path.parent.iterdir())) == 2


def test_content_and_name_are_on_the_disk_in_this_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    replace = Path.replace
    monkeypatch.setattr(
        os, "fsync", lambda fd: steps.append("folder" if stat.S_ISDIR(os.fstat(fd).st_mode) else "file")
    )
    monkeypatch.setattr(Path, "replace", lambda old, new: (steps.append("replace"), replace(old, new))[1])
    write_atomic(tmp_path / "a.json", b"{}")
    assert steps == ["file", "replace", "folder"]


def test_half_a_surrogate_pair_is_kept(tmp_path: Path) -> None:
    assert json.loads(to_json({"name": "\ud800"})) == {"name": "\ud800"}
    assert "é".encode() in to_json({"name": "é"})
    assert files.to_json([1]).endswith(b"\n")


def test_an_export_replaces_a_file_only_if_nothing_fails(tmp_path: Path) -> None:
    target = tmp_path / "export.csv"
    with replacing(target) as fresh:
        fresh.write_text("one")
        assert fresh.suffix == ".csv" and not target.exists()
    with pytest.raises(ZeroDivisionError), replacing(target) as fresh:
        fresh.write_text("half")
        _ = 1 / 0
    assert target.read_text() == "one" and list(tmp_path.iterdir()) == [target]
