"""Notes are split into passages whose spans match their text exactly."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.answering.passages import MAX_PASSAGE_CHARS, Passage, properties, split_passages
from app.embeddings.chunker import markdown_to_text
from app.vault.markdown.scan import scan

SAMPLE = Path(__file__).parents[2] / "resources" / "sample-vault"
NOTE = """---
born: 1693-03-24
tags: [person]
---
# John

A paragraph of one line,
and of another. ^both

## Facts
- parent
\t- child **bold** text
| year | place |
|---|---|
| 1736 | Lisbon |

```
code is no prose
```
description:: what a field says in words
collapsed:: true
%% a comment %%
"""


def cut(text: str) -> tuple[Passage, ...]:
    return split_passages(text, scan(text))


def test_each_kind_of_line() -> None:
    matches = cut(NOTE)
    assert [(one.text, one.trail, one.block) for one in matches] == [
        ("born: 1693-03-24", (), ""),
        ("John", (), ""),
        ("A paragraph of one line, and of another.", ("John",), "both"),
        ("Facts", ("John",), ""),
        ("parent", ("John", "Facts"), ""),
        ("child bold text", ("John", "Facts", "parent"), ""),
        ("1736, Lisbon", ("John", "Facts", "year place"), ""),
        ("what a field says in words", ("John", "Facts"), ""),
    ]
    for one in matches:
        assert NOTE.count("\n", 0, one.span.start) == one.line - 1


def test_a_long_paragraph_becomes_runs_of_sentences() -> None:
    sentence = "This sentence has a length of some sixty characters in all. "
    matches = cut(sentence * 20)
    assert len(matches) > 2 and all(len(one.text) <= MAX_PASSAGE_CHARS for one in matches)
    assert " ".join(one.text for one in matches) == (sentence * 20).strip()


@given(st.text(alphabet="ab.!? \n-#>|*[]`%:^\t1", max_size=200))
def test_every_span_says_what_the_passage_says(text: str) -> None:
    last = 0
    for one in split_passages(text, scan(text)):
        source = text[one.span.start : one.span.end]
        assert one.text == " ".join(markdown_to_text(source).strip("| ").replace(" | ", ", ").split())
        assert one.span.start >= last
        last = one.span.end


@pytest.mark.parametrize("path", sorted(SAMPLE.rglob("*.md")), ids=lambda path: path.stem)
def test_prose_of_the_sample_vault_is_cut(path: Path) -> None:
    text = path.read_text("utf-8")
    parsed = scan(text)
    if len(text[parsed.body_start :].split()) > 12:
        assert split_passages(text, parsed)


def test_a_line_that_relates_the_note_is_marked() -> None:
    items = "- part_of [[Navigation]]\n- supports [[Claim]] (confidence: 0.8)\n- oak\n"
    note = f"# Clock\n\nIt is made of oak, see [[Oak]].\n\n{items}"
    matches = {one.text: one.is_relation for one in split_passages(note, scan(note))}
    assert matches == {
        "Clock": False,
        "It is made of oak, see Oak.": False,
        "part_of Navigation": True,
        "supports Claim (confidence: 0.8)": True,
        "oak": False,
    }


def test_a_heading_is_a_passage_below_the_headings_above_it() -> None:
    note = "# Press\n\n## Founded **1887** ##\n\n- ### In Bergen ^place\n\n## \n"
    headings = [one for one in cut(note) if one.is_heading]
    assert [(one.text, one.trail, one.block) for one in headings] == [
        ("Press", (), ""),
        ("Founded 1887", ("Press",), ""),
        ("In Bergen", ("Press", "Founded 1887"), "place"),
    ]
    assert [note[one.span.start : one.span.end] for one in headings] == [
        "Press",
        "Founded **1887**",
        "In Bergen",
    ]


def test_a_property_is_shown_without_quotes_and_brackets() -> None:
    text = '---\nshow: "[[Well Made|The show]]"\nempty: ""\nmotto: \'Slow down\'\n---\n'
    passages = split_passages(text, scan(text))
    assert [passage.text for passage in passages] == ["show: The show", "motto: Slow down"]
    assert text[passages[0].span.start : passages[0].span.end] == 'show: "[[Well Made|The show]]"'


def test_a_property_with_several_values_is_one_passage() -> None:
    sources = (
        "crew: [\"[[Ann Lee|Ann]]\", 'Ben, the cook', [[Cara]], dog]",
        'ports:\n  - "[[Oslo]]"\n  - Bergen',
        "home: [[Hull]]",
    )
    text = "\n".join(("---", *sources, "tags: [sea]", "empty:", "none: []", "---", "Text.", ""))
    passages = list(properties(text, scan(text)))
    assert [passage.text for passage in passages] == [
        "crew: Ann, Ben, the cook, Cara, dog",
        "ports: Oslo, Bergen",
        "home: Hull",
    ]
    assert [text[passage.span.start : passage.span.end] for passage in passages] == [*sources]
    assert [passage.text for passage in split_passages(text, scan(text))] == ["home: Hull", "Text."]


def test_items_with_colons_are_no_properties() -> None:
    text = "---\nlinks:\n  - https://example.org/a\n  - 10:30 meeting\nurl-of: https://example.org\n---\n"
    assert [passage.text for passage in properties(text, scan(text))] == [
        "links: https://example.org/a, 10:30 meeting",
        "url-of: https://example.org",
    ]
