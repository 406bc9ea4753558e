"""Parse requests for lists of tasks by their due dates, and lists of the whole vault's tasks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from app.agent.language.grammar.request import Request
from app.agent.language.meaning.readings import Clarification, Interpretation, NoteSet, PipelineStep, Reading
from app.agent.language.tasks.new_tasks import follows_tasks
from app.agent.language.words.tokens import Token
from app.vault.path import NotePath

DUE_KINDS = ("first", "undated", "dated", "sorted")
"""Values of the argument "due" of a list of tasks, besides days: only those due first, those without or with
a due date, or all with those due first on top."""
MIN_PLACE_FIT = 0.8
"""Minimum fit of words for the notes to which a list of tasks is limited."""
_MAX_NAME_TOKENS = 4
_SCORE = 0.98


def parse_task_list(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the reading of a request for tasks by their due dates, or for how many are left; or None.

    "Which of them is due first?" narrows down the tasks that were just listed, added or changed.
    """
    if "list_tasks" not in request.allowed:
        return None
    words = [token for token in tokens if token.kind != "mark"]
    language = request.language
    if found := _mentioning(request, words):
        return found
    if language.matches_phrase(words, "task_lists", "overdue_now"):
        return _reading(
            request, None, {"state": "open", "due": f"..{request.dates.today - timedelta(days=1)}"}
        )
    if language.matches_phrase(words, "task_lists", "open_here") and len(request.dialog.this) == 1:
        return _reading(request, NoteSet(notes=request.dialog.this), {"state": "open"})
    for kind in (*DUE_KINDS, "left", "due", "my_duties"):
        after = language.match_prefix(words, 0, "task_lists", kind)
        if after == 0:
            continue
        nouns = _task_nouns(request)
        says_tasks = kind == "my_duties" or any(token.key in nouns for token in words[:after])
        if not says_tasks and not follows_tasks(request):
            continue
        arguments, target = ({"state": "open"}, None) if says_tasks else _last_list(request)
        if kind == "left":
            arguments = _open_tasks(arguments)
        if kind in DUE_KINDS:
            arguments = {**arguments, "due": kind}
        elif kind in ("due", "my_duties"):
            due = request.dates.days_ahead(words[after:])
            if due is None:
                continue
            arguments = {**arguments, "due": due}
            after = len(words)
        if after < len(words):
            target = _named_note(request, words[after:])
            if target is None:
                continue
        return _reading(request, target, arguments)
    return _narrowed_list(request, words) or _tagged_list(request, words)


def _mentioning(request: Request, words: Sequence[Token]) -> Reading | None:
    """Return the list of the open tasks anywhere whose text has a name: "tasks to do with Jonas", or None.

    A pronoun for a person means the first name.
    """
    language = request.language
    start = language.match_prefix(words, 0, "task_lists", "mention_leads")
    end = len(words)
    if start == 0 and (lead := language.match_prefix(words, 0, "task_lists", "duty_leads")):
        ends = (
            at for at in range(lead + 1, end) if language.matches_phrase(words[at:], "task_lists", "duties")
        )
        start, end = lead, next(ends, lead)
    named = tuple(words[start:end])
    if start == 0 or not named or len(named) > _MAX_NAME_TOKENS:
        return None
    parsed = request.set_parser().parse_reference(named)
    if parsed is not None:
        if not parsed.notes.is_single or language.match_prefix(named, 0, "this"):
            return None
        name = NotePath.on_disk(parsed.notes.notes[0]).name
        is_person = named[0].key in language.words("personal_pronouns")
        return _reading(request, None, {"state": "open", "query": name.split()[0] if is_person else name})
    named = named[named[0].key in language.words("determiners") - language.words("this") :]
    plain = language.function_words()
    is_name = all(token.kind in ("word", "link", "quoted") and token.key not in plain for token in named)
    text = " ".join(token.value for token in named)
    is_name = is_name and bool(text) and not request.vocabulary.has_kind(text)
    return _reading(request, None, {"state": "open", "query": text}) if is_name else None


def _tagged_list(request: Request, words: Sequence[Token]) -> Reading | None:
    """Return the list of the tasks in notes with a tag: "all open tasks tagged #docs"; None for others."""
    language = request.language
    start = language.match_prefix(words, 0, "task_lists", "tagged_leads")
    states = {kind: language.match_prefix(words, start, "task_lists", kind) for kind in ("open", "done")}
    state = next((kind for kind, end in states.items() if end > start), "all")
    noun = states.get(state, start)
    if not noun < len(words) - 1 or words[noun].key not in _task_nouns(request):
        return None
    part = request.set_parser().condition_at(words, noun + 1)
    is_tag = part is not None and part.end == len(words) and re.fullmatch(r"tag:\S+", part.query)
    if part is None or not is_tag or request.vocabulary.find_tag(part.query.removeprefix("tag:")) is None:
        return None
    return _reading(request, NoteSet(query=part.query), {"state": state})


def _narrowed_list(request: Request, words: Sequence[Token]) -> Reading | None:
    """Return the last list of tasks with more conditions: "how many are overdue?", "only those in Errands".

    Return None if some word is no condition, or if the words also fit a search for notes.
    """
    language = request.language
    last = request.dialog.last.last if request.dialog.last is not None else None
    position = language.match_prefix(words, 0, "task_lists", "narrow")
    if position == 0 or last is None or last.action != "list_tasks":
        return None
    arguments, target = dict(last.arguments), last.target
    has_condition, keys = False, {word.key for word in words}
    while position < len(words):
        if (after := date_condition(request, words, position, arguments)) > position:
            has_condition, position = True, after
        elif named := named_notes(request, words[position:]):
            target, has_condition, position = named, True, len(words)
            if words[0].key in language.words("asking_words") and _task_nouns(request) & keys:
                arguments.pop("due", None)  # "which tasks are open in my log?" is a new question
        elif (after := language.match_prefix(words, position, "task_lists", "narrow_ends")) > position:
            position = after
        elif words[position].key in language.table("task_lists")["narrow_fillers"]:
            position += 1
        else:
            return None
    return _reading(request, target, arguments) if has_condition else None


def date_condition(
    request: Request, words: Sequence[Token], position: int, arguments: dict[str, object]
) -> int:
    """Put the condition at a position, on the state or the due date of tasks, into the arguments of a list.

    Return its end, or the position if there is none.
    """
    language = request.language
    today = request.dates.today
    conditions: Mapping[str, Mapping[str, object]] = {
        "no_date": {"due": "undated"},
        "with_date": {"due": "dated"},
        "overdue": {"state": "open", "due": f"..{today - timedelta(days=1)}"},
        "open": {"state": "open"},
        "done": {"state": "done"},
    }
    for kind, values in conditions.items():
        if (after := language.match_prefix(words, position, "task_lists", kind)) > position:
            if {arguments.get("state"), values.get("state")} == {"open", "done"}:
                arguments.pop("due", None)  # no task of the list is in the other state
            arguments.update(values)
            return after
    after = language.match_prefix(words, position, "task_lists", "due_words")
    for end in range(len(words), after, -1):
        if (due := request.dates.days_ahead(words[after:end])) is not None:
            arguments["due"] = due
            end = language.match_prefix(words, end, "task_lists", "due_words")  # "heute fällig"
            return end
    return position


def _reading(request: Request, target: NoteSet | None, arguments: Mapping[str, object]) -> Reading:
    step = PipelineStep("list_tasks", target, arguments)
    return Reading((step,), _SCORE, language=request.language.code, verb_words=1)


def about_whole_vault(request: Request, interpretation: Interpretation) -> Interpretation:
    """Return a list of one note's tasks as a list of the whole vault's if the request says so.

    "Show me all open tasks" means the whole vault even after another request about a note. Instead of a
    question about which tasks to list, return the likeliest list.
    """
    match interpretation:
        case Reading():
            readings = [interpretation]
        case Clarification(options=options) if options and interpretation.partial is None:
            readings = [option.reading for option in options]
        case _:
            return interpretation
    if any([step.action for step in reading.steps] != ["list_tasks"] for reading in readings):
        return interpretation
    step = readings[0].last
    if step.target is not None and step.target.query:
        return interpretation
    notes = step.target.notes if step.target is not None else ()
    is_named = any(
        mention.notes is not None and not set(mention.notes.notes).isdisjoint(notes)
        for mention in request.mentions(request.tokens)
    )
    if _says(request, "here") and not is_named and len(request.dialog.this) == 1 and notes:
        here = NoteSet(notes=request.dialog.this)
        return replace(readings[0], steps=(replace(step, target=here),))
    says_note = is_named or _says(request, "note") or bool(step.target and step.target.source)
    says_all = not says_note and (
        _says(request, "everywhere") or _says(request, "totals", "scopes") or _asks_for_tasks(request)
    )
    if not says_all and not _says(request, "vault"):
        return interpretation
    return replace(readings[0], steps=(replace(step, target=None),))


def _asks_for_tasks(request: Request) -> bool:
    """Return whether a request is for tasks, and does not follow one about the tasks of some note."""
    plurals = request.language.table("new_tasks")["several"]  # "is there a task about it?" continues
    says_tasks = any(token.key in plurals for token in request.tokens)
    return says_tasks and not request.dialog.tasks and not follows_tasks(request)


def _says(request: Request, name: str, table: str = "task_lists") -> bool:
    tokens = request.tokens
    return request.language.has_phrase(tokens, table, name)


def _task_nouns(request: Request) -> set[str]:
    # The list "task_nouns" lacks plurals such as "todos".
    table = request.language.table("new_tasks")
    return {*table["one"], *table["several"]}


def _last_list(request: Request) -> tuple[dict[str, object], NoteSet | None]:
    """Return the arguments and the notes of the last list of tasks, or those of the tasks in focus."""
    dialog = request.dialog
    last = dialog.last.last if dialog.last is not None else None
    if last is not None and last.action == "list_tasks":
        return {"state": "open", **last.arguments}, last.target
    notes = tuple(dict.fromkeys(path for path, _ in dialog.tasks))
    return {"state": "open"}, NoteSet(notes=notes) if len(notes) == 1 else None


def _open_tasks(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments of a list as those of its open tasks, whatever their due dates."""
    is_kind = arguments.get("due") in DUE_KINDS
    kept = {name: value for name, value in arguments.items() if name != "due" or not is_kind}
    return {**kept, "state": "open"}


def _named_note(request: Request, tokens: Sequence[Token]) -> NoteSet | None:
    """Parse all tokens as the place of tasks: "in H1"; None for other words."""
    after = request.language.match_prefix(tokens, 0, "task_changes", "in")
    if not 0 < after < len(tokens):
        return None
    parsed = request.set_parser().find_named(tokens[after:])
    return parsed.notes if parsed is not None and parsed.notes.is_single else None


def named_notes(request: Request, tokens: Sequence[Token]) -> NoteSet | None:
    """Parse all tokens as the place of tasks: a note, or a folder or kind of notes; None for other words."""
    if named := _named_note(request, tokens):
        return named
    after = request.language.match_prefix(tokens, 0, "task_changes", "in")
    parsed = request.set_parser().parse(tokens) if 0 < after < len(tokens) else None
    if parsed is None or parsed.unexplained or parsed.has_bare_topic or not parsed.notes.query:
        return None
    is_plain = parsed.notes == NoteSet(query=parsed.notes.query)
    return parsed.notes if is_plain and parsed.fit >= MIN_PLACE_FIT else None
