"""How external servers and their tools are put into words."""

from __future__ import annotations

import os
import shlex

from PySide6.QtCore import QCoreApplication

from app.errors import InvalidParametersError
from app.external.connection import ConnectionState
from app.external.states import ExternalProgress, ServerState, ToolState
from app.permissions.pluralize import pluralize
from app.settings import ExternalServer
from app.vault.invisible_chars import describe

TONES = {
    ConnectionState.OFF: "faint",
    ConnectionState.STARTING: "muted",
    ConnectionState.RUNNING: "success",
    ConnectionState.FAILED: "danger",
}


def state_label(state: ServerState) -> str:
    """How a server stands, in one line."""
    match state.standing:
        case ConnectionState.OFF:
            return _tr("Off")
        case ConnectionState.STARTING:
            return _tr("Starting…")
        case ConnectionState.RUNNING:
            says = _tr(", reported as {0}").format(describe(state.says)) if state.says else ""
            return _tr("Running{0}").format(says)
    return _tr("Failed: {0}. Retrying automatically.").format(describe(state.words))


def tools_label(state: ServerState) -> str:
    """How many tools there are, and what is to be done about them."""
    if not state.tools:
        return _tr("No tools offered.") if state.listed else ""
    allowed = sum(tool.status == "allowed" for tool in state.tools)
    changed = sum(tool.status == "changed" for tool in state.tools)
    words = _tr("{0}, {1} allowed").format(pluralize(len(state.tools), _tr("tool"), _tr("tools")), allowed)
    if changed:
        words += _tr(", {0} changed").format(changed)
    return words


def status_label(tool: ToolState) -> str:
    """What there is to say of a tool beside its check mark."""
    return {
        "allowed": "",
        "new": _tr("New"),
        "changed": _tr("Changed: needs review"),
        "gone": _tr("Not offered"),
    }[tool.status]


def tool_tip(tool: ToolState) -> str:
    """What a tool says of itself, and how little that counts."""
    said = [describe(tool.summary)]
    if tool.hints:
        words = _tr("Description by the server (unverified): {0}. Every call needs your approval.")
        said.append(words.format(", ".join(tool.hints)))
    said.append(_tr("Agents call it {0}.").format(tool.called))
    return "\n".join(said)


def progress_label(progress: ExternalProgress) -> str:
    """How far a call is: its share where that is known, and what the server says of it."""
    share = f"{progress.share:.0%}" if progress.share is not None else ""
    return " · ".join(part for part in (share, describe(progress.words)) if part)


def location_label(server: ExternalServer) -> str:
    """What is started, or the address."""
    if server.transport == "http":
        return server.address
    return command_line((server.command, *server.arguments))


def command_line(parts: tuple[str, ...]) -> str:
    """A program and its arguments, or arguments alone, as they would be typed."""
    return shlex.join(part for part in parts if part)


def parse_arguments(line: str) -> tuple[str, ...]:
    """What was typed as arguments, one by one.

    Raises:
        InvalidParametersError: a quotation mark is left open.
    """
    try:
        return tuple(shlex.split(line.replace("\\", "\\\\") if os.name == "nt" else line))
    except ValueError as error:
        raise InvalidParametersError(_tr("The arguments contain an unclosed quotation mark.")) from error


def _tr(text: str) -> str:
    return QCoreApplication.translate("ExternalServers", text)
