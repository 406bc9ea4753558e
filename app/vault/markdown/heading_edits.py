"""Rename a heading, and the links that lead to it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import unquote

from app.errors import ConflictError, InvalidParametersError
from app.vault.markdown.headings import (
    heading_key,
    heading_matches,
    heading_reference,
    section,
    without_block_id,
)
from app.vault.markdown.links import format_target
from app.vault.markdown.scan import scan
from app.vault.markdown.text import apply_edits
from app.vault.note import Heading, Link, LinkStyle, ParsedNote, Span
from app.vault.reference import parse_fragment

_WIKI_FRAGMENT = re.compile(r"\s*#([^|\]]*)")
_FRAGMENT = re.compile(r"#([^\s)]*)")
_ANGLED_FRAGMENT = re.compile(r"#([^>]*)")


@dataclass(frozen=True, slots=True)
class HeadingRename:
    """A renamed heading: the note's text and headings after the rename, and its headings before.

    `old` and `new` are the heading's texts.
    """

    text: str
    headings: tuple[Heading, ...]
    before: tuple[Heading, ...]
    old: str
    new: str

    @classmethod
    def of(cls, text: str, target: str, new: str) -> HeadingRename:
        """Rename the one heading that matches `target`; its level, its block id and the rest stay unchanged.

        Raises:
            NotFoundError: there is none; `suggestions` are the first 50 headings.
            AmbiguousError: there are several.
            ConflictError: another heading already has the new name, so that links to it would be ambiguous.
            InvalidParametersError: the new text can't be the text of this heading.
        """
        note = scan(text)
        heading, before = section(text, target).heading, note.headings
        block_id = _block_id(note, heading)
        old_name = heading.text.removesuffix(block_id)
        new_name = new.strip().removesuffix(block_id)
        name = new_name + block_id
        if any(
            other.span != heading.span and heading_key(other.text) == heading_key(name) for other in before
        ):
            raise ConflictError(f"The note already has a heading “{name}”.", heading=name)
        position = text.find(heading.text, heading.span.start, heading.span.end)
        edits = [(position, position + len(old_name), new_name)] if position >= 0 and old_name else []
        after = apply_edits(text, edits)
        renamed = scan(after)
        headings = renamed.headings
        expected = [(h.level, name if h.span == heading.span else h.text) for h in before]
        is_complete = [(h.level, h.text) for h in headings] == expected and renamed.blocks == note.blocks
        if not heading_key(new_name) or not is_complete:
            message = f"The heading “{heading.text}” can't be renamed to “{name}”. Nothing was changed."
            raise InvalidParametersError(message, heading=new)
        return cls(after, headings, before, heading.text, name)

    def new_fragment(self, link: Link) -> str | None:
        """Return the heading by which a link leads to the same place as before; None if it still does.

        Raises:
            InvalidParametersError: there is no such heading.
        """
        found = heading_matches(self.before, link.heading or "")[:1]
        if not found or heading_matches(self.headings, link.heading or "")[:1] == found:
            return None
        new = heading_reference(self.new)
        parts = (link.heading or "").split("#")
        path = "#".join(new if heading_key(part) == heading_key(self.old) else part for part in parts)
        for fragment in (path, new):
            if heading_matches(self.headings, fragment)[:1] == found:
                return fragment
        raise _not_editable(link)


def rename_heading_links(text: str, targets: Collection[str], rename: HeadingRename) -> str:
    """Return `text` with the new heading in its links to the note.

    Args:
        text: A note's text.
        targets: The targets of the links to the note, as `text` spells them.
        rename: The renamed heading.

    Raises:
        InvalidParametersError: a link is in the properties or has another form that can't be edited.
    """
    edits: list[tuple[int, int, str]] = []
    headings: list[str] = []
    for link in scan(text).links:
        fragment = rename.new_fragment(link) if link.target in targets and link.heading else None
        headings.append(heading_key(fragment or link.heading or ""))
        if fragment is None:
            continue
        if link.in_properties or link.block or (span := _fragment_span(text, link)) is None:
            raise _not_editable(link)
        written = format_target(link.style, fragment, angled=_is_angled(text, link))
        edits.append((span.start, span.end, written))
    after = apply_edits(text, edits)
    # Marks in the new heading, such as a backtick, can pair with others in the text.
    if edits and [heading_key(link.heading or "") for link in scan(after).links] != headings:
        message = f"Links to the heading “{rename.new}” would be read as something else."
        raise InvalidParametersError(message, heading=rename.new)
    return after


def _block_id(note: ParsedNote, heading: Heading) -> str:
    """Return the block id at the end of a heading's text, with the space before it; empty without one."""
    has_id = any(block.line == heading.line for block in note.blocks)
    return heading.text.removeprefix(without_block_id(heading.text)) if has_id else ""


def _fragment_span(text: str, link: Link) -> Span | None:
    """Return the span of a link's heading as written, or None if it can't be found."""
    is_wiki = link.style is LinkStyle.WIKI
    pattern = _WIKI_FRAGMENT if is_wiki else _ANGLED_FRAGMENT if _is_angled(text, link) else _FRAGMENT
    match = pattern.match(text, link.target_span.end)
    if match is None:
        return None
    written = match[1].rstrip().removesuffix("\\").rstrip()  # in a table, a backslash precedes the bar
    lead = len(written) - len(written.lstrip())
    if parse_fragment(written if is_wiki else unquote(written))[0] != link.heading:
        return None
    return Span(match.start(1) + lead, match.start(1) + len(written))


def _is_angled(text: str, link: Link) -> bool:
    return link.style is LinkStyle.MARKDOWN and text[link.target_span.start - 1] == "<"


def _not_editable(link: Link) -> InvalidParametersError:
    return InvalidParametersError(f"The link in line {link.line} can't be updated.", line=link.line)
