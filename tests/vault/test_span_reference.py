"""Links to an exact span find it by its hash, even if it moved; a changed passage is not found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.vault.markdown.scan import scan
from app.vault.note import Span
from app.vault.span_reference import find_fragment, find_span, fragment_of, is_span

NOTE = "---\ntags: [a]\n---\n# Head\n\nFirst line\nsecond line. ^both\n\n- an item ^item\n- another\n"


@given(st.text(min_size=1, max_size=60), st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_a_span_is_found_where_it_is_and_where_it_has_moved(
    words: str, before: str, after: str, inserted: str
) -> None:
    text = before + words + after
    fragment = fragment_of(text, Span(len(before), len(before) + len(words)))
    assert is_span(fragment)
    assert find_span(text, fragment) == Span(len(before), len(before) + len(words))
    moved = find_span(inserted + text, fragment)
    assert moved is not None and (inserted + text)[moved.start : moved.end] == words


@given(st.text(alphabet="abc", min_size=2, max_size=40), st.integers(0, 39))
def test_a_changed_span_is_not_found(words: str, at: int) -> None:
    fragment = fragment_of(words, Span(0, len(words)))
    at %= len(words)
    assert find_span(words[:at] + "x" + words[at + 1 :], fragment) is None


def test_the_nearest_copy_wins() -> None:
    fragment = fragment_of("aa .. aa .. aa", Span(6, 8))
    assert find_span("aa .. !aa .. aa", fragment) == Span(7, 9)


def test_a_block_is_the_paragraph_or_the_item_without_its_id() -> None:
    parsed = scan(NOTE)
    both, item = find_fragment(NOTE, parsed, "^both"), find_fragment(NOTE, parsed, "^item")
    assert both is not None and NOTE[both.start : both.end] == "First line\nsecond line."
    assert item is not None and NOTE[item.start : item.end] == "- an item"
    assert find_fragment(NOTE, parsed, "^gone") is None


def test_other_fragments_name_no_span() -> None:
    for fragment in ("", "Head", "line=3", "span=", "span=5-2-0123456789", "span=1-2-xyz"):
        assert find_span(NOTE, fragment) is None
