"""Answers are translated by the data file of the language; values and unknown paragraphs stay as they are."""

from __future__ import annotations

from app.agent.language.answers import localized
from app.agent.language.lexicon import languages


def test_an_answer_is_in_the_language_of_the_request() -> None:
    english, german = languages()
    text = "3 notes:\n\n- [[H1]]\n- [[H4]]\n\n… and 1 more."
    assert localized(text, english) == text
    assert localized(text, german) == "3 Notizen:\n\n- [[H1]]\n- [[H4]]\n\n… und 1 weitere."
    assert localized("No note is named “{}”. Which note do you mean?", german) == (
        "Keine Notiz heißt „{}“. Welche Notiz meinst du?"
    )
    assert localized("An answer without a translation.", german) == "An answer without a translation."


def test_a_translation_has_the_values_of_its_answer() -> None:
    for language in languages():
        for answer, translated in language.table("answers").items():
            assert answer.count("{}") == translated.count("{}"), answer
