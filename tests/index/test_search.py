"""Searches return the right notes, order and lines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from typing import get_args

import pytest
import pytest_asyncio

from app.errors import QueryError, TimeoutExpiredError
from app.index import fts_hits, ranking
from app.index import search as search_module
from app.index.explanation import ExplanationNode
from app.index.query import parse
from app.index.query_ast import explain
from app.index.search_request import Order
from app.vault.path import NotePath
from tests.index.conftest import IndexedVault, MakeVault, vaults_in

FILES = {
    "Garden.md": "# Garden\n\nPlants need water.\nAnd light, too.\n\n## Tools\n\nA spade and a Rake.\n",
    "notes/Water.md": "Rain fills the garden pond.\n\n- [ ] buy a pump\n- [x] dig a hole\n",
    "notes/projects/Pond.md": """---
status: done
rating: 4
related: "[[Garden]]"
---
The pond. #inbox/now
""",
    "projects-old/Shed.md": """---
status: in progress
rating: 11
tags: [myjob/inbox]
empty:
---
saw, hammer
""",
    "Claims/Claim A.md": """---
type: hypothesis
confidence: 0.4
due: 2024-05-01
---
- supports [[Claim B]]
""",
    "Claims/Claim B.md": """---
aliases: [Bee]
done: true
---
Linked. See [[Water]] and [[Nowhere]]. #Inbox
""",
    "Alone.md": 'Naïve café, Straße, C++ and 10:30. "Quoted" text.\n',
    "中文.md": "知识管理是一种方法。\n第二行：双链笔记 and Obsidian。\n",
    "かな.md": "ノートを書く。カフェで。\n",
}


@pytest.fixture
async def vault(make_vault: MakeVault) -> IndexedVault:
    return await make_vault(FILES)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def unchanged_vault(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[IndexedVault]:
    """The same vault, for tests that only search."""
    async with vaults_in(tmp_path_factory.mktemp("searched")) as make:
        yield await make(FILES)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        # words
        ("garden ", "Garden, notes/Water, notes/projects/Pond"),
        ("GARDEN pond ", "notes/Water, notes/projects/Pond"),
        ("garden -pond ", "Garden"),
        ("gard", "Garden, notes/Water, notes/projects/Pond"),
        ("gard ", ""),
        ("gard* water ", "Garden, notes/Water"),
        ("spade OR pump ", "Garden, notes/Water"),
        ("(spade OR pump) plants ", "Garden"),
        ("-garden -claim -inbox ", "Alone, かな, 中文"),
        ("naive cafe ", "Alone"),
        ("STRASSE ", ""),
        ("straße ", "Alone"),
        ("10:30 ", "Alone"),
        ("c++ ", "Alone"),
        ("++ ", "Alone"),
        ("bee ", "Claims/Claim B"),
        # phrases
        ('"need water" ', "Garden"),
        ('"water need" ', ""),
        (r'"\"Quoted\" text"', "Alone"),
        ('"claim a" ', "Claims/Claim A"),
        # scripts without spaces
        ("知识", "中文"),
        ("管理 笔记 ", "中文"),
        ("理是", "中文"),
        ("识知", ""),
        ("カフェ", "かな"),
        ("ノート カフェ ", "かな"),
        # patterns
        ("/g[a-z]+den/", "Garden, notes/Water, notes/projects/Pond"),
        ("/^rain/", "notes/Water"),
        ("match-case:/^rain/", ""),
        ("/双.笔/", "中文"),
        ("pond /rai?n/", "notes/Water"),
        # fields
        ("file:gar ", "Garden"),
        ('file:.md -path:"/" ', "Alone, Garden, かな, 中文"),
        ("path:notes ", "notes/Water, notes/projects/Pond"),
        ("path:projects/ ", "notes/projects/Pond"),
        ("path:/^notes.*Pond/", "notes/projects/Pond"),
        ("file:(water OR alone) ", "Alone, notes/Water"),
        ("content:alone ", ""),
        ("content:(garden OR nothing) ", "Garden, notes/Water, notes/projects/Pond"),
        ("content:/^The/", "notes/projects/Pond"),
        # lines, blocks, sections
        ("line:(plants water) ", "Garden"),
        ("line:(plants light) ", ""),
        ("block:(plants light) ", "Garden"),
        ("block:(plants spade) ", ""),
        ("section:(tools rake) ", "Garden"),
        ("section:(plants rake) ", ""),
        ("line:(and -light) ", "Alone, Claims/Claim B, Garden, 中文"),
        ("-line:(and -light) ", "Claims/Claim A, notes/Water, notes/projects/Pond, projects-old/Shed, かな"),
        # tasks
        ("task:", "notes/Water"),
        ("task:dig ", "notes/Water"),
        ("task-todo:pump ", "notes/Water"),
        ("task-todo:dig ", ""),
        ("task-done:dig ", "notes/Water"),
        # case and spelling
        ("match-case:Rake ", "Garden"),
        ("match-case:rake ", ""),
        ("match-case:(Rake spade) ", "Garden"),
        ("match-case:line:(Rake spade) ", "Garden"),
        ("match-case:(rake OR Plants) ", "Garden"),
        ("match-case:ignore-case:RAKE ", "Garden"),
        ("match-case:file:garden ", ""),
        # tags
        ("tag:inbox ", "Claims/Claim B, notes/projects/Pond"),
        ("tag:#INBOX/now ", "notes/projects/Pond"),
        ("tag:inb ", ""),
        ("tag:inb* ", "Claims/Claim B, notes/projects/Pond"),
        ("tag:myjob ", "projects-old/Shed"),
        # properties
        ("[status]", "notes/projects/Pond, projects-old/Shed"),
        ("[STATUS:Done]", "notes/projects/Pond"),
        ("[status:progress]", "projects-old/Shed"),
        ('[status:"in progress"]', "projects-old/Shed"),
        ("[status:prog]", ""),
        ("[status:done OR progress]", "notes/projects/Pond, projects-old/Shed"),
        ("[status:-done]", "projects-old/Shed"),
        ("[rating:<5]", "notes/projects/Pond"),
        ("[rating:>=11]", "projects-old/Shed"),
        ("[rating:4.0]", "notes/projects/Pond"),
        ("[due:<2024-06]", "Claims/Claim A"),
        ("[due:>2024-05-01]", ""),
        ("[empty:null]", "projects-old/Shed"),
        ("[status:null]", ""),
        ("[done:true]", "Claims/Claim B"),
        ("[related:Garden]", "notes/projects/Pond"),
        ("[status:/^in/]", "projects-old/Shed"),
        ("-[status] path:p ", ""),
        # notes and links
        ("type:hypothesis ", "Claims/Claim A"),
        ("type:(source OR hypothesis) ", "Claims/Claim A"),
        ("rel:supports ", "Claims/Claim A"),
        ("rel:SUPPORTS path:claims ", "Claims/Claim A"),
        ('backlinks:"" path:claims', "Claims/Claim B"),
        ('-backlinks:"" path:claims', "Claims/Claim A"),
        ("backlinks:supports ", "Claims/Claim B"),
        ("-backlinks:supports path:claims", "Claims/Claim A"),
        ("backlinks:contradicts ", ""),
        ('links-to:"Claim B"', "Claims/Claim A"),
        ("links-to:nowhere ", "Claims/Claim B"),
        ('linked-from:"Claim B"', "notes/Water"),
        ("links-to:(garden OR water) ", "Claims/Claim B, notes/projects/Pond"),
        ("orphan:", "Alone, projects-old/Shed, かな, 中文"),
        ("orphan: hammer ", "projects-old/Shed"),
        ("unresolved:", "Claims/Claim B"),
        ("untagged: path:notes", "notes/Water"),
        ('""', ", ".join(sorted(path.removesuffix(".md") for path in FILES))),
    ],
)
@pytest.mark.asyncio(loop_scope="module")
async def test_queries_find_matching_notes(unchanged_vault: IndexedVault, query: str, names: str) -> None:
    assert ", ".join(await unchanged_vault.found(query)) == names


async def test_a_name_weighs_more_than_a_text(make_vault: MakeVault) -> None:
    vault = await make_vault(
        {
            "a.md": "solar " * 3 + "filler " * 30,
            "Solar.md": "filler " * 30,
            "b.md": "# Solar\n" + "filler " * 30,
        }
    )
    page = await vault.index.search("solar ")
    assert [hit.path.text for hit in page.hits] == ["Solar.md", "b.md", "a.md"]
    assert page.hits[0].score > page.hits[-1].score


async def test_pages_of_hits(make_vault: MakeVault) -> None:
    vault = await make_vault({f"{number:02}.md": "same text" for number in range(30)})
    for query in ("same ", "[x] OR same ", "/same/"):
        seen: list[str] = []
        for offset in (0, 12, 24):
            page = await vault.index.search(query, limit=12, offset=offset)
            assert page.total == 30
            seen += [hit.path.text for hit in page.hits]
        assert len(seen) == len(set(seen)) == 30


async def test_very_many_hits_have_those_with_the_words_in_their_names_first(
    make_vault: MakeVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fts_hits, "MAX_RANKED_HITS", 10)
    files = {f"{number:02}.md": "common" + " banned" * (number % 3 == 0) for number in range(30)}
    files |= {f"common {number}.md": "common" + " banned" * (number == 1) for number in range(4)}
    vault = await make_vault(files)
    seen = []
    for offset in range(0, 30, 5):
        page = await vault.index.search("common -banned ", limit=5, offset=offset)
        assert page.total == 23
        seen += [hit.path.stem_path for hit in page.hits]
    assert set(seen[:3]) == {"common 0", "common 2", "common 3"}
    assert sorted(seen) == sorted(
        path.removesuffix(".md") for path, text in files.items() if "banned" not in text
    )


def lines(vault_hits: Iterable[object]) -> list[tuple[int, str, list[str]]]:
    return [
        (snippet.line, snippet.text, [snippet.text[slice(*mark)] for mark in snippet.marks])
        for hit in vault_hits
        for snippet in hit.snippets
    ]


async def test_snippets_are_lines_with_marks(vault: IndexedVault) -> None:
    page = await vault.index.search("plants light", limit=5)
    assert lines(page.hits) == [(3, "Plants need water.", ["Plants"]), (4, "And light, too.", ["light"])]


async def test_the_tasks_that_are_shown_match_the_case(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "- [ ] Buy tea\n- [ ] buy rice\n"})
    for query, numbers in (
        ("match-case:task:Buy ", [1]),
        ("match-case:ignore-case:task:Buy ", [1, 2]),
        ("task:Buy ", [1, 2]),
    ):
        page = await vault.index.search(query)
        assert [number for number, _, _ in lines(page.hits)] == numbers, query


async def test_snippets_mark_accents_and_cjk_where_they_stand(vault: IndexedVault) -> None:
    assert lines((await vault.index.search("cafe ")).hits) == [
        (1, 'Naïve café, Straße, C++ and 10:30. "Quoted" text.', ["café"])
    ]
    assert lines((await vault.index.search("双链 obsidian")).hits) == [
        (2, "第二行：双链笔记 and Obsidian。", ["双链", "Obsidian"])
    ]
    assert lines((await vault.index.search("/第.行/")).hits)[0][2] == ["第二行"]


async def test_a_phrase_over_the_end_of_a_line_is_marked_up_to_it(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "# A clear blue  \n\nsky above\n\nblue sky\n"})
    assert lines((await vault.index.search('"blue sky"')).hits) == [
        (1, "# A clear blue", ["blue"]),
        (5, "blue sky", ["blue sky"]),
    ]


async def test_a_long_line_is_cut_around_the_mark(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "before " * 100 + "needle" + " after" * 100})
    ((_, text, marked),) = lines((await vault.index.search("needle")).hits)
    assert len(text) <= 202
    assert text.startswith("…")
    assert text.endswith("…")
    assert marked == ["needle"]


async def test_an_excluded_word_is_not_marked(vault: IndexedVault) -> None:
    assert [marked for *_, marked in lines((await vault.index.search("garden -pond ")).hits)] == [["Garden"]]


PRIVATE = {
    "Secret.md": "---\nai: private\ncode: red\ntype: source\n---\n# Vault\n- supports [[Tea]]\n- [ ] dig\n"
    "#hush treasure",
    "Tea.md": "green leaves, see [[Cup]]",
    "Cup.md": "of tea",
    "Fan.md": "[[Secret]] fan",
    "Lone.md": "alone",
}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("treasure", ""),
        ("-green", "Cup, Fan, Lone"),
        ("file:secret", ""),
        ("path:/S/", ""),
        ("content:/treas/", ""),
        ("match-case:treasure", ""),
        ("line:(hush treasure)", ""),
        ("block:treasure OR section:treasure", ""),
        ("task:dig OR task-todo:dig", ""),
        ("tag:hush", ""),
        ("type:source", ""),
        ("rel:supports", ""),
        ("[code] OR [code:red]", ""),
        ('links-to:"Tea"', ""),
        ('links-to:"Secret"', "Fan"),
        ('linked-from:"Secret"', ""),
        ('linked-from:"Secret" OR green', "Tea"),
        ('linked-from:"Secret" OR linked-from:"Tea"', "Cup"),
        ('backlinks:""', "Cup"),
        ("backlinks:supports", ""),
        ("orphan:", "Fan, Lone"),
        ('similar:"leaves"', "Tea"),
        ('""', "Cup, Fan, Lone, Tea"),
    ],
)
async def test_hidden_notes_seem_not_to_exist(make_vault: MakeVault, query: str, names: str) -> None:
    vault = await make_vault(PRIVATE)

    async def near(text: str, limit: int) -> list[tuple[NotePath, float]]:
        return [(NotePath("Secret.md"), 0.9), (NotePath("Tea.md"), 0.8)]

    vault.index.similarity = near
    assert ", ".join(await vault.found(query, private=False)) == names
    ruled = await vault.index.search(query, hidden=[NotePath("Secret.md")])
    assert ", ".join(sorted(hit.path.stem_path for hit in ruled.hits)) == names
    assert {path.stem_path for path in await vault.index.matching(query, private=False)} == {
        name for name in names.split(", ") if name
    }


async def test_hits_in_other_orders(make_vault: MakeVault) -> None:
    vault = await make_vault({}, scan=False)
    for number, name in enumerate(["b", "C", "a", "D"]):
        vault.write(f"{name}.md", "same " * (number + 1), at=1_000_000 + number)
    await vault.index.scan()

    async def names(query: str, order: Order) -> str:
        page = await vault.index.search(query, order=order)
        return "".join(hit.path.name for hit in page.hits)

    for query in ("same ", "/same/"):
        assert await names(query, "name") == "abCD"
        assert await names(query, "modified") == "DaCb"


async def test_orders_and_pages_agree_however_many_hits_there_are(
    make_vault: MakeVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = await make_vault({}, scan=False)
    for number in range(40):
        name = f"{number * 7 % 40:02}{' plan' if number % 9 == 0 else ''}"
        text = "# Plan\n" if number % 5 == 0 else ""
        vault.write(f"{name}.md", text + "plan " * (number % 3 + 1), at=1_000_000 + number)
    await vault.index.scan()
    orders: dict[Order, list[str]] = {}
    for few, asking in ((5000, 27.0), (5, 0.0), (5, 1e9)):
        monkeypatch.setattr(fts_hits, "MAX_RANKED_HITS", few)
        monkeypatch.setattr(fts_hits, "_QUERY_COST", asking)
        for order in get_args(Order):
            seen = []
            for offset in range(0, 40, 7):
                page = await vault.index.search("plan ", 7, offset, order=order)
                assert page.total == 40
                seen += [hit.path.name for hit in page.hits]
            assert len(set(seen)) == len(seen) == 40
            if order == "relevance":
                assert all("plan" in name for name in seen[:5])
            elif order != "created":  # The birth time of a copy can't be set.
                assert orders.setdefault(order, seen) == seen
    page = await vault.index.searcher.search("plan ", 7, exact=False)
    assert (page.total, page.exact) == (7, False)
    assert await vault.index.searcher.count("plan ") == 40


async def test_hits_in_groups(vault: IndexedVault) -> None:
    page = await vault.index.search('""', limit=4, group="folder")
    assert [(group.name, group.count) for group in page.groups] == [
        ("Claims", 2),
        ("notes", 1),
        ("notes/projects", 1),
        ("projects-old", 1),
        ("", 4),
    ]
    assert [hit.group for hit in page.hits] == ["Claims", "Claims", "notes", "notes/projects"]
    by_type = await vault.index.search("pond ", group="type")
    assert [(group.name, group.count) for group in by_type.groups] == [("note", 2)]
    by_tag = await vault.index.search("/./", group="tag", order="name")
    assert [hit.group for hit in by_tag.hits][:3] == ["Inbox", "inbox/now", "myjob/inbox"]


async def test_all_lines_of_a_hit(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "\n".join(f"word {number}" for number in range(100)), "b.md": "word"})
    page = await vault.index.search("word ")
    hit = next(hit for hit in page.hits if hit.path.text == "a.md")
    assert len(hit.snippets) == 3
    assert hit.lines > 3
    shown = await vault.index.searcher.lines("word ", NotePath("a.md"))
    assert [(one.line, one.text[slice(*one.marks[0])]) for one in shown] == [
        (number + 1, "word") for number in range(100)
    ]
    assert await vault.index.searcher.lines("word ", NotePath("gone.md")) == ()


async def test_a_plain_text_ranks_notes_with_any_of_its_words(make_vault: MakeVault) -> None:
    files = {f"{number}.md": "the long road" for number in range(8)}
    files |= {"clock.md": "the harrison", "sea.md": "the clock at sea " * 3, "away.md": "nothing"}
    vault = await make_vault(files)
    found = await vault.index.searcher.ranked("the (clock at: OR sea", 5)
    assert [path.name for path, _ in found[:2]] == ["sea", "clock"]
    assert found[0][1] > found[1][1] > found[2][1]
    assert len(found) == 5
    assert await vault.index.searcher.ranked("…", 5) == ()


def _lines(part: ExplanationNode, indent: str = "") -> list[str]:
    inner = [line for child in part.parts for line in _lines(child, f"{indent}    ")]
    return [f"{indent}{part.words.english} ({part.count})", *inner]


async def test_what_a_search_means_part_by_part(vault: IndexedVault) -> None:
    part = await vault.index.searcher.explain("pond (rain OR nothing) -line:(rain pond) tag:inbox ")
    assert part is not None
    assert _lines(part) == [
        "All of these (0)",
        "    “pond” (2)",
        "    Any of these (1)",
        "        “rain” (1)",
        "        “nothing” (0)",
        "    Without (8)",
        "        In one line (1)",
        "            All of these (1)",
        "                “rain” (1)",
        "                “pond” (2)",
        "    Tagged “inbox” (2)",
    ]
    assert await vault.index.searcher.explain(" ") is None


async def test_a_property_with_several_lines_is_found(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "---\naddress: |\n  Main Street\n  Springfield\n---\n"})
    found = await vault.index.search('[address:"Main Street\nSpringfield"]')
    assert [hit.path.text for hit in found.hits] == ["a.md"]


async def test_an_empty_query_finds_nothing(vault: IndexedVault) -> None:
    assert (await vault.index.search("  ")).total == 0


def test_the_query_in_plain_words() -> None:
    node = parse('tag:inbox -"the pond" [rating:<5] ')
    assert node is not None
    assert (
        explain(node).english
        == "tagged “inbox” and not “the pond” as a phrase and the property rating is < 5"
    )


@pytest.mark.parametrize(
    ("query", "position", "what"),
    [
        ("/(/", 0, "RE2"),
        ("line:/[/", 5, "RE2"),
        ("[p:/(/]", 3, "RE2"),
        ("/(?=a)/", 1, "look-ahead"),
        ("a /b(?!a)/", 4, "look-ahead"),
        (r"/\/(?<=a)/", 3, "look-behind"),
        (r"path:/(a)\1/", 9, "a back-reference"),
        ("nothing -/(?>a)/", 10, "an atomic group"),
        ("/a++/", 2, "a possessive quantifier"),
    ],
)
async def test_a_bad_pattern_says_where_and_what_is_not_supported(
    vault: IndexedVault, query: str, position: int, what: str
) -> None:
    with pytest.raises(QueryError) as caught:
        await vault.index.search(query)
    assert caught.value.data["position"] == position
    assert what in str(caught.value.data["expected"])


async def test_a_pattern_that_would_explode_elsewhere_ends(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "a" * 200_000})
    assert await vault.found("/(a+)+$x/") == []
    assert await vault.found("/^(a|aa)+$/") == ["a"]


async def test_a_search_ends_in_time(vault: IndexedVault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module.SearchRun.__init__, "__defaults__", (0.0,))
    with pytest.raises(TimeoutExpiredError):
        await vault.index.search("line:(a OR b)")


async def test_a_canceled_search_leaves_the_index_usable(vault: IndexedVault) -> None:
    tasks = [asyncio.ensure_future(vault.index.search(f"/{letter}/")) for letter in "abcdef"]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert await vault.found("hammer ") == ["projects-old/Shed"]


async def test_similar_asks_the_embeddings(vault: IndexedVault) -> None:
    with pytest.raises(QueryError) as caught:
        await vault.index.search('hammer similar:"wet places"')
    assert caught.value.data["position"] == 15

    async def near(text: str, limit: int) -> list[tuple[NotePath, float]]:
        assert (text, limit >= 2) == ("wet places", True)
        return [
            (NotePath("Garden.md"), 0.4),
            (NotePath("notes/Water.md"), 0.8),
            (NotePath("gone.md"), 0.9),
        ]

    vault.index.similarity = near
    page = await vault.index.search('similar:"wet places"')
    assert [hit.path.text for hit in page.hits] == ["notes/Water.md", "Garden.md"]
    assert await vault.found('similar:"wet places" -rain ') == ["Garden"]


async def test_an_edit_is_found_at_once(vault: IndexedVault) -> None:
    await vault.save("Alone.md", "something else")
    assert await vault.found("naive ") == []
    assert await vault.found("something ") == ["Alone"]
    (vault.root / "Alone.md").unlink()
    await vault.index.refresh([], [NotePath("Alone.md")])
    assert await vault.found("something ") == []


async def test_unscored_results_are_the_newest_notes(
    make_vault: MakeVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "_MAX_SCANNED_ROWS", 20)
    notes = {f"f{n % 3}/n{n:02}.md": f"---\nstatus: s{n % 4}\n---\n#t{n % 2}\n" for n in range(60)}
    vault = await make_vault({}, scan=False)
    for place, (name, text) in enumerate(notes.items()):
        vault.write(name, text, at=1_000_000 + place)
    await vault.index.scan()
    queries = ("[status]", "path:f2", "tag:t1", "[status:s3]", "orphan:", "-tag:t1", "path:f1 [status:s1]")
    for query in queries:
        exact = await vault.index.searcher.search(query, 60, order="modified")
        paths = [hit.path for hit in exact.hits]
        for start in (0, 2):
            page = await vault.index.searcher.search(query, 3, start, exact=False)
            assert [hit.path for hit in page.hits] == paths[start : start + 3], query
            assert page.total == exact.total if page.exact else start + 3 <= page.total < exact.total
    assert not (await vault.index.searcher.search("[status]", 3, exact=False)).exact


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("modified:2026-03-17", ["b"]),
        ("modified:>=2026-03-17", ["b", "c"]),
        ("modified:>2026-03-17", ["c"]),
        ("modified:<2026-03-17", ["a"]),
        ("modified:<=2026-03-17", ["a", "b"]),
        ("modified:2026-03", ["b", "c"]),
        ("modified:2026-W12", ["b", "c"]),
        ("modified:2025 -modified:2025-12", []),
        ("-modified:2026", ["a"]),
    ],
)
async def test_notes_are_found_by_the_day_of_their_last_change(
    make_vault: MakeVault, query: str, expected: list[str]
) -> None:
    days = {"a.md": (2025, 12, 31), "b.md": (2026, 3, 17), "c.md": (2026, 3, 18)}
    times = {name: datetime(*day, 12).timestamp() for name, day in days.items()}
    vault = await make_vault({})
    await vault.index.refresh([vault.write(name, "text", at=at) for name, at in times.items()])
    assert await vault.found(query) == expected


@pytest.mark.parametrize(
    "query", ["modified:", "modified:soon", "created:>", "created:2026-13", "modified:2026-W60"]
)
async def test_what_is_no_date_is_an_error(make_vault: MakeVault, query: str) -> None:
    vault = await make_vault({"a.md": "text"})
    with pytest.raises(QueryError) as raised:
        await vault.found(query)
    assert "a date" in str(raised.value)


async def test_orphans_are_recomputed_after_a_change(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "x\n", "b.md": "y\n", "c.md": "z\n"})
    assert await vault.found("orphan:") == ["a", "b", "c"]
    assert await vault.found("orphan:") == ["a", "b", "c"]
    (vault.root / "a.md").write_text("[[b]]\n", "utf-8")
    await vault.index.refresh([NotePath("a.md")])
    assert await vault.found("orphan:") == ["c"]


async def test_a_phrase_of_words_that_most_notes_have_comes_by_place_then_by_change(
    make_vault: MakeVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fts_hits, "MAX_RANKED_HITS", 10)
    notes = {f"n{n:02}.md": "so it goes on and on it so\n" for n in range(20)}
    notes["old.md"] = "# it goes\n"
    notes["It goes.md"] = "so it is\n"
    notes |= {f"m{n}.md": "so it is, it goes\n" for n in range(3)}
    vault = await make_vault(notes)
    page = await vault.index.search('"on it"', 5)
    assert page.total == 20
    first = await vault.index.searcher.search('"it goes"', 40)
    assert [hit.path.text for hit in first.hits][:2] == ["It goes.md", "old.md"]
    # The first hits of such a frequent phrase are found without all others: they are the same.
    monkeypatch.setattr(ranking, "_SMALL_RESULT_SIZE", 12)
    monkeypatch.setattr(fts_hits, "_QUERY_COST", 0.0)
    for start in (0, 1, 3, 12):
        some = await vault.index.searcher.search('"it goes"', 4, start, exact=False)
        assert [hit.path for hit in some.hits] == [hit.path for hit in first.hits][start : start + 4]
        assert (some.total, some.exact) == (max(12, start + 4), False)
    rest = await vault.index.searcher.search('"it goes"', 40, 12, exact=False)
    assert [hit.path for hit in rest.hits] == [hit.path for hit in first.hits][12:]
    assert rest.total == len(first.hits)


async def test_text_conditions_are_checked_in_order_of_relevance(
    make_vault: MakeVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "_SMALL_RESULT_SIZE", 4)
    notes = {
        f"n{n:02}.md": f"{'red ' * (n % 7 + 1)}\n{'blue ' * (n % 5)}\n\nred {'blue' if n % 3 else ''}\n\n"
        f"## part\n- [{' x'[n % 2]}] red {'blue' if n % 4 else 'and'}\n"
        for n in range(60)
    }
    vault = await make_vault(notes)
    for query in (
        "line:(red blue)",
        "block:(red blue)",
        "section:(red and)",
        "task-todo:(red blue)",
        "red /b.ue$/",
        "match-case:red -blue",
        "line:red file:3",
    ):
        every = await vault.index.search(query, 60)
        assert every.exact
        for start in (0, 3):
            page = await vault.index.searcher.search(query, 3, start, exact=False)
            wanted = [hit.path for hit in every.hits][start : start + 3]
            assert [hit.path for hit in page.hits] == wanted, query
            assert page.total == every.total if page.exact else start + 3 <= page.total < every.total
    assert not (await vault.index.searcher.search("line:(red blue)", 3, exact=False)).exact


async def test_the_lines_of_a_text_of_megabytes_are_those_of_a_small_one(make_vault: MakeVault) -> None:
    small = "first line\n\nthe needle Nadel é\nNEEDLE, and needles\n"
    vault = await make_vault({"big.md": small + "hay needl eneedle\n" * 50_000 + "a needle\n"})
    (hit,) = (await vault.index.search("needle ")).hits
    assert [snippet.line for snippet in hit.snippets] == [3, 4, 50_005]
    assert [snippet.marks for snippet in hit.snippets] == [((4, 10),), ((0, 6),), ((2, 8),)]
