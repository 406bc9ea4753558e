"""Notes from templates: the placeholders are filled in, and what is missing is said or asked."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from app.agent.language.meaning.notation import PREFIX
from app.agent.transcript import Question
from app.errors import NotFoundError
from app.vault.path import NotePath
from tests.agent.language.meaning.test_dialog import answers, fill, order, say, state, talk, text
from tests.agent.test_session import SessionConversation

__all__ = ["talk"]
TRIP = "---\ntype: trip\nstart: {{date:YYYY}}\n---\n# {{title}}\n{{cursor}}{{other}}\n"
NOW = datetime(2031, 12, 31, 9)


@pytest.fixture
async def templates(talk: SessionConversation) -> None:
    talk.workspace.agent._builtin._requests.now = lambda: NOW
    await fill(talk, **{"Templates/Trip Template": TRIP, "Templates/Book": "By: \n", "Elsewhere": "x\n"})


@pytest.mark.parametrize(
    ("request_text", "path"),
    [
        ("create a note called Tent from the template Trip", "Tent.md"),
        ("create a note Tent using the Trip template in People", "People/Tent.md"),
        ("new note from template Trip called Tent", "Tent.md"),
        ("make a new note called Tent based on the template Trip Template", "Tent.md"),
        ("Erstelle eine Notiz namens Tent aus der Vorlage Trip", "Tent.md"),
        ('plan a holiday: new note "Tent" with the trip template', "Tent.md"),
        ("summer plans: create a note called Tent from the template Trip", "Tent.md"),
    ],
)
async def test_a_note_has_the_filled_template(talk, templates, approver, request_text, path) -> None:
    approver.asked.clear()
    await say(talk, request_text)
    assert text(talk, path) == "---\ntype: trip\nstart: 2031\n---\n# Tent\n{{other}}\n"
    assert len(approver.asked) == 1 and state(talk).focus == (path,)


async def test_the_name_of_the_note_is_asked_for(talk, templates) -> None:
    await say(talk, "new note from template Book")
    assert isinstance(talk.items[-1], Question)
    assert talk.items[-1].text == "What should the new note be called?"
    await say(talk, "Dune")
    assert text(talk, "Dune.md") == "By: \n"


async def test_the_name_of_a_note_does_not_contain_its_template(talk, templates) -> None:
    await say(talk, "erstelle eine Notiz Zelt aus der Vorlage Trip und tagge sie mit camp")
    assert all("name=Zelt " in choice.reply for choice in talk.items[-1].choices)


async def test_a_tag_is_added_to_the_note(talk, templates) -> None:
    await say(talk, "create a note called Tent from the template Trip tagged camping")
    assert "tags:\n  - camping" in text(talk, "Tent.md") and "type: trip" in text(talk, "Tent.md")


@pytest.mark.parametrize(
    "request_text",
    [
        "create a note called Tent from the template Trip and tag it camp",
        "erstelle eine Notiz namens Tent aus der Vorlage Trip und tagge sie mit camp",
    ],
)
async def test_a_second_order_changes_the_note_from_the_template(talk, templates, request_text) -> None:
    await order(talk, request_text)
    assert "tags:\n  - camp" in text(talk, "Tent.md") and "type: trip" in text(talk, "Tent.md")


async def test_a_template_and_another_text_are_refused(talk, templates, approver) -> None:
    approver.asked.clear()
    await say(talk, f'{PREFIX} create_note name=Tent template=Templates/Book text="Buy rope"')
    assert "Nothing was created." in answers(talk)[-1] and not approver.asked


@pytest.mark.parametrize("content", [b"line of a template\n" * 20_000, b"x" * 300_000, b"caf\xe9\n"])
async def test_a_template_that_can_not_be_copied_as_it_is_is_refused(talk, approver, content) -> None:
    await fill(talk, **{"Templates/Day": ""})
    (talk.workspace.root / "Templates" / "Day.md").write_bytes(content)
    await talk.workspace.index.scan()
    approver.asked.clear()
    await say(talk, "create a note called Monday from the template Day")
    assert "is too large or not valid UTF-8. Nothing was changed." in answers(talk)[-1]
    assert not approver.asked and NotePath("Monday.md") not in talk.workspace.index.note_paths()


async def test_dates_are_those_of_the_injected_clock_in_the_format_of_obsidian(talk) -> None:
    await fill(talk, **{"Templates/Day": "{{date}}\n"})
    builtin = talk.workspace.agent._builtin
    builtin._requests.now = lambda: NOW
    await say(talk, "create a note called Monday from the template Day")
    assert text(talk, "Monday.md") == "2031-12-31\n"
    folder = talk.workspace.root / ".obsidian"
    folder.mkdir(exist_ok=True)
    (folder / "templates.json").write_text('{"dateFormat": "DD.MM.YYYY"}')
    await say(talk, "create a note called Tuesday from the template Day")
    assert text(talk, "Tuesday.md") == "31.12.2031\n"
    # A model that delegates the request gets the same note.
    assert builtin._public_words().template_settings == builtin._words().template_settings


@pytest.mark.parametrize(
    ("request_text", "answer"),
    [
        (
            "create a note called Tent from the template Elsewhere",
            "The folder Templates has no template “Elsewhere”. Nothing was created.",
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


@pytest.mark.parametrize(
    ("request_text", "path"),
    [
        ("create a note for the book Dune from the book template", "Dune.md"),
        ("create a note for The Book Thief from the book template", "The Book Thief.md"),
        ("create a note for the book of Job from the book template", "the book of Job.md"),
        ("create a book note called Dune from the book template", "Dune.md"),
        ("make a person note for Ann Lee using the book template, in People", "People/Ann Lee.md"),
        ("create a note for Dune from the template for books", "Dune.md"),
        ("make a note for a new book, Dune, from the book template", "Dune.md"),
        ("make a note for a new book called Dune from the book template", "Dune.md"),
        ("leg eine Notiz für das Buch Momo an, mit der Vorlage für Bücher", "Momo.md"),
        ("Erstelle im Ordner People eine Notiz Momo mit der Vorlage Book", "People/Momo.md"),
    ],
)
async def test_the_kind_of_the_note_is_no_part_of_its_name(talk, templates, request_text, path) -> None:
    await say(talk, request_text)
    if isinstance(talk.items[-1], Question):
        assert len(talk.items[-1].choices) == 1
        await say(talk, talk.items[-1].choices[0].reply)
    assert text(talk, path) == "By: \n"


async def test_a_new_folder_that_may_be_a_part_of_the_name_is_asked_for(talk, templates, approver) -> None:
    approver.asked.clear()
    await say(talk, "create a note about the trip to Rome from the template Trip")
    assert isinstance(talk.items[-1], Question) and not approver.asked


@pytest.mark.parametrize(
    "request_text",
    [
        "create a trip note called Rome",
        "create a new trip called Rome",
        "erstelle eine neue Trip Notiz namens Rome",
        "can you make me a note for a new trip called Rome?",
        "leg mir bitte einen neuen Trip an: Rome",
    ],
)
async def test_the_template_of_the_kind_of_a_new_note_is_offered(talk, templates, request_text) -> None:
    await say(talk, request_text)
    assert [choice.reply.removeprefix(PREFIX).strip() for choice in talk.items[-1].choices] == [
        'create_note name=Rome template="Templates/Trip Template"',
        "create_note name=Rome",
    ]
    await say(talk, "1")
    assert text(talk, "Rome.md") == "---\ntype: trip\nstart: 2031\n---\n# Rome\n{{other}}\n"


@pytest.mark.parametrize(
    ("request_text", "path"),
    [
        ("create a note called Oslo from the template Trip", "Trips/Oslo.md"),
        ("create a trip note from the trip template called Oslo", "Trips/Oslo.md"),
        ("create a note called Oslo in People from the template Trip", "People/Oslo.md"),
        ("erstelle eine Notiz namens Oslo aus der Vorlage Trip", "Trips/Oslo.md"),
        ("create a note called Emma from the template Book", "Emma.md"),  # no folder has books
    ],
)
async def test_a_note_from_a_template_is_created_among_its_kind(talk, templates, request_text, path) -> None:
    await fill(talk, Trips__Bergen="")
    await say(talk, request_text)
    assert talk.workspace.store.read(NotePath(path))


@pytest.mark.parametrize(
    ("request_text", "changed"),
    [
        ("create a log entry for today: rain 4, wind north", {"rain: 4", "wind: north"}),
        ("make a log for today: the gauge is broken", {"the gauge is broken"}),
        ("create a log entry for yesterday: rain 9", {"rain: 9"}),
        ("erstelle einen Logbuch Eintrag für heute: rain 4", {"rain: 4"}),
    ],
)
async def test_the_note_of_a_day_is_named_like_the_others(talk, templates, request_text, changed) -> None:
    await fill(talk, **{"Journal/2031-12-30": "---\nrain: 2\nwind: west\n---\n"})
    await order(talk, request_text)
    day = 30 if "yesterday" in request_text else 31
    assert changed <= {*text(talk, f"Journal/2031-12-{day}.md").splitlines()}


@pytest.mark.parametrize(
    "request_text",
    [
        "create a daily note for tomorrow from the book template",
        "Leg eine Tagesnotiz für morgen an mit der Vorlage Book",
    ],
)
async def test_a_daily_note_has_the_name_and_the_folder_of_its_day(talk, templates, request_text) -> None:
    days = {f"Daily/2020-01-{day:02}": "x\n" for day in range(1, 29)}
    await fill(talk, **days)
    await say(talk, request_text)
    assert text(talk, "Daily/2032-01-01.md") == "By: \n"


@pytest.mark.parametrize(
    "request_text",
    [
        "create a daily note for tomorrow from the template Day",
        "erstelle eine Tagesnotiz für morgen aus der Vorlage Day",
    ],
)
async def test_the_daily_note_of_tomorrow_has_its_own_date(talk, request_text) -> None:
    talk.workspace.agent._builtin._requests.now = lambda: NOW
    await fill(talk, Templates__Day="# {{date}}\n", Journal__2026_03_02="x\n")
    await say(talk, request_text)
    tomorrow = f"{NOW.date() + timedelta(days=1)}"
    assert text(talk, f"Journal/{tomorrow}.md") == f"# {tomorrow}\n"


async def test_a_note_about_something_new_of_no_kind_has_no_template(talk, templates) -> None:
    await say(talk, "make a note for a new lamp called Rome")
    assert not any("template" in choice.reply for choice in talk.items[-1].choices)


async def test_an_order_before_a_colon_is_no_introduction(talk, templates) -> None:
    await say(talk, 'add to H1: new note "Tent" with the trip template')
    with pytest.raises(NotFoundError):
        text(talk, "Tent.md")
