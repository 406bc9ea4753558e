"""Run the steps of a reading."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from app.agent.language.grammar.note_facts import PropertiesOf
from app.agent.language.meaning.actions import (
    FOLDER_ACTIONS,
    TASK_ACTIONS,
    TOOL_PREFIX,
    WITHOUT_NOTES,
    Action,
)
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.words.chips import describe_readings
from app.agent.language.words.lexicon import Language
from app.agent.language.words.vault_words import VaultWords
from app.agent.pipeline.changed_notes import moved_path, paths_after
from app.agent.pipeline.host import Arguments, ChangesToday, FindNotes, PipelineHost
from app.agent.pipeline.line_removals import LineRemovals
from app.agent.pipeline.logseq_notices import LogseqNotices
from app.agent.pipeline.note_creation import NoteCreation, with_first_properties
from app.agent.pipeline.note_lists import NoteLists
from app.agent.pipeline.note_reads import NoteReads
from app.agent.pipeline.note_search import NoteSearch
from app.agent.pipeline.note_writes import NoteWrites
from app.agent.pipeline.run_state import RunState
from app.agent.pipeline.step_arguments import plain_arguments, tool_arguments
from app.agent.pipeline.task_changes import TaskChanges
from app.agent.pipeline.task_lists import TaskLists
from app.agent.pipeline.text_edits import TextEdits
from app.agent.pipeline.tool_calls import ToolCalls, items_of
from app.agent.pipeline.undo_steps import UndoSteps
from app.agent.pipeline.write_calls import WriteCalls
from app.permissions.pluralize import pluralize
from app.toolkit.registry import ToolRegistry


class Pipeline:
    """Run one reading.

    Args:
        host: Calls the tools and shows the answers.
        registry: The tools, for calls on many notes.
        language: The language of the request.
        dialog: The state of the dialog before the request.
        changes_today: Returns the audit entries of the agent's changes since midnight, oldest first.
        actions: The available actions, by id.
        words: Returns the vault's properties; without it, none is known.
        find_notes: Returns every note that a search matches; without it, no answer mentions syntax of Logseq.
        now: Returns the current time.
        properties_of: Returns the properties of the note at a path; without it, a list may become a text.
        gives_only_day: Whether the request gives a new due date by its day alone, without a month.
        verbatim: The texts that the request quotes or calls a line, which are written as they are.
        keeps_words: Whether added texts keep the day at their end, since the user dictated or saw them.
    """

    def __init__(
        self,
        host: PipelineHost,
        registry: ToolRegistry,
        language: Language,
        dialog: DialogState,
        changes_today: ChangesToday,
        actions: Mapping[str, Action],
        words: Callable[[], VaultWords] = VaultWords,
        find_notes: FindNotes | None = None,
        now: Callable[[], datetime] = datetime.now,
        properties_of: PropertiesOf | None = None,
        *,
        gives_only_day: bool = False,
        verbatim: Collection[str] = (),
        keeps_words: bool = False,
    ) -> None:
        self._actions = actions
        self._state = RunState(dialog, language)
        self._tools = ToolCalls(host, registry, language)
        self._search = NoteSearch(self._tools)
        tools, search, state = self._tools, self._search, self._state
        notices = LogseqNotices(tools.say, words, find_notes)
        self._lists = NoteLists(tools, search, state, notices)
        self._task_lists = TaskLists(tools, search, state, notices)
        self._task_changes = TaskChanges(
            tools, search, state, language, lambda: now().date(), gives_only_day=gives_only_day
        )
        self._undo = UndoSteps(tools, state, changes_today)
        self._creation = NoteCreation(tools, state, words, now)
        self._reads = NoteReads(tools, search, state, actions)
        line_removals = LineRemovals(tools, search, state, language, now)
        edits = TextEdits(tools, verbatim, language, now, keeps_words=keeps_words)
        calls = WriteCalls(tools, edits, line_removals, words, properties_of)
        self._writes = NoteWrites(tools, calls, state, actions)

    async def run(self, reading: Reading) -> DialogState:
        """Run the steps until one fails, is denied or asks a question; return the dialog state after them."""
        # In the first step, "these" means the notes of the last list.
        before, previous = self._state.dialog, self._state.dialog.them
        keeps_tasks = all(step.action in TASK_ACTIONS for step in reading.steps)
        tasks = self._state.dialog.tasks if keeps_tasks else ()
        self._state.dialog = replace(
            self._state.dialog, rest=(), values=(), missing=(), asked="", subject=(), tasks=tasks
        )
        known = {change.entry for change in self._state.dialog.changes}
        steps: Sequence[PipelineStep] = with_first_properties(reading.steps)
        if _changes_tasks_alike(steps):
            previous = await self._task_changes.change_each(steps) or previous
            steps = ()
        for index, step in enumerate(steps):
            later = steps[index + 1 :]
            result = await self._run_step(self._state.with_new_paths(step), previous, later)
            if result is None:
                self._state.focus_after_failure(step)
                if not self._state.asks_about_later_steps:
                    self._say_skipped_steps(later)
                break
            previous = result
        if reading.is_aside:
            self._state.dialog = replace(before, asked="", subject=())
            return self._state.dialog
        last = reading.last
        if last.action == "open" and last.target is not None and len(previous) == 1:
            # The request after "open the cat's note" is about that note, not about notes with a tag.
            opened = replace(last, target=NoteSet(notes=previous))
            reading = replace(reading, steps=(*reading.steps[:-1], opened))
        if last.action == "count_these":
            reading = self._state.dialog.last or reading  # the next request may continue what was counted
        if self._state.keeps_last:
            reading = self._state.dialog.last or reading
        made = sum(change.entry not in known for change in self._state.dialog.changes)
        self._state.dialog = replace(self._state.dialog, made=made).after(reading, self._state.question)
        return self._state.dialog

    def _say_skipped_steps(self, steps: Sequence[PipelineStep]) -> None:
        """List the steps after one that failed, was denied or asks a question."""
        if steps:
            head = (
                "This step was not carried out:" if len(steps) == 1 else "These steps were not carried out:"
            )
            labels = describe_readings(
                [Reading((step,), 1.0, language=self._state.language.code) for step in steps]
            )
            self._tools.say("\n".join([f"{head}\n", *(f"- {label}" for label in labels)]))

    async def _run_step(
        self, step: PipelineStep, previous: tuple[str, ...], later: Sequence[PipelineStep]
    ) -> tuple[str, ...] | None:
        """Run one step; return the notes that the next step works on, or None to stop."""
        match step.action:
            case "find" | "count":
                return await self._lists.find(step, previous)
            case "count_these":
                self._tools.say(f"{pluralize(len(self._state.dialog.them), 'note')}.")
                return self._state.dialog.them
            case "list_tasks":
                return await self._task_lists.list(step, previous)
            case "complete_task" | "reopen_task" | "reschedule_task":
                return await self._task_changes.change(step, previous, later)
            case "undo":
                if step.target is not None:
                    notes = await self._search.resolve(step.target, previous)
                    if notes is None:
                        return None
                    step = replace(step, target=NoteSet(notes=notes))
                return await self._undo.undo(step)
            case "redo":
                return await self._undo.redo()
            case "list_tags" if (uses := str(step.arguments.get("uses", ""))).isdecimal():
                return await self._lists.list_tags_with_uses(int(uses))
            case "create_note":
                return await self._creation.create(step)
            case "random":
                return await self._reads.open_any()
            case "unresolved_links" if step.target is not None and not step.target.is_everything:
                return await self._lists.list_unresolved_links(step.target, previous)
            case action if action in WITHOUT_NOTES and step.target is not None:
                self._tools.say("This can't be limited to some notes.")
                return None
            case "meaning":
                query = str(step.arguments["query"])
                return self._lists.remember_hits(
                    await self._tools.call_step(step, "semantic_search", {"query": query})
                )
            case "suggest_relations":
                paths = await self._search.resolve(step.target, previous) if step.target is not None else ()
                arguments: Arguments = {"node_id": paths[0]} if paths else {}
                await self._tools.call_step(step, "suggest_relationships", arguments)
                return previous
        if step.action.startswith(TOOL_PREFIX):
            return await self._call_for_vault(step, tool_arguments(step), previous)
        if step.target is None or step.action == "unresolved_links":
            return await self._call_for_vault(step, plain_arguments(step), previous)
        return await self._run_on_notes(step, step.target, previous)

    async def _call_for_vault(
        self, step: PipelineStep, arguments: Arguments, previous: tuple[str, ...]
    ) -> tuple[str, ...] | None:
        """Call the tool of a step that is not about a set of notes; follow the notes of a moved folder."""
        outcome = await self._tools.call_step(step, self._actions[step.action].tool, arguments)
        self._state.record_change(step, outcome, ())
        if step.action == "unresolved_links" and outcome.success:
            names = tuple(str(link["name"]) for link in items_of(outcome.result, "links"))
            self._state.dialog = replace(self._state.dialog, missing=names)
        if step.action == "rename_property":
            self._state.describe_last_change(outcome, tuple(paths_after(step, {}, outcome)))
        if step.action in FOLDER_ACTIONS and outcome.success:
            before, after = str(outcome.result["folder"]), str(outcome.result["new_folder"])
            self._state.describe_last_change(outcome, (after, before))
            return tuple(moved_path(path, before, after) for path in previous)
        return previous if outcome.success else None

    async def _run_on_notes(
        self, step: PipelineStep, notes: NoteSet, previous: tuple[str, ...]
    ) -> tuple[str, ...] | None:
        """Show or change the notes of a step."""
        paths = await self._search.resolve(notes, previous)
        if paths is None:
            return None
        if not paths:
            has_changed = self._tools.has_changed
            self._tools.say("No notes match." if has_changed else "No notes match, so nothing was changed.")
            return None
        if step.action == "open" and len(paths) > 1 and notes.query:
            return await self._lists.find(PipelineStep("find", notes), previous)
        if self._actions[step.action].writes:
            return await self._writes.write(step, paths)
        return await self._reads.read(step, paths)


def _changes_tasks_alike(steps: Sequence[PipelineStep]) -> bool:
    """Return whether all of several steps change a task, given by its note and text, in the same way."""
    kinds = {(step.action, step.arguments.get("due")) for step in steps}
    return (
        len(steps) > 1
        and len(kinds) == 1
        and steps[0].action in TASK_ACTIONS
        and all(step.target and step.target.is_single and "query" in step.arguments for step in steps)
    )
