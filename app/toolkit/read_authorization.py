"""The policy on the notes that a call names: where a rule says ask, the user is asked before it runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from app.errors import ScriptoriumError
from app.permissions.approval import Effect
from app.permissions.caller import Caller
from app.permissions.impact import CallFacts, Impact, impact_of_reading
from app.permissions.store_policy import StoreVerdict
from app.toolkit.approval_gate import ApprovalGate, Rejected
from app.toolkit.argument_types import ArgumentKind
from app.toolkit.call_record import CallRecord
from app.toolkit.registry import AccessLevel, Category
from app.toolkit.tool import Tool
from app.toolkit.visibility import CallVisibility
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.index.resolver import Resolver


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A call that may run: the tool, its category, the validated arguments, and what it may see."""

    record: CallRecord
    tool: Tool
    category: Category
    arguments: BaseModel
    op: str
    sight: CallVisibility

    @property
    def caller(self) -> Caller:
        """Who calls."""
        return self.record.caller

    @property
    def given(self) -> dict[str, Any]:
        """The arguments by name, defaults included."""
        return {parameter.name: getattr(self.arguments, parameter.name) for parameter in self.tool.parameters}

    @property
    def raw_arguments(self) -> dict[str, object]:
        """The arguments that the caller gave, as it gave them."""
        return {name: value for name, value in self.given.items() if name in self.arguments.model_fields_set}

    def facts(
        self,
        reach: Impact,
        *,
        changes_notes: bool,
        access: StoreVerdict | None = None,
        from_outside: bool = False,
    ) -> CallFacts:
        """What the policy decides on, for a proposal with this reach in a place with this to say of it.

        `from_outside`: the proposal rests on text that the call itself has fetched.
        """
        promised = self.tool.changes_notes if changes_notes else self.tool.proposes
        return CallFacts(
            caller=replace(self.caller, tainted=True) if from_outside else self.caller,
            tool=self.tool.name,
            operation=reach.operation,
            scope=reach.scope,
            parts=reach.parts,
            op=self.op,
            effect=reach.effect,
            reads_only=self.category.level is AccessLevel.READ_ONLY or not promised,
            executes=self.category.level is AccessLevel.EXECUTE,
            creates_only=self.tool.creates_only or self.category.level is AccessLevel.NETWORK,
            always_asks=self.tool.always_asks,
            access=access,
        )


async def authorize_reads(call: PreparedCall, resolver: Resolver, gate: ApprovalGate) -> Rejected | None:
    """Ask for the notes that the call names and a rule wants asked about; the refusal, if there is one."""
    named = _named_notes(call, resolver)
    call.record.record_paths(tuple(path for path in named if call.sight.can_see(path)))
    asked = tuple(path for path in named if call.sight.needs_approval(path))
    if not asked:
        return None
    listed = ", ".join(map(str, asked))
    shown = Effect("read", f"Read {listed}", tuple(("note", str(path)) for path in asked))
    facts = call.facts(impact_of_reading(asked), changes_notes=False)
    answer = await gate.authorize(call.record, facts, shown, call.raw_arguments)
    if isinstance(answer, Rejected):
        return answer
    for path in asked:
        call.sight.grant_read(path)
    return None


def _named_notes(call: PreparedCall, resolver: Resolver) -> tuple[NotePath, ...]:
    """The notes that arguments name; what can't be resolved is the tool's to complain about."""
    found: dict[NotePath, None] = {}
    for parameter in call.tool.parameters:
        if parameter.kind is not ArgumentKind.NOTE:
            continue
        value = getattr(call.arguments, parameter.name)
        for name in value if isinstance(value, list) else [value]:
            if isinstance(name, str):
                try:
                    found[resolver.resolve_for_reading(name)] = None
                except ScriptoriumError:
                    continue
    return tuple(found)
