"""Text for an editor, and back to bytes without touching a line that the user did not touch. Pure.

An editor knows one kind of line end and no byte order mark; files have both. So the mark and each line's
own end are kept aside and come back; a new line gets the end that most lines have.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from app.vault.diff import compare

_BOM = "\ufeff"
# What an editor would turn into a line break or lose.
_NOT_KEPT = re.compile("\r(?!\n)|[\x00\u2028\u2029\ufdd0\ufdd1]")


class NotEditableError(ValueError):
    """The bytes would not survive an editor; the message says why."""


@dataclass(frozen=True, slots=True)
class EditableText:
    """`text` is what the editor gets; `encode` makes bytes of what it holds later."""

    text: str
    ends: tuple[str, ...]
    has_mark: bool

    @classmethod
    def of(cls, content: bytes) -> EditableText:
        """The editable form of `content`.

        Raises:
            NotEditableError: it is not UTF-8, or holds characters that an editor does not keep.
        """
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise NotEditableError(f"byte {error.start + 1} is not UTF-8 text") from error
        if found := _NOT_KEPT.search(text):
            raise NotEditableError(f"it holds U+{ord(found[0]):04X}, which no editor keeps")
        has_mark = text.startswith(_BOM)
        ends = tuple(re.findall("\r?\n", text))
        return cls(text.removeprefix(_BOM).replace("\r\n", "\n"), ends, has_mark)

    def encode(self, edited: str) -> bytes:
        """The bytes of `edited`: unchanged lines keep their ends, the byte order mark comes back.

        Raises:
            NotEditableError: a character of it can't be written as UTF-8.
        """
        lines = edited.split("\n")
        ends = self._ends_for(lines)
        text = "".join(line + end for line, end in zip(lines, ends, strict=True))
        try:
            return ((_BOM if self.has_mark else "") + text).encode("utf-8")
        except UnicodeEncodeError as error:
            half = f"U+{ord(error.object[error.start]):04X}"
            raise NotEditableError(f"it holds half of a character ({half}), which is no text") from error

    def _ends_for(self, lines: list[str]) -> list[str]:
        usual = Counter(self.ends).most_common(1)[0][0] if self.ends else "\n"
        ends = [usual] * (len(lines) - 1) + [""]
        if len(set(self.ends)) > 1:
            old = [line.encode("utf-8", "surrogatepass") for line in self.text.split("\n")]
            new = [line.encode("utf-8", "surrogatepass") for line in lines]
            for place, origin in _unchanged(old, new):
                if place < len(lines) - 1 and origin < len(self.ends):
                    ends[place] = self.ends[origin]
        return ends


def _unchanged(old: list[bytes], new: list[bytes]) -> list[tuple[int, int]]:
    """The lines of `new` that stand in `old`, as (place in new, place in old)."""
    diff = compare(b"\n".join(old) + b"\n", b"\n".join(new) + b"\n")
    same: list[tuple[int, int]] = []
    at_old = at_new = 0
    for hunk in diff.hunks:
        same += zip(range(at_new, hunk.after_start), range(at_old, hunk.before_start), strict=True)
        at_old, at_new = hunk.before_end, hunk.after_end
    same += zip(range(at_new, len(new)), range(at_old, len(old)), strict=True)
    return same
