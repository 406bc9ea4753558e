"""Word-level diffs: the pairing of lines in a hunk and their changed words. Pure.

The results are only displayed, never applied. The work is limited, so that a line of several megabytes costs
no more than a paragraph: it gets one span from its first to its last difference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rapidfuzz.distance import Indel, LCSseq

from app.vault.common_ends import common_prefix_length, common_suffix_length

Span = tuple[int, int]
Pair = tuple[int | None, int | None]

# CJK text has no spaces between words: each of its characters counts as a word.
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
    """Return the removed spans of `before` and the added spans of `after`, in characters.

    Spans are whole words, unless a word has more than 100 characters; those separated only by whitespace are
    joined. If the lines have hardly anything in common, each is one span, which is easier to read than many
    small ones.
    """
    head = common_prefix_length(before, after)
    tail = common_suffix_length(before, after, head)
    head, tail = _to_word_edges(before, after, head, tail)
    middle_before, middle_after = before[head : len(before) - tail], after[head : len(after) - tail]
    if len(middle_before) + len(middle_after) > _MAX_MIDDLE_CHARS:
        return _full_span(head, middle_before), _full_span(head, middle_after)
    old_tokens, new_tokens = _WORD.findall(middle_before), _WORD.findall(middle_after)
    if max(len(old_tokens), len(new_tokens)) > _MAX_TOKENS:
        return _full_span(head, middle_before), _full_span(head, middle_after)
    removed, added, common = _changed_tokens(old_tokens, new_tokens)
    if (head + tail + common) < _MIN_COMMON_SHARE * max(len(before), len(after)):
        return _full_span(0, before), _full_span(0, after)
    return _spans(old_tokens, removed, head), _spans(new_tokens, added, head)


def pair_lines(before: Sequence[str], after: Sequence[str]) -> list[Pair]:
    """Pair the lines of a hunk, in order: (i, j), (i, None) for removed, (None, j) for added lines.

    Similar lines are paired, so that an inserted line does not shift all others. If a hunk is too large to
    compare every pair, its lines are paired by position.
    """
    if not before or not after or len(before) * len(after) > _MAX_PAIRINGS:
        shared_length = min(len(before), len(after))
        pairs: list[Pair] = [(i, i) for i in range(shared_length)]
        pairs += [(i, None) for i in range(shared_length, len(before))]
        return pairs + [(None, j) for j in range(shared_length, len(after))]
    return _insert_unpaired(_best_pairs(before, after), len(before), len(after))


def _best_pairs(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Return the order-preserving pairs with the greatest total similarity."""
    old_lines = [line[:_MAX_COMPARED_CHARS] for line in before]
    new_lines = [line[:_MAX_COMPARED_CHARS] for line in after]
    rows, columns = len(old_lines), len(new_lines)
    similarity = [
        [Indel.normalized_similarity(x, y, score_cutoff=_MIN_SIMILARITY) for y in new_lines]
        for x in old_lines
    ]
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            paired = similarity[i][j] + best[i + 1][j + 1] if similarity[i][j] else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < rows and j < columns:
        if similarity[i][j] and best[i][j] == similarity[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _insert_unpaired(pairs: list[tuple[int, int]], rows: int, columns: int) -> list[Pair]:
    """Return the pairs and the unpaired lines in order, removed lines before added ones."""
    filled: list[Pair] = []
    old_position = new_position = 0
    for i, j in [*pairs, (rows, columns)]:
        filled += [(k, None) for k in range(old_position, i)]
        filled += [(None, k) for k in range(new_position, j)]
        if i < rows:
            filled.append((i, j))
        old_position, new_position = i + 1, j + 1
    return filled


def _to_word_edges(before: str, after: str, head: int, tail: int) -> tuple[int, int]:
    """Shorten the common start and end so that neither splits a word on either side."""
    for _ in range(min(head, _MAX_WORD_CHARS)):
        if not _head_splits_word(before, after, head):
            break
        head -= 1
    for _ in range(min(tail, _MAX_WORD_CHARS)):
        if not _tail_splits_word(before, after, tail):
            break
        tail -= 1
    return head, tail


def _head_splits_word(before: str, after: str, head: int) -> bool:
    return any(head < len(text) and _is_one_word(text[head - 1], text[head]) for text in (before, after))


def _tail_splits_word(before: str, after: str, tail: int) -> bool:
    ends = ((text, len(text) - tail) for text in (before, after))
    return any(index > 0 and _is_one_word(text[index - 1], text[index]) for text, index in ends)


def _is_one_word(left: str, right: str) -> bool:
    """Return whether two adjacent characters belong to one word."""
    return len(_WORD.findall(left + right)) == 1


def _changed_tokens(old_tokens: list[str], new_tokens: list[str]) -> tuple[set[int], set[int], int]:
    """Return the indexes of the removed and the added tokens, and the number of common characters."""
    token_ids: dict[str, int] = {}
    a = [token_ids.setdefault(token, len(token_ids)) for token in old_tokens]
    b = [token_ids.setdefault(token, len(token_ids)) for token in new_tokens]
    removed, added, common = set(range(len(old_tokens))), set(range(len(new_tokens))), 0
    for code in LCSseq.opcodes(a, b):
        if code.tag == "equal":
            removed.difference_update(range(code.src_start, code.src_end))
            added.difference_update(range(code.dest_start, code.dest_end))
            common += sum(map(len, old_tokens[code.src_start : code.src_end]))
    return removed, added, common


def _spans(tokens: list[str], changed: set[int], offset: int) -> tuple[Span, ...]:
    """Return the changed tokens as character spans, joined across unchanged whitespace."""
    spans: list[Span] = []
    start = offset
    for index, token in enumerate(tokens):
        end = start + len(token)
        is_bridge = token.isspace() and index - 1 in changed and index + 1 in changed
        if index in changed or is_bridge:
            if spans and spans[-1][1] == start:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
        start = end
    return tuple(spans)


def _full_span(start: int, text: str) -> tuple[Span, ...]:
    return ((start, start + len(text)),) if text else ()
