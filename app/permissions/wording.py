"""Numbers and articles in sentences."""

from __future__ import annotations


def with_article(words: str) -> str:
    """Words with "a" or "an" before them, by their first letter."""
    return f"{'an' if words[:1].lower() in 'aeiou' else 'a'} {words}" if words else words


def counted(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun: "1 note", "2,000 notes".

    Args:
        count: How many.
        one: The words after 1.
        many: The words after any other number; `one` with an s where that is not given.
    """
    if count == 1:
        return f"1 {one}"
    return f"{count:,} {many or one + 's'}"
