"""Notes that requests name by words of their names in another order: "the 1891 census"."""

from __future__ import annotations

import pytest

from app.agent.language.meaning.dialog import DialogState
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
