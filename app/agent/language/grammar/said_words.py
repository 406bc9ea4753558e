"""The words of a request for a change, without those of names and of the texts that it writes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache, cached_property
from itertools import pairwise

from app.agent.language.grammar.mentions import EntityMention
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.readings import NoteSet, Reading, as_tuple
from app.agent.language.words.lexicon import Language
from app.agent.language.words.tokens import Token

WORD = re.compile(r"[^\W_]+")
_TEXT_ROLES = ("text", "old", "name", "new_name", "value", "query")
_NAMING_MENTIONS = ("note", "date", "tag", "kind", "value", "quoted")


class SaidWords:
    """The words of a request for a change.

    Args:
        request: The request.
        reading: The change.
    """

    def __init__(self, request: Request, reading: Reading) -> None:
        self._request = request
        self._reading = reading

    @cached_property
    def mentions(self) -> tuple[EntityMention, ...]:
        """The mentions of the request."""
        return self._request.mentions(self._request.tokens)

    @cached_property
    def tokens(self) -> list[Token]:
        """The words without those of names and of written texts."""
        written = {word for text in self.texts for word in (*text.split(), *WORD.findall(text))}
        named = {
            id(token)
            for mention in self.mentions
            if mention.kind in _NAMING_MENTIONS
            for token in mention.tokens
        }
        return [
            token
            for token in self._request.tokens
            if token.is_word and token.value.casefold() not in written and id(token) not in named
        ]

    @property
    def plain_tokens(self) -> list[Token]:
        """The words without articles: in German, determiners before a noun, which begins with a capital."""
        determiners = self._request.language.words("determiners")
        articles = {
            id(token)
            for token, noun in pairwise(self._request.tokens)
            if token.key in determiners and noun.value[:1].isupper()
        }
        return [token for token in self.tokens if id(token) not in articles]

    @property
    def texts(self) -> list[str]:
        """The texts that the change writes or looks for, in lower case."""
        return [
            str(text).casefold()
            for step in self._reading.steps
            for role in _TEXT_ROLES
            if role in step.arguments
            for text in as_tuple(step.arguments[role])
        ]

    def matches(self, phrases: str) -> bool:
        """Return whether the words contain a phrase of a list of the language."""
        language = self._request.language
        return language.has_phrase(self.tokens, phrases)

    def has_one_of(self, words: Collection[str]) -> bool:
        """Return whether one of the words is in a collection."""
        return any(token.key in words for token in self.tokens)

    def says(self, name: str) -> bool:
        """Return whether one of the words is in a list of the table "doubts"."""
        return self.has_one_of(self.word_list(name))

    def word_list(self, name: str) -> frozenset[str]:
        """Return a list of the table "doubts"."""
        return _doubt_words(self._request.language)[name]

    def names(self, notes: NoteSet) -> bool:
        """Return whether the request names one of some notes."""
        return any(
            mention.notes is not None and not set(mention.notes.notes).isdisjoint(notes.notes)
            for mention in self.mentions
            if mention.kind == "note"
        )


@cache
def _doubt_words(language: Language) -> Mapping[str, frozenset[str]]:
    return {name: frozenset(words) for name, words in language.table("doubts").items()}
