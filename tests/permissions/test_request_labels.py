"""Labels of requests and callers."""

from __future__ import annotations

import pytest

from app.permissions.approval import ApprovalRequest
from app.permissions.caller import Caller, CallerKind
from app.permissions.impact import impact_of_changes
from app.permissions.request_labels import caller_label, format_extent, format_size, request_title
from app.vault.changes import ChangeSet, Create, Delete
from app.vault.path import NotePath


def test_a_program_is_named_with_its_own_identification() -> None:
    def words(says: str) -> str:
        return caller_label(Caller(CallerKind.MCP, "Laptop", says=says)).english

    assert words("") == "MCP client"
    assert words("Laptop") == "MCP client"
    assert words("claude-code 2.1") == "MCP client, calls itself “claude-code 2.1”"


def test_a_programs_own_identification_cannot_disguise_anything() -> None:
    says = "You,\nat this \u202ewindow\u200b" + "x" * 5000
    shown = caller_label(Caller(CallerKind.MCP, "Laptop", says=says)).english
    assert shown.startswith("MCP client, calls itself “You, at this ")
    assert "\n" not in shown and "\u202e" not in shown and "\u200b" not in shown and len(shown) < 200


@pytest.mark.parametrize(
    ("caller", "title"),
    [
        (Caller.user(), "Delete “Kyoto.md”"),
        (Caller(CallerKind.MCP, "Laptop"), "Laptop wants to delete “Kyoto.md”"),
    ],
)
def test_the_title_names_the_caller_of_every_request_but_the_users_own(caller: Caller, title: str) -> None:
    proposal = ChangeSet((Delete(NotePath("Kyoto.md"), b"# Kyoto"),), "Delete Kyoto")
    impact = impact_of_changes(proposal, lambda _: ())
    request = ApprovalRequest("1", caller, "delete_note", (), impact.operation, impact.scope, proposal, "")
    assert request_title(request).english == title
    extent = format_extent(request)
    assert extent is not None and extent.english == "1 file"


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (1, "1 byte"),
        (999, "999 bytes"),
        (1_000, "1.0 kB"),
        (999_900, "999.9 kB"),
        (2_500_000, "2.5 MB"),
        (3e9, "3.0 GB"),
    ],
)
def test_a_size_has_a_suitable_unit(count: int, words: str) -> None:
    assert format_size(count).english == words


def test_a_deletion_is_from_a_store_and_a_change_is_in_it() -> None:
    def words(proposal: ChangeSet) -> str:
        impact = impact_of_changes(proposal, lambda _: (), "the memory")
        request = ApprovalRequest(
            "1", Caller.user(), "block", (), impact.operation, impact.scope, proposal, "it asks"
        )
        return request_title(request).english

    assert words(ChangeSet.of(Delete(NotePath("plan.md"), b"x"))) == "Delete “plan.md” from the memory"
    assert words(ChangeSet.of(Create(NotePath("plan.md"), b"x"))) == "Create “plan.md” in the memory"
