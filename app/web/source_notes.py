"""Source notes: what a search found, as a note that says where it is from and how it bears on another."""

from __future__ import annotations

import re
from datetime import date
from typing import Literal
from urllib.parse import urlsplit

from app.vault.markdown import edit
from app.web.evidence import Weighed

_NOT_IN_A_NAME = re.compile(r"[\x00-\x1f\x7f<>:\"|?*\\/\[\]#^]+")
_LONGEST_NAME = 80
_ACTIVE = re.compile(r"([\\`*_\[\]<>#|~$^!&@%=:(){}])")
_RELATIONS: dict[Literal["supporting", "contradicting", "neutral"], str] = {
    "supporting": "SUPPORTS",
    "contradicting": "CONTRADICTS",
    "neutral": "RELATES_TO",
}
_WORTH = 0.6
"""What a few lines, read by rules, are worth as evidence, at most."""


def source_text(found: Weighed, target: str, retrieved: date) -> str:
    """The text of a Source note.

    What comes from the web is quoted with every character that Markdown could take for a link, a tag, a
    field or HTML made plain, so that the note says nothing but what is quoted.

    Args:
        found: What was found and how it bears on the other note.
        target: What a link to the other note says.
        retrieved: The day on which it was found.
    """
    hit = found.hit
    text = f"# {inert(hit.title)}\n\n> {inert(hit.snippet) or 'No text was given.'}\n"
    properties: dict[str, object] = {
        "type": "source",
        "url": hit.url,
        "origin": "web",
        "retrieved": retrieved.isoformat(),
        **({"published": hit.date} if hit.date else {}),
        "tags": ["source"],
    }
    for key, value in properties.items():
        text = edit.set_property(text, key, value)
    confidence = round(_WORTH * found.relevance, 2)
    return edit.add_relation(text, _RELATIONS[found.side], target, confidence, "by a web search")


def source_name(title: str, url: str) -> str:
    """A name for the note of a page: its title without what no file or link can say, else its server's."""
    name = " ".join(_NOT_IN_A_NAME.sub(" ", title).split())[:_LONGEST_NAME].strip(" .")
    return name or (urlsplit(url).hostname or "Web page").replace(":", " ")


def inert(text: str) -> str:
    """`text` on one line, as plain words in Markdown: nothing in it is a link, a tag, a field or HTML."""
    line = " ".join(text.split())
    escaped = _ACTIVE.sub(r"\\\1", line)
    # An address would become a link by itself.
    return re.sub(r"(?i)\b(https?|ftp|mailto|www)(?=\\?[:.])", lambda found: f"{found[1]}\u200b", escaped)
