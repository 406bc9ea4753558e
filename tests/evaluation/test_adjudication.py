"""Readings that judges call right join the file of requests; the writers' readings stay apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.evaluation.adjudication import import_verdicts
from tests.evaluation.requests import conversations

REQUESTS = """# A comment.
list claims that support H4 => what_supports [@H4]
+ and against => what_supports [@H4] side=contradicts || relations [@H4]

delete it => delete [@H1]
"""
KEY = {
    "0": {"A": ["writer", "what_supports [@H4]"], "B": ["agent", "find [links-to:H4]"]},
    "2": {"A": ["agent", "find [@H1]"], "B": ["control", "list_tags"], "C": ["writer", "delete [@H1]"]},
}


def judge(folder: Path, name: str, verdicts: dict[str, list[str]]) -> None:
    Path(folder, f"verdicts_1_{name}.json").write_text(json.dumps(verdicts))


def test_a_reading_that_all_judges_call_right_is_added(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "requests.txt"
    file.write_text(REQUESTS)
    Path(tmp_path, "key.json").write_text(json.dumps(KEY))
    judge(tmp_path, "x", {"0": ["A", "B"], "2": ["A", "C"]})
    judge(tmp_path, "y", {"0": ["B"], "2": ["C"]})
    import_verdicts(file, tmp_path)
    first, second = (conversation.requests for conversation in conversations(file))
    assert [one.judged for one in (*first, *second)] == [("find [links-to:H4]",), (), ()]
    assert [one.gold for one in (*first, *second)] == [
        ("what_supports [@H4]",),
        ("what_supports [@H4] side=contradicts", "relations [@H4]"),
        ("delete [@H1]",),
    ]
    assert "control: 1 readings, right for all judges 0, for some 0" in capsys.readouterr().out


def test_one_judge_is_not_enough(tmp_path: Path) -> None:
    file = tmp_path / "requests.txt"
    file.write_text(REQUESTS)
    Path(tmp_path, "key.json").write_text(json.dumps(KEY))
    judge(tmp_path, "x", {"0": ["A", "B"]})
    with pytest.raises(SystemExit, match="only one judge"):
        import_verdicts(file, tmp_path)
    assert file.read_text() == REQUESTS
