"""Find the notes of a call, and the paths that they have after it."""

from __future__ import annotations

from collections.abc import Mapping

from app.agent.language.meaning.readings import PipelineStep
from app.agent.pipeline.tool_calls import items_of
from app.toolkit.outcome import ToolOutcome
from app.vault.path import NotePath


def moved_path(path: str, before: str, after: str) -> str:
    """Return the path that a note or folder has after the note or folder at `before` was moved to `after`."""
    if path == before:
        return after
    is_inside = NotePath.on_disk(path).is_under(before)
    return "/".join((after, *path.split("/")[before.count("/") + 1 :])) if is_inside else path


def paths_after(step: PipelineStep, call: Mapping[str, object], outcome: ToolOutcome) -> list[str]:
    """Return the path of a call's note after the call; empty after a deletion."""
    result = outcome.result
    for key in ("new_path", "path", "node_id", "primary_node_id", "from_id"):
        if isinstance(path := result.get(key), str) and step.action != "delete":
            return [path]
    if step.action == "rename_property":
        return [str(path) for path in items_of(result, "notes")]
    name = note_of(call)
    return [name] if name and step.action != "delete" else []


def note_of(call: Mapping[str, object]) -> str:
    """Return the note that a call's arguments name first; empty without one."""
    return next(
        (str(call[key]) for key in ("name", "node_id", "from_id", "primary_node_id") if key in call), ""
    )
