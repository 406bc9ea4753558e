"""An open vault ends its running calls before it closes its files."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app import paths
from app.events import EventBus
from app.permissions.approval import ApprovalRequest, Decision
from app.permissions.audit import AuditLog
from app.permissions.audit_entry import AuditDecision
from app.permissions.caller import Caller, CallerKind
from app.settings import Settings
from app.toolkit.call import Call
from app.vault.lock import find_holder
from app.workspace.opening import open_workspace
from app.workspace.vault_storage import VaultStorage
from tests.support.approver import ScriptedApprover


async def test_a_call_that_waits_when_the_vault_closes_is_in_the_audit_log(tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def wait_forever(request: ApprovalRequest) -> Decision:
        asked.set()
        return await asyncio.Future()

    root = tmp_path / "Vault"
    root.mkdir()
    settings = Settings()
    settings.embeddings.enabled = False
    workspace = await open_workspace(root, settings=settings, approver=ScriptedApprover(wait_forever))
    call = Call.of("create_note", {"name": "Tea"}, Caller(CallerKind.DESKTOP_AGENT, "Agent"))
    running = asyncio.create_task(workspace.runner.run(call))
    await asyncio.wait_for(asked.wait(), 60)
    await workspace.close()
    with pytest.raises(asyncio.CancelledError):
        await running
    log = AuditLog(paths.vault_data_folder(root), paths.audit_head_file(root))
    try:
        (entry,) = log.matching()
        assert entry.tool == "create_note" and entry.decision == AuditDecision.CANCELLED
    finally:
        log.close()
    assert not list(root.glob("*.md"))


async def test_a_file_that_cannot_be_closed_does_not_keep_the_vault_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = VaultStorage(tmp_path, Settings(), EventBus(), read_only=False)
    close_log = storage.audit.close

    def fail() -> None:
        close_log()
        raise OSError("The disk failed.")

    monkeypatch.setattr(storage.audit, "close", fail)
    assert storage.pending is not None
    storage.pending.close()
    with pytest.raises(OSError, match="The disk failed"):
        await storage.close()
    assert find_holder(storage.shared) is None
