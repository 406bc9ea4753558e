"""Escaped display of file lines: invisible, reordering and misleading characters get a label.

No byte is lost: bytes that are not UTF-8 appear one by one; control, bidi, zero-width and unassigned
characters become labels (drawn as chips, which text can't imitate); tabs and trailing spaces become faint
signs; and a carriage return before a newline or a missing newline at the end of the file gets a label.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from app.vault.invisible_chars import character_label, is_hidden

CHIP_SIGN = "chip"
QUIET_SIGN = "quiet"
NOTE_SIGN = "note"
# Joined by no-break spaces, so that the label stays in one piece.
NO_NEWLINE = "no\u00a0newline\u00a0at\u00a0end"
_TAB_WIDTH = 4

# Characters that never need a label; all others are checked one by one.
_SAFE = (
    "\x20-\x7e\xa1-\xac\xae-\u02ff\u0370-\u0377\u0384-\u038a\u038e-\u03a1\u03a3-\u0482\u048a-\u052f"
    "\u05d0-\u05ea\u0620-\u064a\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2190-\u23ff\u2500-\u27ff"
    "\u3001-\u3029\u3041-\u3096\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e"
)
_SUSPICIOUS = re.compile(rf"[^{_SAFE}]")
# Characters per regex call: a longer call would block other threads, including the window's.
_CHUNK_CHARS = 32_768
_NARROW = re.compile(r"[\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0377\u0384-\u0482\u048a-\u052f]*")


@dataclass(frozen=True, slots=True)
class EscapedLine:
    """The displayed form of one line.

    `text` is the line with labels in place of hidden characters. `signs` are the spans of `text` that are
    labels of hidden characters (`CHIP_SIGN`), labels of the line ending (`NOTE_SIGN`) or faint signs
    (`QUIET_SIGN`). `cells` is the width in character cells; `is_narrow` means that each character takes one
    cell. `shifts` maps positions in the source to positions in `text`.
    """

    text: str
    signs: tuple[tuple[int, int, str], ...] = ()
    shifts: tuple[tuple[int, int], ...] = ()
    is_narrow: bool = True
    cells: int = 0

    def displayed_index(self, index: int) -> int:
        """Return the index in `text` of the source's character `index`."""
        if not self.shifts:
            return min(index, len(self.text))
        shift_index = bisect_right(self.shifts, index, key=lambda shift: shift[0]) - 1
        source, displayed = self.shifts[shift_index] if shift_index >= 0 else (0, 0)
        return min(displayed + index - source, len(self.text))


def escape_line(line: bytes, *, is_first: bool = False, is_last: bool = False) -> EscapedLine:
    """Return the displayed form of a line.

    Args:
        line: The line, with its newline if it has one.
        is_first: Whether it is the file's first line, which may start with a byte order mark.
        is_last: Whether it is the file's last line, whose missing newline gets a label.
    """
    has_newline = line.endswith(b"\n")
    text = (
        line[:-1].decode("utf-8", "surrogateescape")
        if has_newline
        else line.decode("utf-8", "surrogateescape")
    )
    body = text[:-1] if has_newline and text.endswith("\r") else text
    if body is text and (has_newline or not is_last) and next(_iter_suspicious(text), None) is None:
        return _measure(text, (), ())
    escaper = _LineEscaper()
    end_of_previous = 0
    for suspicious, position in _iter_suspicious(body):
        escaper.add_plain(body[end_of_previous:position], end_of_previous)
        escaper.add_suspicious(suspicious, position, is_first=is_first)
        end_of_previous = position + len(suspicious)
    escaper.add_plain(body[end_of_previous:], end_of_previous)
    if body is not text:
        escaper.add_sign("CR", len(body), NOTE_SIGN)
    if is_last and not has_newline:
        escaper.add_sign(NO_NEWLINE, len(text), NOTE_SIGN)
    return _measure("".join(escaper.parts), tuple(escaper.signs), tuple(escaper.shifts))


@lru_cache(maxsize=4096)
def cell_width(character: str) -> int:
    """Return the width of a character in cells: 2 if wide, 0 for combining marks, else 1."""
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _iter_suspicious(text: str) -> Iterator[tuple[str, int]]:
    """Yield each character that may need a label, with its index, and the trailing spaces as one run."""
    end = len(text.rstrip(" "))
    for start in _chunks(end):
        for match in _SUSPICIOUS.finditer(text, start, min(start + _CHUNK_CHARS, end)):
            yield match[0], match.start()
    if end < len(text):
        yield text[end:], end


def _chunks(length: int) -> range:
    return range(0, length, _CHUNK_CHARS)


class _LineEscaper:
    """Builds the displayed text, its signs and the map of source positions."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.signs: list[tuple[int, int, str]] = []
        self.shifts: list[tuple[int, int]] = []
        self._length = 0

    def add_plain(self, text: str, source: int) -> None:
        self.shifts.append((source, self._length))
        self.parts.append(text)
        self._length += len(text)

    def add_sign(self, text: str, source: int, kind: str) -> None:
        self.signs.append((self._length, self._length + len(text), kind))
        self.add_plain(text, source)

    def add_suspicious(self, text: str, source: int, *, is_first: bool) -> None:
        if text[0] == " ":
            self.add_sign("·" * len(text), source, QUIET_SIGN)
        elif text == "\t":
            self.add_sign("→".ljust(_TAB_WIDTH - self._length % _TAB_WIDTH), source, QUIET_SIGN)
        elif text == "\ufeff" and is_first and source == 0:
            self.add_sign("BOM", source, CHIP_SIGN)
        elif is_hidden(text) and not self._follows_symbol(text):
            self.add_sign(character_label(text), source, CHIP_SIGN)
        else:
            self.add_plain(text, source)

    def _follows_symbol(self, text: str) -> bool:
        """Return whether this is a variation selector directly after a symbol, where its effect shows."""
        if text not in "\ufe0e\ufe0f":
            return False
        previous = next((part[-1] for part in reversed(self.parts) if part), "")
        return bool(previous) and unicodedata.category(previous) in ("So", "Sm")


def _measure(
    text: str, signs: tuple[tuple[int, int, str], ...], shifts: tuple[tuple[int, int], ...]
) -> EscapedLine:
    is_narrow = text.isascii() or all(
        _NARROW.fullmatch(text, start, start + _CHUNK_CHARS) for start in _chunks(len(text))
    )
    cells = (
        len(text)
        if is_narrow
        else sum(
            text_cells(text[part_start : part_start + _CHUNK_CHARS]) for part_start in _chunks(len(text))
        )
    )
    return EscapedLine(text, signs, shifts, is_narrow, cells)


def text_cells(text: str) -> int:
    """Return the width of text in cells."""
    return sum(map(cell_width, text))
