"""The agent asks about a value that may mean another one: a link, a list, a sum, a day or a name."""

from __future__ import annotations

from datetime import datetime

import pytest

from app.agent.transcript import Question
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import fill, say, state, talk, text

__all__ = ["talk"]
NOW = datetime(2026, 11, 29, 12)
ORLANDO = '---\nauthor: "[[Virginia Woolf]]"\ntopics: ["[[Family]]"]\nhours: 5\npaid: 3.5\n---\n'


async def fill_books(talk) -> None:
    await fill(
        talk,
        Books__Orlando=ORLANDO,
        Books__Ulysses='---\nauthor: "[[James Joyce]]"\ntopics: ["[[Memory]]", "[[Family]]"]\n---\n',
        **{"James Joyce": "", "Virginia Woolf": "", "Books__Empty": ""},
    )


@pytest.mark.parametrize(
    ("request_text", "first", "last"),
    [
        # A part of a known value
        ("set author of Orlando to Joyce", "value=[[James Joyce]]", "value=Joyce"),
        ("set author of Orlando to woolf", "value=[[Virginia Woolf]]", "value=woolf"),
        # A German noun may be a name or an ordinary word.
        ("setze author von Orlando auf Unbekannt", "value=Unbekannt", "value=[[Unbekannt]]"),
        # Lists
        (
            "set topics of Orlando to Family and Memory",
            "value=[[Family]],[[Memory]]",
            'value="Family and Memory"',
        ),
        (
            "set author of Orlando to Joyce and Woolf",
            "value=[[James Joyce]],[[Virginia Woolf]]",
            'value="Joyce and Woolf"',
        ),
        (
            "setze topics von Orlando auf Family und Memory",
            "value=[[Family]],[[Memory]]",
            'value="Family und Memory"',
        ),
        # Sums
        ("add 5 hours to Orlando", "key=hours value=10", "append"),
        ("add 1.5 hours to Orlando", "key=hours value=6.5", 'append [@Books/Orlando] text="1.5 hours"'),
        ("add hours 5.5 to Orlando", "key=hours value=5.5", "key=hours value=5.5"),
        ("add 5 to the hours of Orlando", "key=hours value=10", "key=hours value=5"),
        # Numbers
        ("set hours of Orlando to 51.000", "value=51.0", "value=51000"),
        # Names
        ("rename Orlando to Orlando 24/7", 'new_name="Orlando 24-7"', 'new_name="Orlando 24/7"'),
        ('create a note "Hinges 3/4 inch" in Books', 'name="Hinges 3-4 inch"', 'name="Hinges 3/4 inch"'),
        ("create note Oil/wax", "name=Oil-wax", "name=Oil/wax"),
        # Days
        ("add a task to Empty: pay by 1/3/2027", "2027-01-03", "2027-03-01"),
        ("neue Aufgabe in Empty: zahlen bis 1/3/2027", "2027-03-01", "2027-01-03"),
        (
            "add a task to Empty: meet Ann on 6 December 2031 at 11",
            "meet Ann on 6 December 2031 at 11",
            "meet Ann at 11 📅 2031-12-06",
        ),
        (
            "neue Aufgabe in Empty: Ann treffen am 6. Dezember 2031 um 11 Uhr",
            "Ann treffen am 6. Dezember 2031 um 11 Uhr",
            "Ann treffen um 11 Uhr 📅 2031-12-06",
        ),
    ],
)
async def test_another_value_is_offered(talk, request_text, first, last) -> None:
    await fill_books(talk)
    await say(talk, request_text)
    assert not state(talk).changes
    offered = [choice.replace('"[[', "[[").replace(']]"', "]]") for choice in choices(talk)]
    assert first in offered[0], offered
    assert last in offered[-1], offered


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("set paid of Orlando to 7.5.", "paid: 7.5"),
        ("setze paid von Orlando auf 7.5.", "paid: 7.5"),
        ("set read of Orlando to 7.5 please.", "read: 7.5"),
        ("set hours of Orlando to 51,000", "hours: 51000"),
    ],
)
async def test_numbers_are_written_as_in_the_language_of_the_request(talk, request_text, line) -> None:
    await fill_books(talk)
    await say(talk, request_text)
    assert line in text(talk, "Books/Orlando.md").splitlines()


async def test_dots_between_groups_of_three_digits_are_no_decimal_points_in_german(talk) -> None:
    await fill_books(talk)
    await say(talk, "setze hours von Orlando auf 51.000")
    offered = [choice for choice in choices(talk) if "key=hours" in choice]
    assert [choice.rpartition("value=")[2] for choice in offered] == ["51000"]


async def test_a_compared_number_and_a_name_before_a_full_stop_are_no_days(talk) -> None:
    await fill_books(talk)
    assert (await say(talk, "find notes with paid under 4.5.")).results == ("Books/Orlando.md",)
    await say(talk, "create a note called Version 2.5.")
    assert text(talk, "Version 2.5.md") == "# Version 2.5\n"


async def test_a_day_before_a_full_stop_may_be_the_value_of_a_day(talk) -> None:
    await fill(talk, Chair="---\nbought: 2026-01-02\n---\n")
    await say(talk, "set bought of Chair to 31.3.")
    assert choices(talk)[0].endswith("-03-31")


async def test_the_chosen_value_is_set_as_shown(talk) -> None:
    await fill_books(talk)
    await say(talk, "set topics of Orlando to Family and Memory")
    await say(talk, f"= {choices(talk)[0]}")
    content = text(talk, "Books/Orlando.md")
    assert "[[Family]]" in content and "[[Memory]]" in content and "Family and Memory" not in content
    await say(talk, "setze author von Orlando auf Unbekannt")
    await say(talk, f"= {choices(talk)[0]}")
    assert 'author: "Unbekannt"' in text(talk, "Books/Orlando.md")


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("add a task to Empty: call Ann, please", "call Ann"),
        ("add a task to Empty: call Ann by 2031-12-04 please", "call Ann 📅 2031-12-04"),
        ("neue Aufgabe in Empty: Ann anrufen bis 4.12.2031, bitte", "Ann anrufen 📅 2031-12-04"),
        ("add a task to Empty: call Ann by 4.12.2031", "call Ann 📅 2031-12-04"),
    ],
)
async def test_a_task_has_its_day_and_no_courtesy(talk, request_text, line) -> None:
    await fill_books(talk)
    await say(talk, request_text)
    assert text(talk, "Books/Empty.md") == f"- [ ] {line}\n"


@pytest.mark.parametrize(
    ("request_text", "task"),
    [
        ("add a task: off on Friday", "off"),
        ("add a task to Errands: back on Monday", "back"),
        ("füge eine Aufgabe zu Errands hinzu: zurück am Montag", "zurück"),
    ],
)
async def test_a_new_task_may_begin_like_a_postponement(talk, request_text, task) -> None:
    await fill(talk, Errands="- [ ] call Ann 📅 2031-12-01\n")
    await say(talk, "open Errands", request_text)
    assert text(talk, "Errands.md").startswith(f"- [ ] call Ann 📅 2031-12-01\n- [ ] {task}")


@pytest.mark.parametrize(
    ("request_text", "offered"),
    [
        # Explicit links are a list, and links are items of one.
        ("set topics of Orlando to [[Family]] and [[Memory]]", "value=[[Family]],[[Memory]]"),
        ("set topics of Orlando to [[Family]] and Memory", "value=[[Family]],[[Memory]]"),
        # Obsidian's own lists
        ("set aliases of Orlando to Orlando Novel and Biography", "value=Orlando Novel,Biography"),
        # Leading zeros, in each step
        (
            "set code of Orlando to 0815 and shelf to 007",
            "value=0815 | set_property [these] key=shelf value=007",
        ),
        ("set shelf of Orlando to 007", "key=shelf value=007"),
        # The words of the request stay an option.
        ("add 5 hours to Orlando", 'text="5 hours"'),
        ("set author of Orlando to Joyce and Woolf", "value=Joyce and Woolf"),
    ],
)
async def test_a_meaning_is_among_the_options(talk, request_text, offered) -> None:
    await fill_books(talk)
    await say(talk, request_text)
    assert not state(talk).changes
    options = [choice.replace('"[[', "[[").replace(']]"', "]]") for choice in choices(talk)]
    assert len(options) == len(set(options)) <= 4
    assert any(offered in option for option in options) or any(
        offered in option.replace('"', "") for option in options
    ), options


async def test_the_text_of_an_option_is_written_as_shown(talk) -> None:
    await fill_books(talk)
    await say(talk, "set author of Orlando to Woolf")
    assert choices(talk)[-1].endswith("value=Woolf")
    await say(talk, f"= {choices(talk)[-1]}")
    assert "author: Woolf\n" in text(talk, "Books/Orlando.md").replace('"', "")


async def test_a_quoted_text_is_no_checkbox(talk) -> None:
    await fill(talk, A="---\nlit: true\n---\n", B="---\nlit: false\n---\n")
    await say(talk, 'set lit of B to "yes"')
    if choices(talk) if isinstance(talk.items[-1], Question) else ():
        assert choices(talk)[0].endswith("value=yes")
        await say(talk, f"= {choices(talk)[0]}")
    assert 'lit: "yes"' in text(talk, "B.md")


async def test_a_property_keeps_its_link_to_the_same_name(talk) -> None:
    content = '---\nsource: "[[Spice and Ash]]"\n---\n'
    others = {f"Other {number}": f"---\nsource: text {number}\n---\n" for number in range(3)}
    await fill(talk, Dal=content, **others)
    await say(talk, "set source of Dal to Spice and Ash")
    assert text(talk, "Dal.md") == content


async def test_a_part_of_a_name_that_is_added_to_a_list_is_a_question(talk) -> None:
    await fill_books(talk)
    await fill(talk, Memory_of_Water="")
    await say(talk, "add Water to the topics of Orlando")
    assert [choice.rpartition("value=")[2].replace('"', "") for choice in choices(talk)][:2] == [
        "[[Family]],[[Memory of Water]]",
        "[[Family]],[[Water]]",
    ]


@pytest.mark.parametrize(
    ("request_text", "known", "said"),
    [
        ("set urgency of Saw to hoch", "urgency=high", "urgency=hoch"),
        ("setze urgency von Saw auf niedrig", "urgency=low", "urgency=niedrig"),
        ("Setze stage von Saw auf erledigt", "stage=done", "stage=erledigt"),
    ],
)
async def test_the_known_value_that_a_word_translates_is_offered_first(
    talk, request_text, known, said
) -> None:
    await fill(
        talk,
        Saw="---\nurgency: medium\nstage: open\n---\n",
        Vise="---\nurgency: high\nstage: done\n---\n",
        Awl="---\nurgency: low\nstage: open\n---\n",
    )
    await say(talk, request_text)
    assert not state(talk).changes
    assert [choice.partition("key=")[2].replace(" value", "") for choice in choices(talk)] == [known, said]


@pytest.mark.parametrize(
    ("value", "line"), [("urgent", "urgency: urgent"), ("high", "urgency: high"), ('"hoch"', "urgency: hoch")]
)
async def test_a_value_without_a_known_translation_is_set(talk, value, line) -> None:
    await fill(talk, Saw="---\nurgency: medium\n---\n", Vise="---\nurgency: high\n---\n")
    await say(talk, f"set urgency of Saw to {value}")
    assert line in text(talk, "Saw.md").replace('"', "").splitlines()
