"""Merged texts keep what the strategy promises byte for byte, and no relation is lost or duplicated."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.analysis.note_merge import Strategy, check_distinct, merge_note_texts
from app.errors import InvalidParametersError
from app.vault.markdown.scan import scan

FIRST = """---
type: claim # mine
tags: [a]
confidence: 0.5
---
# First

Text of the first.

## Relations

- supports [[X]]
"""
SECOND = """---
type: note
tags: [a, b]
aliases: Zwei
status: open
---
# Second

Text of the second.

## Relations

- supports [[X]] (confidence: 0.9)
- cites [[Y]] (page 3)
"""


def test_combine_keeps_both_texts_and_joins_the_rest() -> None:
    merged = merge_note_texts(FIRST, SECOND, "combine", "Second")
    assert merged.text == (
        "---\ntype: claim # mine\ntags: [a, b]\nconfidence: 0.5\nstatus: open\n"
        "aliases:\n  - Zwei\n  - Second\n---\n"
        "# First\n\nText of the first.\n\n# Second\n\nText of the second.\n\n## Relations\n\n"
        "- supports [[X]]\n- cites [[Y]] (page 3)\n"
    )
    assert merged.relations == 1


def test_prefer_primary_keeps_its_prose_byte_for_byte() -> None:
    merged = merge_note_texts(FIRST, SECOND, "prefer_primary", "Second")
    body = FIRST[scan(FIRST).body_start :]
    assert merged.text[scan(merged.text).body_start :] == body + "- cites [[Y]] (page 3)\n"


def test_prefer_secondary_takes_the_other_text_and_keeps_the_relations() -> None:
    merged = merge_note_texts(FIRST, SECOND, "prefer_secondary", "Second")
    note = scan(merged.text)
    assert "Text of the second." in merged.text and "Text of the first." not in merged.text
    assert {(one.type, one.link.target) for one in note.relations} == {("SUPPORTS", "X"), ("CITES", "Y")}
    assert note.type == "note" and note.confidence == 0.5


def test_relations_in_properties_come_along() -> None:
    merged = merge_note_texts("One\n", "---\nsupports: '[[X]]'\n---\nTwo\n", "prefer_primary", "Two")
    assert [(one.type, one.link.target) for one in scan(merged.text).relations] == [("SUPPORTS", "X")]
    own = "---\nsupports: '[[W]]'\n---\nOne\n"
    both = merge_note_texts(own, "---\nsupports: '[[X]]'\n---\n", "combine", "Two")
    assert {one.link.target for one in scan(both.text).relations} == {"W", "X"}


def test_a_private_text_stays_private() -> None:
    merged = merge_note_texts("---\nai: open\n---\nOne\n", "---\nai: private\n---\nTwo\n", "combine", "Two")
    assert scan(merged.text).is_private


def test_a_note_is_not_merged_with_itself() -> None:
    with pytest.raises(InvalidParametersError):
        check_distinct("A.md", "A.md")


_LINE = st.sampled_from(
    [
        "Plain text.",
        "- supports [[X]]",
        "- cites [[Y]] (why)",
        "# Heading",
        "## Relations",
        "",
        "[[Z]] too",
        "- [ ] a task",
        "part_of:: [[W]]",
        "Ä 鄭和",
    ]
)
_HEAD = st.sampled_from(["", "---\ntags: [a]\n---\n", "---\ntype: claim\naliases: [B]\n---\n", "\ufeff"])
_TEXT = st.builds(
    lambda head, lines, newline, ends: head + newline.join(lines) + (newline if ends else ""),
    _HEAD,
    st.lists(_LINE, max_size=8),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)


@given(_TEXT, _TEXT, st.sampled_from(get_args(Strategy)))
def test_no_promised_text_is_lost(first: str, second: str, strategy: Strategy) -> None:
    merged = merge_note_texts(first, second, strategy, "Other").text
    lines = [line.strip() for line in merged.splitlines()]
    kept = {"combine": (first, second), "prefer_primary": (first,), "prefer_secondary": (second,)}[strategy]
    for text in kept:
        note = scan(text)
        said = {text.splitlines()[one.line - 1].strip() for one in note.relations}
        for line in (one.strip() for one in text[note.body_start :].lstrip("\ufeff").splitlines()):
            assert not line or line in lines or line in said or line == "## Relations", (line, merged)
    wanted = {(one.type, one.link.target) for text in (first, second) for one in scan(text).relations}
    assert wanted <= {(one.type, one.link.target) for one in scan(merged).relations}
    assert "Other" in scan(merged).aliases
