"""A tool as it is offered over MCP: its entry on the wire, and what its calls and results are held to.

Two arguments stand beside the tool's own where it may change something: whether to wait for the user, and
why the change is wanted. A client may say the same in the call's `_meta`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.errors import InvalidParametersError
from app.servers.result_check import ResultCheck
from app.servers.served import ToolEntry, Waiting

WAIT, WHY = "wait_for_user", "why"
WAIT_META, WHY_META = "scriptorium/wait", "scriptorium/why"
_CATEGORY_META = "scriptorium/category"
_LONGEST_CLAIM = 2000
_OURS: Mapping[str, Mapping[str, object]] = {
    WAIT: {
        "type": "boolean",
        "default": True,
        "description": (
            "Whether the call waits for the user's answer. False: it comes back at once with a "
            "pending_operation_id; ask by the tool `pending` what became of it."
        ),
    },
    WHY: {
        "type": "string",
        "maxLength": _LONGEST_CLAIM,
        "description": "In a sentence, why you want this. The user sees it beside the change, as your words.",
    },
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A call as the client wants it: the tool's own arguments, and how."""

    arguments: Mapping[str, object]
    waiting: Waiting
    claim: str


@dataclass(frozen=True, slots=True)
class Offer:
    """One tool; `wire` is its entry in a list of tools, `ours` are the arguments that are not the tool's."""

    entry: ToolEntry
    wire: Mapping[str, Any]
    ours: frozenset[str]
    result: ResultCheck

    @classmethod
    def of(cls, entry: ToolEntry) -> Offer:
        """The offer of a tool."""
        taken = entry.input_schema.get("properties", {})
        ours = {} if entry.read_only else {k: v for k, v in _OURS.items() if k not in taken}
        schema = {**entry.input_schema, "properties": {**taken, **ours}}
        wire = {
            "name": entry.name,
            "title": entry.title,
            "description": entry.description,
            "inputSchema": schema,
            "outputSchema": entry.output_schema,
            "annotations": {
                "title": entry.title,
                "readOnlyHint": entry.read_only,
                "destructiveHint": entry.destructive,
                "idempotentHint": entry.idempotent,
                "openWorldHint": entry.open_world,
            },
            "_meta": {_CATEGORY_META: entry.category},
        }
        return cls(entry, wire, frozenset(ours), ResultCheck(entry.output_schema))

    def asked(self, given: Mapping[str, Any], meta: Mapping[str, Any]) -> Asked:
        """The call that a client's arguments and `_meta` ask for.

        Raises:
            InvalidParametersError: what is said about waiting or why is of the wrong type.
        """
        wait: object = meta.get(WAIT_META, True)
        why: object = meta.get(WHY_META, "")
        arguments = given
        if self.ours and not self.ours.isdisjoint(given):
            wait = given[WAIT] if WAIT in given and WAIT in self.ours else wait
            why = given[WHY] if WHY in given and WHY in self.ours else why
            arguments = {name: value for name, value in given.items() if name not in self.ours}
        if not isinstance(wait, bool):
            raise InvalidParametersError(f"{WAIT} is true or false.", argument=WAIT)
        if not isinstance(why, str) or len(why) > _LONGEST_CLAIM:
            raise InvalidParametersError(f"{WHY} has at most {_LONGEST_CLAIM} letters.", argument=WHY)
        return Asked(arguments, "wait" if wait else "pending", why.strip())
