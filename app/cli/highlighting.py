"""Highlighting of search terms in snippets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from app.errors import QueryError

if TYPE_CHECKING:
    from rich.text import Text

_MATCH_STYLE = "bold yellow"


def search_terms(query: str) -> tuple[str, ...]:
    """Return the words and phrases that a query searches for in the text; none for an invalid query.

    Negated words are left out.
    """
    from app.index.query import parse
    from app.index.query_ast import And, FieldFilter, Node, Or, PhraseTerm, WordTerm

    def collect_words(node: Node | None) -> list[str]:
        match node:
            case WordTerm(text) | PhraseTerm(text) if text:
                return [text]
            case And(items) | Or(items):
                return [word for item in items for word in collect_words(item)]
            case FieldFilter(name, item) if name not in ("tag", "file", "path", "type", "rel", "backlinks"):
                return collect_words(item)
        return []

    try:
        return tuple(dict.fromkeys(collect_words(parse(query))))
    except QueryError:
        return ()


def highlight(text: str, words: Sequence[str]) -> Text:
    """Return `text` with `words` highlighted where they begin a word, ignoring case."""
    from rich.text import Text

    highlighted = Text(text)
    if words:
        for match in _pattern(tuple(words)).finditer(text):
            highlighted.stylize(_MATCH_STYLE, *match.span())
    return highlighted


@lru_cache(maxsize=8)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(rf"(?<!\w){re.escape(word)}" for word in words), re.IGNORECASE)
