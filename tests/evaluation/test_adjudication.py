"""Readings that judges call right join the file of requests; the writers' readings stay apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.evaluation.adjudication import export, import_verdicts
from tests.evaluation.requests import conversations, evaluate

REQUESTS = """# A comment.
list claims that support H4 => what_supports [@H4]
+ and against => what_supports [@H4] side=contradicts || relations [@H4]

delete it => delete [@H1]
"""
KEY = {
    "2": {
        "request": "list claims that support H4",
        "candidates": {"A": ["writer", "what_supports [@H4]"], "B": ["agent", "find [links-to:H4]"]},
    },
    "5": {
        "request": "delete it",
        "candidates": {
            "A": ["agent", "find [@H1]"],
            "B": ["control", "list_tags"],
            "C": ["writer", "delete [@H1]"],
        },
    },
}


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """Return a file of requests, with the key of its export beside it."""
    file = tmp_path / "requests.txt"
    file.write_text(REQUESTS)
    Path(tmp_path, "key.json").write_text(json.dumps(KEY))
    return file


def judge(folder: Path, name: str, verdicts: dict[str, list[str]]) -> None:
    Path(folder, f"verdicts_1_{name}.json").write_text(json.dumps(verdicts))


def test_a_reading_that_all_judges_call_right_is_added_once(
    exported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judge(tmp_path, "x", {"2": ["A", "B"], "5": ["A", "C"]})
    judge(tmp_path, "y", {"2": ["B"], "5": ["C"]})
    for _ in range(2):
        import_verdicts(exported, tmp_path)
        first, second = (conversation.requests for conversation in conversations(exported))
        assert [one.judged for one in (*first, *second)] == [("find [links-to:H4]",), (), ()]
        assert [one.gold for one in (*first, *second)] == [
            ("what_supports [@H4]",),
            ("what_supports [@H4] side=contradicts", "relations [@H4]"),
            ("delete [@H1]",),
        ]
    assert "control: 1 readings, right for all judges 0, for some 0" in capsys.readouterr().out


def test_one_judge_is_not_enough(exported: Path, tmp_path: Path) -> None:
    judge(tmp_path, "x", {"2": ["A", "B"]})
    with pytest.raises(SystemExit, match="only one judge"):
        import_verdicts(exported, tmp_path)
    assert exported.read_text() == REQUESTS


def test_verdicts_about_another_version_of_the_file_are_refused(exported: Path, tmp_path: Path) -> None:
    changed = f"# One line more.\n{REQUESTS}"
    exported.write_text(changed)
    judge(tmp_path, "x", {"2": ["A", "B"]})
    judge(tmp_path, "y", {"2": ["A", "B"]})
    with pytest.raises(SystemExit, match="has changed since the export: line 2"):
        import_verdicts(exported, tmp_path)
    assert exported.read_text() == changed


async def test_the_candidates_of_missed_requests_are_exported(tmp_path: Path, monkeypatch) -> None:
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    file = tmp_path / "requests.txt"
    file.write_text("# vault: sample\nopen H4 => delete [@H4]\n\nopen H1 => open [@H1]\n")
    await export(file, tmp_path, part_size=5)
    (case,) = json.loads((tmp_path / "cases_1.json").read_text("utf-8"))
    key = json.loads((tmp_path / "key.json").read_text("utf-8"))
    assert case["request"] == "open H4" and case["id"] == "2" and key.keys() == {"2"}
    sources = {letter: source for letter, (source, _) in key["2"]["candidates"].items()}
    assert sources.keys() == case["candidates"].keys()
    shown = {sources[letter]: each["reading"] for letter, each in case["candidates"].items()}
    assert "delete" in shown["writer"] and shown["agent"].startswith(("open", "read"))
    assert case["candidates"].keys() >= {"A", "B"}


async def test_a_reading_of_the_judges_counts_but_not_as_the_writers(tmp_path: Path, monkeypatch) -> None:
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    file = tmp_path / "requests.txt"
    file.write_text("# vault: sample\nopen H4 => delete [@H4] ||| open [@H4]\n")
    (score,) = await evaluate(file)
    assert (score.verdict, score.strict) == ("at once", "missed")
