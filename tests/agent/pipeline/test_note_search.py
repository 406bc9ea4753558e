"""A set of notes is searched for until all of its notes are found."""

from __future__ import annotations

from app.agent.language.meaning.readings import NoteSet, PipelineStep
from app.toolkit.outcome import ToolOutcome
from tests.support.pipeline_hosts import PreparedHost, run_step

PATHS = [f"{number}.md" for number in range(2500)]


def page(arguments):
    start = arguments.get("offset", 0)
    hits = [{"path": path} for path in PATHS[start : start + arguments["limit"]]]
    return ToolOutcome(True, {"hits": hits, "total": len(PATHS)})


async def test_given_notes_are_narrowed_by_all_hits_of_a_search():
    host = PreparedHost(page)
    target = NoteSet(query="tea", notes=("1700.md", "Other.md", "2.md"))
    dialog = await run_step(host, PipelineStep("find", target))
    assert dialog.results == ("1700.md", "2.md") and len(host.calls) == 3
