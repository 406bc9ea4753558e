"""All unlinked mentions of a note become links in one change set, on the sample vault."""

from __future__ import annotations

import threading

from app.permissions.caller import Caller, CallerKind
from app.toolkit.call import Call
from app.vault.path import NotePath

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Built-in agent", uses_model=False)


async def test_mentions_are_linked_and_a_note_deleted_meanwhile_is_left_out(workspace, approver):
    sources = {
        mention.source for mention in workspace.index.unlinked_mentions(NotePath("Concepts/Greenwich.md"))
    }
    deleted, *others = sorted(sources)
    assert others
    (workspace.root / str(deleted)).unlink()
    outcome = await workspace.runner.run(Call.of("link_mentions", {"name": "Greenwich"}, AGENT))
    assert outcome.success and len(approver.asked) == 1
    assert outcome.result["notes"] == [str(path) for path in others]
    assert [text.partition(":")[0] for text in outcome.result["left_out"]] == [str(deleted)]
    for path in others:
        assert b"[[Greenwich" in workspace.store.read(path)


async def test_the_mentions_of_a_note_that_is_not_indexed_are_unknown(unwatched_workspace):
    (unwatched_workspace.root / "Quay.md").write_text("Boats.\n", "utf-8")
    names_listed = threading.Event()

    def stop_before_reading(progress):
        if progress.phase == "read":
            names_listed.set()

    report = await unwatched_workspace.index.scan(stop_before_reading, names_listed.is_set)
    assert report.cancelled
    outcome = await unwatched_workspace.runner.run(Call.of("link_mentions", {"name": "Quay"}, AGENT))
    assert not outcome.success and outcome.error["type"] == "not_found"
    assert "not in the index yet" in outcome.message


async def test_a_mention_in_a_table_is_linked_without_a_new_cell(workspace):
    path = NotePath("Ports.md")
    (workspace.root / "Ports.md").write_text("Port | Note\n--- | ---\nnear greenwich | old\n", "utf-8")
    await workspace.index.refresh([path])
    assert (await workspace.runner.run(Call.of("link_mentions", {"name": "Greenwich"}, AGENT))).success
    expected = b"Port | Note\n--- | ---\nnear [[Greenwich\\|greenwich]] | old\n"
    assert workspace.store.read(path) == expected
