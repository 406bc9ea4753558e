"""Format a tool's result as Markdown: single values as a list, lists of objects as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.agent.generic_formatting import wikilink
from app.desktop.runtime.translation import translate
from app.desktop.widgets.time_labels import date_and_time
from app.permissions.tool_label import argument_label
from app.vault.path import NOTE_SUFFIXES

_TIME_FIELDS = ("created", "modified", "time", "at", "settled", "expires")
_MAX_ROWS = 200
_MAX_COLUMNS = 7
_MAX_INLINE_CHARS = 300


def format_result(result: Mapping[str, object]) -> str:
    """Return a result's fields as Markdown: short ones as a list, then a section for each of the others.

    Mappings, lists and long strings become sections. Empty fields and `message` are omitted.
    """
    short_fields: list[str] = []
    sections: list[str] = []
    for name, value in result.items():
        if value in (None, "", [], {}, ()) or name == "message":
            continue
        if isinstance(value, Mapping):
            rows = "\n".join(
                f"- **{_escape_markdown(str(key))}**: {_cell_text(item)}" for key, item in value.items()
            )
            sections.append(f"### {argument_label(name)}\n\n{rows}")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            sections.append(f"### {argument_label(name)}\n\n{_format_list(value)}")
        elif isinstance(value, str) and ("\n" in value or len(value) > _MAX_INLINE_CHARS):
            sections.append(f"### {argument_label(name)}\n\n{_code_block(value)}")
        else:
            short_fields.append(f"- **{argument_label(name)}**: {_field_text(name, value)}")
    return "\n\n".join([*(["\n".join(short_fields)] if short_fields else []), *sections])


def _format_list(values: Sequence[object]) -> str:
    visible = values[:_MAX_ROWS]
    omitted = len(values) - len(visible)
    omitted_text = "\n\n" + translate("ToolForm", "… and {0} more").format(f"{omitted:,}") if omitted else ""
    if not all(isinstance(value, Mapping) for value in visible):
        return "\n".join(f"- {_cell_text(value)}" for value in visible) + omitted_text
    rows = [value for value in visible if isinstance(value, Mapping)]
    filled_names = (name for row in rows for name, value in row.items() if value not in (None, "", []))
    names = list(dict.fromkeys(filled_names))
    if "path" in names:  # a link with the name as its text
        names = [name for name in names if name not in ("name", "title")]
    names = names[:_MAX_COLUMNS]
    header = "| " + " | ".join(map(argument_label, names)) + " |\n|" + "---|" * len(names)
    lines = (
        "| " + " | ".join(_field_text(name, row.get(name), in_table=True) for name in names) + " |"
        for row in rows
    )
    return "\n".join([header, *lines]) + omitted_text


def _field_text(name: str, value: object, *, in_table: bool = False) -> str:
    """Return a field's value as Markdown; a Unix time in a time field is shown as a local date and time."""
    if (
        name in _TIME_FIELDS
        and isinstance(value, int | float)
        and not isinstance(value, bool)
        and value > 1e8
    ):
        return date_and_time(value)
    return _cell_text(value, in_table=in_table)


def _cell_text(value: object, *, in_table: bool = False) -> str:
    """Return a value as Markdown on one line, limited in length; a note's path as a link to the note."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return translate("ToolForm", "yes") if value else translate("ToolForm", "no")
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, Mapping):
        return " ".join(filter(None, (_cell_text(item, in_table=in_table) for item in value.values())))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "; ".join(_cell_text(item, in_table=in_table) for item in value[:20])
    text = " ".join(str(value).split())
    if text.lower().endswith(NOTE_SUFFIXES) and len(text) < _MAX_INLINE_CHARS:
        link = wikilink(text)
        return link.replace("|", "\\|") if in_table else link
    return _escape_markdown(text if len(text) <= _MAX_INLINE_CHARS else f"{text[: _MAX_INLINE_CHARS - 1]}…")


def _escape_markdown(text: str) -> str:
    """Escape inline Markdown, so that a note can't affect the formatting of the result."""
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#|!~$=^" else letter for letter in text)


def _code_block(text: str) -> str:
    """Return text verbatim in a code block."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
