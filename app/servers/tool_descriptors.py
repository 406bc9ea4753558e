"""A tool as clients from outside see it: schemas that its calls and results hold, and marks that are true."""

from __future__ import annotations

from functools import lru_cache

from app.servers.vault_service import ToolDescriptor
from app.toolkit.registry import AccessLevel, Category
from app.toolkit.result import ToolResult
from app.toolkit.schema import Schema, flat_schema
from app.toolkit.tool import Tool

_OPEN_WORLD_LEVELS = (AccessLevel.NETWORK, AccessLevel.EXECUTE)
_READING_LEVELS = (AccessLevel.READ_ONLY, AccessLevel.NETWORK)
"""Levels whose effects outside the notes only fetch something."""


def describe_tool(tool: Tool, category: Category) -> ToolDescriptor:
    """The entry of `tool`.

    The marks come from what the gate holds the tool to: one that proposes nothing, or belongs to a category
    that may only read, changes nothing, and one that says that it only creates changes nothing else.
    """
    changes = tool.changes_notes and category.level is not AccessLevel.READ_ONLY
    acts = tool.acts or (tool.proposes and not tool.changes_notes and category.level not in _READING_LEVELS)
    only_adds = tool.acts or tool.creates_only or category.level is AccessLevel.NETWORK
    return ToolDescriptor(
        name=tool.name,
        title=tool.name.replace("_", " ").capitalize(),
        description=tool.description,
        category=tool.category,
        input_schema=tool.schema,
        output_schema=outcome_schema(tool.result),
        read_only=not (changes or acts),
        destructive=(changes or acts) and not only_adds,
        idempotent=not (changes or acts),
        open_world=category.level in _OPEN_WORLD_LEVELS or tool.taints or acts,
    )


@lru_cache(maxsize=1024)
def outcome_schema(result: type[ToolResult]) -> Schema:
    """The schema of what a call's outcome is on the wire: its result, or why there is none yet.

    That is `ToolOutcome.as_dict` of every call that is no error: done, still pending, or denied by the user.
    """
    fields = flat_schema(result, nullable=True)
    properties: Schema = {
        "success": {"type": "boolean", "description": "Whether it was done."},
        "message": {"type": "string", "description": "What came of it, in a sentence."},
        "untrusted": {"type": "string", "description": "Says so where the result holds text from outside."},
        "changed_by_user": {"type": "boolean", "description": "The user approved a part, or other words."},
        "left_out_by_user": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Files that the user did not approve.",
        },
        "edited_by_user": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Files that the user edited: path, and a diff to the committed text.",
        },
        "changes_refused": {"type": "string", "description": "Why no change was made beside the result."},
        "requires_confirmation": {"type": "boolean", "description": "The user is being asked."},
        "operation": {"type": "string", "description": "What kind of operation the user is asked about."},
        "details": {"type": "object", "description": "What the user is asked: tool, reason, target."},
        "pending_operation_id": {"type": "string", "description": "Ask by it what became of the call."},
        "denied": {"type": "boolean", "description": "The user said no."},
        "words": {"type": "string", "description": "What the user said with it."},
    }
    properties |= {name: one for name, one in fields["properties"].items() if name != "message"}
    needed = [name for name in fields.get("required", ()) if name != "message"]
    return {
        "type": "object",
        "properties": properties,
        "required": ["success", "message"],
        "anyOf": [
            {"required": ["success", *needed]},
            {"required": ["pending_operation_id"]},
            {"required": ["denied"]},
        ],
    }
