"""Parsing of links and tags in a note's prose, in one pass over its masked text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from app.vault.markdown.links import markdown_link, wiki_link
from app.vault.markdown.masking import code_spans, mask_text
from app.vault.markdown.text import LineCounter
from app.vault.note import Link, Span, Tag

# Letters, digits, `_ - /`, other scripts and emoji (with their joiners): all except white space and the
# punctuation of ASCII, Latin-1, "General Punctuation" and CJK.
TAG_CHARACTER = (
    r"[^\s\x00-,.:-@\[-^`{-\xa9\xab-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7"
    r"\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\u303d"
    r"\ufe10-\ufe1f\ufe30-\ufe6f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff3e\uff40\uff5b-\uff65\ufeff]"
)
_BEFORE_TAG = r"[^\s(>*_~,;（「『【《〈，。、；：！？…—]"
_WIKI = r"\[((?>[^\[\]\n\0]+|\](?!\])|\[(?!\[))++)\]\]"
_DESTINATION = (
    r"\([ \t\n]*+(?:<((?>[^<>\n\0]+))>"
    r"|((?>[^\s()<\[\0](?>[^\s()\0]|\((?>[^\s()\0]+|\([^\s()\0]*+\))*+\))*+)))"
    r"(?>[ \t\r\n]++(?:\"[^\"\n]*+\"|'[^'\n]*+'|\([^()\n]*+\)))?[ \t\r\n]*+\)"
)
_TOKEN = re.compile(
    rf"!\[(?<!\\!\[)(?:{_WIKI})?"
    rf"|\[(?<!\\\[)(?:{_WIKI})?"
    rf"|\](?<!\\\])(?:{_DESTINATION})?"
    rf"|#(?<!{_BEFORE_TAG}#)({TAG_CHARACTER}++)"
)
# An autolink or HTML tag, a bare web address, or an email address.
_ADDRESS = re.compile(
    r"<[^\s<>][^<>\n]*+>"
    r"|(?<![\w.+-])(?:(?:[a-zA-Z][\w+.-]*+://|www\.)[^\s<>]++|[\w.+-]++@[\w-]++\.[\w.-]++)"
)
_MAX_LABEL_CHARS = 2000
_NOT_A_TAG = re.compile(r"[\d/_-]*")


def is_valid_tag(name: str) -> bool:
    """Return whether `name` (without `#`) is a valid tag: a tag name without `/` at its ends."""
    return bool(re.fullmatch(f"{TAG_CHARACTER}+", name)) and is_tag_name(name) and name == name.strip("/")


def is_tag_name(name: str) -> bool:
    """Return whether a run of tag characters is a tag: it has a non-digit and a non-separator."""
    return not name.isdigit() and (not _NOT_A_TAG.fullmatch(name) or any(c.isdigit() for c in name))


def scan_inline(masked: str, text: str, start: int, lines: LineCounter) -> tuple[list[Link], list[Tag]]:
    """Parse the links and tags of the prose from `start` on, in order.

    Args:
        masked: The text with code, math and comments masked.
        text: The text itself, of the same length.
        start: The index at which the prose starts.
        lines: The line counter of the text.
    """
    links: list[Link] = []
    tags: list[Tag] = []
    for element in _iter_inline(masked, text, start, lines):
        if isinstance(element, Tag):
            tags.append(element)
        else:
            links.append(element)
    if any(a.span.start > b.span.start for a, b in pairwise(links)):
        links.sort(key=lambda link: link.span.start)
    return links, tags


def unlinkable_spans(text: str, start: int = 0) -> list[tuple[int, int]]:
    """Return the spans of `text`, from `start` on, in which a new link would break something.

    These are code, math, comments, brackets (such as links and images to any place), tags, addresses and HTML
    tags. The spans are in order, without overlap.
    """
    spans = code_spans(text, start)
    masked = mask_text(text, start)
    opened: list[int] = []
    for match in _TOKEN.finditer(masked, start):
        kind = masked[match.start()]
        if kind == "#" or match[1] or match[2]:
            spans.append(match.span())
        elif kind != "]":
            opened.append(match.start())
        elif opened and _is_one_paragraph(masked, begin := opened.pop(), match.end()):
            spans.append((begin, match.end()))
    spans += (match.span() for match in _ADDRESS.finditer(masked, start))
    outer: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if outer and begin < outer[-1][1]:
            outer[-1] = outer[-1][0], max(end, outer[-1][1])
        else:
            outer.append((begin, end))
    return outer


def _iter_inline(masked: str, text: str, start: int, lines: LineCounter) -> Iterator[Link | Tag]:
    opened: list[tuple[int, bool]] = []
    for match in _TOKEN.finditer(masked, start):
        position, kind = match.start(), masked[match.start()]
        if kind == "#":
            name = match[5].strip("/")
            if name and is_tag_name(name):
                yield Tag(
                    name,
                    Span(position, position + 1 + len(match[5].rstrip("/"))),
                    lines.number(position),
                    False,
                )
        elif kind != "]":
            inner = match[1] or match[2]
            if inner is None:
                opened.append((position, kind == "!"))
            elif link := wiki_link(inner, position, match.end(), kind == "!", lines.number(position)):
                yield link
        elif opened:
            begin, embed = opened.pop()
            link = _markdown(match, text, begin, embed, lines)
            if link:
                yield link
                if not embed:
                    # Links can't be nested, so brackets opened earlier can only start an image's label.
                    opened = [entry for entry in opened[-8:] if entry[1]]


def _markdown(match: re.Match[str], text: str, start: int, embed: bool, lines: LineCounter) -> Link | None:
    target_group = 3 if match[3] is not None else 4
    if match[target_group] is None or match.start() - start > _MAX_LABEL_CHARS:
        return None
    label = text[start + (2 if embed else 1) : match.start()]
    if not _is_one_paragraph(label, 0, len(label)):
        return None
    span = Span(start, match.end())
    return markdown_link(
        match[target_group], match.start(target_group), label.strip(), span, embed, lines.number(start)
    )


def _is_one_paragraph(text: str, start: int, end: int) -> bool:
    """Return whether a span of the text is short enough for a label, and has no empty line."""
    inner = text[start : min(end, start + _MAX_LABEL_CHARS + 1)]
    return end - start <= _MAX_LABEL_CHARS and "\n\n" not in inner and "\n\r\n" not in inner
