"""Questions are recognized by their words, in every language."""

from __future__ import annotations

import pytest

from app.agent.language.lexicon import languages
from app.agent.language.questions import question_language


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
