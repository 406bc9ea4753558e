"""Searches for the syntax of Logseq that the index does not read as tasks and properties."""

from __future__ import annotations

import re

from app.index.query_serializer import quote_text

LOGSEQ_TASKS = r"(TODO OR DOING OR NOW OR LATER OR DONE) /^\s*[-*] (TODO|DOING|NOW|LATER|DONE) /"
"""The search for notes with tasks such as "- TODO call Ann"; the words make it fast."""
_PROPERTY = re.compile(r'\["?(?P<name>[^":\]<>=]+)"?(?:[:<>=][^\]]*)?\]|(?<!\S)-?(?P<type>type):')


def logseq_property(name: str) -> str:
    """Return the search for notes with a property such as "author:: [[Ann]]"."""
    # A slash would end the pattern.
    pattern = re.escape(name).replace("/", ".")
    return rf"{quote_text(name)} /^\s*([-*] )?{pattern}:: /"


def searched_properties(query: str) -> list[str]:
    """Return the names of the properties that a search has conditions on."""
    return [match["name"] or match["type"] for match in _PROPERTY.finditer(query)]
