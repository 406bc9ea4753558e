"""The audit entry of a call while the call runs; it is complete however the call ends."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from app.permissions.audit_entry import AuditDecision, AuditEntry, reason_after_approval
from app.permissions.impact import Impact, describe_scope
from app.permissions.redaction import redacted_json, without_secrets
from app.permissions.scope import Operation
from app.toolkit.call import NO_USAGE, Call, ModelUsage
from app.toolkit.visibility import CallVisibility
from app.vault.commits import Commit
from app.vault.path import NotePath

MAX_LOGGED_PATHS = 200
MAX_RESULT_CHARS = 300


@dataclass(slots=True)
class CallTimer:
    """Measures the duration of a call, excluding the time spent waiting for its turn or the user."""

    start_time: float = field(default_factory=time.time)
    waited: float = 0.0
    _started: float = field(default_factory=time.perf_counter)

    @property
    def duration_ms(self) -> float:
        """The time that the call has been running, in milliseconds."""
        return round(1000 * (time.perf_counter() - self._started - self.waited), 3)


@dataclass(frozen=True, slots=True)
class GateDecision:
    """The gate's decision on a call, with its reason. Until the gate decides, the call counts as failed."""

    kind: AuditDecision = AuditDecision.FAILED
    reason: str = ""
    grants: tuple[str, ...] = ()


@dataclass(slots=True)
class AuditDraft:
    """The audit entry of a running call, filled in by the stages of the pipeline.

    Attributes:
        call: The call.
        result: One line on how it ended.
        decision: The gate's decision.
        operation: The kind of change that the call makes.
        scope: A description of what the change affects.
        paths: The files that the call is about.
        commit: The journal's commit, once the changes are on disk.
        usage: The tool's own model usage.
        is_throttled: Whether a rate limit refused the call.
        visibility: The visibility of notes for the call, once the tool is known.
        timer: Measures the call's duration.
    """

    call: Call
    result: str = ""
    decision: GateDecision = GateDecision()
    operation: Operation = Operation.READ
    scope: str = "read_in_scope"
    paths: tuple[str, ...] = ()
    commit: Commit | None = None
    usage: ModelUsage = NO_USAGE
    is_throttled: bool = False
    visibility: CallVisibility | None = None
    timer: CallTimer = field(default_factory=CallTimer)
    arguments: str = field(init=False)
    """The arguments as JSON, without secrets; long text is shortened."""

    def __post_init__(self) -> None:
        self.arguments = redacted_json(self.call.arguments)

    def set_impact(self, impact: Impact) -> None:
        """Record the effect of a proposal, its warnings and the files that it touches."""
        self.operation = impact.operation
        warnings = (warning.text.english for warning in impact.warnings)
        self.scope = " ".join((describe_scope(impact.scope), *(f"({warning})" for warning in warnings)))
        self.set_paths(impact.scope.paths)

    def set_paths(self, paths: tuple[NotePath, ...]) -> None:
        """Record the files that the call is about."""
        self.paths = tuple(dict.fromkeys(map(str, paths)))[:MAX_LOGGED_PATHS]

    def decide(self, kind: AuditDecision, reason: str, grants: tuple[str, ...] = ()) -> None:
        """Record the decision on the call."""
        self.decision = GateDecision(kind, reason, grants)

    def set_commit(self, commit: Commit) -> None:
        """Record that the changes are on disk."""
        self.commit = commit

    def add_usage(self, tokens: int, cost: float) -> None:
        """Add the tool's own model usage."""
        self.usage = ModelUsage(self.usage.tokens + tokens, self.usage.cost + cost)

    def begin_next_step(self) -> None:
        """Start the entry of the call's next step; the previous step's entry is already logged."""
        self.decision, self.result, self.timer = GateDecision(), "", CallTimer()

    def fail(self, result: str) -> None:
        """Record that the call ended with an error; the reason still mentions an earlier approval.

        After a commit, a rule's decision or a timeout, only the result is recorded.
        """
        kind = self.decision.kind
        if self.commit is None and kind not in (AuditDecision.RULE, AuditDecision.TIMED_OUT):
            self.decide(AuditDecision.FAILED, reason_after_approval(kind, result), self.decision.grants)
        self.result = result

    def cancel(self, reason: str = "") -> None:
        """Record that the call was withdrawn; a commit that was already made stays in the entry."""
        self.result = reason or "withdrawn by the caller"
        if self.commit is not None:
            self.result = f"written, then {self.result}"
            return
        self.decide(AuditDecision.CANCELLED, self.result, self.decision.grants)

    def entry(self) -> AuditEntry:
        """Return the audit entry in its current state."""
        call, caller = self.call, self.call.caller
        return AuditEntry(
            time=self.timer.start_time,
            caller_kind=caller.kind.value,
            caller=caller.name,
            tool=call.name,
            operation=self.operation.value,
            scope=without_secrets(self.scope),
            arguments=self.arguments,
            decision=self.decision.kind.value,
            reason=without_secrets(self.decision.reason),
            result=without_secrets(" ".join(self.result.split())[:MAX_RESULT_CHARS]),
            call=call.id,
            conversation=caller.conversation,
            turn=caller.turn,
            grant=", ".join(self.decision.grants),
            duration_ms=self.timer.duration_ms,
            commit=None if self.commit is None else self.commit.id,
            undoes=() if self.commit is None else self.commit.undoes,
            tokens=call.usage.tokens + self.usage.tokens,
            cost=call.usage.cost + self.usage.cost,
            paths=self.paths,
        )
