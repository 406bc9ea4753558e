"""Redaction of a call's arguments for the log: no secrets; long text as its hash and first lines."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from itertools import islice

from app.encoding import escape_unencodable

REDACTED = "(redacted)"
MAX_TEXT_CHARS = 400
_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, default=str)
_MAX_SHOWN_LINES = 3
_MAX_SHOWN_CHARS = 200
_MAX_DEPTH = 12
_MAX_ITEMS = 200

_SECRET_NAME = re.compile(
    r"pass(word|wd|phrase|code)|(^|[_\-. ])(pass|pwd|pin|otp)($|[_\-. ])|secret|token"
    r"|api[_\-. ]?key|access[_\-. ]?key|private[_\-. ]?key|credential|authorization|cookie|bearer",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bxox[abpr]-[A-Za-z0-9-]{10,}"
    r"|\bAKIA[0-9A-Z]{16}\b|\b[Bb]earer\s+[A-Za-z0-9._~+/-]{16,}=*"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    re.DOTALL,
)


def redacted_json(arguments: Mapping[str, object]) -> str:
    """Return `arguments` as JSON without secrets, with long text as `{"sha256", "characters", "start"}`.

    Lists and objects are truncated after 200 items, and nesting after 12 levels.
    """
    return escape_unencodable(_JSON.encode(_redact(arguments, 0)))


def without_secrets(text: str) -> str:
    """Return `text` with everything that looks like a key or a token replaced by `REDACTED`."""
    return _SECRET_VALUE.sub(REDACTED, text)


def _redact(value: object, depth: int) -> object:
    if depth > _MAX_DEPTH:
        return "(nested too deeply)"
    if isinstance(value, Mapping):
        return {
            without_secrets(str(key)[:MAX_TEXT_CHARS]): (
                REDACTED if _SECRET_NAME.search(str(key)) and item is not None else _redact(item, depth + 1)
            )
            for key, item in islice(value.items(), _MAX_ITEMS)
        }
    if isinstance(value, list | tuple):
        items: list[object] = [_redact(item, depth + 1) for item in value[:_MAX_ITEMS]]
        return [*items, f"(and {len(value) - _MAX_ITEMS} more)"] if len(value) > _MAX_ITEMS else items
    return _shorten(value) if isinstance(value, str) else value


def _shorten(text: str) -> object:
    if len(text) <= MAX_TEXT_CHARS:
        return without_secrets(text)
    # Redact before cutting, so that no part of a secret remains at the cut.
    head = without_secrets(text[: 4 * MAX_TEXT_CHARS])
    start = "\n".join(head.splitlines()[:_MAX_SHOWN_LINES])[:_MAX_SHOWN_CHARS]
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return {"sha256": digest, "characters": len(text), "start": start}
