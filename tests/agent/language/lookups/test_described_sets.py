"""Sets of notes that words describe by several conditions: "vegetarian mains", "unpaid invoices"."""

from __future__ import annotations

import pytest

from tests.agent.language.meaning.test_dialog import answers, fill, names, order, say, state, talk, text
from tests.agent.language.test_described_notes import note

__all__ = ["talk"]
RECIPES = {
    "Recipes__Dal": note(course="main", cuisine="Indian", vegetarian="true", cooked="2026-02-01"),
    "Recipes__Gnocchi": note(course="main", cuisine="Italian", vegetarian="true"),
    "Recipes__Ragu": note(course="main", cuisine="Italian", vegetarian="false", cooked="2026-01-04"),
    "Recipes__Stew": note(course="main", cuisine="French"),
    "Recipes__Tart": note(course="dessert", cuisine="French", vegetarian="true", cooked="2025-12-01"),
}


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("all vegetarian mains", ["Dal", "Gnocchi"]),
        ("show me all vegetarian recipes", ["Dal", "Gnocchi", "Tart"]),
        ("italian or french mains", ["Gnocchi", "Ragu", "Stew"]),
        ("italian and french mains", ["Gnocchi", "Ragu", "Stew"]),
        ("mains that are not italian or french", ["Dal"]),
        ("mains that are not italian and french", ["Dal"]),
        ("mains that are not indian, italian or french", []),
        ("which recipes are not vegetarian?", ["Ragu", "Stew"]),
        ("mains that are not vegetarian", ["Ragu", "Stew"]),
        ("which recipes have I never cooked?", ["Gnocchi", "Stew"]),
        ("uncooked recipes", ["Gnocchi", "Stew"]),
        ("welche Rezepte sind nicht vegetarisch?", ["Ragu", "Stew"]),
    ],
)
async def test_every_condition_counts_and_a_missing_one_means_not(talk, request_text, found) -> None:
    await fill(talk, **RECIPES)
    replies = await say(talk, request_text)
    assert sorted(names(replies.results)) == found


async def test_a_change_keeps_every_condition(talk) -> None:
    await fill(talk, **RECIPES)
    await order(talk, "tag all vegetarian mains with meatless")
    tagged = [name for name in RECIPES if "meatless" in text(talk, f"{name.replace('__', '/')}.md")]
    assert tagged == ["Recipes__Dal", "Recipes__Gnocchi"]


async def test_a_change_excludes_each_of_two_values(talk) -> None:
    await fill(talk, **RECIPES)
    await order(talk, "tag all vegetarian mains that are not italian or french with meatless")
    tagged = [name for name in RECIPES if "meatless" in text(talk, f"{name.replace('__', '/')}.md")]
    assert tagged == ["Recipes__Dal"]


async def test_another_value_replaces_the_listed_one(talk) -> None:
    await fill(talk, **RECIPES)
    await say(talk, "italian mains", "and the french ones?")
    assert names(state(talk).results) == ["Stew"]


MINUTES = {
    "Minutes__2026-03-05_Committee": "Budget\n",
    "Minutes__2026-03-12_Council": "Music\n",
    "Species__Tawny": note(tags="[bird/owl]"),
    "Projects__Barn_owl_boxes": "Oak\n",
}


async def test_a_plural_names_a_nested_tag_and_names_with_it(talk) -> None:
    await fill(talk, **MINUTES)
    replies = await say(talk, "list owls")
    found = sorted(name.replace("_", " ") for name in names(replies.results))
    assert found == ["Barn owl boxes", "Tawny"]


ORCHARD = {
    "Trees__Quince": note(tags="[sprayed, pot]", grower='"[[Alder Nursery]]"', grade="3", pruned_back="true"),
    "Trees__Medlar": note(tags="[slow-ripener]", grower='"[[Fern Bros]]"', pruned_back="false"),
    "Trees__Damson": note(tags="[pot]", grower='"[[Alder Nursery]]"', grade="5", pruned_back="true"),
    "Trees__Blossom": note(tags="[tree/early]", grade="4", pruned_back="true"),
}


@pytest.mark.parametrize(
    ("requests", "found"),
    [
        (("which of the trees are in pots?",), ["Damson", "Quince"]),
        (("trees not pruned back",), ["Medlar"]),
        (("show all alder trees",), ["Damson", "Quince"]),
        (("ungraded trees",), ["Medlar"]),
        (("all trees except medlar",), ["Blossom", "Damson", "Quince"]),
        (("alle Trees außer Medlar",), ["Blossom", "Damson", "Quince"]),
        (("list the trees", "which of them ripen slowly?"), ["Medlar"]),
        (("list the trees", "only the ungraded ones"), ["Medlar"]),
    ],
)
async def test_a_tag_or_a_value_precedes_a_search_for_the_word(talk, requests, found) -> None:
    await fill(talk, **ORCHARD)
    replies = await say(talk, *requests)
    assert sorted(names(replies.results)) == found


async def test_a_nested_tag_is_counted(talk) -> None:
    await fill(talk, **ORCHARD)
    await say(talk, "how many earlies do we have?")
    assert answers(talk)[-1] == "1 note."


async def test_a_word_that_only_begins_like_a_tag_is_searched_for(talk) -> None:
    await fill(talk, **ORCHARD)
    replies = await say(talk, "list the trees", "just the potash ones")
    assert "tag:" not in replies.last.last.target.query


BOATS = {
    "Boats__Heron": note(status="repairing", berth="Kiel", skipper='"[[Ida Brandt]]"'),
    "Boats__Tern": note(status="available", berth="Husum", skipper='"[[Ida Brandt]]"'),
    "Boats__Gull": note(status="läuft", berth="Kiel", skipper='"[[Jon Falk]]"'),
    "Skippers__Ida Brandt": note(town="Kiel"),
    "Skippers__Jon Falk": note(town="Husum"),
}


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("which boats are being repaired at the moment?", ["Heron"]),
        ("what boats are repairng right now", ["Heron"]),
        ("which boats are free just now?", ["Tern"]),
        ("which skippers live in Kiel?", ["Ida Brandt"]),
        ("welche Boats laufen gerade?", ["Gull"]),
        ("show me everything Ida Brandt skippers", ["Heron", "Tern"]),
    ],
)
async def test_a_list_is_described_in_other_words(talk, request_text, found) -> None:
    await fill(talk, **BOATS)
    replies = await say(talk, request_text)
    assert sorted(names(replies.results)) == found


@pytest.mark.parametrize("request_text", ["which boats are painted?", "which boats repel water in Kiel?"])
async def test_words_without_a_value_describe_no_list(talk, request_text) -> None:
    await fill(talk, **BOATS)
    replies = await say(talk, request_text)
    assert not any("status" in str(step.target) for own in [state(talk).last] if own for step in own.steps)
    assert sorted(names(replies.results)) not in (["Heron"], ["Tern"], ["Gull"])


async def test_only_a_question_has_other_forms_of_values(talk) -> None:
    await fill(talk, **BOATS)
    await say(talk, "call Ida")
    assert "[status:" not in str(talk.items[-1])
    replies = await say(talk, "which boats are being repaired at the moment?")
    assert names(replies.results) == ["Heron"]


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("which suppliers deliver on Tuesdays?", ["Fruit", "Mill"]),
        ("which suppliers don't deliver on Tuesdays?", ["Dairy", "Eggs"]),
        ("which orders are not delivered?", ["Cake"]),
    ],
)
async def test_a_checkbox_may_be_the_verb_of_another_property(talk, request_text, found) -> None:
    await fill(
        talk,
        Suppliers__Mill=note(delivery_days="[Tuesday]"),
        Suppliers__Fruit=note(delivery_days="[Tuesday, Friday]"),
        Suppliers__Eggs=note(delivery_days="[Wednesday]"),
        Suppliers__Dairy=note(delivery_days="[Monday]"),
        Orders__Cake=note(delivery="false"),
        Orders__Buns=note(delivery="true"),
    )
    replies = await say(talk, request_text)
    assert sorted(names(replies.results)) == found
