"""Parsing and formatting of single links: `[[wiki]]` and `[markdown](links.md)`.

Only links into the vault count: a Markdown link with a URL scheme does not, while `[[https://…]]` is a link
to a note with that name, as in Obsidian. A wikilink never spans lines; the label of a Markdown link may.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from app.vault.note import Link, LinkStyle, Span
from app.vault.reference import parse_fragment, split_alias, split_fragment

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_WIKILINK = re.compile(r"\[\[(?:[^|\]]*\|)?([^|\]]+)\]\]")
_UNSAFE = re.compile(r"[\x00-\x20\x7f%$`#?()<>\\\"\[\]|^]")


def wiki_link(inner: str, start: int, end: int, embed: bool, line: int) -> Link | None:
    """Parse a `[[inner]]` from `start` to `end`; return None if it is empty.

    Args:
        inner: The text between the brackets.
        start: The index of the link's start, at its `!` if it is an embed.
        end: The index after its `]]`.
        embed: Whether it has a `!` before it.
        line: Its line number, from 1.
    """
    unaliased, alias = split_alias(inner)
    target, heading, block = split_fragment(unaliased)
    bare = target.strip()
    if not bare and heading is None and block is None:
        return None
    target_start = start + (3 if embed else 2) + len(target) - len(target.lstrip())
    target_span = Span(target_start, target_start + len(bare))
    return Link(bare, heading, block, alias, LinkStyle.WIKI, embed, Span(start, end), target_span, line)


def markdown_link(raw: str, target_start: int, label: str, span: Span, embed: bool, line: int) -> Link | None:
    """Parse a link with the destination `raw`; return None if it is a URL or empty.

    Args:
        raw: The destination without its angle brackets, as written.
        target_start: The index of the destination.
        label: The text between the square brackets.
        span: The whole link.
        embed: Whether it has a `!` before it.
        line: Its line number, from 1.
    """
    if SCHEME.match(raw):
        return None
    path, _, fragment = raw.partition("#")
    target = unquote(_ESCAPE.sub(r"\1", path))
    heading, block = parse_fragment(unquote(fragment))
    if not target.strip() and heading is None and block is None:
        return None
    target_span = Span(target_start, target_start + len(path))
    return Link(target, heading, block, label or None, LinkStyle.MARKDOWN, embed, span, target_span, line)


def format_target(style: LinkStyle, target: str, *, angled: bool = False) -> str:
    """Return `target` encoded for a link of this style.

    Args:
        style: Wikilinks contain the target verbatim; Markdown links percent-encode special characters.
        target: The name or path, decoded.
        angled: Whether the destination is in `<…>`, which may contain spaces.
    """
    if style is LinkStyle.WIKI:
        return target
    unsafe = re.compile(r"[\x00-\x1f\x7f%$`#?<>\\]") if angled else _UNSAFE
    written = unsafe.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), target)
    # "A0: notes" must not be read as a URL with the scheme "A0".
    return written.replace(":", "%3A", 1) if SCHEME.match(written) else written


def quote_wikilinks(text: str) -> str:
    """Return the text with each wikilink replaced by its alias, or else its target, in quotes."""
    return _WIKILINK.sub(r"“\1”", text)
