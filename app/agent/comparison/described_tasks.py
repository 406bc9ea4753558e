"""Find the task that the words of a request describe."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from app.agent.comparison.found_notes import FoundNotes
from app.agent.language.grammar.request import Request
from app.agent.language.interpretation.grammar_readings import GUESS_SCORE
from app.agent.language.meaning.clarifications import MAX_OPTIONS, question_about
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    ContentQuestion,
    Interpretation,
    ModelRequired,
    NoteSet,
    Reading,
    Reply,
)
from app.agent.language.tasks.task_matching import TASK_FIELDS, content_words, field_of_tasks, named_parts
from app.agent.language.tasks.task_references import described_tasks, resembles_note
from app.answering.question import stems
from app.index.query_serializer import quote_text

_MIN_STEM = 3
_TASK_END = r"\s*([📅⏳🛫#].*)?$"
"""The pattern of the dates and tags at the end of a task."""
_WORD = re.compile(r"\w+")


class DescribedTasks:
    """Finds the tasks that requests describe by their words.

    Args:
        found: Searches for the notes of tasks.
    """

    def __init__(self, found: FoundNotes) -> None:
        self._found = found

    async def with_described_task(self, interpretation: Interpretation, request: Request) -> Interpretation:
        """Return a question with the change of a task that contains the described words, or the change alone.

        "Mark list supported browsers as done" means a task with exactly this text, and "the decaf proof is
        done" the task "Proof of the decaf bag" of the note in focus. In another note, a task with more words,
        such as that one, is only offered. Other words, or the name of a note, may also be about something
        else, so the task is one of the options.
        """
        is_guess = isinstance(interpretation, Reading) and interpretation.score == GUESS_SCORE
        is_not_understood = isinstance(interpretation, Reply) and not interpretation.understood
        is_open = is_guess or is_not_understood or isinstance(interpretation, ContentQuestion)
        if not is_open and not isinstance(interpretation, Clarification | ModelRequired):
            return interpretation
        changes = described_tasks(request)
        if not changes or not await self._has_described_task(changes, request):
            return interpretation
        known = interpretation.options if isinstance(interpretation, Clarification) else ()
        distinct: dict[tuple[str, frozenset[str]], Reading] = {}
        for change in changes:
            # "Read Dune as" is less like the note Read Dune than "Read Dune".
            key = (change.last.action, frozenset(content_words(str(change.last.arguments["query"]))))
            distinct.setdefault(key, change)
        for change in distinct.values():
            words, field = str(change.last.arguments["query"]), field_of_tasks(change.last.action)
            if note := await self._note_of_tasks(field, named_parts(words, request.language), request.dialog):
                return _in_notes(change, (note,))
            described = await self._with_notes(change, request, has_options=bool(known))
            if described is None:
                continue
            meant, is_certain = described
            if is_certain:
                return replace(meant, is_certain=True)
            if is_guess:
                return interpretation  # the search for the words may find notes
            options = (ClarificationOption(serialize(meant), meant), *known)[:MAX_OPTIONS]
            return Clarification(question_about(options), options)
        return interpretation

    async def _with_notes(
        self, change: Reading, request: Request, *, has_options: bool
    ) -> tuple[Reading, bool] | None:
        """Return a change in the note of the task that its words describe, and whether it must be this task.

        Return None without a task. Other forms of the words are enough only if the request `has_options` or
        is surely about a task, or if the task is in the note in focus.
        """
        words, code = str(change.last.arguments["query"]), request.language.code
        field = field_of_tasks(change.last.action)
        as_said = (await self._found.with_hits(NoteSet(query=f"{field}:{quote_text(words)}"))).notes
        exact = await self._notes_with_tasks(field, [words]) if as_said else ()
        found = as_said or await self._search(_with_words(field, words, code))
        here = tuple(path for path in (*request.dialog.it, *request.dialog.this) if path in found)
        has_words = len(words.split()) > 1 and not resembles_note(request, words)
        is_likely = has_options or bool(as_said or change.is_certain or here)
        if not is_likely or not found or not (has_words or here):
            return None
        if not change.is_certain:
            exact = tuple(path for path in exact if path in here)
        elif len(content_words(words)) > 1 and not exact:
            exact = here[:1] or await self._notes_with_short_task(field, words, code)
        named = tuple(path for path in here if path in exact)[:1] or (exact if len(exact) == 1 else ())
        # A task of the note in focus is meant even if its text is like the name of another note.
        has_words = has_words or bool(here and here[0] in exact and not request.vocabulary.notes(words))
        if has_words and named and here[:1] in ((), named):
            return _in_notes(change, named), True
        return _in_notes(change, here[:1] or (found if len(found) == 1 else ())), False

    async def with_tasks_of_notes(self, interpretation: Interpretation, request: Request) -> Interpretation:
        """Return a list of tasks with some words as that of notes with these words if no task has them.

        Notes with the words in their names or in a linked value precede those with the words in their texts.
        """
        if not isinstance(interpretation, Reading) or len(interpretation.steps) > 1:
            return interpretation
        step = interpretation.last
        words = str(step.arguments.get("query", ""))
        if step.action != "list_tasks" or step.target is not None or not words:
            return interpretation
        field = TASK_FIELDS.get(str(step.arguments.get("state")), "task")
        text = quote_text(words)
        if (await self._found.with_hits(NoteSet(query=f"{field}:({text})"))).notes:
            return interpretation
        linked = (
            request.vocabulary.search_for_values_with(words),
            *request.vocabulary.conditions_on(words),
            f"file:{text}",
        )
        arguments = {name: value for name, value in step.arguments.items() if name != "query"}
        for query in (f"({' OR '.join(filter(None, linked))})", text):
            if (await self._found.with_hits(NoteSet(query=f'{query} {field}:""'))).notes:
                of_notes = replace(step, target=NoteSet(query=query), arguments=arguments)
                return replace(interpretation, steps=(of_notes,))
        return interpretation

    async def _has_described_task(self, changes: Sequence[Reading], request: Request) -> bool:
        """Return whether a task may contain the words of some changes, by one search in the index."""
        queries: dict[str, None] = {}
        for change in changes:
            words, field = str(change.last.arguments["query"]), field_of_tasks(change.last.action)
            queries[_with_words(field, words, request.language.code)] = None
            if len(parts := named_parts(words, request.language)) > 1:
                queries[f"({' '.join(f'{field}:{quote_text(part)}' for part in parts)})"] = None
        return bool(await self._search(" OR ".join(queries)))

    async def _notes_with_short_task(self, field: str, words: str, language: str) -> tuple[str, ...]:
        """Return the notes with a task that contains all content words and has no more words than `words`."""
        others = len(_WORD.findall(words)) - 1
        is_short = rf"/^\W*(\w+\W+){{0,{others}}}\w+{_TASK_END}/"
        return await self._search(_with_words(field, words, language, is_short))

    async def _notes_with_tasks(self, field: str, texts: Sequence[str]) -> tuple[str, ...]:
        """Return the notes with tasks of exactly these texts, perhaps with dates and tags after them."""
        # The full-text index finds the phrase, so that the pattern is matched with few tasks.
        patterns = [re.sub(r"[^\w ]", ".", text) for text in texts]
        return await self._search(
            " ".join(
                f"{field}:({quote_text(text)} /^{pattern}{_TASK_END}/)"
                for text, pattern in zip(texts, patterns, strict=True)
            )
        )

    async def _note_of_tasks(self, field: str, parts: list[str], state: DialogState) -> str:
        """Return the note in focus, or else the only one, that has each of several tasks; "" without one."""
        notes = await self._notes_with_tasks(field, parts) if len(parts) > 1 else ()
        here = next((path for path in (*state.it, *state.this) if path in notes), "")
        return here or (notes[0] if len(notes) == 1 else "")

    async def _search(self, query: str) -> tuple[str, ...]:
        return (await self._found.with_hits(NoteSet(query=query))).notes


def _in_notes(change: Reading, notes: tuple[str, ...]) -> Reading:
    """Return the change of a task in some notes, or in any without them."""
    return replace(change, steps=(replace(change.last, target=NoteSet(notes=notes) if notes else None),))


def _with_words(field: str, words: str, language: str, pattern: str = "") -> str:
    """Return the search for a task with all content words, perhaps in other forms, that matches a pattern."""
    beginnings = []
    for word in sorted(content_words(words)):
        stem = next(iter(stems(word, language)), word)
        shared = takewhile(lambda pair: pair[0] == pair[1], zip(word, stem, strict=False))
        start = "".join(letter for letter, _ in shared)
        beginnings.append(f"{start}*" if len(start) >= _MIN_STEM else quote_text(word))
    parts = " ".join(beginnings) or quote_text(words)
    return f"{field}:({parts} {pattern})" if pattern else f"{field}:({parts})"
