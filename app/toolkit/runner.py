"""Run tool calls from the agents, MCP, HTTP, the command line and the window.

`call.py` defines calls, and `call_pipeline.py` defines the stages that they pass through.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from app.events import EventBus
from app.permissions.approval import Approver
from app.permissions.audit import AuditLog
from app.permissions.caller import Caller
from app.permissions.grants import Grants
from app.permissions.policy import Policy
from app.settings import CallLimit, TurnRule
from app.toolkit.approval_gate import ApprovalGate
from app.toolkit.audit_writer import AuditWriter
from app.toolkit.call import Call
from app.toolkit.call_pipeline import CallPipeline
from app.toolkit.commit_queue import CommitQueue
from app.toolkit.document_stores import StoreRegistry
from app.toolkit.external_changes import ExternalChangeRecorder
from app.toolkit.index_view import IndexView
from app.toolkit.outcome import ToolOutcome
from app.toolkit.rate_limiter import RateLimiter
from app.toolkit.registry import ToolRegistry
from app.toolkit.services import OptionalModels
from app.toolkit.turn_rules import TurnRules
from app.toolkit.visibility import CallVisibility, Visibility
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.index.vault_index import VaultIndex
    from app.vault.journal import Journal
    from app.vault.store import NoteStore

_READ_TOOL = "read_note"
_NO_MODELS = OptionalModels()


class ToolRunner:
    """Runs calls on the service thread; many can run or wait for approval at once.

    Args:
        registry: The tools.
        policy: The user's rules.
        approver: Asks the user; without one, proposals that need approval are rejected.
        store: The notes.
        index: The index of the notes.
        journal: The commits.
        audit: The audit log.
        grants: The user's standing approvals.
        events: Publishes the events of calls and commits.
        limits: Counts the calls; by default a new limiter without user limits.
        models: The models that the user can switch off.

    Attributes:
        services: The services that tools use in addition to the notes, by category id.
        stores: The open document stores.
        audit_writer: Writes the audit log.
        external_changes: Records changes that programs made directly.
        wait_idle: Waits for the running commit and those already queued.
        between_commits: Runs a block after them; later commits wait for its end.
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
        models: OptionalModels = _NO_MODELS,
    ) -> None:
        self._index = index
        self._journal = journal
        self._running: list[asyncio.Task[object]] = []
        self._limits = limits or RateLimiter()
        self._turn_rules = TurnRules()
        self.models = models
        self.services: dict[str, object] = {}
        self._visibility = Visibility(index, policy, events)
        self._gate = ApprovalGate(policy, approver, grants, events)
        self.stores = StoreRegistry(store)
        commits = CommitQueue(self.stores, store, index, events)
        self.wait_idle = commits.wait_idle
        self.between_commits = commits.between_commits
        self.audit_writer = AuditWriter(audit, events)
        self.external_changes = ExternalChangeRecorder(
            commits, self.audit_writer, events, self._index.linking_notes
        )
        self._pipeline = CallPipeline(
            registry,
            policy,
            self._gate,
            self._visibility,
            self._limits,
            self._turn_rules,
            store,
            self.stores,
            index,
            journal,
            audit,
            self.audit_writer,
            commits,
            models,
            self.services,
            events,
        )

    def close(self) -> None:
        """Unsubscribe from events, and log the throttled calls not yet logged. Call `cancel_calls` first."""
        self._visibility.close()
        self.audit_writer.close()
        self._gate.close()

    def visibility_for(self, caller: Caller, tool: str) -> CallVisibility:
        """Return the visibility of documents to `caller` through `tool`, in the vault and other stores."""
        return self._visibility.of(caller, tool)

    def index_view(self, caller: Caller, tool: str) -> IndexView:
        """Return the index as `caller` may see it through `tool`."""
        return IndexView(self._index, self.visibility_for(caller, tool), self.models.semantic_search())

    @property
    def private_notes(self) -> frozenset[NotePath]:
        """The notes indexed as private, which are hidden from models and external programs."""
        return self._visibility.private

    def can_see(self, caller: Caller, path: NotePath) -> bool:
        """Return whether `caller` may see the note at `path` through `read_note`."""
        return self._visibility.of(caller, _READ_TOOL).can_see(path)

    def configure(self, limits: Iterable[CallLimit], turn_rules: Iterable[TurnRule]) -> None:
        """Apply the user's call limits and turn rules."""
        self._limits.configure(limits)
        self._turn_rules.configure(turn_rules)

    def log_lost_commits(self) -> int:
        """Log the commits that are missing from the audit log after a crash, and return their number."""
        return self.audit_writer.log_lost(self._journal)

    async def run(self, call: Call) -> ToolOutcome:
        """Run a call through the stages of `CallPipeline` and return its outcome, which may be an error.

        Raises:
            CancelledError: The call was canceled; the audit log has an entry for it.
        """
        task = asyncio.current_task()
        assert task is not None
        self._running.append(task)
        try:
            return await self._pipeline.run(call)
        finally:
            self._running.remove(task)

    async def cancel_calls(self, timeout: float) -> None:
        """Cancel the other running calls and wait up to `timeout` seconds for them to end."""
        calls = set(self._running) - {asyncio.current_task()}
        for call in calls:
            call.cancel()
        if calls:
            await asyncio.wait(calls, timeout=timeout)
