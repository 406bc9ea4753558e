"""The order of decisions: hard rules, deny, always ask, ask, grants, default."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.permissions.approval import Effect, GrantOffer
from app.permissions.caller import Caller, CallerKind
from app.permissions.grants import Grants
from app.permissions.impact import (
    CallFacts,
    impact_of_changes,
    impact_of_effect,
    impact_of_reading,
)
from app.permissions.policy import Allow, Ask, Deny, Policy
from app.permissions.scope import Operation
from app.settings import CallerProfile, PermissionSettings, Rule, VaultRules
from app.vault.changes import ChangeSet, Create, Delete, Move, Update
from app.vault.path import NotePath

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Agent")
NO_RULES = VaultRules()
A, B = NotePath("Projects/a.md"), NotePath("Journal/b.md")


def facts(*changes, caller=AGENT, backlinks=(), **more):
    reach = impact_of_changes(ChangeSet(changes), lambda path: backlinks)
    return CallFacts(caller, "edit_note", reach.operation, reach.scope, reach.parts, **more)


def effect_facts(effect, caller=AGENT, **more):
    reach = impact_of_effect(effect)
    return CallFacts(
        caller, "shell", reach.operation, reach.scope, reach.parts, effect=reach.effect, executes=True, **more
    )


@pytest.fixture
def grants(tmp_path):
    return Grants(tmp_path)


def policy(grants, *rules, vault=NO_RULES, **settings):
    return Policy(PermissionSettings(rules=rules, **settings), grants, vault)


def rule(effect, *operations, glob="**", caller="*", tool="*"):
    return Rule(effect=effect, operations=operations, glob=glob, caller=caller, tool=tool)


UPDATE = facts(Update(A, b"1", b"2"))
CREATE = facts(Create(A, b"1"))
DELETE = facts(Delete(A, b"1"))
READ = CallFacts(
    AGENT, "read_note", Operation.READ, impact_of_reading((A,)).scope, impact_of_reading((A,)).parts
)


def test_by_default_reads_go_through_and_changes_ask(grants):
    assert policy(grants).decide(READ) == Allow("reading in the vault")
    for call in (UPDATE, CREATE, DELETE):
        assert isinstance(policy(grants).decide(call), Ask)


# Invariants

OPERATIONS = [operation.value for operation in Operation]
RULES = st.builds(
    Rule,
    effect=st.sampled_from(["allow", "ask", "deny"]),
    operations=st.lists(st.sampled_from(OPERATIONS), max_size=3).map(tuple),
    glob=st.sampled_from(["**", "Projects/**", "Journal", "*.md", "Projects/a.md", "nothing/"]),
    caller=st.sampled_from(["*", "mcp", "desktop-agent", "Agent", "user"]),
    tool=st.sampled_from(["*", "edit_note", "read*"]),
)
PATHS = st.sampled_from([A, B, NotePath("c.md"), NotePath("Projects/deep/d.md")])
CHANGES = st.lists(
    st.one_of(
        st.builds(Create, PATHS, st.just(b"x")),
        st.builds(Update, PATHS, st.just(b"x"), st.just(b"y")),
        st.builds(Delete, PATHS, st.just(b"x")),
        PATHS.map(lambda path: Move(path, NotePath(f"Moved/{path.name}.md"), b"x", b"x")),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda change: change.path,
)
CALLERS = st.builds(
    Caller,
    kind=st.sampled_from(list(CallerKind)),
    name=st.sampled_from(["Agent", "Claude"]),
    tainted=st.booleans(),
)
OFFERS = st.builds(
    GrantOffer,
    label=st.just(""),
    operation=st.sampled_from([Operation.CREATE, Operation.UPDATE, Operation.DELETE, Operation.READ]),
    tool=st.sampled_from([None, "edit_note"]),
    folder=st.sampled_from([None, "Projects"]),
    minutes=st.sampled_from([None, 30]),
)
CALLS = st.builds(
    lambda changes, caller, backlinks, always: facts(
        *changes, caller=caller, backlinks=[NotePath("link.md")] if backlinks else [], always_asks=always
    ),
    CHANGES,
    CALLERS,
    st.booleans(),
    st.booleans(),
)


def made_of(tmp, rules, offers, unlocked, vault=NO_RULES):
    grants = Grants(tmp)
    tested_policy = policy(grants, *rules, vault=vault, unlock_delete_grants=unlocked)
    for offer in offers:
        if offer.operation is not Operation.DELETE or unlocked:
            grants.add(offer)
    return tested_policy


def denies(made, call):
    return isinstance(made.decide(call), Deny)


@given(CALLS, st.lists(RULES, max_size=6), st.lists(OFFERS, max_size=4), st.booleans(), st.randoms())
def test_the_order_of_rules_does_not_matter(tmp_path_factory, call, rules, offers, unlocked, shuffle):
    shuffled = list(rules)
    shuffle.shuffle(shuffled)
    tmp = tmp_path_factory.mktemp("g")
    first = made_of(tmp, rules, offers, unlocked).decide(call)
    second = made_of(tmp, shuffled, offers, unlocked).decide(call)
    assert type(first) is type(second)


@given(CALLS, st.lists(RULES, max_size=6), st.lists(OFFERS, max_size=4), st.booleans())
def test_deny_beats_ask_beats_allow(tmp_path_factory, call, rules, offers, unlocked):
    tmp = tmp_path_factory.mktemp("g")
    tested_policy = made_of(tmp, rules, offers, unlocked)
    rank = {Deny: 0, Ask: 1, Allow: 2}
    # Each tightening rule can only tighten; each loosening one leaves deny and ask rules alone.
    for extra, tightens in ((rule("deny"), True), (rule("ask"), True), (rule("allow"), False)):
        other = made_of(tmp, [extra, *rules], offers, unlocked)
        before, after = rank[type(tested_policy.decide(call))], rank[type(other.decide(call))]
        assert after <= before if tightens else after >= before
        if call.caller.kind is not CallerKind.USER and extra.effect == "deny":
            assert after == 0
        if call.caller.kind is not CallerKind.USER and extra.effect == "ask":
            assert after <= 1
    without_allow = made_of(tmp, [r for r in rules if r.effect != "allow"], [], unlocked)
    if isinstance(without_allow.decide(call), Deny):
        assert denies(tested_policy, call)


@given(CALLS, st.lists(RULES, max_size=4), st.lists(OFFERS, max_size=6), st.booleans())
def test_grants_and_allow_rules_never_beat_what_always_asks(tmp_path_factory, call, rules, offers, unlocked):
    verdict = made_of(tmp_path_factory.mktemp("g"), rules, offers, unlocked).decide(call)
    deletes = call.operation is Operation.DELETE
    if call.caller.tainted or call.always_asks or call.caller.kind is CallerKind.USER:
        assert not isinstance(verdict, Allow)
    if deletes and (not unlocked or call.scope.backlinks):
        assert not isinstance(verdict, Allow)
    if isinstance(verdict, Ask) and (call.caller.tainted or call.always_asks):
        assert verdict.offers == ()


@given(CALLS, st.lists(RULES, max_size=4), st.lists(RULES, max_size=4), st.booleans())
def test_a_vaults_rules_only_tighten(tmp_path_factory, call, rules, brought, unlocked):
    tmp = tmp_path_factory.mktemp("g")
    rank = {Deny: 0, Ask: 1, Allow: 2}
    plain = made_of(tmp, rules, [], unlocked).decide(call)
    with_vault = made_of(tmp, rules, [], unlocked, VaultRules(rules=tuple(brought), bulk_threshold=1000))
    assert rank[type(with_vault.decide(call))] <= rank[type(plain)]


@given(st.lists(RULES, max_size=4), st.lists(OFFERS, max_size=4), CALLERS, st.booleans())
def test_hard_rules_are_never_loosened(tmp_path_factory, rules, offers, caller, unlocked):
    tested_policy = made_of(tmp_path_factory.mktemp("g"), [rule("allow"), *rules], offers, unlocked)
    hidden = NotePath.on_disk(random.choice([".git/config", ".obsidian/x.json", "a/.scriptorium/rules.toml"]))
    assert denies(tested_policy, facts(Create(hidden, b""), caller=caller))
    assert denies(tested_policy, facts(Move(A, hidden, b"", b""), caller=caller))
    assert denies(tested_policy, facts(Update(A, b"1", b"2"), caller=caller, reads_only=True))
    command = effect_facts(Effect("command", "ls"), caller)
    assert denies(tested_policy, replace(command, executes=False))
    assert not isinstance(tested_policy.decide(command), Allow)


# Calls that always ask


def test_a_change_of_many_files_always_asks(grants):
    grants.set_session(Operation.UPDATE, True)
    too_many = [Update(NotePath(f"{i}.md"), b"1", b"2") for i in range(21)]
    assert isinstance(policy(grants).decide(facts(*too_many[:20])), Allow)
    assert isinstance(policy(grants).decide(facts(*too_many)), Ask)
    assert isinstance(policy(grants, vault=VaultRules(bulk_threshold=5)).decide(facts(*too_many[:6])), Ask)


@pytest.mark.parametrize("kind", ["command", "message", "administrative", "no such kind"])
def test_effects_that_always_ask(grants, kind):
    allowed = policy(grants, rule("allow"))
    assert isinstance(allowed.decide(effect_facts(Effect(kind, "x"))), Ask)


def test_a_page_asks_by_default_and_may_be_granted(grants):
    call = effect_facts(Effect("page", "https://example.org"))
    verdict = policy(grants).decide(call)
    assert [offer.label for offer in verdict.offers] == [
        "Approve, and allow network requests by shell until Scriptorium closes"
    ]
    grants.add(verdict.offers[0])
    assert isinstance(policy(grants).decide(call), Allow)


def test_deletes_need_the_setting_and_no_backlinks(grants):
    locked, unlocked = policy(grants), policy(grants, unlock_delete_grants=True)
    grants.set_session(Operation.DELETE, True)
    assert isinstance(unlocked.decide(DELETE), Allow)
    linked = facts(Delete(A, b"1"), backlinks=[B])
    assert isinstance(unlocked.decide(linked), Ask) and unlocked.decide(linked).offers == ()
    locked.configure(PermissionSettings())
    assert isinstance(locked.decide(DELETE), Ask)


def test_a_read_outside_asks_for_each_new_folder(grants):
    tested_policy = policy(grants)
    call = effect_facts(Effect("read", "x", (("folder", "/home/me/papers"),)))
    grants.set_session(Operation.READ, True)
    assert isinstance(tested_policy.decide(call), Ask)
    grants.remember_outside(["/home/me"])
    assert isinstance(tested_policy.decide(call), Allow)
    grants.set_session(Operation.READ, False)
    assert isinstance(tested_policy.decide(call), Ask)


# Rules


def test_a_move_out_of_a_protected_folder_is_a_delete_there(grants):
    tested_policy = policy(grants, rule("deny", "delete", glob="Projects/**"))
    assert denies(tested_policy, facts(Move(A, B, b"", b"")))
    assert not denies(tested_policy, facts(Move(A, NotePath("Projects/z.md"), b"", b"")))
    assert not denies(tested_policy, facts(Move(B, NotePath("Other/b.md"), b"", b"")))


def test_a_move_into_a_folder_is_a_create_there(grants):
    tested_policy = policy(grants, rule("deny", "create", glob="Projects/**"))
    assert denies(tested_policy, facts(Move(B, A, b"", b"")))
    assert not denies(tested_policy, facts(Move(A, NotePath("Projects/z.md"), b"", b"")))


def test_one_denied_part_denies_the_whole(grants):
    tested_policy = policy(grants, rule("deny", "update", glob="Journal"))
    assert denies(tested_policy, facts(Update(A, b"1", b"2"), Update(B, b"1", b"2")))


def test_rules_are_about_callers_and_tools(grants):
    tested_policy = policy(grants, rule("deny", caller="claude*", tool="edit_*"))
    claude = Caller(CallerKind.MCP, "Claude Desktop")
    assert denies(tested_policy, replace(UPDATE, caller=claude)) and not denies(tested_policy, UPDATE)
    assert not denies(tested_policy, replace(UPDATE, caller=claude, tool="create_note"))


def test_a_star_does_not_match_the_user(grants):
    tested_policy = policy(grants, rule("deny"))
    assert denies(tested_policy, UPDATE) and not denies(tested_policy, replace(UPDATE, caller=Caller.user()))
    assert denies(policy(grants, rule("deny", caller="user")), replace(UPDATE, caller=Caller.user()))


def test_rules_that_cannot_be_read_deny_changes_and_leave_reads(grants):
    tested_policy = policy(grants, rule("allow"), vault=None)
    assert denies(tested_policy, UPDATE) and isinstance(tested_policy.decide(READ), Allow)
    assert not denies(tested_policy, replace(UPDATE, caller=Caller.user()))


def test_allow_rules_and_grants_add_up(grants):
    tested_policy = policy(grants, rule("allow", "update", glob="Projects/**"))
    assert tested_policy.decide(UPDATE) == Allow("an allow rule in the settings", "rule")
    both = facts(Update(A, b"1", b"2"), Update(B, b"1", b"2"))
    assert isinstance(tested_policy.decide(both), Ask)
    grants.add(GrantOffer("", Operation.UPDATE, folder="Journal"))
    assert tested_policy.decide(both).by == "grant"


def test_a_rule_can_remove_an_operation_of_a_tool(grants):
    tested_policy = policy(grants, rule("deny", tool="edit_note.patch"))
    assert not tested_policy.may_call(AGENT, "notes", "edit_note", "patch")
    assert tested_policy.may_call(AGENT, "notes", "edit_note", "append") and tested_policy.may_call(
        AGENT, "notes", "edit_note"
    )


# Offers


def test_offers_say_exactly_what_they_cover(grants):
    verdict = policy(grants).decide(UPDATE)
    assert [offer.label for offer in verdict.offers] == [
        "Approve, and allow edits by edit_note in Projects/ until Scriptorium closes",
        "Approve, and allow edits and moves in Projects/ for 30 minutes",
        "Approve, and always allow edits by edit_note in Projects/",
        "Approve, and allow edits and moves anywhere in the vault until Scriptorium closes",
    ]


@given(CALLS, st.booleans())
def test_an_accepted_offer_allows_the_same_call(tmp_path_factory, call, unlocked):
    grants = Grants(tmp_path_factory.mktemp("g"))
    tested_policy = policy(grants, unlock_delete_grants=unlocked)
    verdict = tested_policy.decide(call)
    for offer in verdict.offers if isinstance(verdict, Ask) else ():
        grant = grants.add(offer)
        assert isinstance(tested_policy.decide(call), Allow)
        grants.revoke(grant.id)
        assert isinstance(tested_policy.decide(call), Ask)


def test_changes_of_several_kinds_get_no_offers(grants):
    assert policy(grants).decide(facts(Create(A, b""), Update(B, b"1", b"2"))).offers == ()


def test_a_change_of_what_is_private_or_protected_asks_despite_rules_and_grants(grants):
    allowing = policy(grants, rule("allow", "update"))
    grants.add(GrantOffer("", Operation.UPDATE))
    assert isinstance(allowing.decide(UPDATE), Allow)
    verdict = allowing.decide(replace(UPDATE, changes_access=True))
    assert isinstance(verdict, Ask) and "private or protected" in verdict.reason and not verdict.offers
    assert isinstance(policy(grants, rule("deny")).decide(replace(UPDATE, changes_access=True)), Deny)


def test_a_rule_protects_a_folder_whose_name_has_a_colon_and_allows_nothing_there(grants):
    note = NotePath.on_disk("Projects: 2024/a.md")
    deny = policy(grants, Rule(effect="deny", glob="Projects: 2024/**"))
    assert isinstance(deny.decide(facts(Update(note, b"", b"x"))), Deny)
    assert isinstance(deny.decide(facts(Move(note, A, b"", b""))), Deny)
    assert deny.may_read(AGENT, "read_note", note) == "deny"
    assert deny.may_read(AGENT, "read_note", A) == "allow"
    allow = policy(grants, Rule(effect="allow", glob="Projects: 2024/**"))
    assert isinstance(allow.decide(facts(Update(note, b"", b"x"))), Ask)


HIDE, HIDE_AGAIN = (rule("deny", "read", glob=folder) for folder in ("Projects", "Journal"))
ASK, ASK_AGAIN = (rule("ask", "read", glob=folder) for folder in ("Projects", "Journal"))
PROTECT = rule("ask", "update", glob="Projects", tool="x")


def about(rule, **changes):
    return rule.model_copy(update=changes)


@pytest.mark.parametrize(
    ("rules", "lost"),
    [
        ((), ""),
        ((HIDE,), "hidden"),
        ((HIDE_AGAIN,), ""),
        ((HIDE, PROTECT), "hidden"),
        ((PROTECT,), "protected"),
        ((rule("allow", "read", glob="Projects"),), ""),
        # Only a deny rule hides, and the effects are compared.
        ((ASK,), "protected"),
        ((ASK, ASK_AGAIN), ""),
        ((ASK, HIDE_AGAIN), ""),
        ((HIDE, ASK_AGAIN), "protected"),
        ((HIDE, ASK, HIDE_AGAIN), ""),
        # At the new path, the rule must be about all the same callers and tools.
        ((about(HIDE, caller="claude"), HIDE_AGAIN), ""),
        ((about(HIDE, caller="claude"), about(HIDE_AGAIN, caller="cl*")), ""),
        ((about(HIDE, caller="Claude"), about(HIDE_AGAIN, caller="claude")), ""),
        ((about(HIDE, caller="cl*"), about(HIDE_AGAIN, caller="cl?ude")), "hidden"),
        ((HIDE, about(HIDE_AGAIN, caller="cli")), "hidden"),
        ((about(HIDE, caller="user"), HIDE_AGAIN), "hidden"),
        ((about(HIDE, tool="read_note"), HIDE_AGAIN), ""),
        ((HIDE, about(HIDE_AGAIN, tool="read_note")), "hidden"),
        # Nothing about these protects a file that exists.
        ((rule("deny", "create", glob="Projects"),), ""),
        ((rule("deny", "execute", "network", glob="Projects"),), ""),
        ((rule("deny", glob="Projects"), HIDE_AGAIN), "protected"),
    ],
)
def test_a_move_loses_what_no_rule_for_the_same_callers_restricts_at_the_new_path(grants, rules, lost):
    assert policy(grants, *rules).protection_lost_by_move(A, B) == lost


def test_a_move_out_of_a_rule_of_the_vault_loses_its_protection(grants):
    assert policy(grants, vault=VaultRules(rules=(PROTECT,))).protection_lost_by_move(A, B) == "protected"


def test_the_patterns_that_a_move_leaves_are_those_of_rules_and_profiles(grants):
    rules = (rule("allow", "read", glob="Projects"), rule("deny", glob="*/*"), rule("deny", glob="memory:P*"))
    profiles = (CallerProfile(caller="mcp", folders=("Projects", "Journal")),)
    found = policy(grants, *rules, callers=profiles).patterns_left_by_moves({A: B, B: B})
    assert found == {"Projects"}


def test_a_move_into_the_folders_of_a_profile_shows_the_file_to_its_caller(grants):
    profiles = (CallerProfile(caller="mcp", folders=("Journal",)),)
    with_profile = policy(grants, callers=profiles)
    assert with_profile.protection_lost_by_move(A, B) == "hidden"
    assert with_profile.protection_lost_by_move(B, A) == ""
    hidden_again = policy(grants, about(HIDE_AGAIN, caller="mcp"), callers=profiles)
    assert hidden_again.protection_lost_by_move(A, B) == "protected"
