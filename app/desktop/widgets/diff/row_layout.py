"""Lay out the rows of a diff, unified or side by side, with unchanged sections folded. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from app.desktop.widgets.diff.wrapping import find_breaks
from app.vault.diff import Diff, Hunk
from app.vault.diff_words import Span, changed_spans, pair_lines
from app.vault.escaped_line import EscapedLine, escape_line

CONTEXT_LINES = 3
_MIN_FOLDED_LINES = 4
# Lines with more cells are prepared in advance: finding their changed words takes milliseconds.
_LONG_LINE_CELLS = 20_000
# The number of cells that can be wrapped in a few milliseconds.
_MAX_SYNC_CELLS = 400_000
_Numbers = npt.NDArray[np.int64]


class DiffMode(StrEnum):
    """The display mode; `TEXT` is for a single text, with one column of line numbers."""

    UNIFIED = "unified"
    SIDE_BY_SIDE = "side-by-side"
    TEXT = "text"


class DiffRow(NamedTuple):
    """One row: the lines on its two sides (None: no line) and its hunk (-1: unchanged).

    A row for a folded section has the first lines of the section, and their number in `folded`.
    """

    before: int | None
    after: int | None
    hunk: int = -1
    folded: int = 0


@dataclass(frozen=True)
class DiffRows:
    """A diff laid out in one mode.

    `partners` maps a replaced line (side, number) to its counterpart on the other side, and `first_rows`
    holds the index of each hunk's first row. For a very large diff, construct it and call `prepare` in a
    thread; afterwards, the cost of painting depends only on the visible rows.
    """

    diff: Diff
    mode: DiffMode
    rows: tuple[DiffRow, ...]
    partners: dict[tuple[str, int], int]
    first_rows: tuple[int, ...]
    _lines: Callable[[str, int], EscapedLine] = field(repr=False)
    _marks: Callable[[int, int], tuple[tuple[Span, ...], tuple[Span, ...]]] = field(repr=False)
    _cells: _Numbers = field(repr=False)
    _breaks: Callable[[str, int, int], list[int]] = field(repr=False)
    _heights: dict[int, _Numbers] = field(default_factory=dict, repr=False)

    def line(self, side: str, number: int) -> EscapedLine:
        """Return line `number` of the side "before" or "after" as it is displayed."""
        return self._lines(side, number)

    def breaks(self, side: str, number: int, columns: int) -> list[int]:
        """Return the offsets at which a line's rows start in a pane `columns` cells wide (cached)."""
        return self._breaks(side, number, columns)

    def marks(self, side: str, number: int) -> tuple[Span, ...]:
        """Return the changed words of a line as spans of its displayed text; empty without a counterpart."""
        partner = self.partners.get((side, number))
        if partner is None:
            return ()
        before, after = (number, partner) if side == "before" else (partner, number)
        spans = self._marks(before, after)[0 if side == "before" else 1]
        line = self.line(side, number)
        return tuple((line.displayed_index(start), line.displayed_index(end)) for start, end in spans)

    @property
    def fold_rows(self) -> list[int]:
        """The indexes of the rows for folded sections."""
        return list(np.nonzero(self._cells < 0)[0].tolist())

    def fold_end(self, row: DiffRow) -> int:
        """Return the first line after the fold `row`, as an index into the old text's lines."""
        return (row.before or 0) + row.folded

    def heights(self, columns: int) -> _Numbers:
        """Return the number of text lines of each row in panes `columns` cells wide (cached)."""
        heights = self._heights.get(columns)
        if heights is None:
            heights = self._heights[columns] = self._measure(columns)
        return heights

    def is_ready(self, columns: int) -> bool:
        """Return whether `heights` is quick: it is cached, or there is little text to wrap."""
        return columns in self._heights or int(self._cells.clip(0).sum()) <= _MAX_SYNC_CELLS

    def prepare(self, columns: int) -> None:
        """Compute in advance the heights and changed words that would delay painting; for a worker thread."""
        self.heights(columns)
        for index in np.nonzero(self._cells > _LONG_LINE_CELLS)[0]:
            if self.rows[index].hunk >= 0:
                for side, number in _row_lines(self.rows[index]):
                    self.marks(side, number)

    def _measure(self, columns: int) -> _Numbers:
        heights = np.ones(len(self.rows), dtype=np.int64)
        for index in np.nonzero(self._cells > columns)[0]:
            lines = _row_lines(self.rows[index])
            heights[index] = max(len(self.breaks(side, number, columns)) for side, number in lines)
        return heights

    def lines_above_change(self, index: int, columns: int) -> int:
        """Return the number of text lines in row `index` above its first changed word."""
        row = self.rows[index]
        counts: list[int] = []
        for side, number in (("before", row.before), ("after", row.after)):
            if number is not None and (marks := self.marks(side, number)):
                counts.append(bisect_right(self.breaks(side, number, columns), marks[0][0]) - 1)
        return min(counts, default=0)


def _row_lines(row: DiffRow) -> list[tuple[str, int]]:
    """Return a row's lines, or only one of them if both sides are the same."""
    lines = [(side, n) for side, n in (("before", row.before), ("after", row.after)) if n is not None]
    return lines[-1:] if row.hunk < 0 else lines


def layout_rows(diff: Diff, mode: DiffMode, unfolded: Iterable[int] = ()) -> DiffRows:
    """Return the rows of `diff`, with long runs of unchanged lines folded.

    The `CONTEXT_LINES` lines next to a change stay visible.

    Args:
        diff: The diff.
        mode: The display mode.
        unfolded: The folds to show unfolded, by their first line in the old text.
    """
    partners: dict[tuple[str, int], int] = {}
    rows: list[DiffRow] = []
    first_rows: list[int] = []
    unfolded_lines = frozenset(unfolded)
    for hunk_index, unchanged in _sections(diff):
        if hunk_index < 0:
            rows += _unchanged_rows(unchanged, diff, unfolded_lines)
        else:
            first_rows.append(len(rows))
            rows += _hunk_rows(hunk_index, diff, mode, partners)
    lines = _line_source(diff)
    cells = np.fromiter((_row_cells(row, lines) for row in rows), dtype=np.int64, count=len(rows))
    marks, breaks = _mark_source(diff), _break_source(lines)
    return DiffRows(diff, mode, tuple(rows), partners, tuple(first_rows), lines, marks, cells, breaks)


def _sections(diff: Diff) -> Iterator[tuple[int, Hunk]]:
    """Yield unchanged sections (index -1) and hunks in order."""
    next_before = next_after = 0
    for index, hunk in enumerate(diff.hunks):
        if hunk.before_start > next_before:
            yield -1, Hunk(next_before, hunk.before_start, next_after, hunk.after_start)
        yield index, hunk
        next_before, next_after = hunk.before_end, hunk.after_end
    if next_before < len(diff.before):
        yield -1, Hunk(next_before, len(diff.before), next_after, len(diff.after))


def _unchanged_rows(section: Hunk, diff: Diff, unfolded: frozenset[int]) -> Iterator[DiffRow]:
    """Yield the rows of an unchanged section, with a long middle part folded."""
    count = section.removed
    follows_change = bool(diff.hunks) and diff.hunks[0].before_start < section.before_end
    precedes_change = bool(diff.hunks) and diff.hunks[-1].before_start >= section.before_end
    leading = CONTEXT_LINES if follows_change or not diff.hunks else 0
    trailing = CONTEXT_LINES if precedes_change or not diff.hunks else 0
    folded = count - leading - trailing
    is_folded = folded >= _MIN_FOLDED_LINES and section.before_start + leading not in unfolded
    for offset in range(leading if is_folded else count):
        yield DiffRow(section.before_start + offset, section.after_start + offset)
    if is_folded:
        yield DiffRow(section.before_start + leading, section.after_start + leading, folded=folded)
        for offset in range(count - trailing, count):
            yield DiffRow(section.before_start + offset, section.after_start + offset)


def _hunk_rows(
    index: int, diff: Diff, mode: DiffMode, partners: dict[tuple[str, int], int]
) -> Iterator[DiffRow]:
    """Yield the rows of a hunk, and pair its replaced lines in `partners`."""
    hunk = diff.hunks[index]
    removed = range(hunk.before_start, hunk.before_end)
    added = range(hunk.after_start, hunk.after_end)
    if not removed or not added:
        yield from (DiffRow(i, None, index) for i in removed)
        yield from (DiffRow(None, j, index) for j in added)
        return
    pairs = pair_lines(
        [_decode_line(diff.before[i]) for i in removed], [_decode_line(diff.after[j]) for j in added]
    )
    for i, j in pairs:
        if i is not None and j is not None:
            partners["before", removed[i]] = added[j]
            partners["after", added[j]] = removed[i]
    if mode is not DiffMode.SIDE_BY_SIDE:
        yield from (DiffRow(i, None, index) for i in removed)
        yield from (DiffRow(None, j, index) for j in added)
    else:
        for i, j in pairs:
            yield DiffRow(None if i is None else removed[i], None if j is None else added[j], index)


def _line_source(diff: Diff) -> Callable[[str, int], EscapedLine]:
    sides = {"before": diff.before, "after": diff.after}

    @lru_cache(maxsize=4096)
    def line(side: str, number: int) -> EscapedLine:
        lines = sides[side]
        return escape_line(lines[number], is_first=number == 0, is_last=number == len(lines) - 1)

    return line


def _break_source(lines: Callable[[str, int], EscapedLine]) -> Callable[[str, int, int], list[int]]:
    @lru_cache(maxsize=4096)
    def breaks(side: str, number: int, columns: int) -> list[int]:
        return find_breaks(lines(side, number), columns)

    return breaks


def _mark_source(diff: Diff) -> Callable[[int, int], tuple[tuple[Span, ...], tuple[Span, ...]]]:
    @lru_cache(maxsize=2048)
    def marks(before: int, after: int) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
        return changed_spans(_decode_line(diff.before[before]), _decode_line(diff.after[after]))

    return marks


def _row_cells(row: DiffRow, lines: Callable[[str, int], EscapedLine]) -> int:
    if row.folded:
        return -1
    before = lines("before", row.before).cells if row.before is not None and row.hunk >= 0 else 0
    return max(before, lines("after", row.after).cells if row.after is not None else 0)


def _decode_line(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")
