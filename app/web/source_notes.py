"""Source notes: search hits as notes with their origin and their relation to another note."""

from __future__ import annotations

import re
from datetime import date
from typing import Literal
from urllib.parse import urlsplit

from app.vault.markdown import relation_edits
from app.vault.markdown.properties import set_property
from app.web.evidence import WeighedHit

_FORBIDDEN_IN_NAME = re.compile(r"[\x00-\x1f\x7f<>:\"|?*\\/\[\]#^]+")
_MAX_NAME_CHARS = 80
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~$^!&@%=:(){}])")
_RELATIONS: dict[Literal["supporting", "contradicting", "neutral"], str] = {
    "supporting": "SUPPORTS",
    "contradicting": "CONTRADICTS",
    "neutral": "RELATES_TO",
}
_MAX_CONFIDENCE = 0.6
"""Maximum confidence of a relation that local rules derived from a few lines."""


def source_text(evidence: WeighedHit, target: str, retrieved: date) -> str:
    """Return the text of a source note.

    Text from the web is escaped, so that none of it is parsed as a link, a tag, a field or HTML.

    Args:
        evidence: The hit, and whether it supports or contradicts the other note.
        target: The link target of the other note.
        retrieved: The day of the search.
    """
    hit = evidence.hit
    text = f"# {escape_markdown(hit.title)}\n\n> {escape_markdown(hit.snippet) or 'No excerpt available.'}\n"
    properties: dict[str, object] = {
        "type": "source",
        "url": hit.url,
        "origin": "web",
        "retrieved": retrieved.isoformat(),
        **({"published": hit.date} if hit.date else {}),
        "tags": ["source"],
    }
    for key, value in properties.items():
        text = set_property(text, key, value)
    confidence = round(_MAX_CONFIDENCE * evidence.relevance, 2)
    return relation_edits.add_relation(text, _RELATIONS[evidence.side], target, confidence, "by a web search")


def source_name(title: str, url: str) -> str:
    """Return a note name for a page: its title, shortened if necessary, or else its host name.

    Characters that note names can't contain become spaces.
    """
    name = " ".join(_FORBIDDEN_IN_NAME.sub(" ", title).split())[:_MAX_NAME_CHARS].strip(" .")
    return name or (urlsplit(url).hostname or "Web page").replace(":", " ")


def escape_markdown(text: str) -> str:
    """Put `text` on one line and escape it, so that Markdown parsers treat it as plain text."""
    line = " ".join(text.split())
    escaped = _SPECIAL.sub(r"\\\1", line)
    # A bare URL would become a link.
    return re.sub(r"(?i)\b(https?|ftp|mailto|www)(?=\\?[:.])", lambda match: f"{match[1]}\u200b", escaped)
