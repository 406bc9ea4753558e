"""Find the edits that remove whole lines and tasks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from app.agent.generic_formatting import wikilink
from app.agent.language.changes.line_removals import TASK
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    NoteSet,
    PipelineStep,
    Reading,
)
from app.agent.language.tasks.task_matching import TASK_BOX, content_words, names_task, task_text
from app.agent.language.words.dates import DateParser
from app.agent.language.words.lexicon import Language
from app.agent.language.words.task_texts import task_line
from app.agent.pipeline.host import Arguments
from app.agent.pipeline.note_search import NoteSearch
from app.agent.pipeline.note_texts import lines_of, read_whole
from app.agent.pipeline.run_state import RunState
from app.agent.pipeline.task_questions import MAX_CHOICES, ask_for_task_elsewhere
from app.agent.pipeline.text_edits import item_text, line_removal
from app.agent.pipeline.tool_calls import ToolCalls
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.tasks import task_facts

_MAX_LINE_WORDS = 12
_MIN_CITED_WORDS = 4


class LineRemovals:
    """Finds the calls that remove the line, or the task, with a text from notes.

    Args:
        tools: Reads the notes, and tells the user why there are no calls.
        search: Searches for tasks in other notes.
        state: The state of the dialog, for a question about several lines.
        language: The language of the request.
        now: Returns the current time.
    """

    def __init__(
        self,
        tools: ToolCalls,
        search: NoteSearch,
        state: RunState,
        language: Language,
        now: Callable[[], datetime],
    ) -> None:
        self._tools = tools
        self._search = search
        self._state = state
        self._language = language
        self._now = now

    async def calls(self, step: PipelineStep, paths: tuple[str, ...]) -> list[Arguments] | None:
        """Return the calls that remove the line, or the task, with a text from each note.

        Tell the user if a note has none; ask if several lines have the text. Then return None.
        """
        words, is_task = str(step.arguments["old"]), step.arguments["whole"] == TASK
        number = int(str(step.arguments.get("occurrence") or 0))
        calls: list[Arguments] = []
        for path in paths:
            whole = await read_whole(self._tools, path)
            if whole is None:
                return None
            found = self._lines(whole, words, only_tasks=is_task)
            if not found:
                hits = await self._search.search_all('task:""') if is_task and len(paths) == 1 else None
                if not (hits and ask_for_task_elsewhere(self._state, step, hits, paths)):
                    kind = "task" if is_task else "line"
                    self._tools.say(f"No {kind} in {wikilink(path)} contains “{words}”. Nothing was changed.")
                return None
            found = found[number - 1 : number] or found if number else found
            line, at = found[0]
            is_doubtful = not number and _is_doubtful_line(line, words, self._language.code, is_task=is_task)
            if len(found) > 1 or is_doubtful:
                self._ask_for_line(step, path, [line for line, _ in found])
                return None
            calls.append(line_removal(path, whole, line, at))
        return calls

    def _lines(self, text: str, words: str, *, only_tasks: bool) -> list[tuple[str, int]]:
        """Return the lines of a note that words describe, each with its position."""
        dates = DateParser(self._language, self._now())
        first, _, rest = words.partition(" ")
        without_article = rest if first.casefold() in self._language.words("determiners") else words
        # "Call Ann, due 4 December" may be written as a task with a due date.
        as_task = task_text(task_line(words, self._language, dates))
        lines = [
            (line, at)
            for line, at in lines_of(text, read_frontmatter(text).body_start)
            if not only_tasks or TASK_BOX.match(line)
        ]
        for known in filter(None, (words, as_task, without_article)):
            if found := _lines_with(lines, known):
                return found
        # The words may be in another order, or in other forms.
        return [(line, at) for line, at in lines if names_task(words, line, self._language.code)]

    def _ask_for_line(self, step: PipelineStep, path: str, lines: Sequence[str]) -> None:
        """Ask which of some lines of a note is meant."""
        of_note = replace(step, target=NoteSet(notes=(path,)))
        options = [
            ClarificationOption(
                line.strip(),
                Reading((of_note.with_argument("occurrence", str(at)),), 1.0, language=self._language.code),
            )
            for at, line in enumerate(lines[:MAX_CHOICES], 1)
        ]
        self._state.question = Clarification("Which line do you mean?", tuple(options))


def _is_doubtful_line(line: str, words: str, language: str, *, is_task: bool) -> bool:
    """Return whether a line is perhaps not the one that words describe.

    That is a line with only parts of words ("gold" for "old"), a heading, or a paragraph.
    """
    if words.casefold() in (line.strip().casefold(), item_text(line).casefold()):
        return False
    starts = [
        re.compile(rf"(?<!\w){re.escape(own)}", re.IGNORECASE) for own in content_words(words) or (words,)
    ]
    if not all(start.search(line) for start in starts) and not names_task(words, line, language):
        return True
    is_paragraph = item_text(line) == line.strip() and len(line.split()) > _MAX_LINE_WORDS
    is_cited = len(words.split()) >= _MIN_CITED_WORDS
    return not is_task and (line.lstrip().startswith("#") or (is_paragraph and not is_cited))


def _lines_with(lines: Sequence[tuple[str, int]], words: str) -> list[tuple[str, int]]:
    """Return the lines with some words, in any case; if possible, only those with nothing else."""
    item = words.casefold()
    found = [own for own in lines if item in own[0].casefold()]
    exact = [own for own in found if item in (item_text(own[0]).casefold(), own[0].strip().casefold())]
    dated = [own for own in found if task_facts(item_text(own[0])).text.casefold() == item]
    return exact or dated or found
