"""A text is replaced everywhere in a note at once, as a whole word."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.meaning.test_dialog import OPEN, answers, fill, order, say, talk, text

__all__ = ["talk"]
BODY = "---\nname: rope\n---\nBuy rope. The rope is short, and the ropes are old.\n"
REPLACED = "---\nname: rope\n---\nBuy cord. The cord is short, and the ropes are old.\n"


@pytest.mark.parametrize(
    "request_text",
    [
        "replace rope with cord everywhere in Errands",
        "replace rope with cord in Errands, everywhere",
        "ersetze rope überall in Errands durch cord",
        "replace rope with cord in every place in Errands",
    ],
)
async def test_every_occurrence_is_replaced_with_one_approval(talk, approver, request_text) -> None:
    await fill(talk, Errands=BODY)
    approver.asked.clear()
    await say(talk, request_text)
    assert text(talk, "Errands.md") == REPLACED and len(approver.asked) == 1


async def test_a_part_of_a_word_is_no_occurrence(talk, approver) -> None:
    await fill(talk, Errands="Ropes.\n")
    approver.asked.clear()
    await say(talk, "replace Rope with cord everywhere in Errands")
    assert answers(talk)[-1] == ("“Rope” does not occur as a whole word in [[Errands]]. Nothing was changed.")
    assert not approver.asked


async def test_everywhere_without_a_note_is_asked(talk, approver) -> None:
    approver.asked.clear()
    await say(talk, "replace clock with watch everywhere")
    assert isinstance(talk.items[-1], Question) and not approver.asked


async def test_the_question_about_the_place_does_not_repeat_the_failure(talk) -> None:
    await fill(talk, Errands=BODY)
    await say(talk, "replace rope with cord in Errands")
    assert talk.items[-1].text == "Which occurrence do you mean?"
    assert not any("Say which one" in answer for answer in answers(talk))


async def test_the_places_of_a_text_are_shown_with_the_words_around_them(talk) -> None:
    await fill(
        talk, Tart="---\nkind: butter\n---\n- 75 g of butter\n\nThe butter " + "very " * 20 + "soft.\n"
    )
    await say(talk, "replace butter with oil in Tart")
    labels = [choice.label for choice in talk.items[-1].choices[:2]]
    assert labels == ["1: - 75 g of butter", "2: The butter very very very very very very…"]
    await say(talk, "2")
    assert text(talk, "Tart.md").startswith("---\nkind: butter\n---\n- 75 g of butter\n\nThe oil very")


async def test_a_note_that_is_too_large_to_read_is_not_changed_in_part(talk, approver) -> None:
    long = "foo\n" + "A line of text.\n" * 20_000 + "foo\n"
    await fill(talk, Long=long)
    await say(talk, "= replace [@Long] old=foo text=bar occurrence=all")
    assert not approver.asked and text(talk, "Long.md") == long


TART = (
    "# Tart\n\nCold butter.\n\n## Filling\n\nBrowned butter, more butter.\n\n## Tips\n\n" + "butter\n\n" * 3
)


@pytest.mark.parametrize(
    ("answer", "places"),
    [
        ("the second", [2]),
        ("the second one please", [2]),
        ("the sixth", [6]),
        ("the last one", [6]),
        ("all of them", [1, 2, 3, 4, 5, 6]),
        ("only in the Filling section", [2, 3]),
        ("just in the filling section please", [2, 3]),
        ("nur im Abschnitt Filling", [2, 3]),
    ],
)
async def test_the_place_is_an_answer(talk, approver, answer, places) -> None:
    await fill(talk, Tart=TART)
    await say(talk, "replace butter with lard in Tart")
    question = talk.items[-1]
    assert isinstance(question, Question) and len(question.choices) == 5
    approver.asked.clear()
    await say(talk, answer)
    first, *rest = TART.split("butter")
    expected = first + "".join(
        f"{'lard' if at in places else 'butter'}{part}" for at, part in enumerate(rest, 1)
    )
    assert text(talk, "Tart.md") == expected and len(approver.asked) == 1


async def test_a_missing_heading_is_reported(talk, approver) -> None:
    await fill(talk, Tart=TART)
    approver.asked.clear()
    await say(talk, "replace butter with lard in Tart", "only in the Pastry section")
    assert answers(talk)[-1] == "[[Tart]] has no single heading “Pastry”. Nothing was changed."
    assert not approver.asked


@pytest.mark.parametrize(
    "request_text",
    [
        "replace every butter with lard in Tart",
        "replace all butter with lard in Tart",
        "ersetze jedes butter durch lard in Tart",
    ],
)
async def test_every_text_means_all_places(talk, approver, request_text) -> None:
    await fill(talk, Tart=TART)
    approver.asked.clear()
    await say(talk, request_text)
    assert text(talk, "Tart.md") == TART.replace("butter", "lard") and len(approver.asked) == 1


async def test_all_occurrences_are_all_places(talk) -> None:
    await fill(talk, Tart=TART)
    await order(talk, "replace all occurrences of butter with lard in Tart")
    assert text(talk, "Tart.md") == TART.replace("butter", "lard")


@pytest.mark.parametrize(
    "request_text",
    [
        "replace Lisbon with Lissabon here",
        "replace Lisbon here with Lissabon",
        "ersetze Lisbon hier durch Lissabon",
    ],
)
async def test_here_is_the_note_on_the_screen_and_no_part_of_the_text(talk, request_text) -> None:
    before = text(talk, OPEN)
    await say(talk, request_text)
    assert "Lisbon" in before and text(talk, OPEN) == before.replace("Lisbon", "Lissabon")


async def test_here_with_more_words_may_be_a_part_of_the_text(talk) -> None:
    await say(talk, "replace Lisbon with here we are")
    assert isinstance(talk.items[-1], Question)


async def test_the_name_of_a_note_may_be_replaced_here(talk) -> None:
    await fill(talk, Lisbon="A port.\n")
    before = text(talk, OPEN)
    await say(talk, "replace Lisbon with Lissabon here")
    assert text(talk, OPEN) == before.replace("Lisbon", "Lissabon") and text(talk, "Lisbon.md") == "A port.\n"
