"""Interpret a correction of the last change: "no, I meant H4", "the tag travel, not trip", "no, on Monday".

A change that was denied is proposed again with the corrected part. One that was made is taken back first,
unless the corrected value replaces the one that was just written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from app.agent.language.actions import OPPOSITES, TASK_ACTIONS
from app.agent.language.dates import shifted_day
from app.agent.language.dialog import NOTE_ROLES
from app.agent.language.follow_ups import narrowed_notes
from app.agent.language.new_tasks import adds_tasks
from app.agent.language.readings import NoteSet, PipelineStep, Reading
from app.agent.language.request import Request, without_marks_at_end
from app.agent.language.task_matching import names_task
from app.agent.language.task_references import parse_due
from app.agent.language.tokens import Token, span_text
from app.vault.markdown.tasks import task_facts, with_due_date
from app.vault.path import NotePath, name_key

_SCORE = 0.95
_MAX_WORDS = 8
_MAX_FREE_WORDS = 4
_QUOTED_ROLES = ("text", "value", "new_name", "name", "tag", "folder")
_FREE_ROLES = {
    "add_tag": "tag",
    "remove_tag": "tag",
    "rename_tag": "new_tag",
    "set_property": "value",
    "set_type": "type",
    "move": "folder",
    "rename": "new_name",
    "create_note": "name",
}
"""The actions with one value in the user's own words, and its role."""
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


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a correction.

    Args:
        tokens: Those for the corrected part.
        is_cued: Whether words such as "I meant", or a comma after "no", come before or after them.
        is_strong: Whether these words are more than "no" or "sorry".
        denied: The words after "not", for the wrong value.
    """

    tokens: tuple[Token, ...]
    is_cued: bool
    is_strong: bool = False
    denied: tuple[Token, ...] = ()


def parse_correction(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the readings of a request that corrects the last change, likeliest first; none for others."""
    dialog = request.dialog
    last = dialog.last
    if dialog.question is not None or last is None or len(last.steps) > 1 or not request.writes(last):
        return []
    step = last.last
    if step.action not in request.allowed or step.action == "undo":
        return []
    words = _without_cues(request, tokens)
    if words is None or not _is_denied_value(request, step, words.denied):
        return []
    corrected = [change for change in _corrected(request, step, words) if change != step]
    if not corrected and _means_other(request, words.tokens) and step.target is not None:
        asked = replace(step, target=None)
        return [replace(_instead(request, step, asked), missing="target")]
    unique = [change for at, change in enumerate(corrected) if change not in corrected[:at]]
    return [_instead(request, step, change) for change in unique]


def _without_cues(request: Request, tokens: tuple[Token, ...]) -> _Words | None:
    """Return the words of a correction without "no, I meant" and "please"; None without such words."""
    language = request.language
    start, before, is_cued, has_no, is_strong = 0, -1, False, False, False
    denied: tuple[Token, ...] = ()
    while start != before:
        before = start
        while start < len(tokens) and tokens[start].kind == "mark":
            is_cued, start = is_cued or has_no, start + 1
        if (end := language.match_prefix(tokens, start, "corrections", "leads")) > start:
            is_cued, is_strong, start = True, True, end
        elif (end := language.match_prefix(tokens, start, "corrections", "no")) > start:
            has_no, start = True, end
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
            return _Words(without_marks_at_end(words[:at]), True, True, denied or words[after:])
    return _Words(words, is_cued, is_strong or bool(denied), denied)


def _is_denied_value(request: Request, step: PipelineStep, words: tuple[Token, ...]) -> bool:
    """Return whether words, if there are any, name a value or a note of the last change."""
    if not words:
        return True
    text = name_key(span_text(request.text, words))
    values = [value for value in step.arguments.values() if not isinstance(value, NoteSet)]
    known = {name_key(str(item)) for value in values for item in _items(value)}
    sets = [step.target, *(step.arguments.get(role) for role in NOTE_ROLES)]
    paths = {path for notes in sets if isinstance(notes, NoteSet) for path in notes.notes}
    parser = request.set_parser()
    named = parser.find_named(words) or parser.parse_reference(words)
    return text in known or (named is not None and bool(paths & set(named.notes.notes)))


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, tuple | list) else (value,)


# The corrected change


def _corrected(request: Request, step: PipelineStep, words: _Words) -> list[PipelineStep]:
    """Return the change with each part that the words may correct."""
    tokens = words.tokens
    if (narrowed := _narrowed(request, step, tokens)) is not None:
        return [narrowed]
    if step.action in _PLACES and (place := _other_place(request, step, tokens)):
        return [replace(step, action=place)]
    if any(token.kind == "mark" for token in tokens) and (day := _day_of_parts(request, tokens)):
        return list(_with_day(step, day))
    if any(token.kind == "mark" for token in tokens):
        return []
    if step.action in TASK_ACTIONS and (task := _listed_task(request, step, tokens)) is not None:
        return [task]
    if (due := parse_due(request, tokens)) and (changes := list(_with_day(step, due))):
        return changes
    cued = _cued(request, step, tokens)
    if notes := _with_other_notes(request, step, tokens):
        free = _FREE_ROLES.get(step.action, "")
        is_lower = tokens[0].is_word and tokens[0].value.islower() and cued is None
        # "I meant winter" may be a tag or the note Winter.
        return [*notes, *(_with_value(request, step, free, tokens) if free and is_lower else ())]
    if cued is not None:
        roles, rest = cued
        of_notes = [role for role in roles if role in NOTE_ROLES]
        values = [change for role in roles for change in _with_value(request, step, role, rest)]
        return _with_other_notes(request, step, rest, of_notes) or values
    if (key := _with_other_property(request, step, tokens)) is not None:
        return [key]
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
    templates = request.vocabulary.excluded_templates
    if after and rest and rest <= {*language.table("doubts")["templates"]} and templates:
        narrowed: NoteSet | None = notes.with_query(templates) if templates not in notes.query else None
    else:
        narrowed = narrowed_notes(request, tokens, notes)
    return replace(step, target=narrowed) if narrowed is not None else None


def _name_words(path: str) -> set[str]:
    return {*name_key(NotePath.on_disk(path).name).split()}


def _listed_task(request: Request, step: PipelineStep, tokens: tuple[Token, ...]) -> PipelineStep | None:
    """Return the same change of another listed task: "the second one", "the oven one"."""
    language, dialog = request.language, request.dialog
    ordinal = request.set_parser().ordinal_in(tokens)
    if ordinal is not None:
        found = (
            [dialog.tasks[ordinal - 1 if ordinal > 0 else ordinal]] if ordinal <= len(dialog.tasks) else []
        )
    else:
        text = span_text(request.text, tokens)
        found = [task for task in dialog.tasks if names_task(text, task[1], language.code)]
    if len(found) != 1 or not dialog.tasks:
        return None
    path, query = found[0]
    return replace(step, target=NoteSet(notes=(path,))).with_argument("query", query)


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
    """Return the roles whose longest cue the words begin with, and the words after it: "to Events"."""
    ends: dict[str, int] = {}
    for frame in request.frames:
        if frame.action != step.action or frame.by_relation:
            continue
        for role, cues in frame.roles.items():
            matches = [match.end for cue in cues if (match := cue.longest_match(tokens, 0))]
            end = max((end for end in matches if end < len(tokens)), default=0)
            if role == "target" or role in step.arguments:
                ends[role] = max(end, ends.get(role, 0))
    longest = max(ends.values(), default=0)
    roles = tuple(role for role, end in ends.items() if end == longest)
    return (roles, tokens[longest:]) if longest else None


def _with_other_notes(
    request: Request, step: PipelineStep, tokens: tuple[Token, ...], roles: Sequence[str] = NOTE_ROLES
) -> list[PipelineStep]:
    """Return a change with the note that the words name in each role that may be meant."""
    sets = request.set_parser()
    parsed = sets.parse_reference(tokens) or sets.find_named(tokens)
    notes = parsed.notes.notes if parsed is not None and parsed.is_certain else ()
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


def _other_note(request: Request, step: PipelineStep) -> tuple[str, ...]:
    """Return the other one of two listed or recent notes, one of which was changed."""
    dialog, changed = request.dialog, step.target.notes if step.target is not None else ()
    for pair in (dialog.them, dialog.recent):
        if len(pair) == 2 and len(changed) == 1 and changed[0] in pair:
            return tuple(path for path in pair if path not in changed)
    return ()


def _with_other_property(
    request: Request, step: PipelineStep, tokens: tuple[Token, ...]
) -> PipelineStep | None:
    """Return a change of another property: "I meant the category"."""
    words = [token for token in tokens if token.key not in request.language.words("determiners")]
    key = str(step.arguments.get("key", ""))
    if not key or len(words) != 1 or len(words) == len(tokens):
        return None
    find = request.vocabulary.find_property
    name = request.language.property_name(words[0].key, find) or find(words[0].value)
    return step.with_argument("key", name) if name and name_key(name) != name_key(key) else None


def _with_free_words(request: Request, step: PipelineStep, words: _Words) -> Iterator[PipelineStep]:
    """Yield a change with the words as its value, if they can be nothing else."""
    role, tokens = _FREE_ROLES.get(step.action, ""), words.tokens
    number = all(any(char.isdigit() for char in token.value) for token in tokens)
    if role and number and step.action == "set_property":
        yield from _with_value(request, step, role, tokens)
    elif "confidence" in step.arguments and number:
        yield from _with_value(request, step, "confidence", tokens)
    elif role and words.is_cued and len(tokens) <= _MAX_FREE_WORDS:
        language = request.language
        plain = language.function_words() | language.verbs() | language.words("negations")
        plain |= {*language.table("corrections")["no_values"]}
        is_short = len(tokens) == 1 or words.is_strong
        if is_short and plain.isdisjoint(token.key for token in tokens):
            yield from _with_value(request, step, role, tokens)


def _with_value(
    request: Request, step: PipelineStep, role: str, tokens: tuple[Token, ...]
) -> Iterator[PipelineStep]:
    """Yield the change with the words as the value of a role, if they fit it."""
    if role in NOTE_ROLES:
        yield from _with_other_notes(request, step, tokens, (role,))
        return
    frame = next((frame for frame in request.frames if frame.action == step.action), None)
    if not role or frame is None or role not in step.arguments:
        return
    bound = request.frame_parser(follows=False).fill(request.allowed[step.action], frame, role, tokens)
    value = bound.get(role) if bound is not None and set(bound) == {role} else None
    if value is None or isinstance(value, NoteSet) or _is_number(value) < _is_number(step.arguments[role]):
        return  # "no, very good" is no number
    if role != "key" or request.vocabulary.find_property(str(value)):
        yield step.with_argument(role, value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


# The undo


def _instead(request: Request, step: PipelineStep, change: PipelineStep) -> Reading:
    """Return the reading that makes a change in place of the last one."""
    dialog, code = request.dialog, request.language.code
    if not dialog.made:
        return Reading((change,), _SCORE, language=code)
    role = _REPLACING_ROLES.get(step.action, "")
    if role and change == step.with_argument(role, change.arguments.get(role)):
        made = dialog.changes[-1].notes
        if step.action in ("rename", "move") and made:
            change = replace(change, target=NoteSet(notes=made[:1]))
        elif step.action in TASK_ACTIONS:
            path = change.target.notes[0] if change.target is not None and change.target.notes else ""
            now = [text for known, text in dialog.tasks if known == path and _is_same_task(text, step)]
            change = change.with_argument("query", now[0]) if len(now) == 1 else change
        return Reading((change,), _SCORE, language=code)
    before, after = (own.target.notes if own.target is not None else () for own in (step, change))
    if step.action in OPPOSITES and set(after) < set(before) and change.arguments == step.arguments:
        left_out = NoteSet(notes=tuple(path for path in before if path not in after))
        opposite = PipelineStep(OPPOSITES[step.action], left_out, step.arguments)
        return Reading((opposite,), _SCORE, language=code)
    scope = "last" if dialog.made == 1 else f"last:{dialog.made}"
    return Reading((PipelineStep("undo", None, {"scope": scope}), change), _SCORE, language=code)


def _is_same_task(text: str, step: PipelineStep) -> bool:
    """Return whether a task is the one of a step, perhaps with another due date."""
    return task_facts(text).text == task_facts(str(step.arguments.get("query", ""))).text
