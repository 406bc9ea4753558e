"""A YAML tree of values with their spans, built from the events of libyaml.

Reading events without constructing objects is safe and preserves the position of each value, which edits to
a single property need. Plain scalars resolve as in Obsidian (the core schema of YAML 1.2: `yes` and `12:30`
are text), and dates stay text in ISO form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import yaml
from yaml.cyaml import CParser  # type: ignore[attr-defined]

from app.vault.note import Span

MAX_DEPTH = 20
MAX_ALIASES = 16
MAX_NODES = 20_000

_PLAIN_WORDS: dict[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,300})")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BASED = re.compile(r"0o[0-7]{1,99}|0x[0-9a-fA-F]{1,99}")
_DATE_TIME = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(\.\d*)?[ \t]*(Z|[-+]\d\d?(?::?\d\d)?)?"
)
_CORE_TAGS = ("str", "int", "float", "bool", "null", "seq", "map", "timestamp")
_KNOWN_TAGS = frozenset([None, "!", *(f"tag:yaml.org,2002:{name}" for name in _CORE_TAGS)])
_START_EVENTS = (yaml.ScalarEvent, yaml.SequenceStartEvent, yaml.MappingStartEvent)
_STRING_TAGS = frozenset(["!", "tag:yaml.org,2002:str"])


class UnreadableYamlError(ValueError):
    """The text is not an acceptable YAML mapping; the message says why, for the user."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar: `text` is its string, `value` the resolved value.

    `quote` is its style: "", ', ", | or >, or * for an alias.
    """

    text: str
    value: str | int | float | bool | None
    quote: str
    span: Span


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list; `flow` if written in brackets."""

    items: tuple[Node, ...]
    flow: bool
    span: Span


@dataclass(frozen=True, slots=True)
class MappingEntry:
    """A key and its value."""

    key: Scalar
    value: Node


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and values in order, including duplicates; `flow` if written in braces."""

    entries: tuple[MappingEntry, ...]
    flow: bool
    span: Span


Node = Scalar | Sequence | Mapping


def read_tree(text: str, offset: int = 0) -> Mapping | None:
    """Parse a mapping, with spans shifted by `offset`; return None for empty text.

    Raises:
        UnreadableYamlError: it is not YAML, not a mapping, uses an unknown tag, contains a second document or
            exceeds a limit (depth, aliases, nodes).
    """
    try:
        # Only libyaml's parser, without a loader that would construct objects.
        parser = CParser(text)
        root = _Composer(iter(parser.get_event, None), text, offset).compose_document()
    except yaml.MarkedYAMLError as error:
        line = f" (line {error.problem_mark.line + 2})" if error.problem_mark else ""
        raise UnreadableYamlError(f"{error.problem or error.context}{line}") from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise UnreadableYamlError(str(error).splitlines()[0]) from error
    if isinstance(root, Scalar) and root.value is None:
        return None
    if root is not None and not isinstance(root, Mapping):
        raise UnreadableYamlError("the block is not a list of `key: value` lines")
    return root


def to_plain(node: Node) -> object:
    """Convert a node to plain values; the last of duplicate keys wins."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return [to_plain(item) for item in node.items]
    return to_dict(node)


def to_dict(mapping: Mapping) -> dict[str, object]:
    """Convert a mapping to a dict of plain values."""
    return {entry.key.text: to_plain(entry.value) for entry in mapping.entries}


def scalar_value(text: str) -> str | int | float | bool | None:
    """Resolve the plain scalar `text` to its value."""
    if text in _PLAIN_WORDS:
        return _PLAIN_WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text) and any(mark in text for mark in ".eE"):
        number = float(text)
        return number if abs(number) != float("inf") else text
    if match := _DATE_TIME.fullmatch(text):
        return _to_iso(match)
    return text


def _to_iso(match: re.Match[str]) -> str:
    """Convert a YAML date and time to ISO 8601; return it unchanged if it already has that form."""
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    if zone and zone != "Z":
        digits = zone[1:].replace(":", "")
        hours, minutes = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "00")
        zone = f"{zone[0]}{int(hours):02}:{minutes}"
    fraction = fraction if fraction and len(fraction) > 1 else ""
    return f"{year}-{int(month):02}-{int(day):02}T{int(hour):02}:{minute}:{second}{fraction}{zone or ''}"


class _Composer:
    """Builds the tree from events and enforces the limits."""

    def __init__(self, events: Iterator[yaml.Event], text: str, offset: int) -> None:
        self.events = events
        self.text = text
        self.offset = offset
        self.anchors: dict[str, tuple[Node, int]] = {}
        self.alias_count = 0
        self.node_count = 0

    def compose_document(self) -> Node | None:
        root: Node | None = None
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    raise UnreadableYamlError("the block contains a second document")
                root = self.compose_node(next(self.events), 1)
        return root

    def compose_node(self, event: yaml.Event, depth: int) -> Node:
        count_before = self.node_count
        self.count_nodes(1)
        if depth > MAX_DEPTH:
            raise UnreadableYamlError(f"the block is nested deeper than {MAX_DEPTH} levels")
        if isinstance(event, yaml.AliasEvent):
            return self.resolve_alias(event)
        if not isinstance(event, _START_EVENTS):
            raise UnreadableYamlError("the block ends unexpectedly")
        if event.tag not in _KNOWN_TAGS:
            raise UnreadableYamlError(f"the tag {event.tag} is not supported")
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            node = self.compose_scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self.compose_sequence(event, depth)
        else:
            node = self.compose_mapping(event, depth)
        if event.anchor:
            self.anchors[event.anchor] = (node, self.node_count - count_before)
        return node

    def count_nodes(self, nodes: int) -> None:
        self.node_count += nodes
        if self.node_count > MAX_NODES:
            raise UnreadableYamlError(f"the block contains more than {MAX_NODES:,} values")

    def resolve_alias(self, event: yaml.AliasEvent) -> Node:
        self.alias_count += 1
        if self.alias_count > MAX_ALIASES:
            raise UnreadableYamlError(f"the block uses more than {MAX_ALIASES} aliases")
        if event.anchor not in self.anchors:
            raise UnreadableYamlError(f"the alias *{event.anchor} is undefined")
        node, size = self.anchors[event.anchor]
        self.count_nodes(size)
        return _copy_at(node, self.span(event, event))

    def compose_scalar(self, event: yaml.ScalarEvent) -> Scalar:
        quote = event.style or ""
        text = event.value
        is_text = quote or event.tag in _STRING_TAGS
        return Scalar(text, text if is_text else scalar_value(text), quote, self.span(event, event))

    def compose_sequence(self, start: yaml.SequenceStartEvent, depth: int) -> Sequence:
        items: list[Node] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self.compose_node(event, depth + 1))
        return Sequence(tuple(items), bool(start.flow_style), self.span(start, event))

    def compose_mapping(self, start: yaml.MappingStartEvent, depth: int) -> Mapping:
        entries: list[MappingEntry] = []
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.compose_node(event, depth + 1)
            if not isinstance(key, Scalar):
                # Templates contain `date: {{date}}`; like Obsidian, use the raw text as the key.
                raw = self.text[key.span.start - self.offset : key.span.end - self.offset]
                key = Scalar(raw, raw, "", key.span)
            entries.append(MappingEntry(key, self.compose_node(next(self.events), depth + 1)))
        return Mapping(tuple(entries), bool(start.flow_style), self.span(start, event))

    def span(self, start: yaml.Event, end: yaml.Event) -> Span:
        first, last = start.start_mark, end.end_mark
        begin = first.index if first else 0
        return Span(begin + self.offset, (last.index if last else begin) + self.offset)


def _copy_at(node: Node, span: Span) -> Node:
    """Return a copy whose values have the alias's span, so that no edit reaches the anchor."""
    if isinstance(node, Scalar):
        return replace(node, span=span, quote="*")
    if isinstance(node, Sequence):
        return Sequence(tuple(_copy_at(item, span) for item in node.items), True, span)
    return Mapping(tuple(MappingEntry(e.key, _copy_at(e.value, span)) for e in node.entries), True, span)
