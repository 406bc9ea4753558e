"""Syntax highlighting of code blocks with Pygments, one chunk of a block at a time.

Typing highlights only the edited chunk again, so it stays fast in long code. Each chunk is highlighted on its
own, so a string that spans two chunks may lose its color in the second.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pygments.lexer import Lexer
    from pygments.style import StyleMeta

CHUNK_LINES = 40
_MAX_CHUNK_CHARS = 8_000
_MAX_CHUNKS = 128


class CodeSpan(NamedTuple):
    """A colored range of a line of code; `color` is "rrggbb" or empty."""

    start: int
    end: int
    color: str
    bold: bool
    italic: bool


class CodeColors:
    """Computes the colors of lines of code, and caches the most recently highlighted chunks."""

    def __init__(self) -> None:
        self._chunks: OrderedDict[tuple[str, bool, str], list[list[CodeSpan]]] = OrderedDict()

    def clear(self) -> None:
        """Clear the cache."""
        self._chunks.clear()

    def spans(self, language: str, code: Sequence[str], line_index: int, is_dark: bool) -> list[CodeSpan]:
        """Return the colored ranges of a line; none for an unknown language or a very long chunk.

        Args:
            language: The info string after the fence.
            code: The lines of the block.
            line_index: The index of the line in `code`.
            is_dark: Whether the theme is dark.
        """
        if not language:
            return []
        start = line_index - line_index % CHUNK_LINES
        text = "\n".join(code[start : start + CHUNK_LINES])
        if len(text) > _MAX_CHUNK_CHARS:
            return []
        key = (language, is_dark, text)
        lines = self._chunks.get(key)
        if lines is None:
            lines = self._chunks[key] = _highlight(language, text, is_dark)
            if len(self._chunks) > _MAX_CHUNKS:
                self._chunks.popitem(last=False)
        return lines[line_index - start] if line_index - start < len(lines) else []


def _highlight(language: str, text: str, is_dark: bool) -> list[list[CodeSpan]]:
    lexer = _lexer(language)
    if lexer is None:
        return []
    style = _style("github-dark" if is_dark else "xcode")
    lines: list[list[CodeSpan]] = [[]]
    column = 0
    for token, value in lexer.get_tokens(text):
        token_style = style.style_for_token(token)
        color = token_style["color"] or ""
        is_plain = not (color or token_style["bold"] or token_style["italic"])
        for number, part in enumerate(value.split("\n")):
            if number:
                lines.append([])
                column = 0
            if part and not is_plain:
                span = CodeSpan(column, column + len(part), color, token_style["bold"], token_style["italic"])
                lines[-1].append(span)
            column += len(part)
    return lines


@cache
def _lexer(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _style(name: str) -> StyleMeta:
    from pygments.styles import get_style_by_name

    return get_style_by_name(name)
