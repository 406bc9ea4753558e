"""Kinds named in advance approve no more than was named, and no kind under another's name."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli.approval_kinds import ApprovalKind, kinds_for_request, missing_kinds, parse_kinds
from app.cli.approvers import DenyAll, PreapprovedKinds
from app.errors import InvalidParametersError, PermissionDeniedError
from app.permissions.approval import ApprovalRequest, Approved, Effect
from app.permissions.caller import Caller, CallerKind
from app.permissions.impact import impact_of_effect
from app.permissions.scope import Operation, Scope, ScopeKind
from app.vault.changes import ChangeSet, Create, Delete, FileChange, Move, Update
from app.vault.path import NotePath

_MAKE = {
    ApprovalKind.CREATE: lambda n: Create(note(n), b"a"),
    ApprovalKind.UPDATE: lambda n: Update(note(n), b"a", b"b"),
    ApprovalKind.DELETE: lambda n: Delete(note(n), b"a"),
}


def note(number: int) -> NotePath:
    return NotePath.parse(f"{number}.md")


def approval_request(proposal: ChangeSet | Effect, backlinks: tuple[NotePath, ...] = ()) -> ApprovalRequest:
    caller = Caller(CallerKind.CLI, "command line")
    scope = Scope(ScopeKind.WRITE_UPDATE, backlinks=backlinks)
    return ApprovalRequest("id", caller, "tool", (), Operation.UPDATE, scope, proposal, "it is so")


@given(
    st.lists(st.sampled_from(sorted(_MAKE)), min_size=1, max_size=6),
    st.frozensets(st.sampled_from(ApprovalKind)),
    st.booleans(),
)
async def test_every_kind_of_a_request_must_be_named(
    parts: list[ApprovalKind], named: frozenset[ApprovalKind], linked: bool
) -> None:
    changes: list[FileChange] = [_MAKE[kind](number) for number, kind in enumerate(parts)]
    request = approval_request(ChangeSet.of(*changes), (note(99),) if linked else ())
    wanted = {
        ApprovalKind.DELETE_LINKED if linked and kind is ApprovalKind.DELETE else kind for kind in parts
    }
    assert kinds_for_request(request) == wanted
    approver = PreapprovedKinds(named, DenyAll(named))
    if wanted <= named:
        decision = await approver.decide(request)
        assert isinstance(decision, Approved) and decision.proposal is request.proposal
    else:
        with pytest.raises(PermissionDeniedError, match="--approve"):
            await approver.decide(request)
        more = parse_kinds([missing_kinds(request, named)])
        assert isinstance(await PreapprovedKinds(named | more, approver).decide(request), Approved)


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("command", ApprovalKind.EXECUTE),
        ("external tool", ApprovalKind.EXECUTE),
        ("anything new", ApprovalKind.EXECUTE),
        ("page", ApprovalKind.FETCH),
        ("message", ApprovalKind.SEND),
        ("read", ApprovalKind.READ),
        ("administrative", ApprovalKind.ADMIN),
    ],
)
def test_an_effect_has_one_kind(kind: str, word: ApprovalKind) -> None:
    effect = Effect(kind, "Do it.")
    request = replace(approval_request(effect), operation=impact_of_effect(effect).operation)
    assert kinds_for_request(request) == {word}


def test_a_move_is_an_update() -> None:
    assert kinds_for_request(approval_request(ChangeSet.of(Move(note(1), note(2), b"", b"")))) == {
        ApprovalKind.UPDATE
    }


def test_words_are_separated_by_commas_and_others_are_refused() -> None:
    assert parse_kinds(["create, update", "delete"]) == {
        ApprovalKind.CREATE,
        ApprovalKind.UPDATE,
        ApprovalKind.DELETE,
    }
    assert parse_kinds([]) == frozenset() == parse_kinds([","])
    with pytest.raises(InvalidParametersError, match="'all' is not one of"):
        parse_kinds(["all"])
