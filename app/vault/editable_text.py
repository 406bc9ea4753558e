"""Text for an editor, converted back to bytes without changing lines that the user did not edit. Pure.

An editor has one kind of line ending and no byte order mark; files have both. The mark and each line's ending
are stored separately and restored; a new line gets the most common ending.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from app.vault.diff import compare

_BOM = "\ufeff"
# Characters that an editor would lose or turn into a line break.
_UNEDITABLE = re.compile("\r(?!\n)|[\x00\u2028\u2029\ufdd0\ufdd1]")


class NotEditableError(ValueError):
    """The bytes would not survive an editor; the message says why."""


@dataclass(frozen=True, slots=True)
class EditableText:
    """The editable `text` of a file, and what `encode` needs to convert an edited text to bytes."""

    text: str
    ends: tuple[str, ...]
    has_mark: bool

    @classmethod
    def of(cls, content: bytes) -> EditableText:
        """Create the editable form of `content`.

        Raises:
            NotEditableError: it is not UTF-8, or holds characters that an editor would lose.
        """
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise NotEditableError(f"byte {error.start + 1} is not UTF-8 text") from error
        if match := _UNEDITABLE.search(text):
            raise NotEditableError(f"it contains U+{ord(match[0]):04X}, which an editor would lose")
        has_mark = text.startswith(_BOM)
        ends = tuple(re.findall("\r?\n", text))
        return cls(text.removeprefix(_BOM).replace("\r\n", "\n"), ends, has_mark)

    def encode(self, edited: str) -> bytes:
        """Return the bytes of `edited`; unchanged lines keep their endings, and the file keeps its mark.

        Raises:
            NotEditableError: a character can't be encoded as UTF-8.
        """
        lines = edited.split("\n")
        ends = self._ends_for(lines)
        text = "".join(line + end for line, end in zip(lines, ends, strict=True))
        try:
            return ((_BOM if self.has_mark else "") + text).encode("utf-8")
        except UnicodeEncodeError as error:
            half = f"U+{ord(error.object[error.start]):04X}"
            raise NotEditableError(
                f"it contains half of a character ({half}), which is not valid text"
            ) from error

    def _ends_for(self, lines: list[str]) -> list[str]:
        most_common_end = Counter(self.ends).most_common(1)[0][0] if self.ends else "\n"
        ends = [most_common_end] * (len(lines) - 1) + [""]
        if len(set(self.ends)) > 1:
            old = [line.encode("utf-8", "surrogatepass") for line in self.text.split("\n")]
            new = [line.encode("utf-8", "surrogatepass") for line in lines]
            for line_number, origin in _common_lines(old, new):
                if line_number < len(lines) - 1 and origin < len(self.ends):
                    ends[line_number] = self.ends[origin]
        return ends


def _common_lines(old: list[bytes], new: list[bytes]) -> list[tuple[int, int]]:
    """Return the lines of `new` that are also in `old`, as (index in new, index in old)."""
    diff = compare(b"\n".join(old) + b"\n", b"\n".join(new) + b"\n")
    pairs: list[tuple[int, int]] = []
    at_old = at_new = 0
    for hunk in diff.hunks:
        pairs += zip(range(at_new, hunk.after_start), range(at_old, hunk.before_start), strict=True)
        at_old, at_new = hunk.before_end, hunk.after_end
    pairs += zip(range(at_new, len(new)), range(at_old, len(old)), strict=True)
    return pairs
