"""Configurations for external programs, each parsed as its program does."""

from __future__ import annotations

import json
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from app.desktop.connections.configurations import TARGETS, ConnectionDetails, Transport

VAULT = Path('/home/ann/My "notes"/Zettel & Gärten')
COMMAND, ADDRESS = ("/opt/Script orium/scriptorium",), "http://127.0.0.1:27482"
DETAILS = ConnectionDetails(VAULT, "Ann's laptop", COMMAND, ADDRESS, "scriptorium_T0k")
STDIO = ["/opt/Script orium/scriptorium", "mcp", str(VAULT), "--name", "Ann's laptop"]
BEARER = {"Authorization": "Bearer scriptorium_T0k"}


def configuration_text(target: str, transport: Transport, details: ConnectionDetails = DETAILS) -> str:
    (program,) = (known for known in TARGETS if known.id == target)
    assert transport in program.transports
    return program.build(details, transport).text


@pytest.mark.parametrize("target", ["claude-desktop", "cursor", "gemini-cli", "other", "vs-code"])
def test_programs_that_start_the_server_get_the_whole_command(target: str) -> None:
    settings = json.loads(configuration_text(target, "stdio"))
    (entry,) = settings["servers" if target == "vs-code" else "mcpServers"].values()
    assert [entry["command"], *entry["args"]] == STDIO
    assert "scriptorium_T0k" not in configuration_text(target, "stdio"), "the token is not needed"


@pytest.mark.parametrize("target", ["claude-code", "cursor", "gemini-cli", "other"])
def test_programs_that_call_the_server_get_address_and_token(target: str) -> None:
    (entry,) = json.loads(configuration_text(target, "http"))["mcpServers"].values()
    address = entry["httpUrl" if target == "gemini-cli" else "url"]
    assert address == "http://127.0.0.1:27482/mcp" and entry["headers"] == BEARER


def test_vs_code_asks_for_the_token_itself() -> None:
    settings = json.loads(configuration_text("vs-code", "http"))
    (token_input,), (entry,) = settings["inputs"], settings["servers"].values()
    assert (
        entry["headers"]["Authorization"] == f"Bearer ${{input:{token_input['id']}}}"
        and token_input["password"]
    )
    assert "scriptorium_T0k" not in configuration_text("vs-code", "http")


def test_codex_reads_toml() -> None:
    (entry,) = tomllib.loads(configuration_text("codex", "stdio"))["mcp_servers"].values()
    assert [entry["command"], *entry["args"]] == STDIO
    (entry,) = tomllib.loads(configuration_text("codex", "http"))["mcp_servers"].values()
    assert entry == {"url": "http://127.0.0.1:27482/mcp", "http_headers": BEARER}


@pytest.mark.skipif(sys.platform == "win32", reason="the shell of that system quotes otherwise")
def test_terminal_commands_are_quoted() -> None:
    parts = shlex.split(configuration_text("claude-code", "stdio"))
    assert parts[:5] == ["claude", "mcp", "add", "--scope", "user"] and parts[-5:] == STDIO
    assert parts[parts.index("--") - 1] == DETAILS.key
    assert shlex.split(configuration_text("curl", "http")) == [
        "curl",
        "-H",
        "Authorization: Bearer scriptorium_T0k",
        "http://127.0.0.1:27482/api/v1/tools",
    ]


def test_an_unknown_token_leaves_a_placeholder() -> None:
    unknown = ConnectionDetails(VAULT, "Laptop", ("scriptorium",), "http://127.0.0.1:1")
    assert "THE-TOKEN" in configuration_text("cursor", "http", unknown)


@pytest.mark.parametrize(
    ("folder", "key"),
    [
        ("Zettel & Gärten", "scriptorium-zettel-g-rten"),
        ("花园", "scriptorium-61fa97d2"),
        ("書庫", "scriptorium-bc3209e2"),
        ("A very long name of a vault indeed", "scriptorium-a-very-long-name-of"),
    ],
)
def test_a_server_is_called_by_the_vault_in_plain_letters(folder: str, key: str) -> None:
    assert ConnectionDetails(Path("/v") / folder, "x", ("s",), "").key == key
