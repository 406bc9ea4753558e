"""Recognize the changes of tasks that run although the grammar does not expect them, or that come first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from operator import itemgetter

from app.agent.language.changes.line_removals import TASK
from app.agent.language.grammar.questions import is_question
from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.interpretation.grammar_readings import GUESS_SCORE
from app.agent.language.meaning.actions import TASK_ACTIONS
from app.agent.language.meaning.clarifications import with_readings_first
from app.agent.language.meaning.readings import (
    Clarification,
    NoteSet,
    PipelineStep,
    Reading,
)
from app.agent.language.tasks.new_tasks import adds_tasks
from app.agent.language.tasks.task_matching import content_words, share_of_task, word_stems
from app.agent.language.tasks.task_references import described_tasks, parse_due, says_done
from app.agent.language.words.courtesies import without_courtesies
from app.agent.language.words.dates import ISO_DAY
from app.agent.language.words.tokens import Token
from app.agent.language.words.vault_words import name_parts
from app.answering.question import stems, stop_words
from app.index.records import TaskRecord
from app.vault.markdown.tasks import task_facts
from app.vault.path import name_key

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

    def is_whole(self, language: str) -> bool:
        """Return whether the task contains all words, perhaps in other forms."""
        known = word_stems(self.task.text, language)
        return all(word_stems(word, language) <= known for word in self.words)


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
    due = "" if ticks or deletes else _new_day(question, request, meant)
    text = {"old": meant.task.text, "whole": TASK} if deletes else {"query": meant.task.text}
    action = "remove_text" if deletes else "reschedule_task" if due else "complete_task"
    note = NoteSet(notes=(str(meant.task.path),))
    step = PipelineStep(action, note, text | ({"due": due} if due else {}))
    fits = ticks or deletes or (first is not None and first.last.action == step.action)
    if not fits and meant.in_talk:
        is_lookup = first is None or not request.writes(first)
        is_lookup = is_lookup or (bool(due) and first is not None and first.last.action in TASK_ACTIONS)
        is_whole = _is_whole(request, meant, step)
        least = _HALF if is_whole or _is_order(request, meant, step) else _ONE_WORD if is_lookup else inf
        fits = meant.share >= least if due else is_lookup and (is_whole or _states(request, meant))
    if first is not None and adds_tasks(first.last) and not (ticks or deletes):
        fits = bool(due) and meant.is_whole(request.language.code)
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
                in_talk, rival = group is not tasks, max(others, default=0.0) * len(words)
                if rival > best:
                    continue
                is_unique = rival <= _HALF * best or (in_talk and round(best - rival, 1) >= _ONE_WORD)
                meant = _Meant(task, in_talk, best, frozenset(words), is_unique)
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
    before, _ = next(_before_day(replace(request, tokens=tokens)), (tokens[:due], ""))
    said = [token for token in before if token.key not in days]
    # "The skip" is no order.
    nouns = {noun.key for lead, noun in pairwise(said) if lead.key in language.words("determiners")}
    nouns -= {*stop_words(language.code), *language.words("task_nouns"), *language.words("adjectives")}
    return (content_words(" ".join(token.value for token in said)) - orders) | nouns


def _new_day(question: Clarification, request: Request, meant: _Meant) -> str:
    """Return the new due date that a request gives a task; an empty text for another request."""
    moves = [own.last for own in described_tasks(request) if own.last.action == "reschedule_task"]
    offered = [own.reading.last for own in question.options]
    first = offered[:1] if request.tokens[0].key in request.language.verbs() else offered
    moves += [own for own in first if own.action == "reschedule_task"]
    due = next((str(own.arguments["due"]) for own in moves if "due" in own.arguments), "")
    due = due or (_whole_day(request, meant) if meant.in_talk else "")
    is_shift = due[:1] in ("+", "-") and task_facts(meant.task.text).due is not None
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
        is_sure = meant.in_talk and _is_whole(request, meant, step)
    changes = (own for own in others if own.action in (TASK_ACTIONS if ticks else _RIVALS))
    is_rivaled = any(not _is_like(own, step) and _is_said(request, own) for own in changes)
    words, path = [*meant.words], (str(meant.task.path),)
    is_move = step.action == "reschedule_task" and len(words) == 1
    is_note = is_move and request.vocabulary.notes(words[0]) not in ((), path)
    return is_sure and (ticks or meant.is_unique) and not (is_rivaled or is_note)


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
        words = without_courtesies(language, request.tokens)  # "can you move the talk to the 31st"
        moves = language.phrases("task_changes", "reschedule_task") if words != request.tokens else ()
        is_moved = language.has_phrase(request.tokens, "task_changes", "moved")
        is_moved = is_moved or any(own.longest_match(words, 0) for own in moves if words)
        return is_moved or ((is_described or continues) and not is_past)
    # "Finish chapter 2" may be another task, and so may "I have finished the new ropes" in another note.
    verb = word_stems(meant.task.text.split()[0], language.code)
    is_same = meant.in_talk or verb <= word_stems(request.text, language.code)
    return is_described and is_same and request.tokens[0].key not in language.verbs()


def _means_other_task(request: Request, meant: _Meant) -> bool:
    """Return whether a request has the verb of a task, but other words: "asked Ann for milk", not for tea."""
    task, code, narrating = meant.task, request.language.code, request.language.words("narrating")
    verb = next((own.key for own in request.tokens if own.key not in narrating), "")
    shares = (share_of_task([word], str(task.path), task.text, code) for word in meant.words)
    is_same = stems(verb, code) == stems(task.text, code)[:1] and not task.text.casefold().startswith(verb)
    return is_same and not all(shares)


def _is_said(request: Request, step: PipelineStep) -> bool:
    """Return whether a request names the known property that a step sets; True for other steps."""
    words, key = {token.key for token in request.tokens}, str(step.arguments.get("key", ""))
    is_known = request.vocabulary.find_property(key) is not None
    return step.action != "set_property" or (is_known and bool(words & name_parts(name_key(key))))


def _is_whole(request: Request, meant: _Meant, step: PipelineStep) -> bool:
    """Return whether a request has only words of a task and its new day, or says that it is done.

    "The hotel is booked" ends with another form of a word of the task, and "sent the agenda" begins with one.
    """
    language, code, text = request.language, request.language.code, meant.task.text
    known, table = word_stems(text, code), language.table("task_changes")
    tokens = [token for token in request.tokens if token.kind != "mark"]
    if step.action == "reschedule_task":
        return _whole_day(request, meant) != ""
    if not meant.is_whole(code) or not _is_plain(tokens, known, {*table["plain_words"]}, code):
        return False
    words = [word.strip(",.;:") for word in text.casefold().split()]
    said = [own.key for own in tokens if own.key not in {*table["plain_words"], *stop_words(code)}]
    is_stated = any(own.last.action == "complete_task" for own in described_tasks(request))
    is_done = is_stated and said != [] and (said[-1] not in words or said[-1] == words[0])
    begins = said != [] and said[0] not in words and word_stems(said[0], code) == word_stems(words[0], code)
    has_obtained = any(own.key in table["obtained"] for own in tokens)
    if has_obtained and not {*words}.isdisjoint(table["obtain"]):
        return True
    return (is_done or begins) and len({*said, *meant.words}) > 1


def _whole_day(request: Request, meant: _Meant) -> str:
    """Return the day that a request gives a task with nothing but words of the task, or an empty text."""
    code, language = request.language.code, request.language
    plain = {*language.table("task_changes")["plain_words"]} - {*language.table("doubts")["asking_verbs"]}
    known = word_stems(meant.task.text, code)
    # "The hotel is on Friday" says when it is needed.
    days = (due for words, due in _before_day(request) if _is_plain(words, known, plain, code))
    return next(days, "") if meant.is_whole(code) else ""


def _is_plain(tokens: Sequence[Token], known: Collection[str], plain: Collection[str], code: str) -> bool:
    """Return whether all words are plain ones or some of a task: "last year's hotel" may be another one."""
    return all(own.key in plain or word_stems(own.key, code) <= {*known} for own in tokens)


def _before_day(request: Request) -> Iterator[tuple[tuple[Token, ...], str]]:
    """Yield the words before the new day of a task and the day, in the whole request or one of its clauses.

    The last clause begins with an order: "Jo can't do the 27th, make the stitches the 26th".
    """
    language, tokens = request.language, without_marks_at_end(request.tokens)
    mark = next((at for at, token in enumerate(tokens) if token.kind == "mark"), len(tokens))
    last = _last_clause(tokens)
    parts = (tokens, tokens[:mark], last[1:] if last != tokens and last[0].key in language.verbs() else ())
    for part in dict.fromkeys(parts):
        ends = (at for at in (len(part) - 2, len(part) - 1) if at > 0)
        ends = (at for at in ends if language.matches_phrase(part[at:], "task_changes", "endings"))
        end = next(ends, len(part))
        found = ((at, parse_due(request, part[at:end])) for at in range(1, end))
        at, due = next(filter(itemgetter(1), found), (0, ""))
        days = sum(own.kind == "date" for own in request.mentions(tokens if part != parts[2] else part))
        if due and days <= 1:
            yield tuple(token for token in part[:at] if token.kind != "mark"), due
