"""Render the result of a call for people and for pipes: text verbatim, lists as tables, facts as lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from app.cli.console import CliConsole, escape_controls
from app.cli.highlighting import highlight
from app.toolkit.outcome import ToolOutcome

if TYPE_CHECKING:
    from rich.console import RenderableType

Result = Mapping[str, object]
Row = Mapping[str, object]

_VERBATIM_FIELDS = ("text", "diff", "output")
"""Fields that are the answer if they are not empty; they are printed alone and verbatim."""
_PROSE_FIELDS = ("answer", "summary")
"""Fields that are printed first; the other fields follow."""
_REMARK_FIELDS = frozenset({"problem", "warning", "reasoning", "errors"})
_TIME_FIELDS = frozenset({"created", "modified", "time", "at", "settled", "expires"})
_HIDDEN_FIELDS = frozenset({"hash", "message", "commits"})
_ID_FIELDS = frozenset({"node_id", "edge_id", "from_node", "to_node", "agent", "target"})
"""Fields that only repeat what the caller named; they are omitted after prose."""
_FLAG_FIELDS = frozenset(
    {"cut", "truncated", "leaves_context", "requires_confirmation", "dry_run", "binary", "timed_out"}
)
"""Flags that are shown only if set."""
_MAX_INLINE_CHARS = 60
_MIN_UNIX_TIME = 1e8


def print_result(console: CliConsole, outcome: ToolOutcome, terms: Sequence[str] = ()) -> None:
    """Print a successful outcome with the search terms `terms` highlighted."""
    filled = {name: value for name, value in outcome.result.items() if not _is_empty(value)}
    result = {name: value for name, value in filled.items() if value or name not in _FLAG_FIELDS}
    verbatim = next((name for name in _VERBATIM_FIELDS if isinstance(result.get(name), str)), "")
    prose = next((name for name in _PROSE_FIELDS if isinstance(result.get(name), str)), "")
    has_output = True
    if verbatim:
        console.print_text(str(result[verbatim]))
    elif _is_empty_text(outcome.result):
        pass
    elif isinstance(hits := result.get("hits"), list):
        _print_hits(console, hits, terms)
    elif prose:
        _print_prose(console, result, prose)
    elif outcome.commit is not None:
        _print_change(console, result, outcome.message)
    else:
        has_output = _print_fields(console, result)
    _print_message(console, outcome, has_output)


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str | Sequence | Mapping) and not value)


def _is_empty_text(result: Result) -> bool:
    """Return whether the call read empty text; in other results, empty text is just an unused field."""
    return result.get("text") == "" and "total_lines" in result


def _print_prose(console: CliConsole, result: Result, name: str) -> None:
    text = str(result[name])
    console.print_text(text if text.endswith("\n") else f"{text}\n")
    others = {key: value for key, value in result.items() if key not in _ID_FIELDS | {name} and value != 0}
    if isinstance(answers := others.get("answers"), Sequence) and len(answers) == 1:
        del others["answers"]
    _print_parts(console, others)


def _print_change(console: CliConsole, result: Result, message: str) -> None:
    """Print the change as a sentence, then the lists that the sentence does not repeat."""
    console.print_text(escape_controls(message) + "\n")
    lists = {name: value for name, value in result.items() if isinstance(value, list | tuple)}
    missing = {
        name: value for name, value in lists.items() if not all(str(item) in message for item in value)
    }
    _print_parts(console, missing)


def _print_message(console: CliConsole, outcome: ToolOutcome, has_output: bool) -> None:
    """Print the message, which is the result if there is no other output, and then the remarks.

    If there is other output, the message goes to standard error, and only to a terminal or after a failure.
    """
    message = escape_controls(outcome.message)
    failed = bool(outcome.result.get("exit_code"))
    if message and not has_output:
        console.print_text(message + "\n")
    elif message and (console.is_interactive or failed):
        console.print_message(message)
    for name in sorted(_REMARK_FIELDS):
        if (value := outcome.result.get(name)) and isinstance(value, str):
            console.print_message(escape_controls(value.rstrip("\n")))
    if outcome.untrusted and console.is_interactive:
        console.print_message("This contains text from outside the vault, which is not verified.")
    if isinstance(refused := outcome.result.get("changes_refused"), str):
        console.print_message(escape_controls(refused))


def _print_hits(console: CliConsole, hits: Sequence[Row], terms: Sequence[str]) -> None:
    """Print notes with their matching lines."""
    if not console.is_terminal:
        console.print_rows(row for hit in hits for row in _hit_rows(hit))
        return
    from rich.text import Text

    for hit in hits:
        console.show(Text(escape_controls(str(hit["path"])), style="bold"))
        for line in _rows(hit.get("lines")):
            text = highlight(escape_controls(str(line["text"]).strip()), terms)
            console.show(Text.assemble((f"{line['line']:>6}  ", "dim"), text))


def _hit_rows(hit: Row) -> list[tuple[str, str, str]]:
    path = str(hit["path"])
    lines = _rows(hit.get("lines"))
    return [(path, str(line["line"]), str(line["text"])) for line in lines] or [(path, "", "")]


def _print_fields(console: CliConsole, result: Result) -> bool:
    """Print the facts, then the lists; return whether they say more than the message does."""
    lists = {name: value for name, value in result.items() if _is_list(value)}
    facts = {
        name: value
        for name, value in result.items()
        if name not in lists and name not in _REMARK_FIELDS and name not in _HIDDEN_FIELDS
    }
    if len(lists) == 1 and not facts.keys() - {"total", "complete", "node_id"}:
        (only,) = lists.values()
        assert isinstance(only, list | tuple)
        _print_list(console, only)
        return True
    if not lists and not facts.keys() - {"total", "complete", "node_id", "links_created"}:
        return False
    if not lists and len(facts) <= 3 and all(isinstance(value, str) for value in facts.values()):
        return False
    _print_parts(console, result)
    return bool(facts or lists)


def _print_parts(console: CliConsole, result: Result) -> None:
    """Print each fact on a line, then each list under its name."""
    shown = {name: value for name, value in result.items() if name not in _REMARK_FIELDS | _HIDDEN_FIELDS}
    for name, value in shown.items():
        if not _is_list(value):
            _print_fact(console, name, value)
    for name, value in shown.items():
        if _is_list(value):
            _print_named_list(console, name, value)


def _print_named_list(console: CliConsole, name: str, values: object) -> None:
    assert isinstance(values, list | tuple)
    _print_heading(console, f"{name} ({len(values)})")
    _print_list(console, values, indent="  " if console.is_terminal else "")


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _print_fact(console: CliConsole, name: str, value: object) -> None:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if _is_empty(item):
                continue
            if _is_list(item) and len(format_cell(key, item)) > _MAX_INLINE_CHARS:
                _print_named_list(console, f"{name}.{key}", item)
            else:
                _print_fact(console, f"{name}.{key}", format_cell(key, item))
        return
    if isinstance(value, str) and "\n" in value.strip():
        _print_heading(console, name)
        console.print_text(value if value.endswith("\n") else value + "\n")
        return
    if not console.is_terminal:
        console.print_rows([(name, format_cell(name, value))])
        return
    from rich.text import Text

    console.show(Text.assemble((f"{_title(name)}: ", "dim"), escape_controls(format_cell(name, value))))


def _print_heading(console: CliConsole, name: str) -> None:
    if console.is_terminal:
        from rich.text import Text

        console.show(Text(_title(name), style="bold"))
    else:
        console.print_rows([(name,)])


def _print_list(console: CliConsole, values: Sequence[object], indent: str = "") -> None:
    rows = _rows(values)
    if not rows:
        for value in values:
            console.print_text(f"{indent}{format_cell('', value)}\n")
    else:
        print_rows(console, rows)


def print_rows(console: CliConsole, rows: Sequence[Row]) -> None:
    """Print rows as a table on a terminal, elsewhere as tab-separated cells."""
    if console.is_terminal:
        console.show(format_table(rows))
    else:
        names = visible_columns(rows)
        console.print_rows([format_cell(name, row.get(name)) for name in names] for row in rows)


def format_table(rows: Sequence[Row]) -> RenderableType:
    """Return rows as a table of their visible columns that fits the terminal."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    names = visible_columns(rows)
    for name in names:
        is_numeric = (
            all(isinstance(row.get(name), int | float | None) for row in rows) and name not in _TIME_FIELDS
        )
        # Paths take most of a row, so they are wrapped rather than cut.
        table.add_column(_title(name), justify="right" if is_numeric else "left", overflow="fold")
    for row in rows:
        cells = (Text(escape_controls(format_cell(name, row.get(name)))) for name in names)
        table.add_row(*cells)
    return table


def visible_columns(rows: Sequence[Row]) -> list[str]:
    """Return the fields to show as columns: those that have a value in some row and are not redundant."""
    filled = dict.fromkeys(
        name for row in rows for name, value in row.items() if value not in (None, "", [], {})
    )
    if "path" in filled:
        filled.pop("name", None)
        filled.pop("title", None)
    return [name for name in filled if name not in _HIDDEN_FIELDS] or list(filled)


def format_cell(name: str, value: object) -> str:
    """Return a value on one line; a Unix time as a local date and time."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if name in _TIME_FIELDS and value > _MIN_UNIX_TIME:
            return datetime.fromtimestamp(value).strftime("%Y-%m-%d %H:%M")
        return str(value) if isinstance(value, int) else f"{value:.3g}"
    if isinstance(value, Mapping):
        return " ".join(filter(None, (format_cell(key, item) for key, item in value.items())))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(format_cell("", item) for item in value)
    return " ".join(str(value).split())


def _rows(values: object) -> list[Row]:
    if isinstance(values, list | tuple) and values and all(isinstance(value, Mapping) for value in values):
        return list(values)
    return []


def _title(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]
