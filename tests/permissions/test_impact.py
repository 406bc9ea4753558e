from __future__ import annotations

from app.permissions.approval import Effect
from app.permissions.grant_offers import common_folder
from app.permissions.impact import describe_scope, impact_of_changes, impact_of_effect, rewritten_by_move
from app.permissions.scope import Operation, ScopeKind
from app.vault.changes import ChangeSet, Create, Delete, Move, Update
from app.vault.path import NotePath

A, B, C = NotePath("a.md"), NotePath("x/b.md"), NotePath("x/c.md")


def none(path):
    return ()


def test_the_most_severe_part_determines_the_operation():
    reach = impact_of_changes(ChangeSet((Create(A, b"12"), Delete(B, b"x"), Update(C, b"", b"345"))), none)
    assert reach.operation is Operation.DELETE and reach.scope.kind is ScopeKind.WRITE_DELETE
    assert reach.scope.size == 5 and reach.scope.files == 3 and set(reach.scope.paths) == {A, B, C}


def test_backlinks_from_notes_that_go_too_do_not_count():
    links = {A: [B, C, A], B: [A]}
    reach = impact_of_changes(ChangeSet((Delete(A, b""), Delete(B, b""))), lambda path: links[path])
    assert reach.scope.backlinks == (C,)
    assert describe_scope(reach.scope) == "write_delete: 2 files, 0 bytes, 1 backlink"


def test_backlinks_from_notes_that_are_changed_along_and_lose_the_link_do_not_count():
    removed = Delete(A, b"")
    rewritten, still = Update(B, b"[[a]]", b"[[other]] and a"), Update(C, b"[[a]]", b"[[a]] x")
    reach = impact_of_changes(ChangeSet((removed, rewritten, still)), lambda path: [B, C])
    assert reach.scope.backlinks == (C,)


def test_a_move_is_an_update_of_both_ends_and_lists_what_it_rewrites():
    change_set = ChangeSet((Move(A, NotePath("z.md"), b"", b""), Update(B, b"", b"x")))
    reach = impact_of_changes(change_set, none)
    assert reach.operation is Operation.UPDATE
    assert [str(part.path) for part in reach.parts] == ["a.md", "z.md", "x/b.md"]
    assert rewritten_by_move(change_set) == (B,)
    assert rewritten_by_move(ChangeSet((Update(B, b"", b"x"),))) == ()


def test_effects():
    outside = impact_of_effect(Effect("read", "List /a", (("folder", "/a"), ("pattern", "*"))))
    assert outside.scope.kind is ScopeKind.READ_OUT_OF_SCOPE and outside.scope.outside == ("/a",)
    assert impact_of_effect(Effect("unheard of", "x")).operation is Operation.EXECUTE


def test_common_folder():
    assert common_folder((B, C)) == "x" and common_folder((A, B)) == ""
    assert common_folder((NotePath("x/y/a.md"), NotePath("x/yz/b.md"))) == "x"
