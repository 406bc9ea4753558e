"""Configurations that let external programs use this vault's tools. No Qt.

There are two connection types. With *stdio* the program starts `scriptorium mcp`, which joins the open
window: no token, no port. With *HTTP* it calls the local server with its token. The formats follow the
manuals of the programs.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Way = Literal["stdio", "http"]
_PLAIN = re.compile(r"[^a-z0-9]+")
_MAX_KEY_CHARS = 20
_TOKEN_PLACEHOLDER = "THE-TOKEN"


@dataclass(frozen=True, slots=True)
class ConnectionDetails:
    """The parts of a configuration; `address` is the server's, `token` is empty if unknown."""

    vault: Path
    name: str
    command: tuple[str, ...]
    address: str
    token: str = ""

    @property
    def key(self) -> str:
        """The program's name for the server: short, since it prefixes the name of each tool."""
        slug = _PLAIN.sub("-", self.vault.name.casefold()).strip("-")[:_MAX_KEY_CHARS].strip("-")
        # Names without ASCII letters need distinct keys, too: two of them may be in one file.
        name = slug or hashlib.sha256(self.vault.as_posix().encode()).hexdigest()[:8]
        return f"scriptorium-{name}"

    @property
    def mcp(self) -> str:
        """The address of the MCP server."""
        return f"{self.address}/mcp"

    @property
    def bearer(self) -> str:
        """The value of the `Authorization` header."""
        return f"Bearer {self.token or _TOKEN_PLACEHOLDER}"

    @property
    def stdio(self) -> tuple[str, ...]:
        """The command that the program runs."""
        return (*self.command, "mcp", str(self.vault), "--name", self.name)


@dataclass(frozen=True, slots=True)
class Configuration:
    """The `text` to put into `place` (a file or a terminal), and how to merge it with existing content."""

    text: str
    place: str
    merged: bool


@dataclass(frozen=True, slots=True)
class Target:
    """A program that can be connected: its connection types and its configuration format."""

    id: str
    title: str
    ways: tuple[Way, ...]
    make: Callable[[ConnectionDetails, Way], Configuration]


def shell_command_line(parts: tuple[str, ...]) -> str:
    """Return `parts` as one command line for a terminal of this system."""
    return subprocess.list2cmdline(parts) if os.name == "nt" else shlex.join(parts)


def _claude_desktop(to: ConnectionDetails, _: Way) -> Configuration:
    places = {
        "darwin": "~/Library/Application Support/Claude/claude_desktop_config.json",
        "win32": r"%APPDATA%\Claude\claude_desktop_config.json",
    }
    place = places.get(sys.platform, "~/.config/Claude/claude_desktop_config.json")
    return Configuration(_servers(to, _stdio_entry(to)), place, True)


def _claude_code(to: ConnectionDetails, way: Way) -> Configuration:
    if way == "stdio":
        line = shell_command_line(("claude", "mcp", "add", "--scope", "user", to.key, "--", *to.stdio))
        return Configuration(line, "a terminal", False)
    # Written as a file, not as a command: the token would stay in the history of the terminal.
    return Configuration(_servers(to, {"type": "http"} | _http_entry(to)), ".mcp.json", True)


def _cursor(to: ConnectionDetails, way: Way) -> Configuration:
    entry = _stdio_entry(to) if way == "stdio" else _http_entry(to)
    return Configuration(_servers(to, entry), "~/.cursor/mcp.json", True)


def _vs_code(to: ConnectionDetails, way: Way) -> Configuration:
    place = "mcp.json (command “MCP: Open User Configuration”)"
    if way == "stdio":
        return Configuration(_json({"servers": {to.key: {"type": "stdio"} | _stdio_entry(to)}}), place, True)
    # The program asks for the values under "inputs" once and stores them outside the file.
    asked = f"{to.key}-token"
    entry = {"type": "http", "url": to.mcp, "headers": {"Authorization": f"Bearer ${{input:{asked}}}"}}
    question = {"type": "promptString", "id": asked, "description": "Scriptorium token", "password": True}
    return Configuration(_json({"servers": {to.key: entry}, "inputs": [question]}), place, True)


def _gemini(to: ConnectionDetails, way: Way) -> Configuration:
    called = {"httpUrl": to.mcp, "headers": {"Authorization": to.bearer}}
    entry = _stdio_entry(to) if way == "stdio" else called
    return Configuration(_servers(to, entry), "~/.gemini/settings.json", True)


def _codex(to: ConnectionDetails, way: Way) -> Configuration:
    lines = [f"[mcp_servers.{to.key}]"]
    if way == "stdio":
        # A JSON string is also a basic TOML string.
        lines += [
            f"command = {_quote_json(to.stdio[0])}",
            f"args = [{', '.join(map(_quote_json, to.stdio[1:]))}]",
        ]
    else:
        lines += [
            f"url = {_quote_json(to.mcp)}",
            f'http_headers = {{ "Authorization" = {_quote_json(to.bearer)} }}',
        ]
    return Configuration("\n".join(lines) + "\n", "~/.codex/config.toml", True)


def _any(to: ConnectionDetails, way: Way) -> Configuration:
    entry = {"type": "stdio"} | _stdio_entry(to) if way == "stdio" else {"type": "http"} | _http_entry(to)
    return Configuration(_servers(to, entry), "the program's configuration", True)


def _curl(to: ConnectionDetails, _: Way) -> Configuration:
    header = f"Authorization: {to.bearer}"
    line = shell_command_line(("curl", "-H", header, f"{to.address}/api/v1/tools"))
    return Configuration(line, "a terminal", False)


TARGETS: tuple[Target, ...] = (
    Target("claude-desktop", "Claude Desktop", ("stdio",), _claude_desktop),
    Target("claude-code", "Claude Code", ("stdio", "http"), _claude_code),
    Target("cursor", "Cursor", ("stdio", "http"), _cursor),
    Target("vs-code", "VS Code", ("stdio", "http"), _vs_code),
    Target("gemini-cli", "Gemini CLI", ("stdio", "http"), _gemini),
    Target("codex", "Codex", ("stdio", "http"), _codex),
    Target("other", "Another MCP client", ("stdio", "http"), _any),
    Target("curl", "curl (HTTP API)", ("http",), _curl),
)


def _stdio_entry(to: ConnectionDetails) -> dict[str, object]:
    command, *arguments = to.stdio
    return {"command": command, "args": arguments}


def _http_entry(to: ConnectionDetails) -> dict[str, object]:
    return {"url": to.mcp, "headers": {"Authorization": to.bearer}}


def _servers(to: ConnectionDetails, entry: Mapping[str, object]) -> str:
    return _json({"mcpServers": {to.key: entry}})


def _json(content: object) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _quote_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
