"""Profiles of callers restrict tools, operations and folders, or everything to reading."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.permissions.caller import Caller, CallerKind
from app.permissions.grants import Grants
from app.permissions.impact import CallFacts, impact_of_changes, impact_of_reading
from app.permissions.policy import Deny, Policy
from app.permissions.profiles import allows_note, allows_tool
from app.settings import CallerProfile, PermissionSettings, Rule
from app.vault.changes import ChangeSet, Create, FileChange, Move, Update
from app.vault.path import NotePath

CLIENT = Caller(CallerKind.MCP, "Claude Desktop")
A, B = NotePath("Projects/a.md"), NotePath("Journal/b.md")


def change(*changes: FileChange, caller: Caller = CLIENT) -> CallFacts:
    reach = impact_of_changes(ChangeSet(changes), lambda path: ())
    return CallFacts(caller, "edit_note", reach.operation, reach.scope, reach.parts)


def reading(path: NotePath, caller: Caller = CLIENT) -> CallFacts:
    reach = impact_of_reading((path,))
    return CallFacts(caller, "read_note", reach.operation, reach.scope, reach.parts)


def policy(folder: Path, *profiles: CallerProfile, rules: tuple[Rule, ...] = ()) -> Policy:
    return Policy(PermissionSettings(callers=profiles, rules=rules), Grants(folder))


@pytest.mark.parametrize(
    ("profile", "category", "tool", "op", "expected"),
    [
        (CallerProfile(), "notes", "edit_note", "append", True),
        (CallerProfile(categories=("search",)), "notes", "edit_note", "", False),
        (CallerProfile(categories=("search", "notes")), "notes", "edit_note", "", True),
        (CallerProfile(tools=("read_*",)), "notes", "read_note", "", True),
        (CallerProfile(tools=("read_*",)), "notes", "edit_note", "", False),
        (CallerProfile(tools=("edit_note.append",)), "notes", "edit_note", "", True),
        (CallerProfile(tools=("edit_note.append",)), "notes", "edit_note", "append", True),
        (CallerProfile(tools=("edit_note.append",)), "notes", "edit_note", "replace", False),
    ],
)
def test_a_profile_names_categories_tools_and_operations(
    profile: CallerProfile, category: str, tool: str, op: str, expected: bool
) -> None:
    assert allows_tool(profile, category, tool, op) is expected


def test_a_read_only_caller_changes_nothing_whatever_rule_allows_it(tmp_path: Path) -> None:
    allowing = Rule(effect="allow", glob="**")
    held = policy(tmp_path, CallerProfile(caller="mcp", read_only=True), rules=(allowing,))
    assert held.decide(change(Update(A, b"", b"x"))) == Deny("Claude Desktop may only read")
    assert not isinstance(held.decide(reading(A)), Deny)
    assert not isinstance(held.decide(change(Update(A, b"", b"x"), caller=Caller.user())), Deny)
    other = Caller(CallerKind.CLI, "Terminal")
    assert not isinstance(held.decide(change(Update(A, b"", b"x"), caller=other)), Deny)


def test_a_caller_is_kept_in_its_folders_at_both_ends_of_a_move(tmp_path: Path) -> None:
    held = policy(tmp_path, CallerProfile(caller="Claude*", folders=("Projects",)))
    assert not isinstance(held.decide(change(Update(A, b"", b"x"))), Deny)
    assert isinstance(held.decide(change(Create(B, b""))), Deny)
    assert isinstance(held.decide(change(Move(A, B, b"", b""))), Deny)
    assert isinstance(held.decide(change(Move(B, A, b"", b""))), Deny)
    assert held.may_read(CLIENT, "read_note", A) == "allow"
    assert held.may_read(CLIENT, "read_note", B) == "deny" and held.has_read_rules(CLIENT, "read_note")
    assert not held.has_read_rules(Caller.user(), "read_note")


PROFILES = st.builds(
    CallerProfile,
    categories=st.lists(st.sampled_from(["notes", "search"]), max_size=2).map(tuple),
    tools=st.lists(st.sampled_from(["read_*", "edit_note", "edit_note.append"]), max_size=2).map(tuple),
    folders=st.lists(st.sampled_from(["Projects", "Journal", "Journal/2026"]), max_size=2).map(tuple),
    read_only=st.booleans(),
)


@given(st.lists(PROFILES, max_size=3))
def test_another_profile_only_restricts(
    tmp_path_factory: pytest.TempPathFactory, profiles: list[CallerProfile]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    fewer, more = policy(folder, *profiles[:-1]), policy(folder, *profiles)
    for tool, op in (("read_note", ""), ("edit_note", "append"), ("edit_note", "replace")):
        assert fewer.may_call(CLIENT, "notes", tool, op) or not more.may_call(CLIENT, "notes", tool, op)
    for path in (A, B, NotePath("Home.md")):
        if more.may_read(CLIENT, "read_note", path) == "allow":
            assert fewer.may_read(CLIENT, "read_note", path) == "allow"
            assert all(allows_note(profile, path) for profile in profiles)
    if isinstance(fewer.decide(change(Update(A, b"", b"x"))), Deny):
        assert isinstance(more.decide(change(Update(A, b"", b"x"))), Deny)
