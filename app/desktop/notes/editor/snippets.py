"""The editor's own slash commands: their titles, and the text that they insert."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.desktop.notes.editor.completion import SlashCommand

CURSOR_MARK = "\0"  # the cursor position in a snippet
SNIPPETS = {
    "quote": f"> {CURSOR_MARK}",
    "callout": f"> [!note] {CURSOR_MARK}",
    "code-block": f"```{CURSOR_MARK}\n\n```",
    "table": f"| {CURSOR_MARK} |  |\n| --- | --- |\n|  |  |",
    "rule": f"---\n{CURSOR_MARK}",
    "formula": f"$$\n{CURSOR_MARK}\n$$",
    "diagram": f"```mermaid\nflowchart LR\n  A --> {CURSOR_MARK}B\n```",
    "note-link": f"[[{CURSOR_MARK}]]",
    "embed": f"![[{CURSOR_MARK}]]",
}


def default_slash_commands() -> list[SlashCommand]:
    """Return the commands of every editor."""
    titles = {
        "heading-1": _tr("Heading 1"),
        "heading-2": _tr("Heading 2"),
        "heading-3": _tr("Heading 3"),
        "heading-4": _tr("Heading 4"),
        "list-bullet": _tr("Bulleted list"),
        "list-number": _tr("Numbered list"),
        "list-task": _tr("Task list"),
        "quote": _tr("Quote"),
        "callout": _tr("Callout"),
        "code-block": _tr("Code block"),
        "table": _tr("Table"),
        "rule": _tr("Horizontal rule"),
        "formula": _tr("Formula"),
        "diagram": _tr("Diagram"),
        "note-link": _tr("Link to a note"),
        "embed": _tr("Embed a note or image"),
        "comment": _tr("Comment"),
        "today": _tr("Today's date"),
    }
    return [SlashCommand(name, title) for name, title in titles.items()]


def _tr(text: str) -> str:
    return QCoreApplication.translate("SlashCommands", text)
