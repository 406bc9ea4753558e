"""Notes from templates: the placeholders are filled in, and what is missing is said or asked."""

from __future__ import annotations

from datetime import date

import pytest

from app.agent.transcript import Question
from tests.agent.language.test_dialog import answers, fill, say, state, talk, text
from tests.agent.test_session import SessionConversation

__all__ = ["talk"]
TRIP = "---\ntype: trip\nstart: {{date:YYYY}}\n---\n# {{title}}\n{{cursor}}{{other}}\n"
YEAR = f"{date.today():%Y}"


@pytest.fixture
async def templates(talk: SessionConversation) -> None:
    await fill(talk, **{"Templates/Trip Template": TRIP, "Templates/Book": "By: \n", "Elsewhere": "x\n"})


@pytest.mark.parametrize(
    ("request_text", "path"),
    [
        ("create a note called Tent from the template Trip", "Tent.md"),
        ("create a note Tent using the Trip template in People", "People/Tent.md"),
        ("new note from template Trip called Tent", "Tent.md"),
        ("make a new note called Tent based on the template Trip Template", "Tent.md"),
        ("Erstelle eine Notiz namens Tent aus der Vorlage Trip", "Tent.md"),
    ],
)
async def test_a_note_has_the_filled_template(talk, templates, approver, request_text, path) -> None:
    approver.asked.clear()
    await say(talk, request_text)
    assert text(talk, path) == f"---\ntype: trip\nstart: {YEAR}\n---\n# Tent\n{{{{other}}}}\n"
    assert len(approver.asked) == 1 and state(talk).focus == (path,)


async def test_the_name_of_the_note_is_asked_for(talk, templates) -> None:
    await say(talk, "new note from template Book")
    assert isinstance(talk.items[-1], Question)
    assert talk.items[-1].text == "What should the new note be called?"
    await say(talk, "Dune")
    assert text(talk, "Dune.md") == "By: \n"


async def test_a_tag_is_added_to_the_note(talk, templates) -> None:
    await say(talk, "create a note called Tent from the template Trip tagged camping")
    assert "tags:\n  - camping" in text(talk, "Tent.md") and "type: trip" in text(talk, "Tent.md")


@pytest.mark.parametrize(
    ("request_text", "answer"),
    [
        (
            "create a note called Tent from the template Elsewhere",
            "The folder Templates has no template “Elsewhere”. Nothing was created.",
        ),
        (
            "create a note called Tent from the template",
            "Name a template in the folder Templates. Nothing was created.",
        ),
        (
            "Erstelle eine Notiz namens Zelt aus der Vorlage Nichts",
            "Der Ordner Templates hat keine Vorlage „Nichts“. Es wurde nichts erstellt.",
        ),
    ],
)
async def test_a_missing_template_is_refused_at_once(talk, templates, approver, request_text, answer) -> None:
    approver.asked.clear()
    await say(talk, request_text)
    assert answers(talk)[-1] == answer and not approver.asked


async def test_a_vault_without_templates_says_so(talk, approver) -> None:
    await say(talk, "create a note called Tent from the template Trip")
    assert answers(talk)[-1] == "This vault has no folder of templates. Nothing was created."
    assert not approver.asked


async def test_commands_of_templater_are_not_run_and_the_answer_says_so(talk) -> None:
    await fill(talk, **{"Templates/Day": "<% tp.date.now() %>\n"})
    await say(talk, "create a note called Monday from the template Day")
    assert text(talk, "Monday.md") == "<% tp.date.now() %>\n"
    assert any("were copied but not run" in answer for answer in answers(talk))


async def test_quoted_words_are_the_name_of_a_note(talk, templates) -> None:
    await say(talk, 'create a note called "Ideas from the template Trip"')
    assert text(talk, "Ideas from the template Trip.md") == "# Ideas from the template Trip\n"
