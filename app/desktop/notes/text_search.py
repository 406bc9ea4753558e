"""Search and replace in text; offsets are in UTF-16 units, as in Qt. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.desktop.widgets.utf16 import utf16_length

MAX_MATCHES = 5_000


@dataclass(frozen=True, slots=True)
class TextMatches:
    """The spans of the matches in UTF-16 units; `is_truncated` is True if the text has more."""

    spans: tuple[tuple[int, int], ...]
    is_truncated: bool = False

    def after(self, offset: int) -> int | None:
        """Return the index of the first match at or after `offset`, wrapping around, or None."""
        if not self.spans:
            return None
        return next((i for i, (start, _) in enumerate(self.spans) if start >= offset), 0)

    def before(self, offset: int) -> int | None:
        """Return the index of the last match before `offset`, wrapping around, or None."""
        earlier_indexes = [i for i, (start, _) in enumerate(self.spans) if start < offset]
        return earlier_indexes[-1] if earlier_indexes else len(self.spans) - 1 if self.spans else None


def compile_pattern(query: str, match_case: bool) -> re.Pattern[str]:
    """Return a pattern that matches `query` literally, ignoring case unless `match_case` is True."""
    return re.compile(re.escape(query), 0 if match_case else re.IGNORECASE)


def find_all(text: str, query: str, match_case: bool) -> TextMatches:
    """Find all matches of `query` in `text`, up to `MAX_MATCHES`."""
    if not query:
        return TextMatches(())
    spans: list[tuple[int, int]] = []
    for span in _utf16_spans(text, compile_pattern(query, match_case)):
        if len(spans) == MAX_MATCHES:
            return TextMatches(tuple(spans), True)
        spans.append(span)
    return TextMatches(tuple(spans))


def _utf16_spans(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield the span of each match in UTF-16 units, in one pass over the text."""
    offset = position = 0
    for match in pattern.finditer(text):
        start = position + utf16_length(text[offset : match.start()])
        offset, position = match.end(), start + utf16_length(match[0])
        yield start, position


def replace_all(text: str, query: str, replacement: str, match_case: bool) -> tuple[str, int]:
    """Return the text with every match of `query` replaced by `replacement`, and the number of matches."""
    return compile_pattern(query, match_case).subn(lambda _: replacement, text) if query else (text, 0)
