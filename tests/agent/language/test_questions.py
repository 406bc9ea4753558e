"""Questions are recognized by their words, in every language."""

from __future__ import annotations

import pytest

from app.agent.language.lexicon import languages
from app.agent.language.questions import question_language, with_topic_of


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("what is latitude sailing?", "en"),
        ("Wer war John Harrison", "de"),
        ("H4 was made by whom?", "en"),
        ("until when did France keep Paris?", "en"),
        ("tag H4 with clock", ""),
        ("tag H4 with clock?", ""),
        ("", ""),
    ],
)
def test_the_language_of_a_question(text: str, code: str) -> None:
    found = question_language(text, languages())
    assert (found.code if found else "") == code


@pytest.mark.parametrize(
    ("previous", "text", "complete"),
    [
        ("who made K1?", "and when?", "when made K1?"),
        ("wer hat K1 gebaut?", "und wann?", "wann hat K1 gebaut?"),
        ("who made K1?", "when was H4 tried?", "when was H4 tried?"),
        ("", "and when?", "and when?"),
    ],
)
def test_a_question_without_a_topic_continues_the_previous_one(previous, text, complete) -> None:
    assert with_topic_of(text, previous, languages()) == complete
