"""Tools as MCP clients see them: their descriptors, and the validation of calls and results.

A tool that can change something has two additional arguments: whether to wait for the user, and the reason
for the change. A client can also pass them in the call's `_meta`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema_rs import Draft202012Validator

from app.errors import InvalidParametersError
from app.servers.vault_access import ToolDescriptor, WaitMode

WAIT_ARGUMENT, WHY_ARGUMENT = "wait_for_user", "why"
WAIT_META, WHY_META = "scriptorium/wait", "scriptorium/why"
_CATEGORY_META = "scriptorium/category"
_MAX_CLAIM_CHARS = 2000
_ADDED_ARGUMENTS: Mapping[str, Mapping[str, object]] = {
    WAIT_ARGUMENT: {
        "type": "boolean",
        "default": True,
        "description": (
            "If true, the call waits for the user's answer. If false, it returns immediately with a "
            "pending_operation_id; use the `pending` tool to query its state."
        ),
    },
    WHY_ARGUMENT: {
        "type": "string",
        "maxLength": _MAX_CLAIM_CHARS,
        "description": (
            "Why you want this, in a sentence. The user sees it with the change, attributed to you."
        ),
    },
}


@dataclass(frozen=True, slots=True)
class ToolCallRequest:
    """A parsed call: the tool's own arguments, and the call's options."""

    arguments: Mapping[str, object]
    wait_mode: WaitMode
    claim: str


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool; `wire` is its entry in a list of tools, `added` are the names of its additional arguments."""

    descriptor: ToolDescriptor
    wire: Mapping[str, Any]
    added: frozenset[str]
    validator: Draft202012Validator
    """Validates results. For a long list, the jsonschema package is slower than the tool itself."""

    @classmethod
    def from_descriptor(cls, descriptor: ToolDescriptor) -> McpTool:
        """Return the MCP tool for a descriptor."""
        properties = descriptor.input_schema.get("properties", {})
        added = (
            {} if descriptor.read_only else {k: v for k, v in _ADDED_ARGUMENTS.items() if k not in properties}
        )
        schema = {**descriptor.input_schema, "properties": {**properties, **added}}
        wire = {
            "name": descriptor.name,
            "title": descriptor.title,
            "description": descriptor.description,
            "inputSchema": schema,
            "outputSchema": descriptor.output_schema,
            "annotations": {
                "title": descriptor.title,
                "readOnlyHint": descriptor.read_only,
                "destructiveHint": descriptor.destructive,
                "idempotentHint": descriptor.idempotent,
                "openWorldHint": descriptor.open_world,
            },
            "_meta": {_CATEGORY_META: descriptor.category},
        }
        return cls(descriptor, wire, frozenset(added), Draft202012Validator(dict(descriptor.output_schema)))

    def find_problem(self, result: Mapping[str, object]) -> str:
        """Return the first violation of the output schema in a result, or an empty string if it is valid."""
        try:
            error = next(self.validator.iter_errors(result), None)
        except ValueError as not_json:
            return f"$: {not_json}"
        if error is None:
            return ""
        path = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in error.instance_path)
        return f"${path}: {error.message}"

    def parse_call(
        self, arguments_with_options: Mapping[str, Any], meta: Mapping[str, Any]
    ) -> ToolCallRequest:
        """Parse a call from a client's arguments and `_meta`.

        Raises:
            InvalidParametersError: an additional argument has the wrong type, or the reason is too long.
        """
        arguments = dict(arguments_with_options)
        options = {name: arguments.pop(name) for name in self.added if name in arguments}
        wait: object = options.get(WAIT_ARGUMENT, meta.get(WAIT_META, True))
        reason: object = options.get(WHY_ARGUMENT, meta.get(WHY_META, ""))
        if not isinstance(wait, bool):
            raise InvalidParametersError(f"{WAIT_ARGUMENT} must be true or false.", argument=WAIT_ARGUMENT)
        if not isinstance(reason, str) or len(reason) > _MAX_CLAIM_CHARS:
            raise InvalidParametersError(
                f"{WHY_ARGUMENT} must be a string of at most {_MAX_CLAIM_CHARS} characters.",
                argument=WHY_ARGUMENT,
            )
        return ToolCallRequest(arguments, "wait" if wait else "pending", reason.strip())
