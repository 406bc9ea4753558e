"""Queries and changes for the tasks panel, run in the service thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.errors import ScriptoriumError
from app.index.records import TaskRecord
from app.permissions.caller import Caller
from app.toolkit.call import Call
from app.toolkit.outcome import ToolOutcome
from app.vault.markdown.tasks import set_task_done
from app.vault.markdown.text import decode

if TYPE_CHECKING:
    from app.workspace import VaultService


async def set_done(vault: VaultService, record: TaskRecord, *, done: bool) -> ToolOutcome:
    """Check or uncheck a task for the user and record it in the journal.

    If the note can't be read or the task is no longer there, the outcome is a failure.
    """
    try:
        before = vault.notes.read(record.path)
        after = set_task_done(decode(before), record.line, record.text, done=done).encode("utf-8")
    except ScriptoriumError as error:
        return ToolOutcome(False, message=error.message, error={"type": error.type, "message": error.message})
    return await vault.call(Call.save(record.path, before, after, Caller.user()))
