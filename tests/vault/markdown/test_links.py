"""Rewriting of links changes only the target's characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidParametersError
from app.vault.markdown.link_edits import rewrite_links
from app.vault.markdown.links import format_target
from app.vault.markdown.relation_edits import add_relation
from app.vault.markdown.scan import scan
from app.vault.note import LinkStyle


def to(new, old="Old"):
    return lambda link: new if link.target.removesuffix(".md") == old else None


@pytest.mark.parametrize(
    ("text", "new", "expected"),
    [
        ("[[Old]] ![[Old#H|a]] [[Older]] `[[Old]]`", "New", "[[New]] ![[New#H|a]] [[Older]] `[[Old]]`"),
        (r"| [[Old\|x]] | [[ Old#^b ]] |", "New", r"| [[New\|x]] | [[ New#^b ]] |"),
        ("[t](Old.md#H 'ti')", "a b (c).md", "[t](a%20b%20%28c%29.md#H 'ti')"),
        ("[t](<Old.md>)", "a b (c).md", "[t](<a b (c).md>)"),
        ("[t](Old.md)", "100% é.md", "[t](100%25%20é.md)"),
        ('---\nup: "[[Old|x]]" # c\n---\n', "New", '---\nup: "[[New|x]]" # c\n---\n'),
        ("---\nup:\n  - '[[Old]]'\n---\n", "It's", "---\nup:\n  - '[[It''s]]'\n---\n"),
        ('---\nup: "[[Old]]"\n---\n', 'a "b"', '---\nup: "[[a \\"b\\"]]"\n---\n'),
        ("---\nup: [[Old]]\n---\n", "New", "---\nup: [[New]]\n---\n"),
        ("---\nup: [[Old]]\n---\n", "a, b", '---\nup: [["a, b"]]\n---\n'),
        ("---\nup: see [[Old]]\n---\n", "a: b", '---\nup: "see [[a: b]]"\n---\n'),
        ("---\nup: >-\n  see [[Old]]\n  here\n---\n", "New", "---\nup: >-\n  see [[New]]\n  here\n---\n"),
        ('---\nup: "\\ta [[Old]]"\n---\n', "New", '---\nup: "\\ta [[New]]"\n---\n'),
        ('---\nup: "\\ta [[Old]] [t](Old.md)"\n---\n', "New", '---\nup: "\\ta [[New]] [t](New)"\n---\n'),
        ('---\na: &x "[[Old]]"\nb: *x\n---\n', "New", '---\na: &x "[[New]]"\nb: *x\n---\n'),
        ("- supports [[Old]] (confidence: 0.5)", "New", "- supports [[New]] (confidence: 0.5)"),
        ("---\nbad: [\n---\n[[Old]]", "New", "---\nbad: [\n---\n[[New]]"),
    ],
)
def test_rewrite(text, new, expected):
    assert rewrite_links(text, to(new)) == expected


def test_rewriting_every_real_note_touches_only_targets(real_notes):
    for path in real_notes:
        text = path.read_bytes().decode()
        links = scan(text).links
        assert rewrite_links(text, lambda link: link.target) == text
        seen = set()
        for link in links[:5]:
            if not link.target or link.target in seen:
                continue
            seen.add(link.target)
            bare = link.target.removesuffix(".md")
            after = rewrite_links(text, to("Zz-Test", bare))
            back = rewrite_links(after, to(link.target, "Zz-Test"))
            several = len({x.target for x in links if x.target.removesuffix(".md") == bare}) > 1
            encoded = any(
                text[x.target_span.start : x.target_span.end] != format_target(x.style, x.target)
                for x in links
            )
            assert several or encoded or back == text, path


# Backticks, dollars and percent signs can start code, math and comments, which no wikilink can escape.
letters = st.characters(exclude_categories=["C", "Z"], exclude_characters="[]|#^\\`$%")
names = st.text(letters, min_size=1, max_size=12).filter(lambda name: not name.startswith("/"))


@given(
    names,
    st.sampled_from(
        [
            "[[Old]]",
            "[x](Old.md)",
            "[x](<Old.md>)",
            '---\na: "[[Old]]"\n---\n',
            "---\na: ['[[Old]]', b]\n---\n",
            "---\na: [[Old]]\n---\n",
            "---\na: x [[Old]] y\n---\n",
        ]
    ),
)
def test_any_name_round_trips(name, text):
    after = rewrite_links(text, to(name))
    assert [link.target for link in scan(after).links] == [name]


@given(names)
def test_written_markdown_targets_read_as_meant(name):
    for text in (f"[x]({format_target(LinkStyle.MARKDOWN, name)})", f"[[{name}]]"):
        assert [link.target for link in scan(text).links] == [name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "## Relations\n\n- part_of [[T]] (confidence: 0.8, because of\tx)\n"),
        ("a\r\nb", "a\r\nb\r\n\r\n## Relations\r\n\r\n- part_of [[T]] (confidence: 0.8, because of\tx)"),
        ("a\n\n", "a\n\n## Relations\n\n- part_of [[T]] (confidence: 0.8, because of\tx)\n"),
        (
            "## relations\n\n- supports [[A]]\n\n## Next\n",
            "## relations\n\n- supports [[A]]\n- part_of [[T]] (confidence: 0.8, because of\tx)\n\n## Next\n",
        ),
    ],
)
def test_add_relation(text, expected):
    after = add_relation(text, "Part of", "[[T]]", 0.8, "because\nof\tx")
    assert after == expected.replace("of\tx", "of x")
    relation = scan(after).relations[-1]
    assert (relation.type, relation.link.target, relation.confidence) == ("PART_OF", "T", 0.8)
    assert relation.note == "because of x"


def test_invalid_relations_are_refused():
    with pytest.raises(InvalidParametersError):
        add_relation("", "!!", "T")
    with pytest.raises(InvalidParametersError):
        add_relation("", "SUPPORTS", "T", 1.5)


def test_a_name_that_looks_like_a_scheme_is_no_address():
    written = format_target(LinkStyle.MARKDOWN, "A0: notes")
    assert [link.target for link in scan(f"[x]({written})").links] == ["A0: notes"]
