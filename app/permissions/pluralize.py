"""Numbers and articles in sentences."""

from __future__ import annotations


def with_article(words: str) -> str:
    """Return the words with "a" or "an" before them, by their first letter."""
    return f"{'an' if words[:1].lower() in 'aeiou' else 'a'} {words}" if words else words


def pluralize(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun: "1 note", "2,000 notes".

    Args:
        count: The number.
        one: The noun after 1.
        many: The noun after any other number; by default `one` with an s.
    """
    if count == 1:
        return f"1 {one}"
    return f"{count:,} {many or one + 's'}"
