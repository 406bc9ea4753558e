from hypothesis import given
from hypothesis import strategies as st

from app.vault.merge import merge

lines = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\n", b"d\n", b"e\r"]), max_size=8)
texts = st.builds(lambda body, last: b"".join(body) + last, lines, st.sampled_from([b"", b"end"]))


def test_edits_in_different_places_are_merged():
    base = b"one\ntwo\nthree\nfour\n"
    merged = merge(base, b"ONE\ntwo\nthree\nfour\n", b"one\ntwo\nthree\nFOUR\n")
    assert merged.text == b"ONE\ntwo\nthree\nFOUR\n"
    assert merged.conflicts == ()


def test_a_line_added_after_a_removed_one_stays():
    merged = merge(b"kept\nagent\n", b"kept\nagent\nmine\n", b"kept\n")
    assert (merged.text, merged.conflicts) == (b"kept\nmine\n", ())


def test_neighboring_lines_are_merged():
    merged = merge(b"1\n2\n3\n", b"1\nmine\n3\n", b"1\n2\ntheirs\n")
    assert (merged.text, merged.conflicts) == (b"1\nmine\ntheirs\n", ())


def test_changes_of_the_same_line_conflict():
    merged = merge(b"a\nx\nb\n", b"a\nmine\nb\n", b"a\ntheirs\nb\n")
    assert len(merged.conflicts) == 1
    assert (merged.conflicts[0].ours, merged.conflicts[0].theirs) == (b"mine\n", b"theirs\n")
    assert merged.text == b"a\ntheirs\nb\n"


def test_lines_without_a_newline_never_run_together():
    merged = merge(b"a\nb\n", b"a\nlast", b"a\nb\nmore\n")
    assert merged.conflicts or b"lastmore" not in merged.text


def test_binary_content_is_one_conflict():
    merged = merge(b"\0a", b"\0b", b"\0c")
    assert len(merged.conflicts) == 1


def test_newlines_of_each_line_stay():
    merged = merge(b"a\r\nb\r\nc\r\n", b"A\r\nb\r\nc\r\n", b"a\r\nb\r\nC\r\n")
    assert merged.text == b"A\r\nb\r\nC\r\n"


@given(texts, texts)
def test_one_sided_edits_win(base: bytes, other: bytes):
    assert merge(base, base, other).text == other
    assert merge(base, other, base).text == other
    assert merge(base, other, other).text == other


@given(texts, texts, texts)
def test_swapping_the_sides_swaps_the_merge(base, ours, theirs):
    merged, swapped = merge(base, ours, theirs), merge(base, theirs, ours)
    assert [(one.base, one.theirs, one.ours) for one in merged.conflicts] == [
        (one.base, one.ours, one.theirs) for one in swapped.conflicts
    ]
    assert merged.conflicts or merged.text == swapped.text


@given(texts, texts, texts)
def test_every_line_comes_from_one_of_the_texts(base, ours, theirs):
    merged = merge(base, ours, theirs)
    known = set(base.splitlines(keepends=True) + ours.splitlines(True) + theirs.splitlines(True))
    assert set(merged.text.splitlines(keepends=True)) <= known


@given(texts, texts, texts)
def test_a_conflict_is_a_change_of_both_sides_that_differs(base, ours, theirs):
    for conflict in merge(base, ours, theirs).conflicts:
        assert conflict.base != conflict.ours
        assert conflict.base != conflict.theirs
        assert conflict.ours != conflict.theirs
        assert conflict.base in base
        assert conflict.ours in ours
        assert conflict.theirs in theirs


@given(
    st.lists(st.sampled_from([b"a", b"b"]), min_size=1, max_size=6),
    st.lists(st.integers(0, 2), min_size=6, max_size=6),
)
def test_edits_with_a_kept_line_between_them_never_conflict(blocks, sides):
    """Each block of lines is edited by at most one side; a unique line is between two blocks."""
    texts = [b"", b"", b""]
    expected = b""
    for number, block in enumerate(blocks):
        kept, changed = block + b"\n", b"new %d\n" % number
        mine = [changed if side == sides[number] and side else kept for side in range(3)]
        texts = [text + line + b"kept %d\n" % number for text, line in zip(texts, mine, strict=True)]
        expected += (changed if sides[number] else kept) + b"kept %d\n" % number
    merged = merge(*texts)
    assert (merged.text, merged.conflicts) == (expected, ())


def test_long_texts_merge_without_comparing_all_lines_with_all():
    base = [b"line %d\n" % number for number in range(40_000)]
    ours, theirs = [b"first\n", *base[1:]], [*base[:-1], b"last\n"]
    merged = merge(b"".join(base), b"".join(ours), b"".join(theirs))
    assert (merged.text, merged.conflicts) == (b"".join([b"first\n", *base[1:-1], b"last\n"]), ())
