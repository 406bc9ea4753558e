"""Search a text and return offsets in Qt's UTF-16 units. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.desktop.widgets.utf16 import utf16_length

MAX_MATCHES = 5_000


@dataclass(frozen=True, slots=True)
class TextMatches:
    """The matches as pairs of start and end in UTF-16 units; `more` if there are others."""

    places: tuple[tuple[int, int], ...]
    more: bool = False

    def after(self, place: int) -> int | None:
        """Return the first match from offset `place` on, wrapping at the end; None if there is none."""
        if not self.places:
            return None
        return next((i for i, (start, _) in enumerate(self.places) if start >= place), 0)

    def before(self, place: int) -> int | None:
        """Return the last match before offset `place`, wrapping at the start; None if there is none."""
        earlier = [i for i, (start, _) in enumerate(self.places) if start < place]
        return earlier[-1] if earlier else len(self.places) - 1 if self.places else None


def compile_pattern(query: str, match_case: bool) -> re.Pattern[str]:
    """Return a pattern that matches `query` literally."""
    return re.compile(re.escape(query), 0 if match_case else re.IGNORECASE)


def find_all(text: str, query: str, match_case: bool) -> TextMatches:
    """Find all matches of `query` in `text`, up to `MAX_MATCHES`."""
    if not query:
        return TextMatches(())
    places: list[tuple[int, int]] = []
    for span in _in_units(text, compile_pattern(query, match_case)):
        if len(places) == MAX_MATCHES:
            return TextMatches(tuple(places), True)
        places.append(span)
    return TextMatches(tuple(places))


def _in_units(text: str, wanted: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Convert the spans of the matches to UTF-16 units in one pass over the text."""
    offset = passed = 0
    for match in wanted.finditer(text):
        start = passed + utf16_length(text[offset : match.start()])
        offset, passed = match.end(), start + utf16_length(match[0])
        yield start, passed


def replace_all(text: str, query: str, replacement: str, match_case: bool) -> tuple[str, int]:
    """Return the text with every match of `query` replaced by `replacement`, and their number."""
    return compile_pattern(query, match_case).subn(lambda _: replacement, text) if query else (text, 0)
