"""Translations of the agent's answers, from the table `answers` of a language's data file."""

from __future__ import annotations

import re
from functools import cache

from app.agent.language.words.lexicon import Language

_SLOT = "{}"
_HEADS_OF_REASONS = ("Unchanged:", "Skipped:")
_HEADS_OF_FACTS = ("This vault contains:",)
_SENTENCE_END = re.compile(r"[.!?] (?=[A-Z0-9])")
_LINK = re.compile(r"\[\[[^\[\]\n]*\]\]")
_MASK = "\ue000"
"""The placeholder of a link, so that a translation does not change its text: "[[Out of Control]]"."""
_NAME = re.compile(r"“[^”\n]*”|'[^'\n]*'")


def localize(text: str, language: Language) -> str:
    """Translate an answer into a language; text without a translation stays in English.

    A paragraph that matches no answer as a whole, for example a list, is translated line by line. In a list
    of what was left out, the reasons after the colons are translated. Quotations stay as they are.

    Args:
        text: The answer in English; a blank line separates its paragraphs.
        language: The language of the request.
    """
    if not language.table("answers"):
        return text
    paragraphs = text.split("\n\n")
    translated = []
    for part, before in zip(paragraphs, ["", *paragraphs], strict=False):
        localize_part = _localize_paragraph
        if before in _HEADS_OF_REASONS:
            localize_part = _localize_reasons
        elif before in _HEADS_OF_FACTS:
            localize_part = _localize_facts
        translated.append(part if part.startswith(">") else localize_part(part, language))
    return "\n\n".join(translated)


def _localize_reasons(text: str, language: Language) -> str:
    lines = (line.partition(": ") for line in text.split("\n"))
    return "\n".join(f"{name}{colon}{_localize_paragraph(why, language)}" for name, colon, why in lines)


def _localize_facts(text: str, language: Language) -> str:
    lines = (line.partition("- ") for line in text.split("\n"))
    return "\n".join(
        f"{before}{bullet}{_localize_paragraph(fact, language)}" for before, bullet, fact in lines
    )


def _localize_paragraph(text: str, language: Language) -> str:
    links, masked = iter(_LINK.findall(text)), _LINK.sub(_MASK, text)
    for pattern, translation in _templates(language):
        if (match := pattern.fullmatch(masked)) and not _spans_sentences(match):
            pieces = translation.split(_SLOT)
            values = (*match.groups(), "")
            whole = "".join(f"{piece}{value}" for piece, value in zip(pieces, values, strict=False))
            return re.sub(_MASK, lambda mask: next(links, mask[0]), whole)
    table = language.table("answers")
    return "\n".join(table.get(line, line) for line in text.split("\n"))


def _spans_sentences(match: re.Match[str]) -> bool:
    """Return whether a value before the end of the answer contains the end of a sentence.

    Links are masked, and names in quotation marks may contain anything.
    """
    spans = (match.span(group) for group in range(1, len(match.groups()) + 1))
    # With the characters around it, which may be quotation marks.
    values = (match.string[max(start - 1, 0) : end + 1] for start, end in spans if end < match.end())
    return any(_SENTENCE_END.search(_NAME.sub("", value)) for value in values)


@cache
def _templates(language: Language) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the patterns of English answers with their translations, fewest slots and longest text first."""
    table = language.table("answers")
    ordered = sorted(table, key=lambda text: (text.count(_SLOT), -len(text)))
    return tuple(
        (re.compile("(.+)".join(map(re.escape, text.split(_SLOT)))), table[text]) for text in ordered
    )
