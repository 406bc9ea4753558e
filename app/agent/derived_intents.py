"""Intents of tools that have none written by hand: made from the tools' own examples.

An example such as "summarize {node_id}" becomes a wording in which the argument's slot is the one that
suits its kind: a note, a tag, a folder, a text. An operation's examples belong to that operation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from app.agent.intents import Arguments, Intent, Slots, plain_value
from app.toolkit.arguments import SlotKind
from app.toolkit.tool import Parameter, Tool

_SLOTS: Mapping[SlotKind, tuple[str, ...]] = {
    SlotKind.NOTE: ("name", "other"),
    SlotKind.NEW_NOTE: ("new_name", "title"),
    SlotKind.TAG: ("tag", "new_tag"),
    SlotKind.FOLDER: ("folder",),
    SlotKind.HEADING: ("heading",),
    SlotKind.QUERY: ("query",),
}
_WORDS = ("text", "value", "key", "content", "old")
_SAID = re.compile(r"\{(\w+)\}")
_TEMPLATE_MARKS = re.compile(r"[()\[\]|@]")


def derived_intents(tools: Iterable[Tool]) -> tuple[Intent, ...]:
    """One intent per tool, or per operation of a tool that has several, where it has examples."""
    return tuple(intent for tool in tools for intent in _of(tool))


def _of(tool: Tool) -> list[Intent]:
    if not tool.operations:
        return _one(tool, "", tool.examples)
    return [intent for op, examples in tool.examples_of.items() for intent in _one(tool, op, examples)]


def _one(tool: Tool, op: str, examples: tuple[str, ...]) -> list[Intent]:
    slots = _slots(tool, examples)
    if not examples or slots is None:
        return []
    needed = [p.name for p in tool.parameters if p.required and p.name != "op"]
    if op:
        fields = tool.operations[op]
        needed += [p.name for p in tool.parameters if p.name in fields.needs and p.name not in needed]
    if any(name not in slots for name in needed):
        return []
    wordings = tuple(_SAID.sub(lambda said: f"{{{slots[said[1]]}}}", text) for text in examples)
    first = wordings[0].rstrip("?!. ")
    return [
        Intent(
            id=f"tool:{tool.name}:{op}",
            tool=tool.name,
            templates=tuple(_TEMPLATE_MARKS.sub(" ", text).rstrip("?!. ") for text in wordings),
            needs=tuple(slots[name] for name in needed),
            says=f"{first[0].upper()}{first[1:]}.",
            command=first,
            build=_builder(op, {slot: name for name, slot in slots.items()}, tool.parameters),
            risky=tool.always_asks,
            examples=tuple(_general(text) for text in examples),
        )
    ]


def _slots(tool: Tool, examples: tuple[str, ...]) -> dict[str, str] | None:
    """The slot of each argument that the examples speak of, or that is needed; None if slots run out."""
    spoken = {name for text in examples for name in _SAID.findall(text)}
    free = {kind: list(names) for kind, names in _SLOTS.items()}
    words = list(_WORDS)
    found: dict[str, str] = {}
    for parameter in tool.parameters:
        if parameter.name == "op" or not (parameter.required or parameter.name in spoken):
            continue
        left = free.get(parameter.kind) or words
        if not left:
            return None
        found[parameter.name] = left.pop(0)
    return found


def _builder(
    op: str, names: Mapping[str, str], parameters: tuple[Parameter, ...]
) -> Callable[[Slots], Arguments]:
    known = {parameter.name: parameter for parameter in parameters}

    def build(slots: Slots) -> Arguments:
        made: Arguments = {"op": op} if op else {}
        for slot, text in slots.items():
            if slot in names:
                made[names[slot]] = _value(known[names[slot]], text)
        return made

    return build


def _value(parameter: Parameter, text: str) -> object:
    """A slot's text as the argument takes it."""
    if parameter.many:
        return [part.strip() for part in re.split(r"\s*,\s*|\s+and\s+", text) if part.strip()]
    if parameter.choices:
        return next((one for one in parameter.choices if one.casefold() == text.casefold()), text)
    return text if parameter.annotation is str or parameter.kind is not SlotKind.PLAIN else plain_value(text)


def _general(text: str) -> str:
    return _SAID.sub("a note", text)
