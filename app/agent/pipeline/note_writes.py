"""Change notes, and ask which occurrence of a text is meant."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.agent.generic_formatting import wikilink
from app.agent.language.meaning.actions import ALL_OCCURRENCES, Action
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import Clarification, ClarificationOption, PipelineStep, Reading
from app.agent.language.words.lexicon import Language
from app.agent.pipeline.changed_notes import note_of, paths_after
from app.agent.pipeline.note_lists import MAX_LISTED_NOTES
from app.agent.pipeline.run_state import RunState
from app.agent.pipeline.task_questions import MAX_CHOICES
from app.agent.pipeline.tool_calls import ToolCalls
from app.agent.pipeline.write_calls import WriteCalls
from app.toolkit.outcome import ToolOutcome
from app.vault.markdown.frontmatter import read_frontmatter

_MAX_CONTEXT = 30
"""The number of characters shown before and after an occurrence of a text."""
_MAX_TABLES = 4
_MAX_PLACES = 50
"""Maximum number of the places of a text that an answer can select."""
_BATCH_TOOLS = frozenset(("add_tag", "remove_tag", "set_properties", "edit_note"))


class NoteWrites:
    """Changes notes, and remembers the changes for the next request.

    Args:
        tools: Calls the tools and shows their outcomes.
        calls: Finds the calls of a step.
        state: The state of the dialog.
        actions: The available actions, by id.
    """

    def __init__(
        self, tools: ToolCalls, calls: WriteCalls, state: RunState, actions: Mapping[str, Action]
    ) -> None:
        self._tools = tools
        self._calls = calls
        self._state = state
        self._actions = actions

    async def write(self, step: PipelineStep, paths: tuple[str, ...]) -> tuple[str, ...] | None:
        """Change notes; return their paths after it, or None to stop."""
        calls = await self._calls.calls(step, paths)
        if calls is None:
            return None
        tool = self._actions[step.action].tool
        if not calls:
            self._tools.say("There is nothing to change.")
            return paths
        if tool in _BATCH_TOOLS and len(calls) > 1:
            outcome = await self._tools.call_batch(tool, calls)
            if not outcome.success:
                return None
            self._state.record_change(step, outcome, paths)
            # A note that had the tag before is not changed, so an undo must not remove the tag.
            changed = outcome.result["notes"]
            assert isinstance(changed, list)
            self._state.describe_last_change(outcome, tuple(map(str, changed)))
            self._state.remember_new_tasks(step, paths)
            return paths
        changed_paths: list[str] = []
        for index, call in enumerate(calls):
            outcome = await self._tools.call(tool, call)
            self._state.question = _which_occurrence(step, outcome, self._state.language)
            if self._state.question is not None:
                self._state.question = await self._with_places(
                    self._state.question, str(call["name"]), str(call["old"])
                )
            if not outcome.success and self._state.question is None:
                self._state.question = _which_table(step, outcome.error or {}, self._state.language)
            if self._state.question is None:  # the question replaces the error message
                self._tools.say_step_outcome(step, tool, call, outcome)
            if not outcome.success:
                self._say_skipped_notes([name for other in calls[index + 1 :] if (name := note_of(other))])
                return None
            new_paths = paths_after(step, call, outcome)
            changed_paths += new_paths
            self._state.record_change(step, outcome, tuple(changed_paths), paths)
            # An undo names only the notes of this call, a moved one by its new path first.
            own = (*new_paths, *(path for path in paths if path == note_of(call)))
            self._state.describe_last_change(outcome, tuple(dict.fromkeys(own)))
        self._state.remember_new_tasks(step, changed_paths)
        return tuple(dict.fromkeys(changed_paths))

    async def _with_places(self, question: Clarification, path: str, old: str) -> Clarification:
        """Return a question about occurrences with the words around each, unless the note can't be read."""
        outcome = await self._tools.call("read_note", {"name": path})
        places = _places(str(outcome.result["text"]), old) if outcome.success else []
        options = (*question.options[:-1], *question.spare)
        if len(places) < len(options):
            return question
        numbers = [int(str(option.reading.last.arguments["occurrence"])) for option in options]
        labeled = [
            replace(option, label=f"{number}: {places[number - 1]}")
            for option, number in zip(options, numbers, strict=True)
        ]
        shown = len(question.options) - 1
        options = (*labeled[:shown], question.options[-1])
        return replace(question, options=options, spare=tuple(labeled[shown:]))

    def _say_skipped_notes(self, names: Sequence[str]) -> None:
        """List the notes of a step that were left after a call that failed or was denied."""
        if names:
            lines = [f"- {wikilink(name)}" for name in names[:MAX_LISTED_NOTES]]
            remainder = f"\n\n… and {len(names) - len(lines)} more." if len(names) > len(lines) else ""
            head = "This note was left as it is:" if len(names) == 1 else "These notes were left as they are:"
            self._tools.say("\n".join([f"{head}\n", *lines]) + remainder)


def _places(text: str, old: str) -> list[str]:
    """Return the words around each occurrence of a text after the properties, within its line."""
    body = text[read_frontmatter(text).body_start :]
    places = []
    for match in re.finditer(re.escape(old), body):
        before = body[: match.start()].rpartition("\n")[2]
        after = body[match.end() :].partition("\n")[0]
        start = "…" if len(before) > _MAX_CONTEXT else ""
        end = "…" if len(after) > _MAX_CONTEXT else ""
        places.append(f"{start}{before[-_MAX_CONTEXT:]}{match[0]}{after[:_MAX_CONTEXT]}{end}".strip())
    return places


def _which_occurrence(step: PipelineStep, outcome: ToolOutcome, language: Language) -> Clarification | None:
    """Return a question about which occurrence to replace; None for other errors.

    Of many occurrences, the first ones are offered.
    """
    count = (outcome.error or {}).get("count")
    if outcome.success or step.action != "replace" or not isinstance(count, int) or count < 2:
        return None
    choices = [*(str(number) for number in range(1, min(count, _MAX_PLACES) + 1)), ALL_OCCURRENCES]
    readings = [
        Reading((step.with_argument("occurrence", choice),), 1.0, language=language.code)
        for choice in choices
    ]
    options = tuple(ClarificationOption(serialize(reading), reading) for reading in readings)
    shown = count if count <= MAX_CHOICES else MAX_CHOICES - 1
    spare = options[shown:-1]
    return Clarification("Which occurrence do you mean?", (*options[:shown], options[-1]), spare=spare)


def _which_table(step: PipelineStep, error: Mapping[str, object], language: Language) -> Clarification | None:
    """Return a question about the table for a new row if a call failed because of several; None otherwise."""
    tables = error.get("tables")
    if step.action != "append" or not isinstance(tables, list) or not all(tables):
        return None  # a table without a heading of its own can't be named
    options = tuple(
        ClarificationOption(
            str(heading), Reading((step.with_argument("heading", heading),), 1.0, language=language.code)
        )
        for heading in tables
    )
    return Clarification("Which table do you mean?", options[:_MAX_TABLES], spare=options[_MAX_TABLES:])
