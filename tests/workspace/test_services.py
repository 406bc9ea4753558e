"""What the workspace gives to each category of tools, and that front ends see no more than the service."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args, get_type_hints

import pytest

from app.agent.acp.client_tools import agent_read
from app.permissions.caller import Caller
from app.settings import Settings
from app.toolkit.call import Call
from app.tools import CATALOG, FILE_TOOL
from app.workspace import VaultService, open_vault
from app.workspace.workspace import Workspace

TOOLS = (*CATALOG, FILE_TOOL, agent_read)


def declared_services(tool) -> type | None:
    """Return the class of services in the type of the tool's context, if it has one."""
    arguments = get_args(get_type_hints(tool.function)["context"])
    return arguments[0] if arguments else None


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_is_given_the_services_that_its_context_declares(workspace: Workspace, tool) -> None:
    wanted = declared_services(tool)
    if wanted is not None:
        given = workspace.runner.services[tool.category]
        assert isinstance(given, wanted)
        assert all(getattr(given, field.name) is not None for field in fields(given))


def test_no_category_is_given_services_that_none_of_its_tools_uses(workspace: Workspace) -> None:
    used = {tool.category for tool in TOOLS if declared_services(tool) is not None}
    assert set(workspace.runner.services) == used


@pytest.mark.parametrize("path", ["../outside.md", "/etc/hosts", ""])
def test_a_model_sees_no_text_at_an_invalid_path(workspace: Workspace, path: str) -> None:
    assert workspace._model_visibility.visible_text(path) is None


async def test_a_vault_that_is_open_read_only_says_that_nothing_waits(sample_vault) -> None:
    vault = await open_vault(sample_vault, Settings(), None, read_only=True)
    try:
        outcome = await vault.call(Call.of("pending", {"op": "list"}, Caller.user()))
        assert not outcome.success and "read-only" in outcome.message
        assert not vault.is_pending("none")
    finally:
        await vault.close()


def test_the_service_offers_no_part_that_writes_without_a_call(workspace: Workspace) -> None:
    vault = VaultService(workspace)
    behind = (
        "store",
        "journal",
        "index",
        "runner",
        "registry",
        "policy",
        "audit",
        "memory_store",
        "endpoints",
    )
    assert [name for name in behind if hasattr(vault, name)] == []
