from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import PermissionDeniedError
from app.permissions.approval import Effect
from app.permissions.approval_check import check_approved
from app.vault.changes import ChangeSet, Create, Delete, Move, Update
from app.vault.path import NotePath
from tests.support.partial_changes import restrict_to

A, B, C, D = (NotePath(f"{letter}.md") for letter in "abcd")
PROPOSED = ChangeSet(
    (Create(A, b"1"), Update(B, b"1", b"2"), Delete(C, b"1"), Move(D, NotePath("e.md"), b"1", b"1"))
)


@given(st.sets(st.sampled_from([A, B, C, D])), st.binary())
def test_an_edited_part_is_a_valid_approval(kept, words):
    edited = {
        A: Create(A, words),
        B: Update(B, b"1", words),
        C: Delete(C, b"1"),
        D: Move(D, NotePath("e.md"), b"1", words),
    }
    check_approved(PROPOSED, ChangeSet(tuple(edited[path] for path in kept)))
    check_approved(PROPOSED, restrict_to(PROPOSED, kept))


def test_an_approval_empties_only_folders_that_were_shown():
    changes = (Move(D, NotePath("x/d.md"), b"1", b"1"),)
    proposed = ChangeSet(changes, emptied=("a", "a/b"))
    check_approved(proposed, ChangeSet(changes, emptied=("a",)))
    with pytest.raises(PermissionDeniedError):
        check_approved(proposed, ChangeSet(changes, emptied=("a", "c")))


@pytest.mark.parametrize(
    "other",
    [
        Create(NotePath("z.md"), b"1"),
        Update(A, b"", b"1"),
        Create(B, b"2"),
        Update(B, b"other", b"2"),
        Delete(B, b"1"),
        Delete(C, b"other"),
        Move(D, NotePath("f.md"), b"1", b"1"),
        Move(D, NotePath("e.md"), b"other", b"1"),
        Delete(D, b"1"),
    ],
)
def test_any_other_proposal_is_rejected(other):
    with pytest.raises(PermissionDeniedError):
        check_approved(PROPOSED, ChangeSet((other,)))


def test_effects_are_approved_unchanged():
    effect = Effect("command", "ls", (("cwd", "/"),))
    check_approved(effect, Effect("command", "ls", (("cwd", "/"),)))
    for other in (Effect("command", "ls"), ChangeSet(())):
        with pytest.raises(PermissionDeniedError):
            check_approved(effect, other)
    with pytest.raises(PermissionDeniedError):
        check_approved(PROPOSED, effect)


def test_an_approval_is_bound_to_the_emptied_folders_in_any_order():
    digests = {ChangeSet(PROPOSED.changes, emptied=emptied).digest for emptied in ((), ("a",), ("a", "b"))}
    assert len(digests) == 3 and PROPOSED.digest in digests
    assert ChangeSet(PROPOSED.changes, emptied=("b", "a")).digest in digests
