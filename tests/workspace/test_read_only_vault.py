"""A vault that is opened read-only."""

from __future__ import annotations

from pathlib import Path

from app import paths
from app.permissions.caller import Caller, CallerKind
from app.servers.vault_access import Client
from app.settings import Settings
from app.toolkit.call import Call
from app.workspace.opening import open_workspace
from tests.support.approver import ScriptedApprover

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Agent", turn="t", uses_model=True)


async def test_a_session_that_only_reads_leaves_nothing_behind(
    root: Path, approver: ScriptedApprover
) -> None:
    await (await open_workspace(root, Settings(), approver, brief=True)).close()
    data = paths.vault_data_folder(root)
    before = {file.relative_to(data) for file in data.rglob("*")}
    reader = await open_workspace(root, Settings(), approver, read_only=True, brief=True)
    assert (await reader.runner.run(Call.of("vault_info", {}, AGENT))).success
    assert reader.audit.entries(), "the session itself has a log"
    await reader.close()
    assert {file.relative_to(data) for file in data.rglob("*")} == before


async def test_tools_that_only_write_are_not_offered_to_agents_and_programs(
    root: Path, approver: ScriptedApprover
) -> None:
    workspace = await open_workspace(root, Settings(), approver, read_only=True, brief=True)
    try:
        offered = {tool.name: tool for tool in workspace.registry.tools(AGENT)}
        entries = {
            one.name for one in await workspace.endpoints.local_vault.tools(Client(CallerKind.MCP, "Robot"))
        }
        whole = {tool.name: tool for tool in workspace.registry.tools(Caller.user())}
    finally:
        await workspace.close()
    assert entries == set(offered) and {"create_note", "merge_nodes", "undo"} <= set(whole) - set(offered)
    assert not any(tool.changes_notes for tool in offered.values())
    assert {"read_note", "vault_info", "send_message"} <= set(offered)
    assert set(offered["block"].operations) == {"list", "load", "info"}
    related = {one.name for one in offered["find_related_nodes"].parameters}
    assert "node_id" in related and "auto_link" not in related
    assert "auto_link" in {one.name for one in whole["find_related_nodes"].parameters}
