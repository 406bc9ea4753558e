"""The tools of the category search, on the sample vault."""

from __future__ import annotations

import pytest

from app.permissions.caller import Caller, CallerKind
from app.toolkit.call import Call
from tests.support.tool_calls import AGENT, call


async def paths(workspace, query):
    outcome = await call(workspace, "search_notes", query=query, limit=100)
    assert outcome.success, outcome.error
    return {hit["path"] for hit in outcome.result["hits"]}


@pytest.mark.parametrize(
    ("query", "inside", "outside"),
    [
        ("gold chain", {"People/Galileo Galilei.md"}, {"Concepts/Longitude.md"}),
        ('"half a degree"', {"Events/Longitude Act.md"}, {"Instruments/H1.md"}),
        (
            "tag:claim",
            {"Claims/Both were needed.md", "Claims/Public money found the answer.md"},
            {"Sources/Board minutes.md"},
        ),
        ("tag:claim/economy", {"Claims/Public money found the answer.md"}, {"Claims/Both were needed.md"}),
        ("path:Events longitude", {"Events/Longitude Act.md"}, {"Concepts/Longitude.md"}),
        ("file:H4", {"Instruments/H4.md"}, {"Instruments/H1.md"}),
        ("harrison -tag:person", {"Concepts/Bimetallic strip.md"}, {"People/John Harrison.md"}),
        (
            "celatone OR sextant",
            {"People/Galileo Galilei.md", "Instruments/Sextant.md"},
            {"Instruments/H1.md"},
        ),
        ("下西洋", {"People/鄭和.md"}, {"Sources/過洋牽星圖.md"}),
    ],
)
async def test_the_search_language(workspace, query, inside, outside):
    matches = await paths(workspace, query)
    assert inside <= matches and not outside & matches


async def test_hits_contain_the_matching_line(workspace):
    outcome = await call(workspace, "search_notes", query="celatone")
    (hit,) = outcome.result["hits"]
    assert "celatone" in hit["lines"][0]["text"]


async def test_hits_are_listed_in_the_order_and_the_groups_that_are_asked_for(workspace):
    outcome = await call(workspace, "search_notes", query="longitude", limit=100, order="name")
    names = [hit["name"].casefold() for hit in outcome.result["hits"]]
    assert names == sorted(names) and outcome.result["groups"] == []
    wanted = {"query": "longitude", "limit": 100, "order": "name"}
    grouped = await call(workspace, "search_notes", **wanted, group="folder")
    assert grouped.result["total"] == outcome.result["total"]
    hits, groups = grouped.result["hits"], grouped.result["groups"]
    assert sum(group["count"] for group in groups) == grouped.result["total"]
    entries = [group["name"] for group in groups for _ in range(group["count"])]
    assert [hit["group"] for hit in hits] == entries
    assert all(hit["path"].rpartition("/")[0] == hit["group"] for hit in hits)
    bad = await call(workspace, "search_notes", query="longitude", order="random")
    assert bad.error["type"] == "invalid_parameters"


@pytest.mark.parametrize(
    ("query", "order", "first"),
    [
        ("path:Journal/2026", "dated", ["2026-03-16", "2026-03-09"]),
        ("path:Events/", "-dated", ["Paramore voyages", "Scilly disaster of 1707"]),
        ("path:People/ [born]", "-born", ["Gemma Frisius", "Mercator"]),
        ("type:hypothesis", "-confidence", ["Everything came from H4"]),
        ("path:Claims/", "backlinks", ["Timekeepers beat the Moon", "The Moon was good enough"]),
        ("path:People/", "backlinks", ["John Harrison"]),
    ],
)
async def test_hits_are_ordered_by_counts_and_by_properties(workspace, query, order, first):
    ordered = await call(workspace, "search_notes", query=query, order=order)
    assert [hit["name"] for hit in ordered.result["hits"]][: len(first)] == first
    turned = order.removeprefix("-") if order.startswith("-") else f"-{order}"
    reverse = await call(workspace, "search_notes", query=query, order=turned)
    assert {hit["path"] for hit in reverse.result["hits"]} == {hit["path"] for hit in ordered.result["hits"]}
    assert reverse.result["hits"][-1]["name"] == first[0]


async def test_the_links_of_private_notes_do_not_count_in_an_order_for_a_model(workspace):
    model = Caller(CallerKind.DESKTOP_AGENT, "Model", uses_model=True)
    wanted = {"query": "path:People/", "order": "backlinks"}

    async def ordered(caller):
        outcome = await workspace.runner.run(Call.of("search_notes", wanted, caller))
        return [hit["name"] for hit in outcome.result["hits"]]

    before = await ordered(model)
    for number in range(9):
        text = f"---\nai: private\n---\n[[{before[-1]}]]\n"
        await call(workspace, "create_note", name=f"Diary {number}", content=text)
    assert await ordered(model) == before
    assert (await ordered(AGENT)).index(before[-1]) < 3


async def test_a_bad_query_names_the_position(workspace):
    outcome = await call(workspace, "search_notes", query='tag:claim "open')
    assert outcome.error["type"] == "invalid_parameters"
    assert outcome.error["position"] >= 0 and outcome.error["expected"]


async def test_tags_are_and_or_or(workspace):
    outcome = await call(workspace, "search_by_tags", tags=["#instrument", "time"])
    assert outcome.result["notes"] == ["Concepts/Marine chronometer.md"]
    any_ = await call(workspace, "search_by_tags", tags=["instrument", "time"], match="any")
    assert any_.result["total"] > 5


async def test_properties_are_and_across_keys_and_or_in_a_list(workspace):
    outcome = await call(
        workspace, "search_by_properties", properties={"type": "source", "year": [1980, 1995]}
    )
    assert outcome.result["notes"] == ["Sources/Dava Sobel 1995.md", "Sources/Derek Howse 1980.md"]
    none = await call(workspace, "search_by_properties", properties={"type": "source", "year": None})
    assert none.result["notes"] == []


async def test_find_related_gives_the_reason_and_never_the_note_itself(workspace):
    outcome = await call(workspace, "find_related", name="H4", limit=30)
    related = {one["path"]: one for one in outcome.result["related"]}
    assert "Instruments/H4.md" not in related
    assert related["Instruments/K1.md"]["relationship"] in ("BACKLINK_FROM", "FORWARDLINK_TO")
    assert any(one["relationship"].startswith("SHARED_TAG:") for one in related.values())


async def test_tags_info_and_mentions(workspace):
    tags = {tag["tag"]: tag for tag in (await call(workspace, "list_tags")).result["tags"]}
    assert tags["claim"]["count"] == 9 and tags["claim/economy"]["parent"] == "claim"
    info = (await call(workspace, "vault_info")).result
    assert info["notes"] == 78 and info["failed"] == 0 and info["unresolved"] >= 2
    assert info["largest_folders"][0] == {"name": "Concepts", "count": 18}
    assert info["most_used_tags"][0] == {"tag": "person", "count": 18, "parent": None}
    index = workspace.index
    counts = {
        str(note.path): len({link.source for link in index.backlinks(note.path)} - {note.path})
        for note in index.notes()
    }
    most = sorted(counts.values(), reverse=True)[:5]
    assert [counts[path] for path in info["most_linked"]] == most
    assert (await call(workspace, "unlinked_mentions", name="James Cook")).success


async def test_semantic_search_that_is_off_is_an_error(workspace):
    outcome = await call(workspace, "semantic_search", query="clocks at sea")
    assert not outcome.success and "off" in outcome.message
