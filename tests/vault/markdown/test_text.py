"""Bytes, newlines and line numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import UnreadableNoteError
from app.vault.markdown.text import LineCounter, apply_edits, decode, decode_lossy, newline_of, with_newlines


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_decoded_and_encoded_are_the_same_bytes(text):
    content = text.encode()
    assert decode(content).encode() == content
    assert decode_lossy(content) == text


def test_the_byte_order_mark_and_newlines_are_kept():
    content = b"\xef\xbb\xbfa\r\nb\rc\n\x00"
    assert decode(content).encode() == content


@pytest.mark.parametrize("content", [b"ab\xff", b"ab\xc3", b"ab\xed\xa0\x80"])
def test_invalid_bytes_are_reported_and_decoded_with_replacement(content):
    with pytest.raises(UnreadableNoteError) as error:
        decode(content)
    assert error.value.data["position"] == 2
    assert decode_lossy(content).startswith("ab\ufffd")


def test_newlines():
    assert newline_of("a\r\nb", 4) == "\r\n"
    assert newline_of("a\nb\r\nc", 2) == "\n"
    assert newline_of("abc\r\nd") == "\r\n"
    assert newline_of("abc") == "\n"
    assert with_newlines("a\nb\r\nc\rd", "\r\n") == "a\r\nb\r\nc\r\nd"


@given(st.text(st.sampled_from("ab\n\r")), st.data())
def test_line_numbers_count_the_newlines_before(text, data):
    lines = LineCounter(text)
    for at in data.draw(st.lists(st.integers(0, len(text)), max_size=5)):
        assert lines.number(at) == text.count("\n", 0, at) + 1


def test_spliced():
    assert apply_edits("abcdef", [(4, 5, "E"), (0, 1, "A"), (2, 2, "-")]) == "Ab-cdEf"
