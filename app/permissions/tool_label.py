"""The label of a tool, in the words of the interface."""

from __future__ import annotations

_WORDS = {
    "node": "note",
    "nodes": "notes",
    "edge": "relation",
    "relationship": "relation",
    "relationships": "relations",
}
"""Words of tool names with the words of the interface."""


def tool_label(name: str) -> str:
    """Return the label of a tool; the tool of an external server is shown after the server's name."""
    if "__" in name:
        text = name.replace("__", ": ").replace("_", " ")
    else:
        text = " ".join(_WORDS.get(word, word) for word in name.split("_"))
    return text[:1].upper() + text[1:]
