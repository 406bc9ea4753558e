"""Changes that leave out words, or use a word twice, are not offered beside the whole change."""

from __future__ import annotations

import pytest

from app.agent.language.doubts.partial_readings import is_partial, likelier_parts, uses_twice, without_partial
from app.agent.language.meaning.notation import parse
from app.agent.language.meaning.readings import Reading
from app.agent.language.model.decision import Option
from tests.agent.language.model.test_program import request

FEATURES = {"unclear": 0.0}


def change(text: str, line: str) -> Reading:
    asked = request(text)
    reading = parse(line, asked.vocabulary.notes, asked.allowed)
    assert reading is not None
    return reading


def options(text: str, **lines: float) -> list[Option]:
    return [Option(FEATURES, change(text, line), share=share) for line, share in lines.items()]


@pytest.mark.parametrize(
    ("text", "part", "whole", "expected"),
    [
        ("create a note Ryokan stay", "create_note name=Ryokan", 'create_note name="Ryokan stay"', True),
        ("create a note Ryokan stay", 'create_note name="Ryokan stay"', "create_note name=Ryokan", False),
        # "With" may end the name, so the shorter one may be meant.
        ("create a note Tea with milk", "create_note name=Tea", 'create_note name="Tea with milk"', False),
        ("tag H4 old clock", "add_tag [@H4] tag=old", 'add_tag [@H4] tag="old clock"', True),
        ("tag H4 old clock", "add_tag [@H4] tag=old", 'add_tag [@H5] tag="old clock"', False),
        ("open H4", "open [@H4]", "open [@H4]", False),
    ],
)
def test_a_part_of_a_change_leaves_out_words(text, part, whole, expected) -> None:
    assert is_partial(request(text), change(text, part), change(text, whole)) is expected


def test_a_part_adds_its_probability_to_the_whole_change() -> None:
    text = "create a note Ryokan stay"
    given = options(text, **{"create_note name=Ryokan": 0.5, 'create_note name="Ryokan stay"': 0.3})
    kept = without_partial(request(text), given)
    assert [(option.reading, option.share) for option in kept] == [(given[1].reading, pytest.approx(0.8))]
    assert likelier_parts(request(text), given, kept) == given[:1]


def test_a_part_adds_nothing_if_another_change_is_likely() -> None:
    text = "create a note Ryokan stay"
    lines = {"create_note name=Ryokan": 0.5, 'create_note name="Ryokan stay"': 0.3, "open [@H4]": 0.1}
    kept = without_partial(request(text), options(text, **lines))
    assert [option.share for option in kept] == [0.3, 0.1]


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("add a property format to H4", "set_property [@H4] key=format value=format", True),
        ("set format of H4 to format", "set_property [@H4] key=format value=format", False),
        ("set format of H4 to print", "set_property [@H4] key=format value=print", False),
    ],
)
def test_a_word_is_not_used_twice(text, line, expected) -> None:
    assert uses_twice(request(text), change(text, line)) is expected
