"""Tasks that requests describe in other words than those of the task."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import fill, say, talk, text

__all__ = ["talk"]
BARN = "# Barn\n- [ ] Rinse the hose of the pump 📅 2031-12-04\n- [ ] Grain\n- [x] Sweep the loft\n"


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("the pump hose is done", "- [x] Rinse the hose of the pump 📅 2031-12-04"),
        ("mark rinsing the hose as done", "- [x] Rinse the hose of the pump 📅 2031-12-04"),
        ("tick grain", "- [x] Grain"),
        ("put sweep the loft back to open", "- [ ] Sweep the loft"),
        ("grain by 2031-12-06 instead", "- [ ] Grain 📅 2031-12-06"),
        ("move rinse the hose a week later", "- [ ] Rinse the hose of the pump 📅 2031-12-11"),
        ("grain erledigt", "- [x] Grain"),
        ("hose ist rinse", "- [x] Rinse the hose of the pump 📅 2031-12-04"),
        ("rinse the hose: make it 2031-12-08", "- [ ] Rinse the hose of the pump 📅 2031-12-08"),
        ("the hose is rinsed", "- [x] Rinse the hose of the pump"),
    ],
)
async def test_a_task_of_the_open_note_is_described(talk, request_text, line) -> None:
    await fill(talk, Barn=BARN)
    await say(talk, "open Barn", request_text)
    assert line in text(talk, "Barn.md")


@pytest.mark.parametrize(
    "request_text",
    ["is the hose rinsed?", "the roof is rinsed", "which hose is done", "hose of the pump by train"],
)
async def test_other_words_change_no_task(talk, request_text) -> None:
    await fill(talk, Barn=BARN)
    await say(talk, "open Barn", request_text)
    asked = choices(talk) if isinstance(talk.items[-1], Question) else ["no question"]
    assert text(talk, "Barn.md") == BARN and "_task [@Barn]" not in asked[0]


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("I have finished with the pump hose", "Replace the hose of the pump (12 mm)"),
        ("finish half grain", "Feed them half of the grain"),
        ("I have finished the new ropes", "Order a new rope for the hayloft"),
        ("mark mixing the feed as done", "Ask Ann how to mix the feed"),
        ("ich habe gates fertig", "Paint the gates in the yard"),
    ],
)
async def test_a_longer_task_elsewhere_is_offered(talk, request_text, line) -> None:
    await fill(talk, Barn=f"# Barn\n- [ ] {line}\n")
    await say(talk, "open H1", request_text)
    assert "[ ]" in text(talk, "Barn.md") and "complete_task [@Barn]" in choices(talk)[0]


@pytest.mark.parametrize(
    "request_text", ["mark rinsing the pump hoses as done", "mark the rinse of pump hoses as done"]
)
async def test_a_task_elsewhere_that_has_no_other_words_is_completed(talk, request_text) -> None:
    await fill(talk, Barn="# Barn\n- [ ] Rinse the pump hose 📅 2031-12-04\n")
    await say(talk, "open H1", request_text)
    assert "- [x] Rinse the pump hose" in text(talk, "Barn.md")


@pytest.mark.parametrize(
    "request_text",
    [
        "the drawer in the barn next to the stove and the shelf by next Friday",
        "I finished buying chlorine for the swimming pool",
        "der Ofen ist fertig",
    ],
)
async def test_a_request_about_no_task_searches_the_index_of_tasks_twice_at_most(talk, request_text) -> None:
    await fill(talk, Barn=BARN)
    agent = talk.workspace.agent._builtin
    find, queries = agent._found._find_notes, []

    async def recorded(query: str):
        queries.append(query)
        return await find(query)

    agent._found._find_notes = recorded
    await say(talk, request_text)
    of_tasks = [query for query in queries if "task-todo:(" in query]
    assert 1 <= len(of_tasks) <= 2 and not any("/" in query for query in of_tasks)


async def test_a_task_that_is_named_like_a_note_is_asked_about(talk) -> None:
    await fill(talk, Barn="# Barn\n- [ ] Read the Derek Howse chapter\n")
    await say(talk, "mark the task Read Derek Howse as done")
    assert "[ ]" in text(talk, "Barn.md") and isinstance(talk.items[-1], Question)


async def test_a_day_after_the_words_of_a_task_elsewhere_is_asked_about(talk) -> None:
    await fill(talk, Barn=BARN)
    await say(talk, "rinse the hose of the pump by 2031-12-08")
    assert text(talk, "Barn.md") == BARN and "reschedule_task [@Barn]" in choices(talk)[0]
