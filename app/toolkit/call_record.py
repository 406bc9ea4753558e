"""What is learned of a call while it runs: the audit entry is made from it, however the call ends."""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from app.permissions.audit_entry import AuditDecision, AuditEntry
from app.permissions.caller import Caller
from app.permissions.impact import Impact, describe_scope
from app.permissions.redaction import redacted_json, without_secrets
from app.permissions.scope import Operation
from app.toolkit.visibility import CallVisibility
from app.vault.commits import Commit
from app.vault.path import NotePath

_MAX_PATHS = 200
_MAX_RESULT_CHARS = 300


def _ignore() -> None:
    """What a call tells that nobody watches."""


@dataclass(frozen=True, slots=True)
class CallObserver:
    """What a caller wants to know of its call while it runs, and how long the user has to answer.

    `id` becomes that of the call. `asked` is called when the user is about to be asked, `begins` just
    before something is written or done: an error that either raises stops the call. `patience` is in
    seconds; None is what the settings say. `enter` is awaited before anything else: the call's turn in a
    queue. `happened` is called when an effect has happened and the call goes on with its next step.
    """

    id: str
    asked: Callable[[], None]
    begins: Callable[[], None]
    patience: float | None = None
    enter: Callable[[], Awaitable[None]] | None = None
    happened: Callable[[], None] = _ignore


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What a model used to come to a call: tokens since the turn's previous call, and dollars (0: not known).

    That is reading the conversation so far and asking for the call. Of several calls that one answer of the
    model asks for, the first has all of it; what the model says after the last call is no call's, and only
    in the turn's sum.
    """

    tokens: int = 0
    cost: float = 0.0


NO_USAGE = ModelUsage()


@dataclass(slots=True)
class CallRecord:
    """One call so far. `decided` and `reason` are the gate's; until it decides, the call has failed.

    `given` are its arguments, `sight` is what it may see, once that is known.
    """

    tool: str
    caller: Caller
    arguments: str
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    began: float = field(default_factory=time.time)
    operation: str = Operation.READ.value
    scope: str = "read_in_scope"
    decided: AuditDecision = AuditDecision.FAILED
    reason: str = ""
    grants: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    undoes: tuple[int, ...] = ()
    commit: int | None = None
    line: str = ""
    waited: float = 0.0
    asked: Callable[[], None] = _ignore
    begins: Callable[[], None] = _ignore
    happened: Callable[[], None] = _ignore
    patience: float | None = None
    enter: Callable[[], Awaitable[None]] | None = None
    spent: ModelUsage = NO_USAGE
    inside: ModelUsage = NO_USAGE
    throttled: bool = False
    given: Mapping[str, object] = field(default_factory=dict)
    sight: CallVisibility | None = None
    _started: float = field(default_factory=time.perf_counter)

    @classmethod
    def of(
        cls, tool: str, caller: Caller, arguments: Mapping[str, object], watch: CallObserver | None = None
    ) -> CallRecord:
        """The record of a call that begins now."""
        if watch is None:
            return cls(tool, caller, redacted_json(arguments), given=arguments)
        return cls(
            tool,
            caller,
            redacted_json(arguments),
            watch.id,
            given=arguments,
            asked=watch.asked,
            begins=watch.begins,
            happened=watch.happened,
            patience=watch.patience,
            enter=watch.enter,
        )

    @property
    def duration_ms(self) -> float:
        """How long it has taken, without the time that the user took to answer."""
        return round(1000 * (time.perf_counter() - self._started - self.waited), 3)

    async def wait_for_turn(self) -> None:
        """Wait for the call's turn, where there is a queue; the wait does not count as its duration."""
        if self.enter is not None:
            began = time.perf_counter()
            try:
                await self.enter()
            finally:
                self.waited += time.perf_counter() - began

    def record_impact(self, reach: Impact) -> None:
        """Take down what the proposal does and touches."""
        self.operation = reach.operation.value
        self.scope = describe_scope(reach.scope)
        self.record_paths(reach.scope.paths)

    def record_paths(self, paths: tuple[NotePath, ...]) -> None:
        """Take down which files it is about."""
        self.paths = tuple(dict.fromkeys(map(str, paths)))[:_MAX_PATHS]

    def decide(self, decided: AuditDecision, reason: str, grants: tuple[str, ...] = ()) -> None:
        """Take down the gate's decision."""
        self.decided, self.reason, self.grants = decided, reason, grants

    def on_committed(self, commit: Commit) -> None:
        """Take down that the change is on the disk."""
        self.commit, self.undoes = commit.id, commit.undoes

    def record_usage(self, tokens: int, cost: float) -> None:
        """Take down what the tool itself has used of a model."""
        self.inside = ModelUsage(self.inside.tokens + tokens, self.inside.cost + cost)

    def next_step(self) -> None:
        """Begin the next step of the same call; what was decided on the one before is logged already."""
        self.happened()
        self.decided, self.reason, self.grants, self.line = AuditDecision.FAILED, "", (), ""
        self.began, self._started, self.waited = time.time(), time.perf_counter(), 0.0

    def fail(self, line: str) -> None:
        """Take down that it ended in an error; what was decided before stays in the reason."""
        if self.commit is None and self.decided not in (AuditDecision.RULE, AuditDecision.TIMED_OUT):
            approved = self.decided in (AuditDecision.USER_APPROVED, AuditDecision.AUTO_APPROVED)
            self.reason = f"{self.decided.value}, then {line}" if approved else line
            self.decided = AuditDecision.FAILED
        self.line = line

    def cancel(self, why: str = "") -> None:
        """Take down that the call was withdrawn, and why; what is on the disk by then is told as it is."""
        self.line = why or "withdrawn by the caller"
        if self.commit is not None:
            self.line = f"written, then {self.line}"
            return
        self.decided, self.reason = AuditDecision.CANCELLED, self.line

    def entry(self) -> AuditEntry:
        """The audit entry of the call as it is now."""
        return AuditEntry(
            time=self.began,
            caller_kind=self.caller.kind.value,
            caller=self.caller.name,
            tool=self.tool,
            operation=self.operation,
            scope=without_secrets(self.scope),
            arguments=self.arguments,
            decision=self.decided.value,
            reason=without_secrets(self.reason),
            result=without_secrets(" ".join(self.line.split())[:_MAX_RESULT_CHARS]),
            call=self.id,
            conversation=self.caller.conversation,
            turn=self.caller.turn,
            grant=", ".join(self.grants),
            duration_ms=self.duration_ms,
            commit=self.commit,
            undoes=self.undoes,
            tokens=self.spent.tokens + self.inside.tokens,
            cost=self.spent.cost + self.inside.cost,
            paths=self.paths,
        )
