"""Find the heading of a note that words name: "decision" for "Decisions"."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from app.agent.language.words.lexicon import Language
from app.answering.question import stems
from app.vault.markdown.headings import heading_key


def named_heading(words: str, headings: Sequence[str], language: Language) -> str:
    """Return the only heading with the words, or with other forms of them; an empty text without one.

    Function words are left out if need be.
    """
    exact = [own for own in headings if heading_key(own) == heading_key(words)]
    plain, nouns = language.function_words(), {*language.table("new_tasks")["section_nouns"]}
    for ignored in (language.words("determiners") | nouns, plain | nouns):
        named = _stems(words, language, ignored)
        like = exact or [
            own
            for own in headings
            if named and _stems(own, language, plain | nouns) <= named <= _stems(own, language)
        ]
        if like:
            has_others = not exact and sum(named <= _stems(own, language) for own in headings) > 1
            return "" if len(like) > 1 or has_others else like[0]
    joined = _stems(words.replace("-", ""), language, language.words("determiners"))
    like = [own for own in headings if joined and _stems(own.replace("-", ""), language) == joined]
    return like[0] if len(like) == 1 else ""  # "the todos" for "To-do"


def _stems(text: str, language: Language, ignored: Collection[str] = ()) -> set[str]:
    return {
        *stems(" ".join(word for word in heading_key(text).split() if word not in ignored), language.code)
    }
