"""Tell questions about what the notes say ("what is a gimbal?") from requests for notes."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
from app.answering.question import read_question

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


def as_content_question(found: Interpretation, text: str, languages: Sequence[Language]) -> Interpretation:
    """Read a request as a question about the notes where it asks and was read as a search for words.

    Args:
        found: How the grammar reads it.
        text: The request.
        languages: The languages that it may be in.

    Returns:
        A question about the notes, or `found`.
    """
    words = [word.casefold() for word in _WORD.findall(text)]
    language = asking_language(text, languages)
    if language is None or len(words) < _FEWEST_WORDS or words[1] in language.words("addressed"):
        return found
    if not read_question(text).words:
        # Pronouns alone: the topic is in what was said before, which a search does not know.
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
    """The language in which a text asks; None for one that is no question."""
    words = [word.casefold() for word in _WORD.findall(text)]
    language = next((one for one in languages if words and words[0] in one.words("asking_words")), None)
    if language is None and text.rstrip().endswith("?"):
        language = next((one for one in languages if one.words("question_words") & set(words)), None)
    return language


def _is_weak(reading: Reading) -> bool:
    """Whether a reading is a search for words, or a guess at another thing to look up."""
    (*before, step) = reading.steps
    guesses = not before and step.action in _LOOKING_UP and reading.score < _SURE
    # A reading among others is shown with what it would do; one this unlikely is not what a question means.
    return guesses or reading.score < _UNLIKELY or _finds_words(reading)


def _finds_words(reading: Reading) -> bool:
    """Whether a reading is a search for words and nothing else."""
    (*before, step) = reading.steps
    said = step.target or NoteSet()
    is_narrowed = said.notes or said.source or said.pick or said.order or ":" in said.query
    return not before and step.action in _FINDING and not is_narrowed


def _names_notes(words: Sequence[str], language: Language) -> bool:
    return bool(language.words("asked_for") & set(words))
