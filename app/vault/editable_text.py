"""Text for an editor, converted back to bytes without changing lines that the user did not edit. Pure.

An editor uses one kind of line ending and no byte order mark; files can differ. The mark and each line's
ending are stored separately and restored; new and changed lines get the most common ending.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from app.translatable_text import TranslatableText
from app.vault.diff import compare

_BOM = "\ufeff"
# Characters that an editor would lose or turn into a line break.
_UNEDITABLE = re.compile("\r(?!\n)|[\x00\u2028\u2029\ufdd0\ufdd1]")


class NotEditableError(ValueError):
    """The bytes or the edited text can't be converted without loss.

    Attributes:
        reason: Why, as a clause that starts with its subject.
    """

    def __init__(self, reason: TranslatableText) -> None:
        super().__init__(reason.english)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class EditableText:
    """The editable `text` of a file, and what `encode` needs to convert edited text to bytes."""

    text: str
    line_endings: tuple[str, ...]
    has_mark: bool

    @classmethod
    def of(cls, content: bytes) -> EditableText:
        """Create the editable form of `content`.

        Raises:
            NotEditableError: It is not UTF-8, or contains characters that an editor would lose.
        """
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            reason = TranslatableText("Approval", "byte {0} is not UTF-8 text").fill(str(error.start + 1))
            raise NotEditableError(reason) from error
        if match := _UNEDITABLE.search(text):
            reason = TranslatableText("Approval", "it contains {0}, which an editor would lose")
            raise NotEditableError(reason.fill(f"U+{ord(match[0]):04X}"))
        has_mark = text.startswith(_BOM)
        line_endings = tuple(re.findall("\r?\n", text))
        return cls(text.removeprefix(_BOM).replace("\r\n", "\n"), line_endings, has_mark)

    def encode(self, edited: str) -> bytes:
        """Return the bytes of `edited`; unchanged lines keep their endings, and the file keeps its mark.

        Raises:
            NotEditableError: A character can't be encoded as UTF-8.
        """
        lines = edited.split("\n")
        line_endings = self._line_endings_for(lines)
        text = "".join(line + end for line, end in zip(lines, line_endings, strict=True))
        try:
            return ((_BOM if self.has_mark else "") + text).encode("utf-8")
        except UnicodeEncodeError as error:
            reason = TranslatableText(
                "Approval", "it contains half of a character ({0}), which is not valid text"
            )
            raise NotEditableError(reason.fill(f"U+{ord(error.object[error.start]):04X}")) from error

    def _line_endings_for(self, lines: list[str]) -> list[str]:
        most_common_ending = Counter(self.line_endings).most_common(1)[0][0] if self.line_endings else "\n"
        line_endings = [most_common_ending] * (len(lines) - 1) + [""]
        if len(set(self.line_endings)) > 1:
            old_lines = [line.encode("utf-8", "surrogatepass") for line in self.text.split("\n")]
            new_lines = [line.encode("utf-8", "surrogatepass") for line in lines]
            for line_number, origin in _unchanged_lines(old_lines, new_lines):
                if line_number < len(lines) - 1 and origin < len(self.line_endings):
                    line_endings[line_number] = self.line_endings[origin]
        return line_endings


def _unchanged_lines(old_lines: list[bytes], new_lines: list[bytes]) -> list[tuple[int, int]]:
    """Return the unchanged lines, as (index in `new_lines`, index in `old_lines`)."""
    diff = compare(b"\n".join(old_lines) + b"\n", b"\n".join(new_lines) + b"\n")
    pairs: list[tuple[int, int]] = []
    old_position = new_position = 0
    for hunk in diff.hunks:
        pairs += zip(
            range(new_position, hunk.after_start), range(old_position, hunk.before_start), strict=True
        )
        old_position, new_position = hunk.before_end, hunk.after_end
    pairs += zip(range(new_position, len(new_lines)), range(old_position, len(old_lines)), strict=True)
    return pairs
