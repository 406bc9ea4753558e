"""The arguments of tools, from those of a step."""

from __future__ import annotations

from app.agent.language.meaning.actions import FOLDER_ACTIONS
from app.agent.language.meaning.readings import NoteSet, PipelineStep, as_tuple
from app.agent.pipeline.host import Arguments
from app.vault.markdown.text import bullet_list


def plain_arguments(step: PipelineStep) -> Arguments:
    """Return the arguments of a tool that changes or lists the whole vault."""
    if step.action == "rename_tag":
        return {
            "tag": first_item(step.arguments["tag"]),
            "new_tag": first_item(step.arguments["new_tag"]),
        }
    if step.action == "rename_property":
        return {name: str(step.arguments[name]) for name in ("key", "new_key")}
    if step.action in FOLDER_ACTIONS:
        return _folder_arguments(step)
    if step.action == "list_folders":
        return {"path": "."}
    return {}


def _folder_arguments(step: PipelineStep) -> Arguments:
    """Return the arguments that rename a folder in its parent, or move it into another one."""
    folder = str(step.arguments["folder"]).strip("/")
    parent, _, name = folder.rpartition("/")
    parent = str(step.arguments.get("parent", parent)).strip("/")
    name = str(step.arguments.get("new_name", name)).strip("/")
    # A new name with folders is the whole new path.
    return {"folder": folder, "new_folder": name if "/" in name or not parent else f"{parent}/{name}"}


def tool_arguments(step: PipelineStep) -> Arguments:
    """Return the tool arguments of a step whose action was generated from the tool's examples."""
    return {
        name: value.notes[0]
        if isinstance(value, NoteSet) and value.notes
        else first_item(value)
        if isinstance(value, tuple)
        else value
        for name, value in step.arguments.items()
    }


def named_note(value: object) -> str:
    """Return the note that an argument names."""
    return value.notes[0] if isinstance(value, NoteSet) else str(value)


def named_notes(value: object) -> tuple[str, ...]:
    """Return the notes that an argument names."""
    return value.notes if isinstance(value, NoteSet) else (str(value),)


def written_text(text: object) -> str:
    """Return the text that a step adds to a note; items as a Markdown list."""
    return bullet_list(map(str, text)) if isinstance(text, tuple) else str(text)


def first_item(value: object) -> str:
    """Return the first item of a value that may be a list, as text."""
    return str(as_tuple(value)[0])
