"""Tokenizer for requests: words, quoted text, wikilinks, tags and punctuation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

TokenKind = Literal["word", "quoted", "link", "tag", "mark"]

MAX_TOKENS = 80
_TOKEN = re.compile(
    r"""
      (?P<link>!?\[\[[^\[\]\n]+\]\])
    | (?P<quoted>"[^"]+"|“[^”]+”|„[^“”]+[“”]|«[^»]+»|`[^`\n]+`
        |(?<!\w)'[^'\n]+'(?!\w)|(?<!\w)‘[^’\n]+’(?!\w))
    | (?P<tag>(?<![\w\#])\#[\w/-]*[^\W\d][\w/-]*)
    | (?P<word>(?<![\w.])\.\d+%?
        |(?<![\w.])(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])\.(?![\w.])
        |[^\s,;:!?."“”„«»`\[\]]+(?:[.:!?,;'][^\s,;:!?."“”„«»`\[\]]+)*(?:[\w)+*/\]%°])?|\[|\]|["“”„«»`])
    | (?P<mark>[,;:!?.…]+)
    """,
    re.VERBOSE,
)


_COMPARISON = re.compile(r"(?<=\w)(?:>=|<=|=|<|>)(?=[\w\"])")


_INITIAL = re.compile(r"(?<!\w)(?P<name>[^\W\d_][\w'’-]*)\.?\s*(?<!\w)(?P<initial>[^\W\d_])$")
_NUMBER = re.compile(
    r"\(?[£$€]?(?:(?P<grouped>\d{1,3}(?:,\d{3})+)|(?P<plain>[-+]?\d*[.,]?\d+))"
    r"\s*(?P<unit>%|percent|prozent|k|\+|/10|/5|mins?|minute[ns]?|pp?|pages|seiten|€|eur|euros?)?\)?",
    re.IGNORECASE,
)

DOTTED_NUMBER = re.compile(r"[-+]?\d{1,3}(?:\.\d{3})+(?:,\d+)?")
"""A number with dots between its groups of three digits."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a request.

    `key` is the case-folded form for comparison, the same for all quoted texts and for all links. `value` is
    the text without quotes, brackets or `#`, and `start` and `end` are its character offsets in the request.
    """

    kind: TokenKind
    key: str
    value: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        """True if the token is a word or number rather than quoted text, a link, a tag or a mark."""
        return self.kind == "word"


def tokenize(
    text: str, contractions: Mapping[str, str], noise: frozenset[str] = frozenset()
) -> tuple[Token, ...]:
    """Return the tokens of `text`, ignoring the rest once there are `MAX_TOKENS`.

    A contraction ("what's") becomes its words, all with the same offsets; a comparison without spaces
    ("born>=1700") becomes its three parts; words in `noise` are skipped.
    """
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        if len(tokens) >= MAX_TOKENS:
            break
        token = _token(match)
        if token.is_word and token.key in noise:
            continue
        words = contractions.get(token.key, "").split() if token.is_word else []
        tokens += [replace(token, key=word) for word in words] or _comparison_parts(token)
    return tuple(tokens)


def _comparison_parts(token: Token) -> list[Token]:
    """Return the parts of a comparison written as one word; for other tokens, the token itself."""
    if not token.is_word or "://" in token.value:
        return [token]
    parts: list[Token] = []
    start = 0
    for match in (*_COMPARISON.finditer(token.value), None):
        ends = (match.start(), match.end()) if match else (len(token.value), len(token.value))
        for first, last in ((start, ends[0]), ends):
            if last > first:
                text = token.value[first:last]
                parts.append(Token("word", _fold(text), text, token.start + first, token.start + last))
        start = ends[1]
    return parts


def _token(match: re.Match[str]) -> Token:
    text, start, end = match[0], match.start(), match.end()
    match match.lastgroup:
        case "link":
            return Token("link", "[[]]", text.lstrip("!")[2:-2], start, end)
        case "quoted":
            return Token("quoted", '""', text[1:-1], start, end)
        case "tag":
            return Token("tag", text.casefold(), text[1:], start, end)
        case "mark":
            return Token("mark", text, text, start, end)
        case _:
            return Token("word", _fold(text), text, start, end)


def _fold(word: str) -> str:
    """Return the key of a word, which may be longer than the word: "ß" becomes "ss"."""
    return word.casefold().replace("’", "'")


def span_text(request: str, tokens: tuple[Token, ...]) -> str:
    """Return the text of the request from the first token to the last."""
    return request[tokens[0].start : tokens[-1].end] if tokens else ""


def written_text(request: str, tokens: tuple[Token, ...]) -> str:
    """Return the text from the first token to the last, with the full stop of a final initial: "Berit H."."""
    text = span_text(request, tokens)
    after = request[tokens[-1].end :] if tokens else ""
    is_full_stop = after.startswith(".") and not after.startswith("..")
    return f"{text}." if is_full_stop and ends_with_initial(text) else text


def ends_with_initial(text: str) -> bool:
    """Return whether a text ends with an initial after another name or initial: "Berit H", "J. R"."""
    match = _INITIAL.search(text)
    return match is not None and match["name"][0].isupper() and match["initial"].isupper()


def plain_number(text: str) -> str | None:
    """Convert a number, a percentage or an amount to a plain number: "70 %" to 0.7, "£7,940" to 7940.

    Return None for other text.
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    digits = match["grouped"] or match["plain"]
    number = (digits.replace(",", "") if match["grouped"] else digits.replace(",", ".")).removeprefix("+")
    unit = (match["unit"] or "").casefold()
    if unit in ("%", "percent", "prozent"):
        return f"{float(number) / 100:g}"
    if unit == "k":
        return f"{float(number) * 1000:g}"
    return f"0{number}" if number.startswith(".") else number
