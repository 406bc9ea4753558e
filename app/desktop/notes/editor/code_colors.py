"""Syntax highlighting of code blocks by Pygments, one chunk of a block at a time.

After an edit, only one chunk is highlighted again, so that typing in long code stays fast. A chunk starts
without knowledge of the lines above: a multi-line string may lose its color there.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pygments.lexer import Lexer
    from pygments.style import StyleMeta

PIECE_LINES = 40
_MAX_PIECE_CHARS = 8_000
_MAX_PIECES = 128


class CodeSpan(NamedTuple):
    """A colored range of a line of code; `color` as "rrggbb" or empty."""

    start: int
    end: int
    color: str
    bold: bool
    italic: bool


class CodeColors:
    """Computes the colors of lines of code, and caches the most recent chunks."""

    def __init__(self) -> None:
        self._pieces: OrderedDict[tuple[str, bool, str], list[list[CodeSpan]]] = OrderedDict()

    def clear(self) -> None:
        """Clear the cache."""
        self._pieces.clear()

    def spans(self, language: str, code: Sequence[str], at: int, is_dark: bool) -> list[CodeSpan]:
        """Return the colored ranges of a line.

        Args:
            language: The info string after the fence.
            code: The lines of the block.
            at: The index of the line.
            is_dark: Whether the theme is dark.
        """
        if not language:
            return []
        start = at - at % PIECE_LINES
        text = "\n".join(code[start : start + PIECE_LINES])
        if len(text) > _MAX_PIECE_CHARS:
            return []
        key = (language, is_dark, text)
        lines = self._pieces.get(key)
        if lines is None:
            lines = self._pieces[key] = _highlight(language, text, is_dark)
            if len(self._pieces) > _MAX_PIECES:
                self._pieces.popitem(last=False)
        return lines[at - start] if at - start < len(lines) else []


def _highlight(language: str, text: str, is_dark: bool) -> list[list[CodeSpan]]:
    lexer = _lexer(language)
    if lexer is None:
        return []
    style = _style("github-dark" if is_dark else "xcode")
    lines: list[list[CodeSpan]] = [[]]
    column = 0
    for token, value in lexer.get_tokens(text):
        looks = style.style_for_token(token)
        color = looks["color"] or ""
        plain = not (color or looks["bold"] or looks["italic"])
        for number, piece in enumerate(value.split("\n")):
            if number:
                lines.append([])
                column = 0
            if piece and not plain:
                span = CodeSpan(column, column + len(piece), color, looks["bold"], looks["italic"])
                lines[-1].append(span)
            column += len(piece)
    return lines


_LEXERS: dict[str, Lexer | None] = {}


def _lexer(language: str) -> Lexer | None:
    if language not in _LEXERS:
        from pygments.lexers import get_lexer_by_name
        from pygments.util import ClassNotFound

        try:
            _LEXERS[language] = get_lexer_by_name(language, stripnl=False, ensurenl=False)
        except ClassNotFound:
            _LEXERS[language] = None
    return _LEXERS[language]


def _style(name: str) -> StyleMeta:
    from pygments.styles import get_style_by_name

    return get_style_by_name(name)
