"""Descriptions of the search operators, for the start page and for completion."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication


def _tr(text: str) -> str:
    return QCoreApplication.translate("SearchWords", text)


def operator_label(operator: str) -> str:
    """Return the description of an operator; empty for an unknown one."""
    words = {
        "tag:": _tr("with this tag or one in it"),
        "file:": _tr("in the file name"),
        "path:": _tr("in the path, such as a folder"),
        "content:": _tr("in the text, not in names"),
        "line:": _tr("(…) all in one line"),
        "block:": _tr("(…) all in one paragraph"),
        "section:": _tr("(…) all under one heading"),
        "task:": _tr("in a task"),
        "task-todo:": _tr("in an open task"),
        "task-done:": _tr("in a done task"),
        "type:": _tr("notes of this type"),
        "rel:": _tr("with a relation, such as supports"),
        "links-to:": _tr("linking to this note"),
        "linked-from:": _tr("linked from this note"),
        "orphan:": _tr("without links"),
        "unresolved:": _tr("with a link to no note"),
        "untagged:": _tr("without tags"),
        "modified:": _tr("changed on a date, such as >=2026-03"),
        "created:": _tr("created on a date, such as 2026-03-18"),
        "similar:": _tr("“…” close in meaning"),
        "match-case:": _tr("in exactly these letters"),
        "ignore-case:": _tr("in any letters again"),
    }
    return words.get(operator, "")


def query_examples() -> tuple[tuple[str, str], ...]:
    """Return parts of queries, each with its meaning."""
    plain = (
        ("two words", _tr("notes with both")),
        ('"two words"', _tr("side by side, in this order")),
        ("one OR two", _tr("notes with any of them")),
        ("one -two", _tr("with the one, not the other")),
        ("begin*", _tr("words that begin so")),
        ("/pat+ern/", _tr("a regular expression")),
        ("[status]", _tr("with this property")),
        ("[status:done OR late]", _tr("with a value of a property")),
        ("[rating:>=4]", _tr("with a number or a date")),
        ("[due:null]", _tr("with a property that is empty")),
    )
    names = (
        "tag:",
        "path:",
        "file:",
        "content:",
        "line:",
        "block:",
        "section:",
        "task:",
        "task-todo:",
        "task-done:",
        "type:",
        "rel:",
        "links-to:",
        "linked-from:",
        "orphan:",
        "unresolved:",
        "untagged:",
        "modified:",
        "created:",
        "similar:",
        "match-case:",
    )
    return plain + tuple((name, operator_label(name)) for name in names)
