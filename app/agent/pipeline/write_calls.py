"""The tool calls of a step that changes notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.agent.generic_formatting import wikilink
from app.agent.language.changes.replacements import NUMBER
from app.agent.language.grammar.note_facts import PropertiesOf
from app.agent.language.meaning.actions import ALL_OCCURRENCES
from app.agent.language.meaning.readings import PipelineStep, as_tuple
from app.agent.language.words.vault_words import VaultWords
from app.agent.pipeline.host import Arguments
from app.agent.pipeline.line_removals import LineRemovals
from app.agent.pipeline.relation_edges import find_edge
from app.agent.pipeline.step_arguments import named_note, named_notes, plain_arguments, written_text
from app.agent.pipeline.text_edits import TextEdits, replacement_call
from app.agent.pipeline.tool_calls import ToolCalls
from app.vault.path import name_key


class WriteCalls:
    """Finds the tool calls of a step that changes notes.

    Args:
        tools: Reads the notes, and tells the user why there are no calls.
        edits: Finds the calls that change a text.
        line_removals: Finds the calls that remove whole lines.
        words: Returns the vault's properties.
        properties_of: Returns the properties of the note at a path; without it, a list may become a text.
    """

    def __init__(
        self,
        tools: ToolCalls,
        edits: TextEdits,
        line_removals: LineRemovals,
        words: Callable[[], VaultWords],
        properties_of: PropertiesOf | None,
    ) -> None:
        self._tools = tools
        self._edits = edits
        self._line_removals = line_removals
        self._words = words
        self._properties_of = properties_of

    async def calls(self, step: PipelineStep, paths: tuple[str, ...]) -> list[Arguments] | None:
        """Return the tool calls of a writing step; None after telling the user why there are none."""
        arguments = step.arguments
        match step.action:
            case "add_tag" | "remove_tag":
                return [
                    {"name": path, "tag": str(tag)} for path in paths for tag in as_tuple(arguments["tag"])
                ]
            case "remove_all_tags":
                return [call for path in paths for call in await self._tag_calls(path)]
            case "append":
                heading = str(arguments.get("heading") or "")
                return [await self._edits.addition(path, arguments["text"], heading) for path in paths]
            case "prepend":
                return [
                    {"name": path, "op": "prepend", "text": written_text(arguments["text"])} for path in paths
                ]
            case "replace" if arguments.get("occurrence") == ALL_OCCURRENCES:
                return await self._edits.replacement_calls(step, paths)
            case "replace":
                number = int(str(arguments.get("occurrence") or 0))
                if not number and NUMBER.fullmatch(str(arguments["old"])):
                    return await self._edits.number_calls(step, paths)
                return [replacement_call(step, path, number) for path in paths]
            case "remove_text" if "whole" in arguments:
                return await self._line_removals.calls(step, paths)
            case "remove_text":
                return await self._edits.removal_calls(paths, str(arguments["old"]))
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
            case "remove_property" if "value" in arguments:
                # The value of a note that has it is removed by setting the others.
                name, old = arguments["key"], arguments["value"]
                what = f"No list {name} of these notes has the value “{old}”."
                if len(paths) == 1:
                    what = f"The list {name} of {wikilink(paths[0])} has no value “{old}”."
                self._tools.say(f"{what} Nothing was changed.")
                return None
            case "remove_property":
                return [{"name": path, "remove": [str(arguments["key"])]} for path in paths]
            case "rename_property":
                return [{**plain_arguments(step), "names": list(paths)}]
            case "rename_heading":
                if len(paths) > 1:
                    self._tools.say(
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
                        "secondary_node_id": named_note(arguments["other"]),
                        "merge_strategy": "combine",
                    }
                ]
            case "relate":
                return _relation_calls(step, paths)
            case "unrelate":
                second = named_note(arguments["to"])
                edge = await find_edge(self._tools, paths[0], second)
                if edge is None:
                    self._tools.say(
                        f"There is no relation between {wikilink(paths[0])} and {wikilink(second)}."
                    )
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

    async def _tag_calls(self, path: str) -> list[Arguments]:
        outcome = await self._tools.call("get_metadata", {"name": path})
        tags = outcome.result.get("tags", ()) if outcome.success else ()
        return [{"name": path, "tag": str(tag)} for tag in as_tuple(tags)]


def _relation_calls(step: PipelineStep, paths: tuple[str, ...]) -> list[Arguments]:
    others = named_notes(step.arguments["to"])
    options: Arguments = {"relationship_type": str(step.arguments.get("type") or "relates_to")}
    if "confidence" in step.arguments:
        options["confidence"] = step.arguments["confidence"]
    return [{"from_id": path, "to_id": other, **options} for path in paths for other in others]
