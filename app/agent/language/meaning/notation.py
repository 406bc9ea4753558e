"""One-line notation of a reading, for chips, the command line and evaluation sets.

    find [tag:instrument -tag:core] | add_tag [these] tag=navigation

A set is a search, `@note, @note` (`@note & search` for both), `these` (the result of the previous step) or
`*` (every note). The name of a note is quoted if it contains such marks (`@"Keel & Co"`); a quotation mark in
it is doubled. Values with spaces or special characters are quoted, and list items are separated by commas.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from app.agent.language.meaning.actions import Action
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.vault.path import NotePath

_INTEGER = re.compile(r"-?[0-9]{1,6}")
_STEP = re.compile(
    r"\s*(?P<action>\w+)\s*(?:\[(?P<set>(?:\[[^\]]*\]|\"[^\"]*\"|[^\]\"])*)\])?(?P<rest>.*)$", re.DOTALL
)
_ARGUMENT = re.compile(
    r"(?P<name>\w+)=(?P<value>(?:\"(?:[^\"\\]|\\.)*\"|[^\s,\"])+(?:,(?:\"(?:[^\"\\]|\\.)*\"|[^\s,\"])+)*)"
)
_VALUE = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|([^\s,\"]+)")
_BAR = re.compile(r"\"(?:[^\"\\]|\\.)*\"|(?P<bar>\s\|\s(?=\w+\s*(?:\[|\w+=|$|\|)))")
"""A quoted value, whose bars are its own, or a bar between two steps."""
_PLAIN = re.compile(r"[\w./#-]+")
_NAME = re.compile(
    r'@(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^"].*?))\s*(?:,\s*(?=@)|(?P<end> & |$))', re.DOTALL
)
_MARKS_IN_NAME = re.compile(r'["\[\]&]|,\s*@')
_LIST_ROLES = ("text", "value")
PREFIX = "="

Resolve = Callable[[str], tuple[str, ...]]


def serialize(reading: Reading) -> str:
    """Return the reading as one line."""
    return " | ".join(_serialize_step(step) for step in reading.steps)


def _serialize_step(step: PipelineStep) -> str:
    parts = [step.action]
    if step.target is not None:
        parts.append(f"[{_serialize_set(step.target)}]")
        parts += [
            f"{name}={_serialize_value(value)}"
            for name, value in (
                ("order", step.target.order),
                ("limit", step.target.limit),
                ("pick", step.target.pick),
            )
            if value
        ]
    parts += [f"{name}={_serialize_value(value)}" for name, value in step.arguments.items()]
    return " ".join(parts)


def _serialize_set(notes: NoteSet) -> str:
    if notes.source:
        return f"these {notes.query}".strip()
    named = ", ".join(f"@{_serialize_name(path)}" for path in notes.notes)
    if named and notes.query:
        return f"{named} & {notes.query}"
    return named or notes.query or "*"


def _serialize_name(path: str) -> str:
    name = str(NotePath.on_disk(path).stem_path)
    if not _MARKS_IN_NAME.search(name):
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _serialize_value(value: object) -> str:
    if isinstance(value, NoteSet):
        return _quote(_serialize_set(value))
    if isinstance(value, tuple | list):
        return ",".join(_quote(str(item)) for item in value)
    return _quote(str(value))


def _quote(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def parse(text: str, resolve: Resolve, actions: Mapping[str, Action]) -> Reading | None:
    """Parse a line of the notation; return None if it is not valid.

    Args:
        text: The line, with or without the leading `=`.
        resolve: Returns the paths of the notes with a given name.
        actions: All actions, by id.
    """
    steps = [
        _parse_step(part, resolve, actions) for part in _split(text.strip().removeprefix(PREFIX).strip())
    ]
    if not steps or any(step is None for step in steps):
        return None
    return Reading(tuple(step for step in steps if step is not None), 1.0)


def _split(text: str) -> list[str]:
    """Return the steps of a line."""
    bars = [match.span("bar") for match in _BAR.finditer(text) if match["bar"]]
    starts, ends = [0, *(end for _, end in bars)], [*(start for start, _ in bars), len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def _parse_step(text: str, resolve: Resolve, actions: Mapping[str, Action]) -> PipelineStep | None:
    match = _STEP.fullmatch(text)
    if match is None or match["action"] not in actions:
        return None
    action = actions[match["action"]]
    arguments: dict[str, object] = {}
    for argument in _ARGUMENT.finditer(match["rest"]):
        values = [_unquote(value) for value in _VALUE.finditer(argument["value"])]
        arguments[argument["name"]] = _parse_argument(argument["name"], values, resolve)
    target = _parse_set(match["set"], resolve) if match["set"] is not None else None
    if target is not None:
        numbers = [str(arguments.pop(name, "")) for name in ("pick", "limit")]
        if any(number and _INTEGER.fullmatch(number) is None for number in numbers):
            return None
        pick, limit = (int(number) if number else None for number in numbers)
        target = replace(target, pick=pick, order=str(arguments.pop("order", "")), limit=limit)
    if "target" in action.needs and target is None:
        return None
    return PipelineStep(action.id, target, arguments)


def _unquote(match: re.Match[str]) -> str:
    if match[1] is None:
        return match[2]
    return re.sub(r"\\(.)", lambda escaped: "\n" if escaped[1] == "n" else escaped[1], match[1])


def _parse_argument(name: str, values: list[str], resolve: Resolve) -> object:
    if name in ("to", "other"):
        if whole := resolve(values[0].removeprefix("@")):
            return NoteSet(notes=whole[:1])
        return _parse_set(f"@{values[0].removeprefix('@')}", resolve)
    if name in ("tag", "new_tag") or (name in _LIST_ROLES and len(values) > 1):
        return tuple(map(_parse_number, values)) if name == "value" else tuple(values)
    if name == "confidence" or (name == "value" and len(values) == 1):
        return _parse_number(values[0])
    return values[0] if len(values) == 1 else ", ".join(values)


def _parse_number(text: str) -> object:
    # "nan" and "inf" are text, although `float` accepts them.
    if not re.fullmatch(r"-?\d+(\.\d+)?|-?\.\d+", text):
        return text
    return float(text) if "." in text else int(text)


def _parse_set(text: str, resolve: Resolve) -> NoteSet:
    text = text.strip()
    if text == "*" or not text:
        return NoteSet()
    if text == "these" or text.startswith("these "):
        return NoteSet(query=text.removeprefix("these").strip(), source="previous")
    if text.startswith("@"):
        return _parse_names(text, resolve)
    return NoteSet(query=text)


def _parse_names(text: str, resolve: Resolve) -> NoteSet:
    paths: list[str] = []
    position = 0
    while position < len(text) and (match := _NAME.match(text, position)):
        name = match["plain"].strip() if match["quoted"] is None else match["quoted"].replace('""', '"')
        if not (found := resolve(name)):
            # People type "@Keel & Co" without quotation marks.
            whole = resolve(text.removeprefix("@"))
            return NoteSet(notes=whole[:1]) if whole else NoteSet(unknown=name)
        paths += found[:1]
        position = match.end()
        if match["end"] is not None:
            break
    if not paths:
        return NoteSet(unknown=text.removeprefix("@").strip() or text)
    return NoteSet(query=text[position:].strip(), notes=tuple(paths))


def to_json(reading: Reading) -> Mapping[str, object]:
    """Return the reading as plain values, for `scriptorium ask --json`."""
    return {
        "language": reading.language,
        "score": round(reading.score, 3),
        "reading": serialize(reading),
        "steps": [
            {
                "action": step.action,
                **({"set": _serialize_set(step.target)} if step.target is not None else {}),
                **({"order": step.target.order} if step.target is not None and step.target.order else {}),
                **{
                    name: _serialize_set(value) if isinstance(value, NoteSet) else value
                    for name, value in step.arguments.items()
                },
            }
            for step in reading.steps
        ],
    }
