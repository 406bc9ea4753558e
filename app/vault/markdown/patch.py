"""Application of unified diffs to a note, with a check of every context and removed line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from app.errors import ConflictError, InvalidParametersError
from app.vault.markdown.text import newline_of

_HUNK = re.compile(r"@@(?: -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,\d{1,9})? @@.*)?")


@dataclass(slots=True)
class PatchHunk:
    """A hunk: its stated start (from 1, or None) and its lines with their marks."""

    start: int | None
    lines: list[tuple[str, str]] = field(default_factory=list)
    old_unended: bool = False
    new_unended: bool = False

    @property
    def old(self) -> list[str]:
        """The lines that the text must contain."""
        return [line for mark, line in self.lines if mark != "+"]


def apply_patch(text: str, patch: str) -> str:
    """Apply the hunks of a unified diff; a hunk may have moved if its lines are unique.

    Args:
        text: A note's text.
        patch: Hunks of a unified diff, with or without the `---` and `+++` lines before them.

    Raises:
        InvalidParametersError: it contains no hunk, or an invalid line.
        ConflictError: the lines of a hunk are missing or ambiguous.
    """
    hunks = read_hunks(patch)
    newline = newline_of(text, len(text))
    rows = re.findall(r"[^\n]*\n|[^\n]+", text)
    unended = bool(rows) and not rows[-1].endswith("\n")
    bare = [row.removesuffix("\n").removesuffix("\r") for row in rows]
    result: list[str] = []
    at, shift = 0, 0
    for number, hunk in enumerate(hunks, 1):
        position = _find_hunk(bare, hunk, at, shift, number)
        result += rows[at:position]
        at = position
        for mark, line in hunk.lines:
            if mark == " ":
                result.append(rows[at])
            elif mark == "+":
                result.append(line + newline)
            at += mark != "+"
        if hunk.start is not None:
            shift = position - (hunk.start - (1 if hunk.old else 0))
    result += rows[at:]
    return _join_rows(result, newline, _stays_unended(hunks, unended))


def read_hunks(patch: str) -> list[PatchHunk]:
    """Parse the hunks of a unified diff.

    Raises:
        InvalidParametersError: it contains no hunk, or an invalid line.
    """
    hunks: list[PatchHunk] = []
    lines = re.split(r"\r?\n", patch)
    # A line with one space is a blank context line; empty lines at the end are not part of the patch.
    while lines and not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        if match := _HUNK.fullmatch(line.rstrip()):
            hunks.append(PatchHunk(int(match[1]) if match[1] else None))
        elif not hunks:
            continue
        elif line.startswith("\\"):
            _mark_unended(hunks[-1])
        elif line[:1] in (" ", "+", "-", ""):
            hunks[-1].lines.append((line[:1] or " ", line[1:]))
        else:
            raise InvalidParametersError(f"Line {number} of the patch starts with {line[0]!r}.", line=number)
    if not any(hunk.lines for hunk in hunks):
        raise InvalidParametersError("The patch contains no hunk: `@@ -line,count +line,count @@`.")
    return hunks


def _mark_unended(hunk: PatchHunk) -> None:
    last = hunk.lines[-1][0] if hunk.lines else " "
    hunk.old_unended |= last != "+"
    hunk.new_unended |= last != "-"


def _find_hunk(lines: list[str], hunk: PatchHunk, at: int, shift: int, number: int) -> int:
    """Return the index of the line at which the hunk's old lines start."""
    old = hunk.old
    stated = None if hunk.start is None else hunk.start - (1 if old else 0) + shift
    if stated is not None and at <= stated <= len(lines) and lines[stated : stated + len(old)] == old:
        return stated
    positions = (
        [i for i in range(at, len(lines) - len(old) + 1) if lines[i : i + len(old)] == old] if old else []
    )
    if len(positions) == 1:
        return positions[0]
    why = f"occur {len(positions)} times" if positions else "are not in the note"
    message = f"The lines that hunk {number} changes {why}. Nothing was changed."
    raise ConflictError(message, hunk=number, expected=old[:20], count=len(positions))


def _stays_unended(hunks: list[PatchHunk], unended: bool) -> bool:
    if any(hunk.new_unended for hunk in hunks):
        return True
    return unended and not any(hunk.old_unended for hunk in hunks)


def _join_rows(rows: list[str], newline: str, unended: bool) -> str:
    """Join the rows; each ends with a newline, the last one only unless `unended`."""
    if not rows:
        return ""
    ended = [row if row.endswith("\n") else row + newline for row in rows]
    if unended:
        ended[-1] = ended[-1].removesuffix("\n").removesuffix("\r")
    return "".join(ended)
