"""Changes of properties: several at once, empty ones, names that no note has, and values added to others."""

from __future__ import annotations

import pytest

from app.agent.language.meaning.notation import PREFIX
from app.agent.transcript import Question
from app.vault.markdown.frontmatter import read_frontmatter
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import OPEN, fill, order, say, talk, text

__all__ = ["talk"]
H4, K1 = "Instruments/H4.md", "Instruments/K1.md"


def properties(talk, path=H4):
    return dict(read_frontmatter(text(talk, path)).properties)


def first_option(talk):
    question = talk.items[-1]
    assert isinstance(question, Question)
    return question.choices[0].reply


@pytest.mark.parametrize(
    "request_",
    [
        "set status to active and priority to high",
        "set status of H4 to active and priority to high",
        "Set status to active and priority to high for H4.",
        "setze status auf active und priority auf high",
    ],
)
async def test_several_properties_are_set_at_once(talk, request_) -> None:
    await say(talk, "open H4", request_)
    assert {"status": "active", "priority": "high"}.items() <= properties(talk).items()


async def test_lines_of_two_notes_are_no_properties(talk) -> None:
    before = text(talk, H4)
    for request in (
        "add milk to H4 and eggs to K1",
        "change brass to oak and gold to silver in H4",
        "set H1 to done and H2 to open",
    ):
        await say(talk, "open H4", request)
        assert text(talk, H4) == before, request


async def test_a_property_is_offered_as_the_request_names_it(talk) -> None:
    await say(talk, f"{PREFIX} set_property [@K1] key=state value=new", "open H4", "set status to active")
    assert "key=status value=active" in first_option(talk)
    await say(talk, "set the property status to active")
    if isinstance(talk.items[-1], Question):
        assert "key=state " not in " ".join(choice.reply for choice in talk.items[-1].choices)


async def test_a_similar_property_of_the_note_itself_is_set(talk) -> None:
    await say(talk, f"{PREFIX} set_property [@H4] key=state value=new", "open H4", "set status to active")
    if isinstance(talk.items[-1], Question):
        await talk.say(first_option(talk), open_note=OPEN)
    assert properties(talk)["state"] == "active"


@pytest.mark.parametrize(
    ("known", "request_", "value"),
    [
        ('value="[[H1]]","[[H2]]"', "add [[K1]] to topics", ["[[H1]]", "[[H2]]", "[[K1]]"]),
        ('value="[[H1]]"', "also add [[K1]] to topics", ["[[H1]]", "[[K1]]"]),
        ('value="[[H1]]"', "set topics to [[H2]] and [[K1]]", ["[[H2]]", "[[K1]]"]),
        ('value="[[H1]]"', "füge [[K1]] zu topics hinzu", ["[[H1]]", "[[K1]]"]),
    ],
)
async def test_a_value_is_added_to_the_others(talk, known, request_, value) -> None:
    await say(talk, f"{PREFIX} set_property [@H4] key=topics {known}", "open H4", request_)
    if isinstance(talk.items[-1], Question):
        await talk.say(first_option(talk), open_note=OPEN)
    assert properties(talk)["topics"] == value


async def test_an_alias_keeps_the_other_one(talk) -> None:
    await say(talk, f"{PREFIX} set_property [@H4] key=aliases value=watch", "open H4")
    await say(talk, 'add the alias "sea watch" to it')
    assert properties(talk)["aliases"] == ["watch", "sea watch"]


async def test_options_that_do_the_same_are_no_question(talk) -> None:
    listed = (await say(talk, "claims")).results
    await say(talk, "tag the first two with priority")
    assert all("priority" in text(talk, path) for path in listed[:2])


@pytest.mark.parametrize(
    "request_", ["give it the topic [[K1]]", "topics is [[K1]]", "topics [[K1]]", "gib ihm das Thema [[K1]]"]
)
async def test_a_new_value_replaces_no_list_at_once(talk, request_) -> None:
    await say(talk, f'{PREFIX} set_property [@H4] key=topics value="[[H1]]","[[H2]]"', "open H4", request_)
    values = [properties(talk)["topics"]]
    if isinstance(talk.items[-1], Question):
        assert values == [["[[H1]]", "[[H2]]"]]
    else:
        assert values in ([["[[H1]]", "[[H2]]"]], [["[[H1]]", "[[H2]]", "[[K1]]"]])


async def test_a_new_value_is_added_to_a_list_first(talk) -> None:
    await say(talk, f'{PREFIX} set_property [@H4] key=topics value="[[H1]]","[[H2]]"', "open H4")
    await say(talk, "topics is [[K1]]")
    assert 'value="[[H1]]","[[H2]]","[[K1]]"' in first_option(talk)


async def test_the_synonym_that_a_note_has_is_meant(talk) -> None:
    await fill(talk, Loan="---\nstate: waiting\n---\n", Trip="---\nstatus: done\n---\n")
    await say(talk, "open Loan", "und den Stand auf done setzen")
    assert properties(talk, "Loan.md") == {"state": "done"}


async def test_a_second_order_adds_no_value(talk) -> None:
    await order(talk, f"{PREFIX} set_property [@H4] key=status value=active", "open H4")
    await order(talk, "set status to done and add the tag brass")
    after = text(talk, H4)
    assert "status: done" in after and "active" not in after and "brass" in after


async def test_an_option_keeps_all_words_of_a_name(talk) -> None:
    await say(talk, "create note Ryokan stay in folder People")
    question = talk.items[-1]
    if isinstance(question, Question):
        assert [choice.reply for choice in question.choices] == [
            f'{PREFIX} create_note name="Ryokan stay" folder=People'
        ]


async def test_a_name_that_no_note_has_is_no_property(talk) -> None:
    await fill(talk, Cars__Audi="", Cars__Volvo="", Fees="---\nfee: 1\n---\n")
    await say(talk, "set the fee of Audi to 7 and of the Zeppelin to 8")
    assert isinstance(talk.items[-1], Question) and not properties(talk, "Cars/Audi.md")


async def test_other_properties_of_the_first_note_are_no_notes(talk) -> None:
    await fill(talk, Cars__Audi="---\nfee: 1\nrim: 2\n---\n", Rim="", Color="")
    await say(talk, "set the fee of Audi to 7 and rim to 3")
    assert properties(talk, "Cars/Audi.md") == {"fee": 7, "rim": 3}
    await say(talk, "set the fee of Audi to 8 and color to 4")
    assert isinstance(talk.items[-1], Question)
    assert properties(talk, "Cars/Audi.md") == {"fee": 7, "rim": 3} and not properties(talk, "Color.md")


@pytest.mark.parametrize(
    "request_",
    [
        "change the name of H4 to H5 and of K1 to K2",
        "change H4's name to H5 and K1's to K2",
        "set the folder of H4 to Old and of K1 to New",
        "set the tag of H4 to old and of K1 to new",
        "add the year of H4 to K1 and of H2 to H3",
    ],
)
async def test_other_changes_of_several_notes_set_no_property_at_once(talk, request_) -> None:
    before = [text(talk, path) for path in (H4, K1)]
    await say(talk, request_)
    assert [text(talk, path) for path in (H4, K1)] == before


async def test_a_number_is_replaced_by_a_text_only_after_a_question(talk) -> None:
    await fill(talk, Paneer="---\nquantity: 400\nunit: g\n---\n")
    await say(talk, "set the quantity of Paneer to 200 g")
    assert properties(talk, "Paneer.md")["quantity"] == 400
    await say(talk, first_option(talk))
    assert properties(talk, "Paneer.md") == {"quantity": 200, "unit": "g"}


DUNE = '---\ngenre: []\ndirector:\n  - "[[David Lynch]]"\nyear:\nauthor: []\nend:\n---\n'


@pytest.mark.parametrize(
    ("request_", "key", "value"),
    [
        ("set the director of Dune to Villeneuve", "director", ["Villeneuve"]),
        ("set the genre of Dune to Drama", "genre", ["Drama"]),
        ("add Drama to the genres of Dune", "genre", ["Drama"]),
        ("set the year of Dune to 1984", "year", 1984),
        ("setz das Jahr von Dune auf 1984", "year", 1984),
        ("setz den Autor von Dune auf Michael Ende", "author", ["Michael Ende"]),
        ("set the author of Dune to Michael End", "author", ["Michael End"]),
    ],
)
async def test_a_list_stays_a_list(talk, request_, key, value) -> None:
    await fill(talk, Dune=DUNE)
    await say(talk, request_)
    written = properties(talk, "Dune.md")[key]
    unlinked = [item.strip("[]") for item in written] if isinstance(written, tuple | list) else written
    assert unlinked == value


@pytest.mark.parametrize(
    "request_", ["add Drama to its genres", "füge Drama zu seinen Genres hinzu", "add Drama to the genres"]
)
async def test_a_value_is_added_to_those_of_it(talk, request_) -> None:
    await fill(talk, Dune=DUNE.replace("[]", '["Sci-fi"]', 1))
    await say(talk, "open Dune", request_)
    if isinstance(talk.items[-1], Question):
        await say(talk, first_option(talk))
    assert list(properties(talk, "Dune.md")["genre"]) == ["Sci-fi", "Drama"]


async def test_lists_of_several_notes_stay_lists(talk) -> None:
    await fill(talk, Dune=DUNE, Alien=DUNE, Brazil="---\ngenre: Comedy\n---\n")
    await say(talk, "set the genre of Dune and Alien to Drama", "set the genre of Brazil to Drama")
    for path in ("Dune.md", "Alien.md"):
        assert [item.strip("[]") for item in properties(talk, path)["genre"]] == ["Drama"]
    assert properties(talk, "Brazil.md")["genre"] == "Drama"


async def test_a_second_note_is_no_property(talk, approver) -> None:
    await fill(talk, Dune=DUNE, Alien=DUNE)
    await say(talk, "open Dune")
    approver.asked.clear()
    await say(talk, "set the year of Dune and Solaris to 1984")
    assert not approver.asked


async def test_a_property_that_is_a_list_in_other_notes_is_written_as_a_list(talk) -> None:
    await fill(
        talk,
        Library__Alien="---\nkinds: [Movies]\n---\n",
        Library__Dune="---\nkinds:\n  - Books\n---\n",
        Library__Empty="---\nkinds:\n---\n",
        Library__Text="---\nkinds: Shows\n---\n",
        Library__New="Nothing yet.\n",
    )
    for name in ("Empty", "Text", "New"):
        await say(talk, f"= set_property [@{name}] key=kinds value=Journal")
    kinds = [properties(talk, f"Library/{name}.md")["kinds"] for name in ("Empty", "Text", "New")]
    assert kinds == [["Journal"], "Journal", ["Journal"]]


@pytest.mark.parametrize(
    "request_text",
    [
        "nein, bei Trip: topics um Nara ergänzen",
        "topics um Nara ergänzen",
    ],
)
async def test_a_german_addition_keeps_the_other_values(talk, request_text) -> None:
    await fill(talk, Trip="---\ntopics: [Kyoto, Japan]\n---\n")
    await say(talk, "open Trip")
    await order(talk, request_text)
    assert properties(talk, "Trip.md")["topics"] == ["Kyoto", "Japan", "Nara"]


LAMPS = {"Lamp": "---\nlit: true\nwatts: 40\nbought: 2025-03-01\nserial: '0042'\n---\n"}
VALUES = {
    "set lit of Bulb to yes": "lit: true",
    "set lit of Bulb to no": "lit: false",
    "set lit of Bulb to off": "lit: false",
    "setze lit von Bulb auf ja": "lit: true",
    "setze lit von Bulb auf nein": "lit: false",
}


@pytest.mark.parametrize(("request_text", "line"), VALUES.items())
async def test_yes_and_no_are_the_values_of_a_checkbox(talk, request_text, line) -> None:
    bulb = "---\nlit: {}\n---\n".format("false" if line.endswith("true") else "true")
    await fill(talk, **LAMPS, Bulb=bulb)
    await say(talk, request_text)
    # "No" and "off" may belong to the request's other words.
    assert isinstance(talk.items[-1], Question) == request_text.endswith((" no", " off"))
    if isinstance(talk.items[-1], Question):
        reply = next(choice for choice in choices(talk) if choice.endswith(f"value={line.split()[1]}"))
        await say(talk, f"{PREFIX} {reply}")
    assert f"{line}\n" in text(talk, "Bulb.md")


@pytest.mark.parametrize(
    ("request_text", "offered"),
    [
        ("set watts of Lamp to 60 watts", "value=60"),
        ("set bought of Lamp to 14/11/2025", "value=2025-11-14"),
        ("set serial of Lamp to 0012345", "value=0012345"),
        ("set lit of Lamp to true on friday", ""),
    ],
)
async def test_a_value_that_loses_the_type_of_the_old_one_is_a_question(talk, request_text, offered) -> None:
    await fill(talk, **LAMPS)
    await say(talk, request_text)
    assert text(talk, "Lamp.md") == LAMPS["Lamp"]
    assert any(offered in choice for choice in choices(talk))


async def test_a_serial_number_keeps_its_zeros(talk) -> None:
    await fill(talk, **LAMPS)
    await order(talk, "set serial of Lamp to 0012345")
    assert "0012345" in text(talk, "Lamp.md")


async def test_a_weekday_among_weekdays_is_no_date(talk) -> None:
    await fill(talk, Ann="---\ndays: [Saturday]\n---\n", Bo="---\ndays: [Monday, Friday]\n---\n")
    await order(talk, "add Sunday to the days of Ann")
    assert "days: [Saturday, Sunday]" in text(talk, "Ann.md")


@pytest.mark.parametrize("word", ["none", "nobody", "nothing"])
async def test_a_word_for_no_value_is_a_question(talk, word) -> None:
    await fill(talk, Job="---\nclient: '[[H4]]'\n---\n")
    await say(talk, f"set client of Job to {word}")
    assert isinstance(talk.items[-1], Question) and "[[H4]]" in text(talk, "Job.md")


@pytest.mark.parametrize(
    ("request_", "levels"),
    [
        ("levels: add 14", [9, 10, 12, 14]),
        ("levels: remove 12", [9, 10]),
        ("remove 12 from the levels", [9, 10]),
        ("remove level 9", [10, 12]),
        ("entferne 9 aus levels", [10, 12]),
        ("remove level 11", [9, 10, 12]),
    ],
)
async def test_one_value_of_a_list_is_added_or_removed(talk, request_, levels) -> None:
    others = {f"Kit_{number}": "---\nlevels: [7, 8]\n---\n" for number in range(4)}
    await fill(talk, Lab="---\nlevels: [9, 10, 12]\n---\n", **others)
    await say(talk, "open Lab", request_)
    assert properties(talk, "Lab.md") == {"levels": levels}


MOON = "---\naliases: [Luna, Big Luna]\nlanguages: [C, C++, Go]\nlevels: [11, 12]\n---\nThe Moon.\n"


@pytest.mark.parametrize(
    ("request_", "key", "rest"),
    [
        ("remove the alias Big Luna from Moon", "aliases", ["Luna"]),
        ("remove the alias Luna from Moon", "aliases", ["Big Luna"]),
        ("remove C from the languages of Moon", "languages", ["C++", "Go"]),
        ("remove C++ from the languages of Moon", "languages", ["C", "Go"]),
        ("remove Go from the languages of Moon", "languages", ["C", "C++"]),
    ],
)
async def test_only_the_named_value_of_a_list_is_removed(talk, request_, key, rest) -> None:
    await fill(talk, Moon=MOON)
    await order(talk, request_)
    assert properties(talk, "Moon.md")[key] == rest


@pytest.mark.parametrize(
    ("request_", "left"),
    [
        ("remove Dafydd from the attendees", ["[[Ann Lee]]", "[[Ann Poe]]"]),
        ("entferne Dafydd aus attendees", ["[[Ann Lee]]", "[[Ann Poe]]"]),
        ("remove Ann from the attendees", ["[[Dafydd Rees]]", "[[Ann Lee]]", "[[Ann Poe]]"]),
        ("remove Rees Lee from the attendees", ["[[Dafydd Rees]]", "[[Ann Lee]]", "[[Ann Poe]]"]),
    ],
)
async def test_a_part_of_the_name_of_only_one_linked_value_removes_it(talk, request_, left) -> None:
    attendees = '["[[Dafydd Rees]]", "[[Ann Lee]]", "[[Ann Poe]]"]'
    await fill(talk, Meeting=f"---\nattendees: {attendees}\n---\n")
    await say(talk, "open Meeting", request_)
    assert properties(talk, "Meeting.md")["attendees"] == left


@pytest.mark.parametrize("request_", ["remove the property levels from Lesson 12"])
async def test_a_number_in_the_name_of_a_note_is_no_value_to_remove(talk, request_) -> None:
    await fill(talk, Lesson_12=MOON)
    await order(talk, request_)
    assert "levels" not in properties(talk, "Lesson 12.md")


STATES = {
    "Instruments/A": "---\nstage: idle\ncleaned: false\n---\n",
    "Instruments/B": "---\nstage: lent\ncleaned: true\n---\n",
    "Instruments/C": "---\nstage: idle\n---\n",
}


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("set it to cleaned", {"cleaned": True}),
        ("set it to lent and confidence 0.4", {"stage": "lent", "confidence": 0.4}),
        ("setze es auf lent und confidence auf 0.4", {"stage": "lent", "confidence": 0.4}),
    ],
)
async def test_a_pronoun_is_no_property(talk, request_text, expected) -> None:
    await fill(talk, **STATES)
    await say(talk, "open A", request_text)
    found = properties(talk, "Instruments/A.md")
    assert expected.items() <= found.items()
    assert {"it", "this", "es"}.isdisjoint({*found, *properties(talk, OPEN)})


async def test_an_unknown_value_has_no_property(talk) -> None:
    await fill(talk, **STATES)
    await say(talk, "open A", "set it to purple and confidence 0.4")
    assert "it" not in properties(talk, "Instruments/A.md")


async def test_a_pronoun_after_several_notes_is_no_reason_to_change_one(talk) -> None:
    await fill(talk, **STATES)
    await say(talk, "find notes with stage idle", "set it to lent")
    assert isinstance(talk.items[-1], Question)


@pytest.mark.parametrize(
    ("request_", "added"),
    [
        ("add Rupert Gould and Ann Lee to the crew", ["Rupert Gould", "Ann Lee"]),
        ("add Rupert Gould, Ann Lee and Bo Dahl to its crew", ["Rupert Gould", "Ann Lee", "Bo Dahl"]),
        ("füge Rupert Gould und Ann Lee zu crew hinzu", ["Rupert Gould", "Ann Lee"]),
    ],
)
async def test_several_values_are_added_to_a_list(talk, request_, added) -> None:
    await say(talk, f'{PREFIX} set_property [@H4] key=crew value="Kim Oh","Lo Fey"', "open H4", request_)
    assert list(properties(talk)["crew"]) == ["Kim Oh", "Lo Fey", *added]


@pytest.mark.parametrize("request_", ["add Simon and Garfunkel to the crew", "add tea and milk to the crew"])
async def test_values_that_may_be_one_are_not_added_at_once(talk, request_) -> None:
    await say(talk, f'{PREFIX} set_property [@H4] key=crew value="Kim Oh","Lo Fey"', "open H4", request_)
    assert list(properties(talk)["crew"]) == ["Kim Oh", "Lo Fey"]
