"""Settings that the user changes without a tool get a row in the audit log."""

from __future__ import annotations

import json
from pathlib import Path

from app.sources.config import FolderConfig
from app.workspace.workspace import Workspace


def rows(workspace: Workspace, tool: str) -> list[tuple[str, str]]:
    """Return the operation and subject of each row, last first; each by the user."""
    entries = [one for one in workspace.audit.entries() if one.tool == tool]
    assert all(one.caller_kind == "user" and one.operation == "administrative" for one in entries)
    return [(json.loads(one.arguments)["op"], one.result) for one in entries]


async def test_switched_categories(workspace: Workspace) -> None:
    here = workspace.vault_settings
    workspace.change_vault_settings(here.with_categories(True, "development"))
    assert rows(workspace, "categories") == [("on", "Turned on the tools of development.")]
    workspace.apply_settings(workspace.settings)
    assert len(rows(workspace, "categories")) == 1
    workspace.change_vault_settings(here.with_categories(False, "development"))
    assert rows(workspace, "categories")[0] == ("off", "Turned off the tools of development.")


async def test_tokens(workspace: Workspace) -> None:
    tokens = workspace.endpoints.tokens
    assert tokens is not None
    given = [tokens.create("Robot"), tokens.renew("Robot")]
    tokens.revoke("Robot")
    assert [op for op, _ in rows(workspace, "tokens")] == ["revoke", "renew", "create"]
    assert all("Robot" in result for _, result in rows(workspace, "tokens"))
    logged = str(workspace.audit.entries())
    assert not any(token in logged for token in given)


async def test_sources(workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "Desk"
    folder.mkdir()
    sources = workspace.sources
    kept = FolderConfig(id="desk", name="Desk", folder=str(folder))
    await sources.add(kept)
    await sources.change(kept)
    await sources.change(kept.model_copy(update={"name": "Table"}))
    await sources.set_paused("desk", True)
    await sources.set_paused("desk", False)
    await sources.remove("desk")
    logged = rows(workspace, "sources")
    assert [op for op, _ in logged] == ["remove", "resume", "pause", "change", "add"]
    assert logged[-1][1] == "Added the source Desk." and logged[0][1] == "Removed the source Table."
