"""The rows of the audit log: the saves of a writing session are one row with steps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.desktop.audit.labels import result_text
from app.desktop.audit.model import RESULT, TOOL, AuditEntriesModel, matches_filter
from app.permissions.audit_entry import AuditEntry, AuditFilter


def entry(number: int, turn: str = "", tool: str = "save") -> AuditEntry:
    values = ("user", "You", tool, "update", "", "{}", "no-approval-needed", "", "Save Tea")
    return AuditEntry(float(number), *values, id=number, turn=turn, commit=100 + number)


def labels(model: AuditEntriesModel) -> list[tuple[int, str]]:
    rows = range(model.rowCount())
    return [(model.entries[row].id, str(model.data(model.index(row, RESULT)))) for row in rows]


def test_a_session_is_one_row_that_can_be_expanded(qapp) -> None:
    model = AuditEntriesModel()
    model.replace_all([entry(9, "w"), entry(8, "w"), entry(7, tool="add_tag"), entry(6, "w"), entry(5)])
    assert labels(model) == [(9, "Save Tea (2 times)"), (7, "Save Tea"), (6, "Save Tea"), (5, "Save Tea")]
    model.add_newer([entry(10, "w"), entry(11, "w")])
    assert labels(model)[0] == (11, "Save Tea (4 times)") and model.row_of(8) == 0
    assert [shown.id for shown in model.all_entries()] == [11, 10, 9, 8, 7, 6, 5]
    model.mark_undone([108], 12)
    assert [step.undone_by for step in model.merged_saves(0)] == [None, None, 12]
    model.expand(0)
    assert [entry_id for entry_id, _ in labels(model)] == [11, 10, 9, 8, 7, 6, 5]
    assert labels(model)[3] == (8, "Save Tea (undone)")
    # Entries added to an expanded session stay visible, too.
    model.add_newer([entry(12, "w")])
    assert [entry_id for entry_id, _ in labels(model)][:3] == [12, 11, 10]


def test_a_session_that_crosses_pages_is_one_row(qapp) -> None:
    model = AuditEntriesModel()
    model.replace_all([entry(9, "w"), entry(8, "w")])
    assert model.oldest_id == 8
    model.add_older([entry(7, "w"), entry(6, "v"), entry(5, "v")])
    assert labels(model) == [(9, "Save Tea (3 times)"), (6, "Save Tea (2 times)")] and model.oldest_id == 5


def test_the_result_of_a_denied_call_is_its_reason(qapp) -> None:
    model = AuditEntriesModel()
    denied = replace(entry(9, tool="add_tag"), result="denied", reason="Denied by the user")
    model.replace_all([denied, replace(denied, id=8, reason="")])
    assert [text for _, text in labels(model)] == ["Denied by the user", "Denied"]


def test_tools_and_notes_are_shown_by_their_readable_names(qapp) -> None:
    model = AuditEntriesModel()
    tagged = replace(entry(9, tool="add_tag"), result="Tagged [[People/Kepler|Kepler]].")
    model.replace_all([tagged, replace(tagged, id=8, undone_by=9)])
    assert model.data(model.index(0, TOOL)) == "Add tag"
    assert [text for _, text in labels(model)] == ["Tagged “Kepler”.", "Tagged “Kepler”. (undone)"]
    assert matches_filter(tagged, AuditFilter(text="add tag"))
    assert matches_filter(tagged, AuditFilter(text="add_tag"))
    assert not matches_filter(tagged, AuditFilter(text="remove tag"))


def test_a_failure_is_shown_and_found_without_the_code_of_its_error(qapp) -> None:
    model = AuditEntriesModel()
    failed = replace(entry(9, tool="summarize_node"), result="invalid_parameters: There is no argument.")
    model.replace_all([failed])
    assert [text for _, text in labels(model)] == ["There is no argument."]
    assert matches_filter(failed, AuditFilter(text="summarize note"))


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ("not_found: There is no note “X”.", "There is no note “X”."),
        ("written, then conflict: “X” has changed.", "written, then “X” has changed."),
        ("todo: buy milk", "todo: buy milk"),
        ("user-approved, then conflict: “X” has changed.", "user-approved, then conflict: “X” has changed."),
    ],
)
def test_only_the_code_of_an_error_is_left_out_of_a_result(result: str, shown: str) -> None:
    assert result_text(result) == shown
