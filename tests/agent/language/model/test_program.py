"""Programs become readings; what a program may not say becomes none."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.lookups.list_orders import continued_order
from app.agent.language.meaning.actions import ACTIONS
from app.agent.language.meaning.conditions import condition_slots, replaced_conditions, top_level_parts
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.model.item_spans import request_items
from app.agent.language.model.program import ProgramReader
from app.agent.language.model.symbols import (
    COMPARISONS,
    FIELDS,
    FLAGS,
    LIMITS,
    LINK_FIELDS,
    LITERALS,
    NEXT,
    NTH,
    ORDERS,
    PROPERTY_ORDERS,
    REFERENCES,
    Symbol,
)
from app.agent.language.words.dates import DateParser, DateSpan
from app.agent.language.words.lexicon import Language, languages
from app.agent.language.words.tokens import plain_number, tokenize
from app.agent.language.words.vault_words import VaultWords
from app.agent.language.words.vocabulary import Vocabulary
from app.index.records import PropertyValueShares
from app.index.resolver import Resolver
from app.vault.path import NotePath

PROPERTIES = ("born", "confidence", "status", "rank", "place", "author", "date", "minutes", "due")
NOTES = ("Instruments/H1.md", "Instruments/H4.md", "People/John Harrison.md", "Sextant.md")
NOW = datetime(2026, 3, 18, 12)


def request(text: str, dialog: DialogState | None = None, language: Language | None = None) -> Request:
    """Return `text` as a request in a small vault, in English by default."""
    language = language or languages()[0]
    resolver = Resolver()
    for note in NOTES:
        resolver.add(NotePath.on_disk(note))
    vocabulary = Vocabulary(
        resolver,
        VaultWords(
            ("clock", "person", "place/harbor"),
            ("source",),
            PROPERTIES,
            (("author", "[[John Harrison]]"), ("status", "to watch"), ("genre", "sci-fi")),
            tuple(map(PropertyValueShares, PROPERTIES)),
        ),
        language.data.get("plurals", ()),
        language.table("types"),
        language.table("nouns"),
    )
    tokens = tokenize(text, language.contractions, language.words("noise"))
    dates = DateParser(language, NOW)
    return Request(
        text, language, tokens, vocabulary, dates, dialog or DialogState(), ACTIONS, language.frames
    )


def reading(text: str, *program: Symbol, dialog: DialogState | None = None) -> str:
    """Return the reading of a program in the notation; empty for none."""
    asked = request(text, dialog)
    found = ProgramReader(asked, request_items(asked)).read(program)
    return serialize(found) if found is not None else ""


@pytest.mark.parametrize(
    ("text", "program", "expected"),
    [
        (
            "tag H4 with clocks",
            ["add_tag", "@", (1, 1), "tag=", (3, 3)],
            "add_tag [@Instruments/H4] tag=clock",
        ),
        (
            "clocks but not people",
            ["find", "tag:", (0, 0), "-", "path:", (3, 3)],
            "find [tag:clock -path:People/]",
        ),
        ("scurvy or lemons", ["find", "word", (0, 0), "OR", "word", (2, 2)], "find [(scurvy OR lemons)]"),
        ("born before 1700", ["find", "prop", (0, 0), "<", (2, 2)], "find [[born:<1700]]"),
        ("confidence of 70%", ["find", "prop", "p:confidence", ">=", (2, 2)], "find [[confidence:>=0.7]]"),
        ("changed yesterday", ["find", "modified:", (1, 1)], "find [modified:2026-03-17]"),
        ("what links to H4", ["find", "links-to:", (3, 3)], 'find [links-to:"Instruments/H4"]'),
        ("the two longest", ["find", "all", "order:words", "l2"], "find [*] order=words limit=2"),
        ("by rank", ["find", "all", "order:-prop", (1, 1)], "find [*] order=-rank"),
        (
            "find scurvy and tag it x",
            ["find", "word", (1, 1), NEXT, "add_tag", "it", "tag=", (5, 5)],
            "find [scurvy] | add_tag [these] tag=x",
        ),
        (
            'add "a, b" to H4',
            ["append", "@", (3, 3), "text=", (1, 1)],
            'append [@Instruments/H4] text="a, b"',
        ),
        (
            "todo for H4: ask Anna",
            ["append", "@", (2, 2), "text=", "task", (4, 5)],
            'append [@Instruments/H4] text="- [ ] ask Anna"',
        ),
        ("overdue", ["find", "prop", "p:due", "<", "now"], "find [[due:<2026-03-18]]"),
        (
            "dated 1700-1799",
            ["find", "prop", "p:date", "during", (1, 1)],
            "find [[date:>=1700] [date:<1800]]",
        ),
        ("drop the empty ones", ["find", "-", "path:", (3, 3)], ""),
        ("all of them", ["find", "tag:", (2, 2)], ""),
        ("due tomorrow", ["set_property", "@", (9, 9), "key=", (0, 0), "value=", (1, 1)], ""),
    ],
)
def test_programs_become_readings(text: str, program: list[Symbol], expected: str) -> None:
    assert reading(text, *program) == expected


def test_references_are_those_of_the_conversation() -> None:
    last = Reading((PipelineStep("add_tag", NoteSet(notes=(NOTES[3],)), {"tag": ("clock",)}),), 1.0)
    dialog = DialogState(open_note=NOTES[0], focus=(NOTES[1],), results=NOTES[:3], last=last)
    assert reading("open it", "open", "it", dialog=dialog) == "open [@Instruments/H4]"
    assert reading("open this", "open", "this", dialog=dialog) == "open [@Instruments/H1]"
    assert reading("the third", "open", "n3", dialog=dialog) == "open [@People/John Harrison]"
    assert reading("the last", "open", "n-1", dialog=dialog) == "open [@People/John Harrison]"
    again = reading("that too", "add_tag", "n1", "tag=", "same", dialog=dialog)
    assert again == "add_tag [@Instruments/H1] tag=clock"
    assert reading("and there", "delete", "target", dialog=dialog) == "delete [@Sextant]"


def test_a_reference_without_a_referent_names_no_note() -> None:
    asked = request("delete the second one")
    found = ProgramReader(asked, request_items(asked)).read(["delete", "n2"])
    assert found is not None
    assert found.last.target == NoteSet(unknown=" "), "never all notes"


SPANS = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda ends: (min(ends), max(ends)))
SINGLE_SYMBOLS = st.sampled_from(
    [
        *(*REFERENCES, *NTH, *FLAGS, *LIMITS, *LITERALS, *(f"order:{order}" for order in ORDERS)),
        *("-", "OR", "task"),
    ]
)
PARTS = st.one_of(
    st.tuples(SINGLE_SYMBOLS),
    st.tuples(st.just("@"), SPANS),
    st.tuples(st.sampled_from((*FIELDS, *LINK_FIELDS, *PROPERTY_ORDERS)), SPANS),
    st.tuples(st.just("prop"), st.just("p:born"), st.sampled_from(COMPARISONS), SPANS),
)
VALUES = st.one_of(SPANS.map(lambda span: (span,)), PARTS)
ROLES = ("tag", "text", "to", "key", "value", "type", "name", "scope", "undefined")


@st.composite
def programs(draw: st.DrawFn) -> list[Symbol]:
    """Draw one or two steps with the shape of a program; some lack what their action needs."""
    program: list[Symbol] = []
    for _ in range(draw(st.sampled_from((1, 1, 1, 2)))):
        action = draw(st.sampled_from(sorted(ACTIONS)))
        needs = set(ACTIONS[action].needs) - draw(st.sampled_from((set(), set(), {"target"}, set(ROLES))))
        conditions = draw(st.lists(PARTS, min_size=int("target" in needs), max_size=2))
        roles = sorted((needs - {"target"}) | draw(st.sampled_from((set(), set(), *({r} for r in ROLES)))))
        arguments = [(f"{role}=", *draw(VALUES)) for role in roles]
        program += [NEXT] if program else []
        program += [action, *(symbol for part in (*conditions, *arguments) for symbol in part)]
    return program


def test_positions_after_the_items_are_the_properties_of_the_vault() -> None:
    asked = request("the best ones")
    at = len(request_items(asked)) + [form.name for form in asked.vocabulary.fields].index("rank")
    assert reading("the best ones", "find", "all", "order:prop", (at, at)) == "find [*] order=rank"
    assert reading("the best ones", "properties_of", "@", (at, at)) == "", "a property is no note"
    beyond = len(request_items(asked)) + len(asked.vocabulary.fields)
    assert reading("the best ones", "find", "all", "order:prop", (beyond, beyond)) == ""


@given(programs(), st.booleans())
def test_any_program_gives_a_complete_reading_or_none(program: list[Symbol], talked: bool) -> None:
    last = Reading((PipelineStep("find", NoteSet(query="clock")),), 1.0)
    dialog = (
        DialogState(NOTES[0], focus=(NOTES[1],), results=NOTES[:2], last=last) if talked else DialogState()
    )
    asked = request('link H4 to "John Harrison" since yesterday', dialog)
    found = ProgramReader(asked, request_items(asked)).read(program)
    assume(found is not None)
    for step in found.steps:
        action = ACTIONS[step.action]
        assert step.target is not None or "target" not in action.needs
        assert all(need in step.arguments for need in action.needs if need != "target")
    serialize(found)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(
            ("70 %", "0.7"),
            (".9", "0.9"),
            ("0,4", "0.4"),
            ("1760", "1760"),
            ("seven", None),
            ("3 April", None),
        ),
        *(("£7,940", "7940"), ("40min", "40"), ("8+", "8"), ("9/10", "9"), ("5k", "5000"), ("12 pp", "12")),
    ],
)
def test_numbers_in_words_of_a_request(text: str, number: str | None) -> None:
    assert plain_number(text) == number


@pytest.mark.parametrize(
    ("words", "conditions"),
    [
        ("1762", "[born:>=1762] [born:<1763]"),
        ("the 1720s", "[born:>=1720] [born:<1730]"),
        ("the 1700s", "[born:>=1700] [born:<1800]"),
        ("the 17th century", "[born:>=1600] [born:<1700]"),
        ("the eighteenth century", "[born:>=1700] [born:<1800]"),
        ("before the year 1750", "[born:<1750]"),
        ("after 1990", "[born:>=1991]"),
        ("March 2026", "[born:>=2026-03-01] [born:<=2026-03-31]"),
        # The present period goes on after today.
        ("this year", "[born:>=2026] [born:<2027]"),
        ("this month", "[born:>=2026-03-01] [born:<=2026-03-31]"),
        ("last month", "[born:>=2026-02-01] [born:<=2026-02-28]"),
    ],
)
def test_a_period_becomes_conditions_on_a_property(words: str, conditions: str) -> None:
    text = f"people born {words}"
    last = len(request_items(request(text))) - 1
    assert reading(text, "find", "prop", "p:born", "during", (2, last)) == f"find [{conditions}]"


@pytest.mark.parametrize(
    ("text", "program", "expected"),
    [
        ("tags used once", ["list_tags", "uses=", "uses1"], "list_tags uses=1"),
        ("tags used 4 times", ["list_tags", "uses=", (2, 2)], "list_tags uses=4"),
        ("overdue", ["list_tasks", "due=", "overdue"], "list_tasks due=..2026-03-17"),
        ("for next week", ["list_tasks", "due=", (1, 2)], "list_tasks due=2026-03-23..2026-03-29"),
        (
            "words in H4",
            ["properties_of", "@", (2, 2), "about=", "words"],
            "properties_of [@Instruments/H4] about=words",
        ),
        (
            "against H4",
            ["what_supports", "@", (1, 1), "side=", "contradicts"],
            "what_supports [@Instruments/H4] side=contradicts",
        ),
        ("above ten percent", ["find", "prop", "p:confidence", ">", (1, 2)], "find [[confidence:>0.1]]"),
        ("above 50", ["find", "prop", "p:confidence", ">", (1, 1)], "find [[confidence:>0.5]]"),
        ("under two hours", ["find", "prop", "p:minutes", "<", (1, 1)], "find [[minutes:<120]]"),
        ("within half an hour", ["find", "prop", "p:minutes", "<", (1, 2)], "find [[minutes:<30]]"),
        ("over twenty thousand", ["find", "prop", "rank", ">", (1, 2)], ""),
        ("rank over twenty thousand", ["find", "prop", (0, 0), ">", (2, 3)], "find [[rank:>20000]]"),
        ("all the 9s", ["find", "prop", "p:rating", "=", (2, 2)], ""),
        ("rank of the 9s", ["find", "prop", (0, 0), "=", (3, 3)], "find [[rank:9]]"),
        ("dated last year", ["find", "prop", "p:date", "=", (1, 1)], "find [[date:>=2025] [date:<2026]]"),
        (
            "minutes of H4: two hours",
            ["set_property", "@", (2, 2), "key=", (0, 0), "value=", (4, 4)],
            "set_property [@Instruments/H4] key=minutes value=120",
        ),
        (
            "rank of H4: two hours",
            ["set_property", "@", (2, 2), "key=", (0, 0), "value=", (4, 4)],
            'set_property [@Instruments/H4] key=rank value="two hours"',
        ),
        (
            "rank of H4: half an hour",
            ["set_property", "@", (2, 2), "key=", (0, 0), "value=", (4, 5)],
            'set_property [@Instruments/H4] key=rank value="half an hour"',
        ),
        (
            "rank of H4: 5s",
            ["set_property", "@", (2, 2), "key=", (0, 0), "value=", (4, 4)],
            "set_property [@Instruments/H4] key=rank value=5s",
        ),
        (
            "due in May",
            ["find", "prop", "p:due", "during", (1, 1)],
            "find [[due:>=2026-05-01] [due:<=2026-05-31]]",
        ),
        (
            "tick off “oil the lock”.",
            ["complete_task", "query=", (2, 2)],
            'complete_task query="oil the lock"',
        ),
    ],
)
def test_values_that_a_symbol_or_a_span_names(text: str, program: list[Symbol], expected: str) -> None:
    assert reading(text, *program) == expected


def test_a_new_search_can_keep_the_kind_of_the_last_one() -> None:
    last = Reading((PipelineStep("find", NoteSet(query='path:People/ -tag:clock [born:<1700] "sea"')),), 1.0)
    text = "and London"
    kept = reading(text, "find", "kind", "word", (1, 1), dialog=DialogState(last=last))
    assert kept == "find [path:People/ London]"
    assert not reading(text, "find", "kind", "word", (1, 1))


def listed() -> DialogState:
    """Return a conversation in which three notes were listed and one of them was changed."""
    change = Reading((PipelineStep("add_tag", NoteSet(notes=NOTES[:1]), {"tag": ("brass",)}),), 1.0)
    return DialogState(results=NOTES[:3], recent=NOTES[1:3], last=change)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (["find", "others"], "find [@Instruments/H4, @People/John Harrison]"),
        (["find", "both"], "find [@Instruments/H4, @People/John Harrison]"),
        (["find", "these", "-", "n2"], "find [@Instruments/H1, @People/John Harrison]"),
        (["find", "these", "-", "@", (3, 3)], "find [@Instruments/H1, @Instruments/H4]"),
        (["find", "tag:", "same"], "find [tag:brass]"),
        (["find", "type:", (0, 0), "-", "n1"], 'find [type:source -path:"Instruments/H1.md"]'),
        (["find", "these", "-", "n1", "-", "n2", "-", "n3"], ""),
    ],
)
def test_a_request_can_mean_a_part_of_what_was_listed(program: list[Symbol], expected: str) -> None:
    found = reading("sources all but John Harrison", *program, dialog=listed())
    assert found == expected


def test_categories_are_found_by_their_plural_and_capitalized_names_stay_notes() -> None:
    words = VaultWords(
        ("clock",),
        properties=("rating", "director", "year"),
        values=(
            ("categories", "[[Movies]]"),
            ("categories", "[[Lists/Board games|Games]]"),
            ("kind", "Clock"),
        ),
    )
    vocabulary = Vocabulary(Resolver(), words, languages()[0].data.get("plurals", ()))
    assert vocabulary.find_category("movies") == vocabulary.find_category("movie") == "[categories:Movies]"
    assert vocabulary.find_category("board games") == '[categories:"Board games"]'
    assert vocabulary.find_category("film") is None
    assert vocabulary.find_related_property("rated") == "rating"
    assert vocabulary.find_related_property("directed") == "director"
    assert vocabulary.find_related_property("rating") == "rating"
    assert vocabulary.find_related_property("yes") is None


def test_texts_of_properties_are_words_for_notes() -> None:
    values = (
        *(("genre", "sci-fi"), ("genres", "[[Sci-fi]]"), ("topics", "[[Cities]]")),
        *(("categories", "[[Cities]]"), ("author", "[[Ursula K. Le Guin]]"), ("year", "1974")),
        *(("url", "https://example.org"), ("title", "Dune")),
    )
    words = VaultWords(("with-kids", "favorite"), properties=("genres", "author"), values=values)
    vocabulary = Vocabulary(Resolver(), words, languages()[0].data.get("plurals", ()))
    assert vocabulary.find_value("Sci-Fi") == "([genre:sci-fi] OR [genres:Sci-fi])"
    assert vocabulary.find_value("cities") == "[categories:Cities]", "a category before another property"
    assert vocabulary.find_value_in_part("guin") == '[author:"Ursula K. Le Guin"]'
    for text in ("1974", "https://example.org", "dune", "guin"):
        assert vocabulary.find_value(text) is None
    assert vocabulary.find_property("genre") == "genres", "the plural of the word"
    assert vocabulary.find_property("authors") == "author"
    assert vocabulary.find_similar_tag("kids") == "with-kids"
    assert vocabulary.find_similar_tag("fav") == "favorite"
    assert vocabulary.find_similar_tag("kid") is None


def test_a_follow_up_replaces_conditions_on_the_same_thing() -> None:
    def last(query: str) -> DialogState:
        return DialogState(last=Reading((PipelineStep("find", NoteSet(query=query)),), 1.0))

    sources = last("tag:clock [born:<1700]")
    kind: list[Symbol] = ["find", "swap", "type:", (0, 0)]
    assert reading("sources?", *kind, dialog=sources) == "find [[born:<1700] type:source]"
    years: list[Symbol] = ["find", "swap", "prop", "p:born", "during", (1, 3)]
    assert (
        reading("born in the 1750s", *years, dialog=sources) == "find [tag:clock [born:>=1750] [born:<1760]]"
    )
    assert reading("born in the 80s", *years, dialog=sources) == "find [tag:clock [born:>=1980] [born:<1990]]"
    same: list[Symbol] = ["find", "swap", "prop", "p:same", ">", (1, 1)]
    assert reading("after 1720", *same, dialog=sources) == "find [tag:clock [born:>1720]]"
    assert reading("after 1720", *same, dialog=last("[born] [died]")) == ""
    group = last("tag:clock ([place:Kew] OR [place:Greenwich])")
    other: list[Symbol] = ["find", "swap", "prop", (0, 0), "=", (1, 1)]
    assert reading("place Paris", *other, dialog=group) == "find [tag:clock [place:Paris]]"
    marked = last("tag:favorite [categories:Books]")
    movies = replaced_conditions(top_level_parts("tag:favorite [categories:Books]"), ["[categories:Movies]"])
    assert movies == ["tag:favorite", "[categories:Movies]"], "a kind replaces the one of its own field"
    assert reading("sources?", *kind, dialog=marked) == "find [type:source]"
    quick = last("[minutes:<=30]")
    more: list[Symbol] = ["find", "swap", "prop", "p:same", "=", (1, 1)]
    assert reading("and 45", *more, dialog=quick) == "find [[minutes:<=45]]", "the comparison stays"
    above: list[Symbol] = ["find", "swap", "prop", "p:same", ">", (1, 1)]
    assert reading("above 45", *above, dialog=quick) == "find [[minutes:>45]]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from february", "find [file:2026-02]"),
        ("from 2025", "find [file:2025]"),
        ("on march 3", "find [file:2026-03-03]"),
        (
            "between february 27 and march 1",
            "find [(file:2026-02-27 OR file:2026-02-28 OR file:2026-03-01)]",
        ),
        ("since 2019", ""),
    ],
)
def test_daily_notes_are_found_by_the_days_in_their_names(text: str, expected: str) -> None:
    items = request_items(request(text))
    assert reading(text, "find", "day:", (0, len(items) - 1)) == expected


def test_daily_notes_are_not_counted_for_conditions_without_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(resolver: Resolver) -> None:
        raise AssertionError("all notes were looked at")

    monkeypatch.setattr(Resolver, "entries", fail)
    tagged = reading("clocks changed yesterday", "find", "tag:", (0, 0), "modified:", (2, 2))
    assert tagged == "find [tag:clock modified:2026-03-17]"


def test_a_short_follow_up_moves_the_last_search_in_time() -> None:
    def moved(query: str, text: str = "and in february?") -> str:
        dialog = DialogState(last=Reading((PipelineStep("find", NoteSet(query=query)),), 1.0))
        items = request_items(request(text))
        (span,) = [(at, at) for at, item in enumerate(items) if item.mention.kind == "date"]
        return reading(text, "find", "modified:", span, dialog=dialog)

    assert moved("path:Journal/ file:2026-03") == "find [path:Journal/ file:2026-02]"
    assert (
        moved("tag:clock [date:>=2026-03-01]") == "find [tag:clock [date:>=2026-02-01] [date:<=2026-02-28]]"
    )
    changed = "modified:>=2026-02-01 modified:<=2026-02-28"
    assert moved("tag:clock modified:2026-03-17") == f"find [tag:clock {changed}]"
    for other in ("tag:clock", "tag:clock [year]"):
        assert moved(other) == f"find [{changed}]"
    assert moved("file:2026-03", "what was changed in february?") == f"find [{changed}]"


def test_a_superlative_after_a_list_is_about_the_list() -> None:
    dialog = listed()
    assert reading("the oldest?", "find", "all", "order:-created", "l1", dialog=dialog) == (
        "find [@Instruments/H1, @Instruments/H4, @People/John Harrison] order=-created limit=1"
    )
    oldest: list[Symbol] = ["find", "all", "order:-created", "l1"]
    assert reading("the oldest of all notes?", *oldest, dialog=dialog) == "find [*] order=-created limit=1"
    assert reading("the oldest?", *oldest) == "find [*] order=-created limit=1"


def test_properties_that_no_note_has_are_no_readings() -> None:
    assert reading("H4 rating", "properties_of", "@", (0, 0), "about=", "p:rating") == ""
    assert reading("H4 mass", "properties_of", "@", (0, 0), "about=", (1, 1)) == ""
    assert reading("by mass", "find", "all", "order:prop", (1, 1)) == ""
    assert reading("by year", "find", "all", "order:year") == ""
    assert reading("with mass", "find", "prop", (1, 1), "exists") == ""
    assert reading("by birth", "find", "all", "order:born") == "find [*] order=born"


def test_changes_of_daily_notes_are_looked_up_by_their_names() -> None:
    asked = request("journal entries from february")
    asked.vocabulary._resolver.add(NotePath.on_disk("Journal/2026-02-03.md"))
    found = ProgramReader(asked, request_items(asked)).read(["find", "path:", (0, 0), "modified:", (2, 2)])
    assert found is not None and serialize(found) == "find [path:Journal/ file:2026-02]"


def test_a_new_daily_note_has_the_name_of_its_day() -> None:
    made = reading("start today's journal", "create_note", "name=", "day", (1, 1))
    assert made == "create_note name=2026-03-18"


def test_a_property_keeps_the_brackets_of_its_link() -> None:
    program: list[Symbol] = ["set_property", "@", (0, 0), "key=", "p:author", "value=", (2, 2)]
    assert reading("H4 author [[Ann Lee]]", *program) == (
        'set_property [@Instruments/H4] key=author value="[[Ann Lee]]"'
    )


def test_a_role_without_a_value_makes_a_program_invalid() -> None:
    assert reading("set H4", "set_property", "@", (1, 1), "key=", "p:due", "value=") == ""


def test_without_a_list_these_is_the_last_note() -> None:
    dialog = DialogState(focus=NOTES[:1])
    assert reading("delete that", "delete", "these", dialog=dialog) == "delete [@Instruments/H1]"


def test_the_opposite_of_the_last_search_keeps_its_kind() -> None:
    def last(query: str) -> DialogState:
        return DialogState(last=Reading((PipelineStep("find", NoteSet(query=query)),), 1.0))

    text = "and those that do not?"
    assert (
        reading(text, "find", "unlike", dialog=last("tag:clock [born:<1700]"))
        == "find [tag:clock -[born:<1700]]"
    )
    assert (
        reading(text, "find", "unlike", dialog=last("tag:clock -rel:cites")) == "find [tag:clock rel:cites]"
    )
    for several in ("tag:clock [born] [died]", "tag:clock OR [born]", "tag:clock"):
        assert reading(text, "find", "unlike", dialog=last(several)) == ""


@pytest.mark.parametrize(
    ("text", "program", "expected"),
    [
        ("notes on harbors", ["find", "tag:", (2, 2)], "find [tag:place/harbor]"),
        ("nobody links to", ["find", "-", 'backlinks:""'], 'find [-backlinks:""]'),
        (
            "new note Concepts/Parallax",
            ["create_note", "name=", (2, 2)],
            "create_note name=Parallax folder=Concepts",
        ),
        (
            "H4 due next friday",
            ["set_property", "@", (0, 0), "key=", "p:due", "value=", (2, 3)],
            "set_property [@Instruments/H4] key=due value=2026-03-20",
        ),
        (
            "H4 date 16 March",
            ["set_property", "@", (0, 0), "key=", "p:date", "value=", (2, 2)],
            "set_property [@Instruments/H4] key=date value=2026-03-16",
        ),
        (
            "tick ask the library",
            ["complete_task", "query=", (1, 3)],
            'complete_task query="ask the library"',
        ),
    ],
)
def test_names_and_values_that_the_vault_knows_otherwise(
    text: str, program: list[Symbol], expected: str
) -> None:
    assert reading(text, *program) == expected


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("February 2024", "file:2024-02"),
        ("9999-12-31", "file:9999-12-31"),
        ("December 9999", "file:9999-12"),
    ],
)
def test_days_name_daily_notes_up_to_the_last_day_of_the_calendar(text: str, query: str) -> None:
    named = request(text)
    assert named.set_parser().names_of_days(named.tokens) == query


@pytest.mark.parametrize(
    ("first", "last", "name"),
    [
        (date(2026, 3, 18), date(2026, 3, 18), "2026-03-18"),
        (date(2026, 3, 31), date(2026, 3, 31), "2026-03-31"),
        (date(2026, 2, 28), date(2026, 2, 28), "2026-02-28"),
        (date(2026, 12, 31), date(2026, 12, 31), "2026-12-31"),
        (date(9999, 12, 30), date(9999, 12, 30), "9999-12-30"),
        (date(9999, 12, 1), date(9999, 12, 31), "9999-12"),
        (date(2026, 3, 16), date(2026, 3, 22), "2026-W12"),
        (date(2024, 2, 1), date(2024, 2, 29), "2024-02"),
        (date(2025, 1, 1), date(2025, 12, 31), "2025"),
        (date(2026, 3, 17), date(2026, 3, 23), ""),
        (date(2026, 3, 1), None, ""),
    ],
)
def test_a_period_names_its_note(first: date, last: date | None, name: str) -> None:
    assert DateSpan(first, last, 1).note_name == name


@pytest.mark.parametrize(
    ("text", "day"),
    [("the 27th", "2026-03-27"), ("the 18th", "2026-03-18"), ("the 2nd", "2026-04-02"), ("the 40th", None)],
)
def test_a_day_of_the_month_lies_ahead(text: str, day: str | None) -> None:
    asked = request(text)
    assert asked.set_parser().days_ahead(asked.tokens) == day


@pytest.mark.parametrize(
    ("code", "text", "days"),
    [
        (0, "the next two weeks", "2026-03-18..2026-04-01"),
        (0, "between now and Sunday", "2026-03-18..2026-03-22"),
        (0, "from Monday to Friday", "2026-03-23..2026-03-27"),
        (0, "this weekend", "2026-03-21..2026-03-22"),
        (0, "Friday after next", "2026-03-27"),
        (0, "on the Monday after next", "2026-03-30"),
        (1, "übernächsten Freitag", "2026-03-27"),
        (0, "next weekend", "2026-03-28..2026-03-29"),
        (0, "by the end of the month", "2026-03-18..2026-03-31"),
        (0, "end of March", "2026-03-31"),
        (0, "March", "2026-03-01..2026-03-31"),
        (0, "in April", "2026-04-01..2026-04-30"),
        (0, "between Friday and banana", None),
        (0, "from the 25th to the 20th", None),
        (0, "from 9999-12-31 to 9999-12-30", None),
        (0, "March 2027", "2027-03-01..2027-03-31"),
        (0, "before 2026-03-01", None),
        (0, "for the weekend", "2026-03-21..2026-03-22"),
        (0, "the next thirty days", "2026-03-18..2026-04-17"),
        (1, "in den nächsten dreißig Tagen", "2026-03-18..2026-04-17"),
        (1, "dieses Wochenende", "2026-03-21..2026-03-22"),
        (1, "in den nächsten 3 Tagen", "2026-03-18..2026-03-21"),
        (1, "am Wochenende", "2026-03-21..2026-03-22"),
        (1, "bis Ende des Monats", "2026-03-18..2026-03-31"),
        (1, "im April", "2026-04-01..2026-04-30"),
        (1, "zwischen Montag und Freitag", "2026-03-23..2026-03-27"),
    ],
)
def test_periods_lie_ahead(code: int, text: str, days: str | None) -> None:
    asked = request(text, language=languages()[code])
    assert asked.set_parser().days_ahead(asked.tokens) == days


@pytest.mark.parametrize(
    ("code", "text", "task"),
    [
        (0, "call Ann by Friday", "- [ ] call Ann 📅 2026-03-20"),
        (0, "call Ann, due on March 27", "- [ ] call Ann 📅 2026-03-27"),
        (0, "call Ann tomorrow", "- [ ] call Ann 📅 2026-03-19"),
        (0, "finish it by the end of the month", "- [ ] finish it 📅 2026-03-31"),
        (1, "Rufe Anna an bis Freitag", "- [ ] Rufe Anna an 📅 2026-03-20"),
        (1, "Anna anrufen bis Freitag", "- [ ] Anna anrufen 📅 2026-03-20"),
        (1, "Anna anrufen, fällig am 27. März", "- [ ] Anna anrufen 📅 2026-03-27"),
    ],
)
def test_the_day_at_the_end_of_a_task_is_its_due_date(code: int, text: str, task: str) -> None:
    assert completed_task("todo", text, languages()[code]) == task


def completed_task(asking: str, text: str, language: Language) -> object:
    """Return the text of a new task, completed by the words of a request."""
    asked = request(asking, language=language)
    step = PipelineStep("append", NoteSet(notes=NOTES[:1]), {"text": f"- [ ] {text}"})
    return asked.frame_parser(follows=False).complete_step(step, asked.tokens).arguments["text"]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (0, "read about Friday the film"),
        (0, "plan this week"),
        (0, "tomorrow"),
        (0, "due tomorrow"),
        (0, "by Friday"),
        (0, "water the plants every Monday"),
        (0, "be away from Monday to Friday"),
        (0, "plan the next 2 weeks"),
        (0, "book a hotel for 3 days"),
        (0, "keep the plants out of the sun"),
        (0, "review the notes from 2026-03-01"),
        (0, "check the backup of 2026-03-01 by Friday"),
        (0, "call Ann 📅 2026-03-20"),
        (0, "call Ann by 2026-03-01"),
        (0, "call Ann by Friday " + "and again " * 50 + "by Friday"),
        (1, "am Freitag"),
        (1, "jeden Montag gießen"),
        (1, "Blumen gießen jeden Montag"),
    ],
)
def test_other_days_in_a_task_are_no_due_date(code: int, text: str) -> None:
    assert completed_task("todo", text, languages()[code]) == f"- [ ] {text}"


def test_a_quoted_task_stays_as_it_is() -> None:
    text = "watch it on Friday"
    assert completed_task(f'add the task "{text}"', text, languages()[0]) == f"- [ ] {text}"


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("den 27.", "2026-03-27"),
        ("am 2.", "2026-04-02"),
        ("bis zum 27.", "2026-03-18..2026-03-27"),
        ("die 27.", None),
        ("27.", None),
    ],
)
def test_a_german_day_of_the_month_ends_in_a_dot(text: str, days: str | None) -> None:
    asked = request(text, language=languages()[1])
    for tokens in (asked.tokens, without_marks_at_end(asked.tokens)):
        assert asked.set_parser().days_ahead(tokens) == days


def test_a_month_names_its_note() -> None:
    resolver = Resolver()
    resolver.add(NotePath.on_disk("Journal/2026-02.md"))
    asked = replace(request("add it to February"), vocabulary=Vocabulary(resolver, VaultWords()))
    found = ProgramReader(asked, request_items(asked)).sets.named((3, 3))
    assert found is not None and found.notes == ("Journal/2026-02.md",)


def test_a_bracket_in_quotes_ends_no_condition() -> None:
    parts = top_level_parts('[genre:"a]b"] -(tag:x OR [rating:>=8]) word')
    assert parts == ['[genre:"a]b"]', "-(tag:x OR [rating:>=8])", "word"]
    assert list(map(condition_slots, parts)) == [{"genre"}, {"kind", "rating"}, {"word"}]


def test_a_kind_without_a_folder_is_looked_for_among_the_tags() -> None:
    assert reading("which clock", "find", "path:", (1, 1)) == "find [tag:clock]"
    assert reading("which people", "find", "path:", (1, 1)) == "find [path:People/]"
    assert reading("tag:clock but new", "find", "tag:", (0, 0)) == "find [tag:clock]", "a typed condition"


def test_a_text_of_a_property_is_found_misspelled_and_by_a_synonym() -> None:
    words = VaultWords(values=(("status", "done"), ("status", "to read"), ("cuisine", "Portuguese")))
    vocabulary = Vocabulary(Resolver(), words)
    assert vocabulary.find_text_of("status", "finished", ["completed", "done"]) == "done"
    assert vocabulary.find_text_of("cuisine", "portugese") == "Portuguese"
    assert vocabulary.find_text_of("cuisine", "done") is None
    assert vocabulary.find_misspelled_value("portugese") == "[cuisine:Portuguese]"
    assert vocabulary.find_misspelled_value("brass") is None
    asked = request("those with status finished")
    asked = replace(
        asked, vocabulary=Vocabulary(Resolver(), replace(words, properties=("status", "cuisine")))
    )
    found = ProgramReader(asked, request_items(asked)).read(["find", "prop", (2, 2), "=", (3, 3)])
    assert found is not None and serialize(found) == "find [[status:done]]"


def test_a_period_after_a_property_is_not_its_text() -> None:
    asked = request("due in march")
    part = asked.set_parser().condition_at(asked.tokens, 0)
    assert part is not None and part.query == "[due:>=2026-03-01] [due:<=2026-03-31]"


def test_a_task_is_named_without_its_article() -> None:
    assert reading("tick off the rope,", "complete_task", "query=", (2, 4)) == "complete_task query=rope"


def test_a_term_is_compared_with_today() -> None:
    exists: list[Symbol] = ["find", "prop", (1, 1), "exists"]
    asked = request("expired warranties")
    words = VaultWords(properties=("warranty", "rank"))
    asked = replace(asked, vocabulary=Vocabulary(Resolver(), words, [["ies", "y"]]))
    found = ProgramReader(asked, request_items(asked)).read(exists)
    assert found is not None and serialize(found) == "find [[warranty:<2026-03-18]]"
    german = next(language for language in languages() if language.code == "de")
    for text, language, name, condition in (
        ("which still have a warranty", None, "warranty", "[warranty:>=2026-03-18]"),
        ("warranties that are not expired", None, "warranty", "[warranty:>=2026-03-18]"),
        ("which warranties haven't run out yet?", None, "warranty", "[warranty:>=2026-03-18]"),
        ("whose warranty is over", None, "warranty", "[warranty:<2026-03-18]"),
        ("running shoes with a warranty from the past year", None, "warranty", None),
        ("with a warranty", None, "warranty", None),
        ("which still have a rank", None, "rank", None),
        ("noch in der Garantie", german, "warranty", "[warranty:>=2026-03-18]"),
        ("nicht abgelaufene Garantien", german, "warranty", "[warranty:>=2026-03-18]"),
        ("abgelaufene Garantien", german, "warranty", "[warranty:<2026-03-18]"),
    ):
        tokens = request(text, None, language).tokens
        parser = replace(asked, language=language or asked.language).set_parser()
        assert parser.term_condition(name, tokens) == condition, text


def test_both_are_the_last_two_notes_in_a_question() -> None:
    dialog = DialogState(focus=(NOTES[1],), recent=(NOTES[1], NOTES[2]))
    asked = "when were both born"
    shown = reading(asked, "properties_of", "it", "about=", "p:born", dialog=dialog)
    assert shown == "properties_of [@Instruments/H4, @People/John Harrison] about=born"
    tagged = reading("tag it both x and y", "add_tag", "it", "tag=", (3, 3), dialog=dialog)
    assert tagged == "add_tag [@Instruments/H4] tag=x", "a change is never widened"


def test_a_narrower_list_of_tasks_keeps_its_days() -> None:
    week = {"state": "open", "due": "2026-03-16..2026-03-22"}
    dialog = DialogState(last=Reading((PipelineStep("list_tasks", None, week),), 1.0))

    def completed(text: str, step: PipelineStep) -> PipelineStep:
        asked = request(text, dialog)
        return asked.frame_parser(follows=False).complete_step(step, asked.tokens)

    people = NoteSet(query="path:People/")
    narrowed = completed("only people", PipelineStep("list_tasks", people, {"state": "open"}))
    assert narrowed == PipelineStep("list_tasks", people, week)
    other = PipelineStep("list_tasks", people, {"state": "open"})
    assert completed("tasks of people", other) == other


def test_words_that_describe_no_task_are_left_out() -> None:
    moved = PipelineStep("reschedule_task", None, {"query": "the due date of it", "due": "2026-03-21"})
    asked = request("move the due date of it to saturday")
    step = asked.frame_parser(follows=False).complete_step(moved, asked.tokens)
    assert dict(step.arguments) == {"due": "2026-03-21"}


def test_a_renamed_tag_is_looked_for_by_its_new_name() -> None:
    renamed = Reading((PipelineStep("rename_tag", None, {"tag": "clock", "new_tag": "watch"}),), 1.0)
    shown = reading("show me what has it", "find", "tag:", "same", dialog=DialogState(last=renamed))
    assert shown == "find [tag:watch]"


def test_a_size_after_an_order_by_amount_is_that_amount() -> None:
    def after(query: str, order: str) -> DialogState:
        return DialogState(last=Reading((PipelineStep("find", NoteSet(query=query, order=order)),), 1.0))

    assert continued_order(after("tag:clock", "minutes"), "-size") == "-minutes"
    assert continued_order(after("tag:clock", "name"), "size") == "size"
    assert continued_order(after("[born:>=1700] [born:<1800]", ""), "modified") == "born"
    assert continued_order(after("modified:>=2026-01-01", ""), "created") == "modified"


def test_alternatives_are_not_replaced_in_part() -> None:
    for query in ("clock OR person", "tag:clock (word OR (tag:a OR tag:b))"):
        state = DialogState(last=Reading((PipelineStep("find", NoteSet(query=query)),), 1.0))
        assert not reading("sources?", "find", "swap", "type:", (0, 0), dialog=state)


def test_a_property_can_name_the_note_or_the_text_just_shown() -> None:
    harrison = DialogState(focus=(NOTES[2],))
    by_him = 'find [[author:"John Harrison"]]'
    assert reading("his books", "find", "value:", "it", dialog=harrison) == by_him
    assert (
        reading("more by him", "find", "value:", "same", dialog=DialogState(values=("John Harrison",)))
        == by_him
    )
    assert not reading("his books", "find", "value:", "it", dialog=DialogState(focus=(NOTES[3],)))
    assert not reading("more by him", "find", "value:", "same")


def test_a_folder_can_be_that_of_the_last_change() -> None:
    moved = Reading((PipelineStep("move", NoteSet(notes=NOTES[:1]), {"folder": "Attic"}),), 1.0)
    there = reading("what is in there now", "find", "path:", "same", dialog=DialogState(last=moved))
    assert there == "find [path:Attic/]"
    assert not reading("what is in there now", "find", "path:", "same")


def test_a_task_is_looked_for_in_the_list_before_it() -> None:
    tasks = Reading((PipelineStep("list_tasks", NoteSet(notes=NOTES[:1]), {"state": "open"}),), 1.0)
    program: list[Symbol] = ["complete_task", "query=", (2, 3)]
    after_list = reading("tick off the lock", *program, dialog=DialogState(last=tasks))
    assert after_list == "complete_task [@Instruments/H1] query=lock"
    assert reading("tick off the lock", *program) == "complete_task query=lock"


def test_texts_and_names_are_found_in_other_spellings() -> None:
    language = languages()[0]
    resolver = Resolver()
    for note in ("Dal tadka.md", "Papers/Harlow 2019 - Hedge width and small mammals.md"):
        resolver.add(NotePath.on_disk(note))
    values = (("genre", "sci-fi"), ("status", "to watch"), ("language", "C++"), ("grade", "A+"))
    words = VaultWords(("paper",), values=values)
    vocabulary = Vocabulary(resolver, words, language.data.get("plurals", ()), nouns=language.table("nouns"))
    for text in ("sci-fi", "scifi", "sci fi", "science fiction"):
        assert vocabulary.find_value(text) == "[genre:sci-fi]"
    assert not vocabulary.find_value("c") and not vocabulary.find_value("a"), "other names"
    assert vocabulary.find_value("unwatched") == '[status:"to watch"]'
    assert vocabulary.find_misspelled_note("dal") == "Dal tadka.md"
    assert vocabulary.find_misspelled_note("tad") is None, "a part of a word"
    assert vocabulary.find_similar_notes("mamm").is_clear, "the beginning of a word"
    asked = replace(request("open the Harlow-paper"), vocabulary=vocabulary)
    mentions = asked.mentions(asked.tokens)
    assert [mention.notes.notes for mention in mentions if mention.notes] == [
        ("Papers/Harlow 2019 - Hedge width and small mammals.md",)
    ]
