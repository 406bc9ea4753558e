"""The actions that a request can ask for, and their roles, in any language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "notes",
    "note",
    "tags",
    "folder",
    "name",
    "text",
    "heading",
    "property",
    "value",
    "type",
    "relation",
    "number",
    "query",
    "days",
    "fact",
    "property_name",
]

TOOL_PREFIX = "tool_"
"""Prefix of the ids of actions that are generated from a tool's examples."""

ALL_OCCURRENCES = "all"
"""The value of the argument "occurrence" of a replacement of every occurrence of a text."""

ALL_TASKS = "all"
"""The value of the argument "which" of a change of all tasks; other values are days, as for a list."""

NO_DUE = "none"
"""The value of the argument "due" with which a task loses its due date."""

TASK_ACTIONS = ("complete_task", "reopen_task", "reschedule_task")
"""The actions that change one task of a note."""

MOVING_ACTIONS = ("rename", "move")
"""The actions that move a note."""

LINKED_NOTES = ("what_supports", "relations", "backlinks", "outgoing", "related", "similar", "mentions")
"""The actions that list the notes connected with a note."""

ASKING_ACTIONS = ("properties_of", "list_tasks", *LINKED_NOTES)
"""The actions that answer a question about a note without showing it."""

FOLDER_ACTIONS = ("rename_folder", "move_folder")
"""The actions that move a folder."""

GRAMMAR_ACTIONS = frozenset(
    ("redo", "reschedule_task", "rename_property", "rename_heading", "link_mentions", *FOLDER_ACTIONS)
)
"""The actions of which the request model has seen few or no examples, so that the grammar decides on them."""

CREATION_VALUES: Mapping[str, tuple[str, str]] = {
    "rename": ("new_name", "name"),
    "move": ("folder", "folder"),
    "add_tag": ("tag", "tag"),
    "set_type": ("type", "type"),
    "append": ("text", "text"),
}
"""The changes of a new note that its creation can include, with their roles in both."""

WITHOUT_NOTES = frozenset(("count_these", "duplicates", "list_tags", "list_folders", "vault_info", "random"))
"""The actions that are never about certain notes."""

ROLE_KINDS: Mapping[str, Kind] = {
    "target": "notes",
    "other": "notes",
    "to": "note",
    "tag": "tags",
    "new_tag": "tags",
    "folder": "folder",
    "name": "name",
    "new_name": "name",
    "text": "text",
    "old": "text",
    "heading": "heading",
    "key": "property",
    "new_key": "property_name",
    "new_heading": "heading",
    "parent": "folder",
    "value": "value",
    "type": "type",
    "confidence": "number",
    "query": "query",
    "due": "days",
    "about": "fact",
}


@dataclass(frozen=True, slots=True)
class Action:
    """An action that a request can ask for.

    Args:
        id: The action's name.
        tool: The tool that runs it; empty if the agent needs none.
        needs: The required roles, in the order in which the agent asks for them.
        writes: Whether it changes something.
        implies_note: Whether it applies to the note in focus if no note is named.
        kinds: The kinds of its roles, where they differ from `ROLE_KINDS`.
    """

    id: str
    tool: str = ""
    needs: tuple[str, ...] = ()
    writes: bool = False
    implies_note: bool = False
    kinds: Mapping[str, Kind] | None = None

    def kind(self, role: str) -> Kind:
        """Return the kind of value that fills a role.

        Raises:
            KeyError: No action has the role.
        """
        return (self.kinds or {}).get(role) or ROLE_KINDS[role]


_TARGET = ("target",)
ACTIONS: Mapping[str, Action] = {
    action.id: action
    for action in (
        Action("find", "search_notes", _TARGET),
        Action("count", "search_notes", _TARGET),
        Action("count_these"),
        Action("list_tasks", "search_notes"),
        Action("open", "read_note", _TARGET),
        Action("read", "read_note", _TARGET, implies_note=True),
        Action("summarize", "summarize_node", _TARGET, implies_note=True),
        Action("backlinks", "get_metadata", _TARGET, implies_note=True),
        Action("outgoing", "get_metadata", _TARGET, implies_note=True),
        Action("related", "find_related", _TARGET, implies_note=True),
        Action("similar", "find_related", _TARGET, implies_note=True),
        Action("duplicates", "find_duplicates"),
        Action("unresolved_links", "list_unresolved_links"),
        Action("list_tags", "list_tags"),
        Action("list_folders", "directory_list"),
        Action("vault_info", "vault_info"),
        Action("link_mentions", "link_mentions", _TARGET, writes=True, implies_note=True),
        Action("tags_of", "get_metadata", _TARGET, implies_note=True),
        Action("properties_of", "get_metadata", _TARGET, implies_note=True),
        Action("relations", "get_node", _TARGET, implies_note=True),
        Action("explain_relation", "summarize_relationship", ("target", "to")),
        Action("what_supports", "summarize_node_with_context", _TARGET, implies_note=True),
        Action("history", "note_history", _TARGET, implies_note=True),
        Action("mentions", "unlinked_mentions", _TARGET, implies_note=True),
        Action("suggest_relations", "suggest_relationships", implies_note=True),
        Action("meaning", "semantic_search", ("query",)),
        Action("question", "find_passages"),
        Action("model"),
        Action("random", "read_note"),
        Action("create_note", "create_note", ("name",), writes=True),
        Action("append", "edit_note", ("target", "text"), writes=True, implies_note=True),
        Action("prepend", "edit_note", ("target", "text"), writes=True, implies_note=True),
        Action("replace", "edit_note", ("target", "old", "text"), writes=True, implies_note=True),
        Action("remove_text", "edit_note", ("target", "old"), writes=True, implies_note=True),
        Action("complete_task", "edit_note", ("query",), writes=True),
        Action("reopen_task", "edit_note", ("query",), writes=True),
        Action("reschedule_task", "edit_note", ("due",), writes=True),
        Action("add_tag", "add_tag", ("target", "tag"), writes=True, implies_note=True),
        Action("remove_tag", "remove_tag", ("target", "tag"), writes=True, implies_note=True),
        Action("remove_all_tags", "remove_tag", _TARGET, writes=True),
        Action("rename_tag", "rename_tag", ("tag", "new_tag"), writes=True),
        Action("set_property", "set_properties", ("target", "key", "value"), writes=True, implies_note=True),
        Action("set_confidence", "set_properties", ("target", "confidence"), writes=True),
        Action("remove_property", "set_properties", ("target", "key"), writes=True, implies_note=True),
        Action(
            "rename_property",
            "rename_property",
            ("key", "new_key"),
            writes=True,
            kinds={"key": "property_name"},
        ),
        Action(
            "rename_heading",
            "rename_heading",
            ("target", "heading", "new_heading"),
            writes=True,
            implies_note=True,
        ),
        Action("rename_folder", "move_folder", ("folder", "new_name"), writes=True),
        Action("move_folder", "move_folder", ("folder", "parent"), writes=True),
        Action("rename", "move_note", ("target", "new_name"), writes=True, implies_note=True),
        Action("move", "move_note", ("target", "folder"), writes=True, implies_note=True),
        Action("delete", "delete_note", _TARGET, writes=True),
        Action("merge", "merge_nodes", ("target", "other"), writes=True),
        Action("relate", "create_relationship", ("target", "to"), writes=True, kinds={"type": "relation"}),
        Action("unrelate", "delete_relationship", ("target", "to"), writes=True),
        Action("set_type", "reclassify_node", ("target", "type"), writes=True),
        Action("recalculate", "recalculate_node_confidence", _TARGET, writes=True, implies_note=True),
        Action("undo", "undo", writes=True),
        Action("redo", "undo", writes=True),
        Action("help"),
    )
}
