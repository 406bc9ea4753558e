"""Build readings of requests that the grammar cannot parse, from a predicted action and the mentions.

The intent model predicts the action. Its roles are filled, by the kinds of the tool's arguments, from the
notes, tags, quoted texts and words of the request. Such a reading is never certain: the agent always asks
before a change, and before a change to notes that such a reading found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.agent.language.actions import Action
from app.agent.language.dialog import DialogState
from app.agent.language.lexicon import Language
from app.agent.language.mentions import EntityMention
from app.agent.language.note_sets import NoteSetParser, format_number
from app.agent.language.readings import NoteSet, PipelineStep, Reading
from app.agent.language.tokens import Token, span_text
from app.index.query_serializer import quote_text

_MAX_POINTER = 4
_SET_ACTIONS = frozenset(
    ("add_tag", "remove_tag", "set_property", "move", "delete", "summarize", "remove_property", "set_type")
)


class IntentReader:
    """Fill the roles of actions from the mentions of one request.

    Args:
        request: The request's text.
        tokens: The request's tokens, without courtesies.
        mentions: The request's mentions, in order.
        language: The request's language.
        sets: The parser of noun phrases and conditions.
        dialog: The state of the conversation.
        common: Common words of requests, which are never topics.
    """

    def __init__(
        self,
        request: str,
        tokens: tuple[Token, ...],
        mentions: Sequence[EntityMention],
        language: Language,
        sets: NoteSetParser,
        dialog: DialogState,
        common: frozenset[str],
    ) -> None:
        self._request = request
        self._tokens = tokens
        self._language = language
        self._sets = sets
        self._dialog = dialog
        self._common = common | language.vocabulary() | language.words("fillers")
        self._mentions = mentions
        self._notes = [mention for mention in mentions if mention.kind == "note"]
        self._tags = [mention.value for mention in mentions if mention.kind == "tag"]
        self._quoted = [mention.value for mention in mentions if mention.kind == "quoted"]
        self._kinds = [mention for mention in mentions if mention.kind == "kind"]
        self._properties = [mention.value for mention in mentions if mention.kind == "prop"]
        self._numbers = [mention.value for mention in mentions if mention.kind == "num"]
        self._relations = [mention.value for mention in mentions if mention.kind == "rel"]
        self._topics = self._runs()

    def readings(self, label: str, score: float, allowed: Mapping[str, Action]) -> list[Reading]:
        """Return the readings of the request as an action; empty if a required role is missing.

        There are several if the order of two values matters and the words leave it open.
        """
        action_id, _, detail = label.partition(".")
        action = allowed.get(action_id)
        if action is None:
            return []
        steps = self._steps(action, detail)
        if action.id in ("find", "count"):
            steps = [step for step in steps if step.target is not None]
        return [
            Reading((step,), score, language=self._language.code, certain=False)
            for step in steps
            if all(
                (step.target is not None if role == "target" else role in step.arguments)
                for role in action.needs
            )
        ]

    # Words

    def _runs(self) -> list[tuple[Token, ...]]:
        """Return the runs of words that are neither mentions nor common words of requests."""
        runs: list[list[Token]] = [[]]
        for mention in self._mentions:
            token = mention.tokens[0]
            if mention.kind == "word" and token.is_word and token.key not in self._common:
                if runs[-1] and self._gap(runs[-1][-1], token):
                    runs.append([])
                runs[-1].append(token)
            elif runs[-1]:
                runs.append([])
        return [tuple(run) for run in runs if run]

    def _gap(self, token: Token, other: Token) -> bool:
        return self._request[token.end : other.start].strip() != ""

    def _pointed(self) -> NoteSet | None:
        """Resolve a pronoun or an ordinal of the request, the longest phrase first."""
        for length in range(min(_MAX_POINTER, len(self._tokens)), 0, -1):
            for position in range(len(self._tokens) - length + 1):
                part = self._tokens[position : position + length]
                if length == 1 and part[0].key in self._language.words("weak_pointers"):
                    continue
                found = self._sets.parse_reference(part)
                if found is not None and (found.notes.notes or found.notes.source):
                    return found.notes
        return None

    def _target(self, action: Action, skip: int = 0, used: Sequence[EntityMention] = ()) -> NoteSet | None:
        """Return the notes that an action works on."""
        notes = [mention for mention in self._notes if mention not in used][skip:]
        if notes:
            if action.id not in _SET_ACTIONS or len(notes) == 1:
                return notes[0].notes
            paths = [path for mention in notes if mention.notes for path in mention.notes.notes]
            return NoteSet(notes=tuple(dict.fromkeys(paths))) if paths else notes[0].notes
        if pointed := self._pointed():
            return pointed
        if action.id in _SET_ACTIONS:
            kinds = [mention for mention in self._kinds if mention not in used]
            if kinds and (query := self._query(tuple(t for mention in kinds for t in mention.tokens))):
                return NoteSet(query=query)
        return self._sets.implied_notes() if action.implies_note or action.writes else None

    # Sets

    def _query(self, tokens: Sequence[Token]) -> str:
        """Return the conditions and topics of the words as a search."""
        return self._sets.scan(tokens, self._common)

    def _found(self) -> NoteSet | None:
        query = self._query(self._tokens)
        order = self._sets.order_in(self._tokens)
        if not query and not order:
            return None
        last = self._dialog.last.last if self._dialog.last else None
        first = [token.key for token in self._tokens[:3]]
        refers = any(
            self._language.match_prefix(self._tokens, position, "refine", "only") > position
            for position in (0, 1)
        ) or any(self._language.matches_phrase([token], "them") for token in self._tokens[:4])
        if refers and first and last is not None and last.action in ("find", "count") and last.target:
            return last.target.with_query(query) if query else last.target
        return NoteSet(query=query, order=order[0] if order else "", limit=order[1] if order else None)

    # Steps

    def _steps(self, action: Action, detail: str) -> list[PipelineStep]:
        match action.id:
            case "find" | "count":
                found = self._found()
                return [PipelineStep(action.id, found)] if found else []
            case "list_tasks":
                words = " ".join(token.value for run in self._topics for token in run)
                return [
                    PipelineStep(action.id, None, {"state": detail, **({"query": words} if words else {})})
                ]
            case "undo":
                return [PipelineStep(action.id, None, {"scope": detail})]
            case "explain_relation" | "unrelate":
                return self._between(action)
            case "merge":
                if len(self._notes) != 2:
                    return []
                note, other = (mention.notes for mention in self._notes)
                return [
                    PipelineStep("merge", note, {"other": other}),
                    PipelineStep("merge", other, {"other": note}),
                ]
            case "relate":
                return self._related(action)
            case "create_note":
                return self._created()
            case "rename_tag":
                return self._renamed_tag()
            case "suggest_relations":
                return [PipelineStep(action.id, self._target(action))]
        if not action.needs:
            return [PipelineStep(action.id)]
        if action.needs == ("target",):
            target = self._target(action)
            return [PipelineStep(action.id, target)] if target is not None else []
        return self._changed(action)

    def _between(self, action: Action) -> list[PipelineStep]:
        notes = [mention.notes for mention in self._notes]
        if len(notes) >= 2:
            return [PipelineStep(action.id, notes[0], {"to": notes[1]})]
        if len(notes) == 1 and (focus := self._sets.implied_notes()) is not None:
            return [PipelineStep(action.id, focus, {"to": notes[0]})]
        last = self._dialog.last.last if self._dialog.last else None
        if not notes and last is not None and last.action == "relate":
            return [PipelineStep(action.id, last.target, {"to": last.arguments["to"]})]
        return []

    def _related(self, action: Action) -> list[PipelineStep]:
        extra: dict[str, object] = {"type": self._relations[0]} if self._relations else {}
        if self._numbers and (share := _share(self._numbers[-1])) is not None:
            extra["confidence"] = share
        last = self._dialog.last.last if self._dialog.last else None
        if not self._notes and last is not None and last.action == "relate" and extra:
            return [replace(last, arguments={**last.arguments, **extra})]
        return [replace(step, arguments={**step.arguments, **extra}) for step in self._between(action)]

    def _created(self) -> list[PipelineStep]:
        arguments: dict[str, object] = {}
        quoted_texts = list(self._quoted)
        if quoted_texts:
            arguments["name"] = quoted_texts.pop(0)
        elif self._topics:
            arguments["name"] = span_text(self._request, self._topics[0])
        else:
            return []
        if self._tags:
            arguments["tag"] = tuple(self._tags)
        if quoted_texts:
            arguments["text"] = quoted_texts[0]
        folder = next((mention.value for mention in self._kinds if self._sets.is_folder(mention.value)), "")
        if folder:
            arguments["folder"] = folder
        return [PipelineStep("create_note", None, arguments)]

    def _renamed_tag(self) -> list[PipelineStep]:
        named = [mention.value for mention in self._mentions if mention.kind in ("tag", "quoted", "kind")]
        words = [token.value for run in self._topics for token in run]
        named = list(dict.fromkeys([*named, *words] if len(named) < 2 else named))
        if len(named) != 2:
            return []
        name, other = named
        return [
            PipelineStep("rename_tag", None, {"tag": (first,), "new_tag": (second,)})
            for first, second in ((name, other), (other, name))
        ]

    def _changed(self, action: Action) -> list[PipelineStep]:
        """Build a change with a value: the value by its kind, then the notes."""
        arguments: dict[str, object] = {}
        used: list[EntityMention] = []
        words = [span_text(self._request, run) for run in self._topics]
        for role in action.needs:
            if role == "target":
                continue
            value: object | None = None
            match action.kind(role):
                case "tags":
                    value = tuple(self._tags or self._quoted or words) or self._last_value(role)
                case "property":
                    value = self._properties[0] if self._properties else None
                case "value":
                    values = [*self._quoted, *self._numbers, *words]
                    value = _plain(values[0]) if values else "true" if "key" in arguments else None
                case "number":
                    value = _share(self._numbers[-1]) if self._numbers else None
                case "type":
                    kinds = [mention for mention in self._kinds if self._sets.type_of(mention.value)]
                    kinds = [mention for mention in kinds if not self._is_negated(mention)] or kinds
                    used += kinds[:1]
                    value = self._sets.type_of(kinds[0].value) if kinds else None
                case "folder":
                    kinds = [mention for mention in self._kinds if self._sets.is_folder(mention.value)]
                    used += kinds[-1:]
                    value = kinds[-1].value if kinds else _last(self._quoted or words)
                case "name":
                    value = _last(self._quoted or words)
                case "text":
                    after = self._after_colon()
                    values = self._quoted or ([after] if after else words or self._numbers)
                    position = 1 if role == "text" and "old" in arguments else 0
                    value = values[position] if len(values) > position else None
                case _:
                    value = None
            if value is None or value == ():
                return []
            arguments[role] = value
        target = self._target(action, used=used)
        everywhere = any(
            self._language.match_prefix(self._tokens, position, "everywhere") > position
            for position in range(len(self._tokens))
        )
        if action.id == "replace" and (target is None or (everywhere and not self._notes)):
            target = NoteSet(query=quote_text(str(arguments["old"])))
        return [PipelineStep(action.id, target, arguments)] if target is not None else []

    def _is_negated(self, mention: EntityMention) -> bool:
        """Return whether a negation precedes the mention: "not a hypothesis", "instead of an entity"."""
        before = [token for token in self._tokens if token.end <= mention.tokens[0].start][-3:]
        return any(
            token.key in self._language.words("lacking") | self._language.words("taken_back")
            for token in before
        )

    def _after_colon(self) -> str:
        for token in self._tokens[:-1]:
            if token.kind == "mark" and token.key == ":":
                return self._request[token.end :].strip()
        return ""

    def _last_value(self, role: str) -> object | None:
        last = self._dialog.last.last if self._dialog.last else None
        return last.arguments.get(role) if last is not None else None


def _last(values: Sequence[str]) -> str | None:
    return values[-1] if values else None


def _share(text: str) -> float | None:
    try:
        value = float(format_number(text))
    except ValueError:
        return None
    value = value / 100 if value > 1 else value
    return value if 0 <= value <= 1 else None


def _plain(text: str) -> object:
    try:
        value = float(format_number(text))
    except ValueError:
        return text
    return int(value) if text.isdecimal() else value
