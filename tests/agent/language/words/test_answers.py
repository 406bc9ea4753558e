"""Answers are translated by the data file of the language; values and unknown paragraphs stay as they are."""

from __future__ import annotations

from app.agent.language.words.answers import localize
from app.agent.language.words.lexicon import languages
from app.agent.replies import HELP


def test_an_answer_is_in_the_language_of_the_request() -> None:
    english, german = languages()
    text = "3 notes:\n\n- [[H1]]\n- [[H4]]\n\n… and 1 more."
    assert localize(text, english) == text
    assert localize(text, german) == "3 Notizen:\n\n- [[H1]]\n- [[H4]]\n\n… und 1 weitere."
    assert localize("No note is named “{}”. Which note do you mean?", german) == (
        "Keine Notiz heißt „{}“. Welche Notiz meinst du?"
    )
    assert localize("There is no completed task that matches “tea”.", german) == (
        "Es gibt keine erledigte Aufgabe, die zu „tea“ passt."
    )
    assert localize("2 notes (of these 3):", german) == "2 Notizen (von diesen 3):"
    assert localize("1 note (of 103).", german) == "1 Notiz (von 103)."
    assert localize("Which task do you mean?", german) == "Welche Aufgabe meinst du?"
    assert localize("An answer without a translation.", german) == "An answer without a translation."


def test_the_name_of_a_note_is_not_translated() -> None:
    german = next(language for language in languages() if language.code == "de")
    answer = "Set rating of [[Out of Control]] to 9. To undo this, say “undo”."
    assert localize(answer, german).startswith("rating von [[Out of Control]] ist jetzt 9.")


def test_a_translation_has_the_values_of_its_answer() -> None:
    for language in languages():
        for answer, translated in language.table("answers").items():
            assert answer.count("{}") == translated.count("{}"), answer


def test_errors_of_tools_and_the_help_have_words_in_german() -> None:
    german = next(language for language in languages() if language.code == "de")
    error = "Instruments/H4.md does not have the tag #brass."
    assert localize(error, german) == "Instruments/H4.md hat das Schlagwort #brass nicht."
    missing = "No note is named 'Kronos'.\n\nDid you mean one of these?\n- [[Chronos]]"
    assert (
        localize(missing, german)
        == "Keine Notiz heißt 'Kronos'.\n\nMeinst du eine von diesen?\n- [[Chronos]]"
    )
    english = {line for line in HELP.splitlines() if line}
    assert not english & set(localize(HELP, german).splitlines())


def test_no_value_spans_sentences() -> None:
    german = next(language for language in languages() if language.code == "de")
    joined = "Renamed the property a to b. Done to it in 1 note. To undo this, say “undo”."
    assert localize(joined, german) == joined
    quoted = "There is no open task that matches “Call Dr. Smith. Then go”."
    assert localize(quoted, german) == "Es gibt keine offene Aufgabe, die zu „Call Dr. Smith. Then go“ passt."
    linked = "[[People/Dr. Smith|Dr. Smith]] is empty."
    assert localize(linked, german) == "[[People/Dr. Smith|Dr. Smith]] ist leer."


def test_a_quotation_stays_as_it_is() -> None:
    german = next(language for language in languages() if language.code == "de")
    assert localize("> I have 3 notes", german) == "> I have 3 notes"


def test_the_extent_of_a_change_has_words_in_german() -> None:
    german = next(language for language in languages() if language.code == "de")
    assert localize("1 note", german) == "1 Notiz"
    assert localize("1 note, 1 in subfolders", german) == "1 Notiz, davon 1 in Unterordnern"
