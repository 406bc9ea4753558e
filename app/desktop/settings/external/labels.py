"""Labels for external servers and their tools."""

from __future__ import annotations

import os
import shlex

from app.desktop.runtime.translation import PluralText, translate
from app.errors import InvalidParametersError
from app.external.connection import ConnectionState
from app.external.states import ExternalProgress, ServerState, ToolState
from app.sentence import as_sentence
from app.settings import ExternalServer
from app.vault.invisible_chars import escape_hidden

TONES = {
    ConnectionState.OFF: "faint",
    ConnectionState.STARTING: "muted",
    ConnectionState.RUNNING: "success",
    ConnectionState.FAILED: "danger",
}


def state_label(state: ServerState) -> str:
    """Return the state of a server as one line."""
    match state.connection_state:
        case ConnectionState.OFF:
            return translate("ExternalServers", "Off")
        case ConnectionState.STARTING:
            return translate("ExternalServers", "Starting…")
        case ConnectionState.RUNNING:
            name = (
                translate("ExternalServers", ", identifies itself as “{0}”").format(
                    escape_hidden(state.implementation)
                )
                if state.implementation
                else ""
            )
            return translate("ExternalServers", "Running{0}").format(name)
    return translate("ExternalServers", "Failed. {0} Retrying automatically.").format(reason_label(state))


def reason_label(state: ServerState) -> str:
    """Return the reason why a server does not run, as a sentence."""
    return as_sentence(escape_hidden(state.reason))


def tools_label(state: ServerState) -> str:
    """Return the numbers of offered, allowed and changed tools; empty while the tools are unknown."""
    if not state.tools:
        return translate("ExternalServers", "No tools offered") if state.is_listed else ""
    allowed = sum(tool.status == "allowed" for tool in state.tools)
    changed = sum(tool.status == "changed" for tool in state.tools)
    label = PluralText("ExternalServers", "{0} tool, {1} allowed", "{0} tools, {1} allowed").format(
        len(state.tools), allowed
    )
    if changed:
        label += translate("ExternalServers", ", {0} changed").format(changed)
    return label


def status_label(tool: ToolState) -> str:
    """Return the state of a tool, shown next to its checkbox; empty for an allowed tool."""
    return {
        "allowed": "",
        "new": translate("ExternalServers", "New"),
        "changed": translate("ExternalServers", "Changed: needs review"),
        "gone": translate("ExternalServers", "Not offered"),
    }[tool.status]


def tool_tooltip(tool: ToolState) -> str:
    """Return the tool's summary, the server's unverified hints, and the name that agents use."""
    lines = [escape_hidden(tool.summary)]
    if tool.hints:
        text = translate(
            "ExternalServers", "Description by the server (unverified): {0}. Every call needs your approval."
        )
        lines.append(text.format(", ".join(tool.hints)))
    lines.append(translate("ExternalServers", "Agents call it {0}.").format(tool.registered_name))
    return "\n".join(lines)


def progress_label(progress: ExternalProgress) -> str:
    """Return the progress of a call: its percentage if known, and the server's message."""
    share = f"{progress.share:.0%}" if progress.share is not None else ""
    return " · ".join(part for part in (share, escape_hidden(progress.message)) if part)


def location_label(server: ExternalServer) -> str:
    """Return the server's command or address."""
    if server.transport == "http":
        return server.address
    return command_line((server.command, *server.arguments))


def command_line(parts: tuple[str, ...]) -> str:
    """Return a program and its arguments, or arguments alone, as a command line."""
    return shlex.join(part for part in parts if part)


def parse_arguments(line: str) -> tuple[str, ...]:
    """Split typed arguments as a shell does.

    Raises:
        InvalidParametersError: A quotation mark is not closed.
    """
    try:
        return tuple(shlex.split(line.replace("\\", "\\\\") if os.name == "nt" else line))
    except ValueError as error:
        raise InvalidParametersError(
            translate("ExternalServers", "The arguments contain an unclosed quotation mark.")
        ) from error
