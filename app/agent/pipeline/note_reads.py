"""Open notes, and show what a step asks about them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.agent.generic_formatting import wikilink
from app.agent.language.grammar.note_facts import may_be_summed
from app.agent.language.meaning.actions import Action
from app.agent.language.meaning.readings import NoteSet, PipelineStep, as_tuple
from app.agent.language.words.vault_words import property_label
from app.agent.pipeline.host import Arguments
from app.agent.pipeline.note_search import ALL_NOTES_QUERY, NoteSearch
from app.agent.pipeline.relation_edges import find_edge
from app.agent.pipeline.run_state import RunState
from app.agent.pipeline.tool_calls import ToolCalls, items_of
from app.agent.result_formatting import property_key

MAX_READ_NOTES = 5
"""Maximum number of notes that are shown in full."""
_MAX_FACTS = 20
"""Maximum number of notes of which one property is shown."""
_MAX_SENTENCE_LENGTH, _MAX_SUMMARY_LENGTH = 250, 5_000
_SUMMARY_OPTIONS = ("style", "max_sentences", "max_length")
_NODE_TOOLS = frozenset(
    ("summarize_node", "get_node", "summarize_node_with_context", "recalculate_node_confidence")
)


class NoteReads:
    """Shows notes, and remembers them for the next request.

    Args:
        tools: Calls the tools and shows their outcomes.
        search: Searches for notes.
        state: The state of the dialog.
        actions: The available actions, by id.
    """

    def __init__(
        self, tools: ToolCalls, search: NoteSearch, state: RunState, actions: Mapping[str, Action]
    ) -> None:
        self._tools = tools
        self._search = search
        self._state = state
        self._actions = actions

    async def read(self, step: PipelineStep, paths: tuple[str, ...]) -> tuple[str, ...] | None:
        """Show notes, or what a step asks about them; return their paths, or None if a call failed."""
        if step.action == "open":
            return await self._open(paths[0])
        if step.action == "explain_relation":
            return await self._explain_relation(step, paths[0])
        argument = "node_id" if self._actions[step.action].tool in _NODE_TOOLS else "name"
        read_paths: list[str] = []
        listed_notes: list[str] = []
        values: list[str] = []
        options = _summary_options(step) if step.action == "summarize" else {}
        about = str(step.arguments.get("about", ""))
        limit = _MAX_FACTS if about else MAX_READ_NOTES
        numbers: list[float] = []
        for path in paths[:limit]:
            outcome = await self._tools.call_step(
                step, self._actions[step.action].tool, {argument: path, **options}
            )
            if not outcome.success:
                return None
            read_paths.append(path)
            listed_notes += _notes_in(step.action, outcome.result)
            values += _property_texts(outcome.result, about)
            numbers += _number(outcome.result, about)
        if len(paths) > limit:
            self._tools.say(f"These are the first {limit} of {len(paths)} notes.")
        elif len(numbers) > 1 and may_be_summed(about):
            extent = f" ({len(numbers)} of {len(paths)} notes)" if len(numbers) < len(paths) else ""
            self._tools.say(f"{about} in total: {sum(numbers):,.10g}{extent}.")
        focus = (read_paths[0],) if len(read_paths) == 1 else self._state.dialog.focus
        is_lost = self._state.dialog.is_lost and len(read_paths) != 1
        results = (
            tuple(listed_notes)
            if listed_notes
            else tuple(paths)
            if len(paths) > 1
            else self._state.dialog.results
        )
        self._state.dialog = replace(
            self._state.dialog, focus=focus, results=results, values=tuple(values), is_lost=is_lost
        )
        return paths

    async def _open(self, path: str) -> tuple[str, ...] | None:
        outcome = await self._tools.call("read_note", {"name": path}, f"Open {wikilink(path)}.")
        self._tools.say_result("read_note", {"name": path}, outcome)
        if not outcome.success:
            return None
        note_path = str(outcome.result["path"])
        self._tools.open_note(note_path)
        self._state.dialog = replace(self._state.dialog, focus=(note_path,), is_lost=False)
        return (note_path,)

    async def open_any(self) -> tuple[str, ...] | None:
        """Open a note of the vault, chosen at random."""
        outcome = await self._search.search(ALL_NOTES_QUERY, 1)
        total = int(str(outcome.result["total"])) if outcome is not None else 0
        if total > 1:
            outcome = await self._search.search(ALL_NOTES_QUERY, 1, offset=random.randrange(total))
        if outcome is None:
            return None
        if not (hits := items_of(outcome.result, "hits")):
            self._tools.say("No notes match.")
            return None
        return await self._open(str(hits[0]["path"]))

    async def _explain_relation(self, step: PipelineStep, path: str) -> tuple[str, ...] | None:
        other = step.arguments.get("to")
        target = other.notes[0] if isinstance(other, NoteSet) and other.notes else ""
        edge = await find_edge(self._tools, path, target)
        if edge is None:
            self._tools.say(f"There is no relation between {wikilink(path)} and {wikilink(target)}.")
            return None
        outcome = await self._tools.call_step(step, "summarize_relationship", {"edge_id": edge})
        return (path,) if outcome.success else None


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


def _number(result: Mapping[str, Any], about: str) -> list[float]:
    """Return the number of words of a note, or its number in a property; an empty list without one."""
    key = property_key(result, about)
    value = result["properties"][key] if key else result["word_count"] if about == "words" else None
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


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
