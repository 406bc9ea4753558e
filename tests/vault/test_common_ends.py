from __future__ import annotations

from itertools import takewhile

from hypothesis import given
from hypothesis import strategies as st

from app.vault.common_ends import common_prefix_length, common_suffix_length

texts = st.text("abé𝄞", max_size=12)


def common(a: str, b: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


@given(texts, texts, texts)
def test_common_ends_are_as_long_as_possible(start, a, b):
    one, other = start + a, start + b
    assert common_prefix_length(one, other) == common(one, other)
    assert common_suffix_length(one[::-1], other[::-1]) == common(one, other)


@given(texts, texts)
def test_the_start_is_not_part_of_the_suffix(a, b):
    start = common_prefix_length(a, b)
    tail = common_suffix_length(a, b, start)
    assert tail == common(a[start:][::-1], b[start:][::-1])
