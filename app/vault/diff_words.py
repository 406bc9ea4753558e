"""Within a changed stretch: which line became which, and which words of it changed. Pure.

Both are for the eye only; nothing is applied from them. Work is capped, so that a line of megabytes
costs no more than a paragraph: it gets one mark from its first to its last difference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rapidfuzz.distance import Indel, LCSseq

Span = tuple[int, int]
Pair = tuple[int | None, int | None]

# CJK text has no spaces between words: each of its characters is a word of its own.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"\r?\n|[^\W{_CJK}]+|[ \t]+|.", re.DOTALL)
_MAX_MIDDLE_CHARS = 32_000
_MAX_TOKENS = 4_000
_MAX_COMPARED_CHARS = 400
_MAX_WORD_CHARS = 100
_MAX_PAIRINGS = 4_000
_MIN_SIMILARITY = 0.4
_MIN_COMMON_SHARE = 0.2


def changed_spans(before: str, after: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Return the spans (characters) of `before` that went and of `after` that came.

    Spans are whole words. Two of them with only a space between are one; where hardly anything is
    common, both lines are marked whole, which reads better than confetti.
    """
    head = _common_start(before, after)
    tail = _common_start(before[head:][::-1], after[head:][::-1])
    head, tail = _to_word_edges(before, after, head, tail)
    middle_before, middle_after = before[head : len(before) - tail], after[head : len(after) - tail]
    if len(middle_before) + len(middle_after) > _MAX_MIDDLE_CHARS:
        return _full_span(head, middle_before), _full_span(head, middle_after)
    old, new = _WORD.findall(middle_before), _WORD.findall(middle_after)
    if max(len(old), len(new)) > _MAX_TOKENS:
        return _full_span(head, middle_before), _full_span(head, middle_after)
    gone, come, common = _changed_tokens(old, new)
    if (head + tail + common) < _MIN_COMMON_SHARE * max(len(before), len(after)):
        return _full_span(0, before), _full_span(0, after)
    return _spans(old, gone, head), _spans(new, come, head)


def pair_lines(before: Sequence[str], after: Sequence[str]) -> list[Pair]:
    """Which line of a hunk became which, in order: (i, j), (i, None) for gone, (None, j) for new.

    Lines are paired where they are alike, so that a line put in between does not shift all marks; a hunk
    too large to compare each with each is paired by position.
    """
    if not before or not after or len(before) * len(after) > _MAX_PAIRINGS:
        both = min(len(before), len(after))
        pairs: list[Pair] = [(i, i) for i in range(both)]
        pairs += [(i, None) for i in range(both, len(before))]
        return pairs + [(None, j) for j in range(both, len(after))]
    return _fill(_best_pairs(before, after), len(before), len(after))


def _best_pairs(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs that keep their order and are most alike in sum."""
    old = [line[:_MAX_COMPARED_CHARS] for line in before]
    new = [line[:_MAX_COMPARED_CHARS] for line in after]
    rows, columns = len(old), len(new)
    alike = [[Indel.normalized_similarity(x, y, score_cutoff=_MIN_SIMILARITY) for y in new] for x in old]
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            paired = alike[i][j] + best[i + 1][j + 1] if alike[i][j] else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < rows and j < columns:
        if alike[i][j] and best[i][j] == alike[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _fill(pairs: list[tuple[int, int]], rows: int, columns: int) -> list[Pair]:
    """Return the pairs with the lines between them: first those that went, then those that came."""
    filled: list[Pair] = []
    at_old = at_new = 0
    for i, j in [*pairs, (rows, columns)]:
        filled += [(k, None) for k in range(at_old, i)]
        filled += [(None, k) for k in range(at_new, j)]
        if i < rows:
            filled.append((i, j))
        at_old, at_new = i + 1, j + 1
    return filled


def _common_start(a: str, b: str) -> int:
    """How many characters both start with, by halving: slices compare at the speed of memory."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _to_word_edges(before: str, after: str, head: int, tail: int) -> tuple[int, int]:
    """Return the common start and end cut back to where no word is split, on either side."""
    for _ in range(min(head, _MAX_WORD_CHARS)):
        if not _continues(before, after, head):
            break
        head -= 1
    for _ in range(min(tail, _MAX_WORD_CHARS)):
        if not _precedes(before, after, tail):
            break
        tail -= 1
    return head, tail


def _continues(before: str, after: str, at: int) -> bool:
    return any(at < len(text) and _joins(text[at - 1], text[at]) for text in (before, after))


def _precedes(before: str, after: str, tail: int) -> bool:
    places = ((text, len(text) - tail) for text in (before, after))
    return any(at > 0 and _joins(text[at - 1], text[at]) for text, at in places)


def _joins(left: str, right: str) -> bool:
    """Return whether two neighbours are of one word."""
    return len(_WORD.findall(left + right)) == 1


def _changed_tokens(old: list[str], new: list[str]) -> tuple[set[int], set[int], int]:
    """Return the tokens that went, those that came, and how many characters stayed."""
    names: dict[str, int] = {}
    a = [names.setdefault(token, len(names)) for token in old]
    b = [names.setdefault(token, len(names)) for token in new]
    gone, come, common = set(range(len(old))), set(range(len(new))), 0
    for code in LCSseq.opcodes(a, b):
        if code.tag == "equal":
            gone.difference_update(range(code.src_start, code.src_end))
            come.difference_update(range(code.dest_start, code.dest_end))
            common += sum(map(len, old[code.src_start : code.src_end]))
    return gone, come, common


def _spans(tokens: list[str], changed: set[int], offset: int) -> tuple[Span, ...]:
    """Return the changed tokens as character spans, joined over a space between two of them."""
    spans: list[Span] = []
    start = offset
    for index, token in enumerate(tokens):
        end = start + len(token)
        bridges = token.isspace() and index - 1 in changed and index + 1 in changed
        if index in changed or bridges:
            if spans and spans[-1][1] == start:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
        start = end
    return tuple(spans)


def _full_span(start: int, text: str) -> tuple[Span, ...]:
    return ((start, start + len(text)),) if text else ()
