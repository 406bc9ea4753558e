"""Any text of a call is logged and does not block later calls."""

from __future__ import annotations

import dataclasses
import sqlite3

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.errors import StorageError
from app.permissions.audit import AuditLog
from app.permissions.audit_entry import AuditEntry
from app.permissions.caller import Caller, CallerKind
from app.toolkit.audit_writer import AuditWriter
from app.toolkit.call import Call
from app.vault.path import NotePath

ANY = st.text(alphabet=st.characters(exclude_categories=()), max_size=20)
ENTRY = AuditEntry(1.0, "mcp", "Claude", "read_note", "read", "s", "{}", "rule", "because", "done")
TEXTS = ("caller", "tool", "scope", "arguments", "reason", "result", "call", "turn", "grant")


async def test_a_lone_surrogate_holds_up_neither_later_calls_nor_the_users_save(bench):
    for arguments in ({"name": "\ud800"}, {"\udfff": "\udc80"}, {"name": ["\ud800"]}):
        outcome = await bench.call("read", arguments)
        assert not outcome.success and outcome.error["type"] in ("not_found", "invalid_parameters")
    caller = Caller(CallerKind.MCP, "bad \udcff client", says="\ud800")
    assert (await bench.call("read", {"name": "Tea"}, caller)).success
    assert not (await bench.call("\ud800", {})).success
    saved = await bench.runner.run(
        Call.save(NotePath("Tea.md"), (bench.root / "Tea.md").read_bytes(), b"mine\n")
    )
    assert saved.success and saved.entry > 0 and bench.text("Tea.md") == "mine\n"
    assert bench.audit.verify().ok


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.dictionaries(st.sampled_from(TEXTS), ANY),
    paths=st.lists(ANY, max_size=3),
    numbers=st.lists(st.integers(), max_size=3),
    duration=st.floats() | st.integers(),
    tokens=st.integers(),
)
def test_every_entry_can_be_logged_and_read(tmp_path, texts, paths, numbers, duration, tokens):
    entry = dataclasses.replace(
        ENTRY, **texts, paths=tuple(paths), undoes=tuple(numbers), duration_ms=duration, tokens=tokens
    )
    with AuditLog(tmp_path) as log:
        written = log.append(entry)
        assert log.entries()[0].id == written.id and log.verify().ok


class _Refusing:
    """A log that accepts only entries without a caller."""

    def __init__(self, error):
        self.error, self.rows = error, []

    def append(self, entry):
        if entry.caller:
            raise self.error
        self.rows.append(entry)
        return dataclasses.replace(entry, id=len(self.rows))


async def test_an_entry_that_can_never_be_logged_is_logged_without_what_came_from_outside(bench, errors):
    errors.append("an audit entry for read_note")
    refused = StorageError("no")
    refused.__cause__ = sqlite3.IntegrityError("NOT NULL")
    for error in (refused, UnicodeEncodeError("utf-8", "\ud800", 0, 1, "x"), OverflowError(), TypeError()):
        log = _Refusing(error)
        trail = AuditWriter(log, bench.events)
        assert trail.append(dataclasses.replace(ENTRY, commit=7)) == 1
        assert log.rows[0].commit == 7 and log.rows[0].decision == "rule" and log.rows[0].caller == ""
        trail.ensure_flushed()


async def test_an_entry_that_the_disk_refuses_for_now_waits(bench, errors):
    errors.append("1 audit entries are waiting")
    refused = StorageError("disk full")
    refused.__cause__ = sqlite3.OperationalError("database or disk is full")
    log = _Refusing(refused)
    trail = AuditWriter(log, bench.events)
    assert trail.append(ENTRY) == 0 and log.rows == []
    log.append = lambda entry: dataclasses.replace(entry, id=5)
    assert trail.append(ENTRY) == 5
