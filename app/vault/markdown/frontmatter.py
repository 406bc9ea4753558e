"""The properties at the start of a note: YAML (or JSON) between two `---` lines.

A block that can't be read has a `problem`; the rest of the note is parsed, and edits to its properties are
refused.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from app.vault.markdown.text import BOM
from app.vault.markdown.yaml_tree import MAX_DEPTH, Mapping, UnreadableYamlError, read_tree, to_dict
from app.vault.note import Span

MAX_BLOCK_BYTES = 64 * 1024

_OPEN = re.compile(r"\ufeff?---[ \t]*+\r?\n")
_CLOSE = re.compile(r"\n---[ \t]*+(?:\r?\n|\r?\Z)")


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The parsed properties and the position of their block.

    `span` is the whole block with both `---` lines, `content` the part between them; both are None if there
    is no block. `tree` has the span of each value; it is None if the block is missing, empty or unreadable,
    or is JSON but not YAML. `body_start` is the index of the first character after the BOM and the block.
    """

    properties: dict[str, object] = field(default_factory=dict)
    problem: str | None = None
    span: Span | None = None
    content: Span | None = None
    body_start: int = 0
    tree: Mapping | None = None


def read_frontmatter(text: str) -> Frontmatter:
    """Parse a note's properties into plain values, with limits on size, depth, values and aliases."""
    bom = len(BOM) if text.startswith(BOM) else 0
    content, end = block_extent(text)
    if content is None:
        return Frontmatter(body_start=bom)
    span = Span(bom, end)
    block = text[content.start : content.end]
    if len(block.encode("utf-8", "replace")) > MAX_BLOCK_BYTES:
        problem = f"The properties are larger than {MAX_BLOCK_BYTES // 1024} KiB."
        return Frontmatter({}, problem, span, content, end)
    try:
        tree = read_tree(block, content.start)
    except UnreadableYamlError as error:
        if (values := _parse_json(block)) is not None:
            return Frontmatter(values, None, span, content, end)
        return Frontmatter({}, f"The properties can't be read: {error}.", span, content, end)
    return Frontmatter(to_dict(tree) if tree else {}, None, span, content, end, tree)


def body_start(text: str) -> int:
    """Return the index of the first character after the byte order mark and the block, readable or not."""
    content, end = block_extent(text)
    return end if content is not None else len(BOM) if text.startswith(BOM) else 0


def block_extent(text: str) -> tuple[Span | None, int]:
    """Return the span between the two `---` lines and the end of the block, or None and 0 without one."""
    opening = _OPEN.match(text)
    closing = _CLOSE.search(text, opening.end() - 1) if opening else None
    if opening is None or closing is None:
        return None, 0
    return Span(opening.end(), max(closing.start() + 1, opening.end())), closing.end()


def _parse_json(block: str) -> dict[str, object] | None:
    """Parse a JSON block that is not valid YAML (escaped surrogate pairs, long keys), or return None."""
    if not block.lstrip().startswith("{"):
        return None
    try:
        values = json.loads(block, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) and _is_within_depth(values, MAX_DEPTH) else None


def _is_within_depth(value: object, levels: int) -> bool:
    """Return whether a value has at most `levels` levels; the recursion goes no deeper."""
    if levels == 0 or not isinstance(value, dict | list):
        return levels > 0
    children = value.values() if isinstance(value, dict) else value
    return all(_is_within_depth(child, levels - 1) for child in children)
