"""Recognize requests that are typed in the search language: "tag:clock -path:Journal"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.agent.language.grammar.request import Request
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.errors import QueryError
from app.index.query import parse
from app.index.query_ast import And, Node, Not, Or, PhraseTerm, WordTerm

_CONNECTIVE = re.compile(
    r'(?P<literal>"(?:\\.|[^"\\])*"|(?<![^\s:(-])/(?:\\.|[^/\\])+/)|(?P<and>\s+(?:AND|&&?)\s+)|\bNOT\s+(?=\S)'
)
"""A connective from another search language; phrases and regular expressions are kept."""
_LABEL = re.compile(r"\w: ")
"""A colon as in ordinary prose: in the search language, no space separates an operator from its value."""


def parse_typed_search(request: Request) -> Reading | None:
    """Return the reading of a request in the search language; None for everyday language."""
    language, tokens = request.language, request.tokens
    start = language.match_prefix(tokens, 0, "searching")
    if start >= len(tokens) or _LABEL.search(request.text):
        return None
    query = _CONNECTIVE.sub(_translate_connective, request.text[tokens[start].start :].rstrip(" .!?…"))
    try:
        node = parse(query)
    except QueryError:
        return None
    parts = list(_parts(node)) if node is not None else []
    words = [part for part in parts if isinstance(part, WordTerm)]
    has_operator = any(not isinstance(part, WordTerm | PhraseTerm) for part in parts)
    if not has_operator or len(words) > 1:
        return None
    return Reading((PipelineStep("find", NoteSet(query=query)),), 1.0, language=language.code)


def _translate_connective(match: re.Match[str]) -> str:
    return match["literal"] or (" " if match["and"] else "-")


def _parts(node: Node) -> Iterator[Node]:
    match node:
        case And() | Or():
            for item in node.items:
                yield from _parts(item)
        case Not():
            yield from _parts(node.item)
        case _:
            yield node
