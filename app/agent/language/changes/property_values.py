"""Parse orders that set several properties or add a value.

"Set status to active and priority to high", "set the price of the oven to 700 and of the fridge to 400".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from app.agent.language.grammar.note_references import ParsedSet, without_possessive
from app.agent.language.grammar.request import Request
from app.agent.language.grammar.role_values import trim_marks
from app.agent.language.meaning.conditions import property_value
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.words.text_lists import split_tokens
from app.agent.language.words.tokens import Token, span_text

_SCORE = 0.98
_MAX_VALUE_WORDS, _MAX_NAME_START = 3, 4
_ACTION = "set_property"

Values = list[tuple[str, object]]


def parse_property_values(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the changes that set the properties; None for other requests.

    The properties are those of one note, the one that the request names or "it", or each has a note.
    """
    if _ACTION not in request.allowed:
        return None
    parser = _PropertyValueParser(request)
    code = request.language.code
    if changes := parser.parse_changes_of_notes(tokens):
        steps = [
            PipelineStep(_ACTION, change.parsed.notes, {"key": change.key, "value": change.value})
            for change in changes
        ]
        # A new property may be another change: "set the folder of X to A and of Y to B".
        is_certain = all(
            change.parsed.is_certain
            and not change.parsed.is_near
            and request.vocabulary.find_property(change.key) is not None
            for change in changes
        )
        return Reading(tuple(steps), _SCORE, language=code, verb_words=1, is_certain=is_certain)
    notes, values = parser.parse(tokens)
    is_named = notes is not None
    notes = notes or request.set_parser().implied_notes()
    if not values or notes is None or not notes.is_single:
        return None
    steps = [
        PipelineStep(_ACTION, NoteSet(source="previous") if at else notes, {"key": key, "value": value})
        for at, (key, value) in enumerate(values)
    ]
    is_certain = is_named or request.set_parser().implies_one
    return Reading(tuple(steps), _SCORE, language=code, verb_words=1, is_certain=is_certain)


@dataclass(frozen=True, slots=True)
class _NoteChange:
    """A note, with the value of one of its properties."""

    parsed: ParsedSet
    key: str
    value: object


@dataclass(frozen=True, slots=True)
class _ChangeWords:
    """The words of "the price of the oven to 700": those for the property, the note and the value.

    `has_cue` is whether something shows that the words mean a note: "of the oven", "the oven's".
    """

    name: Sequence[Token]
    note: Sequence[Token]
    value: Sequence[Token]
    has_cue: bool


class _PropertyValueParser:
    def __init__(self, request: Request) -> None:
        self._request = request
        self._language = request.language
        self._table = request.language.table("property_values")
        self._frames = [frame for frame in request.frames if frame.action == _ACTION and "key" in frame.roles]

    def parse(self, tokens: Sequence[Token]) -> tuple[NoteSet | None, Values]:
        """Return the named note, or None, and the properties with their values; no values for other words."""
        if len(tokens) > 3 and tokens[1].key == ":" and tokens[2].key in self._table["keep_others"]:
            into = replace(tokens[1], kind="word", key=self._table["into"][0])
            added = self._addition([*tokens[3:], into, tokens[0]])  # "equipment: add spoon"
            return None, [added] if added is not None else []
        verb = tokens[0].key if tokens else ""
        sets, adds = verb in self._table["set"], verb in self._table["set_known"]
        if sets or adds:
            end = len(tokens) - (tokens[-1].key in self._table["ends"])
            rest, header_notes = self._after_header(tokens[1:end])
            notes, rest, is_led = self._note_after_verb(rest) if sets else (None, rest, False)
            if not is_led:
                notes, rest = self._note_at_end(rest)
            if notes is None:
                notes, rest = self._note_after_name(rest)
            if verb in self._table["keep_others"] and (added := self._addition(rest)):
                return notes, [added]
            several = self._values(rest, allows_new=sets)
            if is_led and several:
                return notes, several
            if len(several) > 1:
                return header_notes or notes, several
        return None, []

    def parse_changes_of_notes(self, tokens: Sequence[Token]) -> list[_NoteChange]:
        """Return the changes of "the price of X to 7 and of Y to 8"; none for other words.

        A note without a property has that of the note before it.
        """
        verb = tokens[0].key if tokens else ""
        verbs = {*self._table["set"], *self._table["set_known"]} - {*self._table["keep_others"]}
        parts = split_tokens(self._language, tokens[1:]) if verb in verbs else []
        if len(parts) < 2 or not self._sets_property([tokens[0], *parts[0]]):
            return []
        changes: list[_NoteChange] = []
        for part in parts:
            change = self._note_change(part, changes[-1].key if changes else "")
            if change is None:
                return []
            changes.append(change)
        return changes

    def _sets_property(self, tokens: Sequence[Token]) -> bool:
        """Return whether words set a property other than the type or tags: no "set the name of X to Y"."""
        frames = self._request.frame_parser(follows=False)
        clause = max(frames.readings(tuple(tokens)), key=lambda known: known.score, default=None)
        if clause is None or clause.step.action not in (_ACTION, "set_confidence"):
            return False
        return clause.step.arguments.get("key") not in ("type", "tags", "tag")

    def _note_change(self, part: Sequence[Token], key: str) -> _NoteChange | None:
        sets = self._request.set_parser()
        possible = [
            (words, own, value)
            for words in self._change_words(part)
            if (own := self._property(words.name, key))
            and (value := self._bound_value(words.value)) is not None
        ]
        for words, own, value in sorted(possible, key=lambda known: not known[0].has_cue):
            is_ordinal = sets.ordinal_in(words.note) is not None
            pronoun = sets.parse_reference(words.note) if words.has_cue or is_ordinal else None
            parsed = pronoun or sets.find_named(words.note)
            if parsed is None or not (parsed.notes.is_single or (words.has_cue and parsed.notes.unknown)):
                continue
            # "And status to open" may also be a new property.
            certain = replace(parsed, is_certain=parsed.is_certain and (words.has_cue or is_ordinal))
            return _NoteChange(certain, own, value)
        for words, own, value in possible if key else ():
            if words.has_cue and (parsed := sets.find_similar(words.note)) is not None:
                return _NoteChange(parsed, own, value)
        return None

    def _change_words(self, part: Sequence[Token]) -> Iterator[_ChangeWords]:
        """Yield the ways to read words as a property, a note and a value; the property may be missing."""
        for end in range(1, len(part)):
            after = self._longest_cue("value", part, end)
            head, value = part[:end], part[after:]
            if after == end or not value:
                continue
            for at, token in enumerate(head):
                bare = without_possessive(token)
                if bare is not token:
                    length = len(bare.key) - len(token.key)
                    owner = replace(bare, value=token.value[:length], end=token.end + length)
                    yield _ChangeWords(head[at + 1 :], [*head[:at], owner], value, has_cue=True)
            for at in range(len(head)):
                first = self._longest_cue("target", head, at)
                if at < first < end:
                    yield _ChangeWords(head[:at], head[first:], value, has_cue=True)
            if self._request.vocabulary.find_property(span_text(self._request.text, tuple(head))) is None:
                yield _ChangeWords((), head, value, has_cue=False)

    def _property(self, tokens: Sequence[Token], key: str) -> str:
        """Return the property that words name; `key` without words, and no text for other words."""
        ignored = {*self._language.words("determiners"), *self._language.table("doubts")["demonstratives"]}
        words = tuple(token for token in tokens if token.key not in ignored)
        if not words:
            return key
        find = self._request.vocabulary.find_property
        known = find(span_text(self._request.text, words))
        if known is None and len(words) == 1:
            known = self._language.property_name(words[0].key, find)
        if (
            known is None
            and len(words) == 1
            and words[0].is_word
            and (not key or words[0].key == key.casefold())
        ):
            return key or words[0].value
        return known or ""

    def _bound_value(self, tokens: Sequence[Token]) -> object | None:
        value = trim_marks(tokens)
        if not 1 <= len(value) <= _MAX_VALUE_WORDS:
            return None
        bound = self._fill(value)
        return bound["value"] if bound is not None else None

    def _fill(self, value: Sequence[Token]) -> Mapping[str, object] | None:
        frames = self._request.frame_parser(follows=False)
        return frames.fill(self._request.allowed[_ACTION], self._frames[0], "value", value)

    def _after_header(self, tokens: Sequence[Token]) -> tuple[Sequence[Token], NoteSet | None]:
        """Return the words after "two properties on X:", and the note; all words without such a header."""
        colon = next((at for at, token in enumerate(tokens) if token.key == ":"), 0)
        header = tokens[:colon]
        nouns = self._table["nouns"]
        at = next((place for place, token in enumerate(header) if token.key in nouns), None)
        if at is None:
            return tokens, None
        notes, rest = self._note_at_end(header[at + 1 :])
        return (tokens[colon + 1 :], notes) if not rest else (tokens, None)

    def _note_at_end(self, tokens: Sequence[Token]) -> tuple[NoteSet | None, Sequence[Token]]:
        """Return the note that the last words name, with the words before them; all words without a note."""
        sets = self._request.set_parser()
        for start in range(len(tokens)):
            end = self._longest_cue("target", tokens, start)
            name = trim_marks(tokens[end:])
            if not name or (end == start and not self._language.matches_phrase(name, "this")):
                continue
            parsed = sets.parse_reference(name) or sets.find_named(name)
            if parsed is not None and parsed.notes.is_single:
                return parsed.notes, trim_marks(tokens[:start])
        return None, tokens

    def _note_after_verb(self, tokens: Sequence[Token]) -> tuple[NoteSet | None, Sequence[Token], bool]:
        """Return the note of "set for H4 the status to active", the other words, and whether there is one.

        "Set its status to active" and "set it to active" are about the note in talk.
        """
        sets = self._request.set_parser()
        for end in (2, 1):
            pronoun = sets.parse_reference(tokens[:end])
            if pronoun is not None and pronoun.notes.is_single and self._value_without_name(tokens[end:]):
                return (pronoun.notes, tokens[end:], True) if pronoun.is_certain else (None, tokens, False)
        first = self._language.match_prefix(tokens, 0, "property_values", "note_leads")
        for end in range(len(tokens) - 2, first, -1) if first else ():
            parsed = sets.parse_reference(tokens[first:end]) or sets.find_named(tokens[first:end])
            if parsed is not None and parsed.notes.is_single:
                return parsed.notes, tokens[end:], True
        is_possessive = bool(tokens) and tokens[0].key in self._table["possessives"]
        return None, tokens, is_possessive and bool(self._value(tokens, allows_new=False))

    def _note_after_name(self, tokens: Sequence[Token]) -> tuple[NoteSet | None, Sequence[Token]]:
        """Return the note of "status of H4 to active", and the other words; all words without a note."""
        sets = self._request.set_parser()
        for start in range(1, min(len(tokens), _MAX_NAME_START)):
            first = self._longest_cue("target", tokens, start)
            for end in range(first + 1, len(tokens) if first > start else 0):
                if self._longest_cue("value", tokens, end) == end:
                    continue
                parsed = sets.parse_reference(tokens[first:end]) or sets.find_named(tokens[first:end])
                if parsed is not None and parsed.notes.is_single:
                    return parsed.notes, [*tokens[:start], *tokens[end:]]
        return None, tokens

    def _addition(self, tokens: Sequence[Token]) -> tuple[str, object] | None:
        """Return the property of "Sci-fi to its genres", with the value that is added to it; or None."""
        vocabulary = self._request.vocabulary
        determiners = self._language.words("determiners").union(self._table["possessives"])
        start = len(tokens) - 1
        while start > 0 and tokens[start - 1].key in determiners:
            start -= 1
        value = next(
            (
                tokens[:at]
                for at in range(1, start)
                if self._language.match_prefix(tokens, at, "property_values", "into") == start
            ),
            (),
        )
        known = vocabulary.find_property(tokens[-1].value) if value and tokens[-1].is_word else None
        is_other = known in (None, "tags") or vocabulary.notes(tokens[-1].value)
        has_list = self._language.has_phrase(value, "and")
        if is_other or has_list or len(value) > _MAX_VALUE_WORDS or value[0].kind in ("tag", "mark"):
            return None
        bound = self._fill(value)
        return (str(known), bound["value"]) if bound is not None else None

    def _values(self, tokens: Sequence[Token], *, allows_new: bool) -> Values:
        """Return the properties of a list ("status to active and priority to high"); else none."""
        values: Values = []
        for part in split_tokens(self._language, tokens):
            value = self._value(part, allows_new=allows_new)
            if value is None or value[0] in dict(values):
                return []
            values.append(value)
        return values

    def _value_without_name(self, tokens: Sequence[Token]) -> tuple[str, object] | None:
        """Return the checkbox or the property of few texts that "to read" or "to active" sets; or None."""
        vocabulary, start = self._request.vocabulary, self._longest_cue("value", tokens, 0)
        value = split_tokens(self._language, tokens[start:])[0] if 0 < start < len(tokens) else ()
        text = span_text(self._request.text, tuple(value)) if value else ""
        if (name := vocabulary.find_property(text)) and vocabulary.is_checkbox(name):
            return name, "true"
        condition = (vocabulary.find_value(text) if text else None) or ""
        return property_value(condition) if condition in vocabulary.listed_conditions else None

    def _value(self, part: Sequence[Token], *, allows_new: bool) -> tuple[str, object] | None:
        if (known_value := self._value_without_name(part)) is not None:
            return known_value
        start, determiners = 0, self._language.words("determiners").union(self._table["possessives"])
        while start < len(part) - 1 and part[start].key in determiners:
            start += 1
        name, rest = part[start], part[start + 1 :]
        end = self._longest_cue("value", rest, 0)
        known = self._request.vocabulary.find_property(name.value)
        has_cues = any(
            self._longest_cue(role, rest, at) > at for role in ("value", "target") for at in range(len(rest))
        )
        if not end and (has_cues or not known):
            return None
        synonym = self._language.property_name(name.key, self._request.vocabulary.find_property)
        # "Set status to done and move to People" has a second order; "it" is no property.
        is_other = (
            name.key in self._language.verbs()
            or bool(self._request.vocabulary.notes(name.value))
            or self._request.set_parser().parse_reference(part[: start + 1]) is not None
        )
        if not known and (not allows_new or (is_other and not synonym)):
            return None
        is_name = name.kind in ("word", "quoted") and name.key not in self._language.words("tag_nouns")
        value = self._bound_value(rest[end:]) if is_name else None
        return (known or synonym or name.value, value) if value is not None else None

    def _longest_cue(self, role: str, tokens: Sequence[Token], position: int) -> int:
        """Return the end of the longest phrase at a position that introduces a role; else the position."""
        phrases = (phrase for frame in self._frames for phrase in frame.roles.get(role, ()))
        matches = (phrase.longest_match(tokens, position) for phrase in phrases)
        return max((match.end for match in matches if match), default=position)
