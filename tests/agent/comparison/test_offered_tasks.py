"""Options that name tasks instead of words for them."""

from __future__ import annotations

import pytest

from app.agent.comparison.offered_tasks import OfferedTasks
from app.agent.language.meaning.actions import ACTIONS
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import parse, serialize
from app.agent.language.meaning.readings import ClarificationOption
from app.index.records import TaskRecord
from app.vault.path import NotePath
from tests.agent.language.meaning.test_dialog import fill, say, talk

__all__ = ["talk"]
TASKS = (
    TaskRecord(NotePath("Barn.md"), 2, False, "Rinse the hose of the pump 📅 2031-12-04"),
    TaskRecord(NotePath("Barn.md"), 3, False, "Paint the gate"),
    TaskRecord(NotePath("Field.md"), 5, False, "Paint the fence"),
    TaskRecord(NotePath("Field.md"), 6, True, "Rinse the trough"),
    TaskRecord(NotePath("Yard.md"), 1, True, "Sweep"),
    TaskRecord(NotePath("Yard.md"), 2, False, "Sweep"),
)


def offered(talk, *lines: str, open_note: str = "") -> list[tuple[str, float]]:
    """Return the readings and shares of options, each given as a line, after tasks were named."""
    agent = talk.workspace.agent._builtin
    options = []
    for line in lines:
        reading = parse(line, lambda name: (f"{name}.md",), ACTIONS)
        assert reading is not None
        options.append(ClarificationOption(line, reading, 0.6 / len(lines)))
    request = agent._requests.request_of("any request", DialogState().with_notes(open_note))
    named = OfferedTasks(lambda: TASKS).name_tasks(options, request)
    return [(serialize(option.reading), round(option.share, 3)) for option in named]


HOSE = 'complete_task [@Barn] query="Rinse the hose of the pump 📅 2031-12-04"'


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["complete_task query=hose"], [HOSE]),
        # Words for no task of the note mean the only task elsewhere.
        (["complete_task [@Field] query=hose"], [HOSE]),
        (["reopen_task query=trough"], ['reopen_task [@Field] query="Rinse the trough"']),
        # An equal task that is completed does not count.
        (["complete_task query=sweep"], ["complete_task [@Yard] query=Sweep"]),
        # An open task can't be opened again, so these words mean none.
        (["reopen_task query=gate", "find [gate]"], ["find [gate]"]),
        (["complete_task query=unknown", "find [unknown]"], ["find [unknown]"]),
        (["complete_task query=unknown"], ["complete_task query=unknown"]),
        # Fewer words that also mean another task are a vague form of the same option.
        (
            ["complete_task query=paint", 'complete_task query="paint gate"'],
            ['complete_task [@Barn] query="Paint the gate"'],
        ),
        (
            ["find [paint]", "complete_task [@Barn] which=all"],
            ["find [paint]", "complete_task [@Barn] which=all"],
        ),
    ],
)
async def test_options_name_the_task_that_they_change(talk, lines, expected) -> None:
    assert [line for line, _ in offered(talk, *lines)] == expected


@pytest.mark.parametrize(("open_note", "first"), [("", "Barn"), ("Field.md", "Field")])
async def test_words_for_a_few_tasks_become_an_option_for_each_in_focus_first(talk, open_note, first) -> None:
    found = offered(talk, "complete_task query=paint", open_note=open_note)
    assert len(found) == 2 and [share for _, share in found] == [0.3, 0.3]
    assert found[0][0].startswith(f"complete_task [@{first}]")


async def test_without_tasks_options_stay_as_they_are() -> None:
    option = ClarificationOption("x", parse("complete_task query=hose", lambda name: (), ACTIONS), 0.5)
    assert OfferedTasks(None).name_tasks([option], None) == (option,)


async def test_a_task_is_labeled_without_its_date(talk) -> None:
    await fill(talk, Barn="# Barn\n- [ ] Rinse the hose 📅 2031-12-04\n- [ ] Rinse the hose reel\n")
    await say(talk, "open Barn", "rinse the hose can wait until 2031-12-24")
    label = talk.items[-1].choices[0].label
    assert label == "reschedule task · Barn · task: Rinse the hose · due: 2031-12-24"


def test_in_a_vault_with_too_many_tasks_no_option_is_left_out(talk, monkeypatch) -> None:
    monkeypatch.setattr("app.agent.comparison.offered_tasks.MAX_TASKS", len(TASKS))
    lines = ["complete_task query=unknown", "find [unknown]"]
    assert [line for line, _ in offered(talk, *lines)] == lines
