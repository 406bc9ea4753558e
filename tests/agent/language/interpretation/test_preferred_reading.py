"""The reading that the request model prefers to a change."""

from __future__ import annotations

import pytest

from app.agent.language.interpretation import preferred_reading
from app.agent.language.meaning.notation import parse
from app.agent.language.meaning.readings import NoteSet, Reading
from app.agent.language.model.candidates import MeaningCandidate
from tests.agent.language.model.test_program import request

LISTED = ("Instruments/H1.md", "Instruments/H4.md")


def reading(line: str) -> Reading:
    asked = request("tag it old")
    found = parse(line, asked.vocabulary.notes, asked.allowed)
    assert found is not None
    return found


async def with_clocks(given: Reading) -> Reading:
    """Return the reading with two notes in place of a search for clocks."""
    steps = [
        step
        if step.target is None or step.target.query != "tag:clock"
        else type(step)(step.action, NoteSet(notes=LISTED[::-1]), step.arguments)
        for step in given.steps
    ]
    return Reading(tuple(steps), given.score)


@pytest.mark.parametrize(
    ("change", "written", "expected"),
    [
        ("add_tag [@H4] tag=old", {"add_tag [@H1] tag=old": 0.5, "add_tag [@H4] tag=old": 0.4}, 0),
        ("add_tag [@H4] tag=old", {"add_tag [@H1] tag=old": 0.4, "add_tag [@H4] tag=old": 0.5}, None),
        ("add_tag [@H4] tag=old", {"add_tag [@H1] tag=old": 0.2, "add_tag [@H4] tag=old": 0.1}, None),
        ("add_tag [@H4] tag=old", {"open [@H4]": 0.6, "add_tag [@H4] tag=old": 0.1}, 0),
        # A change that the model does not know.
        ("add_tag [@H4] tag=old", {"open [@H4]": 0.6}, None),
        # The same notes in other words, in another order.
        ("add_tag [@H1, @H4] tag=old", {"add_tag [tag:clock] tag=old": 0.9}, None),
        # A change of every note, or of a note that does not exist, is not offered.
        ("add_tag [@H4] tag=old", {"add_tag [*] tag=old": 0.9, "add_tag [@Nothing] tag=old": 0.9}, None),
        # The model writes parts of values, tasks and the direction of a merge less reliably than the grammar.
        ('append [@H4] text="old, brass"', {"append [@H4] text=brass": 0.9}, None),
        (
            "append [@H4] text=brass",
            {'append [@H4] text="old, brass"': 0.7, "append [@H4] text=brass": 0.2},
            0,
        ),
        ("add_tag [@H4] tag=a | add_tag [these] tag=b", {"add_tag [@H4] tag=a": 0.9}, None),
        ('complete_task [@H4] query="Wind it"', {"complete_task query=wind": 0.9}, None),
        ("merge [@H1] other=@H4", {"merge [@H4] other=@H1": 0.9}, None),
        ("undo scope=last", {"open [@H4]": 0.9, "undo": 0.1}, None),
        ("reschedule_task [@H4] query=wind due=2026-03-20", {"open [@H4]": 0.9}, None),
        ("open [@H1] | add_tag [these] tag=a | open [these]", {"open [@H1]": 0.9}, None),
    ],
)
async def test_the_model_prefers_another_meaning(monkeypatch, change, written, expected) -> None:
    meanings = [MeaningCandidate(share, reading(line)) for line, share in written.items()]
    monkeypatch.setattr(preferred_reading, "candidates", lambda request: meanings)
    found = await preferred_reading.preferred_reading(request("tag it old"), reading(change), with_clocks)
    assert found == (None if expected is None else meanings[expected].reading)


async def test_the_probabilities_of_the_same_meaning_are_added(monkeypatch) -> None:
    lines = {
        "add_tag [@H1, @H4] tag=old": 0.3,
        "add_tag [tag:clock] tag=old": 0.3,
        "add_tag [@H4] tag=old": 0.5,
    }
    meanings = [MeaningCandidate(share, reading(line)) for line, share in lines.items()]
    monkeypatch.setattr(preferred_reading, "candidates", lambda request: meanings)
    found = await preferred_reading.preferred_reading(
        request("tag it old"), reading("add_tag [@H4] tag=old"), with_clocks
    )
    assert found == meanings[0].reading


@pytest.mark.parametrize("outcome", ["question", "ask"])
async def test_an_outcome_without_a_reading_is_not_preferred(monkeypatch, outcome) -> None:
    change = reading("delete [@H4]")
    meanings = [MeaningCandidate(0.6, outcome=outcome), MeaningCandidate(0.1, change)]
    monkeypatch.setattr(preferred_reading, "candidates", lambda request: meanings)
    assert await preferred_reading.preferred_reading(request("delete that"), change, with_clocks) is None
