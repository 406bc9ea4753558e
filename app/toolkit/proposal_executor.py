"""Settler: what a tool came to is asked for, done and turned into the call's outcome.

The user is asked before anything is written or sent; what was decided meanwhile (a category turned off, a
file that changed) counts when the answer comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace

from app.permissions.audit_entry import AuditDecision
from app.permissions.impact import MESSAGE, PAGE, impact_of_changes, impact_of_effect
from app.toolkit.approval_gate import ApprovalGate, Rejected
from app.toolkit.audit_writer import AuditWriter
from app.toolkit.call_record import CallRecord
from app.toolkit.call_results import rejected_outcome, success, without_changes
from app.toolkit.commit_queue import CommitQueue
from app.toolkit.document_stores import StoreRegistry
from app.toolkit.outcome import ToolOutcome
from app.toolkit.proposal import EffectProposal, Proposal
from app.toolkit.read_authorization import PreparedCall
from app.toolkit.result import ToolResult
from app.toolkit.tool import Answer
from app.toolkit.user_edits import describe_changes, user_edits
from app.vault.changes import VAULT, ChangeSet
from app.vault.path import NotePath


class ProposalExecutor:
    """Takes proposals through the gate and carries out what was approved.

    Args:
        check_on: Raises PermissionDeniedError while the category of that id is off.
        backlinks: The notes that link to one.
    """

    def __init__(
        self,
        gate: ApprovalGate,
        places: StoreRegistry,
        committer: CommitQueue,
        trail: AuditWriter,
        check_on: Callable[[CallRecord, str], None],
        backlinks: Callable[[NotePath], Iterable[NotePath]],
    ) -> None:
        self._gate = gate
        self._places = places
        self._committer = committer
        self._trail = trail
        self._check_on = check_on
        self._backlinks = backlinks

    async def execute(self, call: PreparedCall, answer: Answer) -> ToolOutcome:
        """The outcome of a call whose tool answered `answer`.

        Raises:
            ConflictError: a file holds something else than the proposal was made for; nothing is written.
            PermissionDeniedError, StorageError: as they say; nothing is written.
            VaultBusyError: the vault is open for reading only; nobody is asked.
        """
        match answer:
            case Proposal() if answer.change_set:
                return await self._settle_changes(call, answer)
            case EffectProposal():
                return await self._settle_effect(call, answer)
            case Proposal():
                return self._succeeded(call, answer.report(answer.change_set), "nothing to change")
            case ToolResult():
                return self._succeeded(call, answer, "reading in the vault")

    def _succeeded(self, call: PreparedCall, result: ToolResult, reason: str) -> ToolOutcome:
        # A question about reading has been decided already; it stays what the log tells of.
        if call.record.decided is AuditDecision.FAILED:
            call.record.decide(AuditDecision.NO_APPROVAL_NEEDED, reason)
        return success(call.tool, result)

    async def _settle_changes(
        self, call: PreparedCall, proposal: Proposal[ToolResult], *, from_outside: bool = False
    ) -> ToolOutcome:
        place = self._places.get(proposal.change_set.place)
        reach = impact_of_changes(proposal.change_set, self._backlinks, place.label)
        call.record.record_impact(reach)
        place.store.check_writable()
        access = place.access(proposal.change_set, call.caller)
        facts = call.facts(reach, changes_notes=True, access=access, from_outside=from_outside)
        admitted = await self._gate.authorize(call.record, facts, proposal.change_set, call.raw_arguments)
        if isinstance(admitted, Rejected):
            if proposal.otherwise is None:
                return rejected_outcome(admitted)
            return without_changes(call.tool, proposal.otherwise, admitted)
        assert isinstance(admitted.proposal, ChangeSet)
        self._check_on(call.record, call.category.id)
        committed = admitted.proposal
        outcome = await self._outcome(call, proposal, committed, place.store.place)
        whole = "changed_by_user" not in outcome.result
        if not whole:
            call.record.record_impact(impact_of_changes(committed, self._backlinks, place.label))
        await self.commit(call.record, committed, proposal.undoes if whole else ())
        return outcome

    async def _outcome(
        self, call: PreparedCall, proposal: Proposal[ToolResult], committed: ChangeSet, place: str
    ) -> ToolOutcome:
        """Return the outcome that tells what is about to be committed, which the user may have changed."""
        result = proposal.report(committed)
        if committed is proposal.change_set or committed.digest == proposal.change_set.digest:
            return success(call.tool, result)
        sees = call.sight.can_see if place == VAULT else lambda path: True
        edits = await asyncio.to_thread(user_edits, proposal.change_set, committed, sees)
        made = success(call.tool, result, edits.as_fields())
        message = result.message
        if not proposal.is_derived:
            # The tool's own sentence tells what it proposed.
            message = describe_changes(committed, sees) if place == VAULT else f"{committed.summary}."
        return replace(made, message=f"{message} {edits.words}".strip())

    async def _settle_effect(self, call: PreparedCall, proposal: EffectProposal[ToolResult]) -> ToolOutcome:
        reach = impact_of_effect(proposal.effect)
        call.record.record_impact(reach)
        facts = call.facts(reach, changes_notes=False)
        admitted = await self._gate.authorize(call.record, facts, proposal.effect, call.raw_arguments)
        if isinstance(admitted, Rejected):
            return rejected_outcome(admitted)
        self._check_on(call.record, call.category.id)
        self._trail.ensure_flushed()
        call.record.begins()
        came = await proposal.run()
        if not isinstance(came, Proposal):
            return success(call.tool, came)
        if not came.change_set:
            return success(call.tool, came.report(came.change_set))
        if proposal.effect.kind == MESSAGE:
            # Asked again after a restart, the call would send it a second time.
            raise TypeError(f"{call.tool.name} proposes changes after an effect that can't be repeated")
        call.record.line = "it ran; what came of it is proposed as a change"
        self._trail.append(call.record.entry())
        call.record.next_step()
        return await self._settle_changes(call, came, from_outside=proposal.effect.kind == PAGE)

    async def commit(self, record: CallRecord, change_set: ChangeSet, undoes: tuple[int, ...]) -> None:
        """Write an approved change set, unless the audit log can't tell of it."""
        self._trail.ensure_flushed()
        record.begins()
        await self._committer.commit(
            change_set, record.caller, entry=record.id, undoes=undoes, landed=record.on_committed
        )
