"""Find, count and list notes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from app.agent.answered_call import AnsweredCall
from app.agent.generic_formatting import wikilink
from app.agent.language.meaning.dialog import MAX_RESULTS
from app.agent.language.meaning.readings import NoteSet, PipelineStep
from app.agent.pipeline.logseq_notices import LogseqNotices
from app.agent.pipeline.note_search import ALL_NOTES_QUERY, NoteSearch, Selection
from app.agent.pipeline.run_state import RunState
from app.agent.pipeline.tool_calls import ToolCalls, items_of
from app.agent.result_formatting import format_outcome
from app.permissions.pluralize import pluralize
from app.toolkit.outcome import ToolOutcome

_TASK_CONDITION = re.compile(r"\btask(-todo|-done)?:")
MAX_LISTED_NOTES = 20
_MAX_DETAILED_NOTES = 5


class NoteLists:
    """Lists notes, and remembers them for the next request.

    Args:
        tools: Calls the tools and shows their outcomes.
        search: Searches for notes.
        state: The state of the dialog.
        notices: Tells the user about syntax of Logseq that a search can't see.
    """

    def __init__(self, tools: ToolCalls, search: NoteSearch, state: RunState, notices: LogseqNotices) -> None:
        self._tools = tools
        self._search = search
        self._state = state
        self._notices = notices

    async def find(self, step: PipelineStep, previous: tuple[str, ...]) -> tuple[str, ...] | None:
        """Find or count notes; mention syntax of Logseq that the search can't see."""
        paths = await self._find_listed(step, previous)
        query = step.target.query if step.target is not None else ""
        if paths is not None and _TASK_CONDITION.search(query) and not paths:
            await self._notices.say_unread_tasks()
        if paths is not None:
            await self._notices.say_unread_properties(query)
        return paths

    async def _find_listed(self, step: PipelineStep, previous: tuple[str, ...]) -> tuple[str, ...] | None:
        target = step.target or NoteSet()
        if target.source or target.notes or target.limit or target.pick:
            selection = await self._search.select(target, previous)
            if selection is None:
                return None
            paths = selection.paths
            self._say_list(selection, target.notes, count_only=step.action == "count")
            if target.source and not paths and self._state.dialog.them:
                self._state.keep_list()
                return paths
            is_part = bool(target.notes) and (target.pick is not None or target.limit is not None)
            listed = target.notes if is_part else self._state.dialog.them
            if listed in (previous if target.source else (), target.notes):
                rest = tuple(path for path in listed if path not in paths)
                self._state.dialog = replace(self._state.dialog, rest=rest)
        else:
            query = target.query or ALL_NOTES_QUERY
            outcome = await self._search.search(query, MAX_RESULTS, target.order)
            if outcome is None:
                return None
            if step.action == "count":
                total = int(str(outcome.result["total"]))
                self._tools.say(f"{pluralize(total, 'note')}.")
                paths = tuple(str(hit["path"]) for hit in items_of(outcome.result, "hits"))
                self._state.dialog = replace(self._state.dialog, results=paths)
                return paths
            paths = tuple(str(hit["path"]) for hit in items_of(outcome.result, "hits"))
            call = AnsweredCall("search_notes", {"query": target.query}, "find")
            listed = self._listed_before(target)
            self._tools.say((not paths and _none_of(listed)) or format_outcome(call, outcome))
            rest = tuple(path for path in listed if path not in paths)
            self._state.dialog = replace(self._state.dialog, rest=rest)
            if listed and not paths:
                self._state.keep_list()
                return paths
        self._state.remember(paths)
        return paths

    def _listed_before(self, target: NoteSet) -> tuple[str, ...]:
        """Return the listed notes if the search that found them is narrowed down; else no notes."""
        last = self._state.dialog.last.last.target if self._state.dialog.last is not None else None
        is_narrowed = last is not None and bool(last.query) and target.query.startswith(f"{last.query} ")
        return self._state.dialog.results if is_narrowed and self._state.dialog.has_search else ()

    def _say_list(self, selection: Selection, named: tuple[str, ...], *, count_only: bool) -> None:
        paths = selection.paths
        if not paths:
            listed = named or (self._state.dialog.them if selection.is_from_given else ())
            self._tools.say(_none_of(listed if selection.total == len(listed) else ()) or "No notes match.")
            return
        count = pluralize(len(paths), "note")
        # Without the number of notes to choose from, the count would contradict that of the search.
        if len(paths) < selection.total:
            count += f" (of {'these ' if selection.is_from_given else ''}{selection.total:,})"
        if count_only:
            self._tools.say(f"{count}.")
            return
        lines = "\n".join(f"- {wikilink(path)}" for path in paths[:MAX_LISTED_NOTES])
        omitted = len(paths) - MAX_LISTED_NOTES
        remainder = f"\n\n… and {omitted} more." if omitted > 0 else ""
        self._tools.say(f"{count}:\n\n{lines}{remainder}")

    def remember_hits(self, outcome: ToolOutcome) -> tuple[str, ...] | None:
        """Remember the notes of a search by meaning; return them, or None if it failed."""
        if not outcome.success:
            return None
        paths = tuple(dict.fromkeys(str(hit["path"]) for hit in items_of(outcome.result, "hits")))
        self._state.remember(paths)
        return paths

    async def list_unresolved_links(
        self, notes: NoteSet, previous: tuple[str, ...]
    ) -> tuple[str, ...] | None:
        """List the notes of a set with unresolved links, and the links of the first `_MAX_DETAILED_NOTES`."""
        paths = await self._search.resolve(notes.with_query("unresolved:"), previous)
        if paths is None:
            return None
        if not paths:
            where = wikilink(notes.notes[0]) if notes.is_single else "these notes"
            self._tools.say(f"Every link in {where} resolves to a note.")
            return ()
        lines = [f"- {wikilink(path)}" for path in paths[:MAX_LISTED_NOTES]]
        for index, path in enumerate(paths[:_MAX_DETAILED_NOTES]):
            outcome = await self._tools.call("get_metadata", {"name": path})
            if not outcome.success:
                self._tools.say_result("get_metadata", {"name": path}, outcome)
                return None
            targets = ", ".join(f"[[{target}]]" for target in items_of(outcome.result, "unresolved_links"))
            lines[index] += f": {targets}"
        omitted = len(paths) - MAX_LISTED_NOTES
        remainder = f"\n\n… and {omitted} more." if omitted > 0 else ""
        listed = "\n".join(lines)
        self._tools.say(f"{pluralize(len(paths), 'note')} with unresolved links:\n\n{listed}{remainder}")
        self._state.remember(paths)
        return paths

    async def list_tags_with_uses(self, uses: int) -> tuple[str, ...] | None:
        """List the tags that exactly `uses` notes have."""
        outcome = await self._tools.call("list_tags", {})
        if not outcome.success:
            self._tools.say_result("list_tags", {}, outcome)
            return None
        tags = [tag for tag in items_of(outcome.result, "tags") if tag["count"] == uses]
        result = {**outcome.result, "tags": tags}
        self._tools.say(format_outcome(AnsweredCall("list_tags", {}), replace(outcome, result=result)))
        return self._state.dialog.them


def _none_of(paths: Sequence[str]) -> str:
    """Return the answer that none of the listed notes matches; empty without listed notes."""
    if len(paths) == 1:
        return f"{wikilink(paths[0])} does not match."
    return f"None of these {len(paths):,} notes match." if paths else ""
