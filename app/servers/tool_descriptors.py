"""Describe tools to clients: schemas that calls and results follow, and reliable annotations."""

from __future__ import annotations

from functools import lru_cache

from app.servers.vault_access import ToolDescriptor
from app.toolkit.registry import AccessLevel, Category
from app.toolkit.result import ToolResult
from app.toolkit.schema import Schema, flat_schema
from app.toolkit.tool import Tool

_OPEN_WORLD_LEVELS = (AccessLevel.NETWORK, AccessLevel.EXECUTE)
_READING_LEVELS = (AccessLevel.READ_ONLY, AccessLevel.NETWORK)
"""Levels at which a proposal that changes no notes counts as read-only."""


def describe_tool(tool: Tool, category: Category) -> ToolDescriptor:
    """Return the descriptor of `tool`.

    The annotations follow from the rules that the approval gate enforces. A tool is read-only if it has no
    effect without a proposal, and proposes nothing or is in a read-only category; in a network category, only
    proposals that change notes count. Of the other tools, those that have an effect without a proposal, that
    only create notes, or that are in a network category are not destructive: they only add something.
    """
    changes_existing = tool.changes_notes and category.level is not AccessLevel.READ_ONLY
    has_effect = tool.acts or (
        tool.proposes and not tool.changes_notes and category.level not in _READING_LEVELS
    )
    only_adds = tool.acts or tool.creates_only or category.level is AccessLevel.NETWORK
    return ToolDescriptor(
        name=tool.name,
        title=tool.name.replace("_", " ").capitalize(),
        description=tool.description,
        category=tool.category,
        input_schema=tool.schema,
        output_schema=outcome_schema(tool.result),
        read_only=not (changes_existing or has_effect),
        destructive=(changes_existing or has_effect) and not only_adds,
        idempotent=not (changes_existing or has_effect),
        open_world=category.level in _OPEN_WORLD_LEVELS or tool.taints or has_effect,
    )


@lru_cache(maxsize=1024)
def outcome_schema(result: type[ToolResult]) -> Schema:
    """Return the schema of a call's outcome: its result, or the reason why there is none.

    It covers `ToolOutcome.as_dict` of every call without an error: done, pending, or denied by the user.
    """
    fields = flat_schema(result, nullable=True)
    properties: Schema = {
        "success": {"type": "boolean", "description": "Whether the call succeeded."},
        "message": {"type": "string", "description": "The outcome in a sentence."},
        "untrusted": {
            "type": "string",
            "description": "A warning if the result contains text from outside the vault.",
        },
        "changed_by_user": {
            "type": "boolean",
            "description": "The user approved only part of the change, or edited the text.",
        },
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
        "changes_refused": {
            "type": "string",
            "description": "Why the change was not made, even though there is a result.",
        },
        "requires_confirmation": {"type": "boolean", "description": "The user is being asked."},
        "operation": {"type": "string", "description": "The operation that the user is asked to confirm."},
        "details": {"type": "object", "description": "The details of the question: tool, reason, target."},
        "pending_operation_id": {
            "type": "string",
            "description": "Use this id to query the state of the call.",
        },
        "denied": {"type": "boolean", "description": "The user denied the change."},
        "words": {"type": "string", "description": "The user's comment."},
    }
    properties |= {
        name: field_schema for name, field_schema in fields["properties"].items() if name != "message"
    }
    required = [name for name in fields.get("required", ()) if name != "message"]
    return {
        "type": "object",
        "properties": properties,
        "required": ["success", "message"],
        "anyOf": [
            {"required": ["success", *required]},
            {"required": ["pending_operation_id"]},
            {"required": ["denied"]},
        ],
    }
