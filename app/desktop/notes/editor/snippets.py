"""The built-in slash commands: their titles, and the text that some of them insert."""

from __future__ import annotations

from app.desktop.notes.editor.completion import SlashCommand
from app.desktop.runtime.translation import translate

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
    """Return the slash commands that every editor offers."""
    titles = {
        "heading-1": translate("SlashCommands", "Heading 1"),
        "heading-2": translate("SlashCommands", "Heading 2"),
        "heading-3": translate("SlashCommands", "Heading 3"),
        "heading-4": translate("SlashCommands", "Heading 4"),
        "list-bullet": translate("SlashCommands", "Bulleted list"),
        "list-number": translate("SlashCommands", "Numbered list"),
        "list-task": translate("SlashCommands", "Task list"),
        "quote": translate("SlashCommands", "Quote"),
        "callout": translate("SlashCommands", "Callout"),
        "code-block": translate("SlashCommands", "Code block"),
        "table": translate("SlashCommands", "Table"),
        "rule": translate("SlashCommands", "Horizontal rule"),
        "formula": translate("SlashCommands", "Formula"),
        "diagram": translate("SlashCommands", "Diagram"),
        "note-link": translate("SlashCommands", "Link to a note"),
        "embed": translate("SlashCommands", "Embed a note or image"),
        "comment": translate("SlashCommands", "Comment"),
        "today": translate("SlashCommands", "Today's date"),
    }
    return [SlashCommand(name, title) for name, title in titles.items()]
