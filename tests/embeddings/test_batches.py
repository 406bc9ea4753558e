"""Batches contain every text once, are limited in size, and group similar lengths."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.embeddings.batches import MAX_BATCH_TEXTS, group_batches


@given(st.lists(st.integers(0, 3000).map(lambda n: "x" * n), max_size=120))
def test_every_text_is_in_one_bounded_batch_and_lengths_rise(texts: list[str]) -> None:
    groups = group_batches(texts)
    order = [position for group in groups for position in group]
    assert sorted(order) == list(range(len(texts)))
    assert all(0 < len(group) <= MAX_BATCH_TEXTS for group in groups)
    lengths = [len(texts[position]) for position in order]
    assert lengths == sorted(lengths)


def test_long_texts_come_in_small_batches() -> None:
    assert max(len(group) for group in group_batches(["x" * 5000] * 40)) == 8
    assert [len(group) for group in group_batches(["x"] * 40)] == [32, 8]
