"""The log is a chain: tampering is detected, a crash does not look like tampering, damage is set aside."""

from __future__ import annotations

import json
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from app.errors import NotFoundError, StorageError
from app.permissions.audit import AuditLog
from app.permissions.audit_chain import Gap, check
from app.permissions.audit_entry import AuditDecision, AuditEntry, AuditFilter, row_hash, to_row
from app.permissions.audit_reading import AuditLogReader

ENTRY = AuditEntry(
    time=1_700_000_000.0,
    caller_kind="mcp",
    caller="Claude",
    tool="create_note",
    operation="create",
    scope="write_create: 1 file, 3 bytes",
    arguments='{"name": "Tea"}',
    decision="user-approved",
    reason="approved by the user",
    result="Created Tea.",
    paths=("Tea.md",),
)


@pytest.fixture
def log(tmp_path):
    audit = AuditLog(tmp_path)
    yield audit
    audit.close()


def fill(log, count=5):
    return [log.append(replace(ENTRY, time=ENTRY.time + n, result=f"row {n + 1}")) for n in range(count)]


def tamper(folder: Path, sql: str) -> None:
    with sqlite3.connect(folder / "audit.sqlite3") as connection:
        connection.executescript(sql)
    connection.close()


def test_rows_are_numbered_and_come_back(log):
    assert [entry.id for entry in fill(log)] == [1, 2, 3, 4, 5]
    assert log.entry(3).result == "row 3" and log.entry(3).paths == ("Tea.md",)
    assert [entry.id for entry in log.entries(limit=2)] == [5, 4]
    assert [entry.id for entry in log.entries(limit=2, before_id=4)] == [3, 2]
    with pytest.raises(NotFoundError):
        log.entry(6)
    check = log.verify()
    assert check.ok and check.rows == 5


def test_a_row_and_its_hash_match_those_of_older_logs():
    entry = AuditEntry(
        1.5,
        "mcp",
        "Käthe",
        "undo",
        "delete",
        "vault",
        '{"name": "é"}',
        AuditDecision.RULE,
        "“no”",
        "line",
        id=7,
        call="c",
        turn="t",
        grant="g",
        duration_ms=0.25,
        commit=3,
        undoes=(1, 2),
        tokens=9,
        cost=0.5,
        paths=("ä/b.md", "c.md"),
    )
    row = to_row(entry)
    assert row[-1] == '["ä/b.md", "c.md"]' and "[1, 2]" in row
    assert row_hash("ab" * 32, row) == "684159cc09ed4c0001a008a73002d8dee1b5ce2da9526654489cf1aa81007a6f"


def test_an_empty_log_is_intact(log):
    assert log.verify().ok


@pytest.mark.parametrize(
    ("sql", "first_bad"),
    [
        ("UPDATE audit SET decision = 'rule' WHERE id = 3", 3),
        ("UPDATE audit SET time = time + 1 WHERE id = 1", 1),
        ("UPDATE audit SET paths = '[]' WHERE id = 5", 5),
        ("UPDATE audit SET hash = 'x' WHERE id = 2", 2),
        ("DELETE FROM audit WHERE id = 3", 3),
        ("DELETE FROM audit WHERE id = 1", 1),
        ("DELETE FROM audit WHERE id = 5", 5),
        ("DELETE FROM audit WHERE id > 2", 3),
        ("DELETE FROM audit", 1),
        (
            "UPDATE audit SET id = 9 WHERE id = 2; UPDATE audit SET id = 2 WHERE id = 3;"
            "UPDATE audit SET id = 3 WHERE id = 9",
            2,
        ),
        (
            "INSERT INTO audit SELECT 6, time, caller_kind, caller, tool, operation, scope, arguments, "
            'decision, reason, result, call, conversation, turn, "grant", duration_ms, "commit", undoes, '
            "tokens, cost, paths, previous, hash FROM audit WHERE id = 5",
            6,
        ),
    ],
)
def test_the_first_bad_row_is_named(log, tmp_path, sql, first_bad):
    fill(log)
    tamper(tmp_path, sql)
    check = log.verify()
    assert not check.ok and check.first_bad == first_bad and check.reason


def test_a_row_rewritten_with_a_new_chain_after_it_still_differs_from_the_head(log, tmp_path):
    from app.permissions.audit_chain import SELECT
    from app.permissions.audit_entry import GENESIS

    fill(log)
    with sqlite3.connect(tmp_path / "audit.sqlite3") as connection:
        connection.execute("UPDATE audit SET result = 'nothing' WHERE id = 2")
        previous = GENESIS
        for row in connection.execute(f"{SELECT} ORDER BY id").fetchall():
            entry_id = row[10]
            digest = row_hash(previous, row[:-2])
            connection.execute(
                "UPDATE audit SET previous = ?, hash = ? WHERE id = ?", (previous, digest, entry_id)
            )
            previous = digest
    connection.close()
    check = log.verify()
    assert not check.ok and check.first_bad == 5 and "recorded end" in check.reason


@pytest.mark.parametrize("content", [b"", b"junk", b"{}" * 500, b'{"id": "x"}'])
def test_an_unreadable_head_is_reported_and_rewritten(tmp_path, content):
    log = AuditLog(tmp_path)
    fill(log)
    log.close()
    (tmp_path / "audit.head").write_bytes(content)
    log = AuditLog(tmp_path)
    assert "records the end" in log.problem and log.verify().ok
    log.close()
    log = AuditLog(tmp_path)
    assert log.problem == "" and log.entries(limit=1)[0].id == 6
    log.close()


def test_a_damaged_boot_time_is_reported_and_the_log_opens(tmp_path, monkeypatch):
    monkeypatch.setattr("app.permissions.audit_chain.boot_id", lambda: "started 1700000000")
    log = AuditLog(tmp_path)
    fill(log)
    log.close()
    head = json.loads((tmp_path / "audit.head").read_text("ascii"))
    (tmp_path / "audit.head").write_text(json.dumps({**head, "id": 9, "boot": "started soon"}), "ascii")
    log = AuditLog(tmp_path)
    assert "records the end" in log.problem and log.verify().ok
    log.close()


@pytest.mark.parametrize("rest", [0, 2])
def test_a_cut_end_stays_visible_after_new_rows(tmp_path, rest):
    log = AuditLog(tmp_path)
    fill(log)
    log.close()
    tamper(tmp_path, f"DELETE FROM audit WHERE id > {rest}")
    log = AuditLog(tmp_path)
    assert "cut off" in log.problem and log.append(ENTRY).id == 7
    assert log.entry(6).tool == "audit" and log.entry(6).reason == log.problem
    check = log.verify()
    assert (check.ok, check.first_bad) == (False, rest + 1)
    log.close()
    log = AuditLog(tmp_path)
    assert log.problem == "" and not log.verify().ok
    log.close()


def test_a_missing_head_is_reported(tmp_path):
    log = AuditLog(tmp_path)
    fill(log)
    (tmp_path / "audit.head").unlink()
    assert not log.verify().ok
    log.close()
    log = AuditLog(tmp_path)
    assert "records the end" in log.problem and log.entries(limit=1)[0].reason == log.problem
    log.close()


def test_a_missing_log_is_reported(tmp_path):
    log = AuditLog(tmp_path)
    fill(log)
    log.close()
    for file in tmp_path.glob("audit.sqlite3*"):
        file.unlink()
    log = AuditLog(tmp_path)
    assert "entries 1 to 5" in log.problem and log.verify().first_bad == 1
    log.close()


def test_a_head_one_row_behind_is_no_damage(log, tmp_path):
    fill(log, 3)
    head = (tmp_path / "audit.head").read_bytes()
    fill(log, 1)
    (tmp_path / "audit.head").write_bytes(head)
    assert log.verify().ok
    log.close()
    log.__init__(tmp_path)
    assert log.problem == "" and log.append(ENTRY).id == 5 and log.verify().ok


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_damaged_log_is_set_aside_and_the_new_one_continues_its_numbers(tmp_path, content):
    log = AuditLog(tmp_path)
    fill(log)
    log.close()
    (tmp_path / "audit.sqlite3").write_bytes(content)
    log = AuditLog(tmp_path)
    (aside,) = tmp_path.glob("audit.damaged-*.sqlite3")
    assert aside.read_bytes() == content and aside.name in log.problem
    first = log.entry(6)
    assert aside.name in first.reason and "entry 5 with the hash" in first.reason
    assert log.append(ENTRY).id == 7
    check = log.verify()
    assert check.ok and [(gap.first, gap.last, gap.cause) for gap in check.gaps] == [(1, 5, "set-aside")]
    with pytest.raises(NotFoundError):
        log.entry(1)
    log.close()


def test_a_log_damaged_together_with_its_head_never_uses_a_number_again(tmp_path):
    log = AuditLog(tmp_path)
    fill(log)
    log.close()
    (tmp_path / "audit.sqlite3").write_bytes(b"no database" * 100)
    (tmp_path / "audit.head").unlink()
    log = AuditLog(tmp_path)
    assert log.append(ENTRY).id > 1_000_000
    assert log.verify().gaps[0].cause == "set-aside"
    log.close()


def test_an_emptied_log_looks_like_tampering(tmp_path):
    log = AuditLog(tmp_path)
    fill(log)
    log.close()
    (tmp_path / "audit.sqlite3").write_bytes(b"")
    log = AuditLog(tmp_path)
    assert "cut off" in log.problem and log.verify().first_bad == 1
    log.close()


class Power:
    """A power cut: the last rows are lost, the log is not closed, and the computer restarts."""

    def __init__(self, monkeypatch) -> None:
        self._monkeypatch = monkeypatch
        self.start("first boot")

    def start(self, boot: str) -> None:
        self._monkeypatch.setattr("app.permissions.audit_chain.boot_id", lambda: boot)

    def cut(self, log: AuditLog, folder: Path, rest: int) -> None:
        AuditLogReader.close(log)
        tamper(folder, f"DELETE FROM audit WHERE id > {rest}")
        self.start("second boot")


def test_rows_lost_in_a_power_cut_are_distinguished_from_tampering(tmp_path, monkeypatch):
    power = Power(monkeypatch)
    log = AuditLog(tmp_path)
    fill(log)
    power.cut(log, tmp_path, 3)
    audit_check = check(tmp_path / "audit.sqlite3", tmp_path / "audit.head")
    assert audit_check.ok and audit_check.gaps == (Gap(4, 5, "crash"),)
    log = AuditLog(tmp_path)
    assert "entries 4 to 5" in log.problem and "computer stopped" in log.problem
    assert log.append(ENTRY).id == 7
    audit_check = log.verify()
    assert audit_check.ok and audit_check.gaps == (Gap(4, 5, "crash"),)
    log.close()
    log = AuditLog(tmp_path)
    assert log.problem == "" and log.verify().gaps == (Gap(4, 5, "crash"),)
    log.close()


def test_rows_removed_after_the_log_was_closed_are_no_crash(tmp_path, monkeypatch):
    power = Power(monkeypatch)
    log = AuditLog(tmp_path)
    fill(log)
    log.close()
    tamper(tmp_path, "DELETE FROM audit WHERE id > 3")
    power.start("second boot")
    log = AuditLog(tmp_path)
    assert "cut off" in log.problem and log.verify().first_bad == 4
    log.close()


def test_rows_of_a_killed_process_are_no_crash(tmp_path, monkeypatch):
    power = Power(monkeypatch)
    log = AuditLog(tmp_path)
    fill(log)
    power.cut(log, tmp_path, 3)
    power.start("first boot")
    log = AuditLog(tmp_path)
    assert "cut off" in log.problem and log.verify().first_bad == 4
    log.close()


def test_rows_of_an_earlier_session_are_no_crash(tmp_path, monkeypatch):
    power = Power(monkeypatch)
    log = AuditLog(tmp_path)
    fill(log)
    log.close()
    log = AuditLog(tmp_path)
    fill(log, 1)
    power.cut(log, tmp_path, 3)
    log = AuditLog(tmp_path)
    assert "cut off" in log.problem and log.verify().first_bad == 4
    log.close()


def test_a_changed_row_next_to_a_crash_gap_is_still_found(tmp_path, monkeypatch):
    power = Power(monkeypatch)
    log = AuditLog(tmp_path)
    fill(log)
    power.cut(log, tmp_path, 3)
    log = AuditLog(tmp_path)
    tamper(tmp_path, "UPDATE audit SET result = 'nothing' WHERE id = 2")
    assert log.verify().first_bad == 2
    tamper(tmp_path, "DELETE FROM audit WHERE id = 3")
    assert not log.verify().ok
    log.close()


def test_each_row_is_on_the_disk_when_it_is_appended(log, tmp_path):
    assert log._connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert {
        file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.glob("audit*")
    } == dict.fromkeys(("audit.sqlite3", "audit.sqlite3-wal", "audit.sqlite3-shm", "audit.head"), 0o600)


def test_an_unusable_folder_is_reported(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError):
        AuditLog(tmp_path / "file" / "data")


def test_a_write_that_fails_leaves_the_log_as_it_was(log, tmp_path):
    fill(log, 2)
    blocker = sqlite3.connect(tmp_path / "audit.sqlite3", isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    log._connection.execute("PRAGMA busy_timeout = 10")
    with pytest.raises(StorageError):
        log.append(ENTRY)
    blocker.execute("ROLLBACK")
    blocker.close()
    assert log.append(ENTRY).id == 3 and log.verify().ok


def test_two_processes_may_write(log, tmp_path):
    fill(log, 2)
    other = AuditLog(tmp_path)
    assert other.append(ENTRY).id == 3 and log.append(ENTRY).id == 4 and other.append(ENTRY).id == 5
    other.close()
    assert log.verify().ok


def test_it_can_be_checked_in_another_thread_while_rows_are_added(log):
    checks = []
    thread = threading.Thread(target=lambda: checks.extend(log.verify() for _ in range(20)))
    thread.start()
    while thread.is_alive():
        log.append(ENTRY)
    thread.join()
    assert len(checks) == 20 and all(check.ok for check in checks), checks


def test_filters(log):
    log.append(ENTRY)
    log.append(replace(ENTRY, tool="delete_note", caller="Agent", turn="t1", time=ENTRY.time + 10))
    log.append(replace(ENTRY, decision="rule", arguments='{"100%_x": 1}', conversation="c1"))

    def find_ids(**criteria):
        return [entry.id for entry in log.entries(AuditFilter(**criteria))]

    assert find_ids() == [3, 2, 1]
    assert find_ids(caller="Agent") == find_ids(tool="delete_note") == find_ids(turn="t1") == [2]
    assert find_ids(decision="rule") == find_ids(conversation="c1") == [3]
    assert find_ids(text="100%_x") == [3] and find_ids(text="10_%") == []
    assert find_ids(text="tea.MD") == [3, 2, 1] and find_ids(text="tea.md", caller="Agent") == [2]
    assert find_ids(text="ÄRGER") == []
    log.append(replace(ENTRY, paths=("Ärger.md",)))
    log.append(replace(ENTRY, reason="Großer A\u0308rger"))
    assert find_ids(text="ärger") == find_ids(text="ÄRGER") == [5, 4]
    assert find_ids(text="GROSSER Ä") == [5]
    assert find_ids(since=ENTRY.time + 1) == [2] and find_ids(until=ENTRY.time) == [5, 4, 3, 1]


def test_undone_is_found_through_undo_of_undo(tmp_path):
    log = AuditLog(tmp_path)
    entry = log.append(replace(ENTRY, commit=10))
    undone = log.append(replace(ENTRY, commit=11, undoes=(10,)))
    for _ in range(2):
        assert log.entry(entry.id).undone_by == undone.id and log.entry(undone.id).undone_by is None
        log.close()
        log = AuditLog(tmp_path)
    redone = log.append(replace(ENTRY, commit=12, undoes=(11,)))
    assert log.entry(entry.id).undone_by is None and log.entry(undone.id).undone_by == redone.id
    assert log.entry_of_commit(11).id == undone.id
    assert log.last_commit == 12
    log.close()


def test_csv_is_safe_to_open_in_a_spreadsheet(log, tmp_path):
    import csv

    evil = ["=1+1", "+cmd|' /C calc'!A0", "-2", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\n=1"]
    for text in evil:
        log.append(replace(ENTRY, reason=text))
    assert log.export_csv(tmp_path / "log.csv") == len(evil)
    with (tmp_path / "log.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["reason"] for row in rows] == [f"'{text}" for text in evil]
    assert rows[0]["time"] == "2023-11-14T22:13:20+00:00" and rows[0]["paths"] == "Tea.md"


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (Gap(4, 4, "crash"), "entry 4: the computer stopped before it was written to disk"),
        (Gap(4, 5, "crash"), "entries 4 to 5: the computer stopped before they were written to disk"),
        (Gap(4, 4, "set-aside", "old"), "entry 4, which is in old"),
    ],
)
def test_the_message_of_a_gap_agrees_with_its_number_of_entries(gap, words):
    assert words in gap.message


def test_json_lines_hold_every_row_that_matches(log, tmp_path):
    fill(log, 3)
    log.append(replace(ENTRY, tool="other", result="line\nbreak"))
    assert log.export_jsonl(tmp_path / "log.jsonl") == 4
    rows = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text("utf-8").splitlines()]
    assert rows[3]["result"] == "line\nbreak" and rows[0]["id"] == 1
    assert log.export_jsonl(tmp_path / "log.jsonl", AuditFilter(tool="other")) == 1


_WRITER = """
import sys
from pathlib import Path
from app.permissions.audit import AuditLog
from app.permissions.audit_chain import Gap, check
from app.permissions.audit_entry import AuditEntry
log = AuditLog(Path(sys.argv[1]))
while True:
    done = log.append(AuditEntry(1.0, "mcp", "C", "t", "", "", "{}", "rule", "", "x" * 500))
    print(done.id, flush=True)
"""


@pytest.mark.parametrize("after", [1, 7, 40])
def test_a_killed_writer_loses_nothing_it_has_logged(tmp_path, after):
    process = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    last_id = 0
    for line in process.stdout:
        last_id = int(line)
        if last_id >= after:
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    log = AuditLog(tmp_path)
    assert log.problem == "" and log.entries(limit=1)[0].id >= last_id and log.verify().ok
    log.close()


def test_a_log_whose_rows_cannot_be_read_is_a_storage_error(tmp_path, monkeypatch):
    def fail(reader):
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(AuditLogReader, "_read_undone", fail)
    with pytest.raises(StorageError, match="disk I/O error"):
        AuditLog(tmp_path)


def test_the_text_filter_finds_a_tool_by_the_words_that_the_log_shows(log):
    log.append(replace(ENTRY, tool="summarize_node"))
    assert [entry.tool for entry in log.entries(AuditFilter(text="Summarize note"))] == ["summarize_node"]


@pytest.mark.parametrize("text", ["create_note", "Create note"])
def test_the_text_filter_finds_a_tool_by_both_of_its_names(log, text):
    fill(log, 1)
    assert [entry.tool for entry in log.entries(AuditFilter(text=text))] == ["create_note"]
