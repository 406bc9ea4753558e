"""Recognize the changes of tasks that run although the grammar does not expect them, or that come first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from app.agent.language.changes.line_removals import TASK
from app.agent.language.grammar.questions import is_question
from app.agent.language.grammar.request import Request, without_marks_at_end, writes
from app.agent.language.interpretation.grammar_readings import GUESS_SCORE
from app.agent.language.meaning.actions import TASK_ACTIONS
from app.agent.language.meaning.clarifications import with_readings_first
from app.agent.language.meaning.readings import (
    Clarification,
    NoteSet,
    PipelineStep,
    Reading,
)
from app.agent.language.tasks.task_matching import content_words, share_of_task
from app.agent.language.tasks.task_references import described_tasks, parse_due, says_done
from app.agent.language.words.dates import ISO_DAY
from app.agent.language.words.tokens import Token
from app.answering.question import stems, stop_words
from app.index.records import TaskRecord
from app.vault.markdown.tasks import task_facts

_ONE_WORD = 0.7
"""The weight of a word of which a task contains only another form, and the least share of a task's words."""
_TWO_WORDS = 2 * _ONE_WORD
"""How many words a statement shares with its task, and an order to tick one that is not in talk."""
_HALF = 0.5
"""How much of the weight of the meant task another one may have at most."""
_RIVALS = (*TASK_ACTIONS, "set_property", "move", "rename")
"""The changes that a request for a task may mean instead."""
_ORDERS = (*TASK_ACTIONS, "happened", "moved", "leads", "endings", "done_leads")


@dataclass(frozen=True, slots=True)
class _Meant:
    """The only task that a request can mean.

    Args:
        task: The task.
        in_talk: Whether it was listed, or its note is on the screen or was the last one.
        weight: How many of the words of the request it contains.
        words: These words, and the others that may describe a task.
        is_unique: Whether no other task of the vault has many of these words.
    """

    task: TaskRecord
    in_talk: bool
    weight: float
    words: frozenset[str]
    is_unique: bool

    @property
    def share(self) -> float:
        """The share of the words that the task contains."""
        return self.weight / len(self.words)


def with_meant_task(
    question: Clarification, request: Request, tasks: Sequence[TaskRecord]
) -> Reading | Clarification:
    """Return the change of the only task that a request can mean, or the question with it first.

    The request says to tick a task ("called the port, tick that"), that it is done ("the hotel is booked"),
    or its new day. A change runs if the request has an order for it, or has only words of a task in talk.

    Args:
        question: The question, perhaps without options.
        request: The request.
        tasks: The open tasks of the vault.
    """
    first = question.options[0].reading if question.options else None
    if (first is not None and len(first.steps) > 1) or not _may_change(request):
        return question
    ticks, deletes = _ticks(request), _deletes(request)
    asks = request.text.rstrip().endswith("?") or (is_question(request) and not ticks)
    if asks or (meant := _meant_task(request, tasks)) is None:
        return question
    due = "" if ticks or deletes else _new_day(question, request, meant.task)
    text = {"old": meant.task.text, "whole": TASK} if deletes else {"query": meant.task.text}
    action = "remove_text" if deletes else "reschedule_task" if due else "complete_task"
    note = NoteSet(notes=(str(meant.task.path),))
    step = PipelineStep(action, note, text | ({"due": due} if due else {}))
    fits = ticks or deletes or (first is not None and first.last.action == step.action)
    if not fits and meant.in_talk:
        is_lookup = first is None or not request.writes(first)
        least = _HALF if _is_order(request, meant, step) else _ONE_WORD if is_lookup else inf
        fits = meant.share >= least if due else is_lookup and _states(request, meant)
    conditions = request.language.table("task_changes")["conditions"]
    is_open = step.action == "complete_task" and any(own.key in conditions for own in request.tokens)
    if step.action not in request.allowed or is_open or not fits:
        return question
    known = next((own.reading for own in question.options if own.reading.steps == (step,)), None)
    reading = known or Reading((step,), GUESS_SCORE, language=request.language.code)
    offered = [own.reading for own in question.options + question.spare]
    others = [own.last for own in offered if own.steps != (step,)]
    if not deletes and _is_sure(request, meant, step, others, ticks=ticks):
        return reading
    return with_readings_first(question, [reading])


def _may_change(request: Request) -> bool:
    """Return whether a request neither doubts nor denies a change, and does not reopen a task."""
    language, keys = request.language, {token.key for token in request.tokens}
    doubts = {*language.table("doubts")["hedges"], *language.table("task_changes")["denials"]}
    is_denied = not keys.isdisjoint(doubts | language.words("negations"))
    is_denied = is_denied or language.has_phrase(request.tokens, "undo", "except")
    return (not is_denied or _deletes(request)) and all(
        own.last.action != "reopen_task" for own in described_tasks(request)
    )


def _ticks(request: Request) -> bool:
    """Return whether a request begins or ends with an order to tick something."""
    language, tokens = request.language, without_marks_at_end(request.tokens)
    ticks, clause = language.table("doubts")["task_changes"], _last_clause(tokens)
    starts = range(max(0, len(tokens) - 5), len(tokens))
    is_phrase = any(language.matches_phrase(tokens[at:], "compound_requests", "completions") for at in starts)
    is_done = clause != tokens and language.matches_phrase(clause, "task_changes", "done_leads")
    ends = () if is_question(request) else tokens[-3:]
    return is_phrase or is_done or any(token.key in ticks for token in (*tokens[:1], *ends))


def _deletes(request: Request) -> bool:
    """Return whether a request ends with an order to delete a task: "no bread today, delete that task"."""
    language, clause = request.language, _last_clause(without_marks_at_end(request.tokens))
    verb = language.match_prefix(clause, 0, "line_removals", "verbs")
    noun = language.after_determiners(clause, verb)
    return verb > 0 and language.matches_phrase(clause[noun:], "line_removals", "tasks")


def _last_clause(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    return tokens[max((at for at, token in enumerate(tokens) if token.kind == "mark"), default=-1) + 1 :]


def _meant_task(request: Request, tasks: Sequence[TaskRecord]) -> _Meant | None:
    """Return the task that has more words of the request than any other one; None without one.

    Listed tasks precede those of the notes in talk, and these those of other notes. The last clause decides
    if it has words of a task: "Jo can't do the 27th, make the stitches the 26th".
    """
    dialog, tokens, code = request.dialog, request.tokens, request.language.code
    listed = {(path, task_facts(text).text) for path, text in dialog.tasks}
    notes = {*dialog.it, *dialog.this, *(path for path, _ in dialog.tasks)}
    groups = [
        [own for own in tasks if (str(own.path), task_facts(own.text).text) in listed],
        [own for own in tasks if str(own.path) in notes],
        tasks,
    ]
    for part in dict.fromkeys((_last_clause(tokens), tokens)):
        words = _words_for_task(request, part)
        for group in groups:
            weights = [len(words) * share_of_task(words, str(own.path), own.text, code) for own in group]
            best, second, *_ = (*sorted(weights, reverse=True), 0.0, 0.0)
            if best >= _ONE_WORD:
                task = group[weights.index(best)]
                others = (share_of_task(words, str(own.path), own.text, code) for own in tasks if own != task)
                rival = max(others, default=0.0) * len(words)
                if rival > best:
                    continue
                is_unique = rival <= _HALF * best
                meant = _Meant(task, group is not tasks, best, frozenset(words), is_unique)
                return meant if second <= _HALF * best else None
    return None


def _words_for_task(request: Request, tokens: tuple[Token, ...]) -> set[str]:
    """Return the words of a request besides orders, days and function words."""
    language = request.language
    orders = {*language.words("task_nouns"), *language.table("doubts")["task_changes"]}
    for phrases in (*(("task_changes", name) for name in _ORDERS), ("compound_requests", "completions")):
        orders.update(*(phrase.words for phrase in language.phrases(*phrases)))
    days = {
        token.key for own in request.mentions(request.tokens) if own.kind == "date" for token in own.tokens
    }
    # "The 29th" is a day only after a task.
    due = next((at for at in range(1, len(tokens)) if parse_due(request, tokens[at:])), len(tokens))
    said = [token.value for token in tokens[:due] if token.key not in days]
    return content_words(" ".join(said)) - orders


def _new_day(question: Clarification, request: Request, task: TaskRecord) -> str:
    """Return the new due date that a request gives a task; an empty text for another request."""
    moves = [own.last for own in described_tasks(request) if own.last.action == "reschedule_task"]
    offered = [own.reading.last for own in question.options[:1]]
    moves += [own for own in offered if own.action == "reschedule_task"]
    due = next((str(own.arguments["due"]) for own in moves if "due" in own.arguments), "")
    is_shift = due[:1] in ("+", "-") and task_facts(task.text).due is not None
    return due if is_shift or ISO_DAY.fullmatch(due) else ""


def _states(request: Request, meant: _Meant) -> bool:
    """Return whether a request states something that may have completed a task.

    It has a verb ("the port has called back"), or words of the task in other forms: "ferns watered".
    """
    language, keys = request.language, [token.key for token in request.tokens]
    verbs = {*language.table("doubts")["asking_verbs"], *language.table("added_lines")["subjects"]}
    is_form = _ONE_WORD <= meant.share < 1
    is_open = not {*language.table("task_changes")["unfinished"]}.isdisjoint(keys)
    is_order = keys[0] in language.verbs() and not says_done(request)
    is_statement = is_form or not verbs.isdisjoint(keys)
    return meant.weight >= _TWO_WORDS and is_statement and not (is_open or is_order)


def _is_sure(
    request: Request, meant: _Meant, step: PipelineStep, others: Sequence[PipelineStep], *, ticks: bool
) -> bool:
    """Return whether a change runs without a question: the request orders it, or is about nothing else."""
    language, first = request.language, request.tokens[0].key
    is_order = ticks or _is_order(request, meant, step)
    is_known = meant.in_talk or meant.weight >= _TWO_WORDS
    if ticks:
        verbs = language.verbs() - {*language.table("doubts")["task_changes"]}
        is_like = (meant.in_talk or meant.share >= _HALF) and not _means_other_task(request, meant)
        is_sure = is_known and is_like and first not in verbs
    elif is_order:
        is_sure = is_known and (meant.share > _HALF if meant.in_talk else meant.share >= _ONE_WORD)
    else:
        is_sure = meant.in_talk and _is_whole(request, meant)
    rivals = TASK_ACTIONS if ticks else _RIVALS if is_order else request.allowed
    changes = (own for own in others if own.action in rivals and writes(request.allowed, own.action))
    return is_sure and (ticks or meant.is_unique) and all(_is_like(own, step) for own in changes)


def _is_like(step: PipelineStep, change: PipelineStep) -> bool:
    """Return whether a step changes nothing else than a change does.

    A note or folder of the new day is not meant, and neither is a task of another note.
    """
    day = change.arguments.get("due", "")
    if step.action == "undo" or day in (step.arguments.get("name"), step.arguments.get("folder")):
        return True
    is_vague = step.target is None or "query" not in step.arguments
    is_same = is_vague or step.target != change.target or step.arguments.get("due", day) == day
    return step.action in TASK_ACTIONS and is_same


def _is_order(request: Request, meant: _Meant, step: PipelineStep) -> bool:
    """Return whether a request says that a task is done, or gives its new day with a verb or "due"."""
    last, language = request.dialog.last, request.language
    is_described = any(own.is_certain and own.last.action == step.action for own in described_tasks(request))
    if step.action == "reschedule_task":
        continues = last is not None and last.last.action == step.action
        is_past = language.has_phrase(request.tokens, "property_values", "past_cues")  # "it was due Friday"
        is_moved = language.has_phrase(request.tokens, "task_changes", "moved")
        return is_moved or ((is_described or continues) and not is_past)
    # "Finish chapter 2" may be another task, and so may "I have finished the new ropes" in another note.
    verb = {*stems(meant.task.text, language.code)[:1]}
    is_same = meant.in_talk or verb <= {*stems(request.text, language.code)}
    return is_described and is_same and request.tokens[0].key not in language.verbs()


def _means_other_task(request: Request, meant: _Meant) -> bool:
    """Return whether a request has the verb of a task, but other words: "asked Ann for milk", not for tea."""
    task, code, narrating = meant.task, request.language.code, request.language.words("narrating")
    verb = next((own.key for own in request.tokens if own.key not in narrating), "")
    shares = (share_of_task([word], str(task.path), task.text, code) for word in meant.words)
    is_same = stems(verb, code) == stems(task.text, code)[:1] and not task.text.casefold().startswith(verb)
    return is_same and not all(shares)


def _is_whole(request: Request, meant: _Meant) -> bool:
    """Return whether a statement has only words of a task and ends with its verb: "the hotel is booked"."""
    code, tokens = request.language.code, without_marks_at_end(request.tokens)
    is_stated = any(own.last.action == "complete_task" for own in described_tasks(request))
    known, plain = {*stems(meant.task.text, code)}, request.language.table("task_changes")["plain_words"]
    last = tokens[-1].key
    is_verb = last not in stop_words(code) and {*stems(last, code)} <= known
    # "Last year's hotel" may be another one.
    is_plain = all(own.key in plain or known.issuperset(stems(own.key, code)) for own in tokens)
    return is_stated and is_verb and is_plain and len({last, *meant.words}) > 1
