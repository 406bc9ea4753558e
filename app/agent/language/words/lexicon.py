"""Lexicon of a language, loaded from its data file: phrases, filters and frames.

A language is one TOML file in `resources/language`. Phrases use `(a|b)` for alternatives, `[a]` for an
optional part, ` ... ` for a gap that contains the phrase's object, and `<relation>` for any phrase of the
table `relations`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from app.agent.language.words.tokens import DOTTED_NUMBER, Token, plain_number
from app.paths import resources_folder

_PART = re.compile(r"\.\.\.|->|[()\[\]|]|<\w+>|[^\s()\[\]|<>]+|[<>]=?")
_MAX_GAP_TOKENS = 12
_MAX_PLAIN_NUMBER = 20
"""The largest number in words that is a function word; zero and larger numbers may be values."""
BEFORE = "<before>"
BUILT_IN_PROPERTIES = frozenset(("confidence", "type", "aliases", "status"))


@dataclass(frozen=True, slots=True)
class PhraseMatch:
    """The end of a matched phrase and the range of its gap (`gap_start` is -1 without a gap)."""

    end: int
    gap_start: int = -1
    gap_end: int = -1


@dataclass(frozen=True, slots=True)
class _Alternatives:
    options: tuple[tuple[_Part, ...], ...]


_Part = str | _Alternatives
_GAP = "..."


@dataclass(frozen=True, slots=True)
class PhrasePattern:
    """A phrase pattern that can match at any token of a request."""

    text: str
    parts: tuple[_Part, ...]
    first: frozenset[str]
    starts_with_gap: bool
    is_optional: bool

    @property
    def words(self) -> frozenset[str]:
        """The words in the phrase."""
        return frozenset(_iter_words(self.parts))

    def match(self, tokens: Sequence[Token], position: int) -> Iterator[PhraseMatch]:
        """Yield every match of the phrase that starts at the token `position`."""
        if self._may_start(tokens, position):
            yield from _match(self.parts, tokens, PhraseMatch(position))

    def _may_start(self, tokens: Sequence[Token], position: int) -> bool:
        """Return False if the first word rules out a match; most phrases end here."""
        if self.starts_with_gap or self.is_optional:
            return True
        keys = [token.key for token in tokens[position : position + 2]]
        # A comma before the phrase is skipped.
        return bool(keys) and (keys[0] in self.first or (keys[0] == "," and keys[-1] in self.first))

    def longest_match(self, tokens: Sequence[Token], position: int) -> PhraseMatch | None:
        """Return the match that takes the most tokens, or None."""
        if position >= len(tokens) or (not self.starts_with_gap and tokens[position].key not in self.first):
            return None
        return max(self.match(tokens, position), key=lambda match: match.end, default=None)

    def matches_all(self, tokens: Sequence[Token]) -> bool:
        """Return whether the phrase matches exactly these tokens."""
        if not tokens or (not self.starts_with_gap and tokens[0].key not in self.first):
            return False
        return any(match.end == len(tokens) for match in self.match(tokens, 0))


def _match(parts: tuple[_Part, ...], tokens: Sequence[Token], prefix: PhraseMatch) -> Iterator[PhraseMatch]:
    if not parts:
        yield prefix
        return
    part, rest = parts[0], parts[1:]
    if isinstance(part, _Alternatives):
        for option in part.options:
            yield from _match((*option, *rest), tokens, prefix)
        return
    position = prefix.end
    if part == _GAP:
        for end in range(position + 1, min(len(tokens), position + _MAX_GAP_TOKENS) + 1):
            # After another gap, one at the end is for words that don't matter: "url like in the others".
            is_object = bool(rest) or prefix.gap_start < 0
            gap = (position, end) if is_object else (prefix.gap_start, prefix.gap_end)
            yield from _match(rest, tokens, PhraseMatch(end, *gap))
        return
    if position < len(tokens) and tokens[position].key == "," and part != "," and position > 0:
        position += 1
    if position < len(tokens) and tokens[position].key == part:
        yield from _match(rest, tokens, PhraseMatch(position + 1, prefix.gap_start, prefix.gap_end))


def parse_phrase(text: str) -> PhrasePattern:
    """Parse a phrase pattern.

    Raises:
        ValueError: The brackets do not match.
    """
    pieces = _PART.findall(text.casefold())
    parts, position = _parse_sequence(pieces, 0, "")
    if position != len(pieces):
        raise ValueError(f"brackets do not match in {text!r}")
    options = parts[0] if len(parts) == 1 else (_Alternatives(tuple(parts)),)
    first = frozenset(_first_words(options))
    is_optional = any(_match(options, (), PhraseMatch(0)))
    return PhrasePattern(text, options, first, _GAP in first, is_optional)


def _parse_sequence(pieces: list[str], position: int, closing: str) -> tuple[list[tuple[_Part, ...]], int]:
    options: list[tuple[_Part, ...]] = []
    current: list[_Part] = []
    while position < len(pieces) and pieces[position] != closing:
        piece = pieces[position]
        position += 1
        if piece == "|":
            options.append(tuple(current))
            current = []
        elif piece in "([":
            inner, position = _parse_sequence(pieces, position, ")" if piece == "(" else "]")
            if position >= len(pieces):
                raise ValueError("a bracket is not closed")
            position += 1
            current.append(_Alternatives((*inner, ())) if piece == "[" else _Alternatives(tuple(inner)))
        else:
            current.append(piece)
    options.append(tuple(current))
    return options, position


def _first_words(parts: tuple[_Part, ...]) -> Iterator[str]:
    """Yield the words that the parts can begin with, or the gap."""
    for part in parts:
        if not isinstance(part, _Alternatives):
            yield part
            return
        for option in part.options:
            yield from _first_words(option)
        if () not in part.options:
            return


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on notes: its phrases, the kind of its value, and the search, with `{}` for the value."""

    say: tuple[PhrasePattern, ...]
    value: str
    query: str


@dataclass(frozen=True, slots=True)
class ModelWork:
    """Phrases for work that only a language model can do, and the subject of a sentence about that work."""

    say: tuple[PhrasePattern, ...]
    work: str


@dataclass(frozen=True, slots=True)
class ActionFrame:
    """The wording of an action.

    Args:
        action: The id of the action.
        say: The verb phrases.
        roles: The phrases that introduce each role.
        direct: The roles that follow the verb phrase without a cue.
        before: The roles that precede the verb phrase.
        by_relation: Whether the verb phrase names a type of relation, such as "supports".
        known: Whether the frame applies only to tags and properties that exist in the vault.
        constants: The values that the wording itself implies.
    """

    action: str
    say: tuple[PhrasePattern, ...]
    roles: Mapping[str, tuple[PhrasePattern, ...]]
    direct: tuple[str, ...]
    before: tuple[str, ...] = ()
    by_relation: bool = False
    known: bool = False
    constants: Mapping[str, object] = field(default_factory=dict)


def _by_first_word(phrases: Iterable[PhrasePattern]) -> Mapping[str, Sequence[PhrasePattern]]:
    """Return the phrases that may begin with each word; those that begin with a gap are in every list.

    The list of the gap is for all other words.
    """
    phrases = tuple(phrases)
    lists: dict[str, list[PhrasePattern]] = {_GAP: []}
    lists |= {word: [] for phrase in phrases for word in phrase.first}
    for phrase in phrases:
        for word in lists if phrase.starts_with_gap else phrase.first:
            lists[word].append(phrase)
    return lists


@dataclass(frozen=True, eq=False)
class Language:
    """The lexicon of one language."""

    code: str
    name: str
    data: Mapping[str, Any]
    filters: tuple[Filter, ...]
    frames: tuple[ActionFrame, ...]
    contractions: Mapping[str, str]
    relations: Mapping[str, tuple[PhrasePattern, ...]]
    model_work: tuple[ModelWork, ...] = ()
    _phrases: dict[str, tuple[PhrasePattern, ...]] = field(default_factory=dict)
    _phrases_by_first: dict[str, Mapping[str, Sequence[PhrasePattern]]] = field(default_factory=dict)
    _words: dict[str, frozenset[str]] = field(default_factory=dict)

    @property
    def has_capital_nouns(self) -> bool:
        """Whether nouns begin with a capital letter, which then says nothing about names."""
        return bool(self.data["has_capital_nouns"])

    def phrases(self, *path: str) -> tuple[PhrasePattern, ...]:
        """Return the phrases of a list in the data file, for example `phrases("dates", "last")`."""
        key = ".".join(path)
        if key not in self._phrases:
            texts: Any = self.data
            for name in path:
                texts = texts.get(name, {})
            self._phrases[key] = tuple(parse_phrase(text) for text in texts or ())
        return self._phrases[key]

    def words(self, name: str) -> frozenset[str]:
        """Return the single words of a list in the data file, case-folded."""
        if name not in self._words:
            self._words[name] = frozenset(str(word).casefold() for word in self.data.get(name, ()))
        return self._words[name]

    def table(self, name: str) -> Mapping[str, Any]:
        """Return a table of the data file."""
        table: Mapping[str, Any] = self.data.get(name, {})
        return table

    def property_name(self, word: str, find_property: Callable[[str], str | None]) -> str | None:
        """Return the vault's property that a word refers to ("director" for "directed"), or None.

        Args:
            word: The word as a key.
            find_property: Returns the vault's property with the given name, or None.
        """
        names = [str(name) for name, words in self.table("properties").items() if word in words]
        known = [match for name in (word, *names) if names and (match := find_property(name))]
        return next((name for name in (*known, *names) if name in known or name in BUILT_IN_PROPERTIES), None)

    def implied_properties(self, words: Collection[str]) -> set[str]:
        """Return the names of properties that any of the words names or may mean: `price` for "cheap"."""
        tables = (self.table("properties"), self.table("property_cues"))
        return {name for table in tables for name, cues in table.items() if not set(cues).isdisjoint(words)}

    def properties_of_verb(self, word: str) -> tuple[str, ...]:
        """Return the properties that may name the maker for a verb: `director` for "directed"."""
        return tuple(name for name, words in self.table("makers").items() if word in words)

    def matches_phrase(self, tokens: Sequence[Token], *path: str) -> bool:
        """Return whether the tokens are exactly one of the phrases of a list."""
        return bool(tokens) and any(
            phrase.matches_all(tokens) for phrase in self._phrases_at(tokens[0], *path)
        )

    def plain_number(self, text: str) -> str | None:
        """Convert a number as this language writes it to a plain number, as `tokens.plain_number` does."""
        if self.table("stated_values")["has_dots_in_numbers"] and DOTTED_NUMBER.fullmatch(text):
            return text.replace(".", "").replace(",", ".").removeprefix("+")
        return plain_number(text)

    def has_phrase(self, tokens: Sequence[Token], *path: str) -> bool:
        """Return whether one of the phrases of a list occurs in the tokens."""
        return any(self.match_prefix(tokens, at, *path) > at for at in range(len(tokens)))

    def after_determiners(self, tokens: Sequence[Token], position: int, end: int | None = None) -> int:
        """Return the position after the determiners at `position`, at most `end`.

        Without `end`, all tokens may be determiners.
        """
        end = len(tokens) if end is None else end
        while position < end and tokens[position].key in self.words("determiners"):
            position += 1
        return position

    def match_prefix(self, tokens: Sequence[Token], position: int, *path: str) -> int:
        """Return the end of the longest phrase of a list at `position`; `position` if there is none."""
        if position >= len(tokens):
            return position
        end = position
        for phrase in self._phrases_at(tokens[position], *path):
            if (match := phrase.longest_match(tokens, position)) is not None:
                end = max(end, match.end)
        return end

    def _phrases_at(self, token: Token, *path: str) -> Sequence[PhrasePattern]:
        """Return the phrases of a list that may begin with a token, in their order."""
        key = ".".join(path)
        if key not in self._phrases_by_first:
            self._phrases_by_first[key] = _by_first_word(self.phrases(*path))
        by_first = self._phrases_by_first[key]
        return by_first.get(token.key, by_first[_GAP])

    def verbs(self) -> frozenset[str]:
        """Return the first words of the verb phrases other than relations, without fillers."""
        if "!" not in self._words:
            self._words["!"] = frozenset(
                word
                for frame in self.frames
                if not frame.by_relation
                for phrase in frame.say
                for word in phrase.first
                if word.isalpha()
            ) - self.words("fillers")
        return self._words["!"]

    def coverage(self, tokens: Sequence[Token]) -> float:
        """Return the share of the words that the language knows, from 0 to 1."""
        words = [token.key for token in tokens if token.is_word]
        known = self.vocabulary().union(*map(self.words, ("fillers", "question_words", "personal_pronouns")))
        known |= {*self.table("nouns"), *self.table("dates")["words"]}
        known -= set(self.table("coverage")["shared"])
        return sum(word in known for word in words) / len(words) if words else 0.0

    def function_words(self) -> frozenset[str]:
        """Return words without a meaning of their own, such as courtesies and pronouns, but not negations."""
        if "all" not in self._words:
            words: set[str] = set()
            for name, value in self.data.items():
                # The parts of "best-before" are not function words, and a weekend may be a topic.
                if name == "due_properties":
                    words |= self.words(name)
                elif isinstance(value, list) and name not in ("filters", "frames", "model"):
                    for text in value:
                        if isinstance(text, str):
                            words.update(re.findall(r"[^\W\d]+(?:'[^\W\d]+)?", text.casefold()))
            for table in ("refine", "small_talk", "dates", "orders", "comparisons"):
                for name, phrases in self.table(table).items():
                    if isinstance(phrases, list) and name not in ("weekend", "end_of"):
                        for text in phrases:
                            words.update(re.findall(r"[^\W\d]+", str(text).casefold()))
            numbers = self.table("numbers")
            words |= {word for word in numbers if 0 < int(numbers[word]) <= _MAX_PLAIN_NUMBER}
            words |= set(self.contractions) | set(self.table("ordinals"))
            self._words["all"] = frozenset(words) - self.words("not_that") - self.words("negations")
        return self._words["all"]

    def vocabulary(self) -> frozenset[str]:
        """Return the words of the language's phrases and of its nouns, ordinals and fillers.

        The phrases are those of actions, their cues, filters, relations, courtesies and pronouns.
        """
        if "*" not in self._words:
            words: set[str] = set()
            lists = [frame.say for frame in self.frames] + [entry.say for entry in self.filters]
            lists += [cues for frame in self.frames for cues in frame.roles.values()]
            lists += [self.phrases(name) for name in ("courtesies", "this", "them", "everything")]
            lists += list(self.relations.values())
            for phrases in lists:
                for phrase in phrases:
                    words |= phrase.words
            words |= self.words("note_nouns") | self.words("fillers") | set(self.table("ordinals"))
            self._words["*"] = frozenset(word for word in words if word.isalpha())
        return self._words["*"]


def _iter_words(parts: tuple[_Part, ...]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, _Alternatives):
            for option in part.options:
                yield from _iter_words(option)
        else:
            yield part


def load_language(path: Path) -> Language:
    """Load a language's data file.

    Raises:
        OSError: The file can't be read.
        ValueError: The file is not valid TOML, or the brackets of a phrase do not match.
        KeyError: The file lacks a required entry.
    """
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    relations = {
        kind: tuple(parse_phrase(text) for text in phrases) for kind, phrases in data["relations"].items()
    }
    filters = tuple(
        Filter(tuple(map(parse_phrase, entry["say"])), entry.get("value", ""), entry["query"])
        for entry in data["filters"]
    )
    frames = tuple(_frame(entry, relations) for entry in data["frames"])
    work = tuple(ModelWork(tuple(map(parse_phrase, entry["say"])), entry["work"]) for entry in data["model"])
    return Language(data["code"], data["name"], data, filters, frames, data["contractions"], relations, work)


def _frame(data: Mapping[str, Any], relations: Mapping[str, tuple[PhrasePattern, ...]]) -> ActionFrame:
    say: list[PhrasePattern] = []
    by_relation = "<relation>" in data["say"]
    for text in data["say"]:
        if text == "<relation>":
            say += [phrase for phrases in relations.values() for phrase in phrases]
        elif not text.startswith("<"):
            say.append(parse_phrase(text))
    roles = {name: cues for name, cues in data.items() if name not in ("action", "say", "known", "set")}
    return ActionFrame(
        action=data["action"],
        say=tuple(say),
        roles={
            name: tuple(parse_phrase(cue) for cue in cues if cue and not cue.startswith("<"))
            for name, cues in roles.items()
        },
        direct=tuple(name for name, cues in roles.items() if "" in cues),
        before=tuple(name for name, cues in roles.items() if BEFORE in cues),
        by_relation=by_relation,
        known=bool(data.get("known")),
        constants=data.get("set", {}),
    )


@cache
def languages() -> tuple[Language, ...]:
    """Return every language that ships with the app, English first."""
    loaded = [load_language(path) for path in sorted((resources_folder() / "language").glob("*.toml"))]
    return tuple(sorted(loaded, key=lambda language: (language.code != "en", language.code)))
