"""Recognize questions by their words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.agent.language.lexicon import Language

_WORD = re.compile(r"[^\W\d_]+")


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
