"""Group texts into batches for the model."""

from __future__ import annotations

from collections.abc import Sequence

MAX_BATCH_TEXTS = 32
MAX_BATCH_TOKENS = 2048
_MAX_TEXT_TOKENS = 256
_CHARACTERS_PER_TOKEN = 3


def group_batches(texts: Sequence[str]) -> list[list[int]]:
    """Return the indexes of `texts` in groups of similar length, shortest first.

    A batch is padded to its longest text, so groups of similar length waste the least. A group has at most
    32 texts and about 2,000 padded tokens (about 150 ms on one core), which is the longest that a user's
    query waits.
    """
    groups: list[list[int]] = []
    for position in sorted(range(len(texts)), key=lambda i: len(texts[i])):
        cost = min(_MAX_TEXT_TOKENS, len(texts[position]) // _CHARACTERS_PER_TOKEN + 2)
        is_full = groups and (
            len(groups[-1]) >= MAX_BATCH_TEXTS or (len(groups[-1]) + 1) * cost > MAX_BATCH_TOKENS
        )
        if not groups or is_full:
            groups.append([])
        groups[-1].append(position)
    return groups
