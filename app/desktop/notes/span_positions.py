"""Map a span of a note's source to the reading view's page. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right

from app.desktop.widgets.utf16 import utf16_length
from app.embeddings.chunker import markdown_to_text

_LETTER = re.compile(r"[^\W_]")
_MIN_SHORTENED_LETTERS = 32


def find_on_page(source: str, start: int, end: int, page: str) -> tuple[int, int] | None:
    """Find a span of Markdown in its rendered text.

    Only letters and digits are compared, since markup, links and line breaks differ. If a long span can't be
    found as a whole, only its beginning is.

    Args:
        source: The Markdown.
        start: The start of the span in `source`.
        end: Its end.
        page: The text of the page.

    Returns:
        The span on the page in UTF-16 units; None if it can't be found.
    """
    span_letters = "".join(_LETTER.findall(markdown_to_text(source[start:end]).casefold()))
    letter_offsets = [match.start() for match in _LETTER.finditer(page)]
    page_letters = "".join(page[offset] for offset in letter_offsets).casefold()
    if not span_letters or len(page_letters) != len(letter_offsets):
        return None
    prefix = "".join(_LETTER.findall(markdown_to_text(source[:start]).casefold()))
    occurrences = _occurrences(page_letters, span_letters)
    if not occurrences and len(span_letters) > _MIN_SHORTENED_LETTERS:
        # A formula or an embed in the span is displayed differently, so only the beginning is compared.
        span_letters = span_letters[: len(span_letters) // 3]
        occurrences = _occurrences(page_letters, span_letters)
    if not occurrences:
        return None
    # If there are several occurrences, take the one with as many before it as in the source.
    count_before = bisect_right(_occurrences(prefix + span_letters, span_letters), len(prefix)) - 1
    index = occurrences[max(0, min(count_before, len(occurrences) - 1))]
    first, last = letter_offsets[index], letter_offsets[index + len(span_letters) - 1] + 1
    if page[last : last + 1] in (".", "!", "?", "…", ")"):
        last += 1
    page_start = utf16_length(page[:first])
    return page_start, page_start + utf16_length(page[first:last])


def _occurrences(text: str, query: str) -> list[int]:
    offsets, offset = [], text.find(query)
    while offset >= 0:
        offsets.append(offset)
        offset = text.find(query, offset + 1)
    return offsets
