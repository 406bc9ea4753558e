"""Split notes into passages that can serve as answers, each with its span in the source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from app.embeddings.chunker import markdown_to_text
from app.vault.markdown.masking import mask_text
from app.vault.note import ParsedNote, Span

MAX_PASSAGE_CHARS = 320
_MAX_TRAIL_CHARS = 90
_MAX_PARENTS = 2

_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_HEADING = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?#{1,6}[ \t]+(.*)")
_CLOSING_MARKS = re.compile(r"(?:[ \t]+#+)?[ \t]*$")
_ITEM = re.compile(r"(?P<indent>[ \t>]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?")
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)+(?:\[![\w-]+\][+-]?[ \t]*)?")
_FIELD = re.compile(r"[ \t]*(?:[-*+][ \t]+)?([\w.-]{1,40})::[ \t]*(.*)")
_QUOTED_VALUE = re.compile(r"^([\"'])(.*)\1$")
_PROPERTY = re.compile(r"(\w[\w -]{0,39}):(?:[ \t]+(.*)|[ \t]*)")
_NESTED = ("{", "&", "|", ">")
_PROPERTY_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
_FLOW_LIST = re.compile(r"\[(?!\[[^\[\]]*\]\]$)(.*)\]")
_FLOW_ITEM = re.compile(r"\"[^\"]*\"|'[^']*'|\[\[[^\]]*\]\]|[^\s,][^,]*")
_NO_PROSE = re.compile(
    r"[ \t>]*(?:[-*+][ \t]*)?"
    r"(?:#\+\w+.*|[-*_=|: \t]*|\{\{[^{}]*\}\}|!\[[^\n]*\)(?:\{[^{}]*\})?|:::.*)[ \t\r]*"
)
_BLOCK_ID = re.compile(r"[ \t]\^([A-Za-z0-9-]+)[ \t\r]*$")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*[ \t\n]+(?=[\"'“‘«(\[*_]*[^\W_a-z])|(?<=[。！？])")
_HIDDEN_PROPERTIES = frozenset(
    ("tags", "aliases", "alias", "cssclasses", "cssclass", "type", "id", "ai", "cover", "url", "collapsed")
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a note.

    Attributes:
        span: Its span in the note's text.
        text: Its plain text, without Markdown markup.
        trail: Up to two headings and two list items above it, outermost first, then the header of its table.
        line: The number of its first line, starting at 1.
        block: The block id, if the passage is a whole block with one.
        is_property: Whether it is a property of the note.
        is_list: Whether it is a property with a list of values.
        is_relation: Whether it is a line that relates the note to another one.
        is_heading: Whether it is a heading.
    """

    span: Span
    text: str
    trail: tuple[str, ...]
    line: int
    block: str = ""
    is_property: bool = False
    is_list: bool = False
    is_relation: bool = False
    is_heading: bool = False


def split_passages(text: str, parsed: ParsedNote) -> tuple[Passage, ...]:
    """Split a note into passages: properties first, then headings, paragraphs, list items, fields and rows.

    Long passages are split between sentences. Code blocks, comments, short fields and properties with lists
    are left out; in the evaluation, lists of names passed for answers.
    """
    single = [passage for passage in properties(text, parsed) if not passage.is_list]
    return (*single, *_PassageSplitter(text, parsed).run())


def properties(text: str, parsed: ParsedNote) -> Iterator[Passage]:
    """Yield the properties of a note, without those that are shown elsewhere, such as tags."""
    lines = text[: parsed.body_start].split("\n")
    start = 0
    for index, line in enumerate(lines):
        match = _PROPERTY.fullmatch(line.rstrip())
        is_shown = match and match[1].strip().casefold() not in _HIDDEN_PROPERTIES
        text_of_value = match[2] or "" if match else ""
        if match and is_shown and not text_of_value.startswith(_NESTED):
            end = start + len(line.rstrip())
            values = [text_of_value]
            is_list = False
            if not text_of_value:
                items = takewhile(bool, map(_PROPERTY_ITEM.fullmatch, lines[index + 1 :]))
                values = [item[1] for item in items if item]
                end = start + len("\n".join(lines[index : index + 1 + len(values)]).rstrip())
                is_list = True
            elif flow_list := _FLOW_LIST.fullmatch(text_of_value):
                values = _FLOW_ITEM.findall(flow_list[1])
                is_list = True
            value = ", ".join(markdown_to_text(_QUOTED_VALUE.sub(r"\2", one.rstrip())) for one in values)
            if _WORD.search(value):
                plain = f"{match[1]}: {value}"
                yield Passage(Span(start, end), plain, (), index + 1, is_property=True, is_list=is_list)
        start += len(line) + 1


@dataclass(slots=True)
class _Parent:
    indent: int
    text: str


class _PassageSplitter:
    """Splits the body of a note into passages, line by line.

    The lines of a paragraph form one passage, or several if it is longer than `MAX_PASSAGE_CHARS`.
    """

    def __init__(self, text: str, parsed: ParsedNote) -> None:
        self._text = text
        self._start = parsed.body_start
        self._masked = mask_text(text, parsed.body_start)
        self._relation_lines = {relation.line for relation in parsed.relations}
        self._headings: list[tuple[int, str]] = []
        self._parents: list[_Parent] = []
        self._from = self._to = -1
        self._line = 0
        self._table_head = ""

    def run(self) -> Iterator[Passage]:
        number = self._text.count("\n", 0, self._start)
        in_fence = False
        for match in _LINE.finditer(self._text, self._start):
            if match.start() == match.end():
                break
            number += 1
            line = match[0].rstrip("\r\n")
            fence = line.lstrip(" \t>-*+").startswith(("```", "~~~"))
            if fence or in_fence:
                yield from self._close()
                in_fence = in_fence != fence
                continue
            yield from self._add_line(line, match.start(), number)
        yield from self._close()

    def _add_line(self, line: str, start: int, number: int) -> Iterator[Passage]:
        masked = self._masked[start : start + len(line)]
        has_no_prose = not line.strip() or _NO_PROSE.fullmatch(line) or "%%" in line or "<!--" in line
        if has_no_prose or (not masked.strip("\0 \t") and "`" not in line and "$" not in line):
            yield from self._close()
            if not line.strip():
                self._table_head = ""
            return
        if heading := _HEADING.fullmatch(line):
            yield from self._close()
            level = line.count("#", 0, heading.start(1))
            self._headings = [entry for entry in self._headings if entry[0] < level]
            self._parents = []
            end = start + len(_CLOSING_MARKS.sub("", line))
            yield from self._passages(start + heading.start(1), end, number, is_heading=True)
            self._headings.append((level, markdown_to_text(self._text[start + heading.start(1) : end])))
            return
        item = _ITEM.match(line)
        field = _FIELD.fullmatch(line)
        is_row = line.lstrip().startswith("|")
        if field or is_row or item:
            yield from self._close()
        if self._from < 0 and item is None and not line[0].isspace():
            self._parents = []
        if field is not None:
            if len(_WORD.findall(field[2])) >= 3 and field[1].casefold() not in _HIDDEN_PROPERTIES:
                yield from self._passages(start + field.start(2), start + len(line.rstrip()), number)
            return
        if is_row:
            if not self._table_head:
                self._table_head = _cells(line)
            else:
                yield from self._passages(start, start + len(line.rstrip()), number, self._table_head)
            return
        self._table_head = ""
        if item is not None:
            self._enter(len(item["indent"].expandtabs(4)), line[item.end() :])
            if not _NO_PROSE.fullmatch(line[item.end() :]):
                self._open(start + item.end(), number)
                self._to = start + len(line.rstrip())
            return
        if self._from < 0:
            quote = _QUOTE.match(line)
            skipped = quote.end() if quote else len(line) - len(line.lstrip())
            self._open(start + skipped, number)
        self._to = start + len(line.rstrip())

    def _enter(self, indent: int, text: str) -> None:
        self._parents = [parent for parent in self._parents if parent.indent < indent]
        self._parents.append(_Parent(indent, markdown_to_text(text)[:_MAX_TRAIL_CHARS]))

    def _open(self, at: int, number: int) -> None:
        self._from, self._line = at, number

    def _close(self) -> Iterator[Passage]:
        if self._from >= 0:
            yield from self._passages(self._from, self._to, self._line, own_item=True)
        self._from = -1

    def _passages(
        self,
        start: int,
        end: int,
        line: int,
        head: str = "",
        *,
        own_item: bool = False,
        is_heading: bool = False,
    ) -> Iterator[Passage]:
        source = self._text[start:end]
        block = _BLOCK_ID.search(source)
        if block:
            end = start + block.start()
            source = self._text[start:end]
        parents = [parent.text for parent in self._parents]
        plain_text = markdown_to_text(source)
        if own_item and parents and plain_text.startswith(parents[-1][: _MAX_TRAIL_CHARS - 1]):
            parents.pop()
        trail = (
            *(text for _, text in self._headings[-_MAX_PARENTS:]),
            *parents[-_MAX_PARENTS:],
            *([head] if head else []),
        )
        pieces = list(_pieces(source)) if len(plain_text) > MAX_PASSAGE_CHARS else [(0, len(source))]
        for begin, stop in pieces:
            words = " ".join(markdown_to_text(source[begin:stop]).strip("| ").replace(" | ", ", ").split())
            if _WORD.search(words):
                span = Span(start + begin, start + stop)
                yield Passage(
                    span,
                    words,
                    trail,
                    line + source.count("\n", 0, begin),
                    block[1] if block and len(pieces) == 1 else "",
                    is_relation=line in self._relation_lines,
                    is_heading=is_heading,
                )


def _cells(line: str) -> str:
    return " ".join(cell.strip() for cell in markdown_to_text(line).strip("| ").split("|"))


def _pieces(source: str) -> Iterator[tuple[int, int]]:
    """Yield runs of sentences, limited to `MAX_PASSAGE_CHARS` unless a single sentence is longer."""
    ends = [(match.start(), match.end()) for match in _SENTENCE_END.finditer(source)]
    ends.append((len(source), len(source)))
    begin = 0
    last: tuple[int, int] | None = None
    for stop, following in ends:
        if last is not None and stop - begin > MAX_PASSAGE_CHARS:
            yield begin, last[0]
            begin = last[1]
        last = (stop, following)
    if begin < len(source):
        yield begin, len(source.rstrip())
