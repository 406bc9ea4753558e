"""Three-way merge by lines: what two people did to the same text, together where they do not collide.

The alignment is merge3's (the algorithm of Bazaar, pure Python, on bytes). On top of it, edits that only
touch, such as a line added right after one that the other side removes, are merged too: in notes that is
the usual case, and nothing of either side is lost by it.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from merge3 import Merge3

_MAX_LINES = 50_000
_MAX_WORK = 4_000_000


@dataclass(frozen=True, slots=True)
class Collision:
    """Lines that both sides changed in different ways: as they were, and as each side has them."""

    base: bytes
    ours: bytes
    theirs: bytes


@dataclass(frozen=True, slots=True)
class Merge:
    """The merged text; where sides collide it holds both, between markers.

    `for_theirs` is the merged text with the other side's lines where they collide.
    """

    text: bytes
    conflicts: tuple[Collision, ...]
    for_theirs: bytes


def merge(base: bytes, ours: bytes, theirs: bytes) -> Merge:
    """Merge two texts that come from the same base.

    Args:
        base: what both sides started from.
        ours: the text as it is now.
        theirs: the text as the other side wants it.
    """
    if ours in (base, theirs):
        return Merge(theirs, (), theirs)
    if theirs == base:
        return Merge(ours, (), ours)
    sides = [text.splitlines(keepends=True) for text in (base, ours, theirs)]
    if any(b"\0" in text for text in (base, ours, theirs)) or max(map(len, sides)) > _MAX_LINES:
        whole = Collision(base, ours, theirs)
        return Merge(_marked(whole), (whole,), theirs)
    head, tail = _common(sides)
    old, mine, other = (lines[head : len(lines) - tail] for lines in sides)
    parts = [b"".join(sides[0][:head])]
    others = [*parts]
    collisions = []
    for group in Merge3(old, mine, other).merge_groups():
        if group[0] != "conflict":
            parts.append(b"".join(group[1]))
            others.append(parts[-1])
            continue
        together = _touching(group[1], group[2], group[3])
        if together is not None:
            parts.append(together)
            others.append(together)
        else:
            collisions.append(Collision(b"".join(group[1]), b"".join(group[2]), b"".join(group[3])))
            parts.append(_marked(collisions[-1]))
            others.append(collisions[-1].theirs)
    rest = b"".join(sides[0][len(sides[0]) - tail :])
    others = [part for part in (*others, rest) if part]
    for_theirs = theirs if _glued(others) else b"".join(others)
    return Merge(b"".join((*parts, rest)), tuple(collisions), for_theirs)


def _common(sides: Sequence[Sequence[bytes]]) -> tuple[int, int]:
    """How many lines at the start and at the end are the same in all three texts."""
    shortest = min(map(len, sides))
    first = sides[0]
    head = 0
    while head < shortest and all(side[head] == first[head] for side in sides):
        head += 1
    tail = 0
    while tail < shortest - head and all(side[-1 - tail] == first[-1 - tail] for side in sides):
        tail += 1
    return head, tail


def _touching(base: Sequence[bytes], ours: Sequence[bytes], theirs: Sequence[bytes]) -> bytes | None:
    """The merge of changes that lie side by side without sharing a line; None if they do collide."""
    if len(base) * max(len(ours), len(theirs)) > _MAX_WORK:
        return None
    edits = sorted(
        (start, end, number, lines)
        for number, side in enumerate((ours, theirs))
        for start, end, lines in _edits(base, side)
    )
    parts: list[bytes] = []
    done = 0
    for place, (start, end, number, lines) in enumerate(edits):
        for other_start, other_end, other_number, _ in edits[place + 1 :]:
            if other_number != number and _collide(start, end, other_start, other_end):
                return None
        parts += [*base[done:start], *lines]
        done = end
    parts += base[done:]
    return None if _glued(parts) else b"".join(parts)


def _glued(parts: Sequence[bytes]) -> bool:
    """Whether two lines would run together: a last line without a newline must stay the last."""
    return any(part and not part.endswith((b"\n", b"\r")) for part in parts[:-1])


def _edits(base: Sequence[bytes], side: Sequence[bytes]) -> list[tuple[int, int, list[bytes]]]:
    codes = difflib.SequenceMatcher(None, base, side, autojunk=False).get_opcodes()
    return [(i1, i2, list(side[j1:j2])) for tag, i1, i2, j1, j2 in codes if tag != "equal"]


def _collide(start: int, end: int, other_start: int, other_end: int) -> bool:
    """Whether two edits share a line, add at the same place, or one adds inside the other's lines."""
    if start == end == other_start == other_end:
        return True
    if start == end:
        return other_start < start < other_end
    if other_start == other_end:
        return start < other_start < end
    return start < other_end and other_start < end


def _marked(collision: Collision) -> bytes:
    newline = b"\r\n" if b"\r\n" in collision.ours + collision.theirs else b"\n"

    def whole(text: bytes) -> bytes:
        return text if not text or text.endswith((b"\n", b"\r")) else text + newline

    parts = [b"<<<<<<< now", newline, whole(collision.ours), b"=======", newline]
    return b"".join([*parts, whole(collision.theirs), b">>>>>>> undone", newline])
