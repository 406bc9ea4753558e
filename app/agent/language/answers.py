"""Translations of the agent's answers, from the table `answers` of a language's data file."""

from __future__ import annotations

import re
from functools import cache

from app.agent.language.lexicon import Language

_SLOT = "{}"


def localize(text: str, language: Language) -> str:
    """Translate an answer into a language; text without a translation stays in English.

    A paragraph that matches no answer as a whole, for example a list, is translated line by line.

    Args:
        text: The answer in English; a blank line separates its paragraphs.
        language: The language of the request.
    """
    if not language.table("answers"):
        return text
    return "\n\n".join(_localize_paragraph(part, language) for part in text.split("\n\n"))


def _localize_paragraph(text: str, language: Language) -> str:
    for pattern, translation in _templates(language):
        if match := pattern.fullmatch(text):
            pieces = translation.split(_SLOT)
            values = (*match.groups(), "")
            return "".join(f"{piece}{value}" for piece, value in zip(pieces, values, strict=False))
    table = language.table("answers")
    return "\n".join(table.get(line, line) for line in text.split("\n"))


@cache
def _templates(language: Language) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the patterns of English answers with their translations, fewest slots and longest text first."""
    table = language.table("answers")
    ordered = sorted(table, key=lambda text: (text.count(_SLOT), -len(text)))
    return tuple(
        (re.compile("(.+)".join(map(re.escape, text.split(_SLOT)))), table[text]) for text in ordered
    )
