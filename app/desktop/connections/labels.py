"""Labels for external programs and their permissions."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from app.desktop.connections.queries import CategoryState, ClientProgram
from app.desktop.sources.labels import format_time
from app.permissions.caller import CallerKind
from app.permissions.pluralize import pluralize
from app.settings import CallerProfile
from app.vault.escaped_line import describe

_MAX_NAMED_FOLDERS = 3


def _tr(text: str) -> str:
    return QCoreApplication.translate("Connections", text)


def state_label(program: ClientProgram) -> str:
    """Return the connection state of a program."""
    if program.open_calls:
        return pluralize(program.open_calls, _tr("call now"), _tr("calls now"))
    if program.sessions:
        return _tr("connected")
    return format_time(program.last) if program.last is not None else _tr("never connected")


def access_label(profile: CallerProfile | None, groups: Sequence[CategoryState] = ()) -> str:
    """Return the permissions of a program on one line."""
    if profile is None:
        return _tr("reads and proposes changes")
    parts = [_tr("read-only") if profile.read_only else _tr("reads and proposes changes")]
    if profile.categories:
        names = {group.id: group.name for group in groups}
        shown = [names.get(id, id) for id in profile.categories]
        few = ", ".join(shown).lower()
        parts.append(few if len(shown) <= _MAX_NAMED_FOLDERS else _tr("{0} categories").format(len(shown)))
    if profile.tools:
        parts.append(_tr("tools {0}").format(", ".join(profile.tools)))
    if profile.folders:
        more = len(profile.folders) - _MAX_NAMED_FOLDERS
        rest = _tr(" and {0} more").format(more) if more > 0 else ""
        parts.append(_tr("in {0}").format(", ".join(profile.folders[:_MAX_NAMED_FOLDERS])) + rest)
    return " · ".join(parts)


def kind_label(kind: CallerKind) -> str:
    """Return the label of a session's connection type."""
    return {
        CallerKind.MCP: _tr("MCP"),
        CallerKind.HTTP: _tr("HTTP API"),
        CallerKind.CLI: _tr("command line"),
    }.get(kind, str(kind))


def session_lines(program: ClientProgram) -> tuple[str, ...]:
    """Return a line for each session of the program, the latest first."""
    lines = []
    for one in sorted(program.sessions, key=lambda each: -each.last):
        calls = pluralize(one.calls, _tr("call"), _tr("calls"))
        since = _tr("since {0}").format(format_time(one.since))
        says = describe(" ".join(one.client.says.split())[:120])
        said = _tr("calls itself “{0}”").format(says) if says and says != one.client.name else ""
        parts = (kind_label(one.client.kind), said, since, calls)
        lines.append(" · ".join(part for part in parts if part))
    return tuple(lines)


def token_label(program: ClientProgram) -> str:
    """Return whether the program has a token, and since when."""
    if program.made is None:
        return _tr("No token: the program starts Scriptorium itself.")
    return _tr("Has a token since {0}.").format(format_time(program.made))
