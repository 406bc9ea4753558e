"""Numbers and articles in sentences."""

from __future__ import annotations


def with_article(words: str) -> str:
    """Return the words with "a" or "an" before them, depending on their first letter."""
    return f"{'an' if words[:1].lower() in 'aeiou' else 'a'} {words}" if words else words


def pluralize(count: int, singular: str, plural: str | None = None) -> str:
    """Return a count with its noun: "1 note", "2,000 notes".

    Args:
        count: The number.
        singular: The noun after 1.
        plural: The noun after any other number; by default `singular` with an s.
    """
    if count == 1:
        return f"1 {singular}"
    return f"{count:,} {plural or singular + 's'}"
