"""A comparison or an order without a property means a property of the notes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from app.agent.language.dialog import DialogState
from app.agent.language.fitting_properties import with_fitting_property
from app.agent.language.notation import serialize
from app.agent.language.readings import Clarification, ContentQuestion, NoteSet, PipelineStep, Reading
from tests.agent.language.test_program import request

DEVICES: Mapping[str, Mapping[str, object]] = {
    "Devices/Kettle.md": {"price": 40, "bought": "2019-05-01", "warranty": "2027-01-01", "model": 2020},
    "Devices/Oven.md": {"price": 700, "bought": "2024-02-10", "warranty": "2026-01-01", "model": 2018},
    "Devices/Fridge.md": {"price": 550, "bought": "2021-07-20", "warranty": "2026-08-01"},
}
KIND = "path:Devices/"
LISTED = DialogState(
    results=tuple(DEVICES), last=Reading((PipelineStep("find", NoteSet(query="path:Devices/")),), 1.0)
)


def offered(text: str, found: NoteSet | None, dialog: DialogState | None = None) -> list[str]:
    """Return the readings that are offered in place of a search; `found` is None for a question."""
    answer = asyncio.run(
        with_fitting_property(
            request(text, dialog),
            ContentQuestion(text) if found is None else Reading((PipelineStep("find", found),), 1.0),
            _with_hits,
            lambda path: DEVICES.get(path, {}),
        )
    )
    options = answer.options if isinstance(answer, Clarification) else ()
    return [serialize(option.reading) for option in options]


async def _with_hits(notes: NoteSet) -> NoteSet:
    return replace(notes, query="", notes=tuple(DEVICES)) if "path:Devices/" in notes.query else notes


@pytest.mark.parametrize(
    ("text", "found", "expected"),
    [
        ("devices over 500", NoteSet(query="path:Devices/ over 500"), "find [path:Devices/ [price:>500]]"),
        ("devices under €600", NoteSet(query="path:Devices/"), "find [path:Devices/ [price:<600]]"),
        (
            "my devices by age",
            NoteSet(query="path:Devices/", order="name"),
            "find [path:Devices/] order=-bought",
        ),
        (
            "the two oldest devices",
            NoteSet(query="path:Devices/", order="-dated", limit=2),
            "find [path:Devices/] order=-bought limit=2",
        ),
        (
            "the second oldest device",
            NoteSet(query="path:Devices/", order="-dated", limit=2),
            "find [@Devices/Fridge]",
        ),
        (
            "newest device",
            NoteSet(query="path:Devices/", order="modified", limit=1),
            "find [path:Devices/] order=bought limit=1",
        ),
    ],
)
def test_a_number_or_an_age_means_a_property_of_the_notes(text: str, found: NoteSet, expected: str) -> None:
    assert offered(text, found)[0] == expected


def test_a_follow_up_compares_the_notes_of_the_last_search() -> None:
    assert offered("and under 200", None, LISTED)[0] == "find [path:Devices/ [price:<200]]"
    narrowed = NoteSet(query="path:Devices/ [price:>500]")
    last = Reading((PipelineStep("find", narrowed),), 1.0)
    assert (
        offered("and under 200", None, replace(LISTED, last=last))[0] == "find [path:Devices/ [price:<200]]"
    )
    # Of a list that was only counted, the notes' folder is known.
    counted = DialogState(results=tuple(DEVICES)[1:])
    assert offered("and under 200", None, counted)[0] == "find [path:Devices/ [price:<200]]"


def test_an_order_keeps_the_conditions_of_the_last_search() -> None:
    last = Reading((PipelineStep("find", NoteSet(query="path:Devices/ [price:>50]")),), 1.0)
    found = NoteSet(notes=tuple(DEVICES), order="modified", limit=1)
    after = replace(LISTED, last=last)
    assert offered("the newest?", found, after)[0] == "find [path:Devices/ [price:>50]] order=bought limit=1"


def test_a_comparative_selects_one_of_the_notes_mentioned_before() -> None:
    recent = DialogState(recent=("Devices/Oven.md", "Devices/Fridge.md"))
    found = NoteSet(order="modified", limit=1)
    assert (
        offered("which is newer", found, recent)[0]
        == "find [@Devices/Oven, @Devices/Fridge] order=bought limit=1"
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("devices over 5 minutes", NoteSet(query="path:Devices/")),  # names another property
        ("devices over 500 pages", NoteSet(query="path:Devices/")),
        ("devices over 9000", NoteSet(query="path:Devices/")),  # no value is as large
        ("devices before 2020", NoteSet(query="path:Devices/")),
        ("newest device", NoteSet(query="path:Devices/", order="warranty", limit=1)),
        ("newest notes", NoteSet(order="modified")),
    ],
)
def test_a_number_or_an_age_with_another_meaning_is_left_alone(text: str, found: NoteSet) -> None:
    assert offered(text, found) == []
