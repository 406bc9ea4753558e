"""Parsing of notes into elements with spans."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.vault.markdown.scan import scan
from app.vault.note import Observation


def targets(text):
    return [link.target for link in scan(text).links]


def tags(text):
    return [tag.name for tag in scan(text).tags]


def relations(text):
    return [(r.type, r.link.target, r.confidence, r.note) for r in scan(text).relations]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[N]] and [[dir/N.md]]", ["N", "dir/N.md"]),
        ("[[a]b]]", ["a]b"]),
        ("[[a [[b]]", ["b"]),
        ("[[https://x.org]]", ["https://x.org"]),
        ("[[]] [[ ]] [[|a]] [[#]]", []),
        ("[[#H]]", [""]),
        (r"| a | [[N\|b]] |", ["N"]),
        (r"\[[no]]", []),
        ("[[a\nb]]", []),
        ("[t](dir/N.md#H) [u](a%20b.md) [v](<c d.md>)", ["dir/N.md", "a b.md", "c d.md"]),
        ("[t](https://x.org) [u](mailto:a@b) [v](//host/x)", []),
        ("[![alt](i.png)](n.md)", ["n.md", "i.png"]),
        ("[t](f(1).md 'title')", ["f(1).md"]),
        ("[t](#here)", [""]),
        ("`[[a]]` ``[[b`]]`` [[c]]", ["c"]),
        ("```\n[[a]]\n```\n[[b]]", ["b"]),
        ("~~~~\n[[a]]\n~~~\n[[b]]\n~~~~\n[[c]]", ["c"]),
        ("> ```\n> [[a]]\n\n[[b]]", ["b"]),
        ("- ```\n  [[a]]\n  ```\n- [[b]]", ["b"]),
        ("```\n[[unclosed]]", []),
        ("```\n> ```\n[[still code]]\n```\n[[b]]", ["b"]),
        ("$[[a]]$ $$\n[[b]]\n$$ [[c]]", ["c"]),
        ("costs $5 and [[N]] for $6", ["N"]),
        ("%%[[a]]%% <!-- [[b]] --> [[c]]", ["c"]),
        ("<!--\n[[a]]\n\n[[b]]\n--> [[c]]", ["c"]),
        ("x <!-- [[a]]\n<!-- [[b]]", ["a"]),
        ("text\n\n    [[indented code]]\n\n[[b]]", ["b"]),
        ("    [[indented code]]\n\n[[b]]", ["b"]),
        ("---\nkey: 1\n---\n\t[[indented code]]\n[[b]]", ["b"]),
        ("- item\n\n    [[in the item]]", ["in the item"]),
        ("[[it`s]] and [[that`s]]", ["it`s", "that`s"]),
        ("[[50%% more]] [[%% of]]", ["50%% more", "%% of"]),
        ("a ` b\n\n[[N]] ` c", ["N"]),
        ("- it`s\n- [[N]] that`s", ["N"]),
        (r"\`[[N]]\`", ["N"]),
        ("[a [b](c.md) d](e.md)", ["c.md"]),
        ("[x]: y.md", []),
        ("[shown]([[N]])", ["N"]),
    ],
)
def test_links(text, expected):
    assert targets(text) == expected


def test_parts_and_spans_of_links():
    text = "x ![[dir/a.png|640x480]] [[ N #H1#H2 | shown ]]\n[t](<a b.md#^id>)"
    image, wiki, markdown = scan(text).links
    assert (image.embed, image.alias) == (True, "640x480")
    assert text[image.span.start : image.span.end] == "![[dir/a.png|640x480]]"
    assert (wiki.target, wiki.heading, wiki.alias, wiki.line) == ("N", "H1#H2", "shown", 1)
    assert text[wiki.target_span.start : wiki.target_span.end] == "N"
    assert (markdown.target, markdown.block, markdown.alias, markdown.line) == ("a b.md", "id", "t", 2)
    assert text[markdown.target_span.start : markdown.target_span.end] == "a b.md"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#a #b/c #d-e_f", ["a", "b/c", "d-e_f"]),
        ("#123 #1/2024 #y1984 #2024-01", ["1/2024", "y1984", "2024-01"]),
        ("a#no https://x/#no [[N#no]] [t](#no) ##no", []),
        ("(#yes), **#bold** #Ünïcode #标签，后 #🎉 #👩‍💻", ["yes", "bold", "Ünïcode", "标签", "🎉", "👩‍💻"]),
        ("#हिन्दी", ["हिन्दी"]),
        ("#trailing/ #dot.", ["trailing", "dot"]),
        ("# Heading #in-heading", ["in-heading"]),
        ("`#a` $#b$ %%#c%% #d", ["d"]),
        (r"\#no", []),
        ("#--- #_", []),
        ("\ufeff#first", ["first"]),
    ],
)
def test_tags(text, expected):
    assert tags(text) == expected


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("tags: [a, '#b/c', \"d\"]", ["a", "b/c", "d"]),
        ("tags:\n  - a\n  - '#b'", ["a", "b"]),
        ("tags: a, b c", ["a", "b", "c"]),
        ("tag: '#one'", ["one"]),
        ("tags: [2024, ok]", ["ok"]),
        ("tags:", []),
    ],
)
def test_property_tags(block, expected):
    text = f"---\n{block}\n---\n"
    found = scan(text).tags
    assert [tag.name for tag in found] == expected
    assert [text[tag.span.start : tag.span.end] for tag in found] == expected
    assert all(tag.in_properties for tag in found)


def test_each_tag_once_by_its_first_casing():
    assert scan("#Tag #tag #TAG #other").tag_names == ("Tag", "other")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- supports [[T]]", [("SUPPORTS", "T", None, None)]),
        ("- supports [[T]] (confidence: 0.8, because it is)", [("SUPPORTS", "T", 0.8, "because it is")]),
        ("* part_of [T](t.md) (confidence: 80%)", [("PART_OF", "t.md", 0.8, None)]),
        ('- "relates to" [[T]], [[U]]', [("RELATES_TO", "T", None, None), ("RELATES_TO", "U", None, None)]),
        ("- supports [[T]] (see [[U]]) ^id", [("SUPPORTS", "T", None, "see [[U]]")]),
        ("- supports [[T]] (confidence: 7)", [("SUPPORTS", "T", None, None)]),
        ("- see [[T]] for more", []),
        ("- The [[T]]", []),
        ("- [[T]]", []),
        ("supports [[T]]", []),
        ("- my_own_type [[T]]", [("MY_OWN_TYPE", "T", None, None)]),
        ("supports:: [[T]]", [("SUPPORTS", "T", None, None)]),
        ("- **Supports**:: [[T]], [[U]]", [("SUPPORTS", "T", None, None), ("SUPPORTS", "U", None, None)]),
        ("a [supports:: [[T]]] b", [("SUPPORTS", "T", None, None)]),
        (
            "a [supports:: [[T]]] b (refutes:: [[U]]) c",
            [("SUPPORTS", "T", None, None), ("REFUTES", "U", None, None)],
        ),
        ("a (part of:: [[T]]) b [[U]]", [("PART_OF", "T", None, None)]),
        ("supports:: not a link [[T]]", []),
        ("tags:: [[T]]", []),
        ("`supports:: [[T]]`", []),
        ("## Relations\n- 参考 [[T]]", [("参考", "T", None, None)]),
        ('---\nsupports: "[[T]]"\n---\n', [("SUPPORTS", "T", None, None)]),
        ('---\nsupports:\n  - "[[T]]"\n  - "[[U|x]]"\n---\n', [("SUPPORTS", t, None, None) for t in "TU"]),
        ("---\nup: [[T]]\n---\n", [("UP", "T", None, None)]),
        ('---\nnote: "see [[T]]"\naliases: ["[[U]]"]\n---\n', []),
    ],
)
def test_relations(text, expected):
    assert relations(text) == expected


def test_a_relation_ends_with_its_section():
    assert relations("## Relations\n- 参考 [[T]]\n## Other\n- 参考 [[U]]") == [("参考", "T", None, None)]


def test_lines():
    note = scan(
        "# One ##\r\nTwo\r\n===\r\n> # quoted\r\n"
        "- [ ] open\r\n- [x] done ^t1\r\n- [idea] text #tag (from here) ^o-1\r\n- [link](a.md)\r\npara ^p\r\n"
    )
    assert [(h.level, h.text, h.line) for h in note.headings] == [(1, "One", 1), (1, "Two", 2)]
    assert [(t.text, t.done, t.line) for t in note.tasks] == [("open", False, 5), ("done ^t1", True, 6)]
    assert note.observations == (Observation("idea", "text #tag", "from here", 7),)
    assert [(b.id, b.line) for b in note.blocks] == [("t1", 6), ("o-1", 7), ("p", 9)]


def test_a_broken_block_is_reported_and_the_note_still_parsed():
    note = scan("---\na: [1\n---\n# H\n[[N]] #t")
    assert note.properties_problem
    assert note.properties == {}
    assert (note.links[0].target, note.tags[0].name, note.headings[0].text) == ("N", "t", "H")


HOSTILE = [
    "[" * 100_000,
    "[[a" * 50_000,
    "](" * 50_000,
    "[x](" * 50_000,
    "`" * 100_000,
    "` `` " * 50_000,
    "```\n" * 50_000,
    "- ```\n\nx\n\n" * 20_000,
    "$a " * 50_000,
    "%% " * 50_001,
    "x<!-- " * 50_000,
    "#a" * 50_000,
    "[a:: " * 50_000 + "[[x]]",
    "(a::" * 50_000 + "[[x]] " * 1000,
    " " * 500_000,
    "\n" * 200_000,
    "---\n" * 50_000,
    "![[" * 50_000,
    "## Relations\n- supports [[x]]\n" * 5_000,
    "- [ab] ((((" * 20_000,
    "> ```\nx\n" * 20_000,
    "[a](b" + " " * 100_000,
    "x" * 2_000_000,
    "\n\n\tx" * 30_000,
]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_read_in_linear_time(text):
    scan(text)


fragments = st.sampled_from(
    [
        "[[",
        "]]",
        "[",
        "]",
        "(",
        ")",
        "|",
        "#",
        "^",
        "`",
        "```",
        "~~~",
        "$",
        "$$",
        "%%",
        "<!--",
        "-->",
        "\n",
        "\r\n",
        "\n\n",
        "- ",
        "---\n",
        "a",
        "tag",
        " ",
        "::",
        "supports",
        "> ",
        "    ",
        "\\",
        "!",
        ": ",
        "\ufeff",
        "é",
        "🎉",
    ]
)


@given(st.lists(fragments, max_size=40).map("".join))
def test_spans_contain_their_elements(text):
    note = scan(text)
    for tag in note.tags:
        assert text[tag.span.start : tag.span.end].strip("#/") == tag.name or tag.in_properties
    for link in note.links:
        whole, target = link.span, link.target_span
        assert 0 <= whole.start <= target.start <= target.end <= whole.end <= len(text)
        if link.style == "wiki" and not link.in_properties:
            assert text[link.target_span.start : link.target_span.end] == link.target
    assert [link.line for link in note.links] == [text.count("\n", 0, x.span.start) + 1 for x in note.links]


@given(st.text())
def test_any_text_is_read_and_crosses_processes(text):
    note = scan(text)
    assert pickle.loads(pickle.dumps(note)) == note


def test_every_real_note_is_read(real_notes):
    for path in real_notes:
        text = path.read_bytes().decode()
        note = scan(text)
        for link in note.links:
            if link.style == "wiki":
                assert text[link.target_span.start : link.target_span.end] == link.target, path
