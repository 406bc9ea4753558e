"""Lists in the order of a property."""

from __future__ import annotations

import pytest

from tests.agent.language.test_dialog import fill, names, say, talk

__all__ = ["talk"]


@pytest.mark.parametrize(
    ("request_text", "found"),
    [("the best films", ["Dune", "Alien", "Brazil"]), ("the worst films", ["Brazil", "Alien", "Dune"])],
)
async def test_the_best_films_are_all_films_in_order(talk, request_text, found) -> None:
    scores = {"Alien": 8, "Brazil": 7, "Dune": 9}
    films = {f"Films__{name}": f"---\ntags: [film]\nscore: {score}\n---\n" for name, score in scores.items()}
    await fill(talk, **films, **{"Weekly - BestXTools": "Tools."})
    replies = await say(talk, request_text, "1")
    assert names(replies.results) == found


async def test_the_newest_of_listed_daily_notes_has_the_latest_day(talk) -> None:
    replies = await say(talk, "show my journal", "open the newest")
    assert names(replies.focus) == ["2026-03-16"]
