"""Which texts go through the model together."""

from __future__ import annotations

from collections.abc import Sequence

LARGEST = 32
PADDED_TOKENS = 2048
_LONGEST_TEXT = 256
_CHARACTERS_PER_TOKEN = 3


def batches(texts: Sequence[str]) -> list[list[int]]:
    """The texts' positions in groups of like length, shortest first.

    A batch is padded to its longest text, so groups of like length waste least; each group is bounded to
    about 2,000 padded tokens (some 150 ms on one core), which is how long a question of the user waits.
    """
    groups: list[list[int]] = []
    for position in sorted(range(len(texts)), key=lambda i: len(texts[i])):
        cost = min(_LONGEST_TEXT, len(texts[position]) // _CHARACTERS_PER_TOKEN + 2)
        full = groups and (len(groups[-1]) >= LARGEST or (len(groups[-1]) + 1) * cost > PADDED_TOKENS)
        if not groups or full:
            groups.append([])
        groups[-1].append(position)
    return groups
