"""Tokens: shown once, stored as hashes, invalid when revoked; and the file that announces an endpoint."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app import paths
from app.errors import InvalidParametersError, NotFoundError, StorageError
from app.events import EventBus
from app.servers.endpoint_file import find_endpoint, new_endpoint, publish, unpublish
from app.servers.tokens import ClientsChanged, ClientTokens


def test_a_token_is_known_by_its_hash_and_survives_a_restart(tmp_path: Path) -> None:
    token = ClientTokens(tmp_path, EventBus()).create("Claude Desktop")
    reloaded = ClientTokens(tmp_path, EventBus())
    assert reloaded.authenticate(token) == "Claude Desktop"
    assert [one.name for one in reloaded.clients] == ["Claude Desktop"]
    assert token not in (tmp_path / "clients.json").read_text()
    assert (
        reloaded.authenticate(token[:-1]) is None
        and reloaded.authenticate("") is None
        and reloaded.authenticate("ü\udcff") is None
    )


def test_renewing_and_revoking_make_a_token_void_and_say_so(tmp_path: Path) -> None:
    events, published = EventBus(), []
    events.subscribe(ClientsChanged, published.append)
    tokens = ClientTokens(tmp_path, events)
    first = tokens.create("Robot")
    second = tokens.renew("Robot")
    assert (tokens.authenticate(first), tokens.authenticate(second)) == (None, "Robot")
    tokens.revoke("Robot")
    assert tokens.authenticate(second) is None and tokens.clients == ()
    assert published == [
        ClientsChanged(("Robot",)),
        ClientsChanged(("Robot",), ("Robot",)),
        ClientsChanged((), ("Robot",)),
    ]
    for act in (tokens.renew, tokens.revoke):
        with pytest.raises(NotFoundError):
            act("Robot")


def test_client_names_are_distinguishable(tmp_path: Path) -> None:
    tokens = ClientTokens(tmp_path, EventBus())
    tokens.create("Robot")
    no_names = ("", " ", "*", "a" * 61, "[x]", "a\nb", "\u202egnp", "a\u200bb")
    for name in (*no_names, "mcp", "CLI", "You", "user", "robot"):
        with pytest.raises(InvalidParametersError):
            tokens.create(name)


def test_a_damaged_file_accepts_no_token_and_is_kept(tmp_path: Path) -> None:
    (tmp_path / "clients.json").write_text("[{")
    tokens = ClientTokens(tmp_path, EventBus())
    assert "none can connect" in tokens.problem and tokens.clients == ()
    token = tokens.create("Robot")
    assert not tokens.problem and tokens.authenticate(token) == "Robot"
    assert [one.read_text() for one in tmp_path.glob("clients.damaged-*.json")] == ["[{"]


def test_a_damaged_file_that_cannot_be_set_aside_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(file: Path) -> None:
        raise PermissionError(1, "not permitted")

    (tmp_path / "clients.json").write_text("[{")
    tokens = ClientTokens(tmp_path, EventBus())
    monkeypatch.setattr("app.servers.tokens.set_aside", fail)
    with pytest.raises(StorageError, match="could not be set aside"):
        tokens.create("Robot")
    assert tokens.problem and tokens.clients == ()
    assert (tmp_path / "clients.json").read_text() == "[{"


def test_an_endpoint_is_found_by_its_file_but_not_after_a_crash(tmp_path: Path) -> None:
    folder = paths.vault_data_folder(tmp_path)
    assert find_endpoint(tmp_path) is None
    mine = new_endpoint(4711, "headless")
    publish(folder, mine)
    assert find_endpoint(tmp_path) == mine and mine.pid == os.getpid()
    unpublish(folder, new_endpoint(4711))
    assert find_endpoint(tmp_path) == mine, "another one's sign is left alone"
    result = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True
    )
    text = (folder / "door.json").read_text()
    (folder / "door.json").write_text(text.replace(f'"pid":{mine.pid}', f'"pid":{int(result.stdout)}'))
    assert find_endpoint(tmp_path) is None
    (folder / "door.json").write_text(text.replace('"started":', '"started":1'))
    assert find_endpoint(tmp_path) is None, "the number of a dead process was given to another one"
    (folder / "door.json").write_text("nonsense")
    assert find_endpoint(tmp_path) is None
    unpublish(folder, mine)
