"""Record changes that a program made in the vault directly: in the journal, the log and the index.

The user was not asked, and the log says so. The changes are shown and can be undone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace

from app.errors import ScriptoriumError
from app.events import EventBus
from app.permissions.audit_entry import AuditDecision
from app.permissions.caller import Caller
from app.permissions.impact import impact_of_changes
from app.toolkit.audit_draft import AuditDraft
from app.toolkit.audit_writer import AuditWriter
from app.toolkit.call import Call
from app.toolkit.commit_queue import CommitQueue
from app.toolkit.outcome import ToolFinished, ToolOutcome, ToolStarted
from app.vault.changes import ChangeSet
from app.vault.path import NotePath

DIRECT_EDIT = "direct_edit"
"""Used instead of a tool's name in the audit log."""


class ExternalChangeRecorder:
    """Records changes that are already on disk as commits and audit entries."""

    def __init__(
        self,
        commits: CommitQueue,
        audit_writer: AuditWriter,
        events: EventBus,
        find_backlinks: Callable[[NotePath], Iterable[NotePath]],
    ) -> None:
        self._commits = commits
        self._audit_writer = audit_writer
        self._events = events
        self._find_backlinks = find_backlinks

    async def record(
        self, change_set: ChangeSet, caller: Caller, reason: str, without_copy: Iterable[NotePath] = ()
    ) -> ToolOutcome:
        """Record changes that `caller` made without the app.

        Args:
            change_set: The previous and the current content of each file; may be empty.
            caller: The caller to whom the changes are attributed.
            reason: The reason for the attribution, for the log.
            without_copy: Other changed files, for which no earlier copy exists; they are only listed.

        Returns:
            The outcome; it has an error if the journal could not be written.

        Raises:
            CancelledError: The call was canceled; if the journal has the changes, so does the log.
        """
        listed_only = tuple(without_copy)
        arguments: dict[str, object] = {"paths": [str(path) for path in (*change_set.paths, *listed_only)]}
        if listed_only:
            arguments["no_copy_kept"] = [str(path) for path in listed_only]
        call = Call(DIRECT_EDIT, arguments, caller)
        draft = AuditDraft(call)
        draft.decide(AuditDecision.NOT_ASKED, reason)
        draft.set_impact(impact_of_changes(change_set, self._find_backlinks))
        draft.set_paths((*change_set.paths, *listed_only))
        self._events.publish(ToolStarted(call.id, call.name, caller))
        outcome = ToolOutcome(True, message=_describe_changes(change_set, listed_only))
        try:
            if change_set:
                await self._commits.commit_external(
                    change_set, caller, entry=call.id, on_written=draft.set_commit
                )
            draft.result = outcome.message
        except ScriptoriumError as error:
            draft.result = (
                f"{outcome.message} This can't be undone, because it was not stored: {error.message}"
            )
            outcome = ToolOutcome(False, message=draft.result, error=error.as_dict())
        except asyncio.CancelledError:
            if draft.commit is not None:
                # The journal has the commit, so the log must have it, too.
                draft.result = outcome.message
                self._finish(draft, outcome)
            raise
        return self._finish(draft, outcome)

    def _finish(self, draft: AuditDraft, outcome: ToolOutcome) -> ToolOutcome:
        """Log the changes and publish the outcome."""
        call = draft.call
        entry = self._audit_writer.append(draft.entry())
        commit = None if draft.commit is None else draft.commit.id
        finished = replace(outcome, entry=entry, commit=commit, duration_ms=draft.timer.duration_ms)
        self._events.publish(ToolFinished(call.id, finished, call.caller, call.name))
        return finished


def _describe_changes(change_set: ChangeSet, listed_only: tuple[NotePath, ...]) -> str:
    sentences = [f"{change_set.summary}, without asking."] if change_set.summary else []
    if listed_only:
        names = ", ".join(map(str, listed_only[:3])) + (" and others" if len(listed_only) > 3 else "")
        sentences.append(f"Also changed, without a copy of the earlier content: {names}.")
    return " ".join(sentences)
