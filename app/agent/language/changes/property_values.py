"""Parse orders that set several properties or add a value: "set status to active and priority to high"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.agent.language.changes.property_lines import end_phrase
from app.agent.language.grammar.request import Request
from app.agent.language.grammar.role_values import trim_marks
from app.agent.language.meaning.conditions import property_value
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.words.text_lists import split_tokens
from app.agent.language.words.tokens import Token, span_text
from app.agent.language.words.vault_words import property_label

_SCORE = 0.98
_MAX_VALUE_WORDS, _MAX_NAME_START = 3, 4
_ACTION = "set_property"

Values = list[tuple[str, object]]


def parse_property_values(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the changes that set the properties; None for other requests.

    The properties are those of one note, the one that the request names or "it".
    """
    if _ACTION not in request.allowed:
        return None
    parser = _PropertyValueParser(request)
    notes, values = parser.parse(tokens)
    is_named = notes is not None
    notes = notes or request.set_parser().implied_notes()
    if not values or notes is None or not notes.is_single:
        return None
    steps = [
        PipelineStep(_ACTION, NoteSet(source="previous") if at else notes, {"key": key, "value": value})
        for at, (key, value) in enumerate(values)
    ]
    # "Simon and Garfunkel" may be one name.
    names = [own for _, value in values if isinstance(value, tuple) for own in value]
    are_known = all(" " in name or request.vocabulary.notes(property_label(name)) for name in names)
    is_certain = (is_named or request.set_parser().implies_one) and are_known
    return Reading(tuple(steps), _SCORE, language=request.language.code, verb_words=1, is_certain=is_certain)


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
            rest = tokens[1:end]
            notes, rest, is_led = self._note_after_verb(rest) if sets else (None, rest, False)
            if not is_led:
                notes, rest = self._note_at_end(rest)
            if notes is None:
                notes, rest = self._note_after_name(rest)
            if verb in self._table["keep_others"] and (added := self._addition(rest)):
                return notes, [added]
            several = self._values(rest, allows_new=sets)
            if several and (is_led or len(several) > 1):
                return notes, several
        return None, []

    def _bound_value(self, tokens: Sequence[Token]) -> object | None:
        value = trim_marks(tokens)
        value = value[: end_phrase(self._request, value, 1, len(value))]
        if not 1 <= len(value) <= _MAX_VALUE_WORDS:
            return None
        bound = self._fill(value)
        return bound["value"] if bound is not None else None

    def _fill(self, value: Sequence[Token]) -> Mapping[str, object] | None:
        frames = self._request.frame_parser(follows=False)
        return frames.fill(self._request.allowed[_ACTION], self._frames[0], "value", value)

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
        """Return the note in talk of "set it to active", the other words, and whether it is meant.

        "Set its status to active" is about this note, too.
        """
        sets = self._request.set_parser()
        for end in (2, 1):
            pronoun = sets.parse_reference(tokens[:end])
            if pronoun is not None and pronoun.notes.is_single and self._value_without_name(tokens[end:]):
                return (pronoun.notes, tokens[end:], True) if pronoun.is_certain else (None, tokens, False)
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
        parts = split_tokens(self._language, value)
        is_long = any(len(part) > _MAX_VALUE_WORDS for part in parts)
        if is_other or is_long or value[0].kind in ("tag", "mark"):
            return None
        bound = [own["value"] for part in parts if (own := self._fill(part)) is not None]
        if len(parts) == 1:
            return (str(known), bound[0]) if bound else None
        texts = [str(own) for own in bound]
        labels = [property_label(text) for text in texts]
        are_names = all(text[:1].isupper() or vocabulary.known_link(str(known), text) for text in labels)
        is_list = vocabulary.is_list(str(known)) and len(bound) == len(parts) and are_names
        return (str(known), tuple(texts)) if is_list else None

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
        if self._longest_cue("target", part, 0):
            return None  # "and of the fridge to 400"
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
