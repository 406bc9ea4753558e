"""Scan the inline syntax of a line: emphasis, code, links, tags, math, markup characters. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_STYLED_LENGTH = 8_000  # longer lines have no inline styling

(
    BOLD,
    ITALIC,
    CODE,
    LINK,
    TAG,
    STRIKE,
    HIGHLIGHT,
    MATH,
    FAINT,
    MISSPELLED,
    RAISED,
    FIELD,
    MUTED,
    UNRESOLVED,
) = (1 << bit for bit in range(14))
# Text with one of these styles is not prose and is not spell-checked.
NOT_PROSE = CODE | LINK | TAG | MATH | FAINT | RAISED | FIELD

Span = tuple[int, int, int]
Range = tuple[int, int]


class InlineLink(NamedTuple):
    """A link from `start` to `end`; `kind` is "note", "address", "tag" or "footnote"."""

    start: int
    end: int
    kind: str
    target: str


class Construct(NamedTuple):
    """A styled range from `start` to `end`; its content is from `inner_start` to `inner_end`."""

    start: int
    end: int
    inner_start: int
    inner_end: int


class InlineEmbed(NamedTuple):
    """An embed from `start` to `end`; its `target` includes options, as in `![[target|option]]`."""

    start: int
    end: int
    target: str


class InlineScan(NamedTuple):
    """The styled spans (start, end, style bits), the ranges of markup, the constructs, links and embeds.

    `separators` are the columns in links to headings and blocks before which `LINK_SEPARATOR` is shown.
    """

    spans: list[Span]
    hidden: list[Range]
    constructs: list[Construct]
    links: list[InlineLink]
    embeds: list[InlineEmbed]
    separators: list[int]


_ADDRESS = r"(?:<[^<>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?"
_PICTURE = rf"!\[[^\[\]\n]*\]\({_ADDRESS}\)|!\[\[[^\[\]\n]*\]\]"
_INLINE = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<code>(?P<tick>`+)(?!`)[^\n]*?(?<!`)(?P=tick)(?!`))"
    r"|(?P<comment>%%.*?%%|<!--.*?-->)"
    r"|(?P<wiki>!?\[\[(?P<target>[^\[\]|\n]+)(?:\|(?P<alias>[^\[\]\n]*))?\]\])"
    r"|(?P<footnote>\[\^(?P<name>[^\]\s]+)\])"
    r"|(?P<inline_note>\^\[(?:[^\[\]\n]|\[\[[^\[\]\n]*\]\]|\[[^\[\]\n]*\])+\])"
    rf"|(?P<link>!?\[(?P<words>(?:{_PICTURE}|[^\[\]\n])*)\]"
    r"\((?P<url><[^<>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\))"
    r"|(?P<both>\*\*\*(?=[^\s*])[^*\n]+?(?<=\S)\*\*\*)"
    r"|(?P<bold>(?P<strong>\*\*|(?<!\w)__)(?=\S)(?:(?!(?P=strong)).)+?(?<=\S)(?P=strong))"
    r"|(?P<strike>~~(?=\S)[^~\n]+~~)"
    r"|(?P<highlight>==(?=\S)[^=\n]+==)"
    r"|(?P<italic>(?<![*\w])(?P<single>[*_])(?=[^\s*_])[^*_\n]+?(?<=[^\s*_])(?P=single)(?![\w*]))"
    r"|(?P<display>\$\$(?=[^$])[^$\n]+\$\$)"
    r"|(?P<math>\$(?=[^\s$])[^$\n]*?(?<=[^\s$\\])\$(?!\d))"
    r"|(?P<auto><(?P<address>(?:https?://|mailto:)[^\s<>]+)>)"
    r"|(?P<html></?[a-zA-Z][^<>\n]*>)"
    r"|(?P<plain>https?://[^\s<>()\]]+)"
    r"|(?P<tag>(?<![\w#/&])\#(?P<topic>[\w\-/]*[^\W\d][\w\-/]*))"
    r"|(?P<block>(?<=\s)\^[A-Za-z0-9-]+\s*$)"
    r"|(?P<field>(?:^|(?<=[\[(]))[^\W\d_][\w \-]*::(?=\s|$))"
)
_HEADING_MARK = re.compile(r"\s*#[#\s]*")
_BLOCK_MARK = re.compile(r"(?<=[^\s^])\s*(?=\^\s*[A-Za-z0-9-]+\s*$)")
_MARKED = {"bold": (2, BOLD), "strike": (2, STRIKE), "highlight": (2, HIGHLIGHT), "italic": (1, ITALIC)}
EMPTY = InlineScan([], [], [], [], [], [])
_MARKUP_CHARACTERS = frozenset("\\`%<[*_~=$#^")


def scan_inline(text: str, start: int = 0) -> InlineScan:
    """Scan a line from `start` on; a very long line has no styles.

    The result may be shared and must not be modified.
    """
    if len(text) > MAX_STYLED_LENGTH:
        return EMPTY
    if _MARKUP_CHARACTERS.isdisjoint(text) and "://" not in text and "::" not in text:
        return EMPTY
    result = InlineScan([], [], [], [], [], [])
    _scan(text, start, len(text), 0, result)
    return result


def _scan(text: str, start: int, end: int, style: int, result: InlineScan) -> None:
    for match in _INLINE.finditer(text, start, end):
        kind = match.lastgroup or ""
        a, b = match.span()
        if kind in _MARKED:
            width, bit = _MARKED[kind]
            _add(result, a, b, a + width, b - width, style | bit)
            _scan(text, a + width, b - width, style | bit, result)
        elif kind == "both":
            _add(result, a, b, a + 3, b - 3, style | BOLD | ITALIC)
        elif kind == "code":
            width = len(match["tick"])
            _add(result, a, b, a + width, b - width, style | CODE)
        elif kind == "inline_note":
            _add(result, a, b, a + 2, b - 1, style | RAISED)
            _scan(text, a + 2, b - 1, style | RAISED, result)
        elif kind == "escape":
            result.hidden.append((a, a + 1))
        elif kind in ("math", "display"):
            result.spans.append((a, b, style | MATH))
        elif kind in ("comment", "html"):
            result.spans.append((a, b, style | FAINT))
        elif kind == "block":
            result.hidden.append((a, b))
            result.spans.append((a, b, FAINT))
        elif kind == "field":
            result.spans.append((a, b, style | FIELD))
        else:
            _add_link(match, kind, style, result)


def _add_link(match: re.Match[str], kind: str, style: int, result: InlineScan) -> None:
    a, b = match.span()
    if kind == "wiki":
        inner = match.span("alias" if match["alias"] else "target")
        _add(result, a, b, *inner, style | LINK)
        if not match["alias"]:
            _add_separators(match["target"], match.start("target"), result)
        # In a table, the pipe before an alias is escaped.
        target = match["target"] if match["alias"] is None else match["target"].removesuffix("\\")
        result.links.append(InlineLink(a, b, "note", target))
        if match[0][0] == "!":
            result.embeds.append(
                InlineEmbed(a, b, f"{target}|{match['alias']}" if match["alias"] else target)
            )
    elif kind == "link":
        inner = match.span("words") if match["words"] else match.span("url")
        _add(result, a, b, *inner, style | LINK)
        address = match["url"].strip("<>")
        result.links.append(InlineLink(a, b, "address", address))
        if "![" in match["words"]:
            _scan(match.string, *inner, style | LINK, result)
        if match[0][0] == "!":
            options = match["words"].replace("\\|", "|")
            result.embeds.append(InlineEmbed(a, b, f"{address}|{options}"))
    elif kind == "footnote":
        _add(result, a, b, a + 2, b - 1, style | LINK | RAISED)
        result.links.append(InlineLink(a, b, "footnote", match["name"]))
    elif kind == "auto":
        _add(result, a, b, a + 1, b - 1, style | LINK)
        result.links.append(InlineLink(a, b, "address", match["address"]))
    elif kind == "plain":
        result.spans.append((a, b, style | LINK))
        result.links.append(InlineLink(a, b, "address", match[0]))
    elif kind == "tag":
        result.spans.append((a, b, style | TAG))
        result.links.append(InlineLink(a, b, "tag", match["topic"]))


def _add_separators(target: str, start: int, result: InlineScan) -> None:
    """Hide the marks between the note, headings and block in a link target, and add the separators."""
    for match in (_HEADING_MARK if "#" in target else _BLOCK_MARK).finditer(target):
        a, b = match.span()
        if a < b:
            result.hidden.append((start + a, start + b))
        if a > 0 and b < len(target):
            result.separators.append(start + b)


def _add(result: InlineScan, start: int, end: int, inner_start: int, inner_end: int, style: int) -> None:
    result.hidden.append((start, inner_start))
    result.hidden.append((inner_end, end))
    result.spans.append((inner_start, inner_end, style))
    result.constructs.append(Construct(start, end, inner_start, inner_end))
