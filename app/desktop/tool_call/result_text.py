"""What a tool answered, as Markdown for people: facts as a list, lists of things as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from app.agent.answers import link
from app.vault.path import NOTE_SUFFIXES

_TIMES = ("created", "modified", "time", "at", "settled", "expires")
_MOST_ROWS, _MOST_COLUMNS, _LONGEST = 200, 7, 300


def in_words(result: Mapping[str, object]) -> str:
    """The fields of a result: short ones first, then texts, then lists; empty ones are left out."""
    facts: list[str] = []
    parts: list[str] = []
    for name, value in result.items():
        if value in (None, "", [], {}, ()) or name == "message":
            continue
        if isinstance(value, Mapping):
            rows = "\n".join(f"- **{_safe(str(one))}**: {_cell(each)}" for one, each in value.items())
            parts.append(f"### {_title(name)}\n\n{rows}")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            parts.append(f"### {_title(name)}\n\n{_list(value)}")
        elif isinstance(value, str) and ("\n" in value or len(value) > _LONGEST):
            parts.append(f"### {_title(name)}\n\n{_quoted(value)}")
        else:
            facts.append(f"- **{_title(name)}**: {_named(name, value)}")
    return "\n\n".join([*(["\n".join(facts)] if facts else []), *parts])


def _list(values: Sequence[object]) -> str:
    shown = values[:_MOST_ROWS]
    more = f"\n\n… and {len(values) - len(shown):,} more" if len(values) > len(shown) else ""
    if not all(isinstance(value, Mapping) for value in shown):
        return "\n".join(f"- {_cell(value)}" for value in shown) + more
    rows = [value for value in shown if isinstance(value, Mapping)]
    filled = (name for row in rows for name, value in row.items() if value not in (None, "", []))
    names = list(dict.fromkeys(filled))
    if "path" in names:  # a link that says the name
        names = [name for name in names if name not in ("name", "title")]
    names = names[:_MOST_COLUMNS]
    head = "| " + " | ".join(map(_title, names)) + " |\n|" + "---|" * len(names)
    lines = ("| " + " | ".join(_named(name, row.get(name), "table") for name in names) + " |" for row in rows)
    return "\n".join([head, *lines]) + more


def _named(name: str, value: object, place: str = "") -> str:
    """The value of a field; a Unix time as the moment that it is."""
    if name in _TIMES and isinstance(value, int | float) and not isinstance(value, bool) and value > 1e8:
        return datetime.fromtimestamp(value).strftime("%Y-%m-%d %H:%M")
    return _cell(value, place)


def _cell(value: object, place: str = "") -> str:
    """A value on one line; the path of a note as a link to it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, Mapping):
        return " ".join(filter(None, (_cell(one, place) for one in value.values())))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "; ".join(_cell(one, place) for one in value[:20])
    text = " ".join(str(value).split())
    if text.lower().endswith(NOTE_SUFFIXES) and len(text) < _LONGEST:
        made = link(text)
        return made.replace("|", "\\|") if place else made
    return _safe(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")


def _safe(text: str) -> str:
    """Text in which nothing is Markdown, so that a note can't draw into the answer."""
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#|!~$=^" else letter for letter in text)


def _quoted(text: str) -> str:
    """A long text as it is, every mark of it visible."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


def _title(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]
