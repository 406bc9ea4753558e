"""How requests are read as words: tokens, and templates that match them.

A template is written as `(delete|remove) [the note] {name}`: one of, optional, and a slot that takes any
run of tokens. `@word` stands for a group that several templates share. Matching gives every reading, since
only the slots' contents tell which one is meant ("add tea to milk to Shopping").
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from rapidfuzz.distance import OSA

TokenKind = Literal["word", "quoted", "link", "tag", "mark", "rest"]

MOST_TOKENS = 48
_TYPO_LENGTH = 5
_TOKEN = re.compile(
    r"""
      (?P<link>!?\[\[[^\[\]\n]+\]\])
    | (?P<quoted>"[^"]+"|“[^”]+”|„[^“”]+[“”]|«[^»]+»|`[^`\n]+`
        |(?<![\w])'[^'\n]+'(?![\w])|(?<!\w)‘[^’\n]+’(?!\w))
    | (?P<tag>(?<![\w\#])\#[\w/-]*[^\W\d][\w/-]*)
    | (?P<word>[^\s,;:!?."“”„«»`\[\]]+(?:[.:!?,;'][^\s,;:!?."“”„«»`\[\]]+)*(?:[\w)+*/\]%°])?|\[|\]|["“”„«»`])
    | (?P<mark>[,;:!?.…]+)
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a quoted text, a wikilink, a tag or a mark of punctuation.

    `key` is what templates compare with, `value` what it says (a quoted text without its quotes),
    `start` and `end` are its characters in the request.
    """

    kind: TokenKind
    key: str
    value: str
    start: int
    end: int


_WHOLE = {
    "what's": "what is",
    "whats": "what is",
    "what're": "what are",
    "who's": "who is",
    "where's": "where is",
    "that's": "that is",
    "it's": "it is",
    "there's": "there is",
    "i'm": "i am",
    "im": "i am",
    "i've": "i have",
    "i'd": "i would",
    "don't": "do not",
    "dont": "do not",
    "doesn't": "does not",
    "didn't": "did not",
    "shouldn't": "should not",
    "needn't": "need not",
    "isn't": "is not",
    "let's": "let us",
    "how's": "how is",
    "when's": "when is",
    "which's": "which is",
    "anymore": "any more",
}


def tokenize(text: str) -> tuple[Token, ...]:
    """The tokens of a request; what is beyond a new line or 48 tokens is one token, "rest".

    A contraction is the words it stands for, each at the same place.
    """
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        new_line = bool(tokens) and "\n" in text[tokens[-1].end : match.start()]
        if new_line or len(tokens) >= MOST_TOKENS:
            tokens.append(_rest(text, match.start()))
            break
        token = _token(match)
        words = _WHOLE.get(token.key, "").split() if token.kind == "word" else []
        tokens += [replace(token, key=word) for word in words] or [token]
    return tuple(tokens)


def _rest(text: str, start: int) -> Token:
    end = len(text.rstrip())
    return Token("rest", "", text[start:end], start, end)


def _token(match: re.Match[str]) -> Token:
    text = match[0]
    kind = match.lastgroup
    if kind == "link":
        return Token("link", "", text.lstrip("!")[2:-2], match.start(), match.end())
    if kind == "quoted":
        return Token("quoted", "", text[1:-1], match.start(), match.end())
    if kind == "tag":
        return Token("tag", text.casefold(), text, match.start(), match.end())
    if kind == "mark":
        return Token("mark", text, text, match.start(), match.end())
    return Token("word", text.casefold().replace("’", "'"), text, match.start(), match.end())


@dataclass(frozen=True, slots=True)
class Reading:
    """A template laid over tokens.

    `end` is the first token after it, `words` how many tokens are the template's own, `typos` how many of
    those are misspelt, `slots` each slot's first and end token.
    """

    end: int
    words: int = 0
    typos: int = 0
    slots: tuple[tuple[str, int, int], ...] = ()


class Node(ABC):
    """A part of a template."""

    @abstractmethod
    def read(self, tokens: tuple[Token, ...], so_far: Reading) -> Iterator[Reading]:
        """Every way to go on from `so_far` with this part."""

    def vocabulary(self) -> Iterator[str]:
        """The words that it can match."""
        return iter(())


@dataclass(frozen=True, slots=True)
class Word(Node):
    """One word, or one slip of the finger away from a long one."""

    key: str

    def read(self, tokens: tuple[Token, ...], so_far: Reading) -> Iterator[Reading]:
        """The reading with this word taken, if it stands next."""
        at = so_far.end
        while at < len(tokens) and tokens[at].kind == "mark" and tokens[at].key != self.key:
            at += 1
        if at >= len(tokens):
            return
        key = tokens[at].key
        if key == self.key:
            yield Reading(at + 1, so_far.words + 1, so_far.typos, so_far.slots)
        elif len(self.key) < _TYPO_LENGTH - (at == 0):
            return
        elif tokens[at].kind == "word" and _is_slip(key, self.key):
            yield Reading(at + 1, so_far.words + 1, so_far.typos + 1, so_far.slots)

    def vocabulary(self) -> Iterator[str]:
        """Its word."""
        yield self.key


@dataclass(frozen=True, slots=True)
class SlotNode(Node):
    """Any run of tokens that does not begin or end with a mark."""

    name: str

    def read(self, tokens: tuple[Token, ...], so_far: Reading) -> Iterator[Reading]:
        """The readings with one, two, three … tokens in the slot."""
        at = so_far.end
        while at < len(tokens) and tokens[at].kind == "mark":
            at += 1
        for end in range(at + 1, len(tokens) + 1):
            if tokens[end - 1].kind != "mark":
                slots = (*so_far.slots, (self.name, at, end))
                yield Reading(end, so_far.words, so_far.typos, slots)


@dataclass(frozen=True, slots=True)
class Sequence(Node):
    """Parts one after the other."""

    parts: tuple[Node, ...]

    def read(self, tokens: tuple[Token, ...], so_far: Reading) -> Iterator[Reading]:
        """The readings of all parts in order."""
        yield from _read_all(self.parts, tokens, so_far)

    def vocabulary(self) -> Iterator[str]:
        """The words of its parts."""
        for part in self.parts:
            yield from part.vocabulary()


@dataclass(frozen=True, slots=True)
class OneOf(Node):
    """One of several parts, or none where it is `optional`."""

    options: tuple[Node, ...]
    optional: bool

    def read(self, tokens: tuple[Token, ...], so_far: Reading) -> Iterator[Reading]:
        """The readings of each option."""
        for option in self.options:
            yield from option.read(tokens, so_far)
        if self.optional:
            yield so_far

    def vocabulary(self) -> Iterator[str]:
        """The words of its options."""
        for option in self.options:
            yield from option.vocabulary()


def _read_all(parts: tuple[Node, ...], tokens: tuple[Token, ...], so_far: Reading) -> Iterator[Reading]:
    if not parts:
        yield so_far
        return
    for reading in parts[0].read(tokens, so_far):
        yield from _read_all(parts[1:], tokens, reading)


def readings(template: Node, tokens: tuple[Token, ...]) -> Iterator[Reading]:
    """Every way in which the template covers all tokens but marks at the end."""
    for reading in template.read(tokens, Reading(0)):
        if all(token.kind == "mark" for token in tokens[reading.end :]):
            yield reading


def _is_slip(typed: str, word: str) -> bool:
    # A word that differs only by an ending ("note", "notes") is another word, not a slip.
    if typed.startswith(word) or word in (f"{typed}s", f"{typed}d"):
        return False
    return bool(OSA.distance(typed, word, score_cutoff=1) <= 1)


_PART = re.compile(r"[()\[\]|]|\{\w+\}|[^\s()\[\]|{}]+")


def parse_template(text: str, macros: Mapping[str, str]) -> Node:
    """The template that `text` writes.

    Raises:
        ValueError: brackets do not match, or a macro is unknown.
    """
    expanded = text
    while found := re.search(r"@(\w+)", expanded):
        if found[1] not in macros:
            raise ValueError(f"no macro {found[1]!r} in {text!r}")
        expanded = f"{expanded[: found.start()]}{macros[found[1]]}{expanded[found.end() :]}"
    parts = _PART.findall(expanded)
    node, at = _alternatives(parts, 0, "")
    if at != len(parts):
        raise ValueError(f"brackets do not match in {text!r}")
    return node


def _alternatives(parts: list[str], at: int, closing: str) -> tuple[Node, int]:
    options: list[Node] = []
    current: list[Node] = []
    while at < len(parts) and parts[at] != closing:
        part = parts[at]
        at += 1
        if part == "|":
            options.append(Sequence(tuple(current)))
            current = []
        elif part in "([":
            inner, at = _alternatives(parts, at, ")" if part == "(" else "]")
            if at >= len(parts):
                raise ValueError("a bracket is not closed")
            at += 1
            current.append(OneOf((inner,), optional=part == "["))
        elif part.startswith("{"):
            current.append(SlotNode(part[1:-1]))
        else:
            current.append(Word(part.casefold()))
    options.append(Sequence(tuple(current)))
    return (options[0] if len(options) == 1 else OneOf(tuple(options), optional=False)), at
