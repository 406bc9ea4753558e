"""Between a note's text and a Qt editor, which knows only one line end: nothing but the edit may change.

Qt splits text at CR LF, LF, CR and U+2029 and gives its paragraphs back with U+2029 between them
(`QTextDocument.toRawText`; `toPlainText` would also turn no-break spaces into spaces).
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

_END = re.compile("\r\n|\n|\r|\u2029")
PARAGRAPH = "\u2029"


def for_editor(text: str) -> str:
    """`text` as it is put into the editor."""
    return _END.sub("\n", text)


def from_editor(raw: str, original: str) -> str:
    """The editor's raw text with the line ends of the note.

    A line that the note had keeps its own line end; a new one gets the note's usual one.

    Args:
        raw: What `toRawText` gives.
        original: The note's text as it was put into the editor.
    """
    ends = _END.findall(original)
    kinds = set(ends)
    lines = raw.split(PARAGRAPH)
    if len(kinds) <= 1:
        return (ends[0] if ends else "\n").join(lines)
    usual = max(sorted(kinds), key=ends.count)
    old = _END.split(original)
    new_ends = [usual] * (len(lines) - 1)
    for tag, a, b, c, _ in SequenceMatcher(None, old, lines, autojunk=False).get_opcodes():
        if tag == "equal":
            for offset in range(b - a):
                if a + offset < len(ends) and c + offset < len(new_ends):
                    new_ends[c + offset] = ends[a + offset]
    return "".join(line + end for line, end in zip(lines, [*new_ends, ""], strict=True))
