"""Exports of the audit log as CSV for spreadsheets and as JSON Lines."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path

from app.permissions.audit_entry import AuditEntry
from app.storage.files import replacing

_FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "\n")


def export_csv(entries: Iterable[AuditEntry], file: Path) -> int:
    """Write the entries to `file` as CSV and return their number.

    Times are in ISO 8601. Text that a spreadsheet would read as a formula is prefixed with an apostrophe.

    Raises:
        OSError: The file can't be written; an existing file is unchanged.
    """
    count = 0
    with replacing(file) as fresh, fresh.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(field.name for field in fields(AuditEntry))
        for entry in entries:
            writer.writerow(_escape_cell(value) for value in _exported_values(entry).values())
            count += 1
    return count


def export_jsonl(entries: Iterable[AuditEntry], file: Path) -> int:
    """Write the entries to `file`, one JSON object per line with the time in ISO 8601; return their number.

    Raises:
        OSError: The file can't be written; an existing file is unchanged.
    """
    count = 0
    with replacing(file) as fresh, fresh.open("w", encoding="utf-8", newline="\n") as stream:
        for entry in entries:
            stream.write(json.dumps(_exported_values(entry), ensure_ascii=False) + "\n")
            count += 1
    return count


def _exported_values(entry: AuditEntry) -> dict[str, object]:
    return {**asdict(entry), "time": datetime.fromtimestamp(entry.time, UTC).isoformat()}


def _escape_cell(value: object) -> object:
    if isinstance(value, tuple | list):
        value = ", ".join(map(str, value))
    if isinstance(value, str) and value.lstrip(" ").startswith(_FORMULA_PREFIXES):
        return f"'{value}"
    return value
