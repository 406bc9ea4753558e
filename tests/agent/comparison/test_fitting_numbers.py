"""A number without a property may change one of the note in talk that is near it."""

from __future__ import annotations

import pytest

from app.agent.comparison.offered_order import with_fitting_number_first, with_stated_value_first
from app.agent.language.doubts.option_order import is_near
from app.agent.language.meaning.dialog import DialogState
from tests.agent.comparison.test_offered_order import H1, question, request_of, steps, talk

__all__ = ["talk"]
STATE = DialogState(open_note=H1)
SEARCH = "find [[built:>=64]]"
KNOWN = {"pages": 60, "cost": 4, "sold": False, "sent": "2026-03-01"}
CHANGE = "set_property [@Instruments/H1] key=pages value=64"


def fitting(talk, text, *lines, known=KNOWN) -> list[str]:
    asked = question(talk, *lines)
    return steps(with_fitting_number_first(asked, request_of(talk, text, STATE), lambda path: known))


@pytest.mark.parametrize(
    "text", ["grew a little, 64 now", "it's at 64 now", "up to 64", "die sind jetzt bei 64 angekommen"]
)
def test_a_number_near_that_of_the_note_is_its_next_one(talk, text) -> None:
    assert fitting(talk, text, SEARCH) == [CHANGE, SEARCH]


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("grew a little, 64 now", {"cost": 4, "sent": "2026-03-01"}),
        ("is it 64 now?", KNOWN),
        ("find those with 64 now", KNOWN),
        ("64", KNOWN),
        ("64 would be nice", KNOWN),
        ("the bill came to 64", KNOWN),
        ("its humidity is 64 now", KNOWN),
        ("die Rechnung ist jetzt bei 64", KNOWN),
    ],
)
def test_other_numbers_keep_the_question(talk, text, known) -> None:
    assert fitting(talk, text, SEARCH, known=known) == [SEARCH]


def test_the_nearest_number_comes_first(talk) -> None:
    nearest = "set_property [@Instruments/H1] key=copies value=64"
    known = {"pages": 30, "copies": 63}
    assert fitting(talk, "up to 64", SEARCH, known=known) == [nearest, CHANGE, SEARCH]


def test_properties_that_the_note_lacks_come_last(talk) -> None:
    other = "set_property [@Instruments/H1] key=built value=64"
    assert fitting(talk, "she counted 64 now", other) == [CHANGE, other]
    assert fitting(talk, "she counted 64 now", CHANGE, other) == [CHANGE, other]


def test_a_list_of_notes_with_the_property_comes_after_a_stated_value(talk) -> None:
    listed, change = "find [[mail]]", "set_property [@Instruments/H1] key=mail value=bo@example.org"
    asked = question(talk, listed, change)
    stated = request_of(talk, "he has a mail now, bo@example.org", STATE)
    assert steps(with_stated_value_first(asked, stated)) == [*steps(asked)[::-1]]
    assert with_stated_value_first(asked, request_of(talk, "everyone who has a mail", STATE)) == asked


@pytest.mark.parametrize(
    ("value", "present", "expected"),
    [
        (450, 400, True),
        (450, 3, False),
        (5, None, True),
        (5, "a text", False),
        (0, 12, True),
        (5, True, False),
    ],
)
def test_a_number_is_near_one_of_the_same_size(value, present, expected) -> None:
    assert is_near(value, present) is expected
