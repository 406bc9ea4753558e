"""Formatting of values as YAML that 1.1 and 1.2 readers parse alike, with as few quotes as possible.

Dates stay unquoted, although YAML 1.1 readers parse them as dates, not text.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Mapping, Sequence

import yaml

from app.errors import InvalidParametersError
from app.vault.markdown.yaml_tree import MAX_DEPTH, scalar_value

_RESOLVER = yaml.resolver.Resolver()
_PLAIN_TAGS = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:timestamp")
_NOT_FIRST = frozenset("-?:,[]{}#&*!|>'\"%@`= \t")
_BREAKS_PLAIN = re.compile(r":(?:\s|\Z)|\s#|[ \t]\Z")
_BREAKS_FLOW = re.compile(r"[,\[\]{}]|:[,\[\]{}\"']")
_UNPRINTABLE = re.compile(
    r"[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]|[\u2028\u2029]"
)
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
_BLOCK_TEXT = re.compile(r"[^\s#][^\r]*")


def json_like(value: object, depth: int = 1) -> object:
    """Convert a value to plain values: dates to ISO text, tuples to lists, keys to text.

    Raises:
        InvalidParametersError: it contains something that properties can't, or is nested too deeply.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            message = "The value contains an invalid character (an unpaired surrogate), which can't be saved."
            raise InvalidParametersError(message)
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if depth < MAX_DEPTH and isinstance(value, Mapping):
        return {str(key): json_like(item, depth + 1) for key, item in value.items()}
    if depth < MAX_DEPTH and isinstance(value, Sequence) and not isinstance(value, bytes):
        return [json_like(item, depth + 1) for item in value]
    raise InvalidParametersError(f"A property can't contain {value!r:.80}.")


def is_same_value(a: object, b: object) -> bool:
    """Return whether two plain values are equal, including their types: 1 is neither 1.0 nor true."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def inline_yaml(value: object, *, quote: str = "", flow: bool = False) -> str:
    """Format a plain value on one line.

    Args:
        value: A result of `json_like`.
        quote: The quotes for text, even if unnecessary; "" for as few as possible.
        flow: Whether it is inside brackets or braces, where more characters need quotes.
    """
    if isinstance(value, str):
        return text_scalar(value, quote=quote, flow=flow)
    if isinstance(value, list):
        return "[" + ", ".join(inline_yaml(item, flow=True) for item in value) + "]"
    if isinstance(value, dict):
        pairs = (
            f"{text_scalar(key, flow=True)}: {inline_yaml(item, flow=True)}" for key, item in value.items()
        )
        return "{" + ", ".join(pairs) + "}"
    if value is None:
        return "null" if flow else ""
    return json.dumps(value)


def text_scalar(text: str, *, quote: str = "", flow: bool = False) -> str:
    """Format text on one line, in the requested quotes if possible, else in the necessary ones."""
    if not quote and is_plain(text, flow=flow):
        return text
    if _UNPRINTABLE.search(text):
        return double_quoted(text)
    if quote == "'" or (quote != '"' and ('"' in text or "\\" in text)):
        return "'" + text.replace("'", "''") + "'"
    return double_quoted(text)


def double_quoted(text: str) -> str:
    """Return text in double quotes, escaped."""
    return '"' + escape_quoted(text) + '"'


def escape_quoted(text: str) -> str:
    """Escape text for double quotes."""
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return _UNPRINTABLE.sub(lambda match: _ESCAPES.get(match[0]) or _escape_sequence(match[0]), text)


def json_text(value: object) -> str:
    """Format a plain value as JSON that is also valid YAML."""
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def block_text(text: str, newline: str, indent: str = "  ") -> str | None:
    """Format multiline text as a literal block, starting at its `|`, or return None if it needs quotes."""
    lines = text.split("\n")
    if len(lines) < 2 or not _BLOCK_TEXT.fullmatch(lines[0]) or _UNPRINTABLE.search(text.replace("\n", "")):
        return None
    body = text.rstrip("\n")
    if any(line and not line.strip(" \t") for line in lines) or len(text) - len(body) > 1:
        return None
    rows = (indent + line if line else "" for line in body.split("\n"))
    return ("|" if text.endswith("\n") else "|-") + newline + newline.join(rows)


def is_plain(text: str, *, flow: bool) -> bool:
    """Return whether YAML 1.1 and 1.2 readers parse unquoted `text` as text or as a date."""
    if not text or text[0] in _NOT_FIRST or _UNPRINTABLE.search(text) or _BREAKS_PLAIN.search(text):
        return False
    if flow and _BREAKS_FLOW.search(text):
        return False
    if scalar_value(text) != text or text.startswith(("...", "---")):
        return False
    tag: str = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return tag in _PLAIN_TAGS


def _escape_sequence(letter: str) -> str:
    number = ord(letter)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
