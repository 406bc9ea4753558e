from hypothesis import given
from hypothesis import strategies as st

from app.vault.merge import merge

lines = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\n", b"d\n"]), max_size=8)
texts = st.builds(lambda body, last: b"".join(body) + last, lines, st.sampled_from([b"", b"end"]))


def test_edits_in_different_places_are_merged():
    base = b"one\ntwo\nthree\nfour\n"
    merged = merge(base, b"ONE\ntwo\nthree\nfour\n", b"one\ntwo\nthree\nFOUR\n")
    assert merged.text == b"ONE\ntwo\nthree\nFOUR\n"
    assert merged.conflicts == ()


def test_a_line_added_after_one_that_goes_stays():
    merged = merge(b"kept\nagent\n", b"kept\nagent\nmine\n", b"kept\n")
    assert (merged.text, merged.conflicts) == (b"kept\nmine\n", ())


def test_neighbouring_lines_are_merged():
    merged = merge(b"1\n2\n3\n", b"1\nmine\n3\n", b"1\n2\ntheirs\n")
    assert (merged.text, merged.conflicts) == (b"1\nmine\ntheirs\n", ())


def test_the_same_line_collides_and_both_are_shown():
    merged = merge(b"a\nx\nb\n", b"a\nmine\nb\n", b"a\ntheirs\nb\n")
    assert len(merged.conflicts) == 1
    assert (merged.conflicts[0].ours, merged.conflicts[0].theirs) == (b"mine\n", b"theirs\n")
    assert merged.text == b"a\n<<<<<<< now\nmine\n=======\ntheirs\n>>>>>>> undone\nb\n"


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
def test_a_clean_merge_is_the_same_from_both_sides_and_invents_nothing(base, ours, theirs):
    merged = merge(base, ours, theirs)
    assert bool(merged.conflicts) == bool(merge(base, theirs, ours).conflicts)
    if not merged.conflicts:
        assert merged.text == merge(base, theirs, ours).text
        known = set((base + b"\n" + ours + b"\n" + theirs).splitlines())
        assert set(merged.text.splitlines()) <= known
