"""The labels of tools and their arguments, in the words of the interface."""

from __future__ import annotations

_WORDS = {
    "node": "note",
    "nodes": "notes",
    "edge": "relation",
    "relationship": "relation",
    "relationships": "relations",
}
"""The interface's word for a word in a tool's name."""


def tool_label(name: str) -> str:
    """Return the label of a tool; the tool of an external server is shown after the server's name."""
    return _capitalize(name.replace("__", ": ").replace("_", " ") if "__" in name else _replace_words(name))


def argument_label(name: str) -> str:
    """Return the label of an argument of a tool, or of a field of its result."""
    return _capitalize(argument_words(name))


def argument_words(name: str) -> str:
    """Return the label of an argument for use within a sentence."""
    return _replace_words(name.removesuffix("_id"))


def _replace_words(name: str) -> str:
    return " ".join(_WORDS.get(word, word) for word in name.split("_"))


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]
