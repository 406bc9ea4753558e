"""All unlinked mentions of a note become links in one change set, on the sample vault."""

from __future__ import annotations

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
