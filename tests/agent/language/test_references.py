"""References to notes by the words of a conversation."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from app.agent.builtin import BuiltinAgent
from app.agent.language.doubts.dropped_conditions import with_every_condition
from app.agent.language.meaning.dialog import DialogState, OwnChange
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    NoteSet,
    PipelineStep,
    Reading,
)
from app.agent.language.model.candidates import candidates
from app.agent.language.words.vault_words import VaultWords
from app.index.resolver import Resolver
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES
from app.vault.path import NotePath
from tests.agent.language.model.test_program import NOTES as LISTED_NOTES
from tests.agent.language.model.test_program import reading, request
from tests.support.everyday_requests import HERE, read, sample_agent

NOTES = (
    "Journal/2026-03-09.md",
    "Journal/2026-03-18.md",
    "Companies/Halden Cells.md",
    "Meetings/2026-02-12 Halden price talk.md",
    "Meetings/2025-12-10 Year-end retro.md",
    "Projects/Charger 2.md",
    "Projects/Torrwind adapter.md",
)
LISTED = DialogState(open_note=NOTES[5], results=NOTES[3:5])


@pytest.fixture(scope="module")
def agent() -> BuiltinAgent:
    resolver = Resolver()
    for note in NOTES:
        resolver.add(NotePath.on_disk(note))
    registry = ToolRegistry(CATEGORIES, CATALOG)
    words = VaultWords(properties=("project", "owner"))
    return BuiltinAgent(registry, resolver, lambda: words, now=lambda: datetime(2026, 3, 18, 12))


def readings(agent: BuiltinAgent, text: str, state: DialogState) -> list[str]:
    """Return the reading of a request, or those that a question offers, in the notation."""
    found = read(agent, text, state)
    offered = [option.reading for option in found.options] if isinstance(found, Clarification) else [found]
    return [serialize(one) for one in offered if isinstance(one, Reading)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("note from march 9, read it to me", "read [@Journal/2026-03-09]"),
        ("schreib in die heutige Notiz: Tonne", "append [@Journal/2026-03-18] text=Tonne"),
        ("add to todays page: bins", "append [@Journal/2026-03-18] text=bins"),
        ("todays note", "open [@Journal/2026-03-18]"),
    ],
)
def test_a_day_names_its_note(agent: BuiltinAgent, text: str, expected: str) -> None:
    assert readings(agent, text, LISTED)[0] == expected


def test_a_listed_note_with_the_words_comes_before_other_notes(agent: BuiltinAgent) -> None:
    assert readings(agent, "open the halden one", LISTED) == [f"open [@{NOTES[3][:-3]}]"]
    # The list has no such note, but its folder does.
    near = replace(LISTED, results=NOTES[5:6])
    assert readings(agent, "open the torrwind one", near) == ["open [@Projects/Torrwind adapter]"]
    found = read(agent, "delete the halden one", LISTED)
    assert isinstance(found, Clarification)


def test_each_note_with_an_ambiguous_name_is_offered() -> None:
    text = "get rid of the tag maps on the man Mercator, the map concept keeps it"
    offered = readings(sample_agent(), text, HERE)
    assert offered[:2] == [
        "remove_tag [@Concepts/Mercator] tag=maps",
        "remove_tag [@People/Mercator] tag=maps",
    ]


def test_a_noun_that_no_note_has_as_its_name_may_be_a_nested_tag() -> None:
    assert reading("open the harbor's note", "open", "@", (1, 3)) == "open [tag:place/harbor]"


def test_an_ordinal_selects_listed_notes() -> None:
    listed = replace(HERE, results=tuple(f"Instruments/H{number}.md" for number in (1, 2, 3)))
    offered = readings(sample_agent(), "tag first two replace-soon", listed)
    assert offered[0] == "add_tag [@Instruments/H1, @Instruments/H2] tag=replace-soon"
    asked = request("who is the author of the third one?", DialogState(results=LISTED_NOTES))
    written = [serialize(one.reading) for one in candidates(asked) if one.reading is not None]
    assert written[0] == "properties_of [@People/John Harrison] about=author"


def test_both_means_two_notes_that_were_just_created() -> None:
    changes = tuple(
        OwnChange(entry, "create_note", (note,)) for entry, note in enumerate(LISTED_NOTES[:2], 1)
    )
    steps = tuple(PipelineStep("create_note", None, {"name": name}) for name in ("H1", "H4"))
    dialog = replace(DialogState(focus=LISTED_NOTES[1:2]), changes=changes).after(Reading(steps, 1.0), None)
    program = ("add_tag", "it", "tag=", (3, 3))
    both = "add_tag [@Instruments/H1, @Instruments/H4] tag=clock"
    assert reading("both get tag clock", *program, dialog=dialog) == both


def test_a_longer_name_that_a_request_contains_comes_before_a_shorter_one() -> None:
    resolver = Resolver()
    for note in ("The Long Goodbye.md", "The Long Goodbye (film).md", "The Long Goodbye (book).md"):
        resolver.add(NotePath(note))
    vault = BuiltinAgent(ToolRegistry(CATEGORIES, CATALOG), resolver, VaultWords)
    text = "show me how the {} of the Long Goodbye has changed"
    assert readings(vault, text.format("film"), DialogState()) == ["history [@The Long Goodbye (film)]"]
    assert readings(vault, text.format("text"), DialogState()) == ["history [@The Long Goodbye]"]


def test_the_other_notes_are_those_without_the_note_of_the_last_change() -> None:
    moved = PipelineStep("add_tag", NoteSet(notes=LISTED_NOTES[:1]), {"tag": ("place/harbor",)})
    dialog = DialogState(focus=LISTED_NOTES[:1], last=Reading((moved,), 1.0))
    written = candidates(request("tag all the other clocks too", dialog))
    found = [serialize(one.reading) for one in written if one.reading is not None]
    assert 'add_tag [tag:clock -path:"Instruments/H1.md"] tag=place/harbor' in found


def test_no_note_is_merged_with_itself() -> None:
    resolver = Resolver()
    for note in ("Descaling.md", "Descale the kettle.md", "Compost.md"):
        resolver.add(NotePath(note))
    vault = BuiltinAgent(ToolRegistry(CATEGORIES, CATALOG), resolver, VaultWords)
    offered = readings(vault, "merge the two descaling notes", DialogState())
    assert offered[0] == 'merge [@Descaling] other="@Descale the kettle"'
    assert 'merge [@Descaling] other="@Descaling"' not in offered


def test_a_word_for_a_task_is_no_heading() -> None:
    plain, headed = (
        Reading(
            (PipelineStep("append", NoteSet(notes=LISTED_NOTES[:1]), {"text": "- [ ] oil it", **extra}),), 1.0
        )
        for extra in ({}, {"heading": "todo"})
    )
    options = tuple(ClarificationOption(serialize(one), one) for one in (plain, headed))
    question = Clarification("Which of these do you mean?", options)
    assert with_every_condition(request("add another todo: oil it"), question) is question


@pytest.mark.parametrize("query", ['links-to:"People/John Harrison"', '[author:"John Harrison"]'])
def test_his_note_is_that_of_the_person_whose_notes_were_listed(query: str) -> None:
    last = Reading((PipelineStep("find", NoteSet(query=query)),), 1.0)
    asked = request("open his note", DialogState(results=LISTED_NOTES[:2], last=last))
    written = [one.reading for one in candidates(asked) if one.reading is not None]
    assert serialize(written[0]) == "open [@People/John Harrison]"


@pytest.fixture
def described() -> BuiltinAgent:
    resolver = Resolver()
    for note in ("Board of Longitude.md", "Board minutes.md", "Lunar distance method.md", "Compost.md"):
        resolver.add(NotePath(note))
    return BuiltinAgent(ToolRegistry(CATEGORIES, CATALOG), resolver, VaultWords)


@pytest.mark.parametrize(
    ("text", "notation"),
    [
        ("open the note on the lunar method", "open [@Lunar distance method]"),
        ("read the page about the minutes", "read [@Board minutes]"),
        ("summarize the note on Longitude", "summarize [@Board of Longitude]"),
        ("öffne die Notiz über Longitude", "open [@Board of Longitude]"),
    ],
)
def test_words_of_one_name_describe_its_note(described: BuiltinAgent, text: str, notation: str) -> None:
    found = read(described, text, DialogState())
    assert isinstance(found, Reading) and serialize(found) == notation


def test_words_of_several_names_are_asked_about(described: BuiltinAgent) -> None:
    found = read(described, "open the note on the Board", DialogState())
    assert isinstance(found, Clarification)
    assert [option.label for option in found.options] == ["Board minutes.md", "Board of Longitude.md"]


@pytest.mark.parametrize("text", ["delete the note on Longitude", "open the note on roses"])
def test_a_described_note_is_not_changed_at_once_and_others_are_not_found(
    described: BuiltinAgent, text: str
) -> None:
    assert not isinstance(read(described, text, DialogState()), Reading)
