"""Find the edits that remove whole lines and tasks."""

from __future__ import annotations

import re
from collections.abc import Callable
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
from app.agent.pipeline.note_texts import read_whole
from app.agent.pipeline.run_state import RunState
from app.agent.pipeline.task_questions import MAX_CHOICES, ask_for_task_elsewhere
from app.agent.pipeline.text_edits import item_text, line_removal, lines_of
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
        words, what = str(step.arguments["old"]), str(step.arguments["whole"])
        dates = DateParser(self._language, self._now())
        # "Call Ann, due 4 December" may be written as a task with a due date.
        first, _, rest = words.partition(" ")
        without_article = rest if first.casefold() in self._language.words("determiners") else words
        texts = (words, task_text(task_line(words, self._language, dates)), without_article)
        number = int(str(step.arguments.get("occurrence") or 0))
        calls: list[Arguments] = []
        for path in paths:
            whole = await read_whole(self._tools, path)
            if whole is None:
                return None
            start = read_frontmatter(whole).body_start
            found: list[tuple[str, int]] = []
            for text in dict.fromkeys(texts):
                found = found or _lines_with(whole, start, text, only_tasks=what == TASK)
            if not found:  # the words may be in another order, or in other forms
                code = self._language.code
                found = [
                    (line, at)
                    for line, at in lines_of(whole, start)
                    if (what != TASK or TASK_BOX.match(line)) and names_task(words, line, code)
                ]
            if not found:
                hits = await self._search.search_all('task:""') if what == TASK and len(paths) == 1 else None
                if hits and ask_for_task_elsewhere(self._state, step, hits, paths):
                    return None
                kind = "task" if what == TASK else "line"
                self._tools.say(f"No {kind} in {wikilink(path)} contains “{words}”. Nothing was changed.")
                return None
            found = found[number - 1 : number] or found if number else found
            is_doubtful = not number and _is_doubtful_line(
                found[0][0], words, self._language.code, is_task=what == TASK
            )
            if len(found) > 1 or is_doubtful:
                steps = [
                    replace(step, target=NoteSet(notes=(path,))).with_argument("occurrence", str(at))
                    for at in range(1, min(len(found), MAX_CHOICES) + 1)
                ]
                labels = [line.strip() for line, _ in found]
                readings = [Reading((own,), 1.0, language=self._language.code) for own in steps]
                self._state.question = Clarification(
                    "Which line do you mean?",
                    tuple(
                        ClarificationOption(label, own) for label, own in zip(labels, readings, strict=False)
                    ),
                )
                return None
            line, at = found[0]
            calls.append(line_removal(path, whole, line, at))
        return calls


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


def _lines_with(text: str, start: int, words: str, *, only_tasks: bool) -> list[tuple[str, int]]:
    """Return the lines with some words, each with its position; if possible, only those with nothing else.

    Args:
        text: A note's text.
        start: The position at which its prose starts.
        words: The words, in any case.
        only_tasks: Whether the line must be a task.
    """
    found: list[tuple[str, int]] = []
    for line, at in lines_of(text, start):
        is_kind = not only_tasks or TASK_BOX.match(line)
        if is_kind and words.casefold() in line.casefold():
            found.append((line, at))
    item = words.casefold()
    exact = [own for own in found if item in (item_text(own[0]).casefold(), own[0].strip().casefold())]
    dated = [own for own in found if task_facts(item_text(own[0])).text.casefold() == item]
    return exact or dated or found
