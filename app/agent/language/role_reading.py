"""Build readings from a predicted action and the values that the span model found for its roles.

The grammar knows which words may stand in which order; this reader knows only which words belong to which
role, so it also reads requests whose order of words no frame has. A change is run without a question only if
both readers understand the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.agent.language.actions import Action
from app.agent.language.dialog import DialogState
from app.agent.language.frames import FrameParser
from app.agent.language.intent_model import TOPIC_SLOT, intent_model
from app.agent.language.lexicon import ActionFrame, Language
from app.agent.language.mentions import EntityMention
from app.agent.language.notation import serialize
from app.agent.language.note_sets import NoteSetParser
from app.agent.language.readings import NoteSet, PipelineStep, Reading
from app.agent.language.span_model import RoleSpan, request_items, span_model
from app.agent.language.tokens import Token
from app.index.query_serializer import quote_text
from app.vault.path import NotePath

_TOPIC, _TARGET = "topic", "target"
_JOINT_ODDS = 0.5
_MAX_CLAUSES = 4
_NUMBERED = re.compile(r"\(?\d[).]?")
_MAX_POINTER = 4
_CONSIDERED = 0.04
_MAX_INTENTS = 4


class RoleReader:
    """Read one clause of a request.

    Args:
        tokens: The tokens of the clause, without courtesies.
        mentions: The mentions of the clause, in order.
        language: The language of the request.
        sets: The parser of noun phrases and conditions.
        frames: The parser of values.
        dialog: The state of the conversation.
        allowed: The allowed actions, by id.
        all_frames: The frames of the language, for the values of roles.
    """

    def __init__(
        self,
        tokens: tuple[Token, ...],
        mentions: Sequence[EntityMention],
        language: Language,
        sets: NoteSetParser,
        frames: FrameParser,
        dialog: DialogState,
        allowed: Mapping[str, Action],
        all_frames: Sequence[ActionFrame],
    ) -> None:
        self._tokens = tokens
        self._mentions = mentions
        self._language = language
        self._sets = sets
        self._frames = frames
        self._dialog = dialog
        self._allowed = allowed
        self._all_frames = all_frames
        self._items = request_items(tokens, mentions, span_model().words)

    def ranked(self) -> list[tuple[str, float]]:
        """Return the intents of the clause with their probabilities, most likely first."""
        return intent_model().rank(self._mentions)

    @property
    def is_mostly_unknown(self) -> bool:
        """Whether the models know fewer than half of the words."""
        unknown = sum(item.key == TOPIC_SLOT for item in self._items)
        return 2 * unknown > len(self._items)

    def uses_names(self, reading: Reading) -> bool:
        """Return whether a reading uses every note and every quoted text that the clause names."""
        used = serialize(reading).casefold()
        for mention in self._mentions:
            if mention.kind == "quoted" and mention.value.casefold() not in used:
                return False
            if mention.kind == "note" and mention.notes is not None:
                paths = mention.notes.notes or mention.notes.candidates
                names = [str(NotePath.on_disk(path).stem_path).casefold() for path in paths]
                if mention.value.casefold() not in used and not any(name in used for name in names):
                    return False
        return True

    def readings(self) -> list[Reading]:
        """Return the readings of the clause as its likely actions, most likely first."""
        found: list[Reading] = []
        for label, odds in self.ranked()[:_MAX_INTENTS]:
            if odds < _CONSIDERED and found:
                break
            if (reading := self.reading(label, odds)) is not None:
                found.append(reading)
        return found

    def reading(self, label: str, odds: float) -> Reading | None:
        """Return the reading of the clause as an action; None if a required value is missing."""
        action_id, _, detail = label.partition(".")
        action = self._allowed.get(action_id)
        if action is None:
            return None
        spans, least = span_model().spans(self._items, label)
        step, certain = self._step(action, detail, spans)
        if step is None:
            return None
        score = odds * (0.5 + least / 2)
        return Reading((normalized(step),), score, language=self._language.code, certain=certain)

    # Values

    def _step(
        self, action: Action, detail: str, spans: Sequence[RoleSpan]
    ) -> tuple[PipelineStep | None, bool]:
        if action.id in ("find", "count"):
            notes = self._found(spans)
            return (PipelineStep(action.id, notes) if notes is not None else None), True
        if action.id == "list_tasks":
            words = " ".join(
                token.value
                for span in spans
                if span.role in (_TOPIC, _TARGET)
                for token in span.tokens
                if token.kind != "mark"
            )
            return PipelineStep(
                action.id, None, {"state": detail, **({"query": words} if words else {})}
            ), True
        if action.id == "undo":
            return PipelineStep(action.id, None, {"scope": detail}), True
        arguments: dict[str, object] = {}
        certain = True
        frames = [frame for frame in self._all_frames if frame.action == action.id]
        roles = {*action.needs, *(role for frame in frames for role in frame.roles)}
        for span in spans:
            if span.role in (_TARGET, _TOPIC) or span.role not in roles:
                continue
            values = self._value(action, span)
            if values is None:
                certain = False
                continue
            for role, value in values.items():
                known = arguments.get(role)
                if isinstance(known, tuple) and isinstance(value, tuple):
                    arguments[role] = tuple(dict.fromkeys((*known, *value)))
                elif role in arguments:
                    certain = False
                else:
                    arguments[role] = value
        target = arguments.pop(_TARGET, None)
        if "target" in action.needs or action.implies_note:
            target = self._target(action, spans) or target or self._pointed()
            if action.writes and isinstance(target, NoteSet) and target.is_everything:
                target = target if self._sets.says_everything(self._target_words(spans)) else None
            if target is None and (action.implies_note or action.writes):
                target = self._unknown_note(arguments) or self._sets.implied_notes()
                certain = certain and action.implies_note and self._sets.implies_one
        notes = target if isinstance(target, NoteSet) else None
        arguments, notes = self._completed(action, arguments, notes)
        missing = [
            role for role in action.needs if (notes is None if role == _TARGET else role not in arguments)
        ]
        if missing:
            return None, False
        return self._frames.completed(PipelineStep(action.id, notes, arguments), self._tokens), certain

    def _value(self, action: Action, span: RoleSpan) -> Mapping[str, object] | None:
        try:
            action.kind(span.role)
        except KeyError:
            return None
        frame = next(
            (frame for frame in self._all_frames if frame.action == action.id and not frame.hashtag), None
        )
        return self._frames.fill(action, frame, span.role, span.tokens) if frame is not None else None

    def _completed(
        self, action: Action, arguments: dict[str, object], notes: NoteSet | None
    ) -> tuple[dict[str, object], NoteSet | None]:
        """Return the arguments and notes with what the action and the conversation imply."""
        last = self._dialog.last.last if self._dialog.last else None
        flags = action.id == "set_property" and arguments.get("key", "type") != "type"
        if flags and "value" not in arguments:
            arguments = {**arguments, "value": "true"}
        if action.id in ("replace", "remove_text") and "old" in arguments and self._says_everywhere():
            notes = NoteSet(query=quote_text(str(arguments["old"])))
        if action.id == "remove_tag" and "tag" in arguments:
            tags = arguments["tag"]
            if notes is None or notes.is_everything or self._says_everywhere():
                names = tags if isinstance(tags, tuple) else (tags,)
                notes = NoteSet(query=" OR ".join(f"tag:{tag}" for tag in names))
        if last is None:
            return arguments, notes
        repeats = action.id in ("relate", "unrelate") and last.action == "relate" and "to" not in arguments
        if repeats and last.target is not None:
            kept = dict(last.arguments) if action.id == "relate" else {"to": last.arguments["to"]}
            return {**kept, **arguments}, last.target
        if action.id in ("add_tag", "remove_tag") and "tag" not in arguments and "tag" in last.arguments:
            arguments = {**arguments, "tag": last.arguments["tag"]}
        return arguments, notes

    def _says_everywhere(self) -> bool:
        return any(
            self._language.match_prefix(self._tokens, position, "everywhere") > position
            for position in range(len(self._tokens))
        )

    # Notes

    def _target(self, action: Action, spans: Sequence[RoleSpan]) -> NoteSet | None:
        """Return the notes that the clause names, or None if it names none."""
        regions: list[list[Token]] = []
        previous: RoleSpan | None = None
        for span in spans:
            if span.role in (_TARGET, _TOPIC):
                if (
                    regions
                    and previous is not None
                    and previous.role in (_TARGET, _TOPIC)
                    and self._adjacent(regions[-1][-1], span.tokens[0])
                ):
                    regions[-1] += span.tokens
                else:
                    regions.append(list(span.tokens))
            previous = span
        weak = self._language.words("weak_pointers") | self._language.words("fillers")
        strong = [
            region
            for region in regions
            if any(token.key not in weak for token in region)
            and not any(self._language.matches_phrase(region, name) for name in ("it", "this", "them"))
        ]
        parsed = [self._notes(tuple(region)) for region in strong or regions]
        named = [notes for notes in parsed if notes is not None and not notes.is_everything]
        if not named:
            if any(self._points_at_nothing(region) for region in regions):
                return NoteSet(unknown=" ")
            return next((notes for notes in parsed if notes is not None), None)
        single = [notes for notes in named if notes.notes and not notes.query]
        if len(single) > 1 and len(single) == len(named):
            paths = tuple(dict.fromkeys(path for notes in single for path in notes.notes))
            return NoteSet(notes=paths)
        known = [notes for notes in named if not notes.unknown]
        return (known or named)[0]

    def _unknown_note(self, arguments: Mapping[str, object]) -> NoteSet | None:
        """Return a capitalized word that nothing explains, as the name of a missing note."""
        used = " ".join(map(str, arguments.values())).casefold()
        for item in self._items:
            token = item.tokens[0]
            is_name = token.is_word and token.value[:1].isupper() and token is not self._tokens[0]
            if item.key == TOPIC_SLOT and is_name and token.key not in used and len(token.key) > 2:
                return NoteSet(unknown=token.value)
        return None

    @staticmethod
    def _target_words(spans: Sequence[RoleSpan]) -> tuple[Token, ...]:
        return tuple(token for span in spans if span.role in (_TARGET, _TOPIC) for token in span.tokens)

    def _pointed(self) -> NoteSet | None:
        """Return the notes of the longest pronoun of the clause."""
        for length in range(min(_MAX_POINTER, len(self._tokens)), 0, -1):
            for position in range(len(self._tokens) - length + 1):
                part = self._tokens[position : position + length]
                both = self._language.matches_phrase(part, "both") and len(self._dialog.results) == 2
                if length == 1 and part[0].key in self._language.words("weak_pointers") and not both:
                    continue
                found = self._sets.parse_reference(part)
                if found is not None and (found.notes.notes or found.notes.source):
                    return found.notes
        return None

    def _points_at_nothing(self, tokens: Sequence[Token]) -> bool:
        """Return whether the words are an ordinal or a pronoun without a note: "the first one"."""
        found = self._sets.parse_reference(tokens)
        return found is not None and bool(found.notes.unknown) and not found.notes.unknown.strip()

    def _adjacent(self, one: Token, other: Token) -> bool:
        places = [index for index, token in enumerate(self._tokens) if token is one or token is other]
        return len(places) == 2 and places[1] - places[0] == 1

    def _notes(self, tokens: tuple[Token, ...]) -> NoteSet | None:
        parsed = self._sets.parse(tokens)
        if parsed is None:
            return None
        if parsed.notes.unknown and not parsed.notes.unknown.strip():
            return None
        if parsed.notes.query and not parsed.notes.unknown:
            named = [
                mention
                for mention in self._mentions
                if mention.kind == "note" and mention.notes and mention.tokens[0] in tokens
            ]
            # Words such as "the Harrison note" are a name, not words to look for.
            if len(named) == 1 and ":" not in parsed.notes.query and parsed.has_bare_topic:
                return named[0].notes
        if parsed.has_bare_topic and not parsed.has_head:
            near = self._sets.find_similar(tokens)
            return near.notes if near is not None else None
        return parsed.notes

    def _found(self, spans: Sequence[RoleSpan]) -> NoteSet | None:
        """Return the notes that a search asks for."""
        topics = [token for span in spans if span.role == _TOPIC for token in span.tokens]
        topics += [token for mention in self._mentions if mention.kind == "note" for token in mention.tokens]
        small = self._language.words("determiners") | self._language.words("topic_fillers")
        words = [token for token in topics if token.key not in small or token.kind != "word"]
        named = [mention for mention in self._mentions if mention.kind == "note"]
        shown = [token for mention in named for token in mention.tokens]
        if len(named) == 1 and len(words) == len(shown) and not any(span.role == _TOPIC for span in spans):
            rest = self._sets.scan(
                tuple(token for token in self._tokens if not any(token is other for other in shown)),
                lambda _: False,
            )
            whole = self._sets.scan(self._tokens, lambda _: False)
            if not rest and ":" not in whole:
                return None  # "show me H4" names one note, which is opened
        query = self._sets.scan(self._tokens, lambda token: any(token is word for word in words))
        order = self._sets.order_in(self._tokens)
        base = next(
            (
                found.notes
                for span in spans
                if span.role == _TARGET
                and self._language.matches_phrase(span.tokens, "them")
                and (found := self._sets.parse_reference(span.tokens)) is not None
                and not found.notes.unknown
            ),
            None,
        )
        if not query and not order and base is None:
            return None
        return replace(
            base or NoteSet(), query=query, order=order[0] if order else "", limit=order[1] if order else None
        )


def normalized(step: PipelineStep) -> PipelineStep:
    """Return the step as the action of its own that some values of properties have."""
    names_type = step.arguments.get("key") == "type" and "value" in step.arguments
    if step.action == "set_property" and names_type:
        return PipelineStep("set_type", step.target, {"type": step.arguments["value"]})
    if step.action == "find" and step.target is not None and step.target.is_single:
        return PipelineStep("read", step.target)  # "what is in it?"
    return step


def split_clauses(tokens: tuple[Token, ...], mentions: Sequence[EntityMention]) -> list[tuple[Token, ...]]:
    """Return the clauses of a request; one if nothing joins two."""
    if numbered := _numbered(tokens):
        return numbered
    model = span_model()
    items = request_items(tokens, mentions, model.words)
    clauses: list[list[Token]] = [[]]
    for item, odds in zip(items, model.boundaries(items), strict=True):
        if odds >= _JOINT_ODDS and clauses[-1] and len(clauses) < _MAX_CLAUSES:
            clauses.append([])
            continue
        clauses[-1] += item.tokens
    return [tuple(clause) for clause in clauses if any(token.kind != "mark" for token in clause)]


def _numbered(tokens: tuple[Token, ...]) -> list[tuple[Token, ...]]:
    """Return the clauses of a numbered list, "(1) … (2) …"; none if the request is no such list."""
    starts: list[int] = []
    for position, token in enumerate(tokens):
        if _NUMBERED.fullmatch(token.value) and int(token.value.strip("().")) == len(starts) + 1:
            starts.append(position)
    if not 2 <= len(starts) <= _MAX_CLAUSES:
        return []
    return [tokens[start + 1 : end] for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True)]
