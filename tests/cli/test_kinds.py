"""What naming kinds in advance approves: never more than was named, and no kind by another's name."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli.approvers import NamedInAdvance, NobodyThere
from app.cli.kinds import Kind, kinds_of, missing_words, read_kinds
from app.errors import InvalidParametersError, PermissionDeniedError
from app.permissions.approval import ApprovalRequest, Approved, Effect
from app.permissions.caller import Caller, CallerKind
from app.permissions.scope import Operation, Scope, ScopeKind
from app.permissions.scoping import reach_of_effect
from app.vault.changes import ChangeSet, Create, Delete, FileChange, Move, Update
from app.vault.path import NotePath

_MAKE = {
    Kind.CREATE: lambda n: Create(note(n), b"a"),
    Kind.UPDATE: lambda n: Update(note(n), b"a", b"b"),
    Kind.DELETE: lambda n: Delete(note(n), b"a"),
}


def note(number: int) -> NotePath:
    return NotePath.parse(f"{number}.md")


def asked(proposal: ChangeSet | Effect, backlinks: tuple[NotePath, ...] = ()) -> ApprovalRequest:
    caller = Caller(CallerKind.CLI, "command line")
    scope = Scope(ScopeKind.WRITE_UPDATE, backlinks=backlinks)
    return ApprovalRequest("id", caller, "tool", (), Operation.UPDATE, scope, proposal, "it is so")


@given(
    st.lists(st.sampled_from(sorted(_MAKE)), min_size=1, max_size=6),
    st.frozensets(st.sampled_from(Kind)),
    st.booleans(),
)
async def test_everything_that_is_done_must_have_been_named(
    parts: list[Kind], named: frozenset[Kind], linked: bool
) -> None:
    changes: list[FileChange] = [_MAKE[kind](number) for number, kind in enumerate(parts)]
    request = asked(ChangeSet.of(*changes), (note(99),) if linked else ())
    wanted = {Kind.DELETE_LINKED if linked and kind is Kind.DELETE else kind for kind in parts}
    assert kinds_of(request) == wanted
    approver = NamedInAdvance(named, NobodyThere(named))
    if wanted <= named:
        decision = await approver.decide(request)
        assert isinstance(decision, Approved) and decision.proposal is request.proposal
    else:
        with pytest.raises(PermissionDeniedError, match="--approve"):
            await approver.decide(request)
        more = read_kinds([missing_words(request, named)])
        assert isinstance(await NamedInAdvance(named | more, approver).decide(request), Approved)


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("command", Kind.EXECUTE),
        ("external tool", Kind.EXECUTE),
        ("anything new", Kind.EXECUTE),
        ("page", Kind.FETCH),
        ("message", Kind.SEND),
        ("read", Kind.READ),
        ("administrative", Kind.ADMIN),
    ],
)
def test_an_effect_has_one_word(kind: str, word: Kind) -> None:
    effect = Effect(kind, "Do it.")
    request = replace(asked(effect), operation=reach_of_effect(effect).operation)
    assert kinds_of(request) == {word}


def test_a_move_is_an_update() -> None:
    assert kinds_of(asked(ChangeSet.of(Move(note(1), note(2), b"", b"")))) == {Kind.UPDATE}


def test_words_are_separated_by_commas_and_others_are_refused() -> None:
    assert read_kinds(["create, update", "delete"]) == {Kind.CREATE, Kind.UPDATE, Kind.DELETE}
    assert read_kinds([]) == frozenset() == read_kinds([","])
    with pytest.raises(InvalidParametersError, match="'all' is none of"):
        read_kinds(["all"])
