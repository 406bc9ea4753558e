"""Format unified diffs and split a patch into files. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.errors import InvalidParametersError
from app.vault.diff import Diff, Hunk

_CONTEXT_LINES = 3
_DEV_NULL = "/dev/null"
_HUNK_HEADER = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")


@dataclass(frozen=True, slots=True)
class FilePatch:
    """The hunks of one file; `old_name` is None for a file to create, `new_name` for one to delete."""

    old_name: str | None
    new_name: str | None
    hunks: str


def unified_diff(diff: Diff, old_name: str, new_name: str) -> str:
    """Format a diff in the unified format with three lines of context; empty if there are no differences."""
    if not diff.hunks:
        return ""
    lines = [f"--- {old_name}\n", f"+++ {new_name}\n"]
    for group in _groups(diff.hunks):
        lines += _group_lines(diff, group)
    return "".join(lines)


def split_patch(patch: str) -> list[FilePatch]:
    """Split a unified diff by file; a patch without `---` and `+++` lines has empty names.

    Files without hunks are omitted.

    Raises:
        InvalidParametersError: A `---` line is not followed by a `+++` line.
    """
    rows = re.split(r"(?<=\n)", patch)
    patches: list[FilePatch] = []
    old_name: str | None = ""
    new_name: str | None = ""
    hunks: list[str] = []
    lines_left = [0, 0]
    index = 0
    while index < len(rows):
        row = rows[index]
        if not any(lines_left) and row.startswith("--- "):
            if index + 1 >= len(rows) or not rows[index + 1].startswith("+++ "):
                raise InvalidParametersError(
                    f"Line {index + 1} of the patch starts a file without a +++ line."
                )
            if hunks:
                patches.append(FilePatch(old_name, new_name, "".join(hunks)))
            old_name, new_name, hunks = _header_name(row), _header_name(rows[index + 1]), []
            index += 2
            continue
        lines_left = _lines_left(row, lines_left)
        if hunks or row.startswith("@@"):
            hunks += [row] if any(lines_left) or not _is_between_files(row) else []
        index += 1
    if hunks:
        patches.append(FilePatch(old_name, new_name, "".join(hunks)))
    return patches


def _lines_left(row: str, lines_left: list[int]) -> list[int]:
    """Return how many lines the hunk still has on each side after this row."""
    if match := _HUNK_HEADER.match(row):
        return [1 if count is None else int(count) for count in match.groups()]
    old = lines_left[0] - (row[:1] in (" ", "-", "\n", "\r"))
    new = lines_left[1] - (row[:1] in (" ", "+", "\n", "\r"))
    return [max(0, old), max(0, new)]


def _is_between_files(row: str) -> bool:
    """Return whether a row is a header that git writes before the next file."""
    return row.startswith(
        ("diff --git ", "index ", "new file mode", "deleted file mode", "old mode", "new mode", "similarity ")
    )


def _header_name(row: str) -> str | None:
    name = row[4:].split("\t")[0].strip()
    if name == _DEV_NULL:
        return None
    return name[2:] if name.startswith(("a/", "b/")) else name


def _groups(hunks: tuple[Hunk, ...]) -> Iterator[list[Hunk]]:
    """Group hunks whose context lines overlap or touch."""
    group: list[Hunk] = []
    for hunk in hunks:
        if group and hunk.before_start - group[-1].before_end > 2 * _CONTEXT_LINES:
            yield group
            group = []
        group.append(hunk)
    yield group


def _group_lines(diff: Diff, group: list[Hunk]) -> list[str]:
    start = max(0, group[0].before_start - _CONTEXT_LINES)
    end = min(len(diff.before), group[-1].before_end + _CONTEXT_LINES)
    shift = group[0].after_start - group[0].before_start
    shift_after = group[-1].after_end - group[-1].before_end
    lines = [
        f"@@ -{_span(start, end - start)} +{_span(start + shift, end + shift_after - start - shift)} @@\n"
    ]
    position = start
    for hunk in group:
        lines += [_diff_row(" ", line) for line in diff.before[position : hunk.before_start]]
        lines += [_diff_row("-", line) for line in diff.before[hunk.before_start : hunk.before_end]]
        lines += [_diff_row("+", line) for line in diff.after[hunk.after_start : hunk.after_end]]
        position = hunk.before_end
    return lines + [_diff_row(" ", line) for line in diff.before[position:end]]


def _span(start: int, count: int) -> str:
    return f"{start + 1 if count else start},{count}"


def _diff_row(mark: str, line: bytes) -> str:
    text = line.decode("utf-8", "replace")
    return f"{mark}{text}" if text.endswith("\n") else f"{mark}{text}\n\\ No newline at end of file\n"
