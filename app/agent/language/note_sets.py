"""Parse a noun phrase as a set of notes: names, pronouns, ordinals and search conditions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from app.agent.language.dates import DateParser
from app.agent.language.dialog import DialogState
from app.agent.language.lexicon import Filter, Language
from app.agent.language.readings import NoteSet, parenthesize
from app.agent.language.tokens import Token, span_text
from app.agent.language.vocabulary import Vocabulary
from app.errors import QueryError
from app.index.query import parse as parse_query
from app.index.query_serializer import quote_text
from app.vault.path import NotePath
from app.vault.reference import parse_reference

_MAX_NAME_TOKENS = 10
_MAX_FOLDER_TOKENS = 5
_PLAIN = re.compile(r"[\w][\w-]*")
_NUMBER = re.compile(r"-?(?:\d+(?:[.,]\d+)?|\.\d+)%?")
_YEAR = re.compile(r"1\d\d\d|20\d\d")
_CENTURY = re.compile(r"(\d\d?)(?:st|nd|rd|th|\.)?")
_DECADE = re.compile(r"(1\d\d0|20\d0)'?s")
_RECENT_YEARS = 30
"""A year at most this long ago is a time of change; an earlier one is a date in the notes."""
_DATED = ("year", "date", "published")
_LIVES = ("born", "died")
_OWN_PROPERTIES = frozenset(("confidence", "type", "aliases", "status"))
NAMED_FIT, POINTED_FIT, CUED_FIT, BARE_FIT, GUESSED_FIT, UNKNOWN_FIT = 1.0, 0.97, 0.92, 0.6, 0.8, 0.45


@dataclass(frozen=True, slots=True)
class ParsedSet:
    """A set of notes, how well the words fit (0 to 1), and the unexplained words.

    `is_certain` is False if the words may also mean other notes.
    """

    notes: NoteSet
    fit: float
    unexplained: tuple[str, ...] = ()
    has_head: bool = False
    has_bare_topic: bool = False
    is_certain: bool = True


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a query, its end, its weight, and whether it is a condition rather than a topic."""

    query: str
    end: int
    fit: float = CUED_FIT
    filter: Filter | None = None
    is_topic: bool = False


class NoteSetParser:
    """Parse the noun phrases of one request.

    Args:
        request: The request's text.
        language: The lexicon of its language.
        vocabulary: The vocabulary of the vault.
        dates: The parser of dates.
        dialog: The state that pronouns refer to.
        follows: Whether a step precedes, whose result "these" means.
    """

    def __init__(
        self,
        request: str,
        language: Language,
        vocabulary: Vocabulary,
        dates: DateParser,
        dialog: DialogState,
        follows: bool = False,
    ) -> None:
        self._request = request
        self._language = language
        self._vocabulary = vocabulary
        self._dates = dates
        self._dialog = dialog
        self._follows = follows

    @cached_property
    def _small_words(self) -> frozenset[str]:
        """Words that are never part of a topic."""
        return self._language.words("fillers") - self._language.words("note_nouns")

    def parse(self, tokens: Sequence[Token]) -> ParsedSet | None:
        """Return the best reading of the tokens as a set of notes, None when they are empty."""
        tokens = _trim_marks(tokens)
        if not tokens:
            return None
        if found := self.parse_reference(tokens) or self.find_named(tokens) or self._several(tokens):
            return found
        found = self._conditions(tokens)
        if found.fit < CUED_FIT or not found.has_head:
            near = self.find_similar(tokens)
            if near and near.fit > found.fit:
                return near
            if not found.has_head and near:
                return replace(found, notes=replace(found.notes, candidates=near.notes.candidates))
        return found

    def is_only_name(self, tokens: Sequence[Token]) -> bool:
        """Return whether the words are the name of a note, not a pronoun."""
        return self.parse_reference(tokens) is None and self.find_named(tokens) is not None

    def implied_notes(self) -> NoteSet | None:
        """Return the notes of a request that names none: the result of the previous step, or "it"."""
        if self._follows:
            return NoteSet(source="previous")
        found = self._pointed(self._dialog.it)
        return found.notes if found.notes.notes else None

    @property
    def implies_one(self) -> bool:
        """True if "it" is unambiguous: not after a list, nor after a request that was not understood."""
        dialog = self._dialog
        elsewhere = bool(dialog.results) and not dialog.focus
        return self._follows or not (dialog.listed or dialog.is_doubtful or elsewhere)

    def parse_reference(self, tokens: Sequence[Token]) -> ParsedSet | None:
        """Parse a pronoun, an ordinal, or "everything"."""
        language, dialog = self._language, self._dialog
        plain = language.words("note_nouns") | language.words("fillers")
        if language.matches_phrase(tokens, "everything") and (len(tokens) > 1 or tokens[0].key not in plain):
            return ParsedSet(NoteSet(), CUED_FIT, has_head=True)
        if language.matches_phrase(tokens, "both") and len(dialog.results) == 2:
            both = NoteSet(notes=dialog.results)
            return ParsedSet(both, POINTED_FIT, has_head=True, is_certain=not dialog.is_doubtful)
        if (ordinal := self._ordinal(tokens)) is not None:
            return self._picked(ordinal)
        if language.matches_phrase(tokens, "this"):
            return self._pointed(dialog.this)
        if language.matches_phrase(tokens, "them"):
            if self._follows:
                return ParsedSet(NoteSet(source="previous"), POINTED_FIT, has_head=True)
            if dialog.them:
                found = ParsedSet(NoteSet(notes=dialog.them), POINTED_FIT, has_head=True)
                return replace(found, is_certain=not dialog.is_doubtful)
            return replace(self._pointed(dialog.it), is_certain=False)
        if language.matches_phrase(tokens, "it") and self._dialog.is_lost and not self._follows:
            return ParsedSet(NoteSet(unknown=" "), UNKNOWN_FIT)
        if language.matches_phrase(tokens, "it"):
            if self._follows:
                return ParsedSet(NoteSet(source="previous"), POINTED_FIT, has_head=True)
            # After a list, "it" may be one of its notes.
            return replace(self._pointed(dialog.it), is_certain=self.implies_one)
        return None

    def _pointed(self, paths: tuple[str, ...]) -> ParsedSet:
        known = [path for path in paths if self._vocabulary.has_file(path)]
        if known:
            return ParsedSet(NoteSet(notes=(known[0],)), POINTED_FIT, has_head=True)
        return ParsedSet(NoteSet(unknown=" "), UNKNOWN_FIT)

    def _ordinal(self, tokens: Sequence[Token]) -> int | None:
        table = self._language.table("ordinals")
        places = [(position, table[token.key]) for position, token in enumerate(tokens) if token.key in table]
        if len(places) != 1:
            numbers = [int(t.value) for t in tokens if t.is_word and t.value.isdecimal() and len(t.value) < 4]
            labels = self._language.phrases("number_nouns")
            if len(numbers) == 1 and len(tokens) >= 2 and any(p.longest_match(tokens, 0) for p in labels):
                return numbers[0]
            return None
        position, ordinal = places[0]
        allowed = self._language.words("result_nouns") | self._language.words("fillers")
        rest = [token for index, token in enumerate(tokens) if index != position and token.kind != "mark"]
        return int(ordinal) if all(token.key in allowed for token in rest) else None

    def _picked(self, ordinal: int) -> ParsedSet:
        if self._follows:
            return ParsedSet(NoteSet(source="previous", pick=ordinal), POINTED_FIT, has_head=True)
        results = self._dialog.them
        if results and -len(results) <= ordinal <= len(results):
            notes = NoteSet(notes=(results[ordinal - 1 if ordinal > 0 else ordinal],))
            return ParsedSet(notes, POINTED_FIT, has_head=True, is_certain=not self._dialog.is_doubtful)
        return ParsedSet(NoteSet(unknown=" "), UNKNOWN_FIT)

    # Partial parsing, which ignores unrelated words

    def scan(self, tokens: Sequence[Token], is_topic: Callable[[Token], bool]) -> str:
        """Return the conditions among some words as a search, with the words that are topics.

        `parse` accounts for each word of a noun phrase; this method skips words that it cannot use.
        """
        language = self._language
        parts: list[str] = []
        last: _Part | None = None
        position, negative, alternative = 0, False, False
        while position < len(tokens):
            token = tokens[position]
            part = None if token.kind == "mark" else self._condition(tokens, position, last)
            if part is not None and (part.is_topic or (part.filter and part.filter.value == "topic")):
                part = None
            if part is None and token.key in language.words("lacking"):
                negative, position = True, position + 1
                continue
            if part is None and (after := language.match_prefix(tokens, position, "not")) > position:
                negative, position = True, after
                continue
            if part is None and negative and (name := self._property_name(token)):
                lacks = tokens[position - 1].key in language.words("lacking") | language.words("determiners")
                part = _Part(f"[{name}]" if lacks else f"[{name}:false]", position + 1)
                negative = lacks
            if part is None and (after := language.match_prefix(tokens, position, "or")) > position and parts:
                alternative, position = True, after
                continue
            if part is None and token.kind in ("quoted", "link"):
                part = _Part(self._search_word(token), position + 1)
            if part is None and (note := self._longest_name(tokens, position)):
                part = note
            if part is None and token.is_word and token.value[0].isalnum() and is_topic(token):
                part = _Part(self._search_word(token), position + 1, is_topic=True)
            if part is None:
                position += 1
                continue
            query = part.query
            if negative:
                query = f"-{parenthesize(query) if ' ' not in query else _wrap_query(query)}"
            if alternative:
                parts[-1] = f"({parts[-1].strip('()')} OR {query})"
            elif query not in parts:
                parts.append(query)
            last, position, negative, alternative = part, part.end, False, False
        return " ".join(parenthesize(part) for part in parts if is_search(part))

    def _longest_name(self, tokens: Sequence[Token], position: int) -> _Part | None:
        """Return the words of a note's name as a topic."""
        for end in range(min(len(tokens), position + _MAX_NAME_TOKENS), position + 1, -1):
            part = tokens[position:end]
            if part[-1].kind != "mark" and self._vocabulary.notes(span_text(self._request, tuple(part))):
                return _Part(quote_text(span_text(self._request, tuple(part))), end, is_topic=True)
        return None

    def order_in(self, tokens: Sequence[Token]) -> tuple[str, int | None] | None:
        """Return the requested order, with a number of notes."""
        for position in range(len(tokens)):
            if tokens[position].kind != "mark" and (found := self._order(tokens, position)):
                return found[0], found[1]
        return None

    def is_folder(self, word: str) -> bool:
        """Return whether a word names a folder."""
        return self._vocabulary.find_folder(word) is not None

    def type_of(self, word: str) -> str | None:
        """Return the note type that a word names."""
        return next(
            (
                note_type
                for form in (word, *self._vocabulary.singular_forms(word.casefold()))
                if (note_type := self._vocabulary.find_type(form))
            ),
            None,
        )

    # Names

    def find_named(self, tokens: Sequence[Token]) -> ParsedSet | None:
        """Find a note by its exact name, path, alias or link, ignoring words such as "the note"."""
        for part in self._bare_names(tokens):
            text = self._name_text(part)
            if paths := self._vocabulary.notes(text):
                if len(paths) == 1:
                    return ParsedSet(NoteSet(notes=paths), NAMED_FIT, has_head=True)
                return ParsedSet(NoteSet(unknown=text, candidates=paths), NAMED_FIT - 0.05, has_head=True)
        return None

    def _name_text(self, tokens: Sequence[Token]) -> str:
        if len(tokens) == 1 and tokens[0].kind == "link":
            return parse_reference(tokens[0].value).target
        if len(tokens) == 1:
            return tokens[0].value
        return span_text(self._request, tuple(tokens))

    def _bare_names(self, tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
        """Yield the tokens, then the tokens without words such as "the note called …"."""
        yield tokens
        lead = self._language.phrases("name_leads")
        start = max((match.end for phrase in lead if (match := phrase.longest_match(tokens, 0))), default=0)
        end = len(tokens)
        if 0 < start < end:
            yield tokens[start:]
            while start < end - 1 and tokens[start].key in self._language.words("determiners"):
                start += 1
                yield tokens[start:]
        nouns, fillers = self._language.words("note_nouns"), self._language.words("fillers")
        position = 0
        while position < end - 1 and tokens[position].is_word and tokens[position].key in fillers:
            position += 1
            yield tokens[position:end]
        last = end
        while last - 1 > position and tokens[last - 1].is_word and tokens[last - 1].key in nouns:
            last -= 1
            yield tokens[position:last]
            if start:
                yield tokens[start:last]

    def _several(self, tokens: Sequence[Token]) -> ParsedSet | None:
        """Parse a list of names: "H1, H2 and H3"."""
        pieces: list[list[Token]] = [[]]
        position = 0
        while position < len(tokens):
            after = self._language.match_prefix(tokens, position, "and")
            if tokens[position].key == "," or after > position:
                pieces.append([])
                position = max(after, position + 1)
                continue
            pieces[-1].append(tokens[position])
            position += 1
        pieces = [piece for piece in pieces if piece]
        if len(pieces) < 2:
            return None
        found: list[str] = []
        for piece in pieces:
            parsed = self.parse_reference(piece) or self.find_named(piece)
            if parsed is None or not parsed.notes.notes:
                return None
            found += [path for path in parsed.notes.notes if path not in found]
        return ParsedSet(NoteSet(notes=tuple(found)), NAMED_FIT, has_head=True)

    def find_similar(self, tokens: Sequence[Token]) -> ParsedSet | None:
        """Find a note whose name resembles the words."""
        if len(tokens) > _MAX_NAME_TOKENS or not all(
            token.kind in ("word", "quoted", "link", "mark") for token in tokens
        ):
            return None
        best: ParsedSet | None = None
        for part in self._bare_names(tokens):
            text = self._name_text(part)
            near = self._vocabulary.find_similar_notes(text)
            if near.clear:
                return ParsedSet(NoteSet(notes=near.paths[:1]), GUESSED_FIT, has_head=True)
            if near.paths and best is None:
                best = ParsedSet(NoteSet(unknown=text, candidates=near.paths), 0.5)
        if best:
            return best
        *_, last = self._bare_names(tokens)
        return ParsedSet(NoteSet(unknown=self._name_text(last)), UNKNOWN_FIT)

    # Conditions

    def _conditions(self, tokens: Sequence[Token]) -> ParsedSet:
        """Parse the phrase as search conditions; the remaining words are topics."""
        language = self._language
        alternatives: list[list[str]] = [[]]
        explained, weight, position = 0.0, 0, 0
        left: list[str] = []
        negative, joined_by_or, has_head, order, limit = False, False, False, "", None
        last: _Part | None = None
        base: NoteSet | None = None
        bare = False
        while position < len(tokens):
            token = tokens[position]
            if token.kind == "mark":
                position += 1
                continue
            if (
                last is not None
                and (after := language.match_prefix(tokens, position, "or")) > position
                and after < len(tokens)
            ):
                joined_by_or, explained, weight, position = (
                    True,
                    explained + after - position,
                    weight + after - position,
                    after,
                )
                continue
            if (
                position
                and (after := language.match_prefix(tokens, position, "and")) > position
                and after < len(tokens)
            ):
                explained, weight, position = explained + after - position, weight + after - position, after
                continue
            part = self._condition(tokens, position, last)
            if (
                part is None
                and (after := language.match_prefix(tokens, position, "not")) > position
                and after < len(tokens)
            ):
                negative, explained, weight, position = (
                    not negative,
                    explained + after - position,
                    weight + after - position,
                    after,
                )
                continue
            if part is None and (ordering := self._order(tokens, position)):
                order, limit_found, after = ordering
                limit = limit_found if limit_found is not None else limit
                explained, weight, position, has_head = (
                    explained + after - position,
                    weight + after - position,
                    after,
                    True,
                )
                continue
            if part is None and position == 0 and (pointed := self._leading_reference(tokens)):
                base, after = pointed
                explained, weight, position, has_head = explained + after, weight + after, after, True
                continue
            if (
                part is None
                and token.is_word
                and (token.key in language.words("note_nouns") or token.key in language.words("fillers"))
            ):
                has_head = has_head or token.key in language.words("note_nouns")
                explained, weight, position = explained + 1, weight + 1, position + 1
                continue
            if part is None and negative and (name := self._property_name(token)):
                lacks = position > 0 and (
                    tokens[position - 1].key in language.words("determiners") | language.words("lacking")
                )
                part = _Part(f"[{name}]" if lacks else f"[{name}:false]", position + 1)
                negative = lacks
            if part is None:
                part = self._topic(tokens, position, BARE_FIT if not has_head else 0.75)
            if part is None:
                left.append(token.value)
                weight, position = weight + 1, position + 1
                continue
            query = (
                f"-{parenthesize(part.query) if ' ' not in part.query else _wrap_query(part.query)}"
                if negative
                else part.query
            )
            if joined_by_or and alternatives[-1]:
                alternatives[-1][-1] = f"({alternatives[-1][-1].strip('()')} OR {query})"
            else:
                alternatives[-1].append(query)
            has_head = has_head or not part.is_topic or part.fit >= CUED_FIT or negative
            bare = bare or (part.is_topic and part.fit < CUED_FIT)
            explained += part.fit * (part.end - position)
            weight += part.end - position
            last, position = part, part.end
            negative = joined_by_or = False
        query = " ".join(alternatives[-1])
        notes = replace(base or NoteSet(), query=query, order=order, limit=limit)
        fit = explained / weight if weight else 0.0
        return ParsedSet(notes, fit, tuple(left), has_head, bare)

    def _leading_reference(self, tokens: Sequence[Token]) -> tuple[NoteSet, int] | None:
        """Parse "of those" or "which of these" at the start of a phrase with more conditions."""
        for end in range(min(4, len(tokens) - 1), 0, -1):
            leading = tokens[:end]
            if all(token.key in self._language.words("determiners") for token in leading):
                continue
            found = self.parse_reference(leading) if self._language.matches_phrase(leading, "them") else None
            if found is not None and (found.notes.notes or found.notes.source):
                return found.notes, end
        return None

    def _order(self, tokens: Sequence[Token], position: int) -> tuple[str, int | None, int] | None:
        """Parse an order ("newest", "sorted by name") and a number of notes ("the 5 newest")."""
        limit, start = None, position
        if (number := self._dates.parse_number(tokens[position].key)) is not None and position + 1 < len(
            tokens
        ):
            limit, start = number, position + 1
        for name in self._language.table("orders"):
            after = self._language.match_prefix(tokens, start, "orders", name)
            if after > start:
                if (
                    limit is None
                    and after < len(tokens)
                    and (n := self._dates.parse_number(tokens[after].key))
                    and n > 1
                ):
                    return name, n, after + 1
                return name, limit, after
        return None

    def _condition(self, tokens: Sequence[Token], position: int, last: _Part | None) -> _Part | None:
        """Return the condition that starts at a token and explains the most words."""
        token = tokens[position]
        if token.kind == "tag":
            return _Part(f"tag:{token.value}", position + 1, 1.0)
        found: list[_Part] = []
        for note_filter in self._language.filters:
            for phrase in note_filter.say:
                for match in phrase.match(tokens, position):
                    if part := self._filtered(note_filter, tokens, match.end, match.gap_start, match.gap_end):
                        found.append(part)
        if any(note_filter.value == "date_alone" for note_filter in self._language.filters) and (
            span := self._dates.parse_span(tokens, position)
        ):
            found.append(_Part(span.query("modified"), span.end))
        if part := self._property(tokens, position):
            found.append(part)
        if part := self._years(tokens, position):
            found.append(part)
        if part := self._range(tokens, position):
            found.append(part)
        if (flag := self._unset_flag(token)) is not None:
            found.append(_Part(f"[{flag}:false]", position + 1))
        if part := self._relation(tokens, position):
            found.append(part)
        if found:
            return max(
                found, key=lambda part: (part.end - (2 if part.is_topic else 0), not part.is_topic, part.fit)
            )
        if last is not None and last.filter is not None and last.filter.value == "tags":
            query, end = self._tags(tokens, position, strict=True)
            if query:
                return _Part(query, end, filter=last.filter)
        if last is not None and last.filter is not None and last.filter.value == "note":
            name, end = self._value("note", tokens, position)
            if name and self._vocabulary.notes(name):
                return _Part(_fill_query(last.filter.query, name), end, filter=last.filter)
        return self._noun(tokens, position)

    def _relation(self, tokens: Sequence[Token], position: int) -> _Part | None:
        """Parse a relation to a note: "that support X", "contradicting X"."""
        position = self._language.match_prefix(tokens, position, "relation_leads")
        for kind, phrases in self._language.relations.items():
            after = max(
                (m.end for phrase in phrases if (m := phrase.longest_match(tokens, position))),
                default=position,
            )
            if after > position and after < len(tokens):
                note, end = self._value("note", tokens, after)
                if note:
                    return _Part(f"rel:{kind} links-to:{_quote(note)}", end)
        return None

    def _filtered(
        self, note_filter: Filter, tokens: Sequence[Token], end: int, gap_start: int, gap_end: int
    ) -> _Part | None:
        """Return the condition of a filter whose phrase ended at `end`."""
        if not note_filter.value:
            return _Part(note_filter.query, end, filter=note_filter)
        if gap_start >= 0:
            inside = tokens[gap_start:gap_end]
            if note_filter.value == "tags":
                query, stop = self._tags(inside, 0)
                return _Part(query, end, filter=note_filter) if query and stop == len(inside) else None
            if note_filter.value == "date":
                span = self._dates.parse_span(inside, 0)
                is_complete = span is not None and span.end == len(inside)
                return (
                    _Part(span.query(note_filter.query.partition(":")[0]), end, filter=note_filter)
                    if span and is_complete
                    else None
                )
            value, stop = self._value(note_filter.value, inside, 0)
            return (
                _Part(_fill_query(note_filter.query, value), end, filter=note_filter)
                if value and stop == len(inside)
                else None
            )
        if end >= len(tokens):
            return None
        if note_filter.value == "tags":
            query, stop = self._tags(tokens, end)
            return _Part(query, stop, filter=note_filter) if query else None
        if note_filter.value in ("date", "date_alone"):
            span = self._dates.parse_span(tokens, end)
            return (
                _Part(span.query(note_filter.query.partition(":")[0]), span.end, filter=note_filter)
                if span
                else None
            )
        if note_filter.value == "topic":
            part = self._topic(tokens, end, CUED_FIT)
            return (
                replace(part, query=_fill_query(note_filter.query, part.query), filter=note_filter)
                if part
                else None
            )
        value, stop = self._value(note_filter.value, tokens, end)
        return _Part(_fill_query(note_filter.query, value), stop, filter=note_filter) if value else None

    def _value(self, kind: str, tokens: Sequence[Token], position: int) -> tuple[str, int]:
        """Return the longest value of a kind that starts at a token, and its end; empty for none."""
        if kind == "tags":
            query, end = self._tags(tokens, position)
            return query.removeprefix("tag:"), end
        if kind == "topic":
            part = self._topic(tokens, position, CUED_FIT)
            return (part.query, part.end) if part else ("", position)
        while position < len(tokens) and tokens[position].key in self._language.words("determiners"):
            position += 1
        for end in range(min(len(tokens), position + _MAX_NAME_TOKENS), position, -1):
            part_tokens = tokens[position:end]
            if part_tokens[-1].kind == "mark":
                continue
            text = self._name_text(part_tokens)
            if kind == "folder" and end - position <= _MAX_FOLDER_TOKENS:
                nouns = self._language.words("folder_nouns")
                bare = (
                    part_tokens[:-1] if part_tokens[-1].key in nouns and len(part_tokens) > 1 else part_tokens
                )
                if folder := self._vocabulary.find_similar_folder(self._name_text(bare)):
                    return folder, end
            elif kind == "note":
                parsed = self.parse_reference(part_tokens) or self.find_named(part_tokens)
                if parsed and len(parsed.notes.notes) == 1:
                    return str(NotePath.on_disk(parsed.notes.notes[0]).stem_path), end
            elif kind == "type" and end - position == 1:
                return self._vocabulary.find_type(text) or text, end
            elif kind == "file" and end - position <= 4:
                return text, end
        if kind == "note":
            end = next(
                (index for index in range(position, len(tokens)) if tokens[index].kind == "mark"), len(tokens)
            )
            near = (
                self._vocabulary.find_similar_notes(self._name_text(tokens[position:end]))
                if end > position
                else None
            )
            if near and near.clear:
                return str(NotePath.on_disk(near.paths[0]).stem_path), end
        return "", position

    def _tags(self, tokens: Sequence[Token], position: int, *, strict: bool = False) -> tuple[str, int]:
        """Parse tags as a query: "instrument but not core", "a or b"; `strict` accepts known tags only."""
        language = self._language
        parts: list[str] = []
        negative, alternative, end, start = False, False, position, position
        while position < len(tokens):
            token = tokens[position]
            if token.kind == "mark" and token.key == "," and parts:
                position += 1
                continue
            for words, sign in (("not", "not"), ("and", "and"), ("or", "or")):
                after = language.match_prefix(tokens, position, words)
                if after > position and (parts or sign == "not"):
                    negative, alternative = negative or sign == "not", sign == "or"
                    position = after
                    break
            else:
                known = token.kind == "tag" or (
                    token.kind in ("word", "quoted")
                    and self._vocabulary.find_similar_tag(token.value) is not None
                )
                first_free = not parts and not strict and token.kind in ("word", "quoted")
                if token.is_word and token.key in language.words("determiners") | language.words("tag_nouns"):
                    position += 1
                    if parts:
                        end = position
                    continue
                if not known and not (
                    first_free and (_PLAIN.fullmatch(token.value) or token.kind == "quoted")
                ):
                    break
                if token.is_word and not known and token.key in language.words("fillers"):
                    break
                name = (
                    token.value
                    if token.kind == "tag"
                    else self._vocabulary.find_similar_tag(token.value) or token.value
                )
                condition = f"tag:{name if ' ' not in name else quote_text(name)}"
                if alternative and parts and not negative:
                    parts[-1] = f"({parts[-1].strip('()')} OR {condition})"
                else:
                    parts.append(f"-{condition}" if negative else condition)
                position += 1
                end = position
                negative = alternative = False
                continue
            if position >= len(tokens):
                break
        if not parts or end == start:
            return "", start
        return " ".join(parts), end

    def _property(self, tokens: Sequence[Token], position: int) -> _Part | None:
        """Parse a comparison of a property: "with confidence under 0.5", "status is done"."""
        language = self._language
        start = position
        position = language.match_prefix(tokens, position, "property_leads")
        if position >= len(tokens):
            return None
        name = self._property_name(tokens[position])
        if name is None:
            return self._comparison_first(tokens, position) if position < len(tokens) else None
        after = position + 1
        for sign in ("<=", ">=", "<", ">", "="):
            lead = after if sign == "=" else language.match_prefix(tokens, after, "comparisons", "=")
            value_at = language.match_prefix(tokens, lead, "comparisons", sign)
            if value_at == lead:
                value_at = language.match_prefix(tokens, after, "comparisons", sign)
                lead = after
            if value_at > lead and value_at < len(tokens):
                value, end = self._property_value(tokens, value_at)
                if value:
                    shown = f"{sign}{value}" if sign != "=" else value
                    return _Part(f"[{name}:{shown}]", end)
        value, end = self._property_value(tokens, after) if after < len(tokens) else ("", after)
        if value and (_NUMBER.fullmatch(tokens[after].value) or tokens[after].kind == "quoted"):
            return _Part(f"[{name}:{value}]", end)
        if position > start:
            lacks = any(token.key in language.words("lacking") for token in tokens[start:position])
            return _Part(f"-[{name}]" if lacks else f"[{name}]", after)
        return None

    def _comparison_first(self, tokens: Sequence[Token], position: int) -> _Part | None:
        """Parse a comparison before its property: "at least 0.8 confidence"."""
        for sign in ("<=", ">=", "<", ">"):
            value_at = self._language.match_prefix(tokens, position, "comparisons", sign)
            if (
                value_at > position
                and value_at + 1 < len(tokens)
                and _NUMBER.fullmatch(tokens[value_at].value)
            ):
                value, end = self._property_value(tokens, value_at)
                if end < len(tokens) and (name := self._property_name(tokens[end])):
                    return _Part(f"[{name}:{sign}{value}]", end + 1)
        return None

    def _property_name(self, token: Token) -> str | None:
        if not token.is_word:
            return None
        for name, words in self._language.table("properties").items():
            if token.key in words and (name in _OWN_PROPERTIES or self._vocabulary.find_property(name)):
                return str(name)
        found = self._vocabulary.find_property(token.key)
        return found if found != "tags" else None

    def _unset_flag(self, token: Token) -> str | None:
        """Parse a word that negates a property, such as "unread" for `read`."""
        for prefix in self._language.data.get("negating_prefixes", ()):
            if token.is_word and token.key.startswith(prefix):
                rest = token.key.removeprefix(prefix)
                found = self._property_name(replace(token, key=rest, value=rest))
                if found:
                    return found
        return None

    def _years(self, tokens: Sequence[Token], position: int) -> _Part | None:
        """Parse a comparison of historical dates: "before 1710", "born in the 17th century"."""
        start, name = position, self._dated(tokens[position])
        if name:
            position += 1
        if found := self._year_range(tokens, position, name):
            return found
        sign, lead = "=", position
        for kind in ("<=", ">=", "<", ">"):
            after = self._language.match_prefix(tokens, position, "comparisons", kind)
            if after > lead:
                sign, lead = kind, after
        if lead == position:
            lead = self._language.match_prefix(tokens, position, "dates", "span")
            if lead == position and not name:
                return None
        while lead < len(tokens) - 1 and tokens[lead].key in self._language.words("determiners"):
            lead += 1
        if lead >= len(tokens):
            return None
        token, end = tokens[lead], lead + 1
        if _YEAR.fullmatch(token.value):
            first = last = int(token.value)
            if not name and first >= self._dates.this_year - _RECENT_YEARS:
                return None
        elif decade := _DECADE.fullmatch(token.value):
            first, last = int(decade[1]), int(decade[1]) + 9
        elif (
            (century := _CENTURY.fullmatch(token.value))
            and end < len(tokens)
            and (tokens[end].key in self._language.words("century_nouns"))
        ):
            first, last, end = (int(century[1]) - 1) * 100, int(century[1]) * 100 - 1, end + 1
        else:
            return None
        if not name and end < len(tokens) and (later := self._dated(tokens[end])):
            name, end = later, end + 1
        while name and end < len(tokens) and tokens[end].key in self._language.words("determiners"):
            end += 1
        names = (
            [name]
            if name
            else [candidate for candidate in _DATED if self._vocabulary.find_property(candidate)]
        )
        if not names or start == end:
            return None
        values = {
            "<": f"<{first}",
            "<=": f"<={last}",
            ">": f">{last}",
            ">=": f">={first}",
            "=": f"{first}",
        }
        both = sign == "=" and first != last
        parts = [
            f"[{prop}:>={first}] [{prop}:<={last}-12-31]" if both else f"[{prop}:{values[sign]}]"
            for prop in names
        ]
        return _Part(parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})", end)

    def _year_range(self, tokens: Sequence[Token], position: int, name: str | None) -> _Part | None:
        """Parse "between 1740 and 1760", of the property `name` or of any date."""
        between = self._language.match_prefix(tokens, position, "dates", "between")
        if between == position or between + 2 >= len(tokens):
            return None
        joint = self._language.match_prefix(tokens, between + 1, "and")
        if joint == between + 1 or joint >= len(tokens):
            return None
        first, last = tokens[between].value, tokens[joint].value
        if not (_YEAR.fullmatch(first) and _YEAR.fullmatch(last)):
            return None
        if not name and int(last) >= self._dates.this_year - _RECENT_YEARS:
            return None
        names = [name] if name else [prop for prop in _DATED if self._vocabulary.find_property(prop)]
        parts = [f"([{prop}:>={first}] [{prop}:<={last}])" for prop in names]
        query = parts[0].strip("()") if len(parts) == 1 else f"({' OR '.join(parts)})"
        return _Part(query, joint + 1) if parts else None

    def _dated(self, token: Token) -> str | None:
        name = self._property_name(token) if token.is_word else None
        return name if name in (*_DATED, *_LIVES) else None

    def _range(self, tokens: Sequence[Token], position: int) -> _Part | None:
        """Parse a range without a property, which means the confidence: "between .5 and .8"."""
        between = self._language.match_prefix(tokens, position, "dates", "between")
        if between > position and between + 2 < len(tokens):
            joint = self._language.match_prefix(tokens, between + 1, "and")
            if joint < len(tokens) and (low := _share(tokens[between])) and (high := _share(tokens[joint])):
                return _Part(f"[confidence:>={low}] [confidence:<={high}]", joint + 1)
        for sign in ("<=", ">=", "<", ">"):
            lead = self._language.match_prefix(tokens, position, "comparisons", sign)
            if lead > position and lead < len(tokens) and (value := _share(tokens[lead])):
                percent = lead + 1 < len(tokens) and tokens[lead + 1].key in self._language.words("percent")
                if percent:
                    value = f"{float(format_number(tokens[lead].value)) / 100:g}"
                if float(value) <= 1:
                    return _Part(f"[confidence:{sign}{value}]", lead + 1 + percent)
        return None

    def _property_value(self, tokens: Sequence[Token], position: int) -> tuple[str, int]:
        while position < len(tokens) and tokens[position].key in self._language.words("determiners"):
            position += 1
        if position >= len(tokens):
            return "", position
        token = tokens[position]
        if token.kind == "quoted":
            return quote_text(token.value), position + 1
        if not token.is_word:
            return "", position
        if _NUMBER.fullmatch(token.value):
            return format_number(token.value), position + 1
        if token.key in self._language.words("fillers"):
            return "", position
        return (token.value if _PLAIN.fullmatch(token.value) else quote_text(token.value)), position + 1

    def _noun(self, tokens: Sequence[Token], position: int) -> _Part | None:
        """Parse a word for a folder, a type or, before a word for notes, a tag: "claims", "people"."""
        token = tokens[position]
        if not token.is_word or token.key in self._language.words("note_nouns") | self._language.words(
            "fillers"
        ):
            return None
        vocabulary = self._vocabulary
        nouns = self._language.words("note_nouns")
        before_noun = position + 1 < len(tokens) and tokens[position + 1].key in nouns
        alone = (
            position == 0
            or tokens[position - 1].kind == "mark"
            or tokens[position - 1].key in self._before_nouns
        )
        for word in (token.key, *vocabulary.singular_forms(token.key)):
            if (folder := vocabulary.find_folder(word)) and (word != token.key or alone or before_noun):
                return _Part(f"path:{_quote(folder + '/')}", position + 1)
        if note_type := vocabulary.find_type(token.value):
            return _Part(f"type:{_quote(note_type)}", position + 1)
        if (tag := vocabulary.find_tag(token.value)) and (
            before_noun or (alone and tag.casefold() != token.key)
        ):
            return _Part(f"tag:{_quote(tag)}", position + 1)
        return None

    @cached_property
    def _before_nouns(self) -> frozenset[str]:
        """Words after which a plural refers to notes: "the", "not", "only"."""
        language = self._language
        first = {
            word
            for kind in ("not", "and", "or", "then")
            for phrase in language.phrases(kind)
            for word in phrase.first
        }
        first |= {word for phrase in language.phrases("refine", "only") for word in phrase.first}
        return language.words("fillers") | language.words("lacking") | frozenset(first)

    def _topic(self, tokens: Sequence[Token], position: int, fit: float) -> _Part | None:
        """Parse the words of a full-text search, up to the next condition."""
        language = self._language
        words: list[str] = []
        start, end = position, position
        alternative = False
        while position < len(tokens):
            token = tokens[position]
            if token.kind == "mark":
                if token.key != "," or position + 1 >= len(tokens):
                    break
                position += 1
                continue
            if position > start:
                if language.match_prefix(tokens, position, "not") > position or self._order(tokens, position):
                    break
                condition = self._condition_starts(tokens, position)
                if condition:
                    break
                if (after := language.match_prefix(tokens, position, "or")) > position and words:
                    alternative, position = True, after
                    continue
                after = max(
                    language.match_prefix(tokens, position, "and"),
                    language.match_prefix(tokens, position, "then"),
                )
                if after > position and words:
                    if after < len(tokens) and tokens[after].key in language.verbs():
                        break
                    position = after
                    continue
            if token.is_word and token.key in (
                language.words("determiners") | language.words("topic_fillers") | self._small_words
            ):
                position += 1
                end = position if words else end
                continue
            term = self._search_word(token)
            if alternative and words:
                words[-1] = f"{words[-1]} OR {term}"
                alternative = False
            else:
                words.append(term)
            position += 1
            end = position
        if not words:
            return None
        return _Part(" ".join(parenthesize(word) for word in words), end, fit, is_topic=True)

    def _condition_starts(self, tokens: Sequence[Token], position: int) -> bool:
        """Return whether a condition, not a topic, starts at a token."""
        if tokens[position].kind == "tag" or self._property(tokens, position) is not None:
            return True
        for note_filter in self._language.filters:
            if note_filter.value in ("topic", "date_alone", "file"):
                continue
            for phrase in note_filter.say:
                for match in phrase.match(tokens, position):
                    if match.end > position and self._filtered(
                        note_filter, tokens, match.end, match.gap_start, match.gap_end
                    ):
                        return True
        span = self._dates.parse_span(tokens, position)
        return span is not None and self._language.match_prefix(tokens, position, "dates", "cues") > position

    def _search_word(self, token: Token) -> str:
        if token.kind == "quoted":
            return quote_text(token.value)
        if token.kind == "link":
            return quote_text(parse_reference(token.value).target)
        if token.kind == "tag":
            return f"tag:{token.value}"
        return (
            token.value if _PLAIN.fullmatch(token.value) and token.value != "OR" else quote_text(token.value)
        )


def is_search(query: str) -> bool:
    """Return whether a query is valid."""
    try:
        parse_query(f"{query} ")
    except QueryError:
        return False
    return True


def _share(token: Token) -> str:
    """Return a token's number from 0 to 100 as text; empty for anything else."""
    if not token.is_word or not _NUMBER.fullmatch(token.value):
        return ""
    value = format_number(token.value)
    return value if 0 < float(value) <= 100 else ""


def format_number(text: str) -> str:
    """Format a number for the search language; a percentage becomes a fraction of 1."""
    plain = text.replace(",", ".")
    if plain.endswith("%"):
        return f"{float(plain[:-1]) / 100:g}"
    return plain


def _fill_query(query: str, value: str) -> str:
    if query.endswith("{}/"):
        return f"{query[:-3]}{_quote(f'{value}/')}"
    if query == "{}":
        return value
    return query.replace("{}", value if value.startswith(('"', "(", "-")) else _quote(value))


def _quote(text: str) -> str:
    return text if re.fullmatch(r"[\w/-]+", text) else quote_text(text)


def _wrap_query(query: str) -> str:
    simple = query.startswith(("(", '"', "[")) and query.endswith((")", '"', "]"))
    return query if simple or re.fullmatch(r'[\w-]+:"[^"]*"', query) else f"({query})"


def _trim_marks(tokens: Sequence[Token]) -> Sequence[Token]:
    start, end = 0, len(tokens)
    while start < end and tokens[start].kind == "mark":
        start += 1
    while end > start and tokens[end - 1].kind == "mark":
        end -= 1
    return tokens[start:end]
