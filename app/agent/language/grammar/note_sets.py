"""Parse a noun phrase as a set of notes: names, pronouns, ordinals and search conditions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile

from app.agent.language.grammar.note_references import BARE_FIT, CUED_FIT, NoteReferenceParser, ParsedSet
from app.agent.language.grammar.orders import NoteOrder, OrderParser
from app.agent.language.grammar.property_conditions import PropertyConditionParser, QueryPart
from app.agent.language.meaning.conditions import condition_slots, is_kind_condition, top_level_parts
from app.agent.language.meaning.dialog import MAX_RESULTS
from app.agent.language.meaning.readings import NoteSet, parenthesize
from app.agent.language.words.dates import day_name_conditions
from app.agent.language.words.lexicon import Filter, PhraseMatch
from app.agent.language.words.tokens import Token
from app.errors import QueryError
from app.index.query import parse as parse_query
from app.index.query_serializer import quote_text, quote_value
from app.vault.path import NotePath, name_key
from app.vault.reference import parse_reference

_MAX_NAME_TOKENS = 10
_MAX_KIND_TOKENS = 3
_MAX_FOLDER_TOKENS = 5
_MAX_FILE_TOKENS = 4
_EMPTY = r"-content:/\S/"
_TOPIC_FIT = 0.75
"""Fit of search words that follow a noun such as "notes": "notes on longitude"."""
_PLAIN = re.compile(r"[\w][\w-]*")
_PATTERN_MARK = re.compile(r"[^\w\s-]")
_ORDINAL = re.compile(r"\d{1,2}(?:st|nd|rd|th)")
_CHANGED = re.compile(r"(modified|created):>=(\S+)(?: \1:<=\S+)?")
_STATED_DATE = re.compile(r"\[(?:date|year|born|died|published):")


@dataclass(slots=True)
class _NounPhrase:
    """A noun phrase, and what its words before a position mean."""

    tokens: Sequence[Token]
    is_ordered: bool
    """Whether the phrase contains a sort order."""
    position: int = 0
    conditions: list[str] = field(default_factory=list)
    day_conditions: list[str] = field(default_factory=list)
    """The same conditions, but days are the names of daily notes."""
    listed_notes: NoteSet | None = None
    order: NoteOrder | None = None
    unexplained: list[str] = field(default_factory=list)
    last: QueryPart | None = None
    is_negated: bool = False
    is_alternative: bool = False
    has_head: bool = False
    has_bare_topic: bool = False
    is_one: bool | None = None
    """Whether the last noun is singular; None without a noun."""
    _weight: int = 0
    _explained: float = 0.0

    def advance(self, end: int, fit: float = 1.0) -> None:
        """Move to a position after words that fit as well as given."""
        self._explained += fit * (end - self.position)
        self._weight += end - self.position
        self.position = end

    def add(self, part: QueryPart) -> None:
        """Add a condition or words to search for: negated after "not", as an alternative after "or"."""
        if part.query == _EMPTY and self.has_bare_topic:
            part = replace(part, fit=0.0)  # "the tin is empty" is no search for empty notes
        for known, query in (
            (self.conditions, part.query),
            (self.day_conditions, part.day_names or part.query),
        ):
            condition = negated(query) if self.is_negated else query
            if self.is_alternative and known:
                known[-1] = f"({known[-1].strip('()')} OR {condition})"
            else:
                known.append(condition)
        is_bare_topic = part.is_topic and part.fit < CUED_FIT
        self.has_head |= self.is_negated or not is_bare_topic
        self.has_bare_topic |= is_bare_topic
        self.is_negated = self.is_alternative = False
        self.last = part
        self.advance(part.end, part.fit)

    def add_order(self, order: NoteOrder) -> None:
        """Add an order, which keeps the limit of the one before: "the 3 oldest people by birth date"."""
        if (before := self.order) is not None:
            limit = order.limit if order.limit is not None else before.limit
            order = replace(order, limit=limit, is_superlative=before.is_superlative)
        self.order = order
        self.has_head = True
        self.advance(order.end)

    @property
    def means_one(self) -> bool:
        """Whether a superlative means one note: "the newest recipe", or "the newest" alone."""
        return not (self.unexplained or self.has_bare_topic) if self.is_one is None else self.is_one

    def parsed(self, notes: NoteSet) -> ParsedSet:
        """Return the notes that the phrase means, and how well its words fit."""
        fit = self._explained / self._weight if self._weight else 0.0
        # The first notes of an ordered set may not be the ones that the user wants to change.
        is_certain = notes.limit is None
        return ParsedSet(notes, fit, tuple(self.unexplained), self.has_head, self.has_bare_topic, is_certain)


class NoteSetParser(NoteReferenceParser):
    """Parse the noun phrases of one request: references to notes, and search conditions."""

    @cached_property
    def _comparisons(self) -> PropertyConditionParser:
        return PropertyConditionParser(self._language, self._vocabulary, self.dates)

    @cached_property
    def _orders(self) -> OrderParser:
        return OrderParser(self._language, self.dates, self._comparisons)

    @cached_property
    def _word_conditions(self) -> dict[Token, QueryPart | None]:
        """The conditions that single words name; overlapping phrases ask for them again and again."""
        return {}

    @cached_property
    def _small_words(self) -> frozenset[str]:
        """Words that are never part of a topic."""
        return self._language.words("fillers") - self._language.words("note_nouns")

    def parse(self, tokens: Sequence[Token]) -> ParsedSet | None:
        """Return the best reading of the tokens as a set of notes; None if there are no tokens."""
        tokens = _trim_marks(tokens)
        if not tokens:
            return None
        if parsed := self.parse_reference(tokens) or self.find_named(tokens) or self._parse_names(tokens):
            return parsed
        parsed = self._parse_conditions(tokens)
        if parsed.fit < CUED_FIT or not parsed.has_head:
            near = self.find_similar(tokens)
            if near and near.fit > parsed.fit:
                return near
            if near and not parsed.has_head:
                return replace(parsed, notes=replace(parsed.notes, candidates=near.notes.candidates))
        return parsed

    def condition_at(self, tokens: Sequence[Token], position: int) -> QueryPart | None:
        """Return the condition that starts at a token; None for words to search for and other words."""
        part = self._condition(tokens, position, None)
        return None if part is not None and part.is_topic and part.filter is None else part

    def condition_of(self, word: Token) -> QueryPart | None:
        """Return the condition that a word alone names; None for words to search for and other words."""
        if word not in self._word_conditions:
            self._word_conditions[word] = self.condition_at((word,), 0)
        return self._word_conditions[word]

    def stated_conditions(self, tokens: Sequence[Token]) -> frozenset[str]:
        """Return the conditions on makers, on years of a kind, on the lack of a property and on a folder.

        Examples are "by Kevin Kelly", "movies from 1999", "without a rating", and "pages and journal entries"
        in a vault with a folder `pages`.
        """
        parts: list[QueryPart | None] = []
        for position in range(len(tokens)):
            parts += [self._made_by(tokens, position), self.made_by_subject(tokens, position)]
            parts.append(self._comparisons.parse_lacking(tokens, position))
            kind = self._noun(tokens, position)
            if kind is not None and kind.end < len(tokens) and is_kind_condition(kind.query):
                parts.append(self._comparisons.parse_years(tokens, kind.end, is_stated=True))
        # "Since 1990" has more than one meaning.
        return frozenset(
            part.query for part in parts if part is not None and not re.search(r":[<>]", part.query)
        )

    def term_condition(self, name: str, tokens: Sequence[Token]) -> str | None:
        """Return the condition that a term has ended or has not ended, if the tokens say so."""
        return self._comparisons.term_condition(name, tokens)

    def order_in(self, tokens: Sequence[Token]) -> tuple[str, int | None] | None:
        """Return the first sort order in the tokens and its limit; None if there is none."""
        for position in range(len(tokens)):
            if tokens[position].kind != "mark" and (order := self._orders.parse(tokens, position)):
                return order.order, order.limit
        return None

    def type_of(self, word: str) -> str | None:
        """Return the note type that a word names, or None."""
        forms = (word, *self._vocabulary.singular_forms(word.casefold()))
        return next(filter(None, map(self._vocabulary.find_type, forms)), None)

    # Conditions

    def _parse_conditions(self, tokens: Sequence[Token]) -> ParsedSet:
        """Parse the phrase as search conditions; other words become words to search for."""
        order = self.order_in(tokens)
        phrase = _NounPhrase(tokens, is_ordered=order is not None and bool(order[0]))
        while phrase.position < len(tokens):
            if not self._read_connective(phrase):
                self._read_condition(phrase)
        are_days = self._vocabulary.means_daily_notes(phrase.conditions)
        conditions = phrase.day_conditions if are_days else phrase.conditions
        conditions = self._vocabulary.without_templates(conditions)
        notes = replace(phrase.listed_notes or NoteSet(), query=" ".join(conditions))
        if phrase.order is not None:
            notes = self._in_order(notes, phrase.order, phrase.means_one, tokens)
        elif phrase.listed_notes is None and conditions and self._means_listed(tokens):
            notes = replace(notes, source="previous")
        return phrase.parsed(notes)

    def _read_connective(self, phrase: _NounPhrase) -> bool:
        """Read a mark, "in my vault", "or" or "and" in a phrase; return False for other words."""
        tokens, position = phrase.tokens, phrase.position
        if tokens[position].kind == "mark":
            phrase.position += 1
        elif (end := self.end_of_vault(tokens, position)) > position:
            phrase.advance(end)
        elif phrase.last is not None and (end := self._end_before_words("or", tokens, position)):
            phrase.is_alternative = True
            phrase.advance(end)
        elif position > 0 and (end := self._end_before_words("and", tokens, position)):
            # "Movies and shows" are the notes of both kinds.
            phrase.is_alternative = self._joins_kinds(tokens, position, end, phrase.last)
            phrase.advance(end)
        else:
            return False
        return True

    def _end_before_words(self, kind: str, tokens: Sequence[Token], position: int) -> int:
        """Return the end of a phrase of a kind at a position, or 0 if there is none or no words follow it."""
        end = self._language.match_prefix(tokens, position, kind)
        return end if position < end < len(tokens) else 0

    def _read_condition(self, phrase: _NounPhrase) -> None:
        """Read a condition, "not", an order, a word for notes or words to search for in a phrase."""
        tokens, position = phrase.tokens, phrase.position
        token, nouns = tokens[position], self._language.words("note_nouns")
        topic_fit = _TOPIC_FIT if phrase.has_head else BARE_FIT
        part = self._condition(tokens, position, phrase.last)
        if phrase.is_ordered:
            if part is None or part.is_topic:
                part = self._noun(tokens, position, counted=True) or part
            if (is_one := self._is_singular(token, part)) is not None:
                phrase.is_one = is_one
        if part is not None and not part.is_topic:
            phrase.add(part)
        elif part is None and (end := self._end_before_words("not", tokens, position)):
            phrase.is_negated = not phrase.is_negated
            phrase.advance(end)
        elif order := self._order(tokens, position, phrase.order):
            phrase.add_order(order)
        elif part is None and position == 0 and (reference := self._leading_reference(tokens)):
            phrase.listed_notes, end = reference
            phrase.has_head = True
            phrase.advance(end)
        elif part is None and token.is_word and token.key in nouns | self._language.words("fillers"):
            phrase.has_head |= token.key in nouns
            phrase.advance(position + 1)
        elif part := self._negated_part(phrase, part) or self._topic(tokens, position, topic_fit):
            phrase.add(part)
        else:
            phrase.unexplained.append(token.value)
            phrase.advance(position + 1, fit=0.0)

    def _negated_part(self, phrase: _NounPhrase, part: QueryPart | None) -> QueryPart | None:
        """Return what "not" excludes: a note ("cameras but not the gimbal"), `part`, or a property."""
        token, last = phrase.tokens[phrase.position], phrase.last
        if not phrase.is_negated:
            return part
        if last is not None and _is_condition(last):
            part = self.excepted(phrase.tokens, phrase.position, last.query) or part
        if part is not None or not (name := self._comparisons.property_name(token)):
            return part
        absence = self._language.words("determiners") | self._language.words("lacking")
        if phrase.tokens[phrase.position - 1].key in absence:
            return QueryPart(f"[{name}]", phrase.position + 1)
        phrase.is_negated = False
        return QueryPart(f"[{name}:false]", phrase.position + 1)

    def _joins_kinds(
        self, tokens: Sequence[Token], position: int, after: int, last: QueryPart | None
    ) -> bool:
        """Return whether "and" joins the names of two kinds of notes."""
        if last is None or last.end != position or last.is_topic or last.filter is not None:
            return False
        after = self._language.after_determiners(tokens, after, len(tokens) - 1)
        following = self._noun(tokens, after)
        if following is None or last.query == following.query:
            return False
        # "Star and clock notes" have both tags.
        nouns = self._language.words("note_nouns")
        has_noun = following.end < len(tokens) and tokens[following.end].key in nouns
        kinds = (last.query, following.query)
        are_tags = all(query.startswith("tag:") for query in kinds)
        return all(condition_slots(query) == {"kind"} for query in kinds) and not (are_tags and has_noun)

    def names_of_days(self, tokens: Sequence[Token]) -> str:
        """Return the search for the daily notes of the days that tokens name: `file:2026-02`.

        Return an empty text for an open or a long period and for words that are not a period.
        """
        days = self.dates.parse_period(tokens)
        if days is None:
            return ""
        return day_name_conditions(days.first, days.last, self._vocabulary.day_separator)

    def excepted(self, tokens: Sequence[Token], position: int, kind: str) -> QueryPart | None:
        """Parse a note excluded from a set: "but not the gimbal". "Without X" refers to the text instead.

        A part of the name is enough if `kind` is the condition on the folder of the note.
        """
        if tokens[position - 1].key in self._language.words("lacking"):
            return None
        for end in range(min(len(tokens), position + _MAX_NAME_TOKENS), position, -1):
            parsed = self.find_named(tokens[position:end]) if tokens[end - 1].kind != "mark" else None
            if parsed is not None and parsed.notes.is_single:
                return QueryPart(f"path:{quote_text(parsed.notes.notes[0])}", end)
        words = [token for token in tokens[position:] if token.key not in self._language.words("determiners")]
        path = self._vocabulary.note_with_words(self._name_text(words)) if words else None
        folder = kind.removeprefix("path:").strip('"') if kind.startswith("path:") else ""
        is_in_folder = path is not None and bool(folder) and path.startswith(folder)
        return QueryPart(f"path:{quote_text(path)}", len(tokens)) if path and is_in_folder else None

    def _in_order(
        self, notes: NoteSet, ordering: NoteOrder, is_one: bool, tokens: Sequence[Token]
    ) -> NoteSet:
        """Return a set with an order and a limit; "the newest one" selects from the notes listed last."""
        order, limit = ordering.order, ordering.limit
        if limit is None and ordering.is_superlative and is_one:
            limit = 1
        pronouns = self._language.words("result_pronouns")
        has_pronoun = any(token.key in pronouns for token in tokens)
        says_notes = any(token.key in self._language.words("note_nouns") - pronouns for token in tokens)
        may_be_listed = self._dialog.has_list and not says_notes
        if notes.is_everything and self._dialog.has_list and (has_pronoun or not order):
            notes = replace(notes, source="previous")
        elif notes.is_everything and order.endswith("dated") and not may_be_listed:
            order = order.replace("dated", "created")
        if order == "-dated" and self._vocabulary.means_daily_notes(top_level_parts(notes.query)):
            order = "name"  # the names of daily notes are their dates
        if order in ("modified", "-modified") and _STATED_DATE.search(notes.query):
            order = order.replace("modified", "dated")
        return replace(notes, order=order, limit=limit)

    def _means_listed(self, tokens: Sequence[Token]) -> bool:
        """Return whether "the empty ones" are some of the notes listed last, and all of those are known."""
        language, dialog = self._language, self._dialog
        nouns = {token.key for token in tokens if token.is_word} & language.words("note_nouns")
        pronouns = language.words("result_pronouns") - language.words("single_nouns")
        return bool(nouns) and nouns <= pronouns and dialog.has_list and len(dialog.them) < MAX_RESULTS

    def is_plural(self, key: str) -> bool:
        """Return whether a noun that names a folder, a tag or a type is plural: "events", "people"."""
        vocabulary = self._vocabulary
        if key in self._language.words("plural_nouns") or vocabulary.find_folder(key):
            return True
        return any(
            vocabulary.find_tag(stem) or vocabulary.find_type(stem) or vocabulary.find_category(stem)
            for stem in vocabulary.plural_stems(key)
        )

    def _is_singular(self, token: Token, part: QueryPart | None) -> bool | None:
        """Return whether a noun is singular; None for other words."""
        if token.key in self._language.words("note_nouns"):
            return token.key in self._language.words("single_nouns")
        if part is None or part.is_topic or part.filter is not None or not token.is_word:
            return None
        if part.query.startswith(("path:", "tag:", "type:")):
            return not self.is_plural(token.key)
        return None

    def _leading_reference(self, tokens: Sequence[Token]) -> tuple[NoteSet, int] | None:
        """Parse "of those" or "which of these" before other conditions; return the notes and their end."""
        for end in range(min(4, len(tokens) - 1), 0, -1):
            leading = tokens[:end]
            if all(token.key in self._language.words("determiners") for token in leading):
                continue
            parsed = self.parse_reference(leading) if self._language.matches_phrase(leading, "them") else None
            if parsed is not None and (parsed.notes.notes or parsed.notes.source):
                return parsed.notes, end
        return None

    def _order(
        self, tokens: Sequence[Token], position: int, before: NoteOrder | None = None
    ) -> NoteOrder | None:
        """Parse an order; after a superlative, only the property that it uses."""
        if before is not None and before.is_superlative and before.order:
            return self._orders.parse_superlative_key(tokens, position, before.order)
        return self._orders.parse(tokens, position)

    def _condition(self, tokens: Sequence[Token], position: int, last: QueryPart | None) -> QueryPart | None:
        """Return the condition that starts at a token and explains the most words."""
        token = tokens[position]
        if token.kind == "tag":
            return QueryPart(f"tag:{token.value}", position + 1, 1.0)
        is_of_kind = last is not None and is_kind_condition(last.query)
        if is_of_kind and (part := self._comparisons.parse_years(tokens, position, is_stated=True)):
            return part  # "movies from 1999" state this year; they were not changed in it
        candidates = (
            self._comparisons.parse_lacking(tokens, position),  # "without support", for a property "support"
            self._comparisons.parse_years(tokens, position),
            *self._filtered(tokens, position),
            self._days(tokens, position),
            self._comparisons.parse(tokens, position),
            self._comparisons.parse_unset_flag(tokens, position),
            self._relation(tokens, position),
            self._made_by(tokens, position) or self.made_by_subject(tokens, position),
        )
        if parts := [part for part in candidates if part is not None]:
            return max(
                parts, key=lambda part: (part.end - (2 if part.is_topic else 0), not part.is_topic, part.fit)
            )
        last_filter = last.filter if last is not None else None
        if last_filter is not None and last_filter.value == "tags":
            query, end = self._tags(tokens, position, strict=True)
            if query:
                return QueryPart(query, end, filter=last_filter)
        if last_filter is not None and last_filter.value == "note":
            name, end = self._value("note", tokens, position)
            if name and self._vocabulary.notes(name):
                return QueryPart(_fill_query(last_filter.query, name), end, filter=last_filter)
        return self._noun(tokens, position)

    def _days(self, tokens: Sequence[Token], position: int) -> QueryPart | None:
        """Return the condition on the days that start at a token, also as a search for daily notes."""
        span = self.dates.parse_span(tokens, position)
        if span is None:
            return None
        day_names = self.names_of_days(tokens[position : span.end])
        return QueryPart(span.query("modified"), span.end, day_names=day_names)

    def _relation(self, tokens: Sequence[Token], position: int) -> QueryPart | None:
        """Parse a relation: "that support X", "with a supports relation", "that nothing supports"."""
        position = self._language.match_prefix(tokens, position, "relation_leads")
        verb = self._language.match_prefix(tokens, position, "nothing")
        for kind, phrases in self._language.relations.items():
            matches = (phrase.longest_match(tokens, verb) for phrase in phrases)
            after = max((match.end for match in matches if match), default=verb)
            if after == verb:
                continue
            if verb > position:
                return QueryPart(f"-backlinks:{kind}", after)
            if after < len(tokens):
                if tokens[after].key in self._language.words("relation_nouns"):
                    return QueryPart(f"rel:{kind}", after + 1)
                note, end = self._value("note", tokens, after)
                if note:
                    return QueryPart(f"rel:{kind} links-to:{quote_value(note)}", end)
        return None

    def _made_by(self, tokens: Sequence[Token], position: int) -> QueryPart | None:
        """Parse "by Kevin Kelly" or "directed by Ridley Scott" as a condition on the person's property."""
        position = self._language.match_prefix(tokens, position, "maker_leads")
        is_verb = position < len(tokens) and bool(self._language.properties_of_verb(tokens[position].key))
        start = position + is_verb
        after = self._language.match_prefix(tokens, start, "made_by") if start < len(tokens) else start
        if after == start:
            return None
        return self._maker(tokens, after, len(tokens), tokens[position] if is_verb else None)

    def made_by_subject(self, tokens: Sequence[Token], position: int) -> QueryPart | None:
        """Parse "Kevin Kelly wrote" as a condition on the property of the verb."""
        lead, position = position, self._language.match_prefix(tokens, position, "maker_leads")
        for at in range(position + 1, min(len(tokens), position + _MAX_NAME_TOKENS)):
            is_of_vault = position > lead and self._vocabulary.find_property_of_verb(tokens[at].key)
            if is_of_vault or self._language.properties_of_verb(tokens[at].key):
                part = self._maker(tokens, position, at, tokens[at])
                return replace(part, end=at + 1) if part is not None and part.end == at else None
        return None

    def _maker(
        self, tokens: Sequence[Token], position: int, stop: int, verb: Token | None
    ) -> QueryPart | None:
        """Return the condition that a property contains the longest name that starts at a token.

        If the verb refers to one of the properties, only this one counts; otherwise, all of them do, unless
        only the vault has a property for the verb.
        """
        for end in range(min(stop, position + _MAX_NAME_TOKENS), position, -1):
            part = tokens[position:end]
            if part[-1].kind == "mark" or self._comparisons.property_name(part[0]):
                continue
            name = self._person(part)
            if conditions := self._vocabulary.conditions_on(name) if name else ():
                makers = self._language.properties_of_verb(verb.key) if verb is not None else ()
                of_vault = self._vocabulary.find_property_of_verb(verb.key) if verb is not None else None
                own = makers or ((name_key(of_vault),) if of_vault else ())
                meant = [condition for condition in conditions if self._names_property(condition, own)]
                if not meant and own and not makers:
                    return None
                meant = meant or [*conditions]
                query = meant[0] if len(meant) == 1 else f"({' OR '.join(meant)})"
                return QueryPart(query, end)
        return None

    def _person(self, tokens: Sequence[Token]) -> str:
        """Return the property text that words or a pronoun refer to; empty if there is none."""
        if any(self._language.matches_phrase(tokens, name) for name in ("it", "this")):
            return _single_name(self.parse_reference(tokens))
        text = self._name_text(tokens)
        if self._vocabulary.conditions_on(text):
            return text
        if len(tokens) == 1 and tokens[0].key not in self._language.vocabulary():
            return self._vocabulary.label_with_word(text) or ""
        return ""

    def _names_property(self, condition: str, names: Sequence[str]) -> bool:
        name = condition[1:].partition(":")[0].strip('"').casefold()
        return any(form in names for form in (name, *self._vocabulary.plural_stems(name)))

    def _filtered(
        self, tokens: Sequence[Token], position: int, ignored: Collection[str] = ()
    ) -> Iterator[QueryPart]:
        """Yield the conditions of the filters that start at a token, except those with `ignored` values."""
        for note_filter in self._language.filters:
            for phrase in note_filter.say if note_filter.value not in ignored else ():
                for match in phrase.match(tokens, position):
                    if part := self._matched(note_filter, tokens, match):
                        yield part

    def _matched(self, note_filter: Filter, tokens: Sequence[Token], match: PhraseMatch) -> QueryPart | None:
        """Return the condition of a filter whose phrase matches; None if its value does not fit.

        The value follows the phrase, or is all that is in its gap.
        """
        if not note_filter.value:
            return QueryPart(note_filter.query, match.end, filter=note_filter)
        if match.gap_start < 0:
            if match.end == len(tokens):
                return None
            part = self._other_kind(note_filter, tokens, match.end)
            return part or self._filter_value(note_filter, tokens, match.end)
        inside = tokens[match.gap_start : match.gap_end]
        part = self._filter_value(note_filter, inside, 0)
        if part is None or part.end < len(inside):
            return None
        return replace(part, end=match.end, is_topic=False)

    def _filter_value(self, note_filter: Filter, tokens: Sequence[Token], position: int) -> QueryPart | None:
        """Return the condition of a filter with the value that starts at a token, or None."""
        match note_filter.value:
            case "tags":
                query, end = self._tags(tokens, position)
                return QueryPart(query, end, filter=note_filter) if query else None
            case "date_alone":
                days = self._days(tokens, position)
                return replace(days, filter=note_filter) if days is not None else None
            case "date":
                span = self.dates.parse_span(tokens, position)
                name = note_filter.query.partition(":")[0]
                return QueryPart(span.query(name), span.end, filter=note_filter) if span else None
            case "topic":
                topic = self._topic(tokens, position, CUED_FIT)
                if topic is None:
                    return None
                return replace(topic, query=_fill_query(note_filter.query, topic.query), filter=note_filter)
            case kind:
                value, end = self._value(kind, tokens, position)
                query = _fill_query(note_filter.query, value)
                return QueryPart(query, end, filter=note_filter) if value else None

    def _other_kind(self, note_filter: Filter, tokens: Sequence[Token], position: int) -> QueryPart | None:
        """Return the condition on a namespace, a tag or a linked type that a filter's value names instead.

        Return None if the value is a folder or a type.
        """
        if note_filter.value not in ("folder", "type"):
            return None
        value, end = self._value(note_filter.value, tokens, position)
        if note_filter.value == "folder" and not value:
            namespace = self._namespace(tokens, position)
            return replace(namespace, filter=note_filter) if namespace is not None else None
        if note_filter.value == "folder":
            tag = self._tag_instead_of(tokens[:end])
            return QueryPart(f"tag:{quote_value(tag)}", end, filter=note_filter) if tag else None
        # In a vault with links as types, "type:" finds none of them.
        conditions = () if self._vocabulary.find_type(value) else self._vocabulary.conditions_on(value)
        query = next((known for known in conditions if known.startswith("[type:")), "")
        return QueryPart(query, end, filter=note_filter) if query else None

    def _tag_instead_of(self, tokens: Sequence[Token]) -> str | None:
        """Return the tag that the last word names, if it only resembles a folder: "pots" next to "Pets"."""
        word, vocabulary = name_key(tokens[-1].value), self._vocabulary
        says_folder = any(token.key in self._language.words("introduces_folder") for token in tokens)
        is_folder = any(map(vocabulary.find_folder, (word, *vocabulary.singular_forms(word))))
        resembles = not is_folder and vocabulary.find_similar_folder(word) is not None
        return vocabulary.find_tag(word) if resembles and not says_folder else None

    def _value(self, kind: str, tokens: Sequence[Token], position: int) -> tuple[str, int]:
        """Return the longest value of a kind that starts at a token (empty if there is none), and its end."""
        position = self._language.after_determiners(tokens, position)
        for end in range(min(len(tokens), position + _MAX_NAME_TOKENS), position, -1):
            if tokens[end - 1].kind != "mark" and (value := self._value_of(kind, tokens[position:end])):
                return value, end
        words = [*takewhile(lambda token: token.kind != "mark", tokens[position:])]
        if kind == "note" and words:
            near = self._vocabulary.find_similar_notes(self._name_text(words))
            if near and near.is_clear:
                return str(NotePath.on_disk(near.paths[0]).stem_path), position + len(words)
        return "", position

    def _value_of(self, kind: str, tokens: Sequence[Token]) -> str:
        """Return the value of a kind that words are; empty if they are none."""
        text = self._name_text(tokens)
        match kind:
            case "folder" if len(tokens) <= _MAX_FOLDER_TOKENS:
                has_noun = len(tokens) > 1 and tokens[-1].key in self._language.words("folder_nouns")
                name = self._name_text(tokens[:-1]) if has_noun else text
                return self._vocabulary.find_similar_folder(name) or ""
            case "note":
                parsed = self.parse_reference(tokens) or self.find_named(tokens)
                is_one = parsed is not None and len(parsed.notes.notes) == 1
                return str(NotePath.on_disk(parsed.notes.notes[0]).stem_path) if parsed and is_one else ""
            case "type" if len(tokens) == 1:
                # "What type is it?" asks for a type instead of naming one.
                is_question = tokens[0].key in self._language.words("question_words")
                return self._vocabulary.find_type(text) or ("" if is_question else text)
            case "file" if len(tokens) <= _MAX_FILE_TOKENS:
                return text
        return ""

    def _namespace(self, tokens: Sequence[Token], position: int) -> QueryPart | None:
        """Return the condition on the longest namespace that starts at a token after "under" or "within".

        The pages in it, unlike the notes in a folder, have its name at the start of their own.
        """
        leads = self._language.table("scopes")["below"]
        if position == 0 or tokens[position - 1].key not in leads:
            return None
        for end in range(min(len(tokens), position + _MAX_FOLDER_TOKENS), position, -1):
            if query := self._vocabulary.find_namespace(self._name_text(tokens[position:end])):
                return QueryPart(query, end)
        return None

    def _tags(self, tokens: Sequence[Token], position: int, *, strict: bool = False) -> tuple[str, int]:
        """Parse tags as a query: "instrument but not core", "a or b"; `strict` accepts known tags only."""
        language = self._language
        ignored = language.words("determiners") | language.words("tag_nouns")
        parts: list[str] = []
        at = end = position
        is_negated = is_alternative = False
        while at < len(tokens):
            token, kinds = tokens[at], ("not", "and", "or") if parts else ("not",)
            conjunctions = (kind for kind in kinds if language.match_prefix(tokens, at, kind) > at)
            if parts and token.kind == "mark" and token.key == ",":
                at += 1
            elif conjunction := next(conjunctions, ""):
                is_negated, is_alternative = is_negated or conjunction == "not", conjunction == "or"
                at = language.match_prefix(tokens, at, conjunction)
            elif token.is_word and token.key in ignored:
                at += 1
                end = at if parts else end
            elif name := self._tag_name(token, may_be_new=not (parts or strict)):
                condition = f"tag:{name if ' ' not in name else quote_text(name)}"
                if is_alternative and parts and not is_negated:
                    parts[-1] = f"({parts[-1].strip('()')} OR {condition})"
                else:
                    parts.append(f"-{condition}" if is_negated else condition)
                at = end = at + 1
                is_negated = is_alternative = False
            else:
                break
        return (" ".join(parts), end) if parts else ("", position)

    def _tag_name(self, token: Token, *, may_be_new: bool) -> str:
        """Return the tag that a token names, perhaps one that does not exist yet; empty if it names none."""
        if token.kind == "tag":
            return token.value
        if token.kind not in ("word", "quoted"):
            return ""
        is_name = _PLAIN.fullmatch(token.value) and token.key not in self._language.words("fillers")
        known = self._vocabulary.find_similar_tag(token.value)
        return known or (token.value if may_be_new and (is_name or token.kind == "quoted") else "")

    def _noun(self, tokens: Sequence[Token], position: int, *, counted: bool = False) -> QueryPart | None:
        """Parse a word that names a folder, a type or, before a noun like "notes", a tag: "claims", "people".

        `counted` is True in an ordered phrase, where a tag may be the noun: "the earliest event".
        """
        token, vocabulary, nouns = tokens[position], self._vocabulary, self._language.words("note_nouns")
        if not token.is_word or token.key in nouns | self._language.words("fillers"):
            return None
        is_before_noun = position + 1 < len(tokens) and tokens[position + 1].key in nouns
        is_noun_position = (
            position == 0
            or tokens[position - 1].kind == "mark"
            or tokens[position - 1].key in self._before_nouns
        )
        if is_noun_position and (kind := self._kind_of_words(tokens, position)):
            return kind
        own_forms = (token.key, *vocabulary.plural_stems(token.key))
        # "Books" are the notes of this category rather than those in a folder with a similar name.
        is_category = vocabulary.has_category(own_forms)
        for word in own_forms if is_category else (token.key, *vocabulary.singular_forms(token.key)):
            if (folder := vocabulary.find_folder(word)) and (
                word != token.key or is_noun_position or is_before_noun
            ):
                return QueryPart(f"path:{quote_value(folder + '/')}", position + 1)
        is_noun = is_noun_position or is_before_noun or counted
        if is_category and is_noun and (category := vocabulary.find_category(token.value)):
            return QueryPart(category, position + 1)
        if note_type := vocabulary.find_type(token.value):
            return QueryPart(f"type:{quote_value(note_type)}", position + 1)
        if is_noun and (category := vocabulary.find_category(token.value)):
            return QueryPart(category, position + 1)
        # "The daily note" is one of them, "the oldest daily note" the first of all.
        is_set = is_before_noun and (
            counted or tokens[position + 1].key not in self._language.words("single_nouns")
        )
        if is_set and (folder := self._daily_folder(token.key)):
            return QueryPart(f"path:{quote_value(f'{folder}/')}", position + 1)
        is_after_article = position > 0 and tokens[position - 1].key in self._language.words("one_of")
        if (tag := vocabulary.find_tag(token.value)) and (
            is_before_noun
            or counted
            or is_after_article
            or (is_noun_position and tag.casefold() != token.key)
        ):
            return QueryPart(f"tag:{quote_value(tag)}", position + 1)
        is_plural = any(token.key != form for form in vocabulary.plural_stems(token.key))
        if is_noun and is_plural and (namespace := vocabulary.find_namespace(token.key)):
            return QueryPart(namespace, position + 1)
        return None

    def _kind_of_words(self, tokens: Sequence[Token], position: int) -> QueryPart | None:
        """Return the category or folder that two or three words name: "all the board games", or None."""
        for end in range(min(len(tokens), position + _MAX_KIND_TOKENS), position + 1, -1):
            words = tokens[position:end]
            if not all(token.is_word for token in words):
                continue
            text = " ".join(token.key for token in words)
            if category := self._vocabulary.find_category(text):
                return QueryPart(category, end)
            if folder := self._vocabulary.find_folder(text):
                return QueryPart(f"path:{quote_value(folder + '/')}", end)
        return None

    def _daily_folder(self, word: str) -> str:
        """Return the folder of the daily notes for "journal" before "entry"; empty for another word.

        That is the highest one that is named so, if the daily notes are in folders for months or years.
        """
        nouns = self._language.words("daily_nouns") - self._language.words("note_nouns")
        folder = self._vocabulary.daily_folder if word in nouns else None
        if not folder:
            return ""
        parts = folder.split("/")
        named = (at for at, part in enumerate(parts, 1) if name_key(part).startswith(word))
        return "/".join(parts[: next(named, len(parts))])

    @cached_property
    def _before_nouns(self) -> frozenset[str]:
        """Words after which a plural refers to notes: "the", "not", "only"."""
        language = self._language
        words = {
            word
            for kind in ("not", "and", "or", "then")
            for phrase in language.phrases(kind)
            for word in phrase.first
        }
        words |= {word for phrase in language.phrases("refine", "only") for word in phrase.first}
        lists = language.words("fillers") | language.words("lacking") | language.words("adjectives")
        return lists | words

    def _topic(self, tokens: Sequence[Token], position: int, fit: float) -> QueryPart | None:
        """Parse the words of a full-text search, up to the next condition; "him" is the person's name."""
        if name := self._person_at_end(tokens, position):
            return QueryPart(quote_text(name), position + 1, fit, is_topic=True)
        language = self._language
        plain = language.words("determiners") | language.words("topic_fillers") | self._small_words
        words: list[str] = []
        start = end = position
        is_alternative = False
        while position < len(tokens) and not self._ends_topic(tokens, position, start):
            token = tokens[position]
            position += 1
            if token.kind == "mark":
                continue
            if words and (after := language.match_prefix(tokens, position - 1, "or")) >= position:
                is_alternative, position = True, after
            elif words and (after := self._after_and(tokens, position - 1)) >= position:
                position = after
            elif token.is_word and token.key in plain:
                end = position if words else end
            else:
                term = self._search_word(token)
                if is_alternative:
                    words[-1] = f"{words[-1]} OR {term}"
                else:
                    words.append(term)
                is_alternative = False
                end = position
        if not words or (len(words) == 1 and _ORDINAL.fullmatch(words[0])):
            return None  # "the 6th" is a day
        return QueryPart(" ".join(parenthesize(word) for word in words), end, fit, is_topic=True)

    def _person_at_end(self, tokens: Sequence[Token], position: int) -> str:
        """Return the name of the note that "him" or "her" means at the end of a phrase; empty if none is."""
        is_last = all(token.kind == "mark" for token in tokens[position + 1 :])
        if not is_last or tokens[position].key not in self._language.words("personal_pronouns"):
            return ""
        return _single_name(self.parse_reference(tokens[position : position + 1]))

    def _ends_topic(self, tokens: Sequence[Token], position: int, start: int) -> bool:
        """Return whether words to search for, which begin at `start`, end before a token.

        They end before a mark other than a comma, "not", an order, a condition, and "and" before a verb.
        """
        token = tokens[position]
        if token.kind == "mark":
            return token.key != "," or position + 1 == len(tokens)
        if position == start:
            return False
        order = self._order(tokens, position)
        after = self._after_and(tokens, position)
        return (
            self._language.match_prefix(tokens, position, "not") > position
            or (order is not None and bool(order.order))
            or self._starts_condition(tokens, position)
            or (position < after < len(tokens) and tokens[after].key in self._language.verbs())
        )

    def _after_and(self, tokens: Sequence[Token], position: int) -> int:
        """Return the position after "and" or "and then"; the position itself without it."""
        return max(self._language.match_prefix(tokens, position, kind) for kind in ("and", "then"))

    def _starts_condition(self, tokens: Sequence[Token], position: int) -> bool:
        """Return whether a condition other than a topic starts at a token."""
        if tokens[position].kind == "tag" or self._comparisons.parse(tokens, position) is not None:
            return True
        if any(self._filtered(tokens, position, ignored=("topic", "date_alone", "file"))):
            return True
        span = self.dates.parse_span(tokens, position)
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


def _single_name(parsed: ParsedSet | None) -> str:
    """Return the name of the only note that words refer to; empty for several notes or none."""
    is_single = parsed is not None and parsed.notes.is_single
    return NotePath.on_disk(parsed.notes.notes[0]).name if parsed is not None and is_single else ""


def is_search(query: str) -> bool:
    """Return whether a query is valid in the search language."""
    try:
        parse_query(f"{query} ")
    except QueryError:
        return False
    return True


def _fill_query(query: str, value: str) -> str:
    if query.endswith("{}/"):
        return f"{query[:-3]}{quote_value(f'{value}/')}"
    if query == "{}":
        return value
    if "/^{}/" in query:
        return query.replace("{}", _PATTERN_MARK.sub(r"\\\g<0>", value))
    return query.replace("{}", value if value.startswith(('"', "(", "-")) else quote_value(value))


def _is_condition(part: QueryPart | None) -> bool:
    """Return whether a part is a condition rather than words to search for."""
    if part is None or part.is_topic:
        return False
    return part.filter is None or part.filter.value != "topic"


def negated(query: str) -> str:
    """Return the negation of a search; "not changed in the last year" means last changed before that."""
    if span := _CHANGED.fullmatch(query):
        return f"{span[1]}:<{span[2]}"
    return f"-{parenthesize(query) if ' ' not in query else _wrap_query(query)}"


def _wrap_query(query: str) -> str:
    is_enclosed = query.startswith(("(", '"', "[")) and query.endswith((")", '"', "]"))
    return query if is_enclosed or re.fullmatch(r'[\w-]+:"[^"]*"', query) else f"({query})"


def _trim_marks(tokens: Sequence[Token]) -> Sequence[Token]:
    start, end = 0, len(tokens)
    while start < end and tokens[start].kind == "mark":
        start += 1
    while end > start and tokens[end - 1].kind == "mark":
        end -= 1
    return tokens[start:end]
