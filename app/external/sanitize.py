"""Text of a server as people and models are shown it: short, and with nothing hidden in it."""

from __future__ import annotations

import re

from app.vault.invisible_chars import describe

TRUNCATION_MARK = " […]"
_PARAGRAPHS = re.compile(r"\n{3,}")


def plain_text(text: str, limit: int) -> str:
    """`text` in at most about `limit` characters; what hides in it is named, line ends and tabs are kept.

    Cut before it is looked at: a server may send megabytes.
    """
    kept = text[:limit].replace("\r\n", "\n").replace("\r", "\n")
    shown = _PARAGRAPHS.sub("\n\n", describe(kept, kept="\n\t").strip())
    return f"{shown}{TRUNCATION_MARK}" if len(text) > limit else shown


def one_line(text: str, limit: int) -> str:
    """As `plain`, in one line."""
    return " ".join(plain_text(text, limit).split())
