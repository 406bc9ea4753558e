"""Lists that have each word of a request are shown instead of asked about."""

from __future__ import annotations

import pytest

from app.agent.transcript import AgentText
from tests.agent.language.meaning.test_dialog import fill, say, talk

__all__ = ["talk"]
_BOATS = {
    "Dory": "status: moored\nharbor: Westport\nkeel_checked: true\ninsured: false",
    "Gull": "status: sailing\nharbor: Westport\nkeel_checked: false\ninsured: true",
    "Tern": "status: moored\nharbor: Eastbay\nkeel_checked: false\ninsured: true",
}


async def _shown(talk, *requests: str) -> set[str]:
    """Return the boats in the last answer."""
    notes = {f"Boats/{name}": f"---\n{text}\n---\n# {name}\n" for name, text in _BOATS.items()}
    await fill(talk, **notes, **{"Crew/Ann": "---\nharbor: Westport\nchecked: true\n---\n# Ann\n"})
    await say(talk, *requests)
    last = [own.text for own in talk.items if isinstance(own, AgentText)][-1:]
    return {name for name in (*_BOATS, "Ann") for own in last if f"|{name}]]" in own}


@pytest.mark.parametrize(
    ("requests", "names"),
    [
        (["which boats are moored now"], {"Dory", "Tern"}),
        (["which boats are still not insured?"], {"Dory"}),
        (["which boats haven't checked the keel"], {"Gull", "Tern"}),
        (["which boats are sailing", "and being moored"], {"Dory", "Tern"}),
        (["open Dory", "harbor is westport", "which boats are moored"], {"Dory", "Tern"}),
    ],
)
async def test_a_list_with_every_word_is_shown(talk, requests, names) -> None:
    assert await _shown(talk, *requests) == names


@pytest.mark.parametrize(
    "request_text",
    ["which boats are painted", "which moored boats lack a painted hull", "why are boats moored"],
)
async def test_a_list_that_leaves_out_a_word_is_not_shown(talk, request_text) -> None:
    assert await _shown(talk, request_text) != {"Dory", "Tern"}


async def test_a_list_that_denies_no_known_value_is_not_shown(talk) -> None:
    assert await _shown(talk, "which boats are not insured and over 5") != {*_BOATS}
