"""The visibility of the journal for tools."""

from __future__ import annotations

import pytest

from app.errors import NotFoundError
from app.permissions.caller import Caller, CallerKind
from app.toolkit.call import Call
from app.toolkit.history_view import HistoryView
from app.vault.changes import ChangeSet, Update
from app.vault.path import NotePath

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Agent", turn="t")
TEA, SECRET = NotePath("Tea.md"), NotePath("Secret.md")


@pytest.fixture
def view(bench):
    def of(caller):
        sight = bench.runner._visibility.of(caller, "note_history")
        return HistoryView(bench.journal, bench.audit, bench.runner.stores, caller, sight)

    return of


async def save(bench, name, text):
    before = (bench.root / name).read_bytes()
    return await bench.runner.run(Call.save(NotePath(name), before, text.encode()))


async def test_versions_and_restore(bench, view):
    await save(bench, "Tea.md", "new\n")
    history = view(AGENT)
    newest, oldest = history.versions(TEA)[0], history.versions(TEA)[-1]
    assert history.content(TEA, newest.hash) == b"new\n"
    (change,) = history.plan_restore(TEA, oldest.hash).changes
    assert change.before == b"new\n" and b"Hot water" in change.after


async def test_the_history_of_a_private_note_is_private(bench, view):
    before = bench.text("Secret.md")
    await save(bench, "Secret.md", before + "more\n")
    own = view(Caller.user()).versions(SECRET)
    assert len(own) == 2 and view(AGENT).versions(SECRET) == ()
    for version in own:
        assert b"treasure" in view(Caller.user()).content(SECRET, version.hash)
        with pytest.raises(NotFoundError):
            view(AGENT).content(SECRET, version.hash)
        with pytest.raises(NotFoundError):
            view(AGENT).plan_restore(SECRET, version.hash)
    assert view(AGENT).commits() == () and len(view(Caller.user()).commits()) == 1


async def test_a_version_from_before_a_note_was_private_stays_hidden_while_it_is(bench, view):
    await save(bench, "Tea.md", "---\nai: private\n---\nsecret tea\n")
    assert view(AGENT).versions(TEA) == () and view(AGENT).commits() == ()


async def test_a_summary_that_counts_hidden_notes_is_not_shown(bench, view):
    """The number of rewritten links in a private note is shown only to permitted callers."""
    tea, secret = bench.store.read(TEA), bench.store.read(SECRET)
    both = (Update(TEA, tea, tea + b"x\n"), Update(SECRET, secret, secret + b"x\n"))
    bench.store.commit(ChangeSet.of(*both, summary="Rename Secret, 2 links"), author="You")
    bench.store.commit(ChangeSet.of(Update(TEA, tea + b"x\n", b"new\n"), summary="Edit Tea"), author="You")
    assert [one.summary for one in view(AGENT).versions(TEA)][:2] == ["Edit Tea", "Changed"]
    own = [one.summary for one in view(Caller.user()).versions(TEA)][:2]
    assert own == ["Edit Tea", "Rename Secret, 2 links"]


async def test_commits_by_entry_and_by_turn(bench, view):
    outcome = await bench.call("make", {"name": "A"}, AGENT)
    assert view(AGENT).commits_of_entry(outcome.entry) == (outcome.commit,)
    assert view(AGENT).commits_of_turn("t") == (outcome.commit,)
    assert view(AGENT).commits_of_turn("") == ()
    with pytest.raises(NotFoundError):
        view(AGENT).commits_of_entry(999)
