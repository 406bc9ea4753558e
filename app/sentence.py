"""Sentences from the phrases with which errors give their reasons."""

from __future__ import annotations


def as_sentence(text: str) -> str:
    """Return the text with a capital first letter and one final period; empty for an empty text."""
    text = text.strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}." if text else ""
