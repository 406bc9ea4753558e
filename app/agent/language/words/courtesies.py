"""Remove the courtesies of a request."""

from __future__ import annotations

from app.agent.language.words.lexicon import Language
from app.agent.language.words.tokens import Token


def without_courtesies(language: Language, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the tokens without courtesies at the start and end: "please", "thanks"."""
    phrases = language.phrases("courtesies")
    ending = (*phrases, *language.phrases("scopes", "totals"))
    position, end = 0, len(tokens)
    while position < end:
        if tokens[position].kind == "mark":
            position += 1
            continue
        after = max((m.end for p in phrases if (m := p.longest_match(tokens, position))), default=position)
        if after == position or after >= end:
            break
        position = after
    changed = True
    while changed and end > position:
        changed = False
        if tokens[end - 1].kind == "mark":
            end, changed = end - 1, True
            continue
        for start in range(max(position + 1, end - 5), end):
            is_ending = any(phrase.matches_all(tokens[start:end]) for phrase in ending)
            if is_ending and tokens[start].key not in (
                "then",
                "again",
                "first",
                "next",
            ):
                end, changed = start, True
                break
    return tokens[position:end]
