"""Line-based three-way merge: combine two sets of changes to the same text.

Both sides are aligned with their common base using the longest common subsequence of lines (for very long
texts, difflib's approximation). Edits that share no line of the base are all applied, even if they are
adjacent: a line added right after one that the other side removes is common in notes, and nothing is lost.
Edits that overlap, or add lines in the same place, become conflicts if they differ.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Indel

_MAX_LINES = 50_000
# The exact alignment needs one bit per pair of lines: at most 50 MB.
_MAX_EXACT_PAIRS = 400_000_000


@dataclass(frozen=True, slots=True)
class Collision:
    """Lines that both sides changed differently, in all three versions."""

    base: bytes
    ours: bytes
    theirs: bytes


@dataclass(frozen=True, slots=True)
class Merge:
    """A merged text, which has the other side's lines in place of conflicts."""

    text: bytes
    conflicts: tuple[Collision, ...]


@dataclass(frozen=True, slots=True)
class _Edit:
    """The replacement of the base's lines `start` to `end` (exclusive) with `lines`."""

    start: int
    end: int
    lines: tuple[bytes, ...]

    def overlaps(self, other: _Edit) -> bool:
        """Return whether they change the same line, add in the same place, or one adds inside the other."""
        if self.start == self.end == other.start == other.end:
            return True
        if self.start == self.end:
            return other.start < self.start < other.end
        if other.start == other.end:
            return self.start < other.start < self.end
        return self.start < other.end and other.start < self.end


@dataclass(slots=True)
class _Region:
    """Edits of both sides that overlap, and the lines of the base that they cover."""

    start: int
    end: int
    ours: list[_Edit]
    theirs: list[_Edit]


def merge(base: bytes, ours: bytes, theirs: bytes) -> Merge:
    """Merge two texts with a common base.

    Swapping the sides swaps the result: the same parts merge and the same parts conflict. Texts that differ
    on both sides and contain a NUL byte or more than 50,000 lines conflict as a whole.

    Args:
        base: The text that both sides started from.
        ours: The current text.
        theirs: The text of the other side.

    Returns:
        The merged text and its conflicts. Each of its lines is a line of one of the three texts.
    """
    if ours in (base, theirs):
        return Merge(theirs, ())
    if theirs == base:
        return Merge(ours, ())
    sides = [text.splitlines(keepends=True) for text in (base, ours, theirs)]
    if any(b"\0" in text for text in (base, ours, theirs)) or max(map(len, sides)) > _MAX_LINES:
        return Merge(theirs, (Collision(base, ours, theirs),))
    head, tail = _common_ends(sides)
    middle = [lines[head : len(lines) - tail] for lines in sides]
    parts = [b"".join(sides[0][:head]), *_parts(*middle), b"".join(sides[0][len(sides[0]) - tail :])]
    for_ours = [part.ours if isinstance(part, Collision) else part for part in parts]
    for_theirs = [part.theirs if isinstance(part, Collision) else part for part in parts]
    if _merges_lines(for_ours) or _merges_lines(for_theirs):
        return Merge(theirs, (Collision(*(b"".join(lines) for lines in middle)),))
    return Merge(b"".join(for_theirs), tuple(part for part in parts if isinstance(part, Collision)))


def _common_ends(sides: Sequence[Sequence[bytes]]) -> tuple[int, int]:
    """Return how many lines at the start and at the end are the same in all texts."""
    shortest = min(map(len, sides))
    first = sides[0]
    head = 0
    while head < shortest and all(side[head] == first[head] for side in sides):
        head += 1
    tail = 0
    while tail < shortest - head and all(side[-1 - tail] == first[-1 - tail] for side in sides):
        tail += 1
    return head, tail


def _parts(base: list[bytes], ours: list[bytes], theirs: list[bytes]) -> Iterator[bytes | Collision]:
    position = 0
    for region in _regions(_edits(base, ours), _edits(base, theirs)):
        yield b"".join(base[position : region.start])
        our_text = _apply_edits(base, region, region.ours)
        their_text = _apply_edits(base, region, region.theirs)
        if not region.theirs or our_text == their_text:
            yield our_text
        elif not region.ours:
            yield their_text
        else:
            yield Collision(b"".join(base[region.start : region.end]), our_text, their_text)
        position = region.end
    yield b"".join(base[position:])


def _edits(base: list[bytes], side: list[bytes]) -> list[_Edit]:
    """Return the edits from `base` to `side`, in order and separated by equal lines."""
    # The library compares hashes, so each distinct line gets its own number.
    line_ids: dict[bytes, int] = {}
    old = [line_ids.setdefault(line, len(line_ids)) for line in base]
    new = [line_ids.setdefault(line, len(line_ids)) for line in side]
    edits: list[_Edit] = []
    base_position = side_position = 0
    for start, side_start, size in _matching_blocks(old, new):
        if start > base_position or side_start > side_position:
            edits.append(_Edit(base_position, start, tuple(side[side_position:side_start])))
        base_position, side_position = start + size, side_start + size
    return edits


def _matching_blocks(old: list[int], new: list[int]) -> list[tuple[int, int, int]]:
    """Return the common runs as (start in old, start in new, length), ending with an empty run."""
    if len(old) * len(new) <= _MAX_EXACT_PAIRS:
        return [(block.a, block.b, block.size) for block in Indel.opcodes(old, new).as_matching_blocks()]
    matcher = difflib.SequenceMatcher(None, old, new)
    return [(block.a, block.b, block.size) for block in matcher.get_matching_blocks()]


def _regions(ours: list[_Edit], theirs: list[_Edit]) -> Iterator[_Region]:
    """Group the overlapping edits of both sides; every other edit forms its own region."""
    tagged = [(edit, True) for edit in ours] + [(edit, False) for edit in theirs]
    region: _Region | None = None
    for edit, is_ours in sorted(tagged, key=lambda tagged_edit: (tagged_edit[0].start, tagged_edit[0].end)):
        others = [] if region is None else region.theirs if is_ours else region.ours
        if region is None or not any(edit.overlaps(other) for other in others):
            if region is not None:
                yield region
            region = _Region(edit.start, edit.end, [], [])
        region.end = max(region.end, edit.end)
        (region.ours if is_ours else region.theirs).append(edit)
    if region is not None:
        yield region


def _apply_edits(base: list[bytes], region: _Region, edits: list[_Edit]) -> bytes:
    """Return the region's lines with one side's edits."""
    parts: list[bytes] = []
    position = region.start
    for edit in edits:
        parts += [*base[position : edit.start], *edit.lines]
        position = edit.end
    return b"".join([*parts, *base[position : region.end]])


def _merges_lines(parts: list[bytes]) -> bool:
    """Return whether joining the parts would merge two lines into one.

    This happens if a line without a newline precedes another part, or a carriage return precedes a newline.
    """
    nonempty_parts = [part for part in parts if part]
    return any(
        not left.endswith((b"\n", b"\r")) or (left.endswith(b"\r") and right.startswith(b"\n"))
        for left, right in itertools.pairwise(nonempty_parts)
    )
