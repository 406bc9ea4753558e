"""Interpret a correction of the last change: "no, I meant H4", "the tag travel, not trip", "no, on Monday".

A change that was denied is proposed again with the corrected part. One that was made is undone first,
unless the corrected value replaces the one that was just written. While a question about changes is open,
the changes that it offers are corrected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from app.agent.language.changes.undo import undoes_nothing
from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.interpretation.follow_ups import narrowed_notes
from app.agent.language.meaning.actions import FOLDER_ACTIONS, MOVING_ACTIONS, TASK_ACTIONS
from app.agent.language.meaning.dialog import NOTE_ROLES, DialogState, with_moved_notes
from app.agent.language.meaning.readings import Clarification, NoteSet, PipelineStep, Reading, as_tuple
from app.agent.language.tasks.new_tasks import adds_tasks
from app.agent.language.tasks.task_references import parse_due
from app.agent.language.words.dates import shifted_day
from app.agent.language.words.lexicon import Language
from app.agent.language.words.tokens import Token, span_text
from app.vault.markdown.tasks import task_facts, with_due_date
from app.vault.path import NotePath, name_key

_SCORE = 0.95
_MAX_WORDS = 10
_MAX_FREE_WORDS = 4
_QUOTED_ROLES = ("new_tag", "new_key", "new_heading", "text", "value", "new_name", "name", "tag", "folder")
_FREE_ROLES = {
    "add_tag": "tag",
    "remove_tag": "tag",
    "rename_tag": "new_tag",
    "rename_property": "new_key",
    "rename_heading": "new_heading",
    "rename_folder": "new_name",
    "move_folder": "parent",
    "set_property": "value",
    "set_type": "type",
    "move": "folder",
    "rename": "new_name",
    "create_note": "name",
}
"""The actions with one value in the user's own words, and its role."""
_NAMES = frozenset(("name", "new_name", "new_tag", "new_key", "new_heading"))
"""The roles of names, which "call it X" gives."""
_REPLACING_ROLES = {
    "set_property": "value",
    "set_confidence": "confidence",
    "set_type": "type",
    "reschedule_task": "due",
    "rename": "new_name",
    "move": "folder",
    "relate": "confidence",
}
"""The actions that replace a value, so that a corrected one needs no undo of the wrong one."""
_PLACES = ("append", "prepend")
_REVERSIBLE_ROLES = (
    ("target", "other"),
    ("target", "to"),
    ("old", "text"),
    ("tag", "new_tag"),
    ("key", "new_key"),
)
"""The roles that "the other way round" exchanges."""


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a correction.

    Args:
        tokens: Those for the corrected part.
        is_cued: Whether words such as "I meant", or a comma after "no", come before or after them.
        is_strong: Whether the words mark the request as a correction by more than "no" or "sorry".
        denied: The words after "not", for the wrong value.
        is_name: Whether the words are a name: "call it X".
        is_meant: Whether words such as "I meant" come before or after them.
    """

    tokens: tuple[Token, ...]
    is_cued: bool
    is_strong: bool = False
    denied: tuple[Token, ...] = ()
    is_name: bool = False
    is_meant: bool = False


def parse_correction(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the readings of a request that corrects the last change, likeliest first; none for others."""
    dialog = request.dialog
    language = request.language
    words = _without_cues(language, tokens)
    if words is None and language.matches_phrase(tokens, "corrections", "reversed"):
        words = _Words(tokens, is_cued=True, is_strong=True)
    if words is None:
        return []
    is_meant = language.has_phrase(tokens, "corrections", "meant")
    words = replace(words, is_meant=is_meant)
    if dialog.question is not None:
        return _of_options(request, dialog.question, words)
    last = dialog.last
    if last is None or not request.writes(last):
        return []
    if (undone := _undone_step(dialog)) is not None and words.is_strong:
        return [
            Reading(plan, _SCORE, language=language.code, is_certain=False)
            for _, plan in _corrected_plans(request, (undone,), words)
        ]
    # A denied correction is a plan that begins with an undo.
    steps = tuple(step for step in last.steps if step.action != "undo")
    undo = last.steps[: len(last.steps) - len(steps)]
    if not steps or last.steps[: len(undo)] != undo:
        return []
    plans = _corrected_plans(request, steps, words)
    readings: list[Reading] = []
    for at, plan in plans:
        reading = _instead(request, steps, at, plan)
        is_doubtful = _is_doubtful_value(request, words, steps[at], plan[at])
        # A change that was made is undone only after a question.
        is_made = bool(dialog.made) and not undoes_nothing(reading, dialog.changes)
        reading = replace(reading, is_certain=not (is_made or is_doubtful))
        is_pending = not (dialog.made or dialog.undone)
        reading = replace(reading, steps=(*undo, *reading.steps)) if is_pending else reading
        readings.append(reading)
        if is_doubtful and dialog.made:
            readings.append(replace(reading, steps=(dialog.undo_of_request,)))
        if dialog.made and len(plan) == 1 and (renamed := _renamed_again(steps[at], plan[at])):
            readings.append(replace(reading, steps=(renamed,)))
    step = steps[-1]
    means_other = _means_other(request, words.tokens) or _means_another(request, words.tokens)
    if not plans and len(steps) == 1 and means_other and step.target is not None:
        asked = replace(step, target=None)
        return [replace(_instead(request, steps, 0, (asked,)), missing="target")]
    return _unique(readings)


def _is_doubtful_value(request: Request, words: _Words, step: PipelineStep, change: PipelineStep) -> bool:
    """Return whether the corrected value is in the user's bare words, and the vault has no such value.

    "Sorry, typo" may name no tag, and "make it shorter" no folder.
    """
    role, tokens = _FREE_ROLES.get(step.action, ""), words.tokens
    value = change.arguments.get(role)
    if not role or value == step.arguments.get(role) or words.denied or words.is_name or words.is_meant:
        return False
    text, find = " ".join(map(str, as_tuple(value))), request.vocabulary
    is_stated = any(token.kind in ("quoted", "tag", "link") for token in tokens)
    is_number = any(char.isdigit() for char in text)
    if is_stated or is_number or _cued(request, step, tokens) is not None:
        return False
    known = (find.find_tag(text), find.find_folder(text), find.find_type(text), find.find_value(text))
    return not any(known) and not find.notes(text.strip("[]"))


def correcting_words(language: Language, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the words of a correction without "no, I meant" and "just"; all words for other requests."""
    words = _without_cues(language, tokens)
    if words is None or words.denied:
        return tokens
    return words.tokens[language.match_prefix(words.tokens, 0, "corrections", "only") :] or tokens


def _of_options(request: Request, question: Clarification, words: _Words) -> list[Reading]:
    """Return the changes that an open question offers, with the correction."""
    if not words.is_strong and words.tokens[0].key in request.language.verbs():
        return []  # perhaps another order: "no, tag it brass"
    changes = [option.reading for option in question.options if request.writes(option.reading)]
    return _unique(
        replace(reading, steps=plan, score=_SCORE)
        for reading in changes
        for _, plan in _corrected_plans(request, reading.steps, words)
    )


def _unique(readings: Iterable[Reading]) -> list[Reading]:
    known: list[Reading] = []
    for reading in readings:
        if not any(reading.has_same_steps(other) for other in known):
            known.append(reading)
    return known


def _corrected_plans(
    request: Request, steps: tuple[PipelineStep, ...], words: _Words
) -> list[tuple[int, tuple[PipelineStep, ...]]]:
    """Return the steps with each part that the words may correct, and the index of the corrected step."""
    plans: list[tuple[int, tuple[PipelineStep, ...]]] = []
    for at, step in enumerate(steps):
        is_change = step.action in request.allowed and request.allowed[step.action].writes
        if not is_change or step.action == "undo" or not _is_denied_value(request, step, words.denied):
            continue
        for change in _corrected(request, step, words):
            # Orders such as "rename it and tag it" have the same note.
            plan = tuple(
                change
                if index == at
                else replace(other, target=change.target)
                if other.target == step.target
                else other
                for index, other in enumerate(steps)
            )
            if change != step and plan not in [known for _, known in plans]:
                plans.append((at, plan))
    return plans


def _without_cues(language: Language, tokens: tuple[Token, ...]) -> _Words | None:
    """Return the words of a correction without "no, I meant" and "please"; None without such words."""
    start, before, is_cued, has_no, is_strong, is_name = 0, -1, False, False, False, False
    denied: tuple[Token, ...] = ()
    while start != before:
        before = start
        while start < len(tokens) and tokens[start].kind == "mark":
            has_no = has_no or start == 0  # "actually" is not among the tokens
            is_cued, start = is_cued or has_no, start + 1
        if (end := language.match_prefix(tokens, start, "corrections", "leads")) > start:
            is_cued, is_strong, start = True, True, end
        elif (end := language.match_prefix(tokens, start, "corrections", "no")) > start:
            has_no, start = True, end
        elif has_no and (end := language.match_prefix(tokens, start, "corrections", "naming")) > start:
            is_cued, is_strong, is_name, start = True, True, True, end
        elif (after := language.match_prefix(tokens, start, "corrections", "not")) > start:
            # "Not H3, I meant H4"
            mark = next((at for at in range(after + 1, len(tokens) - 1) if tokens[at].kind == "mark"), None)
            if mark is not None and not denied:
                denied, is_cued, start = tokens[after:mark], True, mark
    end = len(without_marks_at_end(tokens))
    for at in range(max(start, end - 3), end):
        for name in ("courtesies", "corrections"):
            path = (name,) if name == "courtesies" else (name, "endings")
            if language.matches_phrase(tokens[at:end], *path):
                is_strong = is_strong or name == "corrections"
                is_cued = is_cued or is_strong
                end = at
                break
    words = without_marks_at_end(tokens[start:end])
    if not (is_cued or has_no) or not words or len(words) > _MAX_WORDS:
        return None
    for at in range(1, len(words)):
        after = language.match_prefix(words, at, "corrections", "not")
        if at < after < len(words):
            return _Words(without_marks_at_end(words[:at]), True, True, denied or words[after:], is_name)
    return _Words(words, is_cued, is_strong or bool(denied), denied, is_name)


def _is_denied_value(request: Request, step: PipelineStep, words: tuple[Token, ...]) -> bool:
    """Return whether words, if there are any, name a value or a note of the last change."""
    if not words:
        return True
    text = name_key(span_text(request.text, words))
    values = [value for value in step.arguments.values() if not isinstance(value, NoteSet)]
    known = {name_key(str(item)) for value in values for item in as_tuple(value)}
    sets = [step.target, *(step.arguments.get(role) for role in NOTE_ROLES)]
    paths = {path for notes in sets if isinstance(notes, NoteSet) for path in notes.notes}
    parser = request.set_parser()
    named = parser.find_named(words) or parser.parse_reference(words)
    return text in known or (named is not None and bool(paths & set(named.notes.notes)))


# The corrected change


def _corrected(request: Request, step: PipelineStep, words: _Words) -> list[PipelineStep]:
    """Return the change with each part that the words may correct."""
    tokens = words.tokens
    if _means_another(request, tokens):
        return []
    if request.language.matches_phrase(tokens, "corrections", "reversed"):
        return list(_reversed(step))
    if (narrowed := _narrowed(request, step, tokens)) is not None:
        return [narrowed]
    if step.action in _PLACES and (place := _other_place(request, step, tokens)):
        return [replace(step, action=place)]
    if any(token.kind == "mark" for token in tokens):
        return list(_with_day(step, day)) if (day := _day_of_parts(request, tokens)) else []
    language = request.language
    for name in ("only", "belongs"):
        tokens = tokens[language.match_prefix(tokens, 0, "corrections", name) :] or tokens
    words = replace(words, tokens=tokens)
    if words.is_name:
        return list(_with_free_words(request, step, words))
    if (due := parse_due(request, tokens)) and (changes := list(_with_day(step, due))):
        return changes
    cued = _cued(request, step, tokens)
    if notes := _with_other_notes(request, step, tokens):
        free = _FREE_ROLES.get(step.action, "")
        is_lower = tokens[0].is_word and tokens[0].value.islower() and cued is None
        present = str(step.arguments.get(free, "")).strip("[]")
        # "I meant winter" may be a tag or the note Winter. "No, Cellar" may be a room, if the last room is a
        # note.
        if step.action == "set_property" and request.vocabulary.notes(present):
            return [*_with_value(request, step, free, tokens), *notes]
        return [*notes, *(_with_value(request, step, free, tokens) if free and is_lower else ())]
    if cued is not None:
        roles, rest = cued
        of_notes = [role for role in roles if role in NOTE_ROLES]
        values = [change for role in roles for change in _with_value(request, step, role, rest)]
        if changes := _with_other_notes(request, step, rest, of_notes) or values:
            return changes
    if len(tokens) == 1 and tokens[0].kind in ("quoted", "tag"):
        role = next((role for role in _QUOTED_ROLES if role in step.arguments), "")
        return list(_with_value(request, step, role, tokens))
    return list(_with_free_words(request, step, words))


def _other_place(request: Request, step: PipelineStep, tokens: tuple[Token, ...]) -> str:
    """Return the action that adds the text at the other end of the note: "at the top"; empty for others."""
    names = (name for name in _PLACES if request.language.matches_phrase(tokens, "corrections", name))
    place = next(names, "")
    return place if "heading" not in step.arguments else ""


def _narrowed(request: Request, step: PipelineStep, tokens: tuple[Token, ...]) -> PipelineStep | None:
    """Return a change of several notes without some of them: "only the quick ones", "not the drafts"."""
    notes, language = step.target, request.language
    if notes is None or notes.is_single or not (notes.query or notes.notes):
        return None
    after = language.match_prefix(tokens, 0, "refine", "without")
    rest = {token.key for token in tokens[after:]} - language.words("determiners")
    if notes.notes:
        left_out = tuple(path for path in notes.notes if rest and rest <= _name_words(path)) if after else ()
        if not left_out or len(left_out) == len(notes.notes) or notes.query:
            return None
        kept = tuple(path for path in notes.notes if path not in left_out)
        return replace(step, target=NoteSet(notes=kept))
    narrowed = narrowed_notes(request, tokens, notes)
    return replace(step, target=narrowed) if narrowed is not None else None


def _name_words(path: str) -> set[str]:
    return {*name_key(NotePath.on_disk(path).name).split()}


def _day_of_parts(request: Request, tokens: tuple[Token, ...]) -> str:
    """Return the day that the last part names, if the other parts name its weekday: "Monday, Dec 7"."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == "mark":
            parts.append([])
        else:
            parts[-1].append(token)
    *others, last = (tuple(part) for part in parts)
    day = _parse_day(parse_due(request, last)) if last else None
    for part in others:
        weekdays = [_parse_day(request.dates.days_ahead(part[:end]) or "") for end in range(1, len(part) + 1)]
        if day is None or not any(known and known.weekday() == day.weekday() for known in weekdays):
            return ""
    return day.isoformat() if day is not None else ""


def _parse_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _with_day(step: PipelineStep, due: str) -> Iterator[PipelineStep]:
    """Yield a change with another day: the due date of a task, or a property that was set to a day."""
    if step.action == "reschedule_task":
        yield step.with_argument("due", due)
        return
    day = _parse_day(due)
    text = str(step.arguments.get("text", ""))
    if adds_tasks(step) and "\n" not in text:
        present = task_facts(text).due
        day = shifted_day(present, due) if day is None and present is not None else day
        if day is not None:
            yield step.with_argument("text", with_due_date(text, day))
    elif step.action == "set_property" and (present := _parse_day(str(step.arguments["value"]))):
        day = shifted_day(present, due) if day is None else day
        if day is not None:
            yield step.with_argument("value", day.isoformat())


def _cued(
    request: Request, step: PipelineStep, tokens: tuple[Token, ...]
) -> tuple[tuple[str, ...], tuple[Token, ...]] | None:
    """Return the roles whose longest cue the words begin with, and the words after it: "to Events".

    The cue may also be a noun after the words: "the Directions heading".
    """
    if (roles := _roles_of_cue(request, step, tokens))[1]:
        return roles[0], tokens[roles[1] :]
    named = tokens[:-1]
    while named and named[0].key in request.language.words("determiners"):
        named = named[1:]
    if len(tokens) > 2 and named and (roles := _roles_of_cue(request, step, (tokens[-1], *named)))[1] == 1:
        return roles[0], named
    return None


def _roles_of_cue(
    request: Request, step: PipelineStep, tokens: tuple[Token, ...]
) -> tuple[tuple[str, ...], int]:
    ends: dict[str, int] = {}
    for frame in request.frames:
        if frame.action != step.action or frame.by_relation:
            continue
        for role, cues in frame.roles.items():
            matches = [match.end for cue in cues if (match := cue.longest_match(tokens, 0))]
            end = max((end for end in matches if end < len(tokens)), default=0)
            if role == "target" or _has_role(step, role):
                ends[role] = max(end, ends.get(role, 0))
    longest = max(ends.values(), default=0)
    return tuple(role for role, end in ends.items() if end == longest), longest


def _has_role(step: PipelineStep, role: str) -> bool:
    return role in step.arguments or (step.action == "create_note" and role == "folder")


def _with_other_notes(
    request: Request, step: PipelineStep, tokens: tuple[Token, ...], roles: Sequence[str] = NOTE_ROLES
) -> list[PipelineStep]:
    """Return a change with the note that the words name in each role that may be meant."""
    sets = request.set_parser()
    parsed = sets.parse_reference(tokens) or sets.find_named(tokens) or sets.parse(tokens)
    is_named = parsed is not None and parsed.is_certain and not parsed.notes.query
    notes = parsed.notes.notes if parsed is not None and is_named else ()
    if _means_other(request, tokens):
        notes = _other_note(request, step)
    if len(notes) != 1:
        return []
    changes = []
    for role in roles:
        present = step.target if role == "target" else step.arguments.get(role)
        if isinstance(present, NoteSet) and present.notes != notes:
            other = NoteSet(notes=notes)
            changes.append(
                replace(step, target=other) if role == "target" else step.with_argument(role, other)
            )
    return changes


def _means_other(request: Request, tokens: tuple[Token, ...]) -> bool:
    return request.language.matches_phrase(tokens, "corrections", "other")


def _means_another(request: Request, tokens: tuple[Token, ...]) -> bool:
    return request.language.matches_phrase(tokens, "corrections", "another")


def _reversed(step: PipelineStep) -> Iterator[PipelineStep]:
    """Yield a change of two single notes or values with both exchanged: "merge A into B" as "B into A"."""
    values = {"target": step.target, **step.arguments}
    for first, second in _REVERSIBLE_ROLES:
        pair = (values.get(first), values.get(second))
        is_single = all(value.is_single if isinstance(value, NoteSet) else bool(value) for value in pair)
        if not is_single:
            continue
        if first == "target" and isinstance(pair[1], NoteSet):
            yield replace(step, target=pair[1]).with_argument(second, pair[0])
        else:
            yield step.with_argument(first, pair[1]).with_argument(second, pair[0])


def _other_note(request: Request, step: PipelineStep) -> tuple[str, ...]:
    """Return the other one of two listed or recent notes, one of which was changed."""
    dialog, changed = request.dialog, step.target.notes if step.target is not None else ()
    for pair in (dialog.them, dialog.recent):
        if len(pair) == 2 and len(changed) == 1 and changed[0] in pair:
            return tuple(path for path in pair if path not in changed)
    return ()


def _with_free_words(request: Request, step: PipelineStep, words: _Words) -> Iterator[PipelineStep]:
    """Yield a change with the words as its value, if they can be nothing else."""
    language = request.language
    role, tokens = _FREE_ROLES.get(step.action, ""), _without_one(language, words.tokens)
    if role in ("folder", "parent") or step.action in FOLDER_ACTIONS:
        tokens = _without_folder_noun(language, tokens)
    if step.action == "rename_folder" and request.vocabulary.find_folder(span_text(request.text, tokens)):
        role = "folder"  # its new name can't be that of another folder
    if words.is_name and role in _NAMES:
        name = tokens[0].value if len(tokens) == 1 else span_text(request.text, tokens)
        yield step.with_argument(role, (name,) if role == "new_tag" else name)
    if words.is_name:
        return
    number = all(any(char.isdigit() for char in token.value) for token in tokens)
    if role and number and step.action == "set_property":
        yield from _with_value(request, step, role, tokens)
    elif "confidence" in step.arguments and number:
        yield from _with_value(request, step, "confidence", tokens)
    elif role and words.is_cued and len(tokens) <= _MAX_FREE_WORDS:
        plain = language.function_words() | language.verbs() | language.words("negations")
        plain |= {*language.table("corrections")["no_values"]}
        # A name may contain such words: "I meant Saved articles".
        is_name = words.is_strong and len(tokens[0].value) > 1 and tokens[0].value[0].isupper()
        is_short = len(tokens) == 1 or words.is_strong
        if is_short and (is_name or plain.isdisjoint(token.key for token in tokens)):
            yield from _with_value(request, step, role, tokens)


def _without_folder_noun(language: Language, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the words after the noun in "the folder Notes"."""
    for at in range(min(2, len(tokens) - 1)):
        if tokens[at].key in language.words("introduces_folder"):
            return tokens[at + 1 :]
    return tokens


def _without_one(language: Language, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the words that "the ... one" is about: "the 1984 one" means 1984."""
    if len(tokens) > 2 and language.matches_phrase(tokens[-1:], "corrections", "one"):
        return tokens[1:-1] if tokens[0].key in language.words("determiners") else tokens
    return tokens[language.match_prefix(tokens, 0, "corrections", "one_of") :] or tokens


def _with_value(
    request: Request, step: PipelineStep, role: str, tokens: tuple[Token, ...]
) -> Iterator[PipelineStep]:
    """Yield the change with the words as the value of a role, if they fit it."""
    if role in NOTE_ROLES:
        yield from _with_other_notes(request, step, tokens, (role,))
        return
    frame = next((frame for frame in request.frames if frame.action == step.action), None)
    if not role or frame is None or not _has_role(step, role):
        return
    bound = request.frame_parser(follows=False).fill(request.allowed[step.action], frame, role, tokens)
    value = bound.get(role) if bound is not None and set(bound) == {role} else None
    if (
        value is None
        or isinstance(value, NoteSet)
        or _is_number(value) < _is_number(step.arguments.get(role))
    ):
        return  # "no, very good" is no number
    if role == "folder" and step.action in FOLDER_ACTIONS and not request.vocabulary.find_folder(str(value)):
        return  # its new name
    if role != "key" or request.vocabulary.find_property(str(value)):
        yield step.with_argument(role, value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


# The undo


def _instead(
    request: Request, steps: tuple[PipelineStep, ...], at: int, plan: tuple[PipelineStep, ...]
) -> Reading:
    """Return the reading that runs a plan in place of the last steps, of which one differs."""
    dialog, code = request.dialog, request.language.code
    if not dialog.made:
        return Reading(plan, _SCORE, language=code)
    step, change = steps[at], plan[at]
    made = dialog.changes[-dialog.made :]
    if not any(own.action == step.action for own in made):
        # The user denied this step, but not the ones before it.
        rest = tuple(with_moved_notes(own, made) for own in plan[at:])
        return Reading(rest, _SCORE, language=code)
    role = _REPLACING_ROLES.get(step.action, "")
    if role and change == step.with_argument(role, change.arguments.get(role)):
        if step.action in MOVING_ACTIONS:
            change = with_moved_notes(change, made)
        elif step.action in TASK_ACTIONS:
            path = change.target.notes[0] if change.target is not None and change.target.notes else ""
            now = [text for known, text in dialog.tasks if known == path and _is_same_task(text, step)]
            change = change.with_argument("query", now[0]) if len(now) == 1 else change
        return Reading((change,), _SCORE, language=code)
    before, after = (own.target.notes if own.target is not None else () for own in (step, change))
    left_out = tuple(path for path in before if path not in after)
    is_smaller = (
        bool(after) and set(after) < set(before) and change.arguments == step.arguments and len(plan) == 1
    )
    own = next(own for own in reversed(made) if own.action == step.action)
    if is_smaller and (opposite := own.opposite(left_out)) is not None:
        return Reading((opposite,), _SCORE, language=code)
    return Reading((dialog.undo_of_request, *plan), _SCORE, language=code)


def _renamed_again(step: PipelineStep, change: PipelineStep) -> PipelineStep | None:
    """Return the rename of the name that the last rename gave; None for other changes.

    The name may have been in use before, so that an undo is the first option.
    """
    for old, new in (("tag", "new_tag"), ("key", "new_key")):
        if new in step.arguments and change == step.with_argument(new, change.arguments[new]):
            given = step.arguments[new]
            return change.with_argument(old, as_tuple(given)[0] if old == "key" else given)
    return None


def _undone_step(dialog: DialogState) -> PipelineStep | None:
    """Return the change of notes that the last request undid, for its notes where they are now, or None."""
    last = dialog.last
    if last is None or [step.action for step in last.steps] != ["undo"] or not dialog.undone:
        return None
    own = dialog.undone[-1]
    alike = [
        other for other in dialog.undone if (other.action, other.arguments) == (own.action, own.arguments)
    ]
    first = -1 if own.action in MOVING_ACTIONS else 0  # the former path comes last
    paths = tuple(path for other in alike for path in other.notes[first:])
    return PipelineStep(own.action, NoteSet(notes=paths), own.arguments) if own.arguments else None


def _is_same_task(text: str, step: PipelineStep) -> bool:
    """Return whether a task is the one of a step, perhaps with another due date."""
    return task_facts(text).text == task_facts(str(step.arguments.get("query", ""))).text
