"""Configurations that let external programs use this vault's tools.

There are two transports. With *stdio*, the program starts `scriptorium mcp`, which joins the running app or
opens the vault itself; the program needs no token. With *HTTP*, it calls the local server with its token. The
formats follow the programs' documentation.
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

from app.desktop.runtime.translation import QT_TRANSLATE_NOOP, translate

Transport = Literal["stdio", "http"]
_SEPARATORS = re.compile(r"[^a-z0-9]+")
_MAX_SLUG_CHARS = 20
_TOKEN_PLACEHOLDER = "THE-TOKEN"


@dataclass(frozen=True, slots=True)
class ConnectionDetails:
    """The values for a configuration.

    Args:
        vault: The vault's folder.
        name: The program's name.
        command: The command that runs Scriptorium.
        address: The server's address; empty while the server is off.
        token: The program's token; empty if unknown.
    """

    vault: Path
    name: str
    command: tuple[str, ...]
    address: str
    token: str = ""

    @property
    def key(self) -> str:
        """The server's name in the program: short, since it prefixes the name of each tool."""
        slug = _SEPARATORS.sub("-", self.vault.name.casefold()).strip("-")[:_MAX_SLUG_CHARS].strip("-")
        # Vaults whose names have no ASCII letters need distinct keys, too: one file may contain several.
        name = slug or hashlib.sha256(self.vault.as_posix().encode()).hexdigest()[:8]
        return f"scriptorium-{name}"

    @property
    def mcp(self) -> str:
        """The address of the MCP server."""
        return f"{self.address}/mcp"

    @property
    def authorization(self) -> str:
        """The value of the `Authorization` header."""
        return f"Bearer {self.token or _TOKEN_PLACEHOLDER}"

    @property
    def stdio(self) -> tuple[str, ...]:
        """The command that the program runs."""
        return (*self.command, "mcp", str(self.vault), "--name", self.name)


@dataclass(frozen=True, slots=True)
class Configuration:
    """The `text` for `destination`, a file or a terminal; if `is_merged`, keep the file's other content."""

    text: str
    destination: str
    is_merged: bool


@dataclass(frozen=True, slots=True)
class Target:
    """A program that can be connected: its transports and its configuration format."""

    id: str
    title: str
    transports: tuple[Transport, ...]
    build: Callable[[ConnectionDetails, Transport], Configuration]


def shell_command_line(parts: tuple[str, ...]) -> str:
    """Return `parts` as one command line for a terminal of this system."""
    return subprocess.list2cmdline(parts) if os.name == "nt" else shlex.join(parts)


def _claude_desktop(details: ConnectionDetails, _: Transport) -> Configuration:
    paths = {
        "darwin": "~/Library/Application Support/Claude/claude_desktop_config.json",
        "win32": r"%APPDATA%\Claude\claude_desktop_config.json",
    }
    destination = paths.get(sys.platform, "~/.config/Claude/claude_desktop_config.json")
    return Configuration(_servers(details, _stdio_entry(details)), destination, True)


def _claude_code(details: ConnectionDetails, transport: Transport) -> Configuration:
    if transport == "stdio":
        line = shell_command_line(
            ("claude", "mcp", "add", "--scope", "user", details.key, "--", *details.stdio)
        )
        return Configuration(line, translate("Connections", "a terminal"), False)
    # A file, because a command would leave the token in the terminal's history.
    return Configuration(_servers(details, {"type": "http"} | _http_entry(details)), ".mcp.json", True)


def _cursor(details: ConnectionDetails, transport: Transport) -> Configuration:
    entry = _stdio_entry(details) if transport == "stdio" else _http_entry(details)
    return Configuration(_servers(details, entry), "~/.cursor/mcp.json", True)


def _vs_code(details: ConnectionDetails, transport: Transport) -> Configuration:
    destination = translate("Connections", "mcp.json (command “MCP: Open User Configuration”)")
    if transport == "stdio":
        return Configuration(
            _json({"servers": {details.key: {"type": "stdio"} | _stdio_entry(details)}}), destination, True
        )
    # VS Code asks for the values under "inputs" once and stores them outside the file.
    input_id = f"{details.key}-token"
    entry = {
        "type": "http",
        "url": details.mcp,
        "headers": {"Authorization": f"Bearer ${{input:{input_id}}}"},
    }
    token_input = {
        "type": "promptString",
        "id": input_id,
        "description": translate("Connections", "Scriptorium token"),
        "password": True,
    }
    return Configuration(_json({"servers": {details.key: entry}, "inputs": [token_input]}), destination, True)


def _gemini(details: ConnectionDetails, transport: Transport) -> Configuration:
    http_entry = {"httpUrl": details.mcp, "headers": {"Authorization": details.authorization}}
    entry = _stdio_entry(details) if transport == "stdio" else http_entry
    return Configuration(_servers(details, entry), "~/.gemini/settings.json", True)


def _codex(details: ConnectionDetails, transport: Transport) -> Configuration:
    lines = [f"[mcp_servers.{details.key}]"]
    if transport == "stdio":
        # A JSON string is also a basic TOML string.
        lines += [
            f"command = {_quote(details.stdio[0])}",
            f"args = [{', '.join(map(_quote, details.stdio[1:]))}]",
        ]
    else:
        lines += [
            f"url = {_quote(details.mcp)}",
            f'http_headers = {{ "Authorization" = {_quote(details.authorization)} }}',
        ]
    return Configuration("\n".join(lines) + "\n", "~/.codex/config.toml", True)


def _generic(details: ConnectionDetails, transport: Transport) -> Configuration:
    entry = (
        {"type": "stdio"} | _stdio_entry(details)
        if transport == "stdio"
        else {"type": "http"} | _http_entry(details)
    )
    return Configuration(
        _servers(details, entry), translate("Connections", "the program's configuration"), True
    )


def _curl(details: ConnectionDetails, _: Transport) -> Configuration:
    header = f"Authorization: {details.authorization}"
    line = shell_command_line(("curl", "-H", header, f"{details.address}/api/v1/tools"))
    return Configuration(line, translate("Connections", "a terminal"), False)


TARGETS: tuple[Target, ...] = (
    Target("claude-desktop", "Claude Desktop", ("stdio",), _claude_desktop),
    Target("claude-code", "Claude Code", ("stdio", "http"), _claude_code),
    Target("cursor", "Cursor", ("stdio", "http"), _cursor),
    Target("vs-code", "VS Code", ("stdio", "http"), _vs_code),
    Target("gemini-cli", "Gemini CLI", ("stdio", "http"), _gemini),
    Target("codex", "Codex", ("stdio", "http"), _codex),
    Target("other", QT_TRANSLATE_NOOP("Connections", "Another MCP client"), ("stdio", "http"), _generic),
    Target("curl", QT_TRANSLATE_NOOP("Connections", "curl (HTTP API)"), ("http",), _curl),
)


def _stdio_entry(details: ConnectionDetails) -> dict[str, object]:
    command, *arguments = details.stdio
    return {"command": command, "args": arguments}


def _http_entry(details: ConnectionDetails) -> dict[str, object]:
    return {"url": details.mcp, "headers": {"Authorization": details.authorization}}


def _servers(details: ConnectionDetails, entry: Mapping[str, object]) -> str:
    return _json({"mcpServers": {details.key: entry}})


def _json(content: object) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
