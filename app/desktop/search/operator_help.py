"""Descriptions of the search operators, for the start page and for completion."""

from __future__ import annotations

from app.desktop.runtime.translation import translate


def operator_label(operator: str) -> str:
    """Return the description of an operator; empty for an unknown one."""
    labels = {
        "tag:": translate("OperatorHelp", "with this tag or a nested one"),
        "file:": translate("OperatorHelp", "in the file name"),
        "path:": translate("OperatorHelp", "in the path, such as a folder"),
        "content:": translate("OperatorHelp", "in the text, not in names"),
        "line:": translate("OperatorHelp", "(…) all on one line"),
        "block:": translate("OperatorHelp", "(…) all in one paragraph"),
        "section:": translate("OperatorHelp", "(…) all under one heading"),
        "task:": translate("OperatorHelp", "in a task"),
        "task-todo:": translate("OperatorHelp", "in an open task"),
        "task-done:": translate("OperatorHelp", "in a completed task"),
        "type:": translate("OperatorHelp", "notes of this type"),
        "rel:": translate("OperatorHelp", "with a relation, such as supports"),
        "backlinks:": translate("OperatorHelp", "that another note links to"),
        "links-to:": translate("OperatorHelp", "linking to this note"),
        "linked-from:": translate("OperatorHelp", "linked from this note"),
        "orphan:": translate("OperatorHelp", "without links"),
        "unresolved:": translate("OperatorHelp", "with an unresolved link"),
        "untagged:": translate("OperatorHelp", "without tags"),
        "modified:": translate("OperatorHelp", "changed on a date, such as >=2026-03"),
        "created:": translate("OperatorHelp", "created on a date, such as 2026-03-18"),
        "similar:": translate("OperatorHelp", "“…” similar in meaning"),
        "match-case:": translate("OperatorHelp", "case-sensitive"),
        "ignore-case:": translate("OperatorHelp", "case-insensitive"),
    }
    return labels.get(operator, "")


def query_examples() -> tuple[tuple[str, str], ...]:
    """Return examples of the query syntax, each with its description."""
    plain = (
        ("two words", translate("OperatorHelp", "notes with both")),
        ('"two words"', translate("OperatorHelp", "notes with this exact phrase")),
        ("one OR two", translate("OperatorHelp", "notes with either")),
        ("one -two", translate("OperatorHelp", "with one but not the other")),
        ("begin*", translate("OperatorHelp", "words that start with these letters")),
        ("/pat+ern/", translate("OperatorHelp", "a regular expression")),
        ("[status]", translate("OperatorHelp", "with this property")),
        ("[status:done OR late]", translate("OperatorHelp", "with one of these property values")),
        ("[rating:>=4]", translate("OperatorHelp", "with a number or date in this range")),
        ("[due:null]", translate("OperatorHelp", "with an empty property")),
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
        "backlinks:",
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
