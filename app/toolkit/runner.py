"""ToolRunner: the only way to a tool, for the agents, MCP, HTTP, the command line and the palette.

Find, category on?, validate, limits, policy on reads, run, approval of the proposal, commit, audit, events:
in this order. A call is in the audit log however it ends. A change that meets another file on the disk than
it was made for is not written: the tool runs anew, once, on the new text, and the user is asked anew.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import BaseModel

from app.encoding import encodable, encodable_arguments
from app.errors import (
    ConflictError,
    LimitError,
    PermissionDeniedError,
    ScriptoriumError,
    TimeoutExpiredError,
)
from app.events import EventBus
from app.permissions.approval import Approver
from app.permissions.audit import AuditLog
from app.permissions.audit_entry import AuditDecision
from app.permissions.caller import Caller
from app.permissions.grants import Grants
from app.permissions.impact import impact_of_changes
from app.permissions.policy import Policy
from app.settings import CallLimit, TurnRule
from app.toolkit.approval_gate import ApprovalGate
from app.toolkit.audit_writer import AuditWriter
from app.toolkit.call_record import NO_USAGE, CallObserver, CallRecord, ModelUsage
from app.toolkit.call_results import capture_errors, check_size, failure, rejected_outcome, validate_arguments
from app.toolkit.commit_queue import CommitQueue
from app.toolkit.context import ToolContext
from app.toolkit.disclosure import filter_outcome
from app.toolkit.document_stores import StoreRegistry
from app.toolkit.external_changes import ExternalChangeRecorder
from app.toolkit.history_view import HistoryView
from app.toolkit.index_view import IndexView
from app.toolkit.limits import RateLimiter
from app.toolkit.outcome import (
    ApprovalAnswered,
    ApprovalAsked,
    ToolFinished,
    ToolOutcome,
    ToolStarted,
)
from app.toolkit.proposal import Proposal
from app.toolkit.proposal_executor import ProposalExecutor
from app.toolkit.read_authorization import PreparedCall, authorize_reads
from app.toolkit.registry import AccessLevel, Category, ToolRegistry
from app.toolkit.result import ToolResult
from app.toolkit.services import Services
from app.toolkit.tool import Answer, Tool
from app.toolkit.turn_rules import TurnRules
from app.toolkit.vault_view import VaultView
from app.toolkit.visibility import CallVisibility, Visibility
from app.vault import undecodable
from app.vault.changes import VAULT, ChangeSet, Create, Update, content_hash
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.index.vault_index import VaultIndex
    from app.vault.journal import Journal
    from app.vault.store import NoteStore
    from app.vault.undo import UndoPlan

log = logging.getLogger(__name__)

_UNDO_TOOL, _READ_TOOL = "undo", "read_note"
_WITHDRAWN = ToolOutcome(False, message="The call was withdrawn.", error={"type": "cancelled", "message": ""})


class ToolRunner:
    """Runs calls. Belongs to the service thread; many calls may run, and wait for an answer, at once.

    Args:
        approver: Who is asked; None where nobody is there: then what needs a yes is refused.
        services: What some categories work with beside the notes.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        policy: Policy,
        approver: Approver | None,
        store: NoteStore,
        index: VaultIndex,
        journal: Journal,
        audit: AuditLog,
        grants: Grants,
        events: EventBus,
        limits: RateLimiter | None = None,
        services: Services | None = None,
    ) -> None:
        self._registry = registry
        self._policy = policy
        self._store = store
        self._index = index
        self._journal = journal
        self._audit = audit
        self._events = events
        self._limits = limits or RateLimiter()
        self._turn_rules = TurnRules()
        self.services = services or Services()
        self._visibility = Visibility(index, policy, events)
        self._gate = ApprovalGate(policy, approver, grants, events)
        self.stores = StoreRegistry(store)
        self._committer = CommitQueue(self.stores, store, index, events)
        self.wait_idle = self._committer.wait_idle
        self.audit_writer = AuditWriter(audit, events)
        self._settler = ProposalExecutor(
            self._gate, self.stores, self._committer, self.audit_writer, self._check_on, self._backlinks
        )
        self.external_changes = ExternalChangeRecorder(
            self._committer, self.audit_writer, events, self._backlinks
        )

    def close(self) -> None:
        """Stop following the index and the grants; calls that still run end as they do."""
        self._visibility.close()
        self.audit_writer.close()
        self._gate.close()

    def visibility_for(self, caller: Caller, tool: str) -> CallVisibility:
        """What `caller` may see through `tool`, in the vault and in other places."""
        return self._visibility.of(caller, tool)

    def index_view(self, caller: Caller, tool: str) -> IndexView:
        """The index as `caller` may see it through `tool`."""
        return IndexView(self._index, self.visibility_for(caller, tool), self.services.semantic_search)

    @property
    def private_notes(self) -> frozenset[NotePath]:
        """The notes that are kept from models and from programs outside."""
        return self._visibility.private

    def can_see(self, caller: Caller, path: NotePath) -> bool:
        """Whether `caller` may know of the note at `path`."""
        return self._visibility.of(caller, _READ_TOOL).can_see(path)

    def configure(self, limits: Iterable[CallLimit], turn_rules: Iterable[TurnRule]) -> None:
        """Hold these limits and rules of the user from now on."""
        self._limits.configure(limits)
        self._turn_rules.configure(turn_rules)

    def log_lost_commits(self) -> int:
        """Log the commits that a crash kept out of the audit log; how many there were. Call it on opening."""
        return self.audit_writer.log_lost(self._audit, self._journal)

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object],
        caller: Caller,
        spent: ModelUsage = NO_USAGE,
    ) -> ToolOutcome:
        """Call the tool `name`; what comes of it, whatever that is, is told by the outcome.

        `spent` is what a model used to come to this call, for the audit log.

        Raises:
            CancelledError: the caller withdrew the call; that is in the audit log, too.
        """
        record = CallRecord.of(encodable(name), caller, arguments)
        record.spent = spent
        return await self._called(record, arguments)

    async def call_internal(self, tool: Tool, arguments: Mapping[str, object], caller: Caller) -> ToolOutcome:
        """As `call`, of a tool that nobody is offered: what a program that the app runs asks the app for."""
        return await self._called(CallRecord.of(tool.name, caller, arguments), arguments, tool)

    async def reject(self, name: str, given: str, caller: Caller, error: ScriptoriumError) -> ToolOutcome:
        """Log a call that can't be made, such as one of an unknown tool, and return its outcome.

        Args:
            name: The tool that was named.
            given: The arguments as they came.
            caller: Who called.
            error: Why it can't be made.
        """
        record = CallRecord.of(name, caller, {"arguments": given})
        self._events.publish(ToolStarted(record.id, record.tool, record.arguments, caller))
        return await self._audited(record, _raise(error))

    async def _called(
        self, record: CallRecord, arguments: Mapping[str, object], own: Tool | None = None
    ) -> ToolOutcome:
        self._events.publish(ToolStarted(record.id, record.tool, record.arguments, record.caller))
        return await self._audited(record, self._run(record, arguments, own))

    async def call_observed(
        self, name: str, arguments: Mapping[str, object], caller: Caller, watch: CallObserver
    ) -> ToolOutcome:
        """As `call`, for a caller that wants to know how far it has come."""
        return await self._called(CallRecord.of(encodable(name), caller, arguments, watch), arguments)

    async def save(
        self,
        path: NotePath,
        before: bytes | None,
        after: bytes,
        caller: Caller | None = None,
        place: str = VAULT,
    ) -> ToolOutcome:
        """Write what the user typed: no question, but journaled and logged like everything else.

        Args:
            path: The note.
            before: What it held when it was opened; None makes a new one.
            after: What it is to hold.
            caller: Who saves; the person at the window.
            place: Whose document it is.

        Returns:
            The outcome; its error is a `conflict` when the file holds something else by now.
        """
        caller = caller or Caller.user()
        change = Create(path, after) if before is None else Update(path, before, after)
        change_set = ChangeSet.of(change, summary=f"Save {path.name}", place=place)
        if not change_set:
            return ToolOutcome(True, message="Nothing to save.")
        return await self._commit_own(
            "save", caller, {"path": str(path), "hash": content_hash(after)}, change_set
        )

    async def rename_misnamed(self, listed: NotePath, name: str) -> ToolOutcome:
        """Give a file whose name is not UTF-8 another name, as the user says: journaled, logged, undoable.

        Args:
            listed: Its path as the problems of the index list it.
            name: The new name, in the same folder.

        Returns:
            The outcome; its error says why nothing was changed.
        """
        arguments = {"path": str(listed), "name": name}
        try:
            change_set = await asyncio.to_thread(undecodable.plan_rename, self._store, listed, name)
        except ScriptoriumError as error:
            return failure(error)
        return await self._commit_own("rename", Caller.user(), arguments, change_set)

    async def _commit_own(
        self, what: str, caller: Caller, arguments: Mapping[str, object], change_set: ChangeSet
    ) -> ToolOutcome:
        """Write what the user has done by hand."""
        record = CallRecord.of(what, caller, arguments)
        record.decide(AuditDecision.NO_APPROVAL_NEEDED, "the user's own edit")
        label = self.stores.get(change_set.place).label
        record.record_impact(impact_of_changes(change_set, self._backlinks, label))
        return await self._audited(record, self._save(record, change_set))

    async def undo(
        self,
        plan: UndoPlan,
        choices: Mapping[NotePath, bytes | None],
        arguments: Mapping[str, object],
    ) -> ToolOutcome:
        """Take commits back as the user has settled it: as the tool `undo`, asked and logged as that is.

        The whole plan is one change set, whose commit marks the plan's commits as undone.

        Args:
            plan: What undo came to, with the conflicts that the user was shown.
            choices: What the files in conflict are to hold (None: no such file); one without a choice
                stays as it is.
            arguments: Those of the call of `undo` that met the conflicts.

        Returns:
            The outcome; its error is a `conflict` when a file holds something else by now.
        """
        record = CallRecord.of(_UNDO_TOOL, Caller.user(), arguments)
        self._events.publish(ToolStarted(record.id, _UNDO_TOOL, record.arguments, record.caller))
        return await self._audited(record, self._undo(record, plan, choices, arguments))

    async def _undo(
        self,
        record: CallRecord,
        plan: UndoPlan,
        choices: Mapping[NotePath, bytes | None],
        arguments: Mapping[str, object],
    ) -> ToolOutcome:
        call = self._prepare(record, arguments)
        change_set = plan.resolve(choices)
        return await self._settler.execute(call, Proposal(change_set, _undo_result, plan.commits))

    async def _save(self, record: CallRecord, change_set: ChangeSet) -> ToolOutcome:
        await self._settler.commit(record, change_set, ())
        return ToolOutcome(True, message=change_set.summary)

    # Ending

    def _finish(self, record: CallRecord, outcome: ToolOutcome) -> ToolOutcome:
        if not record.line:
            record.line = outcome.message or "done"
        duration = record.duration_ms
        repeats = 0
        if record.throttled:
            entry, repeats = self.audit_writer.append_throttled(record.entry())
        else:
            entry = self.audit_writer.append(record.entry())
        over = self._turn_rules.ends(record.tool, record.caller)
        sight = record.sight or self._visibility.of(record.caller, record.tool)
        told = filter_outcome(outcome, sight, record.given)
        finished = replace(
            told,
            entry=entry,
            commit=record.commit,
            duration_ms=duration,
            ends_turn=over or (outcome.ends_turn and bool(record.caller.turn)),
            decision=record.decided.value,
            inside=record.inside,
        )
        self._events.publish(ToolFinished(record.id, finished, record.caller, record.tool, repeats))
        return finished

    async def _audited(self, record: CallRecord, work: Coroutine[object, object, ToolOutcome]) -> ToolOutcome:
        """What comes of `work`, once it is in the log; a call that is withdrawn is there, too."""
        try:
            outcome = await capture_errors(record, work)
        except BaseException as error:
            record.cancel(str(error))
            self._finish(record, _WITHDRAWN)
            raise
        return self._finish(record, outcome)

    # Beginning

    async def _run(
        self, record: CallRecord, arguments: Mapping[str, object], own: Tool | None = None
    ) -> ToolOutcome:
        await record.wait_for_turn()
        call = self._prepare(record, arguments, own)
        refused = await authorize_reads(call, self._index.resolver, self._gate)
        if refused is not None:
            return rejected_outcome(refused)
        answer = await self._answer(call)
        try:
            return await self._settler.execute(call, answer)
        except ConflictError as error:
            if not isinstance(answer, Proposal):
                raise
            log.info("%s runs anew: %s", record.tool, error)
        return await self._settler.execute(call, await self._answer(call))

    def _prepare(
        self, record: CallRecord, given: Mapping[str, object], own: Tool | None = None
    ) -> PreparedCall:
        """Find the tool (unless it is the app's own), see that it may be called, validate, count.

        Raises:
            NotFoundError, PermissionDeniedError, InvalidParametersError, LimitError: as they say.
        """
        tool = own or self._registry.get(record.tool)
        category = self._registry.category(tool.category)
        self._check_on(record, category.id)
        check_size(tool, given)
        given = encodable_arguments(given)
        arguments = validate_arguments(tool, given)
        op = tool.check_operation(arguments)
        if not self._policy.may_call(record.caller, category.id, tool.name, op):
            record.decide(AuditDecision.RULE, "a rule keeps the caller from this tool")
            message = f"{record.caller.name} may not use {tool.name}."
            raise PermissionDeniedError(message, tool=tool.name, op=op)
        if not self._policy.may_act(record.caller) and not _is_read_only_call(
            tool, category, op, arguments, own
        ):
            record.decide(AuditDecision.RULE, f"{record.caller.name} may only read")
            raise PermissionDeniedError(f"{record.caller.name} may only read.", tool=tool.name)
        self._turn_rules.check(tool.name, record.caller)
        try:
            self._limits.check(tool, category, record.caller)
        except LimitError:
            record.throttled = True
            raise
        sight = record.sight = self._visibility.of(record.caller, tool.name)
        return PreparedCall(record, tool, category, arguments, op, sight)

    def _check_on(self, record: CallRecord, category_id: str) -> None:
        """See that the category is on, also once the user has answered: that may take a day."""
        category = self._registry.category(category_id)
        if not category.on or category.id in self._policy.categories_off:
            record.decide(AuditDecision.RULE, f"the category {category.id} is off")
            raise PermissionDeniedError(
                f"The tools of the category {category.name} ({category.id}) are switched off.",
                tool=record.tool,
                category=category.id,
            )

    async def _answer(self, call: PreparedCall) -> Answer:
        """Run the tool's function.

        Raises:
            TimeoutExpiredError: it took longer than it may.
        """
        context = ToolContext(
            call.caller,
            VaultView(self._store, self._index.resolver, call.sight),
            IndexView(self._index, call.sight, self.services.semantic_search),
            HistoryView(self._journal, self._audit, self.stores, call.caller, call.sight),
            self.services.with_usage_callback(call.record.record_usage),
            call.sight.can_read,
        )
        try:
            async with asyncio.timeout(call.tool.timeout) as limit:
                return await call.tool.function(context, **call.given)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TimeoutExpiredError(
                f"{call.tool.name} took longer than {call.tool.timeout:g} s.", limit=call.tool.timeout
            ) from error

    def _backlinks(self, path: NotePath) -> Iterable[NotePath]:
        return {link.source for link in self._index.backlinks(path)}


def _is_read_only_call(
    tool: Tool, category: Category, op: str, arguments: BaseModel, own: Tool | None
) -> bool:
    """Return whether a caller that may only read may make this call."""
    if not tool.acts and (own is not None or category.level is AccessLevel.READ_ONLY):
        # What it reads outside is for the gate to decide.
        return True
    return tool.only_reads(op, arguments)


async def _raise(error: ScriptoriumError) -> ToolOutcome:
    raise error


def _undo_result(committed: ChangeSet) -> ToolResult:
    names = ", ".join(map(str, committed.paths))
    return ToolResult(message=f"Undone: {names}." if names else "Nothing was changed.")


__all__ = [
    "ApprovalAnswered",
    "ApprovalAsked",
    "ToolFinished",
    "ToolOutcome",
    "ToolRunner",
    "ToolStarted",
]
