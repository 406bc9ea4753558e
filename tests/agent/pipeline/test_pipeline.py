"""A pipeline stops at a failed step, whatever the step would have done with its notes."""

from __future__ import annotations

from app.agent.language.meaning.dialog import DialogState, OwnChange
from app.agent.language.meaning.readings import NoteSet, PipelineStep
from tests.support.pipeline_hosts import PreparedHost, run_step


async def test_nothing_is_undone_if_the_search_for_its_notes_fails():
    host = PreparedHost()
    dialog = DialogState(changes=(OwnChange(7, "add_tag", ("Other.md",)),))
    await run_step(host, PipelineStep("undo", NoteSet(query="tag:#clock")), dialog)
    assert [tool for tool, _ in host.calls] == ["search_notes"]
