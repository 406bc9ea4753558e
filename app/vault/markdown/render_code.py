"""Syntax highlighting with inline styles, because Qt's rich text has no style classes for tokens."""

from __future__ import annotations

from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

MAX_HIGHLIGHTED_CHARS = 60_000


def code_html(code: str, language: str, *, is_dark: bool) -> str:
    """Return code as HTML for a `<pre>`, highlighted if its language is known and it is not too long."""
    if not language or len(code) > MAX_HIGHLIGHTED_CHARS:
        return escape(code, quote=False)
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return escape(code, quote=False)
    style = "github-dark" if is_dark else "xcode"
    return highlight(code, lexer, HtmlFormatter(nowrap=True, noclasses=True, style=style)).rstrip("\n")
