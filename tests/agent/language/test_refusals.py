"""Requests that no tool can carry out are refused at once, and say what to do instead."""

from __future__ import annotations

import pytest

from app.agent.language.meaning.readings import ModelRequired, Reply
from tests.support.everyday_requests import read, sample_agent

COMPARE, TABLE = ModelRequired("Comparing notes"), ModelRequired("Making a table")
REMINDER = Reply("reminder", understood=False)
SECTION, LINE = Reply("section", understood=False), Reply("line", understood=False)


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("compare these two notes", COMPARE),
        ("please compare them with each other", COMPARE),
        ("vergleiche diese beiden Notizen", COMPARE),
        ("make a table of the claims with their confidence", TABLE),
        ("show me the sources as a table", TABLE),
        ("mach eine Tabelle der Quellen", TABLE),
        ("move the section Trial to H4", SECTION),
        ("can you move the heading Trial into the note H4?", SECTION),
        ("verschiebe den Abschnitt Probe nach H4", SECTION),
        ("make that bullet a task", LINE),
        ("turn the second line in H4 into a task", LINE),
        ("mach aus dem zweiten Punkt eine Aufgabe", LINE),
        ("wake me at six", REMINDER),
        ("erinnere mich am Freitag an den Zahnarzt", REMINDER),
    ],
)
def test_a_request_is_refused_at_once(request_text, expected) -> None:
    assert read(sample_agent(), request_text) == expected
