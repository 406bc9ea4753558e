"""Notes that requests name by words of their names in another order: "the 1891 census"."""

from __future__ import annotations

from datetime import datetime

import pytest

from app.agent.language.meaning.dialog import DialogState
from app.agent.transcript import Question
from tests.agent.language.meaning.test_dialog import fill, names, say, state, talk

__all__ = ["talk"]


async def write_notes(talk) -> None:
    await fill(
        talk,
        Papers__Lease_1974_Mill_Lane="---\nrent: 40\n---\n",
        Papers__Lease_1981_Mill_Lane="---\nrent: 60\n---\n",
        Papers__Insurance_letter_Boat="Paid.\n",
        Papers__Blue_vase="---\nstate: open\n---\n",
        Papers__Red_vase="---\nstate: open\n---\n",
    )


@pytest.mark.parametrize(
    ("request_text", "path"),
    [
        ("tag the 1974 lease", "Papers/Lease 1974 Mill Lane.md"),
        ("what does it say on the 1981 lease", "Papers/Lease 1981 Mill Lane.md"),
        ("archive the boat insurance letter", "Papers/Insurance letter Boat.md"),
        ("öffne den 1974 Lease", "Papers/Lease 1974 Mill Lane.md"),
        ("list the mill lease", ""),
        ("open the notes on 1981", ""),
    ],
)
async def test_words_of_one_name_mean_its_note_in_any_order(talk, request_text, path) -> None:
    await write_notes(talk)
    request = talk.workspace.agent._builtin._requests.request_of(request_text, DialogState())
    notes = [mention.notes.notes for mention in request.mentions(request.tokens) if mention.notes]
    assert notes == ([(path,)] if path else [])


async def test_one_of_a_list_is_opened_though_notes_are_open(talk) -> None:
    await write_notes(talk)
    await say(talk, "= find [[state:open]]", "open the red one")
    last = state(talk).last.last
    assert last.action == "open" and names(last.target.notes) == ["Red vase"]


MEETINGS = {
    "Meetings__2026-03-02_Planning": "---\ndone: false\n---\nBuckets.\n",
    "Meetings__2026-03-05_Committee": "---\ndone: false\n---\nLockers.\n",
    "Meetings__2026-03-16_Planning": "---\ndone: false\n---\nCatalog.\n",
    "Meetings__2026-03-16_Call_with_Ines": "Prices.\n",
    "Meetings__2026-03-25_Planning": "Agenda.\n",
    "Protokolle__2026-03-05_Vorstand": "Boote.\n",
    "Walks__2026-03-05_Marsh": "Mud.\n",
}


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("open the committee meeting of 5 march", "2026-03-05 Committee"),
        ("open mondays planning", "2026-03-16 Planning"),
        ("open the planning of Monday", "2026-03-16 Planning"),
        ("open the March 2 planning", "2026-03-02 Planning"),
        ("add the tag done to the planning from march 2", "2026-03-02 Planning"),
        ("set done to true in the committee minutes of march 5", "2026-03-05 Committee"),
        ("summarize the meeting of 5 march", "2026-03-05 Committee"),
        ("open the walk of march 5", "2026-03-05 Marsh"),
        ("open Monday's call", "2026-03-16 Call with Ines"),
        ("öffne das Planning vom 2. März", "2026-03-02 Planning"),
        ("öffne die Vorstandssitzung vom 5. März", "2026-03-05 Vorstand"),
    ],
)
async def test_a_day_and_words_of_a_name_mean_its_note(talk, request_text, found) -> None:
    talk.workspace.agent._builtin._requests.now = lambda: datetime(2026, 3, 18, 12)
    await fill(talk, **MEETINGS)
    await say(talk, request_text)
    assert names(state(talk).last.last.target.notes) == [found]


async def test_one_of_several_notes_with_the_day_and_the_words_is_asked_for(talk) -> None:
    talk.workspace.agent._builtin._requests.now = lambda: datetime(2026, 3, 18, 12)
    await fill(talk, **MEETINGS)
    await say(talk, "delete the meeting of march 16")
    assert isinstance(talk.items[-1], Question)
    labels = " ".join(choice.label for choice in talk.items[-1].choices)
    assert "Planning" in labels and "Ines" in labels


@pytest.mark.parametrize(
    "request_text",
    [
        "the notes about planning from march 2",
        "open the committee council of march 5",
        "open the planning of march 3",
        "open the marsh recipe of march 5",
    ],
)
async def test_other_words_or_another_day_mean_no_note_of_a_day(talk, request_text) -> None:
    talk.workspace.agent._builtin._requests.now = lambda: datetime(2026, 3, 18, 12)
    await fill(talk, **MEETINGS)
    request = talk.workspace.agent._builtin._requests.request_of(request_text, DialogState())
    words = request.tokens[next(at for at, own in enumerate(request.tokens) if own.key == "the") :]
    assert request.set_parser().find_named(words) is None
