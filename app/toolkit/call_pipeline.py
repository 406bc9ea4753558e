"""The pipeline that every call passes through: the stages of `CallPipeline.run` in order.

A stage takes the previous stage's result and `proceed`, which runs the following stages, and returns the
call's outcome. A stage that does not call `proceed` ends the call.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Generic, TypeVar

from app.encoding import encodable_arguments
from app.errors import (
    ConflictError,
    LimitError,
    PermissionDeniedError,
    ScriptoriumError,
    TimeoutExpiredError,
)
from app.events import EventBus
from app.permissions.approval import Effect
from app.permissions.audit import AuditLog
from app.permissions.audit_entry import AuditDecision
from app.permissions.impact import MESSAGE, PAGE, impact_of_changes, impact_of_effect
from app.permissions.policy import Policy
from app.toolkit.approval_gate import ApprovalGate, Rejected
from app.toolkit.audit_draft import AuditDraft
from app.toolkit.audit_writer import AuditWriter
from app.toolkit.call import Call, InternalTool, InvalidCall, ResolvedUndo, UserEdit
from app.toolkit.call_results import (
    check_names_and_size,
    failure_outcome,
    outcome_without_changes,
    rejected_outcome,
    success_outcome,
    validate_arguments,
)
from app.toolkit.commit_queue import CommitQueue
from app.toolkit.context import ServiceContext
from app.toolkit.disclosure import filter_outcome
from app.toolkit.document_stores import StoreRegistry
from app.toolkit.history_view import HistoryView
from app.toolkit.index_view import IndexView
from app.toolkit.outcome import ToolFinished, ToolOutcome, ToolStarted
from app.toolkit.proposal import EffectProposal, Proposal
from app.toolkit.rate_limiter import RateLimiter
from app.toolkit.read_authorization import PreparedCall, authorize_reads
from app.toolkit.registry import AccessLevel, Category, ToolRegistry
from app.toolkit.result import ToolResult
from app.toolkit.services import OptionalModels
from app.toolkit.tool import Answer, Tool
from app.toolkit.turn_rules import TurnRules
from app.toolkit.user_edits import describe_changes, find_user_edits
from app.toolkit.vault_view import VaultView
from app.toolkit.visibility import Visibility
from app.vault.changes import VAULT, ChangeSet

if TYPE_CHECKING:
    from app.index.vault_index import VaultIndex
    from app.vault.journal import Journal
    from app.vault.store import NoteStore

log = logging.getLogger(__name__)

_WITHDRAWN_MESSAGE = "The call was withdrawn."
_WITHDRAWN = ToolOutcome(
    False, message=_WITHDRAWN_MESSAGE, error={"type": "cancelled", "message": _WITHDRAWN_MESSAGE}
)

In = TypeVar("In")
Out = TypeVar("Out")
Next = TypeVar("Next")

Proceed = Callable[[In], Awaitable[ToolOutcome]]
Stage = Callable[[In, Proceed[Out]], Awaitable[ToolOutcome]]


class Stages(Generic[In, Out]):
    """A chain of stages; each takes the value that the previous one passes to `proceed`."""

    def __init__(self, stage: Stage[In, Out]) -> None:
        self._stage = stage

    def then(self, stage: Stage[Out, Next]) -> Stages[In, Next]:
        """Return the chain with `stage` added to its end."""
        previous = self._stage

        def chained(value: In, proceed: Proceed[Next]) -> Awaitable[ToolOutcome]:
            return previous(value, lambda result: stage(result, proceed))

        return Stages(chained)

    def ending_with(self, last: Proceed[Out]) -> Proceed[In]:
        """Return a function that runs the chain and then `last`."""
        return lambda value: self._stage(value, last)


@dataclass(frozen=True, slots=True)
class ResolvedCall:
    """A call to an existing tool whose category is on."""

    draft: AuditDraft
    tool: Tool
    category: Category


@dataclass(frozen=True, slots=True)
class ExecutedCall:
    """A call whose tool has run; `from_outside`: untrusted text may have influenced the proposal."""

    call: PreparedCall
    answer: Answer
    from_outside: bool = False


@dataclass(frozen=True, slots=True)
class ApprovedChanges:
    """Changes that may be committed: the proposal, and the part or version of it that was approved."""

    call: PreparedCall
    proposal: Proposal[ToolResult]
    change_set: ChangeSet


@dataclass(frozen=True, slots=True)
class ApprovedEffect:
    """An effect outside the notes that may be carried out."""

    call: PreparedCall
    proposal: EffectProposal[ToolResult]


class CallPipeline:
    """Runs calls through the stages below. It belongs to the service thread.

    Many calls may run, and wait for an answer, at once: a call's state travels from stage to stage, and the
    audit entry is built up in its `AuditDraft`.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        policy: Policy,
        gate: ApprovalGate,
        visibility: Visibility,
        limits: RateLimiter,
        turn_rules: TurnRules,
        store: NoteStore,
        stores: StoreRegistry,
        index: VaultIndex,
        journal: Journal,
        audit: AuditLog,
        audit_writer: AuditWriter,
        commits: CommitQueue,
        models: OptionalModels,
        services: Mapping[str, object],
        events: EventBus,
    ) -> None:
        self._registry = registry
        self._policy = policy
        self._gate = gate
        self._visibility = visibility
        self._limits = limits
        self._turn_rules = turn_rules
        self._store = store
        self._stores = stores
        self._index = index
        self._journal = journal
        self._audit_log = audit
        self._audit_writer = audit_writer
        self._commits = commits
        self._models = models
        self._services = services
        self._events = events
        self.run: Proceed[Call] = (
            Stages(self._audit)
            .then(self._report_errors)
            .then(self._wait_for_turn)
            .then(self._resolve)
            .then(self._validate)
            .then(self._check_permission)
            .then(self._limit)
            .then(self._authorize_reads)
            .then(self._execute)
            .then(self._approve)
            .ending_with(self._commit)
        )

    # Audit

    async def _audit(self, call: Call, proceed: Proceed[AuditDraft]) -> ToolOutcome:
        """Log the call however it ends, announce its start and end, and filter the outcome for the caller.

        The start of a user's edit is not announced, and an empty one is neither announced nor logged.
        """
        draft = AuditDraft(call)
        if isinstance(call.request, UserEdit):
            if not call.request.change_set:
                return ToolOutcome(True, message="Nothing to save.")
        else:
            self._events.publish(ToolStarted(call.id, call.name, call.caller))
        try:
            outcome = await proceed(draft)
        except BaseException as error:
            draft.cancel(str(error))
            self._finish(draft, _WITHDRAWN)
            raise
        return self._finish(draft, outcome)

    def _finish(self, draft: AuditDraft, outcome: ToolOutcome) -> ToolOutcome:
        call = draft.call
        if not draft.result:
            draft.result = outcome.message or "done"
        duration = draft.timer.duration_ms
        repeats = 0
        if draft.is_throttled:
            entry, repeats = self._audit_writer.append_throttled(draft.entry())
        else:
            entry = self._audit_writer.append(draft.entry())
        rule_ends_turn = self._turn_rules.ends(call.name, call.caller)
        visibility = draft.visibility or self._visibility.of(call.caller, call.name)
        finished = replace(
            filter_outcome(outcome, visibility, call.arguments),
            entry=entry,
            commit=None if draft.commit is None else draft.commit.id,
            duration_ms=duration,
            ends_turn=rule_ends_turn or (outcome.ends_turn and bool(call.caller.turn)),
            decision=draft.decision.kind.value,
            model_usage=draft.usage,
        )
        self._events.publish(ToolFinished(call.id, finished, call.caller, call.name, repeats))
        return finished

    # Report errors

    async def _report_errors(self, draft: AuditDraft, proceed: Proceed[AuditDraft]) -> ToolOutcome:
        """Turn errors into outcomes. A cancellation is not an error and passes through."""
        name = draft.call.name
        try:
            return await proceed(draft)
        except ScriptoriumError as error:
            draft.fail(f"{error.type}: {error.message}")
            return failure_outcome(error)
        except Exception as error:
            log.exception("%s failed", name)
            message = f"{name} failed because of an error in the app ({type(error).__name__})."
            draft.fail(f"internal: {message}")
            return ToolOutcome(False, message=message, error={"type": "internal", "message": message})

    # Wait for turn

    async def _wait_for_turn(self, draft: AuditDraft, proceed: Proceed[AuditDraft]) -> ToolOutcome:
        """Wait for the call's turn if its caller queues calls; the wait does not count as its duration."""
        wait_for_turn = draft.call.observer.wait_for_turn
        if wait_for_turn is not None:
            start = perf_counter()
            try:
                await wait_for_turn()
            finally:
                draft.timer.waited += perf_counter() - start
        return await proceed(draft)

    # Resolve

    async def _resolve(self, draft: AuditDraft, proceed: Proceed[ResolvedCall]) -> ToolOutcome:
        """Find the tool and check that its category is on. The user's own edits go straight to disk.

        Raises:
            NotFoundError: There is no such tool.
            PermissionDeniedError: The category is off.
            ScriptoriumError: The call is an `InvalidCall`, which carries the error.
        """
        match draft.call.request:
            case UserEdit(change_set):
                draft.decide(AuditDecision.NO_APPROVAL_NEEDED, "the user's own edit")
                label = self._stores.get(change_set.place).label
                draft.set_impact(impact_of_changes(change_set, self._index.linking_notes, label))
                await self._write(draft, change_set, ())
                return ToolOutcome(True, message=change_set.summary)
            case InvalidCall(error):
                raise error
            case InternalTool(tool):
                pass
            case _:
                tool = self._registry.get(draft.call.name)
        category = self._registry.category(tool.category)
        self._check_category(draft, category.id)
        return await proceed(ResolvedCall(draft, tool, category))

    def _check_category(self, draft: AuditDraft, category_id: str) -> None:
        """Check that the category is on; called again after the user's answer, which may take a day.

        Raises:
            PermissionDeniedError: It is off.
        """
        category = self._registry.category(category_id)
        if category.on and category.id not in self._policy.categories_off:
            return
        draft.decide(AuditDecision.RULE, f"the category {category.id} is off")
        raise PermissionDeniedError(
            f"The tools of the category {category.name} ({category.id}) are turned off.",
            tool=draft.call.name,
            category=category.id,
        )

    # Validate

    async def _validate(self, call: ResolvedCall, proceed: Proceed[PreparedCall]) -> ToolOutcome:
        """Validate the arguments with the tool's Pydantic model.

        Raises:
            InvalidParametersError, LimitError: The arguments are not valid for the tool, or are too large.
        """
        check_names_and_size(call.tool, call.draft.call.arguments)
        arguments = validate_arguments(call.tool, encodable_arguments(call.draft.call.arguments))
        op = call.tool.check_operation(arguments)
        visibility = self._visibility.of(call.draft.call.caller, call.tool.name)
        call.draft.visibility = visibility
        return await proceed(PreparedCall(call.draft, call.tool, call.category, arguments, op, visibility))

    # Check permission

    async def _check_permission(self, call: PreparedCall, proceed: Proceed[PreparedCall]) -> ToolOutcome:
        """Check that the caller may use the tool at all.

        Raises:
            PermissionDeniedError: A rule denies it, or the caller may only read.
        """
        draft, tool, caller = call.draft, call.tool, call.caller
        if not self._policy.may_call(caller, call.category.id, tool.name, call.op):
            draft.decide(AuditDecision.RULE, "a rule denies the caller this tool")
            raise PermissionDeniedError(f"{caller.name} may not use {tool.name}.", tool=tool.name, op=call.op)
        if not self._policy.may_write(caller) and not _is_read_only_call(call):
            draft.decide(AuditDecision.RULE, f"{caller.name} may only read")
            raise PermissionDeniedError(f"{caller.name} may only read.", tool=tool.name)
        return await proceed(call)

    # Limit

    async def _limit(self, call: PreparedCall, proceed: Proceed[PreparedCall]) -> ToolOutcome:
        """Count the call against the rules of the turn and the rate limits.

        Raises:
            LimitError: The call exceeds a limit.
        """
        self._turn_rules.check(call.tool.name, call.caller)
        try:
            self._limits.check(call.tool, call.category, call.caller)
        except LimitError:
            call.draft.is_throttled = True
            raise
        return await proceed(call)

    # Authorize reads

    async def _authorize_reads(self, call: PreparedCall, proceed: Proceed[PreparedCall]) -> ToolOutcome:
        """Ask the user before the tool reads notes for which a rule says "ask"."""
        if not isinstance(call.draft.call.request, ResolvedUndo):
            rejected = await authorize_reads(call, self._index.resolver, self._gate)
            if rejected is not None:
                return rejected_outcome(rejected)
        return await proceed(call)

    # Execute

    async def _execute(self, call: PreparedCall, proceed: Proceed[ExecutedCall]) -> ToolOutcome:
        """Run the tool, and run it once more if a file changed between its proposal and the commit."""
        request = call.draft.call.request
        if isinstance(request, ResolvedUndo):
            change_set = request.plan.resolve(request.choices)
            undo: Proposal[ToolResult] = Proposal(change_set, _undo_result, request.plan.commits)
            return await proceed(ExecutedCall(call, undo))
        answer = await self._run_tool(call)
        try:
            return await proceed(ExecutedCall(call, answer))
        except ConflictError as error:
            if not isinstance(answer, Proposal):
                raise
            log.info("%s runs again: %s", call.tool.name, error)
        return await proceed(ExecutedCall(call, await self._run_tool(call)))

    async def _run_tool(self, call: PreparedCall) -> Answer:
        """Run the tool's function.

        Raises:
            TimeoutExpiredError: It took longer than the tool's time limit.
        """
        semantic_search, language_model = self._models.semantic_search(), self._models.language_model()
        if language_model is not None:
            language_model = language_model.with_usage_callback(call.draft.add_usage)
        context = ServiceContext(
            call.caller,
            VaultView(self._store, self._index.resolver, call.visibility),
            IndexView(self._index, call.visibility, semantic_search),
            HistoryView(self._journal, self._audit_log, self._stores, call.caller, call.visibility),
            semantic_search,
            language_model,
            call.visibility.can_read,
            self._services.get(call.tool.category),
        )
        try:
            async with asyncio.timeout(call.tool.timeout) as limit:
                return await call.tool.function(context, **call.values)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TimeoutExpiredError(
                f"{call.tool.name} timed out after {call.tool.timeout:g} s.",
                limit=call.tool.timeout,
                tool=call.tool.name,
            ) from error

    # Approve

    async def _approve(
        self, executed: ExecutedCall, proceed: Proceed[ApprovedChanges | ApprovedEffect]
    ) -> ToolOutcome:
        """Submit a proposal to the gate, which applies the policy and asks the user if necessary.

        Raises:
            PermissionDeniedError: The category was turned off while the user was being asked.
            VaultBusyError: The vault is open read-only; the user is not asked.
        """
        call, answer = executed.call, executed.answer
        match answer:
            case ToolResult():
                return _unchanged(call, answer, "reading in the vault")
            case Proposal() if not answer.change_set:
                return _unchanged(call, answer.report(answer.change_set), "nothing to change")
            case Proposal():
                store = self._stores.get(answer.change_set.place)
                impact = impact_of_changes(answer.change_set, self._index.linking_notes, store.label)
                call.draft.set_impact(impact)
                store.store.check_writable()
                facts = call.facts(
                    impact,
                    changes_notes=True,
                    access=store.access(answer.change_set, call.caller),
                    from_outside=executed.from_outside,
                )
                proposed: ChangeSet | Effect = answer.change_set
            case EffectProposal():
                impact = impact_of_effect(answer.effect)
                call.draft.set_impact(impact)
                facts = call.facts(impact, changes_notes=False)
                proposed = answer.effect
        decision = await self._gate.authorize(call.draft, facts, proposed, call.given_values)
        if isinstance(decision, Rejected):
            if isinstance(answer, Proposal) and answer.result_if_denied is not None:
                return outcome_without_changes(call.tool, answer.result_if_denied, decision)
            return rejected_outcome(decision)
        self._check_category(call.draft, call.category.id)
        if isinstance(answer, EffectProposal):
            return await proceed(ApprovedEffect(call, answer))
        assert isinstance(decision.proposal, ChangeSet)
        return await proceed(ApprovedChanges(call, answer, decision.proposal))

    # Commit

    async def _commit(self, approved: ApprovedChanges | ApprovedEffect) -> ToolOutcome:
        """Write approved changes or carry out an approved effect, unless the audit log can't be written.

        Raises:
            ConflictError: A file changed after the proposal was made; nothing was written.
            StorageError: The disk or the audit log can't be written; nothing was written.
        """
        if isinstance(approved, ApprovedEffect):
            return await self._carry_out(approved)
        call, proposal, change_set = approved.call, approved.proposal, approved.change_set
        store = self._stores.get(proposal.change_set.place)
        outcome = await self._committed_outcome(approved, store.store.place)
        is_complete = "changed_by_user" not in outcome.result
        if not is_complete:
            call.draft.set_impact(impact_of_changes(change_set, self._index.linking_notes, store.label))
        await self._write(call.draft, change_set, proposal.undoes if is_complete else ())
        return outcome

    async def _committed_outcome(self, approved: ApprovedChanges, place: str) -> ToolOutcome:
        """Return the outcome that describes the changes as approved; the user may have edited them."""
        call, proposal, change_set = approved.call, approved.proposal, approved.change_set
        result = proposal.report(change_set)
        if change_set is proposal.change_set or change_set.digest == proposal.change_set.digest:
            return success_outcome(call.tool, result)
        can_see = call.visibility.can_see if place == VAULT else lambda path: True
        edits = await asyncio.to_thread(find_user_edits, proposal.change_set, change_set, can_see)
        outcome = success_outcome(call.tool, result, edits.as_fields())
        message = result.message
        if not proposal.is_derived:
            # The tool's own message describes what it proposed.
            message = describe_changes(change_set, can_see) if place == VAULT else f"{change_set.summary}."
        return replace(outcome, message=f"{message} {edits.summary}".strip())

    async def _write(self, draft: AuditDraft, change_set: ChangeSet, undoes: tuple[int, ...]) -> None:
        self._audit_writer.ensure_flushed()
        draft.call.observer.on_write()
        await self._commits.commit(
            change_set, draft.call.caller, entry=draft.call.id, undoes=undoes, on_written=draft.set_commit
        )

    async def _carry_out(self, approved: ApprovedEffect) -> ToolOutcome:
        """Carry out an effect. If it proposes changes, they go to the gate as the call's next step."""
        call, effect = approved.call, approved.proposal.effect
        self._audit_writer.ensure_flushed()
        call.draft.call.observer.on_write()
        answer = await approved.proposal.run()
        if not isinstance(answer, Proposal):
            return success_outcome(call.tool, answer)
        if not answer.change_set:
            return success_outcome(call.tool, answer.report(answer.change_set))
        if effect.kind == MESSAGE:
            # A call that waits for approval is repeated after a restart and would send the message twice.
            raise TypeError(f"{call.tool.name} proposes changes after an effect that can't be repeated")
        call.draft.result = "the effect is done; its result is proposed as a change"
        self._audit_writer.append(call.draft.entry())
        call.draft.call.observer.on_effect()
        call.draft.begin_next_step()
        return await self._approve(ExecutedCall(call, answer, effect.kind == PAGE), self._commit)


def _is_read_only_call(call: PreparedCall) -> bool:
    """Return whether a caller that may only read may make this call."""
    is_internal = isinstance(call.draft.call.request, InternalTool)
    if not call.tool.acts and (is_internal or call.category.level is AccessLevel.READ_ONLY):
        # The gate controls what it reads outside the vault.
        return True
    return call.tool.is_read_only_call(call.op, call.arguments)


def _unchanged(call: PreparedCall, result: ToolResult, reason: str) -> ToolOutcome:
    # If the user was asked about reading, that decision stays in the log.
    if call.draft.decision.kind is AuditDecision.FAILED:
        call.draft.decide(AuditDecision.NO_APPROVAL_NEEDED, reason)
    return success_outcome(call.tool, result)


def _undo_result(committed: ChangeSet) -> ToolResult:
    names = ", ".join(map(str, committed.paths))
    return ToolResult(message=f"Undone: {names}." if names else "Nothing was changed.")
