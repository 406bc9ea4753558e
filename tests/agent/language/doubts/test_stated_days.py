"""A day that may be another one is a question."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.doubts.test_stated_values import fill_books
from tests.agent.language.meaning.test_dialog import say, talk

__all__ = ["talk"]


NOW = datetime(2026, 11, 29, 12)


@pytest.mark.parametrize(
    ("request_text", "task", "first", "second"),
    [
        ("add a task to Empty: clean the oven by the weekend", "clean the oven", "12-06", "11-29"),
        ("neue Aufgabe in Empty: Ofen putzen am Wochenende", "Ofen putzen", "12-06", "11-29"),
    ],
)
async def test_on_a_sunday_the_weekend_may_be_the_next_one(talk, request_text, task, first, second) -> None:
    talk.workspace.agent._builtin._requests.now = lambda: NOW
    await fill_books(talk)
    await say(talk, request_text)
    expected = [f'append [@Books/Empty] text="- [ ] {task} 📅 2026-{day}"' for day in (first, second)]
    assert choices(talk) == expected


async def test_the_other_order_of_a_day_in_the_past_is_offered(talk) -> None:
    talk.workspace.agent._builtin._requests.now = lambda: NOW
    await fill_books(talk)
    await say(talk, "add a task to Empty: pay by 3/12/26")
    assert choices(talk)[-1] == 'append [@Books/Empty] text="- [ ] pay 📅 2026-12-03"'
