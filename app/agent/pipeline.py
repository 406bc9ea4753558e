"""Run a reading: each step calls tools, and the next step works on its notes."""

from __future__ import annotations

import random
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import islice, product
from typing import Any, Protocol

from app.agent.answered_call import AnsweredCall
from app.agent.generic_formatting import wikilink
from app.agent.language.actions import (
    FOLDER_ACTIONS,
    MOVING_ACTIONS,
    TASK_ACTIONS,
    TOOL_PREFIX,
    WITHOUT_NOTES,
    Action,
)
from app.agent.language.answers import localize
from app.agent.language.chips import describe_readings
from app.agent.language.dates import DateParser, shifted_day
from app.agent.language.dialog import MAX_RESULTS, DialogState, OwnChange
from app.agent.language.lexicon import Language, languages
from app.agent.language.line_removals import TASK
from app.agent.language.logseq import LOGSEQ_TASKS, logseq_property, searched_properties
from app.agent.language.new_tasks import adds_tasks, tasks_of
from app.agent.language.notation import serialize
from app.agent.language.note_facts import PropertiesOf
from app.agent.language.readings import (
    Clarification,
    ClarificationOption,
    NoteSet,
    PipelineStep,
    Reading,
    as_tuple,
)
from app.agent.language.replacements import ALL_OCCURRENCES
from app.agent.language.stated_values import in_month_of
from app.agent.language.task_lists import DUE_KINDS
from app.agent.language.task_matching import (
    TASK_BOX,
    TASK_FIELDS,
    field_of_tasks,
    matching_tasks,
    named_parts,
    names_task,
    says_not,
    task_text,
)
from app.agent.language.task_texts import task_line
from app.agent.language.text_additions import IN_TABLE, which_table
from app.agent.language.text_lists import is_list_name
from app.agent.language.undo import changes_of_undo
from app.agent.language.vocabulary import VaultWords, property_label
from app.agent.result_formatting import format_outcome, property_key, strip_properties
from app.errors import AmbiguousError, NotFoundError, QueryError, TimeoutExpiredError
from app.permissions.pluralize import pluralize
from app.toolkit.batch import make_batch_tool
from app.toolkit.outcome import ToolOutcome
from app.toolkit.registry import ToolRegistry
from app.toolkit.tool import Tool
from app.vault.changes import content_hash
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.headings import section
from app.vault.markdown.tables import add_rows
from app.vault.markdown.tasks import task_facts, with_due_date
from app.vault.markdown.text import BOM, bullet_list
from app.vault.note_templates import expand
from app.vault.path import NotePath, name_key

MAX_WRITTEN_NOTES = 500
MAX_LISTED_NOTES = 20
MAX_READ_NOTES = 5
_TEMPLATE_HAS_CONTENT = (
    "A note from a template can't have other text, tags or a type when it is created. Nothing was created."
    " Create it from the template first, and then change it."
)
_DAY_NAME = re.compile(r"\d{4}([-_.])\d\d\1\d\d")
_ALL_NOTES_QUERY = "modified:>=1970"
_DAY = r"\d{4}-\d\d-\d\d"
_LIST_ITEM = re.compile(r"([ \t]*[-*+] )(\[.\] )?")
_BLOCK_START = re.compile(r"\s*(#{1,6} |>|\||```|\d+[.)] )")
_TASK_CONDITION = re.compile(r"\btask(-todo|-done)?:")
_MAX_CHOICES = 5
_MAX_CONTEXT = 30
"""The number of characters shown before and after an occurrence of a text."""
_MAX_PLACES = 50
"""Maximum number of the places of a text that an answer can select."""
_MAX_LISTED_TASKS = 50
_MAX_SEARCH_HITS = 1000

Arguments = dict[str, object]
ChangesToday = Callable[[], Sequence[int]]
FindNotes = Callable[[str], Awaitable[Collection[NotePath]]]
_Task = tuple[str, str, int]
"""A task as its note's path, its line, and the number of the line."""


class PipelineHost(Protocol):
    """The host of a pipeline, which calls tools and shows answers: a turn in the panel, or the terminal."""

    async def call(
        self,
        tool: str | Tool,
        arguments: Mapping[str, object],
        claim: str = "",
        *,
        summarize: Callable[[ToolOutcome], str] | None = None,
    ) -> ToolOutcome:
        """Call a tool by name, or an internal tool.

        Args:
            tool: The tool.
            arguments: Its arguments.
            claim: Describes the call to the user.
            summarize: Returns the message to show for a successful outcome in place of the tool's own.
        """
        ...

    def say(self, text: str) -> None:
        """Answer in Markdown, which may contain wikilinks."""
        ...

    def open_note(self, path: str) -> None:
        """Show a note in the front end, if it shows notes."""
        ...


@dataclass(frozen=True, slots=True)
class _Selection:
    """The notes of a set, and the number of notes that they were chosen from: given ones, or hits."""

    paths: tuple[str, ...]
    total: int
    is_from_given: bool


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
        quoted: The texts that the request quotes, which are written as they are.
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
        quoted: Collection[str] = (),
    ) -> None:
        self._host = host
        self._gives_only_day = gives_only_day
        self._quoted = quoted
        self._now = now
        self._properties_of = properties_of
        self._words = words
        self._find_notes = find_notes
        self._registry = registry
        self._language = language
        self._dialog = dialog
        self._changes_today = changes_today
        self._actions = actions
        self._question: Clarification | None = None
        self._has_changed = self._keeps_last = False
        self._moves: list[tuple[str, str]] = []

    async def run(self, reading: Reading) -> DialogState:
        """Run the steps until one fails, is denied or asks a question; return the dialog state after them."""
        # In the first step, "these" means the notes of the last list.
        previous: tuple[str, ...] = self._dialog.them
        keeps_tasks = all(step.action in TASK_ACTIONS for step in reading.steps)
        tasks = self._dialog.tasks if keeps_tasks else ()
        self._dialog = replace(self._dialog, rest=(), values=(), asked="", subject=(), tasks=tasks)
        known = {change.entry for change in self._dialog.changes}
        for index, step in enumerate(reading.steps):
            result = await self._run_step(self._with_new_paths(step), previous)
            if result is None:
                self._focus_after_failure(step)
                self._say_skipped_steps(reading.steps[index + 1 :])
                break
            previous = result
        last = reading.last
        if last.action == "open" and last.target is not None and len(previous) == 1:
            # The request after "open the cat's note" is about that note, not about notes with a tag.
            opened = replace(last, target=NoteSet(notes=previous))
            reading = replace(reading, steps=(*reading.steps[:-1], opened))
        if last.action == "count_these":
            reading = self._dialog.last or reading  # the next request may continue what was counted
        if self._keeps_last:
            reading = self._dialog.last or reading
        made = sum(change.entry not in known for change in self._dialog.changes)
        self._dialog = replace(self._dialog, made=made).after(reading, self._question)
        return self._dialog

    def _with_new_paths(self, step: PipelineStep) -> PipelineStep:
        """Return a step with the new paths of the notes and folders that the steps before it have moved."""

        def moved(path: str) -> str:
            for before, after in self._moves:
                path = _moved_path(path, before, after)
            return path

        def moved_notes(notes: NoteSet) -> NoteSet:
            return replace(notes, notes=tuple(map(moved, notes.notes)))

        target = moved_notes(step.target) if step.target is not None else None
        arguments = {
            role: moved_notes(value) if isinstance(value, NoteSet) else value
            for role, value in step.arguments.items()
        }
        if step.action in FOLDER_ACTIONS:
            arguments["folder"] = moved(str(arguments["folder"]).strip("/"))
        return replace(step, target=target, arguments=arguments)

    def _focus_after_failure(self, step: PipelineStep) -> None:
        """Let "it" mean the note that the failed step named; a failed search or creation leaves no "it"."""
        named_notes = step.target.notes if step.target is not None else ()
        if len(named_notes) == 1:
            self._dialog = replace(self._dialog, focus=named_notes, is_lost=False)
        elif step.action == "create_note" or step.target is not None:
            self._dialog = replace(self._dialog, focus=(), is_lost=True)

    def _say(self, text: str) -> None:
        self._host.say(localize(text, self._language))

    def _say_skipped_steps(self, steps: Sequence[PipelineStep]) -> None:
        """List the steps after one that failed, was denied or asks a question."""
        if steps:
            head = (
                "This step was not carried out:" if len(steps) == 1 else "These steps were not carried out:"
            )
            labels = describe_readings(
                [Reading((step,), 1.0, language=self._language.code) for step in steps]
            )
            self._say("\n".join([f"{head}\n", *(f"- {label}" for label in labels)]))

    def _say_outcome(self, call: AnsweredCall, outcome: ToolOutcome) -> None:
        """Show the outcome of a call that may have changed something."""
        self._has_changed = self._has_changed or outcome.commit is not None
        self._say(format_outcome(call, outcome, has_changed=self._has_changed))

    # Steps

    async def _run_step(self, step: PipelineStep, previous: tuple[str, ...]) -> tuple[str, ...] | None:
        """Run one step; return the notes that the next step works on, or None to stop."""
        match step.action:
            case "find" | "count":
                return await self._find(step, previous)
            case "count_these":
                self._say(f"{pluralize(len(self._dialog.them), 'note')}.")
                return self._dialog.them
            case "list_tasks":
                return await self._list_tasks(step, previous)
            case "complete_task" | "reopen_task" | "reschedule_task":
                return await self._change_task(step, previous)
            case "undo":
                if step.target is not None:
                    notes = await self._resolve_notes(step.target, previous)
                    if notes is None:
                        return None
                    step = replace(step, target=NoteSet(notes=notes))
                return await self._undo(step)
            case "redo":
                return await self._redo()
            case "list_tags" if (uses := str(step.arguments.get("uses", ""))).isdecimal():
                return await self._list_tags_with_uses(int(uses))
            case "create_note":
                return await self._create(step)
            case "random":
                return await self._open_any()
            case "unresolved_links" if step.target is not None and not step.target.is_everything:
                return await self._list_unresolved_links(step.target, previous)
            case action if action in WITHOUT_NOTES and step.target is not None:
                self._say("This can't be limited to some notes.")
                return None
            case "meaning":
                query = str(step.arguments["query"])
                return self._remember_hits(await self._call(step, "semantic_search", {"query": query}))
            case "suggest_relations":
                paths = await self._resolve_notes(step.target, previous) if step.target is not None else ()
                arguments: Arguments = {"node_id": paths[0]} if paths else {}
                await self._call(step, "suggest_relationships", arguments)
                return previous
        if step.action.startswith(TOOL_PREFIX):
            outcome = await self._call(step, self._actions[step.action].tool, _tool_arguments(step))
            self._record_change(step, outcome, ())
            return previous if outcome.success else None
        if step.target is None or step.action == "unresolved_links":
            outcome = await self._call(step, self._actions[step.action].tool, self._plain_arguments(step))
            self._record_change(step, outcome, ())
            if step.action == "rename_property":
                self._describe_last_change(outcome, tuple(_paths_after(step, {}, outcome)))
            if step.action in FOLDER_ACTIONS and outcome.success:
                before, after = str(outcome.result["folder"]), str(outcome.result["new_folder"])
                self._describe_last_change(outcome, (after, before))
                return tuple(_moved_path(path, before, after) for path in previous)
            return previous if outcome.success else None
        paths = await self._resolve_notes(step.target, previous)
        if paths is None:
            return None
        if not paths:
            self._say("No notes match." if self._has_changed else "No notes match, so nothing was changed.")
            return None
        if self._actions[step.action].writes:
            return await self._write(step, paths)
        return await self._read(step, paths)

    def _plain_arguments(self, step: PipelineStep) -> Arguments:
        if step.action == "rename_tag":
            return {
                "tag": _first_item(step.arguments["tag"]),
                "new_tag": _first_item(step.arguments["new_tag"]),
            }
        if step.action == "rename_property":
            return {name: str(step.arguments[name]) for name in ("key", "new_key")}
        if step.action in FOLDER_ACTIONS:
            return _folder_arguments(step)
        if step.action == "list_folders":
            return {"path": "."}
        return {}

    async def _resolve_notes(self, notes: NoteSet, previous: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return the paths of a note set; None if a search failed."""
        selection = await self._select_notes(notes, previous)
        return selection.paths if selection is not None else None

    async def _select_notes(self, notes: NoteSet, previous: tuple[str, ...]) -> _Selection | None:
        """Return the notes of a note set; None if a search failed.

        A set that does not start from given notes has at most `MAX_WRITTEN_NOTES`.
        """
        base: tuple[str, ...] | None = None
        if notes.source:
            base = previous
        elif notes.notes:
            base = notes.notes
        is_from_given, total = base is not None, len(base or ())
        if notes.query or notes.order or base is None:
            query = notes.ordered_query or _ALL_NOTES_QUERY
            limit = _search_limit(notes) if base is None else _MAX_SEARCH_HITS
            hits: tuple[str, ...] = ()
            is_complete = False
            while not is_complete:
                outcome = await self._search(query, limit, notes.order, len(hits), among=base)
                if outcome is None:
                    return None
                page = tuple(str(hit["path"]) for hit in _as_list(outcome.result, "hits"))
                hits += page
                # A given note may be on any page of the hits.
                is_complete = base is None or len(page) < limit or set(base).issubset(hits)
                total = total if is_from_given else int(str(outcome.result["total"]))
            base_paths = set(base or ())
            if base is None or notes.order:
                base = hits if base is None else tuple(path for path in hits if path in base_paths)
            else:
                hit_paths = set(hits)
                base = tuple(path for path in base if path in hit_paths)
        return _Selection(notes.first_notes(base), total, is_from_given)

    async def _search(
        self,
        query: str,
        limit: int,
        order: str = "",
        offset: int = 0,
        *,
        among: Sequence[str] | None = None,
    ) -> ToolOutcome | None:
        """Search for notes; if the search fails, show the failure and return None.

        If only the hits `among` some notes matter, the user sees the number of those.
        """

        def count_among(outcome: ToolOutcome) -> str:
            found = {str(hit["path"]) for hit in _as_list(outcome.result, "hits")} & set(among or ())
            return f"{len(found):,} of these {pluralize(len(among or ()), 'note')} found."

        # A trailing space makes the last word a whole word instead of a prefix.
        arguments: Arguments = {"query": f"{query} ", "limit": limit}
        if order:
            arguments["order"] = order
        if offset:
            arguments["offset"] = offset
        summarize = count_among if among is not None else None
        outcome = await self._host.call("search_notes", arguments, summarize=summarize)
        if not outcome.success:
            self._say(format_outcome(AnsweredCall("search_notes", {}), outcome))
            return None
        return outcome

    async def _search_all(self, query: str) -> list[dict[str, Any]] | None:
        """Search for notes and return all hits; if a search fails, show the failure and return None."""
        hits: list[dict[str, Any]] = []
        while True:
            outcome = await self._search(query, _MAX_SEARCH_HITS, offset=len(hits))
            if outcome is None:
                return None
            page = _as_list(outcome.result, "hits")
            hits += page
            if len(page) < _MAX_SEARCH_HITS:
                return hits

    async def _find(self, step: PipelineStep, previous: tuple[str, ...]) -> tuple[str, ...] | None:
        """Find or count notes; mention syntax of Logseq that the search can't see."""
        paths = await self._find_listed(step, previous)
        query = step.target.query if step.target is not None else ""
        if paths is not None and _TASK_CONDITION.search(query) and not paths:
            await self._say_unread_tasks()
        if paths is not None:
            await self._say_unread_properties(query)
        return paths

    async def _find_listed(self, step: PipelineStep, previous: tuple[str, ...]) -> tuple[str, ...] | None:
        target = step.target or NoteSet()
        if target.source or target.notes or target.limit or target.pick:
            selection = await self._select_notes(target, previous)
            if selection is None:
                return None
            paths = selection.paths
            self._say_list(selection, target.notes, count_only=step.action == "count")
            if target.source and not paths and self._dialog.them:
                self._keep_list()
                return paths
            is_part = bool(target.notes) and (target.pick is not None or target.limit is not None)
            listed = target.notes if is_part else self._dialog.them
            if listed in (previous if target.source else (), target.notes):
                rest = tuple(path for path in listed if path not in paths)
                self._dialog = replace(self._dialog, rest=rest)
        else:
            query = target.query or _ALL_NOTES_QUERY
            outcome = await self._search(query, MAX_RESULTS, target.order)
            if outcome is None:
                return None
            if step.action == "count":
                total = int(str(outcome.result["total"]))
                self._say(f"{pluralize(total, 'note')}.")
                paths = tuple(str(hit["path"]) for hit in _as_list(outcome.result, "hits"))
                self._dialog = replace(self._dialog, results=paths)
                return paths
            paths = tuple(str(hit["path"]) for hit in _as_list(outcome.result, "hits"))
            call = AnsweredCall("search_notes", {"query": target.query}, "find")
            listed = self._listed_before(target)
            self._say((not paths and self._none_of(listed)) or format_outcome(call, outcome))
            rest = tuple(path for path in listed if path not in paths)
            self._dialog = replace(self._dialog, rest=rest)
            if listed and not paths:
                self._keep_list()
                return paths
        self._remember(paths)
        return paths

    def _keep_list(self) -> None:
        """Let the next request continue the list in which this one found nothing."""
        self._keeps_last = True
        self._dialog = replace(self._dialog, rest=(), is_lost=True)

    def _listed_before(self, target: NoteSet) -> tuple[str, ...]:
        """Return the listed notes if the search that found them is narrowed down; else no notes."""
        last = self._dialog.last.last.target if self._dialog.last is not None else None
        is_narrowed = last is not None and bool(last.query) and target.query.startswith(f"{last.query} ")
        return self._dialog.results if is_narrowed and self._dialog.has_search else ()

    def _none_of(self, paths: Sequence[str]) -> str:
        """Return the answer that none of the listed notes matches; empty without listed notes."""
        if len(paths) == 1:
            return f"{wikilink(paths[0])} does not match."
        return f"None of these {len(paths):,} notes match." if paths else ""

    def _say_list(self, selection: _Selection, named: tuple[str, ...], *, count_only: bool) -> None:
        paths = selection.paths
        if not paths:
            listed = named or (self._dialog.them if selection.is_from_given else ())
            self._say(self._none_of(listed if selection.total == len(listed) else ()) or "No notes match.")
            return
        count = pluralize(len(paths), "note")
        # Without the number of notes to choose from, the count would contradict that of the search.
        if len(paths) < selection.total:
            count += f" (of {'these ' if selection.is_from_given else ''}{selection.total:,})"
        if count_only:
            self._say(f"{count}.")
            return
        lines = "\n".join(f"- {wikilink(path)}" for path in paths[:MAX_LISTED_NOTES])
        omitted = len(paths) - MAX_LISTED_NOTES
        remainder = f"\n\n… and {omitted} more." if omitted > 0 else ""
        self._say(f"{count}:\n\n{lines}{remainder}")

    def _remember(self, paths: tuple[str, ...]) -> None:
        """Remember listed notes for "these" and "the first one"; a single note is also "it"."""
        focus = paths[:1] if len(paths) == 1 else self._dialog.focus if paths else ()
        # Without notes, the request meant a note that does not exist.
        is_lost = not paths or (self._dialog.is_lost and len(paths) > 1)
        self._dialog = replace(self._dialog, results=paths, focus=focus, is_lost=is_lost)

    def _remember_hits(self, outcome: ToolOutcome) -> tuple[str, ...] | None:
        if not outcome.success:
            return None
        paths = tuple(dict.fromkeys(str(hit["path"]) for hit in _as_list(outcome.result, "hits")))
        self._remember(paths)
        return paths

    async def _list_unresolved_links(
        self, notes: NoteSet, previous: tuple[str, ...]
    ) -> tuple[str, ...] | None:
        """List the notes of a set with unresolved links, and the links of the first `MAX_READ_NOTES`."""
        paths = await self._resolve_notes(notes.with_query("unresolved:"), previous)
        if paths is None:
            return None
        if not paths:
            where = wikilink(notes.notes[0]) if notes.is_single else "these notes"
            self._say(f"Every link in {where} resolves to a note.")
            return ()
        lines = [f"- {wikilink(path)}" for path in paths[:MAX_LISTED_NOTES]]
        for index, path in enumerate(paths[:MAX_READ_NOTES]):
            outcome = await self._host.call("get_metadata", {"name": path})
            if not outcome.success:
                self._say(format_outcome(AnsweredCall("get_metadata", {"name": path}), outcome))
                return None
            targets = ", ".join(f"[[{target}]]" for target in _as_list(outcome.result, "unresolved_links"))
            lines[index] += f": {targets}"
        omitted = len(paths) - MAX_LISTED_NOTES
        remainder = f"\n\n… and {omitted} more." if omitted > 0 else ""
        listed = "\n".join(lines)
        self._say(f"{pluralize(len(paths), 'note')} with unresolved links:\n\n{listed}{remainder}")
        self._remember(paths)
        return paths

    async def _list_tags_with_uses(self, uses: int) -> tuple[str, ...] | None:
        """List the tags that exactly `uses` notes have."""
        outcome = await self._host.call("list_tags", {})
        if not outcome.success:
            self._say(format_outcome(AnsweredCall("list_tags", {}), outcome))
            return None
        tags = [tag for tag in _as_list(outcome.result, "tags") if tag["count"] == uses]
        result = {**outcome.result, "tags": tags}
        self._say(format_outcome(AnsweredCall("list_tags", {}), replace(outcome, result=result)))
        return self._dialog.them

    async def _list_tasks(self, step: PipelineStep, previous: tuple[str, ...]) -> tuple[str, ...] | None:
        field = TASK_FIELDS.get(str(step.arguments.get("state")), "task")
        parts = re.findall(r'"[^"]+"|\w[\w-]*', str(step.arguments.get("query", "")))
        words = " ".join(f'"{part}"' if part == "OR" else part for part in parts)
        due = str(step.arguments.get("due", ""))
        query = (
            f"{field}:({words})"
            if words
            else f"{field}:/{_DAY}/"
            if due and due not in DUE_KINDS
            else f'{field}:""'
        )
        allowed_paths: frozenset[str] | None = None
        if step.target is not None:
            if (notes := await self._resolve_notes(step.target, previous)) is None:
                return None
            allowed_paths = frozenset(notes)
            if len(allowed_paths) == 1:
                self._dialog = replace(self._dialog, focus=notes[:1], is_lost=False)
        all_hits = await self._search_all(query)
        if all_hits is None:
            return None
        hits = [hit for hit in all_hits if allowed_paths is None or hit["path"] in allowed_paths]
        found = [(str(hit["path"]), str(line["text"]).strip()) for hit in hits for line in hit["lines"]]
        if due in DUE_KINDS:
            found = _tasks_by_due_date(found, due)
        elif due:
            found = [task for task in found if _days_within(task[1], due)]
            found.sort(key=lambda task: min(_days_within(task[1], due)))
        lines = [f"- {wikilink(path)}: {' '.join(text.split())}" for path, text in found]
        paths = tuple(dict.fromkeys(path for path, _ in found))
        listed_tasks = [(path, task_text(text)) for path, text in found]
        state = {"open": "open task", "done": "completed task"}.get(str(step.arguments.get("state")), "task")
        total = pluralize(len(lines), state)
        listed = "\n".join(lines[:_MAX_LISTED_TASKS])
        if len(lines) > _MAX_LISTED_TASKS:
            listed += f"\n\n… and {len(lines) - _MAX_LISTED_TASKS} more."
        is_filtered = bool(words or (due and due != "sorted") or step.target is not None)
        none = f"No {state} matches." if is_filtered else f"There are no {state}s."
        self._say(f"{total}:\n\n{listed}" if lines else none)
        if not found:
            await self._say_unread_tasks()
        self._dialog = replace(self._dialog, results=paths, tasks=tuple(listed_tasks[:_MAX_LISTED_TASKS]))
        return paths

    async def _say_unread_tasks(self) -> None:
        """Tell the user if notes have tasks in the syntax of Logseq, which are not read."""
        if count := await self._count_notes(LOGSEQ_TASKS):
            have = pluralize(count, "note has", "notes have")
            self._say(
                f"{have} tasks in Logseq syntax (“- TODO”), which are not read. Write “- [ ]” or “- [x]”."
            )

    async def _say_unread_properties(self, query: str) -> None:
        """Tell the user if notes have a property of a search in the syntax of Logseq, which is not read."""
        known = {name.casefold() for name in self._words().properties}
        for name in dict.fromkeys(searched_properties(query)):
            if name.casefold() not in known and (count := await self._count_notes(logseq_property(name))):
                have = pluralize(count, "note has", "notes have")
                self._say(
                    f"{have} “{name}::” in Logseq syntax, which is not read. Write properties between “---”"
                    " at the top of the note."
                )

    async def _count_notes(self, query: str) -> int:
        if self._find_notes is None:
            return 0
        try:
            return len(await self._find_notes(f"{query} "))
        except (QueryError, TimeoutExpiredError):
            return 0

    async def _change_task(self, step: PipelineStep, previous: tuple[str, ...]) -> tuple[str, ...] | None:
        """Check, clear or reschedule the task that a step's words name; ask if they name several tasks.

        Without words, the only open task of the notes is rescheduled.
        """
        due: date | str | None = None
        if step.action == "reschedule_task":
            day = str(step.arguments["due"]).partition("..")[0]
            due = _parse_due(day)
            if due is None:
                self._say(f"“{day}” is not a date such as 2026-03-25. Nothing was changed.")
                return None
        notes = await self._resolve_notes(step.target, previous) if step.target is not None else None
        if step.target is not None and notes is None:
            return None
        hits = await self._search_all(f'{field_of_tasks(step.action)}:""')
        if hits is None:
            return None
        tasks = [
            (str(hit["path"]), str(line["text"]).strip(), int(line["line"]))
            for hit in hits
            if notes is None or hit["path"] in notes
            for line in hit["lines"]
        ]
        words = str(step.arguments.get("query", ""))
        lacks_task = notes is None or "query" in step.arguments
        matches = tasks
        occurrence = str(step.arguments.get("occurrence", ""))
        if occurrence and not words:
            # The position in the note, in which the next request may name another one.
            self._dialog = replace(
                self._dialog, tasks=tuple((path, task_text(line)) for path, line, _ in tasks)
            )
        elif (words or (due is None and lacks_task)) and not _is_name_of(step.target, words):
            if "occurrence" not in step.arguments and (parts := self._tasks_of_parts(words, tasks)):
                return await self._change_several_tasks(step, parts, due)
            matches = self._matching_tasks(words, tasks)
        if occurrence == "-1":
            matches = matches[-1:]
        elif occurrence.isdecimal():
            matches = matches[max(0, int(occurrence) - 1) : int(occurrence)]
        if not matches and words and notes is not None and self._ask_for_task_elsewhere(step, hits, notes):
            return None
        if not matches:
            is_by_words = words or (due is None and not occurrence)
            self._say_no_task(step, words if is_by_words else None)
            return None
        if len(matches) > 1:
            readings = [_task_reading(step, [task], matches) for task in matches[:_MAX_CHOICES]]
            self._ask_for_task("Which task do you mean?", readings)
            return None
        if self._gives_only_day and isinstance(due, date) and (other := self._in_same_month(matches[0], due)):
            days = [step.with_argument("due", day.isoformat()) for day in (other, due)]
            self._ask_for_task("Which day?", [_task_reading(own, matches, matches) for own in days])
            return None
        return await self._change_tasks(step, matches, due)

    def _in_same_month(self, task: _Task, day: date) -> date | None:
        """Return a day of the month in which a task is due, if that is another day."""
        present = task_facts(task[1]).due
        return in_month_of(present, day, self._now().date()) if present is not None else None

    def _matching_tasks(self, words: str, tasks: Sequence[_Task]) -> list[_Task]:
        matching = set(matching_tasks(words, [task[:2] for task in tasks], self._language.code))
        return [task for task in tasks if task[:2] in matching]

    def _ask_for_task_elsewhere(
        self, step: PipelineStep, hits: Sequence[Mapping[str, Any]], notes: Collection[str]
    ) -> bool:
        """Ask which task of other notes is meant by a step's words; return False if they name none.

        The words are the step's query, or the text that it removes.
        """
        role = "query" if "query" in step.arguments else "old"
        words = str(step.arguments[role])
        tasks = [
            (str(hit["path"]), str(line["text"]).strip(), int(line["line"]))
            for hit in hits
            if hit["path"] not in notes
            for line in hit["lines"]
        ]
        matches = [task for task in tasks if names_task(words, task_text(task[1]), self._language.code)]
        readings = [
            Reading((replace(step, target=NoteSet(notes=(path,))).with_argument(role, task_text(line)),), 1.0)
            for path, line, _ in matches[:_MAX_CHOICES]
        ]
        if readings:
            is_one = len(readings) == 1
            self._ask_for_task("Is this what you mean?" if is_one else "Which task do you mean?", readings)
        return bool(readings)

    def _say_no_task(self, step: PipelineStep, words: str | None) -> None:
        which = f" that matches “{words}”" if words is not None else ""
        self._say(f"There is no {'completed' if step.action == 'reopen_task' else 'open'} task{which}.")

    def _ask_for_task(self, question: str, readings: Sequence[Reading]) -> None:
        readings = [replace(reading, language=self._language.code) for reading in readings]
        options = tuple(ClarificationOption(serialize(reading), reading) for reading in readings)
        self._question = Clarification(question, options)

    def _tasks_of_parts(self, words: str, tasks: Sequence[_Task]) -> list[tuple[str, list[_Task]]]:
        """Return the parts of the words for several tasks, each with its tasks; none for a single task.

        Of several tasks that match a part, a listed one is meant.
        """
        parts, code = named_parts(words, self._language), self._language.code
        if len(parts) < 2:
            return []
        texts = [task_text(line) for _, line, _ in tasks]
        if any(
            names_task(words, text, code) and len(named_parts(text, self._language)) > 1 for text in texts
        ):
            return []
        found: list[tuple[str, list[_Task]]] = []
        for part in parts:
            matches = self._matching_tasks(part, tasks)
            listed = [task for task in matches if (task[0], task_text(task[1])) in self._dialog.tasks]
            found.append((part, listed if len(listed) == 1 else matches))
        matched = [matches for _, matches in found if matches]
        is_one = len(matched) == len(found) and all(matches == matched[0] for matches in matched)
        return found if matched and not is_one else []

    async def _change_several_tasks(
        self, step: PipelineStep, parts: Sequence[tuple[str, list[_Task]]], due: date | str | None
    ) -> tuple[str, ...] | None:
        """Change the task that each part of the words names; ask unless each part names another one."""
        tasks = [matches[0] for _, matches in parts if len(matches) == 1]
        is_sure = len(set(tasks)) == len(parts) and not says_not(str(step.arguments["query"]), self._language)
        is_sure = is_sure and all(
            names_task(part, f"{task_text(line)} {NotePath.on_disk(path).name}", self._language.code)
            for part, ((path, line, _), *_) in parts
        )
        if is_sure:
            return await self._change_tasks(step, tasks, due)
        for part, matches in parts:
            if not matches:
                self._say_no_task(step, part)
        choices = (
            tuple(dict.fromkeys(choice)) for choice in product(*(found for _, found in parts if found))
        )
        readings = [
            _task_reading(step, choice, [task for _, matches in parts for task in matches])
            for choice in islice(dict.fromkeys(choices), _MAX_CHOICES)
        ]
        is_one = all(len(reading.steps) == 1 for reading in readings)
        self._ask_for_task("Which task do you mean?" if is_one else "Which tasks do you mean?", readings)
        return None

    async def _change_tasks(
        self, step: PipelineStep, tasks: Sequence[_Task], due: date | str | None
    ) -> tuple[str, ...] | None:
        """Check, clear or reschedule tasks in one change."""
        calls: list[Arguments] = []
        changed_tasks: dict[tuple[str, str], tuple[str, str]] = {}
        # Replace the last line of a note first, so that the occurrences before it keep their numbers.
        for path, line, number in sorted(tasks, key=lambda task: -task[2]):
            new_due = due
            if isinstance(due, str):
                present = task_facts(line).due
                new_due = shifted_day(present, due) if present is not None else None
                if new_due is None:
                    which = "The task" if len(tasks) == 1 else f"“{task_text(line)}”"
                    self._say(f"{which} has no due date that can be moved. Nothing was changed.")
                    return None
            if isinstance(new_due, date):
                changed = with_due_date(line, new_due)
            else:
                box = " " if step.action == "reopen_task" else "x"
                changed = TASK_BOX.sub(rf"\g<1>[{box}]", line, count=1)
            call: Arguments = {"name": path, "op": "replace", "old": line, "text": changed}
            if index := await self._occurrence_at(path, line, number):
                call["occurrence"] = index
            calls.append(call)
            changed_tasks[path, task_text(line)] = (path, task_text(changed))
        paths = tuple(dict.fromkeys(path for path, _, _ in tasks))
        if len(calls) == 1:
            outcome = await self._call(step, "edit_note", calls[0])
        else:
            outcome = await self._call_batch("edit_note", calls)
        if not outcome.success:
            return None
        known = self._dialog.tasks if len(self._dialog.tasks) > 1 else tuple(changed_tasks)
        known = tuple(changed_tasks.get(task, task) for task in known)
        self._dialog = replace(self._dialog, tasks=known)
        self._record_change(step, outcome, paths)
        return paths

    async def _occurrence_at(self, path: str, old: str, number: int) -> int | None:
        """Return which occurrence of `old` in a note begins line `number`; None if that line differs.

        The result is also None if the note can't be read.
        """
        outcome = await self._host.call("read_note", {"name": path})
        if not outcome.success:
            return None
        text = str(outcome.result["text"])
        lines = text.split("\n")
        if number > len(lines) or not lines[number - 1].lstrip().startswith(old):
            return None
        line_start = sum(len(line) + 1 for line in lines[: number - 1])
        return text.count(old, read_frontmatter(text).body_start, line_start) + 1

    # Reading

    async def _read(self, step: PipelineStep, paths: tuple[str, ...]) -> tuple[str, ...] | None:
        if step.action == "open":
            return await self._open(paths[0])
        if step.action == "explain_relation":
            return await self._explain_relation(step, paths[0])
        argument = "node_id" if self._actions[step.action].tool in _NODE_TOOLS else "name"
        read_paths: list[str] = []
        listed_notes: list[str] = []
        values: list[str] = []
        options = _summary_options(step) if step.action == "summarize" else {}
        for path in paths[:MAX_READ_NOTES]:
            outcome = await self._call(step, self._actions[step.action].tool, {argument: path, **options})
            if not outcome.success:
                return None
            read_paths.append(path)
            listed_notes += _notes_in(step.action, outcome.result)
            values += _property_texts(outcome.result, str(step.arguments.get("about", "")))
        if len(paths) > MAX_READ_NOTES:
            self._say(f"These are the first {MAX_READ_NOTES} of {len(paths)} notes.")
        focus = (read_paths[0],) if len(read_paths) == 1 else self._dialog.focus
        is_lost = self._dialog.is_lost and len(read_paths) != 1
        results = (
            tuple(listed_notes) if listed_notes else tuple(paths) if len(paths) > 1 else self._dialog.results
        )
        self._dialog = replace(
            self._dialog, focus=focus, results=results, values=tuple(values), is_lost=is_lost
        )
        return paths

    async def _open(self, path: str) -> tuple[str, ...] | None:
        outcome = await self._host.call("read_note", {"name": path}, f"Open {wikilink(path)}.")
        self._say(format_outcome(AnsweredCall("read_note", {"name": path}), outcome))
        if not outcome.success:
            return None
        note_path = str(outcome.result["path"])
        self._host.open_note(note_path)
        self._dialog = replace(self._dialog, focus=(note_path,), is_lost=False)
        return (note_path,)

    async def _open_any(self) -> tuple[str, ...] | None:
        """Open a note of the vault, chosen at random."""
        outcome = await self._search(_ALL_NOTES_QUERY, 1)
        total = int(str(outcome.result["total"])) if outcome is not None else 0
        if total > 1:
            outcome = await self._search(_ALL_NOTES_QUERY, 1, offset=random.randrange(total))
        if outcome is None:
            return None
        if not (hits := _as_list(outcome.result, "hits")):
            self._say("No notes match.")
            return None
        return await self._open(str(hits[0]["path"]))

    async def _explain_relation(self, step: PipelineStep, path: str) -> tuple[str, ...] | None:
        other = step.arguments.get("to")
        target = other.notes[0] if isinstance(other, NoteSet) and other.notes else ""
        edge = await self._find_edge(path, target)
        if edge is None:
            self._say(f"There is no relation between {wikilink(path)} and {wikilink(target)}.")
            return None
        outcome = await self._call(step, "summarize_relationship", {"edge_id": edge})
        return (path,) if outcome.success else None

    async def _find_edge(self, first: str, second: str) -> str | None:
        """Return the id of a relation between two notes, in either direction; None if there is none."""
        for path, other in ((first, second), (second, first)):
            outcome = await self._host.call("get_node", {"node_id": path})
            if outcome.success:
                for edge in _as_list(outcome.result, "relationships"):
                    if edge.get("to_id") == other:
                        return str(edge["edge_id"])
        return None

    # Writing

    async def _create(self, step: PipelineStep) -> tuple[str, ...] | None:
        values = step.arguments
        content = _written_text(values.get("text", ""))
        tags = tuple(str(tag) for tag in as_tuple(values.get("tag", ())))
        name, folder = str(values["name"]), str(values.get("folder", ""))
        head = ""
        properties: list[str] = []
        if kind := values.get("type"):
            properties.append(f"type: {kind}")
        if tags:
            properties.append(f"tags: [{', '.join(tags)}]")
        if properties:
            head = "---\n" + "\n".join(properties) + "\n---\n"
        if head:
            content = f"{head}{content or f'# {NotePath.on_disk(name).name}'}\n"
        if template := str(values.get("template", "")):
            if content:
                self._say(_TEMPLATE_HAS_CONTENT)
                return None
            expanded = await self._expand_template(template, NotePath.on_disk(name).name)
            if expanded is None:
                return None
            content = expanded
        arguments: Arguments = {"name": name}
        if content:
            arguments["content"] = content
        if folder:
            arguments["folder"] = folder
        outcome = await self._call(step, "create_note", arguments)
        if not outcome.success:
            return None
        path = str(outcome.result["path"])
        self._record_change(step, outcome, (path,))
        self._remember_new_tasks(step, (path,))
        return (path,)

    async def _expand_template(self, template: str, title: str) -> str | None:
        """Return the text of a template for a note with this title; None if it can't be read as a whole."""
        text, words = await self._read_whole(template), self._words()
        if text is None:
            return None
        text = text.removeprefix(BOM)
        if "<%" in text:
            self._say("Templater commands (<% … %>) were copied but not run.")
        formats = {"date_format": words.date_format, "time_format": words.time_format}
        now = self._now()
        if (day := _day_of(title)) is not None:
            now = datetime.combine(day, now.time())  # the note of tomorrow has the date of tomorrow
        return expand(text, title, now, **formats).text

    async def _with_places(self, question: Clarification, path: str, old: str) -> Clarification:
        """Return a question about occurrences with the words around each, unless the note can't be read."""
        outcome = await self._host.call("read_note", {"name": path})
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

    async def _read_whole(self, path: str) -> str | None:
        """Return the whole text of a note; tell the user and return None if it can't be read completely."""
        outcome = await self._host.call("read_note", {"name": path})
        if not outcome.success:
            self._say(format_outcome(AnsweredCall("read_note", {"name": path}), outcome))
            return None
        text = str(outcome.result["text"])
        if content_hash(text.encode()) == outcome.result["hash"]:
            return text
        # The text is cut, or some of its bytes are replaced.
        self._say(f"{wikilink(path)} is too large or not valid UTF-8. Nothing was changed.")
        return None

    async def _write(self, step: PipelineStep, paths: tuple[str, ...]) -> tuple[str, ...] | None:
        calls = await self._calls(step, paths)
        if calls is None:
            return None
        tool = self._actions[step.action].tool
        if not calls:
            self._say("There is nothing to change.")
            return paths
        if tool in _BATCH_TOOLS and len(calls) > 1:
            outcome = await self._call_batch(tool, calls)
            if not outcome.success:
                return None
            self._record_change(step, outcome, paths)
            # A note that had the tag before is not changed, so an undo must not remove the tag.
            changed = outcome.result["notes"]
            assert isinstance(changed, list)
            self._describe_last_change(outcome, tuple(map(str, changed)))
            self._remember_new_tasks(step, paths)
            return paths
        changed_paths: list[str] = []
        for index, call in enumerate(calls):
            outcome = await self._host.call(tool, call)
            self._question = _which_occurrence(step, outcome, self._language)
            if self._question is not None:
                self._question = await self._with_places(self._question, str(call["name"]), str(call["old"]))
            if not outcome.success and self._question is None:
                self._question = which_table(step, outcome.error or {}, self._language)
            if self._question is None:  # the question replaces the error message
                self._say_step_outcome(step, tool, call, outcome)
            if not outcome.success:
                self._say_skipped_notes([name for other in calls[index + 1 :] if (name := _note_of(other))])
                return None
            paths_after = _paths_after(step, call, outcome)
            changed_paths += paths_after
            self._record_change(step, outcome, tuple(changed_paths), paths)
            # An undo names only the notes of this call, a moved one by its new path first.
            own = (*paths_after, *(path for path in paths if path == _note_of(call)))
            self._describe_last_change(outcome, tuple(dict.fromkeys(own)))
        self._remember_new_tasks(step, changed_paths)
        return tuple(dict.fromkeys(changed_paths))

    def _remember_new_tasks(self, step: PipelineStep, paths: Sequence[str]) -> None:
        """Remember the tasks that a step added, for "tick it off" and "make it due on Friday"."""
        if adds_tasks(step):
            self._dialog = replace(self._dialog, tasks=tasks_of(step, paths))

    def _move_paths(self, before: str, after: str) -> None:
        """Replace the paths of the notes in a folder that has moved."""
        dialog = self._dialog
        for path in {*dialog.focus, *dialog.results, *dialog.recent, *(path for path, _ in dialog.tasks)}:
            if (moved := _moved_path(path, before, after)) != path:
                focus = tuple(moved if own == path else own for own in self._dialog.focus)
                self._dialog = replace(self._dialog.with_moved_note(path, moved), focus=focus)

    def _say_skipped_notes(self, names: Sequence[str]) -> None:
        """List the notes of a step that were left after a call that failed or was denied."""
        if names:
            lines = [f"- {wikilink(name)}" for name in names[:MAX_LISTED_NOTES]]
            remainder = f"\n\n… and {len(names) - len(lines)} more." if len(names) > len(lines) else ""
            head = "This note was left as it is:" if len(names) == 1 else "These notes were left as they are:"
            self._say("\n".join([f"{head}\n", *lines]) + remainder)

    async def _calls(self, step: PipelineStep, paths: tuple[str, ...]) -> list[Arguments] | None:
        """Return the tool calls of a writing step; None after telling the user why there are none."""
        arguments = step.arguments
        match step.action:
            case "add_tag" | "remove_tag":
                return [
                    {"name": path, "tag": str(tag)} for path in paths for tag in as_tuple(arguments["tag"])
                ]
            case "remove_all_tags":
                return [call for path in paths for call in await self._tag_calls(path)]
            case "append" if arguments.get("place") == IN_TABLE and not await self._has_table(step, paths):
                return None
            case "append":
                text = _written_text(arguments["text"])
                op: Arguments = {"op": "append", "text": text}
                if heading := arguments.get("heading"):
                    op = {"op": "insert_under", "heading": str(heading), "text": text}
                    return [{"name": path, **op} for path in paths]
                return [{"name": path, **op, "text": await self._as_item(path, text)} for path in paths]
            case "prepend":
                return [
                    {"name": path, "op": "prepend", "text": _written_text(arguments["text"])}
                    for path in paths
                ]
            case "replace" if arguments.get("occurrence") == ALL_OCCURRENCES:
                return await self._replacement_calls(step, paths)
            case "replace":
                replacement = {"op": "replace", "old": str(arguments["old"]), "text": str(arguments["text"])}
                number = int(str(arguments.get("occurrence") or 0))
                place = {"occurrence": number} if number else {}
                return [{"name": path, **replacement, **place} for path in paths]
            case "remove_text" if "whole" in arguments:
                return await self._line_removal_calls(step, paths)
            case "remove_text":
                return await self._removal_calls(paths, str(arguments["old"]))
            case "set_property":
                key = str(arguments["key"])
                value = self._words().typed_value(key, arguments["value"])
                value = list(value) if isinstance(value, tuple) else value
                return [
                    {"name": path, "properties": {key: self._kept_list(path, key, value)}} for path in paths
                ]
            case "set_confidence":
                return [
                    {"name": path, "properties": {"confidence": arguments["confidence"]}} for path in paths
                ]
            case "remove_property":
                return [{"name": path, "remove": [str(arguments["key"])]} for path in paths]
            case "rename_property":
                return [{**self._plain_arguments(step), "names": list(paths)}]
            case "rename_heading":
                if len(paths) > 1:
                    self._say(
                        "I can rename a heading in only one note at a time. Nothing was changed."
                        " Name the note."
                    )
                    return None
                headings = {name: str(arguments[name]) for name in ("heading", "new_heading")}
                return [{"name": paths[0], **headings}]
            case "rename":
                return [{"name": paths[0], "new_name": str(arguments["new_name"])}]
            case "move":
                return [{"name": path, "folder": str(arguments["folder"])} for path in paths]
            case "delete" | "link_mentions":
                return [{"name": path} for path in paths]
            case "merge":
                return [
                    {
                        "primary_node_id": paths[0],
                        "secondary_node_id": _named_note(arguments["other"]),
                        "merge_strategy": "combine",
                    }
                ]
            case "relate":
                return self._relation_calls(step, paths)
            case "unrelate":
                second = _named_note(arguments["to"])
                edge = await self._find_edge(paths[0], second)
                if edge is None:
                    self._say(f"There is no relation between {wikilink(paths[0])} and {wikilink(second)}.")
                    return None
                return [{"edge_id": edge}]
            case "set_type":
                return [{"node_id": path, "new_type": str(arguments["type"])} for path in paths]
            case "recalculate":
                return [{"node_id": path} for path in paths]
            case _:
                raise ValueError(f"no calls for {step.action}")

    def _kept_list(self, path: str, key: str, value: object) -> object:
        """Return a single value as a list if the note's property is one, so that its kind stays.

        A property without a value is a list if most other notes have a list.
        """
        if self._properties_of is None or isinstance(value, list | Mapping) or value in ("", None):
            return value
        known = self._properties_of(path).items()
        present = next((own for name, own in known if name_key(name) == name_key(key)), None)
        is_list = isinstance(present, list | tuple)
        return [value] if is_list or (present in (None, "") and self._words().is_list(key)) else value

    @staticmethod
    def _relation_calls(step: PipelineStep, paths: tuple[str, ...]) -> list[Arguments]:
        others = _named_notes(step.arguments["to"])
        options: Arguments = {"relationship_type": str(step.arguments.get("type") or "relates_to")}
        if "confidence" in step.arguments:
            options["confidence"] = step.arguments["confidence"]
        return [{"from_id": path, "to_id": other, **options} for path in paths for other in others]

    async def _tag_calls(self, path: str) -> list[Arguments]:
        outcome = await self._host.call("get_metadata", {"name": path})
        tags = outcome.result.get("tags", ()) if outcome.success else ()
        return [{"name": path, "tag": str(tag)} for tag in as_tuple(tags)]

    async def _replacement_calls(self, step: PipelineStep, paths: tuple[str, ...]) -> list[Arguments] | None:
        """Return the calls that replace every occurrence of a text as whole words.

        If a note can't be read or has none, tell the user and return None.
        """
        calls: list[Arguments] = []
        for path in paths:
            text, old = await self._read_whole(path), str(step.arguments["old"])
            if text is None:
                return None
            body = text[read_frontmatter(text).body_start :]
            first, last = 0, len(body)
            if heading := str(step.arguments.get("heading", "")):
                if (bounds := self._section_of(path, text, heading)) is None:
                    return None
                first, last = (at - (len(text) - len(body)) for at in bounds)
            word = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)")
            places = [
                at
                for at, match in enumerate(re.finditer(re.escape(old), body), 1)
                if first <= match.start() < last and word.match(body, match.start())
            ]
            if not places and heading:
                self._say(f"“{old}” does not occur under “{heading}”. Nothing was changed.")
                return None
            if not places:
                self._say(f"“{old}” does not occur as a whole word in {wikilink(path)}. Nothing was changed.")
                return None
            # Replace the last occurrence first, so that the others keep their numbers.
            for place in reversed(places):
                calls += await self._calls(step.with_argument("occurrence", str(place)), (path,)) or ()
        return calls

    async def _has_table(self, step: PipelineStep, paths: tuple[str, ...]) -> bool:
        """Return whether each note has a table for a new row; tell the user if one has none."""
        heading = str(step.arguments.get("heading", ""))
        for path in paths:
            if (text := await self._read_whole(path)) is None:
                return False
            try:
                is_found = add_rows(text, str(step.arguments["text"]), heading) is not None
            except (NotFoundError, AmbiguousError):
                continue  # the tool says so
            if not is_found:
                where = f" under “{heading}”" if heading else ""
                self._say(f"{wikilink(path)} has no table{where}. Nothing was changed.")
                return False
        return True

    def _section_of(self, path: str, text: str, heading: str) -> tuple[int, int] | None:
        """Return the start and end of a heading's section; tell the user and return None without one."""
        try:
            found = section(text, heading)
        except (NotFoundError, AmbiguousError):
            self._say(f"{wikilink(path)} has no single heading “{heading}”. Nothing was changed.")
            return None
        return found.start, found.end

    async def _removal_calls(self, paths: tuple[str, ...], words: str) -> list[Arguments] | None:
        """Return the calls that remove `words` from each note, or the list item that contains nothing else.

        If a note can't be read or does not contain the words, tell the user and return None.
        """
        # Casefolding could change the length of a line, and with it the position of the words.
        pattern = re.compile(re.escape(words), re.IGNORECASE)
        calls: list[Arguments] = []
        for path in paths:
            outcome = await self._host.call("read_note", {"name": path})
            if not outcome.success:
                self._say(format_outcome(AnsweredCall("read_note", {"name": path}), outcome))
                return None
            text = strip_properties(str(outcome.result["text"]))
            lines = [line for line in text.splitlines() if pattern.search(line)]
            if not lines:
                self._say(f"“{words}” does not occur in {wikilink(path)}.")
                return None
            items = [line for line in lines if _item_text(line).casefold() == words.casefold()]
            if len(items) == 1 and text.count(f"{items[0]}\n") == 1:
                calls.append({"name": path, "op": "replace", "old": f"{items[0]}\n", "text": ""})
            else:
                old = pattern.findall((items or lines)[0])[0]
                calls.append({"name": path, "op": "replace", "old": old, "text": ""})
        return calls

    async def _as_item(self, path: str, text: str) -> str:
        """Return an added line as an item if the note is a list by its name and ends with one."""
        name = NotePath.on_disk(path).name
        is_list = any(is_list_name(name, language) for language in languages())
        if not is_list or "\n" in text.strip() or text in self._quoted:
            return text
        outcome = await self._host.call("read_note", {"name": path})
        last = str(outcome.result["text"]).rstrip().rpartition("\n")[2] if outcome.success else ""
        item = _LIST_ITEM.match(last)
        if item is None or _LIST_ITEM.match(text) or _BLOCK_START.match(text):
            return text
        return f"{item[1]}{'[ ] ' if item[2] else ''}{text}"

    async def _line_removal_calls(self, step: PipelineStep, paths: tuple[str, ...]) -> list[Arguments] | None:
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
            whole = await self._read_whole(path)
            if whole is None:
                return None
            start = read_frontmatter(whole).body_start
            found: list[tuple[str, int]] = []
            for text in dict.fromkeys(texts):
                found = found or lines_with(whole, start, text, only_tasks=what == TASK)
            if not found:
                hits = await self._search_all('task:""') if what == TASK and len(paths) == 1 else None
                if hits and self._ask_for_task_elsewhere(step, hits, paths):
                    return None
                kind = "task" if what == TASK else "line"
                self._say(f"No {kind} in {wikilink(path)} contains “{words}”. Nothing was changed.")
                return None
            found = found[number - 1 : number] or found if number else found
            if len(found) > 1:
                steps = [
                    replace(step, target=NoteSet(notes=(path,))).with_argument("occurrence", str(at))
                    for at in range(1, min(len(found), _MAX_CHOICES) + 1)
                ]
                labels = [line.strip() for line, _ in found]
                readings = [Reading((own,), 1.0, language=self._language.code) for own in steps]
                self._question = Clarification(
                    "Which line do you mean?",
                    tuple(
                        ClarificationOption(label, own) for label, own in zip(labels, readings, strict=False)
                    ),
                )
                return None
            line, at = found[0]
            old = f"{line}\n" if whole[at + len(line) :].startswith("\n") else line
            if old == line and at > start:
                old, at = f"\n{line}", at - 1
            call: Arguments = {"name": path, "op": "replace", "old": old, "text": ""}
            if whole.count(old, start) > 1:
                call["occurrence"] = whole.count(old, start, at) + 1
            calls.append(call)
        return calls

    def _record_change(
        self, step: PipelineStep, outcome: ToolOutcome, paths: tuple[str, ...], before: tuple[str, ...] = ()
    ) -> None:
        """Remember the change of a step to the notes at `paths`, which were at `before` until then.

        The dialog remembers several notes as "these", and a single one as "it".
        """
        changes = self._dialog.changes
        if outcome.commit is not None and outcome.entry:
            notes = tuple(dict.fromkeys((*paths, *before)))
            changes = (*changes, OwnChange(outcome.entry, step.action, notes, step.arguments))
            self._dialog = replace(self._dialog, undone=())
        focus = paths[-1:] if len(set(paths)) == 1 else self._dialog.focus
        results = paths if len(set(paths)) > 1 else self._dialog.results
        is_lost = self._dialog.is_lost and not paths
        self._dialog = replace(self._dialog, changes=changes, focus=focus, results=results, is_lost=is_lost)

    # Undo

    def _entries_to_undo(self, step: PipelineStep) -> Sequence[int | None]:
        """Return the audit entries that an undo undoes, the last one first; None for the last of any.

        If there are none, tell the user.
        """
        scope, changes = str(step.arguments.get("scope") or "last"), self._dialog.changes
        entries: Sequence[int | None] = [change.entry for change in changes_of_undo(step, changes)]
        if entries:
            return entries
        if step.target is not None and not step.target.notes:
            self._say("There is nothing to undo.")
            return ()
        if step.target is not None:
            names = ", ".join(map(wikilink, step.target.notes[:MAX_READ_NOTES]))
            self._say(f"I have not changed {names} in this conversation.")
            return ()
        if action := str(step.arguments.get("what", "")):
            kind = Reading((PipelineStep(action),), 1.0, language=self._language.code)
            label = describe_readings([kind])[0]
            self._say(f"I have made no change “{label}” in this conversation. Nothing was undone.")
            return ()
        if scope == "today":
            entries = self._changes_today()[::-1]
        elif not changes and scope.startswith("last"):
            # The last changes of other conversations count if this one has none.
            count = scope.partition(":")[2]
            is_count = count.isdecimal() and int(count) > 0
            entries = (None,) if not count else self._changes_today()[-int(count) :][::-1] if is_count else ()
        if not entries:
            self._say("There is nothing to undo.")
        return entries

    async def _undo(self, step: PipelineStep) -> tuple[str, ...] | None:
        if not (entries := self._entries_to_undo(step)):
            return None
        undone: dict[int, int] = {}  # the undone entries, with those of the undos
        for index, entry in enumerate(entries):
            arguments: Arguments = {} if entry is None else {"entry": entry}
            outcome = await self._host.call("undo", arguments)
            if entry is None and outcome.success and outcome.commit is None:
                self._say("There is nothing to undo.")
                return None
            self._say_outcome(AnsweredCall("undo", arguments), outcome)
            if not outcome.success:
                if remaining_count := len(entries) - index - 1:
                    was = pluralize(remaining_count, "other change was", "other changes were")
                    self._say(f"{was} not undone.")
                break
            undone[entry or 0] = outcome.entry
        own = {change.entry: change for change in self._dialog.changes}
        changes = [own.get(entry, OwnChange(entry, "", ())) for entry in undone]
        for change in changes:
            self._update_paths_after_move(change.action, change.notes)
        # The notes are again at the paths that the changes list last.
        undone_notes = [change.notes[::-1] for change in changes if change.action not in FOLDER_ACTIONS]
        focus = undone_notes[0] if len(undone_notes) == 1 and undone_notes[0] else self._dialog.focus
        self._dialog = replace(
            self._dialog,
            changes=tuple(change for change in self._dialog.changes if change.entry not in undone),
            undone=(
                *self._dialog.undone,
                *(replace(change, entry=undone[change.entry]) for change in changes),
            ),
            focus=focus,
        )
        return () if len(undone) == len(entries) else None

    async def _redo(self) -> tuple[str, ...] | None:
        """Undo the last undo of this conversation."""
        if not self._dialog.undone:
            self._say("There is nothing to redo.")
            return None
        *others, change = self._dialog.undone
        arguments: Arguments = {"entry": change.entry}
        outcome = await self._host.call("undo", arguments)
        self._say_outcome(AnsweredCall("undo", {**arguments, "redone": change.action}, "redo"), outcome)
        if not outcome.success:
            return None
        paths = change.notes[:1] if change.action not in FOLDER_ACTIONS else ()
        self._record_change(PipelineStep(change.action, None, change.arguments), outcome, paths)
        self._dialog = replace(self._dialog, undone=tuple(others))
        self._describe_last_change(outcome, change.notes)
        if others:
            were = pluralize(len(others), "other change was", "other changes were")
            self._say(f"{were} undone, too. Say “redo” again to make the next one.")
        return paths

    def _describe_last_change(self, outcome: ToolOutcome, notes: tuple[str, ...]) -> None:
        """Set the notes of the change that was just recorded, and follow them if they moved."""
        if outcome.commit is not None and outcome.entry:
            *changes, last = self._dialog.changes
            self._dialog = replace(self._dialog, changes=(*changes, replace(last, notes=notes)))
            self._update_paths_after_move(last.action, notes[::-1])

    def _update_paths_after_move(self, action: str, notes: tuple[str, ...]) -> None:
        """Replace the paths of a moved note, or of those in a moved folder: the first by the second path.

        Later steps use the new paths, too.
        """
        if len(notes) == 2 and action in (*MOVING_ACTIONS, *FOLDER_ACTIONS):
            self._moves.append((notes[0], notes[1]))
        if len(notes) == 2 and action in MOVING_ACTIONS:
            self._dialog = self._dialog.with_moved_note(*notes)
        elif len(notes) == 2 and action in FOLDER_ACTIONS:
            self._move_paths(*notes)

    async def _call(self, step: PipelineStep, tool: str, arguments: Mapping[str, object]) -> ToolOutcome:
        """Call a tool and show its outcome."""
        outcome = await self._host.call(tool, arguments)
        self._say_step_outcome(step, tool, arguments, outcome)
        return outcome

    def _say_step_outcome(
        self, step: PipelineStep, tool: str, arguments: Mapping[str, object], outcome: ToolOutcome
    ) -> None:
        intent = "fact" if "about" in step.arguments else _INTENTS.get(step.action, "")
        display = {name: step.arguments[name] for name in _DISPLAY_ARGUMENTS if name in step.arguments}
        self._say_outcome(AnsweredCall(tool, {**arguments, **display}, intent), outcome)

    async def _call_batch(self, tool: str, calls: Sequence[Arguments]) -> ToolOutcome:
        """Call a tool for several notes in one change, and show the outcome."""
        names = [str(call.pop("name")) for call in calls]
        batch = make_batch_tool(self._registry.get(tool))
        outcome = await self._host.call(batch, {"names": names, "arguments": list(calls)})
        self._say_outcome(AnsweredCall(tool, {}, "batch"), outcome)
        return outcome


_DISPLAY_ARGUMENTS = ("about", "side")
"""Step arguments that select the displayed part of a tool's result."""
_MAX_SENTENCE_LENGTH, _MAX_SUMMARY_LENGTH = 250, 5_000
_SUMMARY_OPTIONS = ("style", "max_sentences", "max_length")
_BATCH_TOOLS = frozenset(("add_tag", "remove_tag", "set_properties", "edit_note"))
_NODE_TOOLS = frozenset(
    ("summarize_node", "get_node", "summarize_node_with_context", "recalculate_node_confidence")
)
_INTENTS = {
    "backlinks": "backlinks",
    "outgoing": "outgoing",
    "tags_of": "note-tags",
    "properties_of": "details",
}


def _moved_path(path: str, before: str, after: str) -> str:
    """Return the path that a note or folder has after the note or folder at `before` was moved to `after`."""
    if path == before:
        return after
    is_inside = NotePath.on_disk(path).is_under(before)
    return "/".join((after, *path.split("/")[before.count("/") + 1 :])) if is_inside else path


def _day_of(name: str) -> date | None:
    """Return the day that a daily note is named for, or None for other names."""
    try:
        return date.fromisoformat(re.sub("[_.]", "-", name)) if _DAY_NAME.fullmatch(name) else None
    except ValueError:
        return None


def _search_limit(notes: NoteSet) -> int:
    """Return the number of hits that a set needs; a position or limit from the end needs all of them."""
    needed = notes.limit if notes.pick is None else notes.pick
    # Without an order, the search ranks a few hits in another way than many.
    if not notes.order or needed is None or needed < 0:
        return MAX_WRITTEN_NOTES
    return min(needed, MAX_WRITTEN_NOTES)


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
    shown = count if count <= _MAX_CHOICES else _MAX_CHOICES - 1
    spare = options[shown:-1]
    return Clarification("Which occurrence do you mean?", (*options[:shown], options[-1]), spare=spare)


def _summary_options(step: PipelineStep) -> Arguments:
    """Return the options of a summary as the tool takes them; the notation has numbers as text."""
    values = {name: str(step.arguments[name]) for name in _SUMMARY_OPTIONS if name in step.arguments}
    options: Arguments = {name: int(value) if value.isdecimal() else value for name, value in values.items()}
    if isinstance(sentences := options.get("max_sentences"), int):
        options["max_length"] = min(_MAX_SENTENCE_LENGTH * sentences, _MAX_SUMMARY_LENGTH)
    return options


def _property_texts(result: Mapping[str, Any], about: str) -> list[str]:
    """Return the texts of a property in a note's details, links by their labels, or none."""
    key = property_key(result, about)
    value = result["properties"][key] if key else ()
    return [property_label(text) for text in as_tuple(value) if isinstance(text, str)]


def _task_reading(step: PipelineStep, tasks: Sequence[_Task], matches: Sequence[_Task]) -> Reading:
    """Return the reading that selects `tasks` among `matches`, by their numbers if texts are not unique."""
    steps: list[PipelineStep] = []
    for task in tasks:
        path, line, _ = task
        text = task_text(line)
        equal_tasks = [
            match
            for match in dict.fromkeys(matches)
            if match[0] == path and task_text(match[1]).casefold() == text.casefold()
        ]
        arguments = {**step.arguments, "query": text}
        if len(equal_tasks) > 1:
            arguments["occurrence"] = str(equal_tasks.index(task) + 1)
        steps.append(PipelineStep(step.action, NoteSet(notes=(path,)), arguments))
    return Reading(tuple(steps), 1.0)


def _parse_due(text: str) -> date | str | None:
    """Parse a due date; a shift of the present one ("+1 week") stays text. Return None for other text."""
    if shifted_day(date.today(), text) is not None:
        return text
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _is_name_of(notes: NoteSet | None, words: str) -> bool:
    """Return whether the words for a task are only the name of its note: "the task in Errands"."""
    if notes is None or not notes.is_single:
        return False
    return words.casefold() == NotePath.on_disk(notes.notes[0]).name.casefold()


def _tasks_by_due_date(tasks: Sequence[tuple[str, str]], kind: str) -> list[tuple[str, str]]:
    """Return the tasks that a kind of due date selects (see `DUE_KINDS`), those due first on top."""
    pairs = [(task_facts(task_text(task[1])).due, task) for task in tasks]
    undated = [task for day, task in pairs if day is None]
    by_day = sorted(((day, task) for day, task in pairs if day is not None), key=lambda pair: pair[0])
    dated = [task for _, task in by_day]
    match kind:
        case "first":
            return [task for day, task in by_day if day == by_day[0][0]]
        case "undated":
            return undated
        case "dated":
            return dated
        case _:
            return [*dated, *undated]


def _days_within(task: str, days: str) -> list[str]:
    """Return those of `days`, a day or a range `first..last`, on which an open task is due.

    For a completed task, and for a task without a due date, these are the days that it names.
    """
    first, _, last = days.partition("..")
    box = TASK_BOX.match(task)
    due = task_facts(task_text(task)).due if box is not None and box[0].endswith("[ ]") else None
    named = [due.isoformat()] if due is not None else re.findall(_DAY, task)
    return [day for day in named if first <= day <= (last or first)]


def _notes_in(action: str, result: Mapping[str, Any]) -> list[str]:
    """Return the notes in a tool's result, for "the first one" in the next request."""
    match action:
        case "backlinks":
            return [str(path) for path in result.get("backlinks", ())]
        case "outgoing":
            return [str(path) for path in result.get("forward_links", ())]
        case "related" | "similar":
            return [str(note["path"]) for note in result.get("related", ())]
        case _:
            return []


def _paths_after(step: PipelineStep, call: Mapping[str, object], outcome: ToolOutcome) -> list[str]:
    """Return the path of a call's note after the call; empty after a deletion."""
    result = outcome.result
    for key in ("new_path", "path", "node_id", "primary_node_id", "from_id"):
        if isinstance(path := result.get(key), str) and step.action != "delete":
            return [path]
    if step.action == "rename_property":
        return [str(path) for path in _as_list(result, "notes")]
    name = _note_of(call)
    return [name] if name and step.action != "delete" else []


def _note_of(call: Mapping[str, object]) -> str:
    """Return the note that a call's arguments name first; empty without one."""
    return next(
        (str(call[key]) for key in ("name", "node_id", "from_id", "primary_node_id") if key in call), ""
    )


def _folder_arguments(step: PipelineStep) -> Arguments:
    """Return the arguments that rename a folder in its parent, or move it into another one."""
    folder = str(step.arguments["folder"]).strip("/")
    parent, _, name = folder.rpartition("/")
    parent = str(step.arguments.get("parent", parent)).strip("/")
    name = str(step.arguments.get("new_name", name)).strip("/")
    # A new name with folders is the whole new path.
    return {"folder": folder, "new_folder": name if "/" in name or not parent else f"{parent}/{name}"}


def _tool_arguments(step: PipelineStep) -> Arguments:
    """Return the tool arguments of a step whose action was generated from the tool's examples."""
    return {
        name: value.notes[0]
        if isinstance(value, NoteSet) and value.notes
        else _first_item(value)
        if isinstance(value, tuple)
        else value
        for name, value in step.arguments.items()
    }


def _named_note(value: object) -> str:
    """Return the note that an argument names."""
    return value.notes[0] if isinstance(value, NoteSet) else str(value)


def _named_notes(value: object) -> tuple[str, ...]:
    """Return the notes that an argument names."""
    return value.notes if isinstance(value, NoteSet) else (str(value),)


def lines_with(text: str, start: int, words: str, *, only_tasks: bool) -> list[tuple[str, int]]:
    """Return the lines with some words, each with its position; if possible, only those with nothing else.

    Args:
        text: A note's text.
        start: The position at which its prose starts.
        words: The words, in any case.
        only_tasks: Whether the line must be a task.
    """
    found: list[tuple[str, int]] = []
    at = start
    for part in text[start:].splitlines(keepends=True):
        line = part.rstrip("\r\n")
        is_kind = not only_tasks or TASK_BOX.match(line)
        if is_kind and words.casefold() in line.casefold():
            found.append((line, at))
        at += len(part)
    item = words.casefold()
    exact = [own for own in found if item in (_item_text(own[0]).casefold(), own[0].strip().casefold())]
    dated = [own for own in found if task_facts(_item_text(own[0])).text.casefold() == item]
    return exact or dated or found


def _item_text(line: str) -> str:
    return line.strip().lstrip("-*+ ").removeprefix("[ ] ").removeprefix("[x] ").strip()


def _written_text(text: object) -> str:
    """Return the text that a step adds to a note; items as a Markdown list."""
    return bullet_list(map(str, text)) if isinstance(text, tuple) else str(text)


def _as_list(result: Mapping[str, object], key: str) -> list[Any]:
    items = result.get(key, ())
    return list(items) if isinstance(items, list | tuple) else []


def _first_item(value: object) -> str:
    return str(as_tuple(value)[0])
