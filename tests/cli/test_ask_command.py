"""`scriptorium ask` shows the interpretation and executes it; --json only shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.agent.builtin import BuiltinAgent
from app.agent.language.interpretation.grammar_readings import GUESS_SCORE
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    Interpretation,
    NoteSet,
    PipelineStep,
    Reading,
)
from app.cli.exit_status import ExitStatus
from tests.cli.conftest import Run


def test_the_reading_is_printed_as_json_and_nothing_is_done(run: Run, vault: Path) -> None:
    before = (vault / "Tea.md").read_bytes()
    result = run("ask", "tag Tea with drink and hot", "--json")
    assert result.status == ExitStatus.DONE
    assert result.data["kind"] == "reading" and result.data["reading"] == "add_tag [@Tea] tag=drink,hot"
    assert result.data["steps"] == [{"action": "add_tag", "set": "@Tea", "tag": ["drink", "hot"]}]
    assert (vault / "Tea.md").read_bytes() == before


def test_a_search_is_carried_out(run: Run) -> None:
    result = run("ask", "notes tagged liquid")
    assert result.status == ExitStatus.DONE
    assert "Water" in result.out and "tag:liquid" in result.err


def test_searches_for_the_same_notes_are_run_without_a_question(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = tuple(
        ClarificationOption(query, Reading((PipelineStep("find", NoteSet(query=query)),), 1.0))
        for query in ("tag:liquid", "boils")
    )
    question = Clarification("What do you mean?", options)
    monkeypatch.setattr("app.cli.ask_command.BuiltinAgent.interpret", lambda *_: question)
    result = run("ask", "liquids")
    assert result.status == ExitStatus.DONE
    assert "Water" in result.out and "tag:liquid" in result.err and "What do you mean?" not in result.err


def test_a_change_needs_an_approval(run: Run, vault: Path) -> None:
    assert run("ask", "tag Tea with drink").status == ExitStatus.DENIED
    assert b"drink" not in (vault / "Tea.md").read_bytes()
    assert run("ask", "tag Tea with drink", "--approve", "update").status == ExitStatus.DONE
    assert b"drink" in (vault / "Tea.md").read_bytes()


def test_a_request_that_is_not_understood_is_reported(run: Run) -> None:
    result = run("ask", "flurb the gnarx quickly sideways")
    assert result.status == ExitStatus.NOT_FOUND and "“help” for examples" in result.out + result.err


@pytest.mark.parametrize(
    ("step", "score", "status"),
    [
        (PipelineStep("vault_info"), 0.5, ExitStatus.DONE),
        (PipelineStep("vault_info"), GUESS_SCORE, ExitStatus.DONE),
        (PipelineStep("find", NoteSet(query="osprey")), 0.5, ExitStatus.DONE),
        (PipelineStep("find", NoteSet(query="osprey")), GUESS_SCORE, ExitStatus.NOT_FOUND),
        (PipelineStep("create_note", None, {"name": "Osprey"}), GUESS_SCORE, ExitStatus.DENIED),
    ],
)
def test_only_a_guessed_search_that_finds_nothing_fails(
    run: Run, monkeypatch: pytest.MonkeyPatch, step: PipelineStep, score: float, status: ExitStatus
) -> None:
    async def unchanged(agent: BuiltinAgent, interpretation: Interpretation, *_: object) -> Interpretation:
        return interpretation

    monkeypatch.setattr(BuiltinAgent, "interpret", lambda *_: Reading((step,), score))
    monkeypatch.setattr(BuiltinAgent, "compare_with_vault", unchanged)
    assert run("ask", "osprey").status == status


def test_a_question_about_a_note_shows_the_property_that_it_names(run: Run, vault: Path) -> None:
    (vault / "Kettle.md").write_text("---\nwarranty: 2027-11-12\n---\nBoils.\n", "utf-8")
    assert run("search", "Boils", "--json").status == ExitStatus.DONE
    result = run("ask", "warranty of the Kettle?")
    assert result.status == ExitStatus.DONE and "2027-11-12" in result.out


def test_private_notes_cannot_be_named(run: Run) -> None:
    result = run("ask", "open Secret", "--json")
    assert "Secret.md" not in result.out


def test_an_answer_does_not_depend_on_words_of_private_notes(run: Run, vault: Path) -> None:
    unknown = run("ask", "osprey")
    (vault / "Diary.md").write_text("---\nai: private\n---\nosprey\n", "utf-8")
    assert run("search", "osprey", "--json").status == ExitStatus.DONE
    known = run("ask", "osprey")
    assert known.status == unknown.status == ExitStatus.NOT_FOUND
    assert (known.out, known.err) == (unknown.out, unknown.err)


def test_a_question_is_answered_by_passages_or_not_at_all(run: Run, vault: Path) -> None:
    (vault / "Kettle.md").write_text("The kettle was invented by Anna Weber in 1871 in Bremen.\n", "utf-8")
    result = run("ask", "who invented the kettle?")
    assert result.status == ExitStatus.DONE
    assert "invented by Anna Weber" in result.out and "Kettle.md:1" in result.out
    second_result = run("ask", "who painted the ceiling of the opera?")
    assert (
        second_result.status == ExitStatus.NOT_FOUND
        and "No passage in your notes" in second_result.err
        and not second_result.out
    )


def test_a_day_without_a_month_is_a_question(run: Run, vault: Path) -> None:
    (vault / "Errands.md").write_text("- [ ] call Ann 📅 2031-01-20\n", encoding="utf-8")
    run("search", "Errands")  # the index reads the new note
    result = run("ask", "move the Ann task to the 25th", "--approve", "update")
    assert result.status == ExitStatus.NOT_FOUND
    assert "Which day?" in result.err and "2031-01-25" in result.err
    assert "2031-01-20" in (vault / "Errands.md").read_text(encoding="utf-8")


def test_a_question_names_the_tasks_of_visible_notes(run: Run, vault: Path) -> None:
    task = "- [ ] Paint the gable of the barn\n- [ ] Paint the old gate\n"
    (vault / "Barn.md").write_text(task, encoding="utf-8")
    assert run("search", "Barn", "--json").status == ExitStatus.DONE
    known = run("ask", "gable paint has come, tick it", "--json")
    assert "Paint the gable of the barn" in known.out
    (vault / "Barn.md").write_text(f"---\nai: private\n---\n{task}", encoding="utf-8")
    assert run("search", "Barn", "--json").status == ExitStatus.DONE
    assert "Paint the gable" not in run("ask", "gable paint has come, tick it", "--json").out
