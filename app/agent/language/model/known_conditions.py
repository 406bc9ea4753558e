"""Conditions that a request may mean without containing their words.

They are the conditions of the last search, and conditions on values and tags of the vault: those that begin
like a word of the request ("finish" and `finished`), and those that people often name by other words: kinds
of notes ("gear" for the folder `Instruments`), and the values of properties with few values, such as a status
("unread" for `to-read`). The request model selects them by their position, as it selects words and
properties.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from app.agent.language.grammar.request import Request
from app.agent.language.meaning.conditions import condition_slots, top_level_parts
from app.agent.language.words.vault_words import START_LENGTH
from app.agent.language.words.vocabulary import MAX_KINDS
from app.vault.path import name_key

MAX_LAST_CONDITIONS, MAX_SIMILAR_CONDITIONS, MAX_LISTED_CONDITIONS = 6, 6, 12
"""Maximum numbers of conditions from each source; unused places go to the next source."""
MAX_KNOWN_CONDITIONS = MAX_LAST_CONDITIONS + MAX_SIMILAR_CONDITIONS + MAX_KINDS + MAX_LISTED_CONDITIONS
_NAME = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class KnownCondition:
    """A condition that a request may mean.

    Args:
        text: The condition in the search language: `[status:finished]`.
        words: The words of its value, or of its property if it compares numbers or days.
        is_last: Whether the last search has it.
        is_kind: Whether it is about the kind of notes: a tag, a folder, a type or a category.
    """

    text: str
    words: str
    is_last: bool
    is_kind: bool

    @property
    def is_negated(self) -> bool:
        """True if it excludes notes."""
        return self.text.startswith("-")


def known_conditions(request: Request) -> tuple[KnownCondition, ...]:
    """Return at most `MAX_KNOWN_CONDITIONS` conditions, those of the last search first."""
    last = request.dialog.last.last.target if request.dialog.last is not None else None
    parts = top_level_parts(last.query) if last is not None else []
    # Kinds of notes exclude the templates anyway.
    implied = ("OR", request.vocabulary.excluded_templates)
    kept = [part for group in parts for part in _alternatives(group) if part not in implied]
    texts = dict.fromkeys(kept[:MAX_LAST_CONDITIONS], True)
    for text in _similar(request):
        if len(texts) < MAX_LAST_CONDITIONS + MAX_SIMILAR_CONDITIONS:
            texts.setdefault(text, False)
    texts |= {text: texts.get(text, False) for text in request.vocabulary.kind_conditions}
    for text in request.vocabulary.listed_conditions:
        if len(texts) < MAX_KNOWN_CONDITIONS:
            texts.setdefault(text, False)
    return tuple(
        KnownCondition(text, _words(text), is_last, condition_slots(text) == {"kind"})
        for text, is_last in texts.items()
    )


def _similar(request: Request) -> Iterator[str]:
    """Yield the conditions that begin like a word of the request, in turn one for each word."""
    plain = request.language.function_words()
    words = dict.fromkeys(token.key for token in request.tokens if token.is_word and token.key not in plain)
    starts = dict.fromkeys(word[:START_LENGTH] for word in words if len(word) >= START_LENGTH)
    found = [request.vocabulary.conditions_by_start.get(start, ()) for start in starts]
    for row in zip_longest(*found):
        yield from filter(None, row)


def _alternatives(part: str) -> Iterator[str]:
    """Yield the conditions in a group; another condition unchanged."""
    if part.startswith("("):
        yield from top_level_parts(part[1:-1])
    else:
        yield part


def _words(condition: str) -> str:
    """Return the words of a condition's value, or of its property or field if the value has no letters."""
    name, _, value = condition.strip('-[]"').partition(":")
    found = _NAME.findall(name_key(value.rstrip("/").rpartition("/")[2]))
    named = [word for word in found if any(map(str.isalpha, word))]
    return " ".join(named or _NAME.findall(name_key(name)))
