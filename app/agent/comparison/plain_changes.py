"""Recognize changes that run although only the request model expects them."""

from __future__ import annotations

from app.agent.language.actions import TASK_ACTIONS
from app.agent.language.note_facts import PropertiesOf
from app.agent.language.readings import Reading
from app.vault.path import name_key

_PLAIN_CHANGES = frozenset((*TASK_ACTIONS, "remove_tag", "rename_tag", "replace", "set_type"))
_MAX_COMPARED_NOTES = 50


def is_plain_change(found: Reading, properties_of: PropertiesOf | None) -> bool:
    """Return whether a change is one step that can hardly be meant for something else.

    It gives another value to a property that the notes have, or changes tags, tasks or texts that exist.

    Args:
        found: The change with the found notes in place of its searches.
        properties_of: Returns the properties of the note at a path.
    """
    step, target = found.last, found.last.target
    if len(found.steps) > 1 or target is None or properties_of is None:
        return False
    if step.action != "set_property":
        return step.action in _PLAIN_CHANGES
    key, paths = name_key(str(step.arguments["key"])), target.notes
    return 0 < len(paths) <= _MAX_COMPARED_NOTES and all(
        key in map(name_key, properties_of(path)) for path in paths
    )
