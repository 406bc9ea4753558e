"""Parse sets of notes by a date, an amount or a superlative: "lessons next week", "the cheapest of them"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.lookups.described_sets import asking_lead, described_part, is_plain_word
from app.agent.language.lookups.negations import change_words
from app.agent.language.meaning.conditions import condition_slots
from app.agent.language.meaning.dialog import MAX_RESULTS
from app.agent.language.meaning.readings import NoteSet
from app.agent.language.words.dates import Days, bounded_days
from app.agent.language.words.lexicon import languages
from app.agent.language.words.tokens import Token
from app.index.query_serializer import quote_value
from app.vault.path import name_key

_OLD_YEAR = re.compile(r"1[0-8]\d\d|19[0-8]\d")
_SIGNS = ("<=", ">=", "<", ">")
_MAX_PERIOD_TOKENS = 6
_MAX_NAME_TOKENS = 3


@dataclass(frozen=True, slots=True)
class Comparison:
    """A date or an amount to which a property is compared.

    Args:
        end: The position after its words.
        sign: The sign of an amount; empty for days.
        amount: The amount; empty for days.
        periods: The days that the words may mean, those ahead first.
        names: The properties that the words between an amount and its sign may mean: "4 stars or more".
    """

    end: int
    sign: str = ""
    amount: str = ""
    periods: tuple[Days, ...] = ()
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Superlative:
    """An order of notes by a property: "cheapest", "born last".

    Args:
        end: The position after its words.
        is_lowest: Whether the lowest number or the earliest date comes first.
        limit: The number of notes; None for all.
        names: The properties that its words name or may mean.
        is_by_date: Whether its words are about time, such as "first" and "latest".
    """

    end: int
    is_lowest: bool
    limit: int | None
    names: frozenset[str]
    is_by_date: bool


@dataclass(frozen=True, slots=True)
class ComparedSet:
    """Notes of which some property is compared to a date, to an amount or between the notes.

    Args:
        notes: The notes before the comparison.
        action: The action: `find` or `count`.
        names: The properties that the words name or may mean; none if the words leave it open.
        comparison: The date, the amount or the order.
        is_negated: Whether the notes are those to which the comparison does not apply.
    """

    notes: NoteSet
    action: str
    names: frozenset[str]
    comparison: Comparison | Superlative
    is_negated: bool = False


def parse_compared_set(request: Request) -> ComparedSet | None:
    """Return the notes that all words of a request describe by a comparison; None for other words.

    Words that describe the notes otherwise may be kinds of notes, values, and a reference to the last list.
    """
    language, dialog = request.language, request.dialog
    tokens = without_marks_at_end(request.tokens)
    tokens = tokens[language.match_prefix(tokens, 0, "and") :]
    has_list = dialog.has_list and len(dialog.them) < MAX_RESULTS
    counted = language.match_prefix(tokens, 0, "refine", "count_only")
    narrowed = (counted or language.match_prefix(tokens, 0, "refine", "only")) if has_list else 0
    action, start = ("count" if counted else "find", narrowed) if narrowed else asking_lead(request, tokens)
    words = _ComparedWords(request, tokens)
    if not words.read(start) or (comparison := words.comparison) is None:
        return None
    if isinstance(comparison, Superlative):
        if not words.names or words.is_negated or action == "count":
            return None
        several = language.table("compared_sets")["several"]
        if comparison.limit is None and not (words.has_several or any(own.key in several for own in tokens)):
            comparison = replace(comparison, limit=1)
    continues = words.has_pronoun or (request.continues_list and not words.conditions)
    is_of_list = narrowed > 0 or (has_list and continues)
    has_kind = any(condition_slots(part) == {"kind"} for part in words.conditions)
    if not (has_kind or is_of_list or (words.names and _asks(request, tokens))):
        return None
    query = " ".join(request.vocabulary.without_templates(words.conditions))
    notes = _listed(request) if is_of_list else NoteSet()
    notes = notes.with_query(query) if query else notes
    return ComparedSet(notes, action, words.names, comparison, words.is_negated)


@dataclass(slots=True)
class _ComparedWords:
    """The conditions and the comparison that the words of a request name, read from left to right."""

    request: Request
    tokens: Sequence[Token]
    conditions: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    comparison: Comparison | Superlative | None = None
    is_negated: bool = False
    has_several: bool = False  # by a plural after a superlative
    has_pronoun: bool = False  # for the last list

    def read(self, start: int) -> bool:
        """Read the words from a position on; return whether all of them are about such notes."""
        position: int | None = start
        while position is not None and position < len(self.tokens):
            position = self._read(position)
        return position is not None

    def _read(self, position: int) -> int | None:
        """Read the words at a position; return the position after them, or None if they don't fit."""
        request, tokens, language = self.request, self.tokens, self.request.language
        token = tokens[position]
        if (after := language.match_prefix(tokens, position, "described_sets", "not")) > position:
            self.is_negated = True
            return after
        if (after := language.match_prefix(tokens, position, "compared_sets", "plain_phrases")) > position:
            return after
        if self._lacks_comparison() and (found := _compared_at(request, tokens, position)):
            before = {own.key for own in tokens[max(0, position - 2) : position]}
            is_owner = self.names and not before.isdisjoint(language.table("own_values")["of"])
            if isinstance(found, Superlative) and is_owner:
                return None  # "the price of the cheapest job" is a value
            self.comparison = found
            self.names |= found.names
            return found.end
        part = described_part(request, tokens, position)
        if part and (condition_slots(part.query) == {"kind"} or (":" in part.query and not self.names)):
            self.conditions += (part.query,)
            follows = isinstance(self.comparison, Superlative) and self.comparison.end == position
            self.has_several |= follows and request.set_parser().is_plural(token.key)
            return part.end
        if kind := _kind_of_one(request, token):
            self.conditions += (kind,)
            return position + 1
        if named := _property_at(request, tokens, position):
            self.names |= named[0]
            return named[1]
        if is_plain_word(request, token) or token.key in {",", *language.table("compared_sets")["plain"]}:
            self.has_pronoun |= token.key in language.words("result_pronouns")
            return position + 1
        return None

    def _lacks_comparison(self) -> bool:
        """Return whether there is no comparison yet, or only "coming up" as in "coming up in June"."""
        upcoming = ((self.request.dates.today, None),)
        known = self.comparison
        return known is None or known == Comparison(known.end, periods=upcoming)


def _asks(request: Request, tokens: Sequence[Token]) -> bool:
    """Return whether a request without a kind of notes asks for notes by a property: "who was born last".

    "Birthday is April 3" is no question, and "created in March" is about the time of a change.
    """
    language = request.language
    changes = change_words(language, "created") | change_words(language, "modified")
    if any(token.key in language.words("due_words") for token in tokens):
        return False  # "what is due next week?" asks for tasks
    is_question = tokens[0].key in language.words("asking_words") or asking_lead(request, tokens)[1] > 0
    yearly = language.table("compared_sets")["yearly"]
    # "Birthdays in May" has no verb.
    is_question = is_question or any(s in yearly for s in request.vocabulary.plural_stems(tokens[0].key))
    return is_question and changes.isdisjoint(token.key for token in tokens)


def _listed(request: Request) -> NoteSet:
    """Return the notes listed last, by their search if possible."""
    last = request.dialog.last.last if request.dialog.last is not None else None
    is_search = last is not None and last.action in ("find", "count") and not request.dialog.attached
    target = last.target if last is not None else None
    if is_search and target is not None and target == NoteSet(query=target.query, order=target.order):
        return target
    return NoteSet(source="previous")


def _property_at(request: Request, tokens: Sequence[Token], position: int) -> tuple[set[str], int] | None:
    """Return the properties that words at a position name or may mean, and the position after them."""
    vocabulary, language = request.vocabulary, request.language
    if position >= len(tokens) or not tokens[position].is_word:
        return None
    token, names, last = tokens[position], set[str](), position + 1
    for end in range(min(len(tokens), position + _MAX_NAME_TOKENS), position, -1):
        keys = [own.key for own in tokens[position:end]]
        known = [name for mark in ("-", " ", "_") if (name := vocabulary.find_property(mark.join(keys)))]
        if known:
            names, last = {known[0]}, end
            break
    implied = language.implied_properties({token.key})
    if token.key in language.words("due_words"):
        # A German request may be about a property with an English name.
        implied = implied.union(*(known.words("due_properties") for known in languages()))
    names |= {name for own in implied if (name := vocabulary.find_property(own))}
    if own := language.property_name(token.key, vocabulary.find_property):
        names.add(own)
    return (names, last) if names else None


def _kind_of_one(request: Request, token: Token) -> str:
    """Return the condition on the kind that a singular names: "recipe"; an empty text for other words."""
    vocabulary = request.vocabulary
    if folder := vocabulary.find_folder_of_one(token.key) if token.is_word else None:
        return f"path:{quote_value(f'{folder}/')}"
    is_property = not token.is_word or vocabulary.find_property(token.key) is not None
    tag = None if is_property else vocabulary.find_tag(token.key)
    return f"tag:{quote_value(tag)}" if tag is not None else ""


def _compared_at(request: Request, tokens: Sequence[Token], position: int) -> Comparison | Superlative | None:
    """Return the comparison or the superlative that starts at a token; None for other words."""
    named = _property_at(request, tokens, position)
    if named is not None and named[1] > position + 1:
        return None  # "first seen" is a property
    return _superlative(request, tokens, position) or _comparison(request, tokens, position)


def _superlative(request: Request, tokens: Sequence[Token], position: int) -> Superlative | None:
    """Return the superlative that starts at a token: "cheapest", "three quickest"; None for other words.

    Orders that do not read a property, such as "newest" and "longest", are other words.
    """
    language = request.language
    limit = request.dates.parse_number(tokens[position].key) if position + 1 < len(tokens) else None
    start = position + (limit is not None)
    if any(
        language.match_prefix(tokens, start, "orders", order) > start for order in language.table("orders")
    ):
        return None
    ends = {
        kind: language.match_prefix(tokens, start, "compared_sets", kind) for kind in ("lowest", "highest")
    }
    kind = max(ends, key=ends.__getitem__)
    end = ends[kind]
    if end == start:
        return None
    names = {name for token in tokens[start:end] for name in language.implied_properties({token.key})} & {
        name_key(known.name) for known in request.vocabulary.fields
    }
    times = language.table("compared_sets")["times"]
    is_by_date = any(token.key in times for token in tokens[start:end])
    return Superlative(end, kind == "lowest", limit, frozenset(names), is_by_date)


def _comparison(request: Request, tokens: Sequence[Token], position: int) -> Comparison | None:
    """Return the comparison that starts at a token; None for other words."""
    language, today = request.language, request.dates.today
    if (after := language.match_prefix(tokens, position, "compared_sets", "past")) > position:
        named = _property_at(request, tokens, language.after_determiners(tokens, after))
        if named is not None and named[1] >= len(tokens) - 1:
            return Comparison(after, periods=((None, today - timedelta(days=1)),))
    if (after := language.match_prefix(tokens, position, "compared_sets", "upcoming")) > position:
        return Comparison(after, periods=((today, None),))
    for sign in _SIGNS:
        after = language.match_prefix(tokens, position, "comparisons", sign)
        if after == position or after >= len(tokens):
            continue
        is_date_word = language.match_prefix(tokens, position, "compared_sets", "date_signs") == after
        at = min(language.after_determiners(tokens, after), len(tokens) - 1)  # "under a thousand"
        stated = language.plain_number(tokens[at].value) or language.table("numbers").get(tokens[at].key)
        if not is_date_word and stated:
            return Comparison(_after_currency(request, tokens, at + 1), sign, str(stated))
        word = tokens[after - 1].key
        if sign == ">" and word not in language.table("years").get("exclusive", ()):
            sign = ">="
        if days := _days(request, tokens, after):
            return Comparison(days[1], periods=tuple(bounded_days(period, sign) for period in days[0]))
    amount = language.plain_number(tokens[position].value) if tokens[position].is_word else None
    end = _after_currency(request, tokens, position + 1)
    named = _property_at(request, tokens, end) if amount and end < len(tokens) else None
    for names, after in ((set[str](), end), *((named,) if named is not None else ())):
        if amount and (postfix := _postfix(request, tokens, after)):
            return Comparison(postfix[1], postfix[0], amount, names=frozenset(names))
    if amount or not (days := _days(request, tokens, position)):
        return None
    periods, end = days
    if postfix := _postfix(request, tokens, end):
        return Comparison(postfix[1], periods=tuple(bounded_days(period, postfix[0]) for period in periods))
    return Comparison(end, periods=periods)


def _postfix(request: Request, tokens: Sequence[Token], position: int) -> tuple[str, int] | None:
    """Return the sign of "or more" and "or earlier" at a position, and the position after it."""
    for sign in ("<=", ">="):
        end = request.language.match_prefix(tokens, position, "compared_sets", sign)
        if end > position:
            return sign, end
    return None


def _days(request: Request, tokens: Sequence[Token], position: int) -> tuple[tuple[Days, ...], int] | None:
    """Return the days that the longest words at a position name, those ahead first, and the end."""
    dates = request.dates
    for end in range(min(len(tokens), position + _MAX_PERIOD_TOKENS), position, -1):
        part = tokens[position:end]
        # The date parser takes 1762 for a day.
        if part[-1].kind == "mark" or any(_OLD_YEAR.fullmatch(token.key) for token in part):
            continue
        bare = part[request.language.match_prefix(part, 0, "dates", "span") :]
        spans = [
            span
            for words in (part, bare)
            if words and (span := dates.parse_ahead(words)) is not None and span.end == len(words)
        ][:1]
        if (past := dates.parse_period(part)) is not None and past.first is not None:
            spans.append(past)
        periods = tuple(dict.fromkeys((span.first, span.last) for span in spans if span.first and span.last))
        if periods:
            return periods, end
    return None


def _after_currency(request: Request, tokens: Sequence[Token], position: int) -> int:
    currencies = request.language.table("stated_values")["currencies"]
    return position + (position < len(tokens) and tokens[position].key in currencies)
