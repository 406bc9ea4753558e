"""A note's claim in one or two lines, and the search query for evidence about it."""

from __future__ import annotations

import re
from typing import Literal

from app.vault.markdown.frontmatter import read_frontmatter
from app.web.evidence import extract_keywords

EvidenceFilter = Literal["all", "supporting", "contradicting"]

MAX_QUERY_CHARS = 300
_MAX_STATEMENT_CHARS = 400
_LINK = re.compile(r"!?\[\[([^\]|#^]*)[^\]|]*(?:\|([^\]]*))?\]\]")
_MARKDOWN_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"(?m)^\s*(?:#{1,6}|[-*+>]|\d+[.)])\s+|[*_`~=]{1,3}|\^[\w-]+$")
_NOT_PROSE = re.compile(r"(?ms)^(```|~~~).*?^\1|^\s*\|.*?$|<[^>]+>")
_FIELD = re.compile(r"^\s*[-*]?\s*\(?[\w ]+::")
_KEYWORD_COUNT = 4
_QUERY_PREFIXES: dict[EvidenceFilter, str] = {
    "all": "",
    "supporting": "evidence for",
    "contradicting": "evidence against",
}


def note_statement(name: str, text: str) -> str:
    """Return a note's claim: its name and the first lines of its prose, without markup."""
    prose = " ".join(line for line in note_prose(text).splitlines()[:4] if line != name)
    return f"{name}. {prose}"[:_MAX_STATEMENT_CHARS].strip(" .") if prose else name


def note_prose(text: str) -> str:
    """Return a note's prose, line by line: no markup, properties, headings, tables, relations or code."""
    body = _NOT_PROSE.sub("", text[read_frontmatter(text).body_start :])
    lines = []
    for line in body.split("\n## Relations")[0].splitlines():
        if line.lstrip().startswith("#") or _FIELD.match(line):
            continue
        prose = _LINK.sub(lambda link: link[2] or link[1].rpartition("/")[2], line)
        prose = _MARKS.sub("", _MARKDOWN_LINK.sub(r"\1", prose)).strip()
        if prose:
            lines.append(prose)
    return "\n".join(lines)


def build_query(name: str, text: str, side: EvidenceFilter) -> str:
    """Return the search query: words for the requested side, the note's name and keywords from its text."""
    keywords = " ".join(extract_keywords(note_prose(text), _KEYWORD_COUNT, known_text=name))
    return " ".join(f"{_QUERY_PREFIXES[side]} {name} {keywords}".split())[:MAX_QUERY_CHARS]
