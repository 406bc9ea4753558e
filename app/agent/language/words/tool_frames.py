"""Generate actions and frames from tools' examples, for tools without any in a language's data file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from app.agent.language.meaning.actions import ACTIONS, TOOL_PREFIX, Action, Kind
from app.agent.language.words.lexicon import ActionFrame, parse_phrase
from app.toolkit.argument_types import ArgumentKind
from app.toolkit.tool import Tool

_INTERNAL_TOOLS = frozenset(("search", "block", "block_edit", "context", "delegate", "list_tools", "pending"))
"""Tools that agents call for themselves, and that users never request."""
_SEARCH_TOOLS = frozenset(("search_by_tags", "search_by_properties"))
"""Tools whose searches can already be expressed as filters of a note set."""
_SLOT = re.compile(r"\{(\w+)\}")
_MARKS = re.compile(r"[()\[\]|<>?!.,;:]+")
_KINDS: Mapping[ArgumentKind, Kind] = {
    ArgumentKind.NOTE: "note",
    ArgumentKind.TAG: "tags",
    ArgumentKind.FOLDER: "folder",
    ArgumentKind.HEADING: "heading",
    ArgumentKind.QUERY: "query",
}


def tool_frames(tools: Iterable[Tool]) -> tuple[Mapping[str, Action], tuple[ActionFrame, ...]]:
    """Return the actions of the tools by id, and their English frames."""
    covered = {action.tool for action in ACTIONS.values()}
    actions: dict[str, Action] = {}
    frames: list[ActionFrame] = []
    for tool in tools:
        if tool.name in covered | _INTERNAL_TOOLS | _SEARCH_TOOLS:
            continue
        examples = tool.examples_of or {"": tool.examples}
        for op, texts in examples.items():
            action = _action(tool, op, texts)
            if action is None:
                continue
            actions[action.id] = action
            frames += [frame for text in texts if (frame := _frame(action, op, text)) is not None]
    return actions, tuple(frames)


def _action(tool: Tool, op: str, texts: tuple[str, ...]) -> Action | None:
    """Return the action of an operation; None without examples, or if they omit a required argument."""
    slots = {slot for text in texts for slot in _SLOT.findall(text)}
    needs = [parameter.name for parameter in tool.parameters if parameter.required and parameter.name != "op"]
    if op:
        needs += [name for name in tool.operations[op].needs if name not in needs]
    if not texts or any(name not in slots for name in needs):
        return None
    kinds: dict[str, Kind] = {
        parameter.name: _KINDS.get(parameter.kind, "text") for parameter in tool.parameters
    }
    return Action(
        f"{TOOL_PREFIX}{tool.name}{'_' if op else ''}{op}",
        tool.name,
        tuple(needs),
        writes=tool.proposes and op not in tool.read_operations,
        kinds=kinds,
    )


def _frame(action: Action, op: str, text: str) -> ActionFrame | None:
    """Return the frame of an example such as "reload the file {path} from disk".

    Return None if the example starts with a slot, or has two slots without words between them.
    """
    pieces = [_MARKS.sub(" ", piece).strip() for piece in _SLOT.split(text)]
    words, slots = pieces[::2], pieces[1::2]
    if not words[0]:
        return None
    phrase = words[0]
    cues = {slots[0]: ("",)} if slots else {}
    if len(slots) == 1 and words[1]:
        phrase = f"{words[0]} ... {words[1]}"
    for slot, cue in zip(slots[1:], words[1:-1], strict=True):
        if not cue:
            return None
        cues[slot] = (cue,)
    return ActionFrame(
        action=action.id,
        say=(parse_phrase(phrase),),
        roles={slot: tuple(parse_phrase(cue) for cue in phrases if cue) for slot, phrases in cues.items()},
        direct=tuple(slot for slot, phrases in cues.items() if "" in phrases),
        constants={"op": op} if op else {},
    )
