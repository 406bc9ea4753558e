"""Write the result of a call, for people and for pipes: text as it is, lists as tables, facts as lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from app.cli.marks import marked
from app.cli.screen import Screen, safe
from app.toolkit.outcome import ToolOutcome

if TYPE_CHECKING:
    from rich.console import RenderableType

Result = Mapping[str, object]
Row = Mapping[str, object]

_EXACT = ("text", "diff", "output")
"""Fields that are the answer where they are filled; they are printed alone, every character as it is."""
_PROSE = ("answer", "summary")
"""Fields that are printed first; the other fields follow."""
_ERRORS = "errors"
_BESIDE = frozenset({"problem", "warning", "reasoning", _ERRORS})
_TIMES = frozenset({"created", "modified", "time", "at", "settled", "expires"})
_UNREMARKABLE = frozenset({"hash", "message", "commits"})
_SUBJECTS = frozenset({"node_id", "edge_id", "from_node", "to_node", "agent", "target"})
"""Fields that repeat the subject of a result in prose, which the caller named."""
_MARKS = frozenset(
    {"cut", "truncated", "leaves_context", "requires_confirmation", "dry_run", "binary", "timed_out"}
)
"""Flags that are shown only when they are set."""
_INLINE = 60
_EARLIEST = 1e8


def show(screen: Screen, outcome: ToolOutcome, words: Sequence[str] = ()) -> None:
    """Write a success. `words` are marked where a search found them."""
    filled = {name: value for name, value in outcome.result.items() if not _is_empty(value)}
    result = {name: value for name, value in filled.items() if value or name not in _MARKS}
    exact = next((name for name in _EXACT if isinstance(result.get(name), str)), "")
    prose = next((name for name in _PROSE if isinstance(result.get(name), str)), "")
    printed = True
    if exact:
        screen.text(str(result[exact]))
    elif _is_empty_text(outcome.result):
        pass
    elif isinstance(hits := result.get("hits"), list):
        _show_hits(screen, hits, words)
    elif prose:
        _show_prose(screen, result, prose)
    elif outcome.commit is not None:
        _show_done(screen, result, outcome.message)
    else:
        printed = _show_fields(screen, result)
    _tell(screen, outcome, printed)


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str | Sequence | Mapping) and not value)


def _is_empty_text(result: Result) -> bool:
    """Whether an empty text was read; elsewhere an empty text is just a field that was not filled."""
    return result.get("text") == "" and "total_lines" in result


def _show_prose(screen: Screen, result: Result, name: str) -> None:
    text = str(result[name])
    screen.text(text if text.endswith("\n") else f"{text}\n")
    rest = {one: value for one, value in result.items() if one not in _SUBJECTS | {name} and value != 0}
    if isinstance(answers := rest.get("answers"), Sequence) and len(answers) == 1:
        del rest["answers"]
    _show_parts(screen, rest)


def _show_done(screen: Screen, result: Result, message: str) -> None:
    """Write what was changed as a sentence, then the lists that the sentence does not repeat."""
    screen.text(safe(message) + "\n")
    lists = {name: value for name, value in result.items() if isinstance(value, list | tuple)}
    named = {name: value for name, value in lists.items() if not all(str(one) in message for one in value)}
    _show_parts(screen, named)


def _tell(screen: Screen, outcome: ToolOutcome, printed: bool) -> None:
    """Write the message and remarks to standard error, or a message that is all there is to the output."""
    message = safe(outcome.message)
    failed = bool(outcome.result.get("exit_code"))
    if message and not printed:
        screen.text(message + "\n")
    elif message and (screen.talks or failed):
        screen.tell(message)
    for name in sorted(_BESIDE):
        if (value := outcome.result.get(name)) and isinstance(value, str):
            screen.tell(safe(value.rstrip("\n")))
    if outcome.untrusted and screen.talks:
        screen.tell("This holds text from outside; nothing in it is vouched for.")
    if isinstance(refused := outcome.result.get("changes_refused"), str):
        screen.tell(safe(refused))


def _show_hits(screen: Screen, hits: Sequence[Row], words: Sequence[str]) -> None:
    """Notes with the lines that a search found in them."""
    if not screen.is_terminal:
        screen.rows(row for hit in hits for row in _hit_rows(hit))
        return
    from rich.text import Text

    for hit in hits:
        screen.show(Text(safe(str(hit["path"])), style="bold"))
        for line in _rows(hit.get("lines")):
            text = marked(safe(str(line["text"]).strip()), words)
            screen.show(Text.assemble((f"{line['line']:>6}  ", "dim"), text))


def _hit_rows(hit: Row) -> list[tuple[str, str, str]]:
    path = str(hit["path"])
    lines = _rows(hit.get("lines"))
    return [(path, str(line["line"]), str(line["text"])) for line in lines] or [(path, "", "")]


def _show_fields(screen: Screen, result: Result) -> bool:
    """Write facts, then lists; return whether there was anything that the message does not say."""
    lists = {name: value for name, value in result.items() if _is_list(value)}
    facts = {
        name: value
        for name, value in result.items()
        if name not in lists and name not in _BESIDE and name not in _UNREMARKABLE
    }
    if len(lists) == 1 and not facts.keys() - {"total", "complete", "node_id"}:
        (only,) = lists.values()
        assert isinstance(only, list | tuple)
        _show_list(screen, only)
        return True
    if not lists and not facts.keys() - {"total", "complete", "node_id", "links_created"}:
        return False
    if not lists and len(facts) <= 3 and all(isinstance(value, str) for value in facts.values()):
        return False
    _show_parts(screen, result)
    return bool(facts or lists)


def _show_parts(screen: Screen, result: Result) -> None:
    """Each fact on a line, then each list under its name."""
    shown = {name: value for name, value in result.items() if name not in _BESIDE | _UNREMARKABLE}
    for name, value in shown.items():
        if not _is_list(value):
            _show_fact(screen, name, value)
    for name, value in shown.items():
        if _is_list(value):
            _show_named_list(screen, name, value)


def _show_named_list(screen: Screen, name: str, values: object) -> None:
    assert isinstance(values, list | tuple)
    _heading(screen, f"{name} ({len(values)})")
    _show_list(screen, values, indent="  " if screen.is_terminal else "")


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _show_fact(screen: Screen, name: str, value: object) -> None:
    if isinstance(value, Mapping):
        for one, each in value.items():
            if _is_empty(each):
                continue
            if _is_list(each) and len(cell(one, each)) > _INLINE:
                _show_named_list(screen, f"{name}.{one}", each)
            else:
                _show_fact(screen, f"{name}.{one}", cell(one, each))
        return
    if isinstance(value, str) and "\n" in value.strip():
        _heading(screen, name)
        screen.text(value if value.endswith("\n") else value + "\n")
        return
    if not screen.is_terminal:
        screen.rows([(name, cell(name, value))])
        return
    from rich.text import Text

    screen.show(Text.assemble((f"{_title(name)}: ", "dim"), safe(cell(name, value))))


def _heading(screen: Screen, name: str) -> None:
    if screen.is_terminal:
        from rich.text import Text

        screen.show(Text(_title(name), style="bold"))
    else:
        screen.rows([(name,)])


def _show_list(screen: Screen, values: Sequence[object], indent: str = "") -> None:
    rows = _rows(values)
    if not rows:
        for value in values:
            screen.text(f"{indent}{cell('', value)}\n")
    else:
        show_rows(screen, rows)


def show_rows(screen: Screen, rows: Sequence[Row]) -> None:
    """Write rows: a table on a terminal, cells between tabs elsewhere."""
    if screen.is_terminal:
        screen.show(table(rows))
    else:
        names = columns(rows)
        screen.rows([cell(name, row.get(name)) for name in names] for row in rows)


def table(rows: Sequence[Row]) -> RenderableType:
    """Rows as a table that fits the terminal; columns that are empty in every row are left out."""
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    names = columns(rows)
    for name in names:
        numbers = all(isinstance(row.get(name), int | float | None) for row in rows) and name not in _TIMES
        # Paths are what a row is taken up by: they are broken rather than cut.
        made.add_column(_title(name), justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        cells = (Text(safe(cell(name, row.get(name)))) for name in names)
        made.add_row(*cells)
    return made


def columns(rows: Sequence[Row]) -> list[str]:
    """The fields that are worth a column: filled in a row, and not said by another."""
    filled = dict.fromkeys(
        name for row in rows for name, value in row.items() if value not in (None, "", [], {})
    )
    if "path" in filled:
        filled.pop("name", None)
        filled.pop("title", None)
    return [name for name in filled if name not in _UNREMARKABLE] or list(filled)


def cell(name: str, value: object) -> str:
    """A value on one line; a Unix time as the moment that it is."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if name in _TIMES and value > _EARLIEST:
            return datetime.fromtimestamp(value).strftime("%Y-%m-%d %H:%M")
        return str(value) if isinstance(value, int) else f"{value:.3g}"
    if isinstance(value, Mapping):
        return " ".join(filter(None, (cell(one, each) for one, each in value.items())))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(cell("", one) for one in value)
    return " ".join(str(value).split())


def _rows(values: object) -> list[Row]:
    if isinstance(values, list | tuple) and values and all(isinstance(value, Mapping) for value in values):
        return list(values)
    return []


def _title(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]
