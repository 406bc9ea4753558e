"""Changes of the properties of the note in talk that a request states without their names."""

from __future__ import annotations

from datetime import datetime

import pytest

from app.agent.transcript import Question
from app.vault.markdown.frontmatter import read_frontmatter
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import fill, say, talk, text

__all__ = ["talk"]


async def conversation(talk, *requests: str) -> dict[str, str]:
    """Return the properties of a trip after some requests."""
    talk.workspace.agent._builtin._requests.now = lambda: datetime(2026, 3, 18, 12)
    trip = "---\nrating: 3\nprice: 40\ndate:\nbooked: true\nstart:\nend:\nloc: ['[[Oslo]]']\n---\nFjords.\n"
    done = "---\nstart: 2024-07-01\nend: 2024-07-05\n---\nIslands.\n"
    await fill(talk, Norway=trip, Greece=done, Oslo="A city.\n", Norway_2027=trip)
    await say(talk, *requests)
    return {
        key: str(value or "") for key, value in read_frontmatter(text(talk, "Norway.md")).properties.items()
    }


@pytest.mark.parametrize(
    ("request_", "key", "value"),
    [
        ("rate this one 9", "rating", "9"),
        ("please rate it 4 now", "rating", "4"),
        ("price it at 12", "price", "12"),
        ("rate Norway 5", "rating", "5"),
        ("rate it with a 2", "rating", "2"),
    ],
)
async def test_a_verb_with_the_stem_of_a_property_sets_it(talk, request_, key, value) -> None:
    assert (await conversation(talk, "open Norway", request_))[key] == value


@pytest.mark.parametrize("request_", ["rate it", "price this one", "book it 3 May", "rate Norway 2027"])
async def test_a_verb_without_a_fitting_value_changes_nothing(talk, request_) -> None:
    after = await conversation(talk, "open Norway", request_)
    assert (after["rating"], after["price"], after["booked"]) == ("3", "40", "True")


@pytest.mark.parametrize(
    ("request_", "days"),
    [
        ("from 2 May 2026 to 9 May 2026", ("2026-05-02", "2026-05-09")),
        ("it's from 28 April 2026 until 9 May 2026", ("2026-04-28", "2026-05-09")),
    ],
)
async def test_a_period_sets_the_empty_first_and_last_day(talk, request_, days) -> None:
    after = await conversation(talk, "open Norway", request_)
    assert (after["start"], after["end"]) == days


@pytest.mark.parametrize(
    ("name", "request_", "days"),
    [
        ("Norway", "from 2 to 9 May", ("2026-05-02", "2026-05-09")),
        ("Greece", "from 2 May to 9 May", ("2024-05-02", "2024-05-09")),
        ("Greece", "vom 2. bis 9. Mai", ("2024-05-02", "2024-05-09")),
    ],
)
async def test_a_doubtful_period_is_the_first_option(talk, name, request_, days) -> None:
    after = await conversation(talk, f"open {name}", request_)
    assert isinstance(talk.items[-1], Question) and not after["start"]
    assert all(day in choices(talk)[0] for day in days) and "key=end" in choices(talk)[0]


@pytest.mark.parametrize(
    "request_", ["notes from 2 May to 9 May", "tasks from 2 May to 9 May", "move it from 2 May to 9 May"]
)
async def test_another_request_with_a_period_sets_no_days(talk, request_) -> None:
    after = await conversation(talk, "open Norway", request_)
    offered = choices(talk) if isinstance(talk.items[-1], Question) else []
    assert not after["start"] and not any("key=start" in own for own in offered)
