"""Labels for external programs and their permissions."""

from __future__ import annotations

from collections.abc import Sequence

from app.desktop.connections.queries import CategoryState, ClientProgram
from app.desktop.runtime.translation import PluralText, translate
from app.desktop.widgets.time_labels import time_or_date
from app.permissions.caller import CallerKind
from app.settings import CallerProfile
from app.vault.invisible_chars import escape_hidden

_MAX_LISTED_NAMES = 3


def state_label(program: ClientProgram) -> str:
    """Return a program's state: its calls in progress, its connection, or when it was last active."""
    if program.open_calls:
        return PluralText("Connections", "{0} call in progress", "{0} calls in progress").format(
            program.open_calls
        )
    if program.sessions:
        return translate("Connections", "Connected")
    if program.last_active is None:
        return translate("Connections", "Never connected")
    return translate("Connections", "Last call {0}").format(time_or_date(program.last_active))


def access_label(profile: CallerProfile | None, categories: Sequence[CategoryState] = ()) -> str:
    """Return a program's permissions as one line; None means the default permissions."""
    if profile is None:
        return translate("Connections", "Reads and proposes changes")
    parts = [
        translate("Connections", "Read-only")
        if profile.read_only
        else translate("Connections", "Reads and proposes changes")
    ]
    if profile.categories:
        names = {category.id: category.name for category in categories}
        category_names = [names.get(category_id, category_id) for category_id in profile.categories]
        category_list = ", ".join(category_names).lower()
        parts.append(
            category_list
            if len(category_names) <= _MAX_LISTED_NAMES
            else PluralText("Connections", "{0} category", "{0} categories").format(len(category_names))
        )
    if profile.tools:
        parts.append(translate("Connections", "tools {0}").format(", ".join(profile.tools)))
    if profile.folders:
        hidden_count = len(profile.folders) - _MAX_LISTED_NAMES
        omitted_text = (
            translate("Connections", " and {0} more").format(hidden_count) if hidden_count > 0 else ""
        )
        parts.append(
            translate("Connections", "in {0}").format(", ".join(profile.folders[:_MAX_LISTED_NAMES]))
            + omitted_text
        )
    return " · ".join(parts)


def kind_label(kind: CallerKind) -> str:
    """Return the label of a session's connection type."""
    return {
        CallerKind.MCP: translate("Connections", "MCP"),
        CallerKind.HTTP: translate("Connections", "HTTP API"),
        CallerKind.CLI: translate("Connections", "Command line"),
    }.get(kind, str(kind))


def session_lines(program: ClientProgram) -> tuple[str, ...]:
    """Return a line for each of the program's sessions, latest first."""
    lines = []
    for session in sorted(program.sessions, key=lambda session: -session.last):
        calls = PluralText("Connections", "{0} call", "{0} calls").format(session.calls)
        since = translate("Connections", "since {0}").format(time_or_date(session.since))
        name = escape_hidden(" ".join(session.client.says.split())[:120])
        description = (
            translate("Connections", "identifies itself as “{0}”").format(name)
            if name and name != session.client.name
            else ""
        )
        parts = (kind_label(session.client.kind), description, since, calls)
        lines.append(" · ".join(part for part in parts if part))
    return tuple(lines)


def token_label(program: ClientProgram) -> str:
    """Return a sentence about the program's token."""
    if program.token_created is None:
        return translate("Connections", "No token: the program starts Scriptorium.")
    return translate("Connections", "Token created {0}.").format(time_or_date(program.token_created))
