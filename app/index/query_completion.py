"""Completion of queries: the kind of name at the cursor, and the part already typed.

A query is rarely valid while it is being typed, so this module examines only the text before the cursor and
tolerates any error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from app.index.query_ast import FieldName, TimeName
from app.index.query_serializer import quote_text

Kind = Literal["operator", "tag", "property", "value", "note", "file", "folder", "type", "relation"]
_VALUELESS_OPERATORS = ("orphan:", "unresolved:", "untagged:")
OPERATORS = (
    *(f"{name}:" for name in get_args(FieldName)),
    *(f"{name}:" for name in get_args(TimeName)),
    *_VALUELESS_OPERATORS,
    "similar:",
)
_KINDS: dict[str, Kind] = {
    "tag": "tag",
    "type": "type",
    "rel": "relation",
    "backlinks": "relation",
    "links-to": "note",
    "linked-from": "note",
    "file": "file",
    "path": "folder",
}
_FIELD = re.compile(r"-*([A-Za-z]+(?:-[A-Za-z]+)?):")
_PLAIN = re.compile(r'[^\s()"\[\]/*:<>-][^\s()"\]]*')
_LETTERS = re.compile(r"[A-Za-z-]{2,}")
_OPERATOR = re.compile(r"(?:OR(?:\[.*)?|null)\Z")
"""Names that would be parsed as an operator: a bracket right after OR ends the word."""
_JOINING = re.compile(r"\s+|\bOR\b|[(-]")


@dataclass(frozen=True, slots=True)
class CompletionTarget:
    """A partly typed name: a completion replaces `text[start:end]` of the query.

    `word` is the typed part of the name without operators; `name` is the property of a value.
    """

    kind: Kind
    word: str
    start: int
    end: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class QuerySuggestion:
    """A completion: the text to show, the text to insert, and the number of notes that have it, if known."""

    shown: str
    text: str
    count: int | None = None


def completion_target_at(text: str, cursor: int) -> CompletionTarget | None:
    """Return the name being typed before the cursor, or None if nothing can be completed."""
    before = text[:cursor]
    start, fields, bracket = 0, [""], -1
    index = 0
    while index < len(before):
        letter = before[index]
        if letter == '"' or (letter == "/" and index == _value_start(before, start)):
            if (end := _closing_quote(before, index)) < 0:
                break
            index = end
        elif bracket >= 0:
            bracket = -1 if letter == "]" else bracket
            start = index + 1 if bracket < 0 else start
        elif letter == "[" and index == _value_start(before, start) and not _last_field(before[start:index]):
            bracket = index
        elif letter == "(":
            fields.append(_last_field(before[start:index]) or fields[-1])
            start = index + 1
        elif letter == ")" or letter.isspace():
            if letter == ")" and len(fields) > 1:
                fields.pop()
            # A space may separate a field's value from its name.
            value_follows = letter != ")" and before[start:index].rstrip().endswith(":")
            start = (
                start
                if value_follows
                and f"{_last_field(before[start:index])}:" not in (":", *_VALUELESS_OPERATORS)
                else index + 1
            )
        index += 1
    if bracket >= 0:
        return _in_property(before, bracket)
    return _in_token(before, start, fields[-1])


def insertion(target: CompletionTarget, name: str) -> str:
    """Return the text to insert into the query for this name."""
    match target.kind:
        case "operator":
            return name
        case "property":
            return f"[{_property_name(name)}]"
        case "value":
            return f"[{_property_name(target.name)}:{_quote_name(name)}]"
        case _:
            return _quote_name(name)


def _quote_name(name: str) -> str:
    is_plain = _PLAIN.fullmatch(name) is not None and not _OPERATOR.match(name) and not name.endswith("*")
    return name if is_plain else quote_text(name)


def _property_name(name: str) -> str:
    return quote_text(name) if any(sign in name for sign in ':[]"') else name


def _value_start(before: str, start: int) -> int:
    """Return the start of the token's value, after its operators and field names."""
    match = re.compile(r"(?:-*(?:[A-Za-z]+(?:-[A-Za-z]+)?):)*-*\s*").match(before, start)
    return match.end() if match else start


def _last_field(token: str) -> str:
    """Return the last field in a token, or ""."""
    names = [match[1].lower() for match in _iter_fields(token)]
    return names[-1] if names else ""


def _iter_fields(token: str) -> Iterator[re.Match[str]]:
    index = 0
    while (match := _FIELD.match(token, index)) and f"{match[1].lower()}:" in OPERATORS:
        yield match
        index = match.end()


def _closing_quote(text: str, start: int) -> int:
    """Return the offset of the quote that closes the one at `start`, or -1."""
    index = start + 1
    while index < len(text):
        if text[index] == "\\":
            index += 1
        elif text[index] == text[start]:
            return index
        index += 1
    return -1


def _in_token(before: str, start: int, outer_field: str) -> CompletionTarget | None:
    token = before[start:]
    lead = len(token) - len(token.lstrip("- \t"))
    token, start = token[lead:], start + lead
    fields = list(_iter_fields(token))
    field = fields[-1][1].lower() if fields else outer_field
    if fields:
        skipped = fields[-1].end()
        skipped += len(token) - skipped - len(token[skipped:].lstrip("- \t"))
        token, start = token[skipped:], start + skipped
    if field in _KINDS:
        return CompletionTarget(_KINDS[field], _strip_quotes(token), start, len(before))
    if token.startswith("#") and len(token) > 1:
        return CompletionTarget("tag", token, start, len(before))
    if _LETTERS.fullmatch(token) and not field:
        return CompletionTarget("operator", token, start, len(before))
    return None


def _in_property(before: str, bracket: int) -> CompletionTarget | None:
    content = before[bracket + 1 :]
    name, colon, value = content.partition(":")
    if not colon:
        return CompletionTarget("property", _strip_quotes(name), bracket, len(before))
    if _JOINING.search(value.strip()) and not value.strip().startswith('"'):
        return None
    return CompletionTarget("value", _strip_quotes(value), bracket, len(before), _strip_quotes(name))


def _strip_quotes(word: str) -> str:
    return word.strip().lstrip("#").strip('"').replace('\\"', '"')
