"""Rendering of a call's result on a terminal and in a pipe."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pytest

from app.cli import rendering
from app.cli.console import CliConsole
from app.cli.highlighting import highlight, search_terms
from app.toolkit.outcome import ToolOutcome


class TerminalStream(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def rendered(
    result: Mapping[str, object], message: str = "Said.", stream: io.StringIO | None = None
) -> tuple[str, str]:
    out, err = stream or io.StringIO(), io.StringIO()
    rendering.print_result(CliConsole(out, err), ToolOutcome(True, result, message))
    return out.getvalue(), err.getvalue()


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "60")


def test_a_pipe_gets_the_text_alone_and_a_terminal_no_commands() -> None:
    assert rendered({"text": "a\x1b[2J", "path": "A.md"}) == ("a\x1b[2J", "")
    assert rendered({"text": "a\x1b[2J"}, stream=TerminalStream())[0] == "a⟨ESC⟩[2J\n"


def test_a_result_with_only_a_message_prints_the_message() -> None:
    assert rendered({"name": "A", "path": "A.md"}, "Created [[A]].") == ("Created [[A]].\n", "")


def test_warnings_and_reasons_are_printed_with_the_result() -> None:
    out, err = rendered({"summary": "Short.", "reasoning": "by words", "key_points": []})
    assert (out, err) == ("Short.\n", "by words\n")


def test_empty_results_and_failed_commands_are_described() -> None:
    assert rendered({"notes": [], "total": 0}, "0 notes found.")[0] == "0 notes found.\n"
    assert rendered({"entries": [], "complete": True}, "0 files.")[0] == "0 files.\n"
    failed = {"output": "x\n", "exit_code": 2}
    assert rendered(failed, "make exited with status 2.") == ("x\n", "make exited with status 2.\n")


def test_an_empty_text_hides_no_other_field() -> None:
    files = [{"path": "Plan.txt", "state": "in sync"}]
    assert rendered({"text": "", "diff": "", "files": files})[0] == "Plan.txt\tin sync\n"
    assert rendered({"text": None, "files": tuple(files)})[0] == "Plan.txt\tin sync\n"
    status = {"path": "Plan.txt", "label": "file:1:Plan.txt", "state": "in sync", "permission": "append"}
    assert "state\tin sync" in rendered({**status, "text": ""})[0]
    assert rendered({"path": "Plan.txt", "text": ""}, "Added to Plan.txt.")[0] == "Added to Plan.txt.\n"
    assert rendered({"path": "A.md", "text": "", "total_lines": 0, "hash": "0"}) == ("", "")


def test_a_summary_is_shown_with_its_points_evidence_and_synthesis() -> None:
    points = {"summary": "Short.", "node_id": "A.md", "key_points": ["One.", "Two."], "related_count": 0}
    assert rendered(points)[0] == "Short.\nkey_points (2)\nOne.\nTwo.\n"
    around = {"supports": ["[[B]]: yes"], "contradicts": [], "related": ["[[C]]"]}
    text = rendered({"summary": "Short.", "context": around, "synthesis": "More for it."})[0]
    assert text == "Short.\ncontext.supports\t[[B]]: yes\ncontext.related\t[[C]]\nsynthesis\tMore for it.\n"
    long = {"summary": "Short.", "context": {"supports": ["[[B]]: " + "yes " * 20]}}
    assert "context.supports (1)\n[[B]]: yes yes" in rendered(long)[0]
    edge = {"edge_id": "x", "summary": "A cites B.", "evidence": ["E."], "strength_assessment": "weak"}
    assert rendered(edge)[0] == "A cites B.\nstrength_assessment\tweak\nevidence (1)\nE.\n"


def test_a_change_is_described_in_a_sentence_and_its_lists() -> None:
    out = io.StringIO()
    result = {"commits": [7], "paths": ["A.md", "B.md"], "left": 0}
    rendering.print_result(
        CliConsole(out, io.StringIO()), ToolOutcome(True, result, "Undone: A.md, B.md.", commit=8)
    )
    assert out.getvalue() == "Undone: A.md, B.md.\n"
    lists = {"path": "A.md", "rewritten": ["B.md", "C.md"]}
    rendering.print_result(CliConsole(out, io.StringIO()), ToolOutcome(True, lists, "Moved A.md.", commit=9))
    assert out.getvalue().endswith("Moved A.md.\nrewritten (2)\nB.md\nC.md\n")


def test_rows_fit_a_terminal_and_none_of_a_path_is_lost() -> None:
    rows = [{"path": f"Folder/A rather long name of a note, number {n}.md", "size": n} for n in range(3)]
    text, _ = rendered({"notes": rows, "total": 3}, stream=TerminalStream())
    lines = text.splitlines()
    assert all(len(line) <= 60 for line in lines) and lines[0].split() == ["Path", "Size"]
    paths = "".join(line[: line.index("  ")] if "  " in line else line for line in lines[1:])
    assert "".join(paths.split()) == "".join("".join(str(row["path"]).split()) for row in rows)
    assert rendered({"notes": rows, "total": 3})[0].splitlines()[2] == f"{rows[2]['path']}\t2"


def test_facts_and_lists_are_distinguished() -> None:
    result = {"type": "claim", "properties": {"rating": 4}, "tags": ["a", "b"], "created": 1.7e9, "links": []}
    text, _ = rendered(result)
    assert text.splitlines()[:2] == ["type\tclaim", "properties.rating\t4"]
    assert text.splitlines()[2].startswith("created\t2023-") and text.endswith("tags (2)\na\nb\n")
    assert "Properties.rating: 4" in rendered(result, stream=TerminalStream())[0]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ('tea "black cup" -milk tag:drink', ("tea", "black cup")),
        ("line:(one OR two)", ("one", "two")),
        ("path:Ideas", ()),
        ("/(/", ()),
    ],
)
def test_the_words_of_a_search_are_those_it_looks_for_in_texts(query: str, words: tuple[str, ...]) -> None:
    assert search_terms(query) == words


def test_words_are_marked_where_they_begin_a_word_whatever_their_case() -> None:
    text = highlight("Teas and steal TEA", ("tea",))
    assert [text.plain[span.start : span.end] for span in text.spans] == ["Tea", "TEA"]
