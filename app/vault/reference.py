"""References to notes in text: `[[folder/Note#Heading|Alias]]`, `Note`, `Note#^block`. Pure.

A reference is split on `|` first, then on `#`, then on `^`, so that an alias may contain `#` and a heading
may contain `^`. In a table, a backslash precedes the `|`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.vault.path import without_suffix

LINK_SEPARATOR = " > "  # shown between note, headings and block of a link without an alias
_BLOCK_ID = re.compile(r"[A-Za-z0-9-]+")


@dataclass(frozen=True, slots=True)
class Reference:
    """A parsed wikilink, or a note name given by a user or a tool.

    `target` is a name or a path; it is empty for the note that contains the link. `heading` keeps inner `#`;
    `block` has no `^`; `alias` is the text to show. Missing parts are None.
    """

    target: str
    heading: str | None = None
    block: str | None = None
    alias: str | None = None

    @property
    def name(self) -> str:
        """The last part of the target without a note's suffix."""
        return without_suffix(self.target.rpartition("/")[2])


def parse_reference(text: str) -> Reference:
    """Parse a reference, with or without `[[…]]` and the `!` of an embed."""
    text = text.strip()
    inner = text[1:] if text.startswith("![[") else text
    if inner.startswith("[[") and inner.endswith("]]") and len(inner) >= 4:
        text = inner[2:-2]
    unaliased, alias = split_alias(text)
    target, heading, block = split_fragment(unaliased)
    return Reference(target.strip(), heading, block, alias)


def split_alias(inner: str) -> tuple[str, str | None]:
    """Split the text in a link's brackets at the first `|` into the text before it and the alias, or None."""
    unaliased, bar, alias = inner.partition("|")
    if not bar:
        return inner, None
    return unaliased.removesuffix("\\"), alias.strip() or None


def split_fragment(unaliased: str) -> tuple[str, str | None, str | None]:
    """Split a reference without its alias into target (as written), heading and block id."""
    target, hash_sign, fragment = unaliased.partition("#")
    if not hash_sign:
        target, caret, block = unaliased.partition("^")
        if caret and _BLOCK_ID.fullmatch(block.strip()):
            return target, None, block.strip()
        return unaliased, None, None
    heading, block_id = parse_fragment(fragment)
    return target, heading, block_id


def parse_fragment(fragment: str) -> tuple[str | None, str | None]:
    """Parse the text after a link's first `#` into heading and block id."""
    fragment = fragment.strip()
    if fragment.startswith("^"):
        return None, fragment[1:].strip() or None
    heading, mark, block = fragment.rpartition("#^")
    if mark and _BLOCK_ID.fullmatch(block):
        return heading.strip(" #") or None, block
    return fragment.strip(" #") or None, None
