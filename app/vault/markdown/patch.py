"""Apply unified diffs to a note, checking every context and removed line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from app.errors import ConflictError, InvalidParametersError
from app.vault.markdown.text import newline_of

_HUNK = re.compile(r"@@(?: -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,\d{1,9})? @@.*)?")


@dataclass(slots=True)
class PatchHunk:
    """A hunk: its stated start, its lines with their marks, and its notes about missing final newlines.

    `start` counts lines from 1; it is 0 for an empty file and None if the patch omits it.
    """

    start: int | None
    lines: list[tuple[str, str]] = field(default_factory=list)
    old_lacks_newline: bool = False
    new_lacks_newline: bool = False

    @property
    def old_lines(self) -> list[str]:
        """The lines that the text must contain."""
        return [line for mark, line in self.lines if mark != "+"]


def apply_patch(text: str, patch: str) -> str:
    """Return `text` with the hunks of a unified diff applied; a hunk may have moved if its lines are unique.

    Args:
        text: A note's text.
        patch: Hunks of a unified diff, with or without the `---` and `+++` lines before them.

    Raises:
        InvalidParametersError: it contains no hunks, or an invalid line.
        ConflictError: a hunk's lines are missing or ambiguous, or it has neither old lines nor a valid
            position.
    """
    hunks = read_hunks(patch)
    newline = newline_of(text, len(text))
    rows = re.findall(r"[^\n]*\n|[^\n]+", text)
    lacks_newline = bool(rows) and not rows[-1].endswith("\n")
    bare_rows = [row.removesuffix("\n").removesuffix("\r") for row in rows]
    result: list[str] = []
    line_index, shift = 0, 0
    for number, hunk in enumerate(hunks, 1):
        position = _find_hunk(bare_rows, hunk, line_index, shift, number)
        result += rows[line_index:position]
        line_index = position
        for mark, line in hunk.lines:
            if mark == " ":
                result.append(rows[line_index])
            elif mark == "+":
                result.append(line + newline)
            line_index += mark != "+"
        if hunk.start is not None:
            shift = position - (hunk.start - (1 if hunk.old_lines else 0))
    result += rows[line_index:]
    return _join_rows(result, newline, _result_lacks_newline(hunks, lacks_newline))


def read_hunks(patch: str) -> list[PatchHunk]:
    """Parse the hunks of a unified diff.

    Raises:
        InvalidParametersError: it contains no hunks, or an invalid line.
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
            _mark_missing_newline(hunks[-1])
        elif line[:1] in (" ", "+", "-", ""):
            hunks[-1].lines.append((line[:1] or " ", line[1:]))
        else:
            message = f"Line {number} of the patch starts with {line[0]!r} instead of a space, + or -."
            raise InvalidParametersError(message, line=number)
    if not any(hunk.lines for hunk in hunks):
        message = "The patch contains no hunks. A hunk starts with `@@ -line,count +line,count @@`."
        raise InvalidParametersError(message)
    return hunks


def _mark_missing_newline(hunk: PatchHunk) -> None:
    last = hunk.lines[-1][0] if hunk.lines else " "
    hunk.old_lacks_newline |= last != "+"
    hunk.new_lacks_newline |= last != "-"


def _find_hunk(lines: list[str], hunk: PatchHunk, start: int, shift: int, number: int) -> int:
    """Return the index of the line at which the hunk's old lines start.

    Raises:
        ConflictError: see `apply_patch`.
    """
    old_lines = hunk.old_lines
    stated_position = None if hunk.start is None else hunk.start - (1 if old_lines else 0) + shift
    if (
        stated_position is not None
        and start <= stated_position <= len(lines)
        and lines[stated_position : stated_position + len(old_lines)] == old_lines
    ):
        return stated_position
    positions = (
        [
            i
            for i in range(start, len(lines) - len(old_lines) + 1)
            if lines[i : i + len(old_lines)] == old_lines
        ]
        if old_lines
        else []
    )
    if len(positions) == 1:
        return positions[0]
    reason = f"occur {len(positions)} times" if positions else "are not in the note"
    message = f"The lines that hunk {number} changes {reason}. Nothing was changed."
    if not old_lines:
        message = f"Hunk {number} has no context lines and no valid position. Nothing was changed."
    raise ConflictError(message, hunk=number, expected=old_lines[:20], count=len(positions))


def _result_lacks_newline(hunks: list[PatchHunk], lacks_newline: bool) -> bool:
    if any(hunk.new_lacks_newline for hunk in hunks):
        return True
    return lacks_newline and not any(hunk.old_lacks_newline for hunk in hunks)


def _join_rows(rows: list[str], newline: str, lacks_newline: bool) -> str:
    """Join the rows, each with a newline at its end; the last one has none if `lacks_newline`."""
    if not rows:
        return ""
    ended_rows = [row if row.endswith("\n") else row + newline for row in rows]
    if lacks_newline:
        ended_rows[-1] = ended_rows[-1].removesuffix("\n").removesuffix("\r")
    return "".join(ended_rows)
