"""Between a note's text and a Qt editor, which knows only one line end: nothing but the edit may change.

Qt splits text at CR LF, LF, CR and U+2029 and gives its paragraphs back with U+2029 between them
(`QTextDocument.toRawText`; `toPlainText` would also turn no-break spaces into spaces).
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from app.vault.markdown.text import BOM

_LINE_END = re.compile("\r\n|\n|\r|\u2029")
PARAGRAPH_SEPARATOR = "\u2029"


def for_editor(text: str) -> str:
    """`text` as it is put into the editor, which keeps no byte order mark."""
    return _LINE_END.sub("\n", text.removeprefix(BOM))


def from_editor(raw: str, original: str) -> str:
    """The editor's raw text with the byte order mark and the line ends of the note.

    A line that the note had keeps its own line end; a new one gets the note's usual one.

    Args:
        raw: What `toRawText` gives.
        original: The note's text as it was put into the editor.
    """
    mark = BOM if original.startswith(BOM) else ""
    original = original.removeprefix(BOM)
    ends = _LINE_END.findall(original)
    kinds = set(ends)
    lines = raw.split(PARAGRAPH_SEPARATOR)
    if len(kinds) <= 1:
        return mark + (ends[0] if ends else "\n").join(lines)
    usual = max(sorted(kinds), key=ends.count)
    old = _LINE_END.split(original)
    new_ends = [usual] * (len(lines) - 1)
    for start, fresh, count in _same_lines(old, lines):
        for offset in range(count):
            if start + offset < len(ends) and fresh + offset < len(new_ends):
                new_ends[fresh + offset] = ends[start + offset]
    return mark + "".join(line + end for line, end in zip(lines, [*new_ends, ""], strict=True))


def _same_lines(old: list[str], new: list[str]) -> list[tuple[int, int, int]]:
    """The runs of lines that both have: where each starts in `old` and in `new`, and how long it is.

    What both have at the start and at the end is not compared line by line: that is slow for long notes.
    """
    shortest = min(len(old), len(new))
    head = next((n for n in range(shortest) if old[n] != new[n]), shortest)
    rest = shortest - head
    tail = next((n for n in range(rest) if old[-1 - n] != new[-1 - n]), rest)
    middle = SequenceMatcher(
        None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False
    ).get_matching_blocks()
    runs = [(head + a, head + b, size) for a, b, size in middle if size]
    return [(0, 0, head), *runs, (len(old) - tail, len(new) - tail, tail)]
