"""Links, tags, properties and the graph in the index."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from pathlib import Path

from app.index.database import FILE_NAME
from app.index.record_queries import property_values
from app.vault.path import NotePath
from tests.index.conftest import MakeVault


async def test_backlinks_with_their_lines(make_vault: MakeVault) -> None:
    vault = await make_vault(
        {
            "T.md": "[[T]] [[#Heading]]",
            "b.md": "one\n\nsee [[T|the target]] here, and ![[t]]\n",
            "a.md": "- supports [[T]] (confidence: 0.5, because)\n",
        }
    )
    found = vault.index.backlinks(NotePath("T.md"))
    assert [(link.source.text, link.line, link.type, link.embed) for link in found] == [
        ("a.md", 1, "SUPPORTS", False),
        ("b.md", 3, "LINKS_TO", False),
        ("b.md", 3, "LINKS_TO", True),
    ]
    assert found[0].confidence == 0.5
    assert found[0].note == "because"
    assert found[1].context == "see [[T|the target]] here, and ![[t]]"
    assert vault.links("T.md") == [("T", "T.md"), ("", "T.md")]


async def test_the_notes_with_the_most_links(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "[[hub]] [[none]]", "b.md": "[[hub]]", "hub.md": "", "c/Lone.md": ""})
    assert [path.text for path in vault.index.most_linked(9)] == ["a.md", "hub.md", "b.md", "c/Lone.md"]
    assert [path.text for path in vault.index.most_linked(1)] == ["a.md"]
    assert (await make_vault({})).index.most_linked(1) == ()


async def test_attachments_have_backlinks(make_vault: MakeVault) -> None:
    vault = await make_vault({"img/p.png": b"x", "a.md": "![[p.png|640x480]] ![t](img/p.png)"})
    assert vault.sources("img/p.png") == ["a.md", "a.md"]


async def test_unresolved_names_are_listed(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "[[Missing]] [[x/Other]]", "b.md": "[[missing]] [[https://x.y]]"})
    assert [(name, count) for name, count in vault.index.unresolved()] == [
        ("Missing", 2),
        ("https://x.y", 1),
        ("x/Other", 1),
    ]
    assert vault.index.unresolved()[0].name == "Missing"


async def test_tags_with_their_parents(make_vault: MakeVault) -> None:
    vault = await make_vault(
        {
            "a.md": "#Inbox #work/Now",
            "b.md": "#inbox/x #INBOX/Y",
            "c.md": "#work/now/deep",
            "d.md": "#myjob/inbox",
        }
    )
    assert [(tag.tag, tag.count, tag.own, tag.parent) for tag in vault.index.tags()] == [
        ("Inbox", 2, 1, None),
        ("inbox/x", 1, 1, "Inbox"),
        ("INBOX/Y", 1, 1, "Inbox"),
        ("myjob", 1, 0, None),
        ("myjob/inbox", 1, 1, "myjob"),
        ("work", 2, 0, None),
        ("work/Now", 2, 1, "work"),
        ("work/now/deep", 1, 1, "work/Now"),
    ]
    assert vault.index.notes_with_tag("#inbox") == (NotePath("a.md"), NotePath("b.md"))
    assert vault.index.notes_with_tag("INBOX", nested=False) == (NotePath("a.md"),)
    assert vault.index.notes_with_tag("work/now/") == (NotePath("a.md"), NotePath("c.md"))
    assert vault.index.notes_with_tag("nothing") == ()


async def test_properties_and_how_many_notes_have_them(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "---\nStatus: x\nn: 1\n---\n", "b.md": "---\nstatus: y\n---\n"})
    assert [(name, count) for name, count in vault.index.properties()] == [("Status", 2), ("n", 1)]


async def test_mentions_without_a_link(make_vault: MakeVault) -> None:
    vault = await make_vault(
        {
            "Deep work.md": "---\naliases: [focus, 专注]\n---\nDeep work itself.",
            "a.md": "---\nx: deep work\n---\nI like deep work.\n\nAlso [[Deep work]] and Focus.\n",
            "b.md": "deeper work, focused\n专注力很重要",
            "c.md": "[text about deep work](Deep%20work.md)",
        }
    )
    found = vault.index.unlinked_mentions(NotePath("Deep work.md"))
    assert [(m.source.text, m.line, m.text[m.start : m.end]) for m in found] == [
        ("a.md", 4, "deep work"),
        ("a.md", 6, "Focus"),
        ("b.md", 2, "专注"),
    ]
    assert vault.index.unlinked_mentions(NotePath("nothing.md")) == ()


async def test_text_that_a_link_would_break_is_no_mention(make_vault: MakeVault) -> None:
    broken = [
        "[Focus](https://focus.example/)",
        "![a focus picture](focus.png)",
        "https://example.com/focus/download",
        "<https://example.com/focus> and <img src='focus.png'>",
        "me@focus.example, www.focus.example",
        "`focus` and $focus$ and %%focus%%",
        "#focus and #a/focus",
        "[focus][1] and [^focus]",
        "[[Other|our focus]]",
        "[![focus](focus.png)](https://focus.example)",
    ]
    text = "\n\n".join([*broken, "```", "focus", "```", "A \\[focus, too.", "An interval [0, 1)."])
    vault = await make_vault({"Focus.md": "", "Other.md": "", "a.md": text})
    found = vault.index.unlinked_mentions(NotePath("Focus.md"))
    assert [(mention.text, mention.start) for mention in found] == [("A \\[focus, too.", 4)]


async def test_a_bracket_without_its_pair_hides_no_mention(make_vault: MakeVault) -> None:
    text = "An interval [0, 1) of\n\nfocus\n\nand (2, 3] too."
    vault = await make_vault({"Focus.md": "", "a.md": text, "b.md": "a." * 40_000 + " focus"})
    found = vault.index.unlinked_mentions(NotePath("Focus.md"))
    assert [mention.source.text for mention in found] == ["a.md", "b.md"]


async def test_the_graph_as_arrays(make_vault: MakeVault) -> None:
    vault = await make_vault(
        {
            "a.md": "---\ntype: source\n---\n- supports [[b]] (confidence: 0.25)\n[[c]] [[#x]] #t",
            "b.md": "[[Missing]] ![[p.png]]",
            "c.md": "[[missing]]",
            "p.png": b"x",
        }
    )
    graph = vault.index.graph()
    assert graph.paths == ("a.md", "b.md", "c.md", "p.png", "Missing")
    assert graph.names == ("a", "b", "c", "p.png", "Missing")
    assert graph.kinds == ("note", "note", "note", "attachment", "unresolved")
    assert graph.types[:2] == ("source", "note")
    assert graph.tags[0] == ("t",)
    assert graph.modified[0] > 0
    assert graph.modified[4] == 0
    edges = {
        (graph.paths[source], graph.paths[target], graph.edge_types[code])
        for (source, target), code in zip(graph.edges.tolist(), graph.codes.tolist(), strict=True)
    }
    assert edges == {
        ("a.md", "b.md", "SUPPORTS"),
        ("a.md", "c.md", "LINKS_TO"),
        ("a.md", "a.md", "LINKS_TO"),
        ("b.md", "Missing", "LINKS_TO"),
        ("b.md", "p.png", "LINKS_TO"),
        ("c.md", "Missing", "LINKS_TO"),
    }
    assert sorted(value for value in graph.confidence.tolist() if not math.isnan(value)) == [0.25]


async def test_the_graph_of_an_empty_vault(make_vault: MakeVault) -> None:
    vault = await make_vault()
    graph = vault.index.graph()
    assert graph.paths == ()
    assert graph.edges.shape == (0, 2)
    assert vault.index.stats().notes == 0


async def test_links_by_aliases_when_the_settings_say_so(make_vault: MakeVault, reopened: object) -> None:
    files = {"N.md": "---\naliases: [Nick]\n---\n", "a.md": "[[nick]]"}
    vault = await make_vault(files, aliases_resolve=True)
    assert vault.links("a.md") == [("nick", "N.md")]
    await vault.save("N.md", "no alias")
    assert vault.links("a.md") == [("nick", None)]
    await vault.save("Nick.md", "a real note")
    await vault.save("N.md", "---\naliases: [Nick]\n---\n")
    assert vault.links("a.md") == [("nick", "Nick.md")]
    plain = await make_vault(files)
    assert plain.links("a.md") == [("nick", None)]


async def test_the_setting_for_aliases_takes_effect_at_the_next_start(
    make_vault: MakeVault, reopened: object
) -> None:
    from app.settings import IndexSettings

    vault = await make_vault({"N.md": "---\naliases: [Nick]\n---\n", "a.md": "[[nick]]"})
    vault.index = await reopened(vault, IndexSettings(aliases_resolve=True))
    assert vault.links("a.md") == [("nick", "N.md")]
    vault.index = await reopened(vault, IndexSettings())
    assert vault.links("a.md") == [("nick", None)]


async def test_texts_of_properties_the_most_frequent_first(make_vault: MakeVault) -> None:
    vault = await make_vault(
        {
            "a.md": '---\ncategories: ["[[Movies]]", Old]\nrating: 7\n---\n',
            "b.md": '---\ncategories:\n  - "[[Movies]]"\n---\n',
            "c.md": "---\nkind: tool\ncategories: 3\nother: x\n---\n",
        }
    )
    found = vault.index.property_values()
    assert found[0] == ("categories", "[[Movies]]")
    texts = {("categories", "[[Movies]]"), ("categories", "Old"), ("kind", "tool"), ("other", "x")}
    assert set(found) == texts
    await vault.save("d.md", "---\nother: y\n---\n")
    assert set(vault.index.property_values()) == {*texts, ("other", "y")}


async def test_the_public_names_are_loaded_again_only_after_a_change(make_vault: MakeVault) -> None:
    vault = await make_vault({"a.md": "", "b.md": "---\nai: private\n---\n"})
    public = vault.index.public_resolver()
    assert [entry.path.text for entry in public.entries()] == ["a.md"]
    assert vault.index.public_resolver() is public
    await vault.save("b.md", "public again")
    assert len(vault.index.public_resolver()) == 2
    await vault.save("a.md", "---\nai: private\n---\n")
    assert [entry.path.text for entry in vault.index.public_resolver().entries()] == ["b.md"]


async def test_texts_of_notes_that_must_be_read_again_are_hidden(
    make_vault: MakeVault, tmp_path: Path
) -> None:
    await make_vault({"a.md": "---\nkind: tool\n---\n", "b.md": "---\nkind: rock\n---\n"})
    with closing(sqlite3.connect(tmp_path / "cache0" / FILE_NAME)) as connection:
        connection.execute("UPDATE files SET hash = NULL WHERE path = 'a.md'")
        assert property_values(connection, private=False) == (("kind", "rock"),)
