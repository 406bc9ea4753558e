"""Conditions on properties: types that are links, and several tags."""

from __future__ import annotations

import pytest

from tests.agent.language.test_dialog import fill, names, say, state, talk

__all__ = ["talk"]


async def fill_vault(talk) -> None:
    await fill(
        talk,
        Ann='---\ntype: "[[Authors]]"\ntags: [red, blue]\n---\nzebra\n',
        Ben='---\ntype: "[[Editors]]"\ntags: [red]\n---\nzebra\n',
        Atlas="---\nauthor: Ann\ntags: [blue]\n---\nzebra\n",
    )


@pytest.mark.parametrize(
    ("requests", "found"),
    [
        (("notes with type Authors",), ["Ann"]),
        (("find notes about zebra", "which of those are authors?"), ["Ann"]),
        (("notes with an author",), ["Atlas"]),
        (("find notes tagged red and blue",), ["Ann"]),
        (("finde Notizen mit den Tags red und blue",), ["Ann"]),
        (("find notes tagged red or blue",), ["Ann", "Atlas", "Ben"]),
    ],
)
async def test_a_type_is_no_property_and_tags_are_joined_as_said(talk, requests, found) -> None:
    await fill_vault(talk)
    await say(talk, *requests)
    assert sorted(names(state(talk).results)) == found
