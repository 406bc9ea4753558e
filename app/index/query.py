r"""The parser of the search language.

    query    = all {"OR" all}
    all      = one {one}
    one      = "-" one | "(" query ")" | "[" property "]" | field | phrase | regex | word
    field    = name ":" one                       (file: path: content: tag: line: block: section: task: …)
    property = name [":" ("null" | value)]        value may have "OR", "-", parentheses, < <= > >=
    phrase   = '"' … '"' with \" and \\           regex = "/" … "/" with \/

Words are AND-ed. A name that is not a field is part of a word (`10:30`, `https://…`). `modified:` and
`created:` take a year, month, ISO week or day, alone or after < <= > >=; `similar:` takes a word or phrase;
`orphan:`, `unresolved:` and `untagged:` take no value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import cast, get_args

from app.errors import QueryError
from app.index.query_ast import (
    And,
    Comparison,
    DateFilter,
    FieldFilter,
    FieldName,
    Node,
    Not,
    Or,
    OrphanFilter,
    PhraseTerm,
    PropertyFilter,
    RegexTerm,
    SimilarityFilter,
    TimeName,
    UnresolvedFilter,
    UntaggedFilter,
    ValueComparison,
    WordTerm,
    walk_nodes,
)

MAX_QUERY_CHARS = 4000
MAX_DEPTH = 50
_FIELDS = frozenset(get_args(FieldName))
_NAME = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)?(?=:)")
_WORD = re.compile(r'[^\s()"]+')
_VALUE_WORD = re.compile(r'[^\s()"\]]+')
_SIGN = re.compile(r"<=|>=|<|>")
_OPTIONAL_VALUE_FIELDS = ("task", "task-todo", "task-done", "backlinks")
_CASE_FIELDS = ("match-case", "ignore-case")
_NOTE_FIELDS = ("links-to", "linked-from")
_WHOLE_WORD_FIELDS = ("tag", "type", "rel", "backlinks", "links-to", "linked-from")
_TIME_FIELDS = get_args(TimeName)
_VALUELESS_FILTERS: dict[str, Node] = {
    "orphan": OrphanFilter(),
    "unresolved": UnresolvedFilter(),
    "untagged": UntaggedFilter(),
}


def parse(text: str) -> Node | None:
    """Parse a query; return None if it is empty.

    A word at the very end also matches longer words, like one with `*`.

    Raises:
        QueryError: it is invalid; `position` counts characters from 0, `expected` describes valid input.
    """
    if len(text) > MAX_QUERY_CHARS:
        raise _error(MAX_QUERY_CHARS, f"at most {MAX_QUERY_CHARS} characters")
    reader = _QueryParser(text)
    reader.skip_space()
    if reader.at_end():
        return None
    node = reader.parse_or(0)
    if not reader.at_end():
        raise _error(reader.position, 'an opening "(" before this ")"' if reader.peek() == ")" else "a word")
    return node


class _QueryParser:
    """A recursive descent parser; `position` is the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self._in_property = False
        self._field: FieldName | None = None

    def at_end(self) -> bool:
        return self.position >= len(self.text)

    def peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def skip_space(self) -> None:
        while self.peek().isspace():
            self.position += 1

    def parse_or(self, depth: int) -> Node:
        items = [self.parse_and(depth)]
        while self._is_at_or():
            self.position += 2
            items.append(self.parse_and(depth))
        return items[0] if len(items) == 1 else Or(tuple(items))

    def parse_and(self, depth: int) -> Node:
        items: list[Node] = []
        self.skip_space()
        while not self.at_end() and self.peek() not in self._closing_brackets() and not self._is_at_or():
            items.append(self.parse_item(depth + 1))
            self.skip_space()
        if not items:
            location = "after OR" if self.text[: self.position].rstrip().endswith("OR") else "here"
            raise _error(self.position, f"a word, a phrase or a filter {location}")
        return items[0] if len(items) == 1 else And(tuple(items))

    def parse_item(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise _error(self.position, f"at most {MAX_DEPTH} levels of brackets")
        letter = self.peek()
        if letter == "-":
            return self._parse_negation(depth)
        if letter == "(":
            return self._parse_group(depth)
        if letter == '"':
            return PhraseTerm(self._parse_quoted('"', "phrase"))
        if letter == "/":
            start = self.position
            return RegexTerm(self._parse_quoted("/", "regular expression"), start)
        if self._in_property:
            return self._parse_value()
        if letter == "[" and not self._field:
            return self._parse_property(depth)
        if (name := _NAME.match(self.text, self.position)) and (build := self._field_parser(name[0].lower())):
            if self._field and name[0].lower() not in _CASE_FIELDS:
                raise _error(self.position, f"words, phrases or regular expressions inside {self._field}:")
            self.position = name.end() + 1
            return build(depth)
        return self._parse_word(_WORD)

    def _closing_brackets(self) -> str:
        return ")]" if self._in_property else ")"

    def _is_at_or(self) -> bool:
        after = self.text[self.position + 2 : self.position + 3]
        return self.text.startswith("OR", self.position) and (not after or after.isspace() or after in '()["')

    def _parse_negation(self, depth: int) -> Node:
        self.position += 1
        if self.at_end() or self.peek().isspace() or self.peek() in self._closing_brackets():
            raise _error(self.position, 'a word, a filter or "(" right after "-"')
        return Not(self.parse_item(depth + 1))

    def _parse_group(self, depth: int) -> Node:
        start = self.position
        self.position += 1
        node = self.parse_or(depth)
        if self.peek() != ")":
            raise _error(self.position, f'")" to close the "(" at position {start}')
        self.position += 1
        return node

    def _parse_quoted(self, mark: str, kind: str) -> str:
        start = self.position
        characters: list[str] = []
        self.position += 1
        while not self.at_end() and self.peek() != mark:
            if self.peek() == "\\" and self.position + 1 < len(self.text):
                self.position += 1
                # A regex keeps its backslashes except before the delimiter.
                is_unescaped = self.peek() == mark or (mark == '"' and self.peek() == "\\")
                characters.append(self.peek() if is_unescaped else f"\\{self.peek()}")
            else:
                characters.append(self.peek())
            self.position += 1
        if self.at_end():
            raise _error(self.position, f"{mark} to end the {kind} that begins at position {start}")
        self.position += 1
        return "".join(characters)

    def _parse_word(self, pattern: re.Pattern[str]) -> Node:
        match = pattern.match(self.text, self.position)
        if match is None:
            raise _error(self.position, f'a word, not "{self.peek()}"')
        self.position = match.end()
        word = match[0]
        stem = word.rstrip("*")
        if not stem:
            return WordTerm(word)
        return WordTerm(stem, prefix=stem != word or self.position == len(self.text))

    # Fields

    def _field_parser(self, name: str) -> Callable[[int], Node] | None:
        if (filter_node := _VALUELESS_FILTERS.get(name)) is not None:
            return lambda depth: filter_node
        if name in _TIME_FIELDS:
            return lambda depth: self._parse_date(cast("TimeName", name))
        if name == "similar":
            return self._parse_similar
        if name in _FIELDS:
            return lambda depth: self._parse_in_field(cast("FieldName", name), depth)
        return None

    def _parse_in_field(self, name: FieldName, depth: int) -> Node:
        self.skip_space()
        if name in _OPTIONAL_VALUE_FIELDS and (self.at_end() or self.peek() in ")[" or self._is_at_or()):
            return FieldFilter(name, PhraseTerm(""))
        if self.at_end() or self.peek() in self._closing_brackets() or self._is_at_or():
            raise _error(self.position, f'a word, a phrase or "(" after {name}:')
        outer = self._field
        self._field = outer if name in _CASE_FIELDS else name
        try:
            item = self.parse_item(depth + 1)
        finally:
            self._field = outer
        if (
            name in _WHOLE_WORD_FIELDS
            and isinstance(item, WordTerm)
            and not self.text.endswith("*", 0, self.position)
        ):
            item = WordTerm(item.text)
        patterns = [part for part in walk_nodes(item) if isinstance(part, RegexTerm)]
        if name in _NOTE_FIELDS and patterns:
            raise _error(patterns[0].position, f"the name of a note after {name}:")
        return FieldFilter(name, item)

    def _parse_date(self, name: TimeName) -> Node:
        self.skip_space()
        start = self.position
        sign = _SIGN.match(self.text, self.position)
        if sign:
            self.position = sign.end()
            self.skip_space()
        word = _VALUE_WORD.match(self.text, self.position)
        span = date_span(word[0]) if word else None
        if word is None or span is None:
            raise _error(start, f"a date after {name}:, such as 2026-03-18, 2026-W12, 2026-03 or 2026")
        self.position = word.end()
        first, after = span
        match sign[0] if sign else "":
            case "<":
                first, after = None, first
            case "<=":
                first = None
            case ">":
                first, after = after, None
            case ">=":
                after = None
        return DateFilter(name, first, after, self.text[start : self.position])

    def _parse_similar(self, depth: int) -> Node:
        self.skip_space()
        start = self.position
        item = self.parse_item(depth + 1) if not self.at_end() else None
        if not isinstance(item, WordTerm | PhraseTerm) or not item.text.strip():
            raise _error(start, 'text in quotes after similar:, such as similar:"free will"')
        return SimilarityFilter(item.text, start)

    # Properties

    def _parse_property(self, depth: int) -> Node:
        start = self.position
        self.position += 1
        self.skip_space()
        name = self._parse_property_name()
        self.skip_space()
        node: Node = PropertyFilter(name)
        if self.peek() == ":":
            self.position += 1
            self.skip_space()
            node = self._parse_property_value(name, depth)
        self.skip_space()
        if self.peek() != "]":
            raise _error(self.position, f'"]" to close the "[" at position {start}')
        self.position += 1
        return node

    def _parse_property_name(self) -> str:
        start = self.position
        if self.peek() == '"':
            name = self._parse_quoted('"', "name")
        else:
            while not self.at_end() and self.peek() not in ':[]"':
                self.position += 1
            name = self.text[start : self.position]
        if not name.strip():
            raise _error(start, "the name of a property")
        return name.strip()

    def _parse_property_value(self, name: str, depth: int) -> Node:
        if self.at_end():
            raise _error(self.position, "a value, null, or < or > and a number")
        self._in_property = True
        try:
            value = self.parse_or(depth + 1)
        finally:
            self._in_property = False
        if isinstance(value, WordTerm) and value.text.lower() == "null":
            return PropertyFilter(name, None, empty=True)
        return PropertyFilter(name, value)

    def _parse_value(self) -> Node:
        if sign := _SIGN.match(self.text, self.position):
            self.position = sign.end()
            self.skip_space()
            start = self.position
            if self.peek() == '"':
                return ValueComparison(cast("Comparison", sign[0]), self._parse_quoted('"', "value"))
            word = _VALUE_WORD.match(self.text, self.position)
            if word is None:
                raise _error(start, f"a number or a date after {sign[0]}")
            self.position = word.end()
            return ValueComparison(cast("Comparison", sign[0]), word[0])
        return self._parse_word(_VALUE_WORD)


def date_span(text: str) -> tuple[float | None, float | None] | None:
    """Return the start and the end of a year, month, ISO week or day in local time, as Unix seconds.

    Return None if `text` is not a date or is out of range. The end is the first moment after the period.
    """
    try:
        if re.fullmatch(r"\d{4}-W\d\d", text):
            start = datetime.strptime(f"{text}-1", "%G-W%V-%u")
            end = start + timedelta(days=7)
        elif re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            start = datetime.strptime(text, "%Y-%m-%d")
            end = start + timedelta(days=1)
        elif re.fullmatch(r"\d{4}-\d\d", text):
            start = datetime.strptime(text, "%Y-%m")
            end = (start + timedelta(days=31)).replace(day=1)
        elif re.fullmatch(r"\d{4}", text):
            start = datetime(int(text), 1, 1)
            end = start.replace(year=start.year + 1)
        else:
            return None
        return start.timestamp(), end.timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _error(position: int, expected: str) -> QueryError:
    return QueryError(
        f"The search is invalid at position {position}: expected {expected}.",
        position=position,
        expected=expected,
    )
