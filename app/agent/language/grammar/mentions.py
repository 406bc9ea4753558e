"""Find the mentions in a request: notes, tags, quoted text, numbers, dates and names from the vault."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
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


def find_mentions(
    request: str,
    tokens: Sequence[Token],
    language: Language,
    vocabulary: Vocabulary,
    sets: NoteSetParser,
    dates: DateParser,
) -> tuple[EntityMention, ...]:
    """Split a request into mentions, preferring the longest names; marks are left out."""
    mentions: list[EntityMention] = []
    own_words = language.vocabulary() | language.words("fillers") | language.words("question_words")
    position = 0
    while position < len(tokens):
        mention = _mention_at(request, tokens, position, language, vocabulary, sets, dates, own_words)
        if mention.tokens[0].kind != "mark":
            mentions.append(mention)
        position += len(mention.tokens)
    exact = {
        path for mention in mentions if not mention.is_near and mention.notes for path in mention.notes.notes
    }
    # "Rename Octant to Oktant" does not name the note twice.
    return tuple(
        EntityMention("word", mention.tokens)
        if mention.is_near and mention.notes and set(mention.notes.notes) <= exact
        else mention
        for mention in mentions
    )


def _mention_at(
    request: str,
    tokens: Sequence[Token],
    position: int,
    language: Language,
    vocabulary: Vocabulary,
    sets: NoteSetParser,
    dates: DateParser,
    own_words: frozenset[str],
) -> EntityMention:
    token = tokens[position]
    single = (token,)
    if token.kind == "mark":
        return EntityMention("word", single)
    if token.kind == "tag":
        return EntityMention("tag", single, value=token.value)
    if category := _category_at(request, tokens, position, vocabulary, own_words):
        return category
    note = _note_at(request, tokens, position, language, vocabulary, sets, own_words)
    if value := _value_at(request, tokens, position, vocabulary, own_words):
        # The note "Saltfleet Marsh" is not the town Saltfleet.
        is_part = note is not None and not note.is_near and len(note.tokens) > len(value.tokens)
        return note if note is not None and is_part else value
    span = dates.parse_span(tokens, position)
    if span is not None and _YEAR.fullmatch(tokens[span.end - 1].value) and span.end - 1 > position:
        # "On the 1891 census" is no date.
        named = _note_at(request, tokens, span.end - 1, language, vocabulary, sets, own_words)
        span = None if named is not None and len(named.tokens) > 1 else span
    if note is not None:
        has_year = span is not None and _YEAR.fullmatch(tokens[span.end - 1].value) is not None
        # "March 2026" is not the note Marsh.
        if span is None or not (note.is_near and has_year and span.end > position + len(note.tokens)):
            return note
    if token.kind in ("quoted", "link"):
        return EntityMention("quoted", single, value=token.value)
    if span is not None and (
        span.end > position + 1 or _YEAR.fullmatch(token.value) or not token.value[0].isdigit()
    ):
        return EntityMention("date", tuple(tokens[position : span.end]), value=span.query("modified"))
    if plain_number(token.value) is not None:
        return EntityMention("num", single, value=token.value.strip("()"))
    for kind, phrases in language.relations.items():
        end = max(
            (match.end for phrase in phrases if (match := phrase.longest_match(tokens, position))),
            default=position,
        )
        if end > position or token.value.casefold() == kind:
            return EntityMention("rel", tuple(tokens[position : max(end, position + 1)]), value=kind)
    if token.key in language.words("note_nouns") | language.words("fillers"):
        return EntityMention("word", single)
    if name := language.property_name(token.key, vocabulary.find_property):
        return EntityMention("prop", single, value=name)
    for word in (token.key, *vocabulary.singular_forms(token.key)):
        if (folder := vocabulary.find_folder(word)) and word not in own_words:
            return EntityMention("kind", single, value=folder)
    if (known := vocabulary.find_property(token.value)) and token.key not in language.words("tag_nouns"):
        return EntityMention("prop", single, value=known)
    if known := vocabulary.find_type(token.value):
        return EntityMention("kind", single, value=known)
    if (
        token.key not in own_words
        and (known := vocabulary.find_related_property(token.value))
        and known not in NAMED_PROPERTIES
    ):
        return EntityMention("prop", single, value=known)
    if token.key not in own_words and vocabulary.find_value_in_part(token.value.removesuffix("'s")):
        return EntityMention("value", single, value=token.value.removesuffix("'s"))
    if token.key not in own_words and (known := vocabulary.find_tag(token.value)):
        return EntityMention("kind" if known.casefold() != token.key else "tag", single, value=known)
    return EntityMention("word", single)


def _category_at(
    request: str,
    tokens: Sequence[Token],
    position: int,
    vocabulary: Vocabulary,
    own_words: frozenset[str],
) -> EntityMention | None:
    """Return the longest category name at a token; skip a capitalized one, which may name a note."""
    for end in range(min(len(tokens), position + _MAX_PARTIAL_WORDS), position, -1):
        part = tuple(tokens[position:end])
        if not all(token.is_word for token in part) or part[0].value[:1].isupper():
            continue
        text = span_text(request, part)
        if len(part) == 1 and part[0].key in own_words:
            continue
        if vocabulary.find_category(text):
            return EntityMention("kind", part, value=text)
    return None


def _value_at(
    request: str,
    tokens: Sequence[Token],
    position: int,
    vocabulary: Vocabulary,
    own_words: frozenset[str],
) -> EntityMention | None:
    """Return the longest text of a property that starts at a token and is no other name in the vault."""
    for end in range(min(len(tokens), position + _MAX_PARTIAL_WORDS), position, -1):
        part = tuple(tokens[position:end])
        if not all(token.is_word for token in part) or (len(part) == 1 and part[0].key in own_words):
            continue
        text = span_text(request, part).removesuffix("'s").removesuffix("’s")
        if vocabulary.find_value(text) and not vocabulary.has_name(text):
            return EntityMention("value", part, value=text)
    return None


def _is_ordinary(
    tokens: Sequence[Token], position: int, end: int, language: Language, sets: NoteSetParser
) -> bool:
    """Return whether words are an ordinary phrase, even if a note has this name: "all pages", "the docs"."""
    part = tokens[position:end]
    generic = language.words("note_nouns") | language.words("fillers")
    if all(token.is_word and token.value.islower() and token.key in generic for token in part):
        return True
    return position > 0 and sets.end_of_vault(tokens, position - 1) == end


def _without_kind(word: str, language: Language, vocabulary: Vocabulary) -> str:
    """Return a compound without its last part, if that is a word for notes: "Harlow" for "Harlow-Paper"."""
    name, _, noun = word.rpartition("-")
    is_kind = noun.casefold() in language.words("note_nouns") or vocabulary.has_kind(noun)
    return name if len(name) >= _MIN_NAME_LENGTH and is_kind else word


def _note_at(
    request: str,
    tokens: Sequence[Token],
    position: int,
    language: Language,
    vocabulary: Vocabulary,
    sets: NoteSetParser,
    own_words: frozenset[str],
) -> EntityMention | None:
    """Return the note that the words at a token name, in full, in part or misspelled, or None.

    The longest name is preferred; a common word alone is not a name.
    """
    for end in range(min(len(tokens), position + _MAX_NAME_TOKENS), position, -1):
        part = tuple(tokens[position:end])
        if part[-1].kind == "mark" or (end == position + 1 and part[0].is_word and part[0].key in own_words):
            continue
        text = part[0].value if len(part) == 1 else span_text(request, part)
        if len(part) == 1 and part[0].kind == "link":
            named = sets.find_named(part)
            paths = named.notes.notes if named else ()
        else:
            paths = vocabulary.notes(text)
            if not paths and text.endswith(("'s", "’s")):
                paths = vocabulary.notes(text[:-2])
        if paths and not _is_ordinary(tokens, position, end, language, sets):
            notes = (
                NoteSet(notes=paths) if len(paths) == 1 else NoteSet(unknown=text, candidates=tuple(paths))
            )
            return EntityMention("note", part, notes, text)
    for end in range(min(len(tokens), position + _MAX_PARTIAL_WORDS), position + 1, -1):
        part = tuple(tokens[position:end])
        if all(token.is_word and token.key not in own_words for token in part):
            text = span_text(request, part).removesuffix("'s").removesuffix("’s")
            if path := vocabulary.note_with_words(text):
                return EntityMention("note", part, NoteSet(notes=(path,)), text, is_near=True)
    token = tokens[position]
    is_praise = token.key in language.table("property_cues").get("rating", ())  # "best" is no part of a name
    is_plain = token.is_word and token.key not in own_words and not is_praise
    if is_plain and len(token.key) >= _MIN_NAME_LENGTH:
        whole = token.value.removesuffix("'s").removesuffix("’s")
        word = _without_kind(whole, language, vocabulary)
        is_compound = word != whole
        path = vocabulary.find_misspelled_note(word)
        words = len(NotePath.on_disk(path).name.split()) if path else 0
        # One word of a long name is more likely a word of the request.
        if (
            path
            and (words <= _MAX_PARTIAL_WORDS or is_compound)
            and not vocabulary.find_tag(word)
            and not vocabulary.find_folder(word)
        ):
            return EntityMention("note", (token,), NoteSet(notes=(path,)), word, is_near=True)
    return None
