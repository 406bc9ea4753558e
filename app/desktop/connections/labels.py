"""Labels for external programs and their permissions."""

from __future__ import annotations

from collections.abc import Sequence

from app.desktop.connections.queries import CategoryState, ClientProgram
from app.desktop.runtime.translation import PluralText, translate
from app.desktop.sources.labels import format_time
from app.permissions.caller import CallerKind
from app.settings import CallerProfile
from app.vault.escaped_line import escape_hidden

_MAX_NAMED_FOLDERS = 3


def state_label(program: ClientProgram) -> str:
    """Return the connection state of a program."""
    if program.open_calls:
        return PluralText("Connections", "{0} call now", "{0} calls now").format(program.open_calls)
    if program.sessions:
        return translate("Connections", "connected")
    return (
        format_time(program.last) if program.last is not None else translate("Connections", "never connected")
    )


def access_label(profile: CallerProfile | None, groups: Sequence[CategoryState] = ()) -> str:
    """Return the permissions of a program on one line."""
    if profile is None:
        return translate("Connections", "reads and proposes changes")
    parts = [
        translate("Connections", "read-only")
        if profile.read_only
        else translate("Connections", "reads and proposes changes")
    ]
    if profile.categories:
        names = {group.id: group.name for group in groups}
        shown = [names.get(id, id) for id in profile.categories]
        few = ", ".join(shown).lower()
        parts.append(
            few
            if len(shown) <= _MAX_NAMED_FOLDERS
            else PluralText("Connections", "{0} category", "{0} categories").format(len(shown))
        )
    if profile.tools:
        parts.append(translate("Connections", "tools {0}").format(", ".join(profile.tools)))
    if profile.folders:
        more = len(profile.folders) - _MAX_NAMED_FOLDERS
        rest = translate("Connections", " and {0} more").format(more) if more > 0 else ""
        parts.append(
            translate("Connections", "in {0}").format(", ".join(profile.folders[:_MAX_NAMED_FOLDERS])) + rest
        )
    return " · ".join(parts)


def kind_label(kind: CallerKind) -> str:
    """Return the label of a session's connection type."""
    return {
        CallerKind.MCP: translate("Connections", "MCP"),
        CallerKind.HTTP: translate("Connections", "HTTP API"),
        CallerKind.CLI: translate("Connections", "command line"),
    }.get(kind, str(kind))


def session_lines(program: ClientProgram) -> tuple[str, ...]:
    """Return a line for each session of the program, the latest first."""
    lines = []
    for one in sorted(program.sessions, key=lambda each: -each.last):
        calls = PluralText("Connections", "{0} call", "{0} calls").format(one.calls)
        since = translate("Connections", "since {0}").format(format_time(one.since))
        says = escape_hidden(" ".join(one.client.says.split())[:120])
        description = (
            translate("Connections", "calls itself “{0}”").format(says)
            if says and says != one.client.name
            else ""
        )
        parts = (kind_label(one.client.kind), description, since, calls)
        lines.append(" · ".join(part for part in parts if part))
    return tuple(lines)


def token_label(program: ClientProgram) -> str:
    """Return whether the program has a token, and since when."""
    if program.made is None:
        return translate("Connections", "No token: the program starts Scriptorium itself.")
    return translate("Connections", "Has a token since {0}.").format(format_time(program.made))
