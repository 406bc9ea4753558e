"""From an understood request to a tool call, and to words that say it again."""

from __future__ import annotations

import re

from app.agent.plans import CallTool
from app.agent.slot_values import SlotValue
from app.agent.understanding import Understood
from app.vault.path import NotePath

NOTE_SLOTS = ("name", "other")
_TEXT_SLOTS = ("text", "old", "content", "heading", "query")
_SHOWN = 60
_NAMED = ("name", "node_id", "primary_node_id", "from_id")


def note_slots(one: Understood) -> tuple[str, ...]:
    """The slots of a reading that hold a note that exists."""
    return tuple(slot for slot in NOTE_SLOTS if slot in one.slots)


def call_for(one: Understood) -> CallTool:
    """The call of a reading in which nothing is missing and every note is clear."""
    words = {slot: plain_text(value) for slot, value in one.slots.items()}
    certainty = min([value.meant.certainty for value in one.slots.values() if value.meant], default=1.0)
    if one.typos:
        certainty *= 0.75
    return CallTool(
        one.intent.tool,
        one.intent.build(words),
        worded(one.intent.says, one),
        round(min(1.0, one.score) * certainty, 3),
        one.intent.id,
    )


def notes_after(call: CallTool) -> tuple[str, ...]:
    """The paths that the note which a call speaks of may have after it; empty if it speaks of none."""
    name = next((call.arguments[key] for key in _NAMED if key in call.arguments), None)
    if not isinstance(name, str):
        return ()
    folder = call.arguments.get("folder")
    if call.tool == "create_note":
        return (f"{folder}/{name}.md" if folder else f"{name}.md",)
    if call.tool != "move_note":
        return (name,)
    old = NotePath.on_disk(name)
    kept = old.folder if folder is None else str(folder)
    new = str(call.arguments.get("new_name", old.name))
    return (f"{kept}/{new}.md" if kept else f"{new}.md", name)


def plain_text(value: SlotValue) -> str:
    """A slot's value as an argument: a note by its path, anything else as it is."""
    return str(value.meant.path) if value.meant and value.meant.path else value.text


def worded(pattern: str, one: Understood) -> str:
    """What is understood, for the user to read: notes as wikilinks, tags with #, texts in quotes."""
    folder = one.slots.get("folder")
    text = pattern.replace("{in_folder}", f" in the folder {folder.text}" if folder else "")
    return re.sub(r"\{(\w+)\}", lambda slot: _shown(slot[1], one.slots.get(slot[1])), text)


def command(one: Understood) -> str:
    """The same as a request that means only this, whatever the context."""
    folder = one.slots.get("folder")
    text = one.intent.command.replace(
        "{in_folder}", f" in the folder {_quoted(folder.text)}" if folder else ""
    )
    return re.sub(r"\{(\w+)\}", lambda slot: _spelled(slot[1], one.slots.get(slot[1])), text)


def _shown(slot: str, value: SlotValue | None) -> str:
    if value is None:
        return "…"
    if slot in NOTE_SLOTS:
        path = value.meant.path if value.meant else None
        return f"[[{path.name}]]" if path else value.text
    if slot in ("tag", "new_tag"):
        return f"#{value.text}"
    if slot not in _TEXT_SLOTS:
        return value.text
    line = " ".join(value.text.split())
    line = line if len(line) <= _SHOWN else f"{line[:_SHOWN].rstrip()}…"
    return line if slot == "query" and line.startswith('"') else f"“{line}”"


def _spelled(slot: str, value: SlotValue | None) -> str:
    if value is None:
        return "…"
    if slot in NOTE_SLOTS:
        path = value.meant.path if value.meant else None
        return linked(path) if path else _quoted(value.text)
    if slot in ("tag", "new_tag"):
        return f"#{value.text}"
    return value.text if slot in ("query", "tags", "key", "value") else _quoted(value.text)


def linked(path: NotePath) -> str:
    """A wikilink that means this note only: by its whole path, a root note by its file's name."""
    return f"[[{path.stem_path if path.folder else path.file_name}]]"


def _quoted(text: str) -> str:
    """A text in the first pair of quotation marks that it does not hold itself."""
    for opening, closing in ('""', "“”", "«»", "``"):
        if opening not in text and closing not in text:
            return f"{opening}{text}{closing}"
    return text
