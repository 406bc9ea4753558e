"""Scan the block syntax of a Markdown note, line by line. Pure.

A small state is carried from line to line, so that after an edit the scan stops when the state is unchanged:
normally after one line. Sources: CommonMark 0.31, GFM tables, Obsidian's help for callouts, comments, math
and properties.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

State = tuple[object, ...]


class LineKind(Enum):
    """The kind of block that a line belongs to."""

    TEXT = auto()
    BLANK = auto()
    HEADING = auto()
    SETEXT = auto()
    FENCE_OPEN = auto()
    CODE = auto()
    FENCE_CLOSE = auto()
    PROPERTIES = auto()
    MATH = auto()
    CALLOUT = auto()
    TABLE = auto()
    TABLE_DELIMITER = auto()
    EMBED = auto()
    RULE = auto()
    LIST_ITEM = auto()
    TASK = auto()
    COMMENT = auto()
    HTML = auto()
    FOOTNOTE = auto()


class ScannedLine(NamedTuple):
    """The block that a line belongs to, and its markup.

    Attributes:
        kind: The kind of block.
        level: The level of a heading or callout; the depth of a list item or of text in one.
        marker: The number of markup characters at its start, for example quote, list or heading marks.
        quotes: The enclosing quotes, from the outside in: a callout's type, or "" for a plain quote.
        detail: The language of code, a callout's type, a list's bullet, a task's mark, an embed's target, or
            a footnote's name.
        fold: "-" or "+" for a callout that can be folded; otherwise empty.
        state: The state after the line.
    """

    kind: LineKind
    level: int = 0
    marker: int = 0
    quotes: tuple[str, ...] = ()
    detail: str = ""
    fold: str = ""
    state: State = ()


_HEADING = re.compile(r"(#{1,6})[ \t]+(?=\S)")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})[ \t]*([^\s`{]*)[^`]*$")
_FENCE_IN_LIST = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([^\s`{]*)[^`]*$")
_FENCE_END = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*$")
_ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])(?:[ \t]+|$)(?:\[(.)\](?:[ \t]+|$))?")
_CALLOUT = re.compile(r"\[!([\w-]+)[^\]]*\]([+-]?)[ \t]*")
_QUOTE = re.compile(r"[ ]{0,3}(?:>[ ]?)+")
_RULE = re.compile(r"[ ]{0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
# One dash under a paragraph is more often the start of a list than a heading.
_SETEXT = re.compile(r"[ ]{0,3}(=+|--+)[ \t]*$")
_TABLE_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_EMBED = re.compile(r"[ \t]*!\[\[([^\[\]]+)\]\][ \t]*$")
_IMAGE = re.compile(r"[ \t]*!\[([^\[\]]*)\]\(<?([^()<>\s]+)>?\)[ \t]*$")
_FOOTNOTE = re.compile(r"\[\^([^\]\s]+)\]:[ \t]*")
_HTML = re.compile(
    r"[ ]{0,3}</?(?:address|article|aside|blockquote|body|center|details|dialog|dd|div|dl|dt|fieldset"
    r"|figcaption|figure|footer|form|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|nav|ol|p|pre|script"
    r"|section|source|style|summary|table|tbody|td|tfoot|th|thead|title|tr|ul|video|audio)(?:[\s/>]|$)",
    re.IGNORECASE,
)

_PARAGRAPH: State = ("text", False)
_PARAGRAPH_WITH_PIPE: State = ("text", True)
_TABLE_STATE: State = ("table",)
_HTML_STATE: State = ("html",)
_BLANK = ScannedLine(LineKind.BLANK)
_TEXT = ScannedLine(LineKind.TEXT, state=_PARAGRAPH)
_TEXT_WITH_PIPE = ScannedLine(LineKind.TEXT, state=_PARAGRAPH_WITH_PIPE)
# Characters that may start something other than text.
_OPENERS = frozenset("#`~$>|!-*_+=[<% \t0123456789\ufeff:")
# Blocks in which a quote mark is text.
_VERBATIM = frozenset(("fence", "properties", "math", "comment"))


def scan_line(line: str, previous_state: State, *, is_first: bool = False) -> ScannedLine:
    """Scan one line.

    Args:
        line: The line without its line ending.
        previous_state: The state after the previous line.
        is_first: Whether it is the note's first line: properties start only there.
    """
    if previous_state and previous_state[0] == "quote":
        quotes: tuple[str, ...] = previous_state[1]  # type: ignore[assignment]
        inner: State = previous_state[2]  # type: ignore[assignment]
    else:
        quotes, inner = (), previous_state
        if inner and inner[0] in _VERBATIM:
            return _scan_block(line, inner, is_first)
    if ">" in line[:4] and (match := _QUOTE.match(line)):
        return _scan_quoted(line, match, quotes, inner)
    return _scan_block(line, () if quotes else inner, is_first)


def scan_lines(lines: list[str]) -> list[ScannedLine]:
    """Scan all lines of a note."""
    state: State = ()
    scanned = []
    for number, line in enumerate(lines):
        scanned_line = scan_line(line, state, is_first=not number)
        state = scanned_line.state
        scanned.append(scanned_line)
    return scanned


def _scan_quoted(line: str, match: re.Match[str], quotes: tuple[str, ...], inner: State) -> ScannedLine:
    prefix, depth = match.end(), match[0].count(">")
    content = line[prefix:]
    if depth > len(quotes):
        enclosing = (*quotes, *("",) * (depth - len(quotes)))
        if callout := _CALLOUT.match(content):
            name = callout[1].lower()
            enclosing = (*enclosing[:-1], name)
            state = ("quote", enclosing, ())
            marker = prefix + callout.end()
            return ScannedLine(LineKind.CALLOUT, depth, marker, enclosing, name, callout[2], state)
    else:
        enclosing = quotes[:depth]
    inner_line = _scan_block(content, inner if depth == len(quotes) else (), False)
    return inner_line._replace(
        marker=prefix + inner_line.marker, quotes=enclosing, state=("quote", enclosing, inner_line.state)
    )


def _scan_block(line: str, state: State, is_first: bool) -> ScannedLine:
    if state and (continued := _continue_block(line, state)) is not None:
        return continued
    if not line or line.isspace():
        return _BLANK if not state or state[0] != "list" else ScannedLine(LineKind.BLANK, state=state)
    is_in_list = bool(state) and state[0] == "list"
    if line[0] in _OPENERS and (opened := _open_block(line, state, is_first, is_in_list)) is not None:
        return opened
    return _TEXT_WITH_PIPE if "|" in line else _TEXT


def _continue_block(line: str, state: State) -> ScannedLine | None:
    """Return the line as part of the open block; None if the block has ended."""
    name = state[0]
    if name == "fence":
        match = _FENCE_END.match(line)
        fence = str(state[1])
        if match and match[1][0] == fence[0] and len(match[1]) >= len(fence):
            return ScannedLine(LineKind.FENCE_CLOSE, detail=str(state[3]), state=state[2])  # type: ignore[arg-type]
        return ScannedLine(LineKind.CODE, detail=str(state[3]), state=state)
    if name == "properties":
        return ScannedLine(LineKind.PROPERTIES, state=() if line.rstrip() in ("---", "...") else state)
    if name == "math":
        return ScannedLine(LineKind.MATH, state=() if line.rstrip().endswith("$$") else state)
    if name == "comment":
        return ScannedLine(LineKind.COMMENT, state=() if str(state[1]) in line else state)
    if name == "table" and "|" in line:
        is_delimiter = "-" in line and _TABLE_DELIMITER.match(line)
        kind = LineKind.TABLE_DELIMITER if is_delimiter else LineKind.TABLE
        return ScannedLine(kind, state=state)
    if name == "html" and line and not line.isspace():
        return ScannedLine(LineKind.HTML, state=state)
    if name == "text":
        if match := _SETEXT.match(line):
            return ScannedLine(LineKind.SETEXT, 1 if match[1][0] == "=" else 2)
        if state[1] and "|" in line and "-" in line and _TABLE_DELIMITER.match(line):
            return ScannedLine(LineKind.TABLE_DELIMITER, state=_TABLE_STATE)
    return None


def _open_block(line: str, state: State, is_first: bool, is_in_list: bool) -> ScannedLine | None:
    """Return the line as the start of a block; None if it is text."""
    start = line[0]
    if start == "#":
        match = _HEADING.match(line)
        return ScannedLine(LineKind.HEADING, len(match[1]), match.end()) if match else None
    if is_first and line.lstrip("\ufeff").rstrip() == "---":
        return ScannedLine(LineKind.PROPERTIES, state=("properties",))
    stripped = line.lstrip(" \t")
    if stripped[:3] in ("```", "~~~") and (match := (_FENCE_IN_LIST if is_in_list else _FENCE).match(line)):
        language = match[2].lower()
        return ScannedLine(
            LineKind.FENCE_OPEN,
            detail=language,
            state=("fence", match[1], state if is_in_list else (), language),
        )
    if stripped.startswith("$$"):
        text = stripped.rstrip()
        is_closed = len(text) > 3 and text.endswith("$$")
        if is_closed or "$$" not in text[2:]:
            return ScannedLine(LineKind.MATH, state=() if is_closed else ("math",))
    if start == "|":
        return ScannedLine(LineKind.TABLE, state=_TABLE_STATE)
    if stripped[0] in "-*_" and _RULE.match(line):
        return ScannedLine(LineKind.RULE)
    if match := _ITEM.match(line):
        return _scan_item(match, state, is_in_list)
    if stripped[0] == "!" and (embed := _EMBED.match(line) or _IMAGE.match(line)):
        target = embed[1] if embed.re is _EMBED else f"{embed[2]}|{embed[1]}"
        return ScannedLine(LineKind.EMBED, detail=target, state=state if is_in_list else ())
    if stripped[0] in "<%" and (opened := _open_comment_or_html(line, stripped)) is not None:
        return opened
    if start == "[" and (match := _FOOTNOTE.match(line)):
        return ScannedLine(LineKind.FOOTNOTE, marker=match.end(), detail=match[1], state=_PARAGRAPH)
    if start in " \t":
        return _scan_indented(line, stripped, state, is_in_list)
    return None


def _open_comment_or_html(line: str, stripped: str) -> ScannedLine | None:
    """Return the line as the start of a comment or an HTML block; None if it is neither."""
    for opener, closer in (("%%", "%%"), ("<!--", "-->")):
        if stripped.startswith(opener):
            end = stripped.find(closer, len(opener))
            if end < 0:
                return ScannedLine(LineKind.COMMENT, state=("comment", closer))
            is_whole_line = not stripped[end + len(closer) :].strip()
            return ScannedLine(LineKind.COMMENT) if is_whole_line else None
    return ScannedLine(LineKind.HTML, state=_HTML_STATE) if _HTML.match(line) else None


def _scan_item(match: re.Match[str], state: State, is_in_list: bool) -> ScannedLine:
    indent = _indent_width(match[1])
    indents: tuple[int, ...] = state[1] if is_in_list else ()  # type: ignore[assignment]
    while indents and indents[-1] >= indent:
        indents = indents[:-1]
    new_state = ("list", (*indents, indent))
    kind, detail = (LineKind.TASK, match[3]) if match[3] else (LineKind.LIST_ITEM, match[2])
    return ScannedLine(kind, len(indents), match.end(), detail=detail, state=new_state)


def _scan_indented(line: str, stripped: str, state: State, is_in_list: bool) -> ScannedLine | None:
    """Return the line as the continuation of a list item, or as indented code; None if it is neither."""
    spaces = len(line) - len(stripped)
    indent = _indent_width(line[:spaces])
    if is_in_list:
        indents: tuple[int, ...] = state[1]  # type: ignore[assignment]
        depth = sum(other < indent for other in indents)
        if depth:
            return ScannedLine(LineKind.TEXT, depth, spaces, state=state)
    elif indent >= 4 and (not state or state[0] != "text"):
        return ScannedLine(LineKind.CODE)
    return None


def _indent_width(spaces: str) -> int:
    return len(spaces.expandtabs(4))
