"""A text is replaced everywhere in a note at once, as a whole word."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.test_dialog import answers, fill, say, talk, text

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
    assert answers(talk)[-1] == "“Rope” does not occur in [[Errands]]." and not approver.asked


async def test_everywhere_without_a_note_is_asked(talk, approver) -> None:
    approver.asked.clear()
    await say(talk, "replace clock with watch everywhere")
    assert isinstance(talk.items[-1], Question) and not approver.asked


async def test_the_question_about_the_place_does_not_repeat_the_failure(talk) -> None:
    await fill(talk, Errands=BODY)
    await say(talk, "replace rope with cord in Errands")
    assert talk.items[-1].text == "Which occurrence do you mean?"
    assert not any("Say which one" in answer for answer in answers(talk))


async def test_a_note_that_is_too_large_to_read_is_not_changed_in_part(talk, approver) -> None:
    long = "foo\n" + "A line of text.\n" * 20_000 + "foo\n"
    await fill(talk, Long=long)
    await say(talk, "= replace [@Long] old=foo text=bar occurrence=all")
    assert not approver.asked and text(talk, "Long.md") == long
