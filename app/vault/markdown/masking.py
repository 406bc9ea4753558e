"""The parts of a note that are not prose: code, math and comments, which hold no links, tags or fields.

One pass moves from opener to opener and skips each span to its end, so the first opener wins and every
character is examined a bounded number of times. Sources: CommonMark 0.31 for code, Obsidian's help for `%%`
comments and `$` math.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

MASK = "\0"
_MAX_PREFIX_CHARS = 256

# Wikilinks and URLs are skipped, so that `$`, `%%` and backticks in them open nothing. Every branch starts
# with one literal character (one backtick, then more of them), so that `re` searches for those characters
# instead of trying each branch at every position.
_OPENER = re.compile(
    r"\\[\\`$%<~]"
    r"|\[\[(?>[^\[\]\n]+|\](?!\])|\[(?!\[))++\]\]"
    r"|://[^\s`<>)\]]*+"
    r"|``*+|~~~++|\$\$?|%%|<!--",
)
_FENCE_PREFIX = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*")
_FENCE_CLOSE = re.compile(r"\n[ \t>]*+(`{3,}|~{3,})[ \t]*+(?=\r?\n|\r?\Z)")
_LINE = re.compile(r"\n([ \t>]*+)")
_PARAGRAPH_END = re.compile(r"\n(?=[ \t]*+(?:\r?\n|[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|>|```|~~~|\|))")
_DOLLAR = re.compile(r"\$(?<![\s\\]\$)(?!\d)")
_TICKS = re.compile(r"`+")
_INDENTED = re.compile(r"\n[ \t]*+\r?\n(?: {4}|\t)")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|\r?$)")

Interval = tuple[int, int]


def mask_text(text: str, start: int = 0) -> str:
    """Return `text`, at the same length, with NULs for code, math, comments and everything before `start`."""
    spans = code_spans(text, start)
    if not spans and not start:
        return text
    # The text before `start`, even a byte order mark, counts as the end of a line.
    pieces = [MASK * (start - 1), "\n"] if start else []
    position = start
    for begin, end in spans:
        pieces += (text[position:begin], MASK * (end - begin))
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def code_spans(text: str, start: int = 0) -> list[Interval]:
    """Return the spans of code, math and comments from `start` on, in order, without overlap."""
    indented = _indented_code(text, start)
    if not indented and not any(mark in text for mark in ("`", "~~~", "$", "%%", "<!--")):
        return []
    return list(_SpanScanner(text, start, indented).find_all())


class _SpanScanner:
    """Scans one text; remembers unclosed openers so that the time stays linear."""

    def __init__(self, text: str, start: int, indented: list[Interval]) -> None:
        self.text = text
        self.start = start
        self.indented = indented
        self.paragraph_end = -1
        self.ticks: dict[int, list[int]] = {}
        self.ticks_until = -1
        self.no_dollar_before = -1
        self.unclosed: set[str] = set()

    def find_all(self) -> Iterator[Interval]:
        position = self.start
        blocks = iter([*self.indented, (len(self.text) + 1, len(self.text) + 1)])
        block = next(blocks)
        while match := _OPENER.search(self.text, position):
            while block[1] <= match.start():
                if block[0] >= position:
                    yield block
                block = next(blocks)
            if block[0] <= match.start():
                if block[0] >= position:
                    yield block
                position = max(position, block[1])
                continue
            begin = match.start()
            end = self._span_end(match[0], begin)
            if end is None:
                position = match.end()
                continue
            yield begin, end
            position = end
        while block[0] <= len(self.text):
            if block[0] >= position:
                yield block
            block = next(blocks)

    def _span_end(self, mark: str, position: int) -> int | None:
        """Return the end of the span that `mark` opens at `position`, or None if it opens none."""
        first = mark[0]
        if first in "`~":
            if len(mark) >= 3 and (fence := self._fence_end(mark, position)) is not None:
                return fence
            return self._inline_code_end(len(mark), position) if first == "`" else None
        if first == "$":
            return self._find_end(mark, position, "$$") if mark == "$$" else self._inline_math_end(position)
        if first == "%":
            return self._find_end(mark, position, "%%")
        return self._find_end(mark, position, "-->") if first == "<" else None

    def _find_end(self, mark: str, position: int, closer: str) -> int | None:
        end = -1 if mark in self.unclosed else self.text.find(closer, position + len(mark))
        if end >= 0:
            return end + len(closer)
        self.unclosed.add(mark)
        # An unclosed HTML comment at the start of a line extends to the end of the text (CommonMark); any
        # other unclosed opener is plain text.
        return len(self.text) if mark == "<!--" and not self._line_prefix(position).strip() else None

    def _line_prefix(self, position: int) -> str:
        """Return the text before `position` in its line, truncated on lines too long to open a fence."""
        begin = max(self.start, position - _MAX_PREFIX_CHARS)
        newline = self.text.rfind("\n", begin, position)
        return self.text[newline + 1 if newline >= 0 else begin : position]

    def _fence_end(self, mark: str, position: int) -> int | None:
        prefix = self._line_prefix(position)
        if not _FENCE_PREFIX.fullmatch(prefix) or len(prefix) >= _MAX_PREFIX_CHARS:
            return None
        info_end = self.text.find("\n", position)
        if info_end < 0:
            info_end = len(self.text)
        if mark[0] == "`" and self.text.find("`", position + len(mark), info_end) >= 0:
            return None
        limit = self._container_end(prefix, info_end)
        for match in _FENCE_CLOSE.finditer(self.text, info_end, limit):
            is_closing = match[1][0] == mark[0] and len(match[1]) >= len(mark)
            if is_closing and (">" in prefix or ">" not in match[0]):
                return match.end()
        return limit

    def _container_end(self, prefix: str, position: int) -> int:
        """Return the end of the quote or list item that contains a fence, else the end of the text."""
        is_quoted = ">" in prefix
        width = len(prefix.expandtabs(4))
        is_in_item = bool(prefix.strip(" \t>")) or width > 3
        if not is_quoted and not is_in_item:
            return len(self.text)
        for match in _LINE.finditer(self.text, position):
            lead = match[1]
            if is_quoted and ">" not in lead:
                return match.start()
            rest = self.text[match.end() : match.end() + 1]
            if not is_quoted and rest not in ("", "\n", "\r") and len(lead.expandtabs(4)) < min(width, 2):
                return match.start()
        return len(self.text)

    def _find_paragraph_end(self, position: int) -> int:
        if position >= self.paragraph_end:
            match = _PARAGRAPH_END.search(self.text, position)
            self.paragraph_end = match.start() if match else len(self.text)
        return self.paragraph_end

    def _inline_code_end(self, length: int, position: int) -> int | None:
        end = self._find_paragraph_end(position)
        if self.ticks_until != end:
            self.ticks_until = end
            self.ticks = {}
            for match in _TICKS.finditer(self.text, position, end):
                self.ticks.setdefault(len(match[0]), []).append(match.start())
        positions = self.ticks.get(length, [])
        index = bisect_left(positions, position + length)
        return positions[index] + length if index < len(positions) else None

    def _inline_math_end(self, position: int) -> int | None:
        end = self._find_paragraph_end(position)
        if self.no_dollar_before == end or not self.text[position + 1 : position + 2].strip(" \t\r\n"):
            return None
        match = _DOLLAR.search(self.text, position + 2, end)
        if match is None:
            self.no_dollar_before = end
        return match.end() if match else None


def _indented_code(text: str, start: int) -> list[Interval]:
    """Return the blocks indented by four spaces or a tab outside paragraphs and lists (CommonMark 4.4)."""
    if not text.startswith(("    ", "\t"), start) and not _INDENTED.search(text, max(start - 2, 0)):
        return []
    intervals: list[Interval] = []
    block_start: int | None = None
    is_in_list, is_after_blank, position = False, True, start
    for line in [*text[start:].split("\n"), "end"]:
        if not line.strip():
            is_after_blank = True
        elif line.startswith(("    ", "\t")):
            if block_start is None and is_after_blank and not is_in_list and not _LIST_ITEM.match(line):
                block_start = position
            is_after_blank = False
        else:
            if block_start is not None:
                intervals.append((block_start, block_start + len(text[block_start:position].rstrip())))
                block_start = None
            is_in_list = bool(_LIST_ITEM.match(line)) or (
                is_in_list and (not is_after_blank or line.startswith("  "))
            )
            is_after_blank = False
        position += len(line) + 1
    return intervals
