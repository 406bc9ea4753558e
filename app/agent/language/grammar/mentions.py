"""Find the mentions in a request: notes, tags, quoted text, numbers, dates and names from the vault."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from app.agent.language.grammar.note_sets import NoteSetParser
from app.agent.language.meaning.readings import NoteSet
from app.agent.language.words.dates import DateParser
from app.agent.language.words.lexicon import Language
from app.agent.language.words.tokens import Token, plain_number, span_text
from app.agent.language.words.vocabulary import NAMED_PROPERTIES, Vocabulary
from app.vault.path import NotePath

MentionKind = Literal["note", "tag", "quoted", "kind", "value", "prop", "num", "date", "rel", "word"]

_MAX_NAME_TOKENS = 8
_MIN_NAME_LENGTH = 3
_MAX_PARTIAL_WORDS = 3
_YEAR = re.compile(r"1\d\d\d|20\d\d")


@dataclass(frozen=True, slots=True)
class EntityMention:
    """A mention of something in a request, or one of its other words.

    Args:
        kind: The kind of the mention; "word" for a word that names nothing.
        tokens: The words of the mention.
        notes: The named notes, for a note.
        value: The note's name, tag, property, number, text, folder, type or relation, the search for a date,
            or the text of a property.
        is_near: Whether the words only resemble the name.
    """

    kind: MentionKind
    tokens: tuple[Token, ...]
    notes: NoteSet | None = None
    value: str = ""
    is_near: bool = False


@dataclass(frozen=True)
class MentionFinder:
    """Splits words of a request into mentions, preferring the longest names.

    Args:
        request: The request's text.
        tokens: The words.
        language: The lexicon of its language.
        vocabulary: The names in the vault.
        sets: The parser for the names of notes.
        dates: The date parser.
    """

    request: str
    tokens: Sequence[Token]
    language: Language
    vocabulary: Vocabulary
    sets: NoteSetParser
    dates: DateParser

    @cached_property
    def _own_words(self) -> frozenset[str]:
        """The words of the language that alone are no names."""
        language = self.language
        return language.vocabulary() | language.words("fillers") | language.words("question_words")

    def find(self) -> tuple[EntityMention, ...]:
        """Return the mentions, without marks."""
        mentions: list[EntityMention] = []
        position = 0
        while position < len(self.tokens):
            mention = self._mention_at(position)
            if mention.tokens[0].kind != "mark":
                mentions.append(mention)
            position += len(mention.tokens)
        exact = {path for own in mentions if own.notes and not own.is_near for path in own.notes.notes}
        # "Rename Octant to Oktant" does not name the note twice.
        return tuple(
            EntityMention("word", mention.tokens)
            if mention.is_near and mention.notes and set(mention.notes.notes) <= exact
            else mention
            for mention in mentions
        )

    def _mention_at(self, position: int) -> EntityMention:
        token = self.tokens[position]
        if token.kind == "mark":
            return EntityMention("word", (token,))
        if token.kind == "tag":
            return EntityMention("tag", (token,), value=token.value)
        return (
            self._category_at(position)
            or self._name_or_date_at(position)
            or self._relation_at(position)
            or self._known_word(token)
        )

    def _name_or_date_at(self, position: int) -> EntityMention | None:
        """Return the note, property text, quoted text, date or number at a token, or None."""
        token, note, value = self.tokens[position], self._note_at(position), self._value_at(position)
        if note is not None and value is not None:
            # The note "Saltfleet Marsh" is not the town Saltfleet.
            return note if not note.is_near and len(note.tokens) > len(value.tokens) else value
        if value is not None:
            return value
        date = self._date_at(position)
        # "March 2026" is not the note Marsh.
        is_year = date is not None and _YEAR.fullmatch(date.tokens[-1].value) is not None
        is_longer = date is not None and note is not None and len(date.tokens) > len(note.tokens)
        if note is not None and not (note.is_near and is_year and is_longer):
            return note
        if token.kind in ("quoted", "link"):
            return EntityMention("quoted", (token,), value=token.value)
        if date is not None and (len(date.tokens) > 1 or is_year or not token.value[0].isdigit()):
            return date
        is_number = plain_number(token.value) is not None
        return EntityMention("num", (token,), value=token.value.strip("()")) if is_number else None

    def _date_at(self, position: int) -> EntityMention | None:
        """Return the date at a token, unless its year begins a name: "on the 1891 census"."""
        span = self.dates.parse_span(self.tokens, position)
        if span is None:
            return None
        last = span.end - 1
        if last > position and _YEAR.fullmatch(self.tokens[last].value):
            named = self._note_at(last)
            if named is not None and len(named.tokens) > 1:
                return None
        words = tuple(self.tokens[position : span.end])
        return EntityMention("date", words, value=span.query("modified"))

    def _relation_at(self, position: int) -> EntityMention | None:
        """Return the first type of relation that a phrase at a token names, or None."""
        for kind, phrases in self.language.relations.items():
            matches = (phrase.longest_match(self.tokens, position) for phrase in phrases)
            end = max((match.end for match in matches if match), default=position)
            if end > position or self.tokens[position].value.casefold() == kind:
                words = tuple(self.tokens[position : max(end, position + 1)])
                return EntityMention("rel", words, value=kind)
        return None

    def _known_word(self, token: Token) -> EntityMention:
        """Return the property, folder, type, property text or tag that a word alone names, or the word."""
        language, vocabulary, single = self.language, self.vocabulary, (token,)
        if token.key in language.words("note_nouns") | language.words("fillers"):
            return EntityMention("word", single)
        if name := language.property_name(token.key, vocabulary.find_property):
            return EntityMention("prop", single, value=name)
        for word in (token.key, *vocabulary.singular_forms(token.key)):
            if (folder := vocabulary.find_folder(word)) and word not in self._own_words:
                return EntityMention("kind", single, value=folder)
        if (known := vocabulary.find_property(token.value)) and token.key not in language.words("tag_nouns"):
            return EntityMention("prop", single, value=known)
        if known := vocabulary.find_type(token.value):
            return EntityMention("kind", single, value=known)
        if token.key in self._own_words:
            return EntityMention("word", single)
        if (known := vocabulary.find_related_property(token.value)) and known not in NAMED_PROPERTIES:
            return EntityMention("prop", single, value=known)
        if vocabulary.find_value_in_part(label := token.value.removesuffix("'s")):
            return EntityMention("value", single, value=label)
        if known := vocabulary.find_tag(token.value):
            return EntityMention("kind" if known.casefold() != token.key else "tag", single, value=known)
        return EntityMention("word", single)

    def _phrases_at(self, position: int, longest: int) -> Iterator[tuple[Token, ...]]:
        """Yield the words from a token that may be a name, the most words first."""
        for end in range(min(len(self.tokens), position + longest), position, -1):
            part = tuple(self.tokens[position:end])
            if len(part) > 1 or not part[0].is_word or part[0].key not in self._own_words:
                yield part

    def _category_at(self, position: int) -> EntityMention | None:
        """Return the longest category name at a token; skip a capitalized one, which may name a note."""
        for part in self._phrases_at(position, _MAX_PARTIAL_WORDS):
            text = span_text(self.request, part)
            is_plain = all(token.is_word for token in part) and not part[0].value[:1].isupper()
            if is_plain and self.vocabulary.find_category(text):
                return EntityMention("kind", part, value=text)
        return None

    def _value_at(self, position: int) -> EntityMention | None:
        """Return the longest text of a property that starts at a token and is no other name in the vault."""
        for part in self._phrases_at(position, _MAX_PARTIAL_WORDS):
            text = _without_possessive(span_text(self.request, part))
            is_value = all(token.is_word for token in part) and self.vocabulary.find_value(text)
            if is_value and not self.vocabulary.has_name(text):
                return EntityMention("value", part, value=text)
        return None

    def _note_at(self, position: int) -> EntityMention | None:
        """Return the note that the words at a token name, in full, in part or misspelled, or None.

        The longest name is preferred; a common word alone is not a name.
        """
        for part in self._phrases_at(position, _MAX_NAME_TOKENS):
            text = part[0].value if len(part) == 1 else span_text(self.request, part)
            paths = self._notes_named(part, text) if part[-1].kind != "mark" else ()
            if paths and not self._is_ordinary(position, part):
                is_one = len(paths) == 1
                notes = NoteSet(notes=paths) if is_one else NoteSet(unknown=text, candidates=paths)
                return EntityMention("note", part, notes, text)
        for part in self._phrases_at(position, _MAX_PARTIAL_WORDS):
            if len(part) > 1 and all(token.is_word and token.key not in self._own_words for token in part):
                text = _without_possessive(span_text(self.request, part))
                if path := self.vocabulary.note_with_words(text):
                    return EntityMention("note", part, NoteSet(notes=(path,)), text, is_near=True)
        return self._misspelled_note(self.tokens[position])

    def _notes_named(self, part: tuple[Token, ...], text: str) -> tuple[str, ...]:
        """Return the notes with the name or the link that words are, perhaps in the possessive."""
        if len(part) == 1 and part[0].kind == "link":
            named = self.sets.find_named(part)
            return named.notes.notes if named else ()
        return self.vocabulary.notes(text) or self.vocabulary.notes(_without_possessive(text))

    def _misspelled_note(self, token: Token) -> EntityMention | None:
        """Return the note whose name a word resembles, also before a noun: "Harlow-Paper"; else None."""
        vocabulary = self.vocabulary
        praise = self.language.table("property_cues").get("rating", ())  # "best" is no part of a name
        is_plain = token.is_word and token.key not in self._own_words and token.key not in praise
        if not is_plain or len(token.key) < _MIN_NAME_LENGTH:
            return None
        whole = _without_possessive(token.value)
        word = self._without_kind(whole)
        path = vocabulary.find_misspelled_note(word)
        if not path or vocabulary.find_tag(word) or vocabulary.find_folder(word):
            return None
        # One word of a long name is more likely a word of the request.
        if word == whole and len(NotePath.on_disk(path).name.split()) > _MAX_PARTIAL_WORDS:
            return None
        return EntityMention("note", (token,), NoteSet(notes=(path,)), word, is_near=True)

    def _is_ordinary(self, position: int, part: tuple[Token, ...]) -> bool:
        """Return whether words are an ordinary phrase, even if a note has its name: "all pages"."""
        generic = self.language.words("note_nouns") | self.language.words("fillers")
        if all(token.is_word and token.value.islower() and token.key in generic for token in part):
            return True
        end = position + len(part)
        return position > 0 and self.sets.end_of_vault(self.tokens, position - 1) == end

    def _without_kind(self, word: str) -> str:
        """Return a compound without its last part if it is a word for notes: "Harlow" for "Harlow-Paper"."""
        name, _, noun = word.rpartition("-")
        is_kind = noun.casefold() in self.language.words("note_nouns") or self.vocabulary.has_kind(noun)
        return name if len(name) >= _MIN_NAME_LENGTH and is_kind else word


def _without_possessive(text: str) -> str:
    return text.removesuffix("'s").removesuffix("’s")
