"""Convert line endings between a note's text and a Qt editor, preserving all unedited text.

Qt splits text at CR LF, LF, CR and U+2029, and returns its paragraphs joined by U+2029
(`QTextDocument.toRawText`; `toPlainText` would also replace no-break spaces with spaces).
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import pairwise

from app.vault.markdown.text import BOM

_LINE_END = re.compile("\r\n|\n|\r|\u2029")
PARAGRAPH_SEPARATOR = "\u2029"


def for_editor(text: str) -> str:
    """Return `text` for the editor: with LF line endings, without a byte order mark."""
    return _LINE_END.sub("\n", text.removeprefix(BOM))


def from_editor(raw: str, original: str) -> str:
    """Return the editor's raw text with the byte order mark and the line endings of the note.

    A line keeps its own ending, even if its text is edited; a new line gets the note's most common one.

    Args:
        raw: The result of `toRawText`.
        original: The note's text before the conversion by `for_editor`.
    """
    bom = BOM if original.startswith(BOM) else ""
    original = original.removeprefix(BOM)
    ends = _LINE_END.findall(original)
    kinds = set(ends)
    lines = raw.split(PARAGRAPH_SEPARATOR)
    if len(kinds) <= 1:
        return bom + (ends[0] if ends else "\n").join(lines)
    default_end = max(sorted(kinds), key=ends.count)
    old_lines = _LINE_END.split(original)
    new_ends = [default_end] * (len(lines) - 1)
    for start, new_start, count in _paired_lines(old_lines, lines):
        for offset in range(count):
            if start + offset < len(ends) and new_start + offset < len(new_ends):
                new_ends[new_start + offset] = ends[start + offset]
    return bom + "".join(line + end for line, end in zip(lines, [*new_ends, ""], strict=True))


def _paired_lines(old_lines: list[str], new_lines: list[str]) -> list[tuple[int, int, int]]:
    """Return the runs of lines that are equal or edited: start in `old_lines` and `new_lines`, and length.

    Between equal lines, edited lines are paired from the end backward, so that the second part of a split
    line keeps its ending. The common start and end are found first, because `SequenceMatcher` is slow for
    long notes.
    """
    shortest = min(len(old_lines), len(new_lines))
    prefix = next((n for n in range(shortest) if old_lines[n] != new_lines[n]), shortest)
    remaining = shortest - prefix
    suffix = next((n for n in range(remaining) if old_lines[-1 - n] != new_lines[-1 - n]), remaining)
    middle = SequenceMatcher(
        None,
        old_lines[prefix : len(old_lines) - suffix],
        new_lines[prefix : len(new_lines) - suffix],
        autojunk=False,
    ).get_matching_blocks()
    equal = [
        (0, 0, prefix),
        *((prefix + a, prefix + b, size) for a, b, size in middle if size),
        (len(old_lines) - suffix, len(new_lines) - suffix, suffix),
    ]
    runs = [equal[0]]
    for (old_before, new_before, count), run in pairwise(equal):
        old_start, new_start, _ = run
        edited = min(old_start - old_before - count, new_start - new_before - count)
        runs += [(old_start - edited, new_start - edited, edited), run]
    return runs
