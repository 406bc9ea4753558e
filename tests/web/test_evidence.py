"""The side of a found page by its words, and the search query."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.vault.markdown.scan import scan
from app.web.claim_query import MAX_QUERY_CHARS, build_query, note_prose, note_statement
from app.web.evidence import MIN_RELEVANCE, weigh, word_overlap
from app.web.providers import WebSearchHit
from app.web.source_notes import escape_markdown, source_name, source_text

CLAIM = "The marine chronometer solved longitude at sea"


def search_hit(snippet: str, title: str = "The marine chronometer and longitude") -> WebSearchHit:
    return WebSearchHit("https://a.example/x", title, snippet)


@pytest.mark.parametrize(
    ("side", "snippet"),
    [
        ("supporting", "The trials confirmed that the marine chronometer solved longitude at sea."),
        ("supporting", "Strong evidence shows that chronometers solved longitude at sea."),
        ("supporting", "The marine chronometer solved longitude at sea."),
        ("contradicting", "It is a myth that the marine chronometer solved longitude at sea."),
        ("contradicting", "There is no evidence that the chronometer solved longitude at sea."),
        ("contradicting", "Historians disputed and refuted that the chronometer solved longitude at sea."),
        ("contradicting", "The marine chronometer did not solve longitude at sea."),
        ("contradicting", "Data do not support that the chronometer solved longitude at sea."),
        ("neutral", "The marine chronometer, longitude at sea: an exhibition opens on Monday in a museum."),
    ],
)
def test_the_side_is_read_from_cues_and_negation(side: str, snippet: str) -> None:
    weighed = weigh(CLAIM, search_hit(snippet), None)
    assert (weighed.side, weighed.relevance >= MIN_RELEVANCE) == (side, True), weighed.reasoning
    assert "local rules" in weighed.reasoning


def test_what_is_about_something_else_takes_no_side() -> None:
    weighed = weigh(CLAIM, search_hit("A study confirms that bread is baked.", "Bread"), 0.1)
    assert weighed.side == "neutral" and weighed.relevance < MIN_RELEVANCE
    assert "Too different" in weighed.reasoning


def test_the_reasons_name_the_words_they_rest_on() -> None:
    weighed = weigh(CLAIM, search_hit("It is a myth that the chronometer solved longitude at sea."), 0.8)
    assert "is a myth" in weighed.reasoning and "meaning" in weighed.reasoning


@given(st.text(max_size=300), st.text(max_size=300), st.none() | st.floats(-1, 1))
def test_relevance_is_a_share_whatever_the_text(claim: str, snippet: str, close: float | None) -> None:
    weighed = weigh(claim, search_hit(snippet, ""), close)
    assert 0 <= weighed.relevance <= 1 and weighed.reasoning
    assert 0 <= word_overlap(claim, snippet) <= 1


NOTE = """---
type: hypothesis
---
# Timekeepers beat the Moon

## Claim
The [[Marine chronometer|chronometer]], not the [lunar method](x.md), **solved** longitude at sea.

```
code_words everywhere
```
status:: open

## Relations
- contradicts [[Secret note]]
"""


def test_a_statement_is_the_name_and_the_first_prose() -> None:
    assert note_prose(NOTE) == "The chronometer, not the lunar method, solved longitude at sea."
    said = note_statement("Timekeepers beat the Moon", NOTE)
    assert said == "Timekeepers beat the Moon. The chronometer, not the lunar method, solved longitude at sea"
    assert note_statement("Empty", "") == "Empty"


def test_the_query_is_the_name_its_key_words_and_the_side() -> None:
    query = build_query("Timekeepers beat the Moon", NOTE, "contradicting")
    assert query.startswith("evidence against Timekeepers beat the Moon")
    assert "chronometer" in query and "Secret" not in query and "code_words" not in query
    assert len(build_query("x" * 900, NOTE, "all")) == MAX_QUERY_CHARS


HOSTILE = [
    "[[Secret]] and ![[Secret]] and [x](http://evil.example) ![x](http://evil.example/p.png)",
    "#tag and status:: done and (supports:: [[Home]])",
    "<script>alert(1)</script> <img src=x>",
    "- supports [[Home]]\n## Relations\n- contradicts [[Home]]",
    "---\nai: private\n---",
    "%%comment%% ^block $x$ ==y==",
    "see https://evil.example/?q=notes or www.evil.example",
    "`code` *b* _i_ ~~s~~ | a | b |",
    "\\[[Secret]]",
    "> [!note]",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_source_note_contains_only_quotations(text: str) -> None:
    check_inert(text)


PARTS = [*"[]()#:!<>\\`*_-|^%$=~@& \na1", "[[", "]]", "::", "http://x.y"]


@given(st.lists(st.sampled_from(PARTS), max_size=40))
def test_no_text_of_the_web_becomes_markup_of_ours(parts: list[str]) -> None:
    check_inert("".join(parts))


def check_inert(text: str) -> None:
    from datetime import date

    weighed = weigh(CLAIM, WebSearchHit("https://a.example/?a=1&b=[2]#x", text, text, "2024-01-02"), 0.8)
    note = scan(source_text(weighed, "Home", date(2026, 1, 2)))
    assert [link.target for link in note.links if not link.in_properties] == ["Home"]
    assert len(note.relations) == 1 and note.relations[0].confidence is not None
    assert note.tag_names == ("source",) and note.is_from_web and note.type == "source"
    assert note.properties["url"] == "https://a.example/?a=1&b=[2]#x"
    assert not note.observations and not note.tasks and not note.blocks


def test_names_of_source_notes_are_names_of_files() -> None:
    assert source_name("A: [[b]] / c? | d#e", "https://x.example/") == "A b c d e"
    assert source_name("???", "https://x.example/a") == "x.example"
    assert len(source_name("w" * 500, "https://x.example/")) == 80
    assert escape_markdown("a\nb") == "a b"
