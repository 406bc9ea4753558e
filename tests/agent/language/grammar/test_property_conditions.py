"""Conditions on properties: types that are links, and several tags."""

from __future__ import annotations

import pytest

from tests.agent.language.meaning.test_dialog import fill, fill_library, names, say, state, talk

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


@pytest.mark.parametrize(
    ("requests", "found"),
    [
        (("= find [path:Library/]", "which of them are from before 2000?"), ["Alien", "Brazil"]),
        (("= find [path:Library/]", "welche davon sind von vor 2000?"), ["Alien", "Brazil"]),
        (("= find [path:Library/]", "only the ones from before 2010"), ["Alien", "Brazil", "Futurama"]),
        (("which notes were published between 2015 and 2022",), ["Inventing", "Machines"]),
        (("which notes were published before 2010",), ["Futurama"]),
    ],
)
async def test_dates_that_notes_state_are_not_those_of_changes(talk, requests, found) -> None:
    await fill_library(talk)
    await say(talk, *requests)
    assert sorted(names(state(talk).results)) == found


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("zeig alle Notizen mit price über 10.000", ["Barn"]),
        ("zeig alle Notizen mit price unter 10.000", ["Shed"]),
        ("find notes with price over 10,000", ["Barn"]),
        ("find notes with price over 9.500", ["Barn", "Shed"]),
    ],
)
async def test_groups_of_three_digits_are_read_as_in_their_language(talk, request_text, found) -> None:
    await fill(talk, Barn="---\nprice: 26300\n---\n", Shed="---\nprice: 2650\n---\n")
    await say(talk, request_text)
    assert sorted(names(state(talk).results)) == found
