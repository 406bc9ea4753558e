"""Parse a clause as an action: its verb phrase, and the words around it as the action's roles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from app.agent.language.grammar.note_references import POINTED_FIT
from app.agent.language.grammar.note_sets import NoteSetParser
from app.agent.language.grammar.role_values import RoleBinding, RoleValueParser, Values, trim_marks
from app.agent.language.meaning.actions import TASK_ACTIONS, TOOL_PREFIX, Action
from app.agent.language.meaning.readings import NoteSet, PipelineStep
from app.agent.language.words.lexicon import ActionFrame, Language
from app.agent.language.words.task_texts import OPEN_TASK, task_line, without_full_stop
from app.agent.language.words.text_lists import with_items
from app.agent.language.words.tokens import Token
from app.agent.language.words.vocabulary import Vocabulary
from app.index.query_serializer import quote_text
from app.vault.path import NotePath

_MAX_NAME_TOKENS = 14
_NEW_NAMES = ("new_name", "new_key", "new_heading")
_LINK_FILTERS = {"backlinks": "links-to", "outgoing": "linked-from"}
_MAX_CUES = 36
_MISSING_ROLE_FACTOR = 0.8
_IMPLIED_ROLE_FACTOR = 0.93
_SPECIFICITY_BONUS = 0.002


@dataclass(frozen=True, slots=True)
class ClauseReading:
    """A clause as one step.

    Args:
        step: The step.
        score: The share of the words that the step explains, lowered for missing and implied roles, and
            raised slightly for long verb phrases.
        missing: The required roles without a value.
        unexplained: The words that the step does not account for.
        verb_words: The number of words in the verb phrase.
        is_certain: Whether all values are unambiguous.
    """

    step: PipelineStep
    score: float
    missing: tuple[str, ...] = ()
    unexplained: tuple[str, ...] = ()
    verb_words: int = 0
    is_certain: bool = True


@dataclass(frozen=True, slots=True)
class _VerbPhrase:
    """A matched verb phrase.

    Args:
        words: Its words, excluding those in its gap.
        count: The number of its words.
        is_narration: Whether it reports an event ("I tagged") instead of requesting it.
    """

    words: frozenset[str]
    count: int
    is_narration: bool


@dataclass(frozen=True, slots=True)
class _Segment:
    """Words, the role that they fill (empty for unexplained words), and the cue that introduces it."""

    role: str
    bound: RoleBinding
    word_count: int
    cue_words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Cue:
    """A phrase that introduces a role, with the range of its gap (-1 if it has none)."""

    start: int
    end: int
    role: str
    gap: tuple[int, int] = (-1, -1)


class FrameParser:
    """Parse the clauses of one request.

    Args:
        request: The request's text.
        language: The lexicon of its language.
        vocabulary: The vocabulary of the vault.
        sets: The parser for noun phrases.
        allowed: The actions whose tools are turned on, by id.
        frames: The phrasings of the actions.
    """

    def __init__(
        self,
        request: str,
        language: Language,
        vocabulary: Vocabulary,
        sets: NoteSetParser,
        allowed: Mapping[str, Action],
        frames: Sequence[ActionFrame],
    ) -> None:
        self._request = request
        self._language = language
        self._sets = sets
        self._allowed = allowed
        self._frames = frames
        self._values = RoleValueParser(request, language, vocabulary, sets)

    def readings(self, tokens: Sequence[Token]) -> list[ClauseReading]:
        """Return the best reading of the clause for each frame, best first."""
        best_readings = (
            max(self._read_frame(frame, tokens), key=lambda reading: reading.score, default=None)
            for frame in self._frames
            if frame.action in self._allowed
        )
        return sorted(filter(None, best_readings), key=lambda reading: -reading.score)

    def has_trigger(self, tokens: Sequence[Token]) -> bool:
        """Return whether some tokens start with a verb phrase other than a relation."""
        return any(
            frame.action in self._allowed and any(phrase.longest_match(tokens, 0) for phrase in frame.say)
            for frame in self._frames
            if not frame.by_relation
        )

    def _read_frame(self, frame: ActionFrame, tokens: Sequence[Token]) -> Iterator[ClauseReading]:
        seen: set[tuple[int, int, int, int]] = set()
        if any(role.startswith("new_") for role in frame.roles):
            words = trim_marks(tokens)
            # "Rename the folder Claims to Theses instead"
            if self._language.matches_phrase(words[-1:], "corrections", "endings"):
                tokens = words[:-1]
        keys = {token.key for token in tokens}
        for phrase in frame.say:
            if not phrase.starts_with_gap and phrase.first.isdisjoint(keys):
                continue
            for position in range(len(tokens)):
                if not phrase.starts_with_gap and tokens[position].key not in phrase.first:
                    continue
                for match in phrase.match(tokens, position):
                    key = (position, match.end, match.gap_start, match.gap_end)
                    if match.end == position or key in seen:
                        continue
                    seen.add(key)
                    gap = tokens[match.gap_start : match.gap_end] if match.gap_start >= 0 else ()
                    yield from self._read_phrase(frame, tokens, position, match.end, gap)

    def _read_phrase(
        self,
        frame: ActionFrame,
        tokens: Sequence[Token],
        position: int,
        end: int,
        gap: Sequence[Token],
    ) -> Iterator[ClauseReading]:
        """Yield the readings with the verb phrase from `position` to `end`, for every split of the rest."""
        action = self._allowed[frame.action]
        before, after = trim_marks(tokens[:position]), trim_marks(tokens[end:])
        if action.id == "move_folder" and self._cues(frame, gap):
            return  # "move the old notes into a folder"
        if before and action.id.startswith(TOOL_PREFIX):
            return  # a tool's example is a complete request
        narrating = self._language.words("narrating")
        verb = _VerbPhrase(
            frozenset(
                token.key for token in tokens[position:end] if not any(token is other for other in gap)
            ),
            end - position - len(gap),
            action.writes and not frame.before and any(token.key in narrating for token in before),
        )
        leading: list[tuple[tuple[_Segment, ...], int, tuple[str, ...]]] = []
        if frame.before and not frame.by_relation:
            for role in frame.before:
                bound = self._values.parse(action, frame, role, before) if before else None
                if bound is not None:
                    leading.append(((_Segment(role, bound, len(before)),), 0, ()))
        elif frame.by_relation:
            kind = self._values.relation_of(tokens[position:end])
            start = self._language.match_prefix(before, 0, "statement_leads")
            before = before[start:] if start < len(before) else before
            verb = replace(verb, count=verb.count + start)
            for role in frame.before:
                bound = self._values.parse(action, frame, role, before) if before else None
                notes = bound.values.get(role) if bound else None
                if bound is None or kind is None or not isinstance(notes, NoteSet) or notes.query:
                    return
                bound = replace(bound, values={**bound.values, "type": kind})
                leading.append(((_Segment(role, bound, len(before)),), 0, ()))
        else:
            leading = list(self._leading_segments(action, frame, before, bool(after)))
        for segments, filler_words, unexplained in leading:
            filled = {name for segment in segments for name in segment.bound.values}
            for following in self._following_segments(action, frame, gap, after, filled):
                yield self._reading(frame, verb, (*segments, *following), filler_words, unexplained, tokens)

    def _following_segments(
        self,
        action: Action,
        frame: ActionFrame,
        gap: Sequence[Token],
        after: Sequence[Token],
        filled: set[str],
    ) -> Iterator[tuple[_Segment, ...]]:
        """Yield the splits of the words in the gap of the verb phrase and after it."""
        yield from self._assign_roles(action, frame, (*gap, *after), filled, direct=True)
        for role in frame.direct if gap else ():
            bound = self._values.parse(action, frame, role, gap) if role not in filled else None
            if bound is not None:
                segment = _Segment(role, bound, len(gap))
                for rest in self._assign_roles(action, frame, after, {*filled, *bound.values}, direct=True):
                    yield (segment, *rest)

    def _leading_segments(
        self, action: Action, frame: ActionFrame, before: Sequence[Token], has_after: bool
    ) -> Iterator[tuple[tuple[_Segment, ...], int, tuple[str, ...]]]:
        """Parse the words before the verb phrase: fillers, a role with its cue, or the object.

        Yield their segments, the number of fillers, and the unexplained words.
        """
        fillers = self._language.words("fillers")
        content = [token for token in before if token.kind != "mark"]
        if all(
            token.key in fillers or self._language.matches_phrase([token], "courtesies") for token in content
        ):
            yield (), len(content), ()
            return
        for segments in self._assign_roles(action, frame, before, set(), direct=False):
            if all(segment.role for segment in segments):
                yield segments, 0, ()
        if not has_after and self._language.data.get("verb_last"):
            for segments in self._assign_roles(action, frame, before, set(), direct=True):
                yield segments, 0, ()
        yield (), 0, tuple(token.value for token in content)

    def _assign_roles(
        self, action: Action, frame: ActionFrame, tokens: Sequence[Token], filled: set[str], *, direct: bool
    ) -> Iterator[tuple[_Segment, ...]]:
        """Yield the splits of the words at cues, with a role for each segment.

        Without a split, yield one segment of unexplained words.
        """
        if not tokens:
            yield ()
            return
        cues = self._cues(frame, tokens)
        is_split = False
        if direct:
            for role in frame.direct:
                if role in filled:
                    continue
                for segments in self._segments_from(action, frame, tokens, 0, 0, role, filled, cues):
                    is_split = True
                    yield segments
            for segments in self._adjacent_objects(action, frame, tokens, filled, cues):
                is_split = True
                yield segments
        for cue in cues:
            if cue.start == 0 and cue.role not in filled:
                for segments in self._segments_at_cue(action, frame, tokens, cue, filled, cues):
                    is_split = True
                    yield segments
        if not is_split:
            unexplained = tuple(token.value for token in tokens if token.kind != "mark")
            yield (_Segment("", RoleBinding({}, 0.0, unexplained), len(unexplained)),)

    def _adjacent_objects(
        self, action: Action, frame: ActionFrame, tokens: Sequence[Token], filled: set[str], cues: list[_Cue]
    ) -> Iterator[tuple[_Segment, ...]]:
        """Yield splits into two objects without a cue between them: "tag it core", "give H4 #core"."""
        if len(frame.direct) < 2:
            return
        first, second = frame.direct[0], frame.direct[1]
        if first in filled or second in filled:
            return
        for cut in range(1, min(len(tokens), _MAX_NAME_TOKENS)):
            words = trim_marks(tokens[:cut])
            bound = self._values.parse(action, frame, first, words) if words else None
            if bound is None or bound.fit < POINTED_FIT or second in bound.values:
                continue
            segment = _Segment(first, bound, len(words))
            for rest in self._segments_from(
                action, frame, tokens, cut, 0, second, {*filled, *bound.values}, cues
            ):
                yield (segment, *rest)

    def _segments_at_cue(
        self,
        action: Action,
        frame: ActionFrame,
        tokens: Sequence[Token],
        cue: _Cue,
        filled: set[str],
        cues: list[_Cue],
    ) -> Iterator[tuple[_Segment, ...]]:
        """Yield the segments that begin with a cue, whose value is in its gap or after it."""
        if cue.gap[0] >= 0:
            inside = tokens[cue.gap[0] : cue.gap[1]]
            bound = self._values.parse(action, frame, cue.role, inside)
            if bound is not None:
                cue_words = tuple(
                    token.key
                    for position, token in enumerate(tokens[cue.start : cue.end], cue.start)
                    if not cue.gap[0] <= position < cue.gap[1]
                )
                segment = _Segment(cue.role, bound, len(inside), cue_words)
                for rest in self._remaining_segments(
                    action, frame, tokens, cue.end, {*filled, *bound.values}, cues
                ):
                    yield (segment, *rest)
            return
        yield from self._segments_from(
            action, frame, tokens, cue.end, cue.end - cue.start, cue.role, filled, cues
        )

    def _segments_from(
        self,
        action: Action,
        frame: ActionFrame,
        tokens: Sequence[Token],
        start: int,
        cue_length: int,
        role: str,
        filled: set[str],
        cues: list[_Cue],
    ) -> Iterator[tuple[_Segment, ...]]:
        """Yield the segments of a role from `start` to each later cue or the end; its cue ends at `start`."""
        stops = {cue.start for cue in cues if cue.start > start and cue.role != role}
        if role not in frame.direct and any(name not in filled for name in frame.direct):
            stops |= {
                position for position in range(start + 1, len(tokens)) if tokens[position].kind == "quoted"
            }
        ends = [*sorted(stops), len(tokens)]
        for end in ends:
            words = trim_marks(tokens[start:end])
            bound = self._values.parse(action, frame, role, words) if words else None
            if bound is None or any(name in filled for name in bound.values):
                continue
            word_count = sum(word.kind != "mark" for word in words)
            cue_words = tuple(token.key for token in tokens[start - cue_length : start])
            segment = _Segment(role, bound, word_count, cue_words)
            for rest in self._remaining_segments(action, frame, tokens, end, {*filled, *bound.values}, cues):
                yield (segment, *rest)

    def _remaining_segments(
        self,
        action: Action,
        frame: ActionFrame,
        tokens: Sequence[Token],
        position: int,
        filled: set[str],
        cues: list[_Cue],
    ) -> Iterator[tuple[_Segment, ...]]:
        """Yield the splits of the words from `position` on; they must begin with a cue or a quoted object."""
        if not trim_marks(tokens[position:]):
            yield ()
            return
        for cue in cues:
            between = tokens[position : cue.start]
            if cue.start >= position and cue.role not in filled and not trim_marks(between):
                yield from self._segments_at_cue(action, frame, tokens, cue, filled, cues)
        if tokens[position].kind == "quoted":
            for role in frame.direct:
                if role not in filled:
                    yield from self._segments_from(action, frame, tokens, position, 0, role, filled, cues)

    def _cues(self, frame: ActionFrame, tokens: Sequence[Token]) -> list[_Cue]:
        cues_by_position: dict[tuple[int, int, str, tuple[int, int]], _Cue] = {}
        for role, phrases in frame.roles.items():
            for phrase in phrases:
                for position in range(len(tokens)):
                    if not phrase.starts_with_gap and tokens[position].key not in phrase.first:
                        continue
                    for match in phrase.match(tokens, position):
                        # "Only in the templates", "back to rating"
                        starts = (
                            (position - 1, position) if self._is_led(tokens, position, role) else (position,)
                        )
                        for start in starts:
                            cue = _Cue(start, match.end, role, (match.gap_start, match.gap_end))
                            cues_by_position[(cue.start, cue.end, role, cue.gap)] = cue
        return sorted(cues_by_position.values(), key=lambda cue: (cue.start, -cue.end))[:_MAX_CUES]

    def _is_led(self, tokens: Sequence[Token], position: int, role: str) -> bool:
        """Return whether a word such as "only" or "back" before a cue belongs to the cue of a role."""
        leads = self._language.table("scopes")["cue_leads"].get(role, ())
        return position > 0 and tokens[position - 1].key in leads

    def _reading(
        self,
        frame: ActionFrame,
        verb: _VerbPhrase,
        segments: tuple[_Segment, ...],
        filler_words: int,
        unexplained: tuple[str, ...],
        tokens: Sequence[Token],
    ) -> ClauseReading:
        action = self._allowed[frame.action]
        values: dict[str, object] = dict(frame.constants)
        total = sum(1 for token in tokens if token.kind != "mark")
        explained = float(verb.count + filler_words)
        left_words = list(unexplained)
        for segment in segments:
            values.update(segment.bound.values)
            explained += len(segment.cue_words) + segment.bound.fit * segment.word_count
            left_words += segment.bound.unexplained
        score = min(1.0, explained / total) if total else 0.0
        target = values.pop("target", None)
        if (
            action.id == "remove_tag"
            and isinstance(target, NoteSet)
            and target.is_everything
            and "tag" in values
        ):
            tags = values["tag"]
            removed = tags if isinstance(tags, tuple) else (tags,)
            target = NoteSet(query=" OR ".join(f"tag:{tag}" for tag in removed))
        is_implied = False
        if target is None and action.implies_note:
            implied = self._sets.implied_notes()
            others = [role for role in action.needs if role != "target"]
            if implied is not None and all(role in values for role in others):
                target, is_implied = implied, True
        missing = tuple(
            role for role in action.needs if (target is None if role == "target" else role not in values)
        )
        if action.id == "undo" and target is None and "scope" not in values:
            missing = ("target",)
        score *= _MISSING_ROLE_FACTOR ** len(missing) * (_IMPLIED_ROLE_FACTOR if is_implied else 1.0)
        score += _SPECIFICITY_BONUS * verb.count
        step = PipelineStep(action.id, target if isinstance(target, NoteSet) else None, values)
        if any(token.key in self._language.words("jointly") for token in tokens):
            step = _as_joint_search(step)
        step = self.complete_step(step, tokens)
        is_certain = (
            not verb.is_narration
            and (not is_implied or self._implies_one(action, tokens))
            and all(self._is_certain(action, segment, verb) for segment in segments)
        )
        return ClauseReading(step, score, missing, tuple(left_words), verb.count, is_certain)

    def complete_step(self, step: PipelineStep, tokens: Sequence[Token]) -> PipelineStep:
        """Return a step with the values that other words of its clause imply."""
        if step.action == "list_tasks" and "due" in step.arguments and step.arguments.get("state") == "all":
            step = step.with_argument("state", "open")  # a task that is due is not done yet
        step = _with_words_as_query(self._with_due_day(self._as_task(step, tokens), tokens))
        step = self._sets.narrowed_tasks(self._without_plain_query(step), tokens)
        step = self.with_items(step, tokens)
        if step.action == "rename_property" and step.target is not None and step.target.is_everything:
            return replace(step, target=None)
        if step.action in TASK_ACTIONS and step.target is None:
            return replace(step, target=self._sets.notes_of_tasks())
        return step

    def with_items(self, step: PipelineStep, tokens: Sequence[Token]) -> PipelineStep:
        """Return a step that adds text with the items of a list in place of the text."""
        return with_items(self._request, step, tokens, self._language)

    def _as_task(self, step: PipelineStep, tokens: Sequence[Token]) -> PipelineStep:
        """Return the step with its text as an open task if the words around the text name a task."""
        text = str(step.arguments.get("text", ""))
        if step.action not in ("append", "prepend") or not text or text.lstrip().startswith("-"):
            return step
        text_words = set(text.casefold().split())
        nouns = self._language.words("task_nouns") - text_words
        is_task = any(token.is_word and token.key in nouns for token in tokens)
        return step.with_argument("text", f"{OPEN_TASK}{text}") if is_task else step

    def _with_due_day(self, step: PipelineStep, tokens: Sequence[Token]) -> PipelineStep:
        """Return the step with the day at the end of its new task as a due date: "call Ann by Friday".

        Quoted text stays as it is.
        """
        text = str(step.arguments.get("text", ""))
        if step.action not in ("append", "prepend") or not text.startswith(OPEN_TASK):
            return step
        text = text.removeprefix(OPEN_TASK)
        is_quoted = any(token.kind == "quoted" and token.value.strip() == text.strip() for token in tokens)
        if is_quoted or "\n" in text:
            return step
        line = task_line(without_full_stop(text), self._language, self._sets.dates)
        return step.with_argument("text", line)

    def _without_plain_query(self, step: PipelineStep) -> PipelineStep:
        """Return the rescheduling of a task without words that describe no task: "the due date of it"."""
        query = str(step.arguments.get("query", ""))
        plain = self._language.function_words() | self._language.words("task_nouns")
        if step.action != "reschedule_task" or not query or not plain.issuperset(query.casefold().split()):
            return step
        return replace(step, arguments={k: value for k, value in step.arguments.items() if k != "query"})

    def _implies_one(self, action: Action, tokens: Sequence[Token]) -> bool:
        """Return whether a request that names no notes can only mean the note in focus.

        "Delete the tag core" and "replace every brass" may also mean all notes.
        """
        universal = self._language.words("universal")
        return (
            self._sets.implies_one
            and action.id not in ("remove_tag", "remove_property")
            and not any(token.key in universal for token in tokens)
        )

    def _is_certain(self, action: Action, segment: _Segment, verb: _VerbPhrase) -> bool:
        """Return whether the words of a segment are unambiguously the value of its role.

        This is the case if the value is quoted, known to the vault, or introduced by a word such as "called",
        "saying" or "the tag".
        """
        if action.id == "merge" and segment.role == "other" and segment.cue_words:
            # "Merge A and B" does not say which note to keep.
            conjunctions = {word for phrase in self._language.phrases("and") for word in phrase.first}
            return not conjunctions & set(segment.cue_words)
        if segment.bound.is_certain or not segment.role:
            return True
        introduction = verb.words.union(segment.cue_words)
        kind = action.kind(segment.role)
        name = str(segment.bound.values.get(segment.role, "")).casefold().split()
        if kind == "name" and set(name) & self._language.words("ends_name"):
            return False  # the name may end before this word
        if segment.role in _NEW_NAMES and segment.cue_words:
            return True
        if segment.role == "new_key" and segment.word_count > 1:
            return False  # "call the property author writer from now on"
        introducing = self._language.words(f"introduces_{kind.removesuffix('_name')}")
        return bool(introduction & introducing)

    def fill(self, action: Action, frame: ActionFrame, role: str, tokens: Sequence[Token]) -> Values | None:
        """Parse words (for example an answer) as the value of one role; None if they do not fit."""
        bound = self._values.parse(action, frame, role, tokens)
        return bound.values if bound else None


def _with_words_as_query(step: PipelineStep) -> PipelineStep:
    """Search a list of tasks for words that don't name a note; return other steps unchanged."""
    if step.action != "list_tasks" or step.target is None or not step.target.unknown:
        return step
    return PipelineStep(step.action, None, {**step.arguments, "query": step.target.unknown})


def _as_joint_search(step: PipelineStep) -> PipelineStep:
    """Turn a list of several notes' links into a search for those they all share ("both H4 and K1")."""
    name = _LINK_FILTERS.get(step.action)
    if name is None or step.target is None or len(step.target.notes) < 2 or step.target.query:
        return step
    names = [quote_text(str(NotePath.on_disk(path).stem_path)) for path in step.target.notes]
    return PipelineStep("find", NoteSet(query=" ".join(f"{name}:{text}" for text in names)))
