"""Distinguish questions about the content of notes ("what is a gimbal?") from requests for notes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from app.agent.language.lexicon import Language
from app.agent.language.readings import (
    Clarification,
    ContentQuestion,
    Interpretation,
    ModelRequired,
    NoteSet,
    Reading,
    Reply,
)
from app.answering.question import parse_question

_WORD = re.compile(r"[^\W\d_]+")
_FINDING = frozenset(("find", "count", "meaning", "properties_of"))
_LOOKING_UP = frozenset(
    (
        "backlinks",
        "history",
        "list_tasks",
        "open",
        "outgoing",
        "properties_of",
        "read",
        "related",
        "relations",
        "similar",
        "summarize",
        "tags_of",
    )
)
_SURE, _UNLIKELY = 0.75, 0.45
_FEWEST_WORDS = 3
_CONTENTS = ("question", "model")
"""Intents of questions that only the text of notes, or a model, can answer."""
_CLEARLY, _CLEARLY_WORDS = 2.0, 8.0
"""How many times likelier than a question about contents a lookup must be, and a search for words."""


def as_content_question(
    found: Interpretation, text: str, languages: Sequence[Language], odds: Mapping[str, float]
) -> Interpretation:
    """Treat a request as a question about the notes if it asks and was read as a search for words.

    Args:
        found: The reading of the request.
        text: The request.
        languages: The possible languages of the request.
        odds: The probabilities of the intents.

    Returns:
        A question about the notes, or `found`.
    """
    words = [word.casefold() for word in _WORD.findall(text)]
    language = asking_language(text, languages)
    if language is None or len(words) < _FEWEST_WORDS or words[1] in language.words("addressed"):
        return found
    if not parse_question(text).words:
        # Only pronouns: the topic is in the conversation, which a search does not use.
        return found
    if isinstance(found, Reading | Clarification) and not _is_empty(found):
        lookup = max((odds[label] for label in odds if label not in _CONTENTS), default=0.0)
        only_words = isinstance(found, Reading) and _finds_words(found)
        clearly = _CLEARLY_WORDS if only_words else _CLEARLY
        if lookup > clearly * sum(odds.get(label, 0.0) for label in _CONTENTS):
            return found
    match found:
        case ContentQuestion():
            return found
        case ModelRequired():
            return ContentQuestion(text, needs_model=found)
        case Clarification(options=()) if found.partial is None or not _names_notes(words, language):
            return ContentQuestion(text) if words[0] in language.words("asking_words") else found
        case Reply(understood=False) if not found.text and text.rstrip().endswith("?"):
            return ContentQuestion(text)
        case Clarification(options=options) if options and all(_is_weak(o.reading) for o in options):
            return found if _names_notes(words, language) else ContentQuestion(text)
        case Reading() if _is_weak(found):
            return found if _names_notes(words, language) else ContentQuestion(text)
        case _:
            return found


def asking_language(text: str, languages: Sequence[Language]) -> Language | None:
    """Return the language of a question; None for a text that is not a question."""
    words = [word.casefold() for word in _WORD.findall(text)]
    language = next(
        (candidate for candidate in languages if words and words[0] in candidate.words("asking_words")), None
    )
    if language is None and text.rstrip().endswith("?"):
        language = next(
            (candidate for candidate in languages if candidate.words("question_words") & set(words)), None
        )
    return language


def with_name_for_pronouns(text: str, name: str, languages: Sequence[Language]) -> str:
    """Return a question with a note's name instead of the pronouns for it: "when was he born?"."""
    language = asking_language(text.removeprefix(_first_joint(text, languages)), languages) or languages[0]
    forms = language.table("question_pronouns")

    def named(match: re.Match[str]) -> str:
        form = forms.get(match[0].casefold())
        return form.replace("{}", name) if form else match[0]

    return _WORD.sub(named, text)


def _first_joint(text: str, languages: Sequence[Language]) -> str:
    """Return the word that joins a question to the one before it ("and when …?"), with its space."""
    first = text.split(" ", 1)[0]
    joints = {phrase.text for language in languages for phrase in language.phrases("and")}
    return f"{first} " if first.casefold().strip(",") in joints else ""


def _is_empty(found: Interpretation) -> bool:
    """Return whether an interpretation only asks back, without an answer to choose."""
    return isinstance(found, Clarification) and not found.options


def _is_weak(reading: Reading) -> bool:
    """Return whether a reading is a search for words, or an unlikely guess at another lookup."""
    (*before, step) = reading.steps
    guesses = not before and step.action in _LOOKING_UP and reading.score < _SURE
    # An ambiguous reading is offered as a choice; one this unlikely is not the meaning of a question.
    return guesses or reading.score < _UNLIKELY or _finds_words(reading)


def _finds_words(reading: Reading) -> bool:
    """Return whether a reading is only a search for words."""
    (*before, step) = reading.steps
    notes = step.target or NoteSet()
    is_narrowed = notes.notes or notes.source or notes.pick or notes.order or ":" in notes.query
    return not before and step.action in _FINDING and not is_narrowed


def _names_notes(words: Sequence[str], language: Language) -> bool:
    """Return whether a question asks for notes ("which notes") rather than about their contents."""
    asked, nouns = language.words("asked_for"), language.words("note_nouns")
    counting = language.words("before_asked_notes")
    return any(
        word in asked and (word not in nouns or counting.intersection(words[max(0, index - 2) : index]))
        for index, word in enumerate(words)
    )
