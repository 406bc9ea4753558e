"""Months without a year."""

from __future__ import annotations

from datetime import datetime

import pytest

from app.agent.comparison.date_changes import DateChanges
from app.agent.comparison.found_notes import FoundNotes
from app.agent.language.meaning.actions import ACTIONS
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import parse, serialize
from tests.agent.language.meaning.test_dialog import talk

__all__ = ["talk"]
PAST = "find [[date:>=2030-12-20] [date:<=2030-12-24]]"
COMING = "find [[date:>=2031-12-20] [date:<=2031-12-24]]"
VALUE = "set_property [@Fair] key=opens value={}"


@pytest.mark.parametrize(
    ("request_text", "line", "hits", "expected"),
    [
        ("fairs from 20 to 24 december", PAST, ("2031",), COMING),
        ("Märkte vom 20. bis 24. Dezember", PAST, ("2031",), COMING),
        ("fairs from 20 to 24 december", PAST, ("2030", "2031"), PAST),
        ("fairs from 20 to 24 december", PAST, (), PAST),
        ("fairs from 20 to 24 december 2030", PAST, ("2031",), PAST),
        ("set opens to 24 december", VALUE.format("2030-12-24"), ("opens:>",), VALUE.format("2031-12-24")),
        ("set opens to 24 december", VALUE.format("2030-12-24"), (), VALUE.format("2030-12-24")),
    ],
)
async def test_a_month_is_the_coming_one_if_notes_suggest_it(
    talk, request_text, line, hits, expected
) -> None:
    requests = talk.workspace.agent._builtin._requests
    requests.now = lambda: datetime(2031, 6, 1, 9)
    request = requests.request_of(request_text, DialogState())

    async def find(query: str):
        return {"Fair.md"} if any(hit in query for hit in hits) else set()

    reading = parse(line, lambda name: (f"{name}.md",), ACTIONS)
    likely = await DateChanges(FoundNotes(find), None).with_likely_year(reading, request)
    assert serialize(likely) == expected
