"""Find the tasks that a change means: "check it off" after a list of tasks, "mark the milk task as done"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.agent.language.grammar.request import Request
from app.agent.language.grammar.role_values import trim_marks
from app.agent.language.meaning.actions import ALL_TASKS, NO_DUE, TASK_ACTIONS
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.tasks.new_tasks import adds_tasks
from app.agent.language.tasks.task_lists import DUE_KINDS, date_condition, named_notes
from app.agent.language.tasks.task_matching import names_task
from app.agent.language.words.dates import ISO_DAY
from app.agent.language.words.lexicon import PhrasePattern
from app.agent.language.words.tokens import Token, span_text
from app.vault.markdown.tasks import task_facts
from app.vault.path import NotePath

_SCORE = 0.98
_MAX_ENDING_WORDS = 4

Task = tuple[str, str]
"""A task as its note's path, which is empty if the note is unknown, and the words for its text."""


@dataclass(frozen=True, slots=True)
class _Change:
    """A change to a task.

    Args:
        action: Its action.
        words: The words for the task.
        due: The new due date, a period (`first..last`), the shift of the present due date ("+1 week"), or
            `NO_DUE`.
        is_sure: Whether its words only fit a task, even one that is not known yet.
    """

    action: str
    words: tuple[Token, ...]
    due: str = ""
    is_sure: bool = False


def parse_task_change(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the readings of a request that completes, reopens or reschedules a task.

    The task is quoted, one of the tasks just listed, added or changed, or described by the words with the
    noun "task". Words that may mean any of several tasks have a reading for each of them.
    """
    for change in _changes(request, _core(request, tokens)):
        if (of_set := _task_set(request, change)) is not None:
            return [of_set]
        if at_positions := _tasks_at_position(request, change):
            return at_positions
        if named := _named_tasks(request, change):
            is_known = change.is_sure or all(task in request.dialog.tasks for task in named)
            # "Mark the task Read Dune as done" may be about a task or the note Dune.
            is_certain = is_known or not any(resembles_note(request, text) for _, text in named)
            return [
                Reading(
                    (_step(request, change, task),),
                    _SCORE,
                    language=request.language.code,
                    verb_words=1,
                    is_certain=is_certain,
                )
                for task in named
            ]
        if every := _all_tasks(request, change):
            return [_reading_of_each(request, change, every)]
    return []


def _task_set(request: Request, change: _Change) -> Reading | None:
    """Return the change of a set of tasks: "all overdue tasks", "the open tasks in H1"; None for others.

    After a list of tasks, "all tasks" are those of the list. Without a list or a place, they are uncertain.
    """
    language, dialog, words = request.language, request.dialog, change.words
    nouns = language.table("new_tasks")["several"]
    at = next((at for at, token in enumerate(words) if token.key in nouns), -1)
    leading = language.words("determiners") | language.words("universal")
    if at < 0 or words[0].key not in leading:
        return None  # "completed tasks in Errands" is a list
    says_all = any(token.key in language.words("universal") for token in words[:at])
    conditions: dict[str, object] = {}
    target, position = None, 0
    plain = language.words("determiners") | language.words("universal") | set(nouns)
    while position < len(words):
        known = dict(conditions)
        if (after := date_condition(request, words, position, conditions)) > position:
            position = after
        elif words[position].key in plain:
            position += 1
        elif position > at and target is None and (place := named_notes(request, words[position:])):
            target, position = place, len(words)
        else:
            return None
        if "due" in known and known["due"] != conditions["due"]:
            return None
    state, days = conditions.get("state"), conditions.get("due")
    wrong_state = "open" if change.action == "reopen_task" else "done"
    if state == wrong_state or (days is not None and days in DUE_KINDS):
        return None
    is_listed = dialog.last is not None and dialog.last.last.action == "list_tasks" and dialog.tasks
    if target is None and days is None and is_listed:
        return None if len(dialog.tasks) == 1 else _reading_of_each(request, change, list(dialog.tasks))
    if not says_all and target is None and days is None:
        return None
    due = {"due": change.due} if change.due else {}
    step = PipelineStep(change.action, target, {**due, "which": str(days or ALL_TASKS)})
    # "All tasks in H1 done" may ask for a list.
    is_order = words[0].start > _core(request, request.tokens)[0].start
    if change.due == NO_DUE and not is_order:
        return None
    is_certain = is_order and (target is not None or days is not None)
    return Reading((step,), _SCORE, language=language.code, verb_words=1, is_certain=is_certain)


def _reading_of_each(request: Request, change: _Change, tasks: Sequence[Task]) -> Reading:
    """Return the change of several tasks."""
    steps = tuple(_step(request, change, task) for task in tasks)
    return Reading(steps, _SCORE, language=request.language.code, verb_words=1)


def described_tasks(request: Request) -> list[Reading]:
    """Return the changes of a task that the words of a request may describe, even if no task is known.

    Those that only fit if there is such a task are not certain: "the filter is cleaned", "flour by Friday".
    """
    readings: list[Reading] = []
    tokens = _core(request, request.tokens)
    if not tokens or tokens[0].key in request.language.words("asking_words"):
        return []
    likely = [(change, True) for change in _changes(request, tokens)]
    for change, is_certain in (*likely, *((change, False) for change in _implied_changes(request, tokens))):
        core, _ = _without_nouns(request, change.words)
        if core and all(token.is_word for token in core):
            step = _step(request, change, ("", " ".join(token.value for token in core)))
            readings.append(
                Reading((step,), _SCORE, language=request.language.code, verb_words=1, is_certain=is_certain)
            )
    return readings


def says_done(request: Request) -> bool:
    """Return whether a request says that a task is done: "count the stock is done"."""
    return any(own.is_certain and own.last.action == "complete_task" for own in described_tasks(request))


def _implied_changes(request: Request, tokens: tuple[Token, ...]) -> Iterator[_Change]:
    """Yield the changes of "the filter is cleaned", "flour by Friday" and "flour: make it Friday"."""
    language = request.language
    if request.text.rstrip().endswith("?") or tokens[0].key in language.words("question_words"):
        return
    for at in range(1, len(tokens)):
        after = language.match_prefix(tokens, at, "task_changes", "happened")
        is_short = tokens[at - 1].key.endswith(("'s", "’s"))  # "the van's booked"
        is_stated = (at < after or is_short) and len(tokens) - after in (1, 2)  # "is filled in"
        if is_stated and "complete_task" in request.allowed:
            yield _Change("complete_task", (*tokens[:at], *tokens[after:]))
        start = max(at, language.match_prefix(tokens, at, "task_changes", "moved"))
        words = tuple(token for token in tokens[:at] if token.value.strip("-–—"))
        due = parse_due(request, tokens[start:]) if start < len(tokens) and words else ""
        if due and "reschedule_task" in request.allowed:
            last = due.rpartition("..")[2]
            is_past = last[:1].isdigit() and last < str(request.dates.today)
            if is_past or all(token.key in language.words("due_properties") for token in words):
                return
            yield _Change("reschedule_task", words, due)
            return


def removes_due_date(request: Request, tokens: tuple[Token, ...]) -> bool:
    """Return whether a request removes a due date: "delete the deadline of the milk task"."""
    return any(change.due == NO_DUE for change in _changes(request, _core(request, tokens)))


def known_tasks(request: Request, words: tuple[Token, ...]) -> list[Task]:
    """Return the tasks of the conversation that words mean; without words, those in focus."""
    language, tasks = request.language, request.dialog.tasks
    if not words:
        return _task_of_pronoun(request)
    ordinal = request.set_parser().ordinal_in(words)
    if ordinal is not None:
        return [tasks[ordinal - 1 if ordinal > 0 else ordinal]] if 0 < abs(ordinal) <= len(tasks) else []
    text = words[0].value if len(words) == 1 else span_text(request.text, words)
    same = [task for task in tasks if task[1].casefold() == text.casefold()]
    return same[:1] or [task for task in tasks if names_task(text, task[1], language.code)]


def resembles_note(request: Request, words: str) -> bool:
    """Return whether words for a task may also be the name of a note."""
    names = request.vocabulary
    return any(names.resembles(words, path) for path in names.find_similar_notes(words).paths)


def _step(request: Request, change: _Change, task: Task) -> PipelineStep:
    path, text = task
    arguments: dict[str, object] = {
        **({"query": text} if text else {}),
        **({"due": change.due} if change.due else {}),
    }
    # Words that describe none of the known tasks are about another note.
    known = None if request.dialog.tasks else request.set_parser().notes_of_tasks()
    target = NoteSet(notes=(path,)) if path else known
    return PipelineStep(change.action, target, arguments)


# The change


def _core(request: Request, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the words of a request without those around it: "and … too", "actually …"."""
    language = request.language
    words = tuple(token for token in tokens if token.kind != "mark")
    start = language.match_prefix(words, 0, "task_changes", "leads")
    done = language.match_prefix(words, start, "task_changes", "done_leads")
    if language.matches_phrase(words[done:], "compound_requests", "completions"):
        start = done  # "done, tick it"
    end, before = len(words), 0
    while end != before:
        before = end
        for at in range(max(start + 1, end - _MAX_ENDING_WORDS), end):
            if language.matches_phrase(words[at:end], "task_changes", "endings"):
                end = at
                break
    return words[start:end]


def _changes(request: Request, tokens: tuple[Token, ...]) -> Iterator[_Change]:
    """Yield the changes whose phrases span all tokens."""
    asking = request.language.words("asking_words") | request.language.words("question_words")
    is_question = request.text.rstrip().endswith("?") or bool(tokens and tokens[0].key in asking)
    open_words = request.language.words("negations").union(request.language.table("doubts")["hedges"])
    for phrases, name in (("no_due", "reschedule_task"), *zip(TASK_ACTIONS, TASK_ACTIONS, strict=True)):
        if name not in request.allowed:
            continue
        for part, rest in _parts(phrases, tokens):
            gaps: list[tuple[Token, ...]] = []
            for phrase in request.language.phrases("task_changes", phrases):
                if is_question and phrase.starts_with_gap:
                    continue  # "is the milk task due on Friday?"
                for words in _gaps(phrase, part):
                    if phrase.starts_with_gap and _begins_order(request, words):
                        continue  # "put “oil it” as a task in here due Sunday"
                    excepts = request.language.has_phrase(words, "undo", "except")
                    if excepts or _is_statement(request, words):
                        continue
                    if open_words.isdisjoint(token.key for token in words):
                        gaps.append(words)
            # Dates take the longest to parse.
            due = parse_due(request, rest) if gaps and rest else ""
            if gaps and bool(due) == bool(rest):
                due = NO_DUE if phrases == "no_due" else due
                is_sure = request.language.matches_phrase(part, "task_changes", "sure")
                yield from (_Change(name, words, due, is_sure) for words in gaps)


def _begins_order(request: Request, words: tuple[Token, ...]) -> bool:
    """Return whether words begin with a verb for a request, and are not the text of a known task."""
    language, text = request.language, span_text(request.text, words)
    is_known = any(names_task(text, task, language.code) for _, task in request.dialog.tasks)
    return words[0].key in language.verbs() and not is_known


def _is_statement(request: Request, words: tuple[Token, ...]) -> bool:
    """Return whether words say something about a task instead of naming it: "the task is only “oil it”"."""
    core, _ = _without_nouns(request, words)
    return bool(core) and core[0].key in request.language.table("task_changes")["copulas"]


def _gaps(phrase: PhrasePattern, tokens: tuple[Token, ...]) -> Iterator[tuple[Token, ...]]:
    """Yield the words in the gap of a phrase that spans all tokens; none if the phrase has no gap."""
    for match in phrase.match(tokens, 0):
        if match.end == len(tokens):
            yield tokens[match.gap_start : match.gap_end] if match.gap_start >= 0 else ()


def _parts(action: str, tokens: tuple[Token, ...]) -> Iterator[tuple[tuple[Token, ...], tuple[Token, ...]]]:
    """Yield the tokens before and after each possible start of the new due date, which other actions lack."""
    if action != "reschedule_task":
        yield tokens, ()
        return
    for cut in range(1, len(tokens)):
        yield tokens[:cut], tokens[cut:]


def parse_due(request: Request, tokens: tuple[Token, ...]) -> str:
    """Parse all tokens as a new due date, a period, or a shift of the present due date.

    "By a week", "a week" and "two days later" are shifts; "the same day" is that of the last change.
    """
    language, dates = request.language, request.dates
    if language.matches_phrase(tokens, "task_changes", "same_day"):
        before = request.dialog.last.last.arguments if request.dialog.last is not None else {}
        day = str(before.get("value", ""))
        return str(before.get("due", day if ISO_DAY.fullmatch(day) else ""))
    after = language.match_prefix(tokens, 0, "task_changes", "by")
    shift = dates.parse_duration(tokens[after:]) or dates.parse_shift(tokens)
    if shift is not None:
        unit, count = shift
        return f"{count:+} {unit}"
    return dates.due_days(tokens) or ""


# The task


def _named_tasks(request: Request, change: _Change) -> list[Task]:
    """Return the tasks that the words mean."""
    language, dialog = request.language, request.dialog
    if not change.words:
        before = dialog.last.last if dialog.last is not None else None
        is_new = before is not None and adds_tasks(before)
        says_it = any(language.has_phrase(request.tokens, name) for name in ("it", "this"))
        is_shown = says_it and before is not None and before.action in ("list_tasks", "reschedule_task")
        is_last = is_new or ((is_shown or change.due == NO_DUE) and len(dialog.tasks) == 1)
        return list(dialog.tasks) if is_last and change.due else []
    words = [token for token in change.words if token.key not in language.words("determiners")]
    if len(words) > 1 and any(language.matches_phrase(words[:1], name) for name in ("it", "them")):
        return []  # "untick it, that was another one"
    if len(words) == 1 and words[0].kind == "quoted":
        text = words[0].value
        known = [task for task in dialog.tasks if task[1].casefold() == text.casefold()]
        return known[:1] or ([("", text)] if not request.vocabulary.notes(text) else [])
    core, has_noun = _without_nouns(request, change.words)
    ordinal = request.set_parser().ordinal_in(core if _says_task(request, change.words) else change.words)
    if ordinal is not None:
        is_listed = -len(dialog.tasks) <= ordinal <= len(dialog.tasks) and ordinal != 0
        return [dialog.tasks[ordinal - 1 if ordinal > 0 else ordinal]] if is_listed else []
    if any(language.matches_phrase(change.words, name) for name in ("it", "this")):
        return _task_of_pronoun(request)
    if language.matches_phrase(change.words, "task_changes", "other"):
        last = _task_of_pronoun(request)
        return [task for task in dialog.tasks if task not in last] if len(last) == 1 else []
    if language.matches_phrase(change.words, "them"):
        return []
    if located := _located_tasks(request, change):
        return located
    if core and language.match_prefix(core, 0, "task_changes", "in") > 0:
        return []  # "the task in Errands", which is no note
    if has_noun:
        qualifiers = language.table("task_changes")["qualifiers"]
        core = tuple(token for token in core if token.key not in qualifiers)
    if not core:
        return (_task_of_pronoun(request) or _task_of_note(request)) if has_noun else []
    text = span_text(request.text, core)
    if found := [task for task in dialog.tasks if task[1].casefold() == text.casefold()]:
        return found[:1]
    if found := [task for task in dialog.tasks if names_task(text, task[1], language.code)]:
        return found
    return [("", text)] if change.is_sure or _says_task(request, change.words) else []


def _tasks_at_position(request: Request, change: _Change) -> list[Reading]:
    """Return the changes of a task by its position, or none.

    "The first one" is the first of several tasks that one request listed or added, and of the note after only
    one.
    """
    dialog = request.dialog
    named, place = split_place(request, change.words)
    qualifiers = request.language.table("task_changes")["qualifiers"]
    described = tuple(token for token in named if token.key not in qualifiers)
    words, _ = _without_nouns(request, described)
    says_task = _says_task(request, described)
    ordinal = request.set_parser().ordinal_in(words if says_task else described) if words else None
    notes = (place,) if place else dialog.it
    follows_one = len(dialog.tasks) == 1 and dialog.last is not None and adds_tasks(dialog.last.last)
    follows_none = (change.is_sure or says_task) and not dialog.tasks and not dialog.has_list
    is_placed = bool(place) and says_task
    if not ordinal or not (follows_one or follows_none or is_placed) or len(notes) != 1:
        return []
    arguments: dict[str, object] = {"due": change.due} if change.due else {}
    step = PipelineStep(change.action, NoteSet(notes=notes), {**arguments, "occurrence": str(ordinal)})
    is_certain = not dialog.asked_about
    return [Reading((step,), _SCORE, language=request.language.code, verb_words=1, is_certain=is_certain)]


def _task_of_pronoun(request: Request) -> list[Task]:
    """Return the task changed last, or else the tasks that were just listed or added."""
    dialog = request.dialog
    last = dialog.last.last if dialog.last is not None and len(dialog.last.steps) == 1 else None
    changed = last.target if last is not None and last.action in TASK_ACTIONS else None
    query = str(last.arguments.get("query", "")) if last is not None else ""
    if dialog.tasks and changed is not None and changed.is_single and query:
        path, text = changed.notes[0], task_facts(query).text
        known = (task for task in dialog.tasks if task[0] == path)
        return [
            next((task for task in known if names_task(text, task[1], request.language.code)), (path, query))
        ]
    return list(dialog.tasks)


def _task_of_note(request: Request) -> list[Task]:
    """Return the task of "the task" without words: that of the note in focus, or else the open note."""
    dialog = request.dialog
    notes = dialog.it or (() if dialog.is_lost else dialog.this)
    return [(notes[0], "")] if len(notes) == 1 else []


def _located_tasks(request: Request, change: _Change) -> list[Task]:
    """Return the tasks that the words name by their note: "the one in H1", "the milk task in H1"."""
    named, path = split_place(request, change.words)
    words = tuple(named)
    core, has_noun = _without_nouns(request, words)
    if path is None or not (core or has_noun):
        return []
    listed = [task for task in request.dialog.tasks if task[0] == path]
    if not core:
        return listed or [(path, NotePath.on_disk(path).name)]
    text = span_text(request.text, core)
    found = [task for task in listed if names_task(text, task[1], request.language.code)]
    return found or ([(path, text)] if change.is_sure or _says_task(request, words) else [])


def split_place(request: Request, tokens: Sequence[Token]) -> tuple[Sequence[Token], str | None]:
    """Return the words before the note that they end with, and the note: "Fix borders from H1"."""
    language = request.language
    for at in range(len(tokens) - 1, -1, -1):
        after = language.match_prefix(tokens, at, "task_changes", "in")
        if not at < after < len(tokens):
            continue
        sets = request.set_parser()
        parsed = sets.parse_reference(tokens[after:]) or sets.find_named(tokens[after:])
        if parsed is not None and parsed.notes.is_single and parsed.notes.notes:
            return trim_marks(tokens[:at]), parsed.notes.notes[0]
    return trim_marks(tokens), None


def _without_nouns(request: Request, words: tuple[Token, ...]) -> tuple[tuple[Token, ...], bool]:
    """Return the words without articles, and without "task" or "one" at either end; and whether one was."""
    language = request.language
    nouns = {*language.table("task_changes")["nouns"], *language.table("new_tasks")["one"]}
    start, end, has_noun = 0, len(words), False
    while start < end and words[start].key in language.words("determiners") | nouns:
        has_noun = has_noun or words[start].key in nouns
        start += 1
    while end > start and words[end - 1].key in nouns:
        has_noun, end = True, end - 1
    return words[start:end], has_noun


def _says_task(request: Request, words: tuple[Token, ...]) -> bool:
    """Return whether the first or last word, besides articles, is a noun such as "task"."""
    language = request.language
    words = tuple(token for token in words if token.key not in language.words("determiners"))
    nouns = language.table("new_tasks")["one"]
    return len(words) > 1 and (words[0].key in nouns or words[-1].key in nouns)


def _all_tasks(request: Request, change: _Change) -> list[Task]:
    """Return the listed tasks if the words mean all of them ("check them off") or the others.

    A due date that moves by some days is that of the tasks that have one.
    """
    language, tasks = request.language, list(request.dialog.tasks)
    if language.matches_phrase(change.words, "task_changes", "others"):
        last = _task_of_pronoun(request)
        tasks = [task for task in tasks if task not in last] if len(last) < len(tasks) else []
    elif not language.matches_phrase(change.words, "them"):
        return []
    is_shift = change.due.startswith(("+", "-"))
    return [task for task in tasks if not is_shift or task_facts(task[1]).due is not None]
