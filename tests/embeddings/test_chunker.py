"""Chunks follow headings, are limited and stable, and omit invisible text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.embeddings.chunker import MAX_CHUNK_PIECES, estimate_pieces, markdown_to_text, split_chunks
from app.vault.markdown.scan import scan

NOTE = """---
type: concept
secret: never embedded
---
Before any heading, see [[Other note|the other]].

# Spaced repetition

Asking again just before a memory fades.

## Evidence

First paragraph. %% not this %%

Second paragraph with ![[image.png]] and [a link](https://example.org/x_(y)).
"""


def test_a_chunk_per_heading_with_its_context_and_line() -> None:
    found = split_chunks("Spaced repetition", NOTE, scan(NOTE))
    assert [(chunk.heading, chunk.line) for chunk in found] == [
        ("", 5),
        ("Spaced repetition", 9),
        ("Evidence", 13),
    ]
    assert found[0].text == "Spaced repetition\nBefore any heading, see the other."
    assert found[2].text == (
        "Spaced repetition › Evidence\nFirst paragraph.\nSecond paragraph with and a link."
    )
    assert not any("never embedded" in chunk.text or "not this" in chunk.text for chunk in found)


def test_a_note_without_text_is_its_title() -> None:
    for text in ("", "\n\n", "---\na: b\n---\n", "# Only\n\n## Headings\n"):
        (only,) = split_chunks("Empty note", text, scan(text))
        assert only.text == "Empty note"


def test_a_long_paragraph_is_cut_at_sentences() -> None:
    text = " ".join(f"This is sentence number {n} of a very long paragraph." for n in range(100))
    found = split_chunks("Long", text, scan(text))
    assert len(found) > 3
    assert all(chunk.text.endswith(".") for chunk in found)
    body = " ".join(chunk.text.removeprefix("Long\n") for chunk in found)
    assert body == text


def test_text_without_spaces_is_cut_too() -> None:
    for text in ("知識" * 1000, "x" * 5000, "9" * 5000):
        found = split_chunks("T", text, scan(text))
        assert all(estimate_pieces(chunk.text) <= MAX_CHUNK_PIECES + 1 for chunk in found)
        bodies = "".join(chunk.text.removeprefix("T\n") for chunk in found)
        assert "".join(bodies.split()) == text


def test_a_very_long_title_leaves_room_for_the_text() -> None:
    title = "very long title " * 60
    assert "the words" in split_chunks(title, "the words", scan("the words"))[0].text


@given(st.text(alphabet=st.sampled_from("ab #\n.[]|知`%-"), max_size=600))
def test_chunks_are_bounded_and_their_lines_rise(text: str) -> None:
    found = split_chunks("Title", text, scan(text))
    assert found
    assert all(estimate_pieces(chunk.text) <= MAX_CHUNK_PIECES + 2 for chunk in found)
    lines = [chunk.line for chunk in found]
    assert lines == sorted(lines)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)


def test_an_edit_changes_only_the_hashes_near_it() -> None:
    before = split_chunks("N", NOTE, scan(NOTE))
    edited = NOTE.replace("First paragraph.", "Another paragraph.")
    after = split_chunks("N", edited, scan(edited))
    assert [a.hash == b.hash for a, b in zip(before, after, strict=True)] == [True, True, False]


def test_readable_keeps_the_words() -> None:
    assert markdown_to_text("> **Bold** ==mark== `code` [[A#B]] [[A|b]] <b>x</b> 1 < 2") == (
        "Bold mark code A B b x 1 < 2"
    )
