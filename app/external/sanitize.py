"""Sanitize a server's text for people and models: truncate it, and make invisible characters visible."""

from __future__ import annotations

import re

from app.vault.invisible_chars import escape_hidden

TRUNCATION_MARK = " […]"
_PARAGRAPHS = re.compile(r"\n{3,}")


def sanitize_text(text: str, limit: int) -> str:
    """Truncate `text`, and replace invisible characters other than newlines and tabs with their names.

    Consecutive blank lines become one, and surrounding whitespace is removed. The text is cut at `limit`
    characters first, because a server may send megabytes; names and `TRUNCATION_MARK` then lengthen it.
    """
    truncated = text[:limit].replace("\r\n", "\n").replace("\r", "\n")
    shown = _PARAGRAPHS.sub("\n\n", escape_hidden(truncated, allowed="\n\t").strip())
    return f"{shown}{TRUNCATION_MARK}" if len(text) > limit else shown


def one_line(text: str, limit: int) -> str:
    """Return the sanitized text on one line."""
    return " ".join(sanitize_text(text, limit).split())
