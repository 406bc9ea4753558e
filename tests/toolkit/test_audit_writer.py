"""The audit writer keeps entries after a disk error, and numbers them correctly."""

from __future__ import annotations

from dataclasses import replace

from app.errors import StorageError
from app.events import EventBus
from app.permissions.audit_entry import AuditEntry
from app.permissions.caller import Caller
from app.toolkit.audit_draft import AuditDraft
from app.toolkit.audit_writer import AuditWriter
from app.toolkit.call import Call


class FailingLog:
    """A log that fails with these errors, one per attempt, and then accepts entries."""

    def __init__(self, *errors: Exception | None) -> None:
        self._errors = list(errors)
        self.entries: list[AuditEntry] = []

    def append(self, entry: AuditEntry) -> AuditEntry:
        error = self._errors.pop(0) if self._errors else None
        if error is not None:
            raise error
        self.entries.append(replace(entry, id=len(self.entries) + 1))
        return self.entries[-1]


def test_a_dropped_entry_has_no_number_even_after_a_waiting_one_was_written(errors: list[str]) -> None:
    errors += ["1 audit entries are waiting", "an audit entry for", "the audit entry for"]
    audit = FailingLog(StorageError("disk full"), None, ValueError("bad row"), ValueError("bad row"))
    writer = AuditWriter(audit, EventBus())  # type: ignore[arg-type]
    entry = AuditDraft(Call.of("read_note", {}, Caller.user())).entry()
    assert writer.append(entry) == 0
    assert writer.append(entry) == 0
    assert len(audit.entries) == 1
    assert writer.append(entry) == 2
