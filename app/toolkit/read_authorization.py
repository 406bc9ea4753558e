"""Ask the user before a tool reads notes that are under an ask rule."""

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
from app.toolkit.audit_draft import AuditDraft
from app.toolkit.registry import AccessLevel, Category
from app.toolkit.tool import Tool
from app.toolkit.visibility import CallVisibility
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.index.resolver import Resolver


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A call that may run: the tool, its category, the validated arguments, and its visibility."""

    draft: AuditDraft
    tool: Tool
    category: Category
    arguments: BaseModel
    op: str
    visibility: CallVisibility

    @property
    def caller(self) -> Caller:
        """The caller of the tool."""
        return self.draft.call.caller

    @property
    def values(self) -> dict[str, Any]:
        """The arguments by name, including defaults."""
        return {parameter.name: getattr(self.arguments, parameter.name) for parameter in self.tool.parameters}

    @property
    def given_values(self) -> dict[str, object]:
        """The arguments that the caller gave, without defaults."""
        return {name: value for name, value in self.values.items() if name in self.arguments.model_fields_set}

    def facts(
        self,
        impact: Impact,
        *,
        changes_notes: bool,
        access: StoreVerdict | None = None,
        from_outside: bool = False,
    ) -> CallFacts:
        """Return the facts on which the policy bases its decision.

        Args:
            impact: The impact of the proposal.
            changes_notes: Whether the proposal changes documents, rather than having an effect outside.
            access: The verdict of the store's own permissions.
            from_outside: Whether text from outside that the call has fetched may influence the proposal.
        """
        is_declared = self.tool.changes_notes if changes_notes else self.tool.proposes
        return CallFacts(
            caller=replace(self.caller, tainted=True) if from_outside else self.caller,
            tool=self.tool.name,
            operation=impact.operation,
            scope=impact.scope,
            parts=impact.parts,
            op=self.op,
            effect=impact.effect,
            reads_only=self.category.level is AccessLevel.READ_ONLY or not is_declared,
            executes=self.category.level is AccessLevel.EXECUTE,
            creates_only=self.tool.creates_only or self.category.level is AccessLevel.NETWORK,
            always_asks=self.tool.always_asks,
            changes_access=any(warning.concerns_access for warning in impact.warnings),
            access=access,
        )


async def authorize_reads(call: PreparedCall, resolver: Resolver, gate: ApprovalGate) -> Rejected | None:
    """Ask the user about the named notes that are under an ask rule; return the rejection, if any.

    The visible named notes are recorded in the audit draft, and approved ones become visible to the call.
    """
    named_notes = _named_notes(call, resolver)
    call.draft.set_paths(tuple(path for path in named_notes if call.visibility.can_see(path)))
    to_approve = tuple(path for path in named_notes if call.visibility.needs_approval(path))
    if not to_approve:
        return None
    names = ", ".join(map(str, to_approve))
    effect = Effect("read", f"Read {names}", tuple(("note", str(path)) for path in to_approve))
    facts = call.facts(impact_of_reading(to_approve), changes_notes=False)
    answer = await gate.authorize(call.draft, facts, effect, call.given_values)
    if isinstance(answer, Rejected):
        return answer
    for path in to_approve:
        call.visibility.grant_read(path)
    return None


def _named_notes(call: PreparedCall, resolver: Resolver) -> tuple[NotePath, ...]:
    """Return the notes that the arguments name; the tool itself reports names that can't be resolved."""
    notes: dict[NotePath, None] = {}
    for parameter in call.tool.parameters:
        if parameter.kind is not ArgumentKind.NOTE:
            continue
        value = getattr(call.arguments, parameter.name)
        for name in value if isinstance(value, list) else [value]:
            if isinstance(name, str):
                try:
                    notes[resolver.resolve_for_reading(name)] = None
                except ScriptoriumError:
                    continue
    return tuple(notes)
