"""Line and word diffs are exact for every selection of hunks, and fast for any text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.vault.diff import Diff, Hunk, compare, split_lines
from app.vault.diff_words import changed_spans, pair_lines

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\n", b"long line\n", b"\xff\n"]), max_size=14)
ENDS = st.sampled_from([b"", b"no end", b"a", b"\r", b"\xef\xbb\xbf"])
TEXTS = st.builds(lambda lines, end: b"".join(lines) + end, LINES, ENDS)


@given(TEXTS, TEXTS)
def test_all_hunks_give_the_new_text_and_none_the_old(before: bytes, after: bytes) -> None:
    diff = compare(before, after)
    assert diff.apply(range(len(diff.hunks))) == after
    assert diff.apply(()) == before


@given(st.binary(max_size=200))
def test_lines_joined_are_the_content(content: bytes) -> None:
    lines = split_lines(content)
    assert b"".join(lines) == content
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines[:-1])


@given(TEXTS, TEXTS, st.sets(st.integers(0, 13)))
@example(b"p\nq\nb", b"P\nq\nb\nc\n", {0})
@example(b"x\n", b"x\ny", {0})
def test_a_choice_of_hunks_changes_only_its_own_lines(before: bytes, after: bytes, chosen: set[int]) -> None:
    diff = compare(before, after)
    result = split_lines(diff.apply(chosen))
    expected: list[bytes] = []
    position = 0
    for index, hunk in enumerate(diff.hunks):
        expected += diff.before[position : hunk.before_start]
        side = (diff.after, hunk.after_start, hunk.after_end)
        lines, start, end = side if index in chosen else (diff.before, hunk.before_start, hunk.before_end)
        expected += lines[start:end]
        position = hunk.before_end
    expected += diff.before[position:]
    # Line by line, not only as a whole: no selection joins two lines.
    assert list(result) == expected


@given(TEXTS, TEXTS)
def test_hunks_are_in_order_never_touch_and_what_is_between_is_the_same(before: bytes, after: bytes) -> None:
    diff = compare(before, after)
    at_before = at_after = 0
    for number, hunk in enumerate(diff.hunks):
        assert hunk.removed or hunk.added
        assert number == 0 or hunk.before_start > at_before
        assert diff.before[at_before : hunk.before_start] == diff.after[at_after : hunk.after_start]
        at_before, at_after = hunk.before_end, hunk.after_end
    assert diff.before[at_before:] == diff.after[at_after:]


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(content: bytes) -> None:
    assert compare(content, content).hunks == ()


def test_one_changed_line_is_one_hunk_of_one_line() -> None:
    diff = compare(b"one\ntwo\nthree\n", b"one\nzwei\nthree\n")
    assert diff.hunks == (Hunk(1, 2, 1, 2),)
    assert (diff.added, diff.removed) == (1, 1)


def test_a_lost_newline_at_the_end_is_a_change() -> None:
    diff = compare(b"one\ntwo\n", b"one\ntwo")
    assert diff.hunks == (Hunk(1, 2, 1, 2),)


def test_a_moved_function_keeps_the_lines_around_it() -> None:
    before = b"".join(b"line %d\n" % n for n in range(100))
    after = before.replace(b"line 40\n", b"").replace(b"line 60\n", b"line 60\nline 40\n")
    assert compare(before, after).hunks == (Hunk(40, 41, 40, 40), Hunk(61, 61, 60, 61))


def test_a_hundred_thousand_lines_with_edits_all_over() -> None:
    before = [b"line %d of a large file\n" % n for n in range(100_000)]
    after = [b"edited\n" if n % 97 == 0 else line for n, line in enumerate(before)]
    diff = compare(b"".join(before), b"".join(after))
    assert len(diff.hunks) == len(range(0, 100_000, 97))
    assert diff.apply(range(len(diff.hunks))) == b"".join(after)


def test_a_gap_too_large_to_search_is_one_exact_change() -> None:
    before, after = b"x\ny\n" * 5_000, b"y\ny\nx\n" * 5_000
    diff = compare(before, after)
    assert diff.apply(range(len(diff.hunks))) == after


def test_a_line_of_megabytes_is_one_line() -> None:
    line = b"word " * 1_000_000
    diff = compare(line, line.replace(b"word", b"WORD", 1))
    assert [len(side) for side in (diff.before, diff.after)] == [1, 1]
    old, new = (side[0].decode() for side in (diff.before, diff.after))
    assert changed_spans(old, new) == (((0, 4),), ((0, 4),))


def marked(text: str, spans: tuple[tuple[int, int], ...]) -> list[str]:
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("before", "after", "gone", "come"),
    [
        ("see [[Old Name]].", "see [[New Name]].", ["Old"], ["New"]),
        ("a quick fox", "a quick brown fox", [], ["brown "]),
        ("这是一个测试", "这是两个测试", ["一"], ["两"]),
        ("the cats sat", "the cat sat", ["cats"], ["cat"]),
        ("same\r\n", "same\n", ["\r\n"], ["\n"]),
        ("pay to you", "pay to \u202eyou", [], ["\u202e"]),
    ],
)
def test_the_words_that_changed_are_marked(before: str, after: str, gone: list[str], come: list[str]) -> None:
    old, new = changed_spans(before, after)
    assert (marked(before, old), marked(after, new)) == (gone, come)


@given(st.text(max_size=60), st.text(max_size=60))
def test_what_is_not_marked_is_the_same_on_both_sides(before: str, after: str) -> None:
    old, new = changed_spans(before, after)

    def rest(text: str, spans: tuple[tuple[int, int], ...]) -> str:
        inside = {place for start, end in spans for place in range(start, end)}
        return "".join(c for place, c in enumerate(text) if place not in inside and not c.isspace())

    assert rest(before, old) == rest(after, new)


@given(st.lists(st.text(max_size=8), max_size=8), st.lists(st.text(max_size=8), max_size=8))
def test_pairs_name_every_line_once_and_in_order(before: list[str], after: list[str]) -> None:
    pairs = pair_lines(before, after)
    assert [i for i, _ in pairs if i is not None] == list(range(len(before)))
    assert [j for _, j in pairs if j is not None] == list(range(len(after)))


def test_a_line_put_in_between_does_not_shift_the_pairs() -> None:
    before, after = ["the first line", "the second line"], ["new", "the first lines", "the second lime"]
    assert pair_lines(before, after) == [(None, 0), (0, 1), (1, 2)]


def test_a_diff_is_a_value() -> None:
    assert compare(b"a\n", b"b\n") == Diff((b"a\n",), (b"b\n",), (Hunk(0, 1, 0, 1),))
