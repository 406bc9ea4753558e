"""Parse headings, tasks, observations and block ids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from app.vault.markdown.text import LineCounter
from app.vault.note import BlockId, Heading, Observation, Span, Task

_BODY = (
    r"(?: {0,3}(#{1,6})(?=[ \t\r\n]|\Z)([^\n]*+)"
    r"|[ \t>]*+(?:[-*+]|\d{1,9}[.)])[ \t]+\[([^\[\]()\n\0]{1,80})\][ \t]([^\n]*+)"
    r"| {0,3}(=+|-+)[ \t]*+(?=\r?\n|\r?\Z))"
)
_FIRST = re.compile(_BODY)
_LINE = re.compile("\n" + _BODY)
_BLOCK_ID = re.compile(r"\^(?<![^\s]\^)([A-Za-z0-9-]+)[ \t]*+(?=\r?\n|\r?\Z)")
_TRAILING_ID = re.compile(r"[ \t]\^[A-Za-z0-9-]+$")
_NO_PARAGRAPH = re.compile(r"\s*\Z| {0,3}(?:[-*+>|]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|---|===)|    |\t")


class LineFacts:
    """The headings, tasks, observations and block ids of a note, each in order.

    Args:
        masked: The text with code, math and comments masked; it has the same length.
        text: The text of the note.
        start: The index of the body.
        lines: The line counter of the text.
    """

    def __init__(self, masked: str, text: str, start: int, lines: LineCounter) -> None:
        self.headings: list[Heading] = []
        self.tasks: list[Task] = []
        self.observations: list[Observation] = []
        self.blocks = [BlockId(m[1], lines.number(m.start())) for m in _BLOCK_ID.finditer(masked, start)]
        first = _FIRST.match(masked, start)
        rest = _LINE.finditer(masked, start)
        for match in chain([first] if first else [], rest):
            begin = match.start() + (match[0][0] == "\n")
            if match[1]:
                self.headings.append(_heading(match, text, begin, lines.number(begin)))
            elif match[3]:
                self._add_item(match[3], text[match.start(4) : match.end(4)], lines.number(begin))
            elif match[5] and begin > start:
                self.headings.extend(_setext(match, text, begin, start, lines))

    def _add_item(self, bracket: str, rest: str, line: int) -> None:
        rest = rest.rstrip()
        if len(bracket) == 1:
            self.tasks.append(Task(rest.strip(), bracket in "xX", line))
        elif rest and bracket.strip() and bracket[0] not in "^!" and "::" not in bracket:
            text, context = _split_context(_TRAILING_ID.sub("", rest).strip())
            self.observations.append(Observation(bracket.strip(), text, context, line))


def _heading(match: re.Match[str], text: str, begin: int, line: int) -> Heading:
    words = text[match.start(2) : match.end(2)]
    title = words.strip()
    bare = title.rstrip("#")
    if not bare or bare[-1] in " \t":
        title = bare.rstrip()
    end = match.end(2) - (words.endswith("\r"))
    return Heading(len(match[1]), title, Span(begin, end), line)


def _setext(match: re.Match[str], text: str, begin: int, start: int, lines: LineCounter) -> Iterator[Heading]:
    """Yield the heading for a line underlined with `=` or `-`."""
    line_start = max(text.rfind("\n", start, begin - 1) + 1, start)
    words = text[line_start : begin - 1].rstrip("\r")
    if not _NO_PARAGRAPH.match(words):
        level = 1 if match[5][0] == "=" else 2
        yield Heading(
            level, words.strip(), Span(line_start, line_start + len(words)), lines.number(line_start)
        )


def _split_context(text: str) -> tuple[str, str | None]:
    """Split off the parentheses that end the text, and return the text before them and their content.

    Without such parentheses, the second value is None.
    """
    if not text.endswith(")"):
        return text, None
    depth = 0
    for position in range(len(text) - 1, max(len(text) - 2000, -1), -1):
        depth += (text[position] == ")") - (text[position] == "(")
        if depth == 0:
            before = text[:position]
            is_spaced = bool(before) and before[-1] in " \t"
            return (before.rstrip(), text[position + 1 : -1].strip() or None) if is_spaced else (text, None)
    return text, None
