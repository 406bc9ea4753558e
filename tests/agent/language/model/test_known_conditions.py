"""Conditions that a request may mean without their words, and programs that select them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.agent.language.grammar.request import Request
from app.agent.language.meaning.actions import ACTIONS
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.model.item_spans import request_items
from app.agent.language.model.known_conditions import MAX_KNOWN_CONDITIONS, known_conditions
from app.agent.language.model.program import ProgramReader
from app.agent.language.model.request_model import field_inputs
from app.agent.language.model.symbols import CONDITION, Symbol
from app.agent.language.words.dates import DateParser
from app.agent.language.words.lexicon import languages
from app.agent.language.words.tokens import tokenize
from app.agent.language.words.vault_words import VaultWords
from app.agent.language.words.vocabulary import Vocabulary
from app.index.records import PropertyValueShares
from app.index.resolver import Resolver
from app.vault.path import NotePath
from tests.agent.language.model.test_program import NOW

VALUES = (
    *(("categories", "[[Films]]"), ("categories", "[[Books]]"), ("director", "[[Wong]]")),
    *(("status", "to watch"), ("status", "finished"), ("place", "Harbor")),
)


def request(text: str, query: str = "") -> Request:
    """Return `text` after a search in a small vault; without a query, as the first request."""
    language = languages()[0]
    resolver = Resolver()
    for note in ("Cards/Chungking Express.md", "Templates/Film.md", "Journal/2026-03-18.md"):
        resolver.add(NotePath.on_disk(note))
    shares = tuple(PropertyValueShares(name) for name in ("status", "categories", "director", "place"))
    words = VaultWords(("favorite", "place/harbor"), (), ("status", "director"), VALUES, shares)
    vocabulary = Vocabulary(resolver, words, language.data.get("plurals", ()))
    found = Reading((PipelineStep("find", NoteSet(query=query)),), 1.0) if query else None
    tokens = tokenize(text, language.contractions, language.words("noise"))
    dates = DateParser(language, NOW)
    return Request(
        text, language, tokens, vocabulary, dates, DialogState(last=found), ACTIONS, language.frames
    )


def reading(asked: Request, *program: Symbol) -> str:
    """Return the reading of a program whose negative positions count known conditions: -1 is the first."""
    items = request_items(asked)
    first = len(items) + len(asked.vocabulary.fields)
    placed = [
        (first - 1 - symbol[0], first - 1 - symbol[1])
        if isinstance(symbol, tuple) and symbol[0] < 0
        else symbol
        for symbol in program
    ]
    found = ProgramReader(asked, items).read(placed)
    return serialize(found) if found is not None else ""


def test_the_conditions_of_the_last_search_come_first() -> None:
    asked = request("not those", "[categories:Films] (tag:favorite OR -[status:finished]) -path:Templates/")
    texts = [condition.text for condition in known_conditions(asked)]
    assert texts[:3] == ["[categories:Films]", "tag:favorite", "-[status:finished]"]
    assert [condition.is_last for condition in known_conditions(asked)][:4] == [True, True, True, False]


def test_kinds_and_few_values_are_known_but_no_names() -> None:
    texts = [condition.text for condition in known_conditions(request("something unseen"))]
    assert set(texts) == {
        *("[categories:Films]", "[categories:Books]", "path:Cards/", "path:Journal/"),
        *("tag:favorite", "tag:place/harbor", '[status:"to watch"]', "[status:finished]"),
    }


def test_values_are_told_apart_by_letters_and_digits() -> None:
    asked = request("those", "[status:in_progress] [class:9B] [year:>=1990] path:Cards/Old/")
    words = [condition.words for condition in known_conditions(asked)][:4]
    assert words == ["in progress", "9b", "year", "old"]


def test_each_word_finds_a_similar_value_in_turn() -> None:
    language = languages()[0]
    tags = tuple(f"project/p{number}" for number in range(9))
    words = VaultWords(tags, (), ("status",), (("status", "finished"), ("status", "open")))
    vocabulary = Vocabulary(Resolver(), words, language.data.get("plurals", ()))
    tokens = tokenize("projects that I finish with", language.contractions, frozenset())
    dates = DateParser(language, NOW)
    asked = Request("", language, tokens, vocabulary, dates, DialogState(), ACTIONS, language.frames)
    texts = [condition.text for condition in known_conditions(asked)]
    assert texts[:2] == ["tag:project/p0", "[status:finished]"]


def test_the_number_of_conditions_is_limited() -> None:
    language = languages()[0]
    tags = tuple(f"project/p{number}" for number in range(40))
    values = tuple((f"mood{at}", f"mood {at} {number}") for at in range(10) for number in range(12))
    vocabulary = Vocabulary(Resolver(), VaultWords(tags, values=values), language.data.get("plurals", ()))
    tokens = tokenize("projects in a mood", language.contractions, frozenset())
    dates = DateParser(language, NOW)
    asked = Request("", language, tokens, vocabulary, dates, DialogState(), ACTIONS, language.frames)
    assert len(known_conditions(asked)) == MAX_KNOWN_CONDITIONS


@pytest.mark.parametrize(("count", "is_listed"), [(1, False), (2, True), (12, True), (13, False)])
def test_properties_with_few_values_are_listed(count: int, is_listed: bool) -> None:
    values = tuple(("mood", f"mood {number}") for number in range(count))
    assert bool(VaultWords(values=values).listed_conditions) == is_listed
    linked = tuple((name, f"[[{value}]]") for name, value in values)
    assert not VaultWords(values=linked).listed_conditions


def test_a_value_that_begins_like_a_word_is_known() -> None:
    texts = [condition.text for condition in known_conditions(request("what is at the harbour"))]
    assert texts[:2] == ["tag:place/harbor", "[place:Harbor]"]


def test_programs_select_known_conditions() -> None:
    asked = request("books instead", "[categories:Films] [status:finished]")
    assert reading(asked, "find", "value:", (0, 0), CONDITION, (-2, -2)) == (
        "find [[categories:Books] [status:finished] -path:Templates/]"
    )
    assert reading(asked, "find", CONDITION, (-1, -1), "OR", CONDITION, (-2, -2)) == (
        "find [([categories:Films] OR [status:finished]) -path:Templates/]"
    )
    assert reading(asked, "find", CONDITION, (-1, -1), "-", CONDITION, (-2, -2)) == (
        "find [[categories:Films] -[status:finished] -path:Templates/]"
    )


def test_a_change_can_take_its_value_from_a_known_condition() -> None:
    asked = request("done with Chungking Express", "tag:favorite [status:finished]")
    note = next(at for at, item in enumerate(request_items(asked)) if item.mention.kind == "note")
    found = reading(
        asked, "set_property", "@", (note, note), "key=", "p:status", "value=", CONDITION, (-2, -2)
    )
    assert found == "set_property [@Cards/Chungking Express] key=status value=finished"
    tagged = reading(asked, "add_tag", "@", (note, note), "tag=", CONDITION, (-1, -1))
    assert tagged == "add_tag [@Cards/Chungking Express] tag=favorite"
    # A condition on a property is no tag, and one on a tag or on another property no value.
    assert not reading(asked, "add_tag", "@", (note, note), "tag=", CONDITION, (-2, -2))
    assert not reading(
        asked, "set_property", "@", (note, note), "key=", "p:status", "value=", CONDITION, (-1, -1)
    )
    assert not reading(
        asked, "set_property", "@", (note, note), "key=", "p:read", "value=", CONDITION, (-2, -2)
    )
    assert not reading(asked, "add_tag", "@", (note, note), "tag=", CONDITION)
    assert not reading(asked, "append", "@", (note, note), "text=", CONDITION, (-1, -1))


def test_what_is_excluded_is_not_excluded_twice() -> None:
    asked = request("those too", "[categories:Films] -[status:finished]")
    assert not reading(asked, "find", CONDITION, (-1, -1), "-", CONDITION, (-2, -2))


@given(st.integers(0, 80))
def test_a_position_without_a_condition_makes_no_reading(at: int) -> None:
    asked = request("books instead", "[categories:Films]")
    known = known_conditions(asked)
    position = len(request_items(asked)) + len(asked.vocabulary.fields) + at
    found = ProgramReader(asked, request_items(asked)).read(["find", CONDITION, (position, position)])
    assert (found is not None) == (at < len(known))


def test_the_model_sees_each_condition() -> None:
    asked = request("books instead", "[categories:Films] -[status:finished]")
    inputs = field_inputs(asked)
    known = known_conditions(asked)
    assert len(inputs) == len(asked.vocabulary.fields) + len(known)
    flags = [(words, [flags[4], *flags[-4:]]) for words, flags in inputs[len(asked.vocabulary.fields) :]]
    assert flags[:3] == [
        ("films", [0.0, 1.0, 1.0, 0.0, 1.0]),
        ("finished", [0.0, 1.0, 1.0, 1.0, 0.0]),
        ("books", [1.0, 1.0, 0.0, 0.0, 1.0]),
    ]


@pytest.mark.parametrize(
    ("word", "folder"),
    [
        ("recipe", "Recipes"),
        ("person", "Club/People"),
        ("story", "Stories"),
        ("recipes", None),
        ("draft", None),
    ],
)
def test_a_folder_has_the_plural_of_its_kind_as_its_name(word, folder) -> None:
    resolver, language = Resolver(), languages()[0]
    for path in ("Recipes", "Old/Recipes", "Club/People", "Stories", "A/Drafts", "B/Drafts"):
        resolver.add(NotePath.on_disk(f"{path}/Note.md"))
    vocabulary = Vocabulary(resolver, VaultWords(), language.data.get("plurals", ()))
    assert vocabulary.find_folder_of_one(word) == folder


def test_names_that_contain_a_word_in_a_longer_one_hide_no_note() -> None:
    resolver = Resolver()
    for name in (*(f"Planning {number}" for number in range(100)), "Ann Lee", "Talk with Ann"):
        resolver.add(NotePath.on_disk(f"{name}.md"))
    vocabulary = Vocabulary(resolver, VaultWords())
    assert vocabulary.notes_with_word("ann") == ("Ann Lee.md", "Talk with Ann.md")
    assert not vocabulary.find_similar_notes("ann").is_clear
    assert vocabulary.find_similar_notes("lee").paths == ("Ann Lee.md",)
