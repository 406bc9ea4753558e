"""Recognize the changes of tasks that run although the grammar does not expect them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.agent.language.grammar.questions import question_language
from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.interpretation.grammar_readings import GUESS_SCORE
from app.agent.language.meaning.actions import TASK_ACTIONS
from app.agent.language.meaning.readings import Clarification, NoteSet, PipelineStep, Reading
from app.agent.language.tasks.task_matching import content_words, share_of_task
from app.agent.language.tasks.task_references import described_tasks, parse_due
from app.agent.language.words.dates import ISO_DAY
from app.agent.language.words.lexicon import languages
from app.answering.question import stems, stop_words
from app.index.records import TaskRecord

_WORD = re.compile(r"[^\W\d_]+")
_MIN_SHARE = 0.7
_MIN_SHARE_IN_TALK = 0.6
_MIN_SHARE_TO_TICK = 0.5
_MIN_WORDS_TO_TICK = 1.4
"""How many of the words of an order to tick a task it contains that is not in talk."""
_MIN_LEAD = 0.2
"""How much more of the words the meant task contains than any other one."""
_RIVALS = (*TASK_ACTIONS, "set_property", "move", "rename")
"""The changes that a request for a task may mean instead."""
_ORDERS = (*TASK_ACTIONS, "happened", "moved", "leads", "endings")


def plain_task_change(
    question: Clarification, request: Request, tasks: Sequence[TaskRecord]
) -> Reading | None:
    """Return the first option if it changes the only task that the request can mean; otherwise None.

    The request says to tick a task ("called the port, tick that"), that it is done, or its new day. A
    statement without such an order must be about a task in talk and have all of its words: "the hotel is
    booked" for "Book the hotel".

    Args:
        question: The question, whose options contain the texts of tasks.
        request: The request.
        tasks: The open tasks of the vault.
    """
    reading, *others = [option.reading for option in question.options]
    step, dialog = reading.last, request.dialog
    if len(reading.steps) > 1 or step.action not in ("complete_task", "reschedule_task"):
        return None
    if question_language(request.text, languages()) is not None or _is_in_doubt(request):
        return None
    words, code = _words_for_task(request), request.language.code
    ticks = step.action == "complete_task" and _ticks(request)
    shares = [share_of_task(words, str(task.path), task.text, code) for task in tasks]
    best, second, *_ = (*sorted(shares, reverse=True), 0.0, 0.0)
    task = tasks[shares.index(best)] if words and best - second >= _MIN_LEAD else None
    if task is None or not _changes(step, task):
        return None
    path = str(task.path)
    in_talk = path in (*dialog.it, *dialog.this) or any(path == own for own, _ in dialog.tasks)
    if _asks(request) and not ticks:
        return None
    is_order = ticks or _is_order(request, step)
    rivals = TASK_ACTIONS if ticks else _RIVALS if is_order else request.allowed
    changes = (own.last for own in others if own.last.action in rivals and request.writes(own))
    if not all(_is_like(own, step) for own in changes):
        return None
    if ticks and best >= _MIN_SHARE_TO_TICK:
        return reading if in_talk or best * len(words) >= _MIN_WORDS_TO_TICK else None
    if is_order and not in_talk and step.action == "complete_task":
        # "I have finished the new ropes" is hardly about "Order new ropes".
        is_order = {*stems(task.text, code)[:1]} <= {*stems(request.text, code)}
    if is_order:
        return reading if best >= (_MIN_SHARE_IN_TALK if in_talk else _MIN_SHARE) else None
    return reading if in_talk and _states(request, words, task) else None


def stated_task(request: Request, tasks: Sequence[TaskRecord]) -> Reading | None:
    """Return the completion of the only task in talk of which a statement says that it has happened.

    The statement has only words of the task, and its verb in another form: "abstract's submitted" for "Submit
    the abstract".
    """
    language, dialog = request.language, request.dialog
    if question_language(request.text, languages()) is not None or _is_in_doubt(request):
        return None
    said = {*_WORD.findall(request.text.casefold())} - stop_words(language.code)
    in_talk = {*dialog.it, *dialog.this, *(path for path, _ in dialog.tasks)}
    found = []
    for task in tasks:
        own = _WORD.findall(task.text.casefold())
        others = {*stems(task.text, language.code)}
        is_whole = len(said) > 1 and all(others.issuperset(stems(word, language.code)) for word in said)
        if is_whole and not said.issubset(own) and str(task.path) in in_talk:
            found.append(task)
    if len(found) != 1 or "complete_task" not in request.allowed:
        return None
    step = PipelineStep("complete_task", NoteSet(notes=(str(found[0].path),)), {"query": found[0].text})
    return Reading((step,), GUESS_SCORE, language=language.code)


def _is_in_doubt(request: Request) -> bool:
    language, keys = request.language, {token.key for token in request.tokens}
    doubts = {*language.table("doubts")["hedges"], *language.table("task_changes")["denials"]}
    return not keys.isdisjoint(doubts | language.words("negations"))


def _words_for_task(request: Request) -> set[str]:
    """Return the words of a request besides orders, days and function words."""
    language = request.language
    orders = set(language.words("task_nouns"))
    for phrases in (*(("task_changes", name) for name in _ORDERS), ("compound_requests", "completions")):
        orders.update(*(phrase.words for phrase in language.phrases(*phrases)))
    tokens, dates = request.tokens, [own for own in request.mentions(request.tokens) if own.kind == "date"]
    days = {token.key for mention in dates for token in mention.tokens}
    # "The 29th" is a day only after a task.
    due = next((at for at in range(1, len(tokens)) if parse_due(request, tokens[at:])), len(tokens))
    said = [token.value for token in tokens[:due] if token.key not in days]
    return content_words(" ".join(said)) - orders


def _changes(step: PipelineStep, task: TaskRecord) -> bool:
    is_note = step.target is not None and step.target.notes == (str(task.path),)
    due = str(step.arguments.get("due", ""))
    is_day = not due or ISO_DAY.fullmatch(due) is not None
    return is_note and step.arguments.get("query") == task.text and is_day


def _is_like(step: PipelineStep, change: PipelineStep) -> bool:
    """Return whether a step changes nothing else than a change does.

    A note or folder of the new day is not meant.
    """
    day = change.arguments.get("due", "")
    if step.action == "undo" or day in (step.arguments.get("name"), step.arguments.get("folder")):
        return True
    if step.action in TASK_ACTIONS and "query" not in step.arguments:
        return True
    roles = [
        role
        for role in ("query", "due")
        if step.arguments.get(role, change.arguments.get(role)) != change.arguments.get(role)
    ]
    return step.action in TASK_ACTIONS and step.target == change.target and not roles


def _ticks(request: Request) -> bool:
    """Return whether a request begins or ends with an order to tick something."""
    language, tokens = request.language, without_marks_at_end(request.tokens)
    ticks = language.table("doubts")["task_changes"]
    starts = range(max(0, len(tokens) - 5), len(tokens))
    is_phrase = any(language.matches_phrase(tokens[at:], "compound_requests", "completions") for at in starts)
    ends = () if _asks(request) else tokens[-3:]
    return is_phrase or any(token.key in ticks for token in (*tokens[:1], *ends))


def _asks(request: Request) -> bool:
    """Return whether a request without a question mark may be a question: "did I order the bearings"."""
    return request.tokens[0].key in request.language.table("doubts")["asking_verbs"]


def _is_order(request: Request, step: PipelineStep) -> bool:
    """Return whether a request says that a task is done, or gives its new day with a verb or "due"."""
    last, language = request.dialog.last, request.language
    if any(own.is_certain and own.last.action == step.action for own in described_tasks(request)):
        # "Finish chapter 2" may be another task.
        return step.action != "complete_task" or request.tokens[0].key not in language.verbs()
    is_moved = language.has_phrase(request.tokens, "task_changes", "moved")
    continues = last is not None and last.last.action == step.action
    return step.action == "reschedule_task" and (is_moved or continues)


def _states(request: Request, words: set[str], task: TaskRecord) -> bool:
    """Return whether a statement has only words of a task and ends with its verb: "the hotel is booked"."""
    code, tokens = request.language.code, without_marks_at_end(request.tokens)
    is_stated = any(own.last.action == "complete_task" for own in described_tasks(request))
    known = {*stems(task.text, code)}
    said = [
        token
        for token in tokens
        if token.key not in stop_words(code) and known.issuperset(stems(token.key, code))
    ]
    is_whole = all(known.issuperset(stems(word, code)) for word in words)
    return is_stated and is_whole and len(said) > 1 and tokens[-1] is said[-1]
