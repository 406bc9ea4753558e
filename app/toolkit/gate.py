"""Decides on a proposal: by the policy, and where that says so by asking the user."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from app.errors import PermissionDeniedError
from app.events import EventBus
from app.permissions.approval import ApprovalRequest, Approved, Approver, Decision, Denied, Effect
from app.permissions.audit_entry import Decided
from app.permissions.grants import Grants
from app.permissions.policy import Allow, Ask, Deny, Policy
from app.permissions.scoping import CallFacts, rewritten_by_move
from app.permissions.variant import check_variant
from app.toolkit.call_record import CallRecord
from app.toolkit.outcome import ApprovalAnswered, ApprovalAsked
from app.vault.changes import ChangeSet

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Admitted:
    """It may be done: exactly this, which may be a part or another wording of what was proposed."""

    proposal: ChangeSet | Effect


@dataclass(frozen=True, slots=True)
class Refused:
    """It may not be done. `by_user`: somebody said no, with `words`; `message` says it in a sentence."""

    decided: Decided
    message: str
    words: str = ""
    by_user: bool = False


class Gate:
    """Asks the policy, then the approver, and writes into the record what was decided.

    Args:
        approver: Who decides; None where nobody can be asked: then what needs a yes is refused.
    """

    def __init__(self, policy: Policy, approver: Approver | None, grants: Grants, events: EventBus) -> None:
        self._policy = policy
        self._approver = approver
        self._grants = grants
        self._events = events

    async def admit(
        self,
        record: CallRecord,
        facts: CallFacts,
        proposal: ChangeSet | Effect,
        arguments: Mapping[str, object],
    ) -> Admitted | Refused:
        """Whether the proposal may be done, asking the user where the policy says so."""
        verdict = self._policy.decide(facts)
        match verdict:
            case Deny():
                return self._refuse(record, Refused(Decided.RULE, f"Refused: {verdict.reason}."))
            case Allow():
                self._allow(record, verdict)
                return Admitted(proposal)
            case Ask():
                answer = await self._ask(record, _request(facts, proposal, arguments, verdict, self._policy))
                if isinstance(answer, Refused):
                    return self._refuse(record, answer)
                self._grants.remember_outside(facts.scope.outside)
                return answer

    def _allow(self, record: CallRecord, verdict: Allow) -> None:
        if verdict.by == "grant":
            self._grants.use(verdict.grants)
            record.decide(Decided.AUTO_APPROVED, verdict.reason, verdict.grants)
        else:
            decided = Decided.RULE if verdict.by == "rule" else Decided.NO_APPROVAL_NEEDED
            record.decide(decided, verdict.reason)

    def _refuse(self, record: CallRecord, refused: Refused) -> Refused:
        record.decide(refused.decided, refused.words or refused.message)
        record.line = "denied"
        return refused

    async def _ask(self, record: CallRecord, request: ApprovalRequest) -> Admitted | Refused:
        if self._approver is None:
            return Refused(Decided.FAILED, f"Nobody is here to be asked, and {request.reason}.")
        self._events.publish(ApprovalAsked(request))
        started = time.perf_counter()
        decision: Decision | None = None
        try:
            answer = await self._answer(self._approver, request)
            decision = answer if isinstance(answer, Approved | Denied) else None
        finally:
            record.waited += time.perf_counter() - started
            self._events.publish(ApprovalAnswered(request.id, decision))
        if isinstance(answer, Refused):
            return answer
        return self._settle(record, request, answer)

    async def _answer(self, approver: Approver, request: ApprovalRequest) -> Decision | Refused:
        """The approver's decision; one that fails, or that does not answer in time, is a no."""
        try:
            async with asyncio.timeout(request.timeout) as limit:
                answer = await approver.decide(request)
        except TimeoutError as error:
            if limit.expired():
                return Refused(Decided.TIMED_OUT, f"Nobody answered within {request.timeout:g} s.")
            return _failing(error)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return _failing(error)
        except Exception as error:
            return _failing(error)
        if not isinstance(answer, Approved | Denied):
            return _failing(TypeError(f"an answer of the type {type(answer).__name__}"))
        return answer

    def _settle(
        self, record: CallRecord, request: ApprovalRequest, decision: Decision
    ) -> Admitted | Refused:
        if isinstance(decision, Denied):
            words = f": {decision.words}" if decision.words else "."
            return Refused(Decided.USER_DENIED, f"The user said no{words}", decision.words, by_user=True)
        try:
            check_variant(request.proposal, decision.proposal)
            if decision.grant is not None and decision.grant not in request.offers:
                raise PermissionDeniedError("The answer gives a standing yes that was not offered.")
        except PermissionDeniedError as error:
            return _failing(error)
        if not decision.proposal and not isinstance(decision.proposal, Effect):
            return Refused(Decided.USER_DENIED, "The user approved none of it.", by_user=True)
        record.decide(Decided.USER_APPROVED, _approved_words(request, decision))
        if decision.grant is not None:
            grant = self._grants.add(decision.grant)
            record.grants = (grant.id,)
        return Admitted(decision.proposal)


def _request(
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
        timeout=policy.approval_timeout,
        rewrites=rewritten_by_move(proposal) if isinstance(proposal, ChangeSet) else (),
    )


def _failing(error: BaseException) -> Refused:
    log.error("the approver failed", exc_info=error)
    return Refused(Decided.FAILED, f"The question could not be asked: {error or type(error).__name__}")


def _approved_words(request: ApprovalRequest, decision: Approved) -> str:
    words = ["approved by the user"]
    if decision.edited:
        words.append("after editing the text")
    elif decision.proposal is not request.proposal and decision.proposal != request.proposal:
        words.append("in part")
    if decision.grant is not None:
        words.append(f"and from now on: {decision.grant.label}")
    return " ".join(words)
