from __future__ import annotations

from dataclasses import replace

import pytest

from app.desktop.activity.activity import Kind, Starter, Status, of_entry, status_of
from app.desktop.activity.feed import Feed
from app.embeddings.upkeep import EmbeddingFailed, EmbeddingProgressed
from app.index.records import IndexRebuilt
from app.permissions.audit import AuditAppended
from app.permissions.audit_entry import AuditEntry, Decided
from app.permissions.caller import Caller, CallerKind
from app.servers.door_state import Refused, TokenRefused
from app.toolkit.outcome import ToolFinished, ToolOutcome, ToolStarted

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Model", turn="t")
ENTRY = AuditEntry(
    100.0,
    "desktop-agent",
    "Model",
    "add_tag",
    "update",
    "write_update",
    "{}",
    Decided.USER_APPROVED,
    "approved by the user",
    "Tagged [[Tea]].",
    id=7,
    call="c",
    commit=3,
    paths=("Tea.md",),
)


def started(call: str = "c") -> ToolStarted:
    return ToolStarted(call, "add_tag", "{}", AGENT)


def test_a_call_is_one_line_from_its_start_to_its_undo(qapp) -> None:
    feed = Feed()
    feed.take([started()])
    (line,) = feed.activities
    assert (line.kind, line.status, line.starter) == (Kind.TOOL, Status.RUNNING, Starter.AGENT)
    feed.take([AuditAppended(ENTRY)])
    (line,) = feed.activities
    assert line.status is Status.COMPLETED and line.summary == "Tagged “Tea”."
    feed.take([AuditAppended(replace(ENTRY, id=8, call="d", tool="undo", commit=4, undoes=(3,)))])
    undo, line = feed.activities
    assert undo.what == "undo" and line.summary.endswith("(undone)")
    assert line.entry is not None and line.entry.undone_by == 8


def test_an_undone_undo_restores_the_line(qapp) -> None:
    feed = Feed()
    undo = replace(ENTRY, id=8, call="d", tool="undo", commit=4, undoes=(3,))
    feed.take([AuditAppended(ENTRY), AuditAppended(undo)])
    feed.take([AuditAppended(replace(undo, id=9, call="e", commit=5, undoes=(4,)))])
    *_, line = feed.activities
    assert line.entry is not None and line.entry.undone_by is None and "undone" not in line.summary


def test_calls_that_a_limit_refuses_again_are_counted_in_one_line(qapp) -> None:
    feed = Feed()
    first = replace(ENTRY, call="c", decision="failed", result="limit: Too many calls.")
    refused = ToolOutcome(False, message="Too many calls.", error={"type": "limit"}, entry=ENTRY.id)
    feed.take([started(), AuditAppended(first)])
    for number in (1, 2, 3):
        again = replace(started(), call_id=f"c{number}")
        feed.take([again, ToolFinished(again.call_id, refused, AGENT, "add_tag", number)])
    (line,) = feed.activities
    assert line.summary == "Too many calls. (3 more calls refused)"


def test_a_refused_token_has_a_line(qapp) -> None:
    feed = Feed()
    feed.take([TokenRefused(Refused(3, "curl/8", 100.0))])
    (line,) = feed.activities
    assert (line.kind, line.status) == (Kind.VAULT, Status.DENIED)
    assert "3 requests" in line.summary and "curl/8" in line.summary


def test_a_call_that_could_not_be_logged_is_told_all_the_same(qapp) -> None:
    feed = Feed()
    outcome = ToolOutcome(False, message="The disk is full.", error={"type": "storage"})
    feed.take([started(), ToolFinished("c", outcome, AGENT, "add_tag")])
    (line,) = feed.activities
    assert (line.status, line.summary) == (Status.FAILED, "The disk is full.")
    feed.take([AuditAppended(ENTRY)])
    assert [each.entry for each in feed.activities] == [ENTRY]


@pytest.mark.parametrize(
    ("decided", "result", "status"),
    [
        (Decided.NO_APPROVAL_NEEDED, "5 notes found.", Status.COMPLETED),
        (Decided.AUTO_APPROVED, "Tagged.", Status.COMPLETED),
        (Decided.RULE, "Tagged.", Status.COMPLETED),
        (Decided.RULE, "denied", Status.DENIED),
        (Decided.RULE, "permission_denied: The tools of Tags are switched off.", Status.DENIED),
        (Decided.USER_DENIED, "denied", Status.DENIED),
        (Decided.TIMED_OUT, "denied", Status.DENIED),
        (Decided.FAILED, "not_found: No note is called so.", Status.FAILED),
        (Decided.CANCELLED, "withdrawn by the caller", Status.FAILED),
    ],
)
def test_how_a_logged_call_ended(decided: Decided, result: str, status: Status) -> None:
    entry = replace(ENTRY, decision=decided, result=result, reason="because")
    assert status_of(entry) is status
    shown = of_entry(entry).summary
    assert shown == ("because" if result == "denied" else result.partition(": ")[2] or result)


def test_a_round_of_vectors_is_one_line_that_grows(qapp) -> None:
    feed = Feed()
    feed.take([EmbeddingProgressed(0, 40), EmbeddingProgressed(20, 40), EmbeddingProgressed(40, 40)])
    (line,) = feed.activities
    assert (line.status, line.summary, line.starter) == (Status.COMPLETED, "40 of 40 notes", Starter.SYSTEM)
    feed.take([EmbeddingProgressed(1, 1)])
    assert len(feed.activities) == 1, "one saved note is not worth a line"
    feed.take([EmbeddingFailed("No model."), EmbeddingProgressed(1, 2), IndexRebuilt("It was damaged.")])
    assert [line.status for line in feed.activities] == [
        Status.COMPLETED,
        Status.RUNNING,
        Status.FAILED,
        Status.COMPLETED,
    ]
    assert len({line.key for line in feed.activities}) == 4


def test_older_calls_of_the_log_come_below_and_once(qapp) -> None:
    feed = Feed()
    feed.take([AuditAppended(ENTRY)])
    feed.add_older([ENTRY, replace(ENTRY, id=6, call="b")])
    assert [line.key for line in feed.activities] == ["c", "b"]


def test_the_saves_of_a_writing_session_are_one_line_on_top(qapp) -> None:
    def save(number: int) -> AuditEntry:
        call, commit = f"s{number}", 100 + number
        return replace(ENTRY, id=number, call=call, commit=commit, tool="save", turn="w1", result="Save Tea")

    feed = Feed()
    feed.take([AuditAppended(save(10)), AuditAppended(replace(ENTRY, id=11)), AuditAppended(save(12))])
    session, other = feed.activities
    assert session.summary == "Save Tea (2 times)" and session.entry == save(12) and other.what == "add_tag"
    feed.take([AuditAppended(replace(save(13), paths=("Water.md",)))])
    assert len(feed.activities) == 3
    feed.take([AuditAppended(replace(ENTRY, id=14, call="u", tool="undo", commit=9, undoes=(110, 112)))])
    assert feed.activities[2].summary == "Save Tea (2 times) (undone)"
    # The log has them one by one, the newest first.
    fresh = Feed()
    fresh.add_older([save(12), replace(ENTRY, id=11), save(10)])
    assert [line.summary for line in fresh.activities] == ["Save Tea (2 times)", "Tagged “Tea”."]
