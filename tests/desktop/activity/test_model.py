from __future__ import annotations

from dataclasses import replace

import pytest

from app.desktop.activity.item import (
    ActivityKind,
    ActivityOrigin,
    ActivityStatus,
    entry_status,
    item_from_entry,
)
from app.desktop.activity.model import ACTIVITY_ROLE, ActivityModel
from app.embeddings.sync_scheduler import EmbeddingFailed, EmbeddingProgressed
from app.index.records import IndexRebuilt, ScanReport
from app.permissions.audit import AuditAppended
from app.permissions.audit_entry import AuditDecision, AuditEntry
from app.permissions.caller import Caller, CallerKind
from app.servers.server_state import RejectedTokens, TokenRefused
from app.toolkit.outcome import ToolFinished, ToolOutcome, ToolStarted
from tests.support.activity_feed import activities

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Model", turn="t")
ENTRY = AuditEntry(
    100.0,
    "desktop-agent",
    "Model",
    "add_tag",
    "update",
    "write_update",
    "{}",
    AuditDecision.USER_APPROVED,
    "approved by the user",
    "Tagged [[Tea]].",
    id=7,
    call="c",
    commit=3,
    paths=("Tea.md",),
)


def started(call: str = "c") -> ToolStarted:
    return ToolStarted(call, "add_tag", AGENT)


def test_a_call_is_one_line_from_its_start_to_its_undo(qapp) -> None:
    feed = ActivityModel()
    feed.handle_events([started()])
    (line,) = activities(feed)
    assert (line.kind, line.status, line.origin) == (
        ActivityKind.TOOL,
        ActivityStatus.RUNNING,
        ActivityOrigin.AGENT,
    )
    feed.handle_events([AuditAppended(ENTRY)])
    (line,) = activities(feed)
    assert line.status is ActivityStatus.COMPLETED and line.summary == "Tagged “Tea”."
    feed.handle_events([AuditAppended(replace(ENTRY, id=8, call="d", tool="undo", commit=4, undoes=(3,)))])
    undo, line = activities(feed)
    assert undo.name == "undo" and line.summary.endswith("(undone)")
    assert line.entry is not None and line.entry.undone_by == 8


def test_an_undone_undo_restores_the_line(qapp) -> None:
    feed = ActivityModel()
    undo = replace(ENTRY, id=8, call="d", tool="undo", commit=4, undoes=(3,))
    feed.handle_events([AuditAppended(ENTRY), AuditAppended(undo)])
    feed.handle_events([AuditAppended(replace(undo, id=9, call="e", commit=5, undoes=(4,)))])
    *_, line = activities(feed)
    assert line.entry is not None and line.entry.undone_by is None and "undone" not in line.summary


def test_calls_that_a_limit_refuses_again_are_counted_in_one_line(qapp) -> None:
    feed = ActivityModel()
    first = replace(ENTRY, call="c", decision="failed", result="limit: Too many calls.")
    refused = ToolOutcome(False, message="Too many calls.", error={"type": "limit"}, entry=ENTRY.id)
    feed.handle_events([started(), AuditAppended(first)])
    for number in (1, 2, 3):
        repeated = replace(started(), call_id=f"c{number}")
        feed.handle_events([repeated, ToolFinished(repeated.call_id, refused, AGENT, "add_tag", number)])
    (line,) = activities(feed)
    assert line.summary == "Too many calls. (3 more calls rejected)"


def test_a_refused_token_has_a_line(qapp) -> None:
    feed = ActivityModel()
    feed.handle_events([TokenRefused(RejectedTokens(3, "curl/8", 100.0))])
    (line,) = activities(feed)
    assert (line.kind, line.status) == (ActivityKind.VAULT, ActivityStatus.DENIED)
    assert "3 requests" in line.summary and "curl/8" in line.summary


def test_a_call_that_could_not_be_logged_is_shown_nevertheless(qapp) -> None:
    feed = ActivityModel()
    outcome = ToolOutcome(False, message="The disk is full.", error={"type": "storage"})
    feed.handle_events([started(), ToolFinished("c", outcome, AGENT, "add_tag")])
    (line,) = activities(feed)
    assert (line.status, line.summary) == (ActivityStatus.FAILED, "The disk is full.")
    feed.handle_events([AuditAppended(ENTRY)])
    assert [activity.entry for activity in activities(feed)] == [ENTRY]


@pytest.mark.parametrize(
    ("decision", "result", "status"),
    [
        (AuditDecision.NO_APPROVAL_NEEDED, "5 notes found.", ActivityStatus.COMPLETED),
        (AuditDecision.AUTO_APPROVED, "Tagged.", ActivityStatus.COMPLETED),
        (AuditDecision.RULE, "Tagged.", ActivityStatus.COMPLETED),
        (AuditDecision.RULE, "denied", ActivityStatus.DENIED),
        (AuditDecision.RULE, "permission_denied: The tools of Tags are turned off.", ActivityStatus.DENIED),
        (AuditDecision.USER_DENIED, "denied", ActivityStatus.DENIED),
        (AuditDecision.TIMED_OUT, "denied", ActivityStatus.DENIED),
        (AuditDecision.FAILED, "not_found: No note is called so.", ActivityStatus.FAILED),
        (AuditDecision.CANCELLED, "withdrawn by the caller", ActivityStatus.FAILED),
    ],
)
def test_the_result_of_a_logged_call_is_shown(
    decision: AuditDecision, result: str, status: ActivityStatus
) -> None:
    entry = replace(ENTRY, decision=decision, result=result, reason="because")
    assert entry_status(entry) is status
    summary = item_from_entry(entry).summary
    assert summary == ("because" if result == "denied" else result.partition(": ")[2] or result)


def test_a_round_of_vectors_is_one_line_that_grows(qapp) -> None:
    feed = ActivityModel()
    feed.handle_events([EmbeddingProgressed(0, 40), EmbeddingProgressed(20, 40), EmbeddingProgressed(40, 40)])
    (line,) = activities(feed)
    assert (line.status, line.summary, line.origin) == (
        ActivityStatus.COMPLETED,
        "40 of 40 notes",
        ActivityOrigin.SYSTEM,
    )
    feed.handle_events([EmbeddingProgressed(1, 1)])
    assert len(activities(feed)) == 1, "one saved note is not worth a line"
    feed.handle_events(
        [EmbeddingFailed("No model."), EmbeddingProgressed(1, 2), IndexRebuilt("It was damaged.")]
    )
    assert [line.status for line in activities(feed)] == [
        ActivityStatus.COMPLETED,
        ActivityStatus.RUNNING,
        ActivityStatus.FAILED,
        ActivityStatus.COMPLETED,
    ]
    assert len({line.key for line in activities(feed)}) == 4


def test_older_calls_of_the_log_come_below_and_once(qapp) -> None:
    feed = ActivityModel()
    feed.handle_events([AuditAppended(ENTRY)])
    feed.add_older([ENTRY, replace(ENTRY, id=6, call="b")])
    assert [line.key for line in activities(feed)] == ["c", "b"]


def test_the_saves_of_a_writing_session_are_one_line_on_top(qapp) -> None:
    def save(number: int) -> AuditEntry:
        call, commit = f"s{number}", 100 + number
        return replace(ENTRY, id=number, call=call, commit=commit, tool="save", turn="w1", result="Save Tea")

    feed = ActivityModel()
    feed.handle_events(
        [AuditAppended(save(10)), AuditAppended(replace(ENTRY, id=11)), AuditAppended(save(12))]
    )
    session, other = activities(feed)
    assert session.summary == "Save Tea (2 times)" and session.entry == save(12) and other.name == "add_tag"
    feed.handle_events([AuditAppended(replace(save(13), paths=("Water.md",)))])
    assert len(activities(feed)) == 3
    feed.handle_events(
        [AuditAppended(replace(ENTRY, id=14, call="u", tool="undo", commit=9, undoes=(110, 112)))]
    )
    assert activities(feed)[2].summary == "Save Tea (2 times) (undone)"
    # The log has them one by one, newest first.
    fresh = ActivityModel()
    fresh.add_older([save(12), replace(ENTRY, id=11), save(10)])
    assert [line.summary for line in activities(fresh)] == ["Save Tea (2 times)", "Tagged “Tea”."]


def test_a_first_scan_mentions_no_unchanged_notes(qapp) -> None:
    model = ActivityModel()
    model.record_scan(ScanReport(indexed=3, unchanged=0, removed=0))
    model.record_scan(ScanReport(indexed=1, unchanged=2, removed=0))
    shown = [model.index(row).data(ACTIVITY_ROLE).summary for row in range(2)]
    assert shown == ["1 note indexed, 2 unchanged", "3 notes indexed"]
