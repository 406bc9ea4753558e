"""Compare words regardless of their endings."""

from __future__ import annotations

import re
from collections.abc import Mapping

_ENDINGS: Mapping[str, re.Pattern[str]] = {
    # "n" only as in "sown".
    "en": re.compile(r"(?:ing|ed|(?<=[sxzo])es|(?<=[cs]h)es|(?<!s)s|(?<=w)n)$"),
    "de": re.compile(r"(?:te?|ten|st|e[mnrs]?|[ns])$"),
}
_MIN_STEMS = {"en": 3, "de": 4}


def is_same_word(word: str, other: str, language: str) -> bool:
    """Return whether two words are forms of one word: "repot" and "repotted", "sow" and "sown".

    Args:
        word: A word in lower case.
        other: Another word in lower case.
        language: The code of the words' language.
    """
    return word == other or not _base_forms(word, language).isdisjoint(_base_forms(other, language))


def _base_forms(word: str, language: str) -> set[str]:
    """Return the words of which a word may be a form, and the word itself."""
    forms = {word}
    ending = _ENDINGS.get(language)
    if ending is None:
        return forms
    for start in range(_MIN_STEMS[language], len(word)):
        if match := ending.match(word, start):
            stem = word[:start]
            forms.add(stem)
            if match[0] in ("ed", "ing"):
                forms.add(f"{stem}e")
                forms |= {stem[:-1]} if stem[-1] == stem[-2] else set()
    if language == "en" and word.endswith(("ies", "ied")):
        forms.add(f"{word[:-3]}y")
    return forms
