"""Calls whose callers do not wait: they receive an id and fetch the outcome later.

The call itself passes through the runner and the gate like any other. A call that is still waiting when the
app exits runs again the next time the app starts, on the current notes.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.errors import InvalidParametersError, NotFoundError, TimeoutExpiredError
from app.events import Event, EventBus
from app.permissions.approval import ApprovalRequest, Effect
from app.permissions.audit_entry import AuditDecision
from app.permissions.caller import Caller, CallerKind
from app.permissions.pending import PendingOperation, PendingState, PendingStore, is_same_caller
from app.toolkit.call import Call, CallObserver
from app.toolkit.outcome import ApprovalAsked, ToolOutcome
from app.vault.changes import VAULT
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.vault.journal import Journal

log = logging.getLogger(__name__)

LIFETIME_S = 24 * 3600.0
"""How long an operation waits for a decision, in seconds."""

_CLOSING_REASON = "the app was closed; the user will be asked again the next time it starts"
_CANCELLED_REASON = "withdrawn by its caller"
_INTERRUPTED_MESSAGE = "The app stopped during this call. It will not be repeated. Check what the call did."


@dataclass(frozen=True, slots=True)
class PendingChanged(Event):
    """A pending operation was created or changed state."""

    operation: PendingOperation


class PendingOperations:
    """The pending operations of an open vault.

    Args:
        run: Runs a call: `ToolRunner.run`.
        store: The stored operations; None for a vault that is open read-only, which has none.
        journal: Shows whether an interrupted operation was written.
        events: Publishes `PendingChanged`, and reports the questions to the user.
        clock: Returns the Unix time in seconds.
        may_know: Returns whether a caller may know of a note.
    """

    def __init__(
        self,
        run: Callable[[Call], Awaitable[ToolOutcome]],
        store: PendingStore | None,
        journal: Journal,
        events: EventBus,
        clock: Callable[[], float] = time.time,
        may_know: Callable[[Caller, NotePath], bool] = lambda caller, path: True,
    ) -> None:
        self._run_call = run
        self._optional_store = store
        self._journal = journal
        self._events = events
        self._may_know = may_know
        self._clock = clock
        self._tasks: dict[str, asyncio.Task[ToolOutcome]] = {}
        self._question_events: dict[str, asyncio.Event] = {}
        self._details: dict[str, Mapping[str, object]] = {}
        self._unsubscribe = events.subscribe(ApprovalAsked, self._on_approval_asked)

    @property
    def can_wait(self) -> bool:
        """True if operations can wait: False in a vault that is open read-only."""
        return self._optional_store is not None

    @property
    def _store(self) -> PendingStore:
        """The store.

        Raises:
            InvalidParametersError: The vault is open read-only.
        """
        if self._optional_store is None:
            raise InvalidParametersError("There are no pending operations here: the vault is open read-only.")
        return self._optional_store

    # For callers

    async def submit(
        self,
        name: str,
        arguments: Mapping[str, object],
        caller: Caller,
        wait_for_turn: Callable[[], Awaitable[None]] | None = None,
    ) -> ToolOutcome:
        """Call a tool and return the outcome, or a pending operation's id if the user must decide first.

        A call that needs no decision ends here and is not stored. `wait_for_turn` is awaited before the call
        begins. If too many operations are already open, the outcome is an error.

        Raises:
            InvalidParametersError: the vault is open read-only.
        """
        now = self._clock()
        operation = PendingOperation(uuid.uuid4().hex, now, now + LIFETIME_S, caller, name, dict(arguments))
        task, question_asked = self._begin(operation, wait_for_turn=wait_for_turn)
        wait_task = asyncio.ensure_future(question_asked.wait())
        try:
            await asyncio.wait({task, wait_task}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            wait_task.cancel()
        return task.result() if task.done() else _pending_outcome(operation, self.details(operation.id))

    @property
    def open_operations(self) -> tuple[PendingOperation, ...]:
        """The undecided and unfinished operations of all callers, oldest first."""
        return self._optional_store.open_operations() if self._optional_store is not None else ()

    def list_for(self, caller: Caller) -> tuple[PendingOperation, ...]:
        """Return the latest operations that `caller` submitted, newest first, at most 100.

        For the user, return the open operations of all callers, oldest first.

        Raises:
            InvalidParametersError: the vault is open read-only.
        """
        return (
            self._store.open_operations() if caller.kind is CallerKind.USER else self._store.list_for(caller)
        )

    def status(self, operation_id: str, caller: Caller) -> PendingOperation:
        """Return an operation with its current state; the user may see those of all callers.

        Raises:
            NotFoundError: there is no operation with this id, or another caller submitted it.
            InvalidParametersError: the vault is open read-only.
        """
        operation = self._store.get(operation_id)
        if caller.kind is not CallerKind.USER and not is_same_caller(operation.caller, caller):
            raise NotFoundError(
                f"There is no pending operation {operation_id}.", pending_operation_id=operation_id
            )
        return operation

    def details(self, operation_id: str) -> Mapping[str, object]:
        """Describe what the user is asked about an operation: kind of operation, tool, reason and target.

        It is empty if the user is not being asked, as in a process without a window after a restart.
        """
        return self._details.get(operation_id, {})

    def _describe(self, request: ApprovalRequest) -> Mapping[str, object]:
        details: dict[str, object] = {
            "operation": request.operation.value,
            "tool": request.tool,
            "reason": request.reason,
        }
        if isinstance(request.proposal, Effect):
            return {**details, "target": request.proposal.text}
        if request.proposal.place == VAULT:
            visible_paths = (path for path in request.proposal.paths if self._may_know(request.caller, path))
            details["files"] = [str(path) for path in visible_paths]
        return details

    async def cancel(self, operation_id: str, caller: Caller) -> PendingOperation:
        """Cancel an operation and withdraw the question to the user.

        Raises:
            NotFoundError: there is no operation with this id, or another caller submitted it.
            InvalidParametersError: the operation has already been decided, or the vault is read-only.
        """
        operation = self.status(operation_id, caller)
        if operation.state is not PendingState.WAITING:
            message = f"Operation {operation_id} is {operation.state.value}: it can no longer be canceled."
            raise InvalidParametersError(
                message, pending_operation_id=operation_id, state=operation.state.value
            )
        message = "The call was withdrawn."
        outcome = ToolOutcome(False, message=message, error={"type": "cancelled", "message": message})
        self._finish(operation_id, PendingState.CANCELLED, outcome)
        await self._cancel_task(operation_id, _CANCELLED_REASON)
        return self._store.get(operation_id)

    # For the workspace

    def resume(self, *, ask: bool = True) -> int:
        """Resolve interrupted operations, run waiting ones again, and return the number of running calls.

        Call it once the notes are indexed. Operations whose calls are already running are left alone, and
        those that have expired are closed. Without `ask`, as in a process without a window, waiting
        operations are left for the next time the app starts.
        """
        for operation in self.open_operations:
            if operation.id in self._tasks:
                continue
            if operation.state is PendingState.RUNNING:
                self._resolve_interrupted(operation)
            elif operation.expires <= self._clock():
                self._expire(operation.id)
            elif ask:
                self._begin(operation, is_stored=True)
        return len(self._tasks)

    async def close(self) -> None:
        """Withdraw the questions to the user, and close the store, which keeps the waiting operations."""
        self._unsubscribe()
        for operation_id in tuple(self._tasks):
            await self._cancel_task(operation_id, _CLOSING_REASON)
        if self._optional_store is not None:
            self._optional_store.close()

    # Running

    def _begin(
        self,
        operation: PendingOperation,
        *,
        is_stored: bool = False,
        wait_for_turn: Callable[[], Awaitable[None]] | None = None,
    ) -> tuple[asyncio.Task[ToolOutcome], asyncio.Event]:
        question_asked = self._question_events[operation.id] = asyncio.Event()
        task = asyncio.get_running_loop().create_task(
            self._run(operation, is_stored, wait_for_turn), name=f"pending {operation.id}"
        )
        self._tasks[operation.id] = task
        task.add_done_callback(lambda _: self._discard(operation.id))
        return task, question_asked

    def _discard(self, operation_id: str) -> None:
        self._tasks.pop(operation_id, None)
        self._question_events.pop(operation_id, None)
        self._details.pop(operation_id, None)

    async def _run(
        self,
        operation: PendingOperation,
        is_stored: bool,
        wait_for_turn: Callable[[], Awaitable[None]] | None,
    ) -> ToolOutcome:
        record = _PendingRecord(self._store, operation, self._publish, is_stored=is_stored)
        timeout = max(0.0, operation.expires - self._clock())
        observer = CallObserver(record.on_question, record.on_write, record.on_effect, timeout, wait_for_turn)
        outcome = await self._run_call(
            Call.of(
                operation.tool, operation.arguments, operation.caller, observer=observer, call_id=operation.id
            )
        )
        if record.is_stored:
            self._finish(operation.id, _final_state(outcome), outcome)
        return outcome

    def _on_approval_asked(self, event: ApprovalAsked) -> None:
        if question_asked := self._question_events.get(event.request.call):
            self._details[event.request.call] = self._describe(event.request)
            question_asked.set()

    async def _cancel_task(self, operation_id: str, reason: str) -> None:
        task = self._tasks.get(operation_id)
        if task is not None:
            task.cancel(reason)
            await asyncio.gather(task, return_exceptions=True)

    def _finish(self, operation_id: str, state: PendingState, outcome: ToolOutcome) -> None:
        self._store.finish(operation_id, state, outcome.as_dict())
        self._publish(operation_id)

    def _publish(self, operation_id: str) -> None:
        self._events.publish(PendingChanged(self._store.get(operation_id)))

    def _resolve_interrupted(self, operation: PendingOperation) -> None:
        commit = self._journal.commit_of_entry(operation.id)
        if commit is not None:
            outcome = ToolOutcome(
                True, message="The change was written just before the app stopped.", commit=commit.id
            )
            self._finish(operation.id, PendingState.DONE, outcome)
        else:
            outcome = ToolOutcome(
                False,
                message=_INTERRUPTED_MESSAGE,
                error={"type": "internal", "message": _INTERRUPTED_MESSAGE},
            )
            self._finish(operation.id, PendingState.FAILED, outcome)

    def _expire(self, operation_id: str) -> None:
        message = "The user did not decide in time."
        error = TimeoutExpiredError(message, reason=AuditDecision.TIMED_OUT.value).as_dict()
        self._finish(
            operation_id, PendingState.EXPIRED, ToolOutcome(False, message=message, error=error, denied=True)
        )


class _PendingRecord:
    """Records the progress of one operation in the store, from the first question to the user."""

    def __init__(
        self,
        store: PendingStore,
        operation: PendingOperation,
        publish: Callable[[str], None],
        *,
        is_stored: bool,
    ) -> None:
        self._store = store
        self._operation = operation
        self._publish = publish
        self.is_stored = is_stored
        self._is_running = False
        self._is_effect_done = False

    def on_question(self) -> None:
        """Record that the user is being asked, and store the operation at the first question.

        It stays `running` after an effect, so that a restart never repeats the effect.
        """
        operation_id = self._operation.id
        if not self.is_stored:
            self._store.add(self._operation)
            self.is_stored = True
            if self._is_effect_done:
                self._store.transition(operation_id, PendingState.WAITING, PendingState.RUNNING)
        elif not self._is_effect_done and self._store.transition(
            operation_id, PendingState.RUNNING, PendingState.WAITING
        ):
            log.info("operation %s: a file has changed, so the user is asked again", operation_id)
        self._is_running = self._is_effect_done
        self._publish(operation_id)

    def on_write(self) -> None:
        """Mark the operation as running, just before it writes or carries out an effect.

        Raises:
            NotFoundError: the operation has already been decided.
        """
        # A later step of the same call that needs no approval belongs to the same run.
        if not self.is_stored or self._is_running:
            return
        if not self._store.transition(self._operation.id, PendingState.WAITING, PendingState.RUNNING):
            raise NotFoundError(
                "The operation has already been decided.", pending_operation_id=self._operation.id
            )
        self._is_running = True

    def on_effect(self) -> None:
        """Record that an effect was carried out; the changes that follow it belong to the same run."""
        self._is_effect_done = self._is_running = True


def _final_state(outcome: ToolOutcome) -> PendingState:
    if outcome.success:
        return PendingState.DONE
    if (outcome.error or {}).get("reason") == AuditDecision.TIMED_OUT:
        return PendingState.EXPIRED
    return PendingState.DENIED if outcome.denied else PendingState.FAILED


def _pending_outcome(operation: PendingOperation, details: Mapping[str, object]) -> ToolOutcome:
    """Return the outcome for a caller that does not wait."""
    return ToolOutcome(
        False,
        message="Waiting for the user. Use the id to check the operation later.",
        pending=operation.id,
        details=details,
    )
