"""Parsing of wikilinks and names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.vault.reference import Reference, parse_reference


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("N", Reference("N")),
        ("[[N]]", Reference("N")),
        ("![[N]]", Reference("N")),
        ("[[N.md]]", Reference("N.md")),
        ("folder/N", Reference("folder/N")),
        ("[[N#H|A]]", Reference("N", "H", None, "A")),
        ("[[N|A#B|C]]", Reference("N", None, None, "A#B|C")),
        ("[[N#H1#H2]]", Reference("N", "H1#H2")),
        ("[[#H]]", Reference("", "H")),
        ("N#^b-1", Reference("N", None, "b-1")),
        ("[[N^b]]", Reference("N", None, "b")),
        ("[[N#H#^b]]", Reference("N", "H", "b")),
        ("[[N#E = m c^2]]", Reference("N", "E = m c^2")),
        (r"[[N\|A]]", Reference("N", None, None, "A")),
        ("  [[ N # H | A ]]  ", Reference("N", "H", None, "A")),
        ("[[https://example.org/a]]", Reference("https://example.org/a")),
        ("doc.pdf#page=3", Reference("doc.pdf", "page=3")),
        ("[[a]b]]", Reference("a]b")),
        ("", Reference("")),
    ],
)
def test_references_are_parsed(text, expected):
    assert parse_reference(text) == expected


def test_the_name_is_the_last_part():
    reference = parse_reference("[[a/b/Note.MD#x]]")
    assert reference.name == "Note"
    assert parse_reference("v1.2").name == "v1.2"


@given(st.text(max_size=80))
def test_any_text_is_read_and_brackets_change_nothing(text):
    bare = parse_reference(text)
    if not text.strip().startswith(("[[", "![[")):
        assert parse_reference(f"[[{text.strip()}]]") == bare


words = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)


@given(words, words, words)
def test_parts_round_trip(target, heading, alias):
    assert parse_reference(f"[[{target}#{heading}|{alias}]]") == Reference(target, heading, None, alias)
