"""The negation of a request is part of the search."""

from __future__ import annotations

import pytest

from tests.agent.language.meaning.test_dialog import fill, names, say, talk

__all__ = ["talk"]


@pytest.mark.parametrize(
    ("request_text", "query"),
    [
        ("which pages haven't been touched in 2020?", "modified:<2020-01-01"),
        ("notes not changed since March 2020", "modified:<2020-03-01"),
        ("claims that were not edited in 2020", "path:Claims/ modified:<2020-01-01"),
        ("notes untouched since March 2020", "modified:<2020-03-01"),
        ("welche Notizen wurden seit März 2020 nicht geändert?", "modified:<2020-03-01"),
        ("which notes created in 2020 have not been edited?", "created:>=2020-01-01 created:<=2020-12-31"),
        ("notes changed in 2020", "modified:>=2020-01-01 modified:<=2020-12-31"),
    ],
)
async def test_a_time_is_negated_with_the_change(talk, request_text, query) -> None:
    replies = await say(talk, request_text)
    assert replies.last is not None and replies.last.last.target.query == query


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("which notes have no rating?", ["Empty", "Missing"]),
        ("welche Notizen haben keine Bewertung?", ["Empty", "Missing"]),
        ("which notes have no rating field?", ["Missing"]),
    ],
)
async def test_an_empty_value_counts_as_missing(talk, request_text, found) -> None:
    await fill(
        talk,
        Zine__Missing="x\n",
        Zine__Empty="---\nrating:\n---\n",
        Zine__Rated="---\nrating: 7\n---\n",
        Templates__Zine="---\nother:\n---\n",
    )
    replies = await say(talk, request_text)
    query = replies.last.last.target.query
    paths = {str(path) for path in await talk.workspace.index.matching(f"{query} path:Zine/ ")}
    assert sorted(names(paths)) == found
    assert ("-path:Templates/" in query) is ("Empty" in found)
