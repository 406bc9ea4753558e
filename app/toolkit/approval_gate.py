"""Decide on proposals according to the policy, and ask the user if the policy requires it.

A new grant answers the open questions that it covers, and they are withdrawn from the user. The policy checks
for calls that always ask before it checks grants, so no grant answers their questions.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.errors import PermissionDeniedError, ScriptoriumError
from app.events import EventBus
from app.permissions.approval import (
    COVERED_REASON,
    UNANSWERED_REASON,
    ApprovalRequest,
    Approved,
    Approver,
    Decision,
    Denied,
    Effect,
)
from app.permissions.approval_check import check_approved
from app.permissions.audit_entry import DENIED_RESULT, AuditDecision
from app.permissions.caller import Caller, CallerKind
from app.permissions.grants import Grants, GrantsChanged, grant_label
from app.permissions.impact import CallFacts, rewritten_by_move
from app.permissions.policy import Allow, Ask, Deny, Policy
from app.toolkit.audit_draft import AuditDraft
from app.toolkit.outcome import ApprovalAnswered, ApprovalAsked
from app.vault.changes import VAULT, ChangeSet, Create

log = logging.getLogger(__name__)

DENIED_MESSAGE = "Denied by the user"
APPROVED_REASON = "approved by the user"


@dataclass(frozen=True, slots=True)
class Allowed:
    """The approval of a proposal, of a part of it or of an edited version."""

    proposal: ChangeSet | Effect


@dataclass(frozen=True, slots=True)
class Rejected:
    """The rejection of a proposal. `by_user`: the user denied it, with the reason in `words`."""

    decision: AuditDecision
    message: str
    words: str = ""
    by_user: bool = False


@dataclass(frozen=True, slots=True)
class _PendingQuestion:
    """An open question; `grant_verdict` receives the verdict of a grant that answers it."""

    facts: CallFacts
    grant_verdict: asyncio.Future[Allow]


class ApprovalGate:
    """Asks the policy, then the approver, and records the decision in the audit draft.

    Args:
        policy: Decides whether a proposal is allowed, denied or needs the user's approval.
        approver: Asks the user; without one, proposals that need approval are rejected.
        grants: Receives the grants that the user adds to an approval.
        events: Publishes questions and answers, and reports new grants to the gate.
    """

    def __init__(self, policy: Policy, approver: Approver | None, grants: Grants, events: EventBus) -> None:
        self._policy = policy
        self._approver = approver
        self._grants = grants
        self._events = events
        self._open_questions: list[_PendingQuestion] = []
        self._unsubscribe = events.subscribe(GrantsChanged, self._try_grants)

    def close(self) -> None:
        """Stop following the grants."""
        self._unsubscribe()

    async def authorize(
        self,
        draft: AuditDraft,
        facts: CallFacts,
        proposal: ChangeSet | Effect,
        arguments: Mapping[str, object],
    ) -> Allowed | Rejected:
        """Decide whether the proposal may be carried out; ask the user if the policy requires it."""
        verdict = self._policy.decide(facts)
        match verdict:
            case Deny():
                return self._record_rejection(
                    draft, Rejected(AuditDecision.RULE, f"Refused: {verdict.reason}.")
                )
            case Allow():
                self._allow(draft, verdict)
                return Allowed(proposal)
            case Ask():
                request = _build_request(draft, facts, proposal, arguments, verdict, self._policy)
                answer = await self._ask(draft, facts, request)
                if isinstance(answer, Rejected):
                    return self._record_rejection(draft, answer)
                if isinstance(current_verdict := self._policy.decide(facts), Deny):
                    # A rule that was added while the question was open applies to it, too.
                    return self._record_rejection(
                        draft, Rejected(AuditDecision.RULE, f"Refused: {current_verdict.reason}.")
                    )
                if draft.decision.kind is AuditDecision.USER_APPROVED:
                    self._grants.remember_outside(facts.scope.outside)
                return answer

    def _try_grants(self, _: GrantsChanged) -> None:
        for question in self._open_questions:
            verdict = self._policy.decide(question.facts)
            if isinstance(verdict, Allow) and verdict.by == "grant" and not question.grant_verdict.done():
                question.grant_verdict.set_result(verdict)

    def _allow(self, draft: AuditDraft, verdict: Allow) -> None:
        if verdict.by == "grant":
            self._grants.record_use(verdict.grants)
            draft.decide(AuditDecision.AUTO_APPROVED, verdict.reason, verdict.grants)
        else:
            decision = AuditDecision.RULE if verdict.by == "rule" else AuditDecision.NO_APPROVAL_NEEDED
            draft.decide(decision, verdict.reason)

    def _record_rejection(self, draft: AuditDraft, rejection: Rejected) -> Rejected:
        draft.decide(rejection.decision, rejection.words or rejection.message)
        draft.result = DENIED_RESULT
        return rejection

    async def _ask(self, draft: AuditDraft, facts: CallFacts, request: ApprovalRequest) -> Allowed | Rejected:
        if self._approver is None:
            return Rejected(
                AuditDecision.FAILED, f"No user is available to approve it, and {request.reason}."
            )
        question = _PendingQuestion(facts, asyncio.get_running_loop().create_future())
        draft.call.observer.on_question()
        self._open_questions.append(question)
        self._events.publish(ApprovalAsked(request))
        started = time.perf_counter()
        answer: Decision | Allow | Rejected | None = None
        try:
            answer = await self._answer(self._approver, request, question.grant_verdict)
        finally:
            self._open_questions.remove(question)
            draft.timer.waited += time.perf_counter() - started
            decision = answer if isinstance(answer, Approved | Denied) else None
            self._events.publish(ApprovalAnswered(request.id, decision))
        if isinstance(answer, Rejected):
            return answer
        if isinstance(answer, Allow):
            self._allow(draft, answer)
            return Allowed(request.proposal)
        return self._apply_decision(draft, request, answer)

    async def _answer(
        self, approver: Approver, request: ApprovalRequest, grant_verdict: asyncio.Future[Allow]
    ) -> Decision | Allow | Rejected:
        """Return the decision of the approver or of a new grant; a timeout is a rejection."""
        answer_task = asyncio.ensure_future(approver.decide(request))
        futures: tuple[asyncio.Future[Any], ...] = (answer_task, grant_verdict)
        withdrawal_reason: str | None = None
        try:
            await _wait_within_time_limit(futures, request)
            if answer_task.done():
                return _task_decision(answer_task)
            if grant_verdict.done():
                return grant_verdict.result()
            withdrawal_reason = UNANSWERED_REASON
            return Rejected(AuditDecision.TIMED_OUT, f"The user did not answer within {request.timeout:g} s.")
        finally:
            if not answer_task.done():
                answer_task.cancel(COVERED_REASON if grant_verdict.done() else withdrawal_reason)
                await asyncio.wait({answer_task})
                if not answer_task.cancelled() and (error := answer_task.exception()) is not None:
                    log.error("the approver failed after its question was withdrawn", exc_info=error)

    def _apply_decision(
        self, draft: AuditDraft, request: ApprovalRequest, decision: Decision
    ) -> Allowed | Rejected:
        if isinstance(decision, Denied):
            reason = f": {decision.words}" if decision.words else "."
            return Rejected(
                AuditDecision.USER_DENIED, f"{DENIED_MESSAGE}{reason}", decision.words, by_user=True
            )
        try:
            check_approved(request.proposal, decision.proposal)
            if decision.grant is not None and decision.grant not in request.offers:
                raise PermissionDeniedError("The answer grants a permission that was not offered.")
        except PermissionDeniedError as error:
            return _failed_rejection(error)
        if not decision.proposal and not isinstance(decision.proposal, Effect):
            return Rejected(AuditDecision.USER_DENIED, "The user approved none of it.", by_user=True)
        reason = _approval_reason(request, decision)
        draft.decide(AuditDecision.USER_APPROVED, reason)
        if decision.grant is not None:
            grant = self._grants.add(decision.grant)
            draft.decide(AuditDecision.USER_APPROVED, reason, (grant.id,))
        return Allowed(decision.proposal)


def _build_request(
    draft: AuditDraft,
    facts: CallFacts,
    proposal: ChangeSet | Effect,
    arguments: Mapping[str, object],
    verdict: Ask,
    policy: Policy,
) -> ApprovalRequest:
    return ApprovalRequest(
        id=uuid.uuid4().hex,
        caller=facts.caller,
        tool=facts.tool,
        arguments=tuple((name, str(value)) for name, value in arguments.items()),
        operation=facts.operation,
        scope=facts.scope,
        proposal=proposal,
        reason=verdict.reason,
        offers=verdict.offers,
        timeout=_timeout(draft, facts.caller, policy),
        call=draft.call.id,
        rewrites=rewritten_by_move(proposal) if isinstance(proposal, ChangeSet) else (),
        has_hidden_parts=isinstance(proposal, ChangeSet) and _has_hidden_parts(draft, facts, proposal),
    )


def _has_hidden_parts(draft: AuditDraft, facts: CallFacts, proposal: ChangeSet) -> bool:
    """Return whether the call may not see a note that changes or that links to a deleted one."""
    visibility = draft.visibility
    if visibility is None or proposal.place != VAULT:
        return False
    existing = (change.path for change in proposal.changes if not isinstance(change, Create))
    return not all(map(visibility.can_see, (*existing, *facts.scope.backlinks)))


def _timeout(draft: AuditDraft, caller: Caller, policy: Policy) -> float | None:
    """Return the time limit for an answer in seconds; None for the user and the desktop agent."""
    if draft.call.observer.approval_timeout is not None:
        return draft.call.observer.approval_timeout
    is_in_window = caller.kind in (CallerKind.USER, CallerKind.DESKTOP_AGENT) and not caller.acting_for
    return None if is_in_window else policy.approval_timeout


async def _wait_within_time_limit(futures: tuple[asyncio.Future[Any], ...], request: ApprovalRequest) -> None:
    """Wait until one of `futures` is done or time runs out; the user's work extends the time limit."""
    started = time.monotonic()
    while not any(future.done() for future in futures):
        remaining = None
        if request.timeout is not None:
            remaining = started + request.timeout + request.postponed.seconds - time.monotonic()
            if remaining <= 0:
                return
        wait_seconds = None if remaining is None or math.isinf(remaining) else remaining
        await asyncio.wait(futures, timeout=wait_seconds, return_when=asyncio.FIRST_COMPLETED)


def _task_decision(answer_task: asyncio.Future[Decision]) -> Decision | Rejected:
    """Return the answer of the approver; a failure or an invalid answer is a rejection."""
    if answer_task.cancelled():
        return _failed_rejection(asyncio.CancelledError("the approver canceled the request"))
    error = answer_task.exception()
    if isinstance(error, ScriptoriumError):
        # The approver knows why it can't ask: no user is present, or the change is too long to show.
        return Rejected(AuditDecision.FAILED, error.message)
    if error is not None:
        return _failed_rejection(error)
    answer = answer_task.result()
    if not isinstance(answer, Approved | Denied):
        return _failed_rejection(TypeError(f"the answer has the type {type(answer).__name__}"))
    return answer


def _failed_rejection(error: BaseException) -> Rejected:
    log.error("the approver failed", exc_info=error)
    return Rejected(AuditDecision.FAILED, f"Could not ask the user: {error or type(error).__name__}")


def _approval_reason(request: ApprovalRequest, decision: Approved) -> str:
    parts = [decision.words or APPROVED_REASON]
    if decision.edited:
        parts.append("after editing the text")
    elif decision.proposal is not request.proposal and decision.proposal != request.proposal:
        parts.append("in part")
    if decision.grant is not None:
        parts.append(f"and from now on: {grant_label(decision.grant)}")
    return " ".join(parts)
