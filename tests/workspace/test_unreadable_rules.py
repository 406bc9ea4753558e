"""Unreadable permission rules restrict agents until the user decides otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.permissions.caller import Caller, CallerKind
from app.settings import PermissionSettings, Rule, Settings, load_settings, save_settings
from app.settings.storage import permissions_file
from app.toolkit.call import Call
from app.workspace.opening import open_workspace
from tests.support.approver import ScriptedApprover

RULES = (Rule(effect="allow", operations=("update",)), Rule(effect="deny", glob="Secret/**"))
AGENT = Caller(CallerKind.DESKTOP_AGENT, "Agent", turn="t")


async def test_while_the_rules_cannot_be_read_everything_is_asked_about(
    sample_vault: Path, approver: ScriptedApprover
) -> None:
    save_settings(Settings(permissions=PermissionSettings(rules=RULES)))
    permissions_file().write_text("{", "utf-8")
    settings = load_settings()
    settings.embeddings.enabled = False
    (sample_vault / "Tea.md").write_text("Green.\n", "utf-8")
    edit = {"name": "Tea", "op": "append", "text": "Black."}
    workspace = await open_workspace(sample_vault, settings, approver, brief=True)
    try:
        await workspace.start_scan(lambda progress: None)
        assert workspace.unreadable_rules == (str(permissions_file()),)
        for tool, arguments in (("read_note", {"name": "Tea"}), ("edit_note", edit)):
            before = len(approver.asked)
            assert (await workspace.runner.run(Call.of(tool, arguments, AGENT))).success
            assert len(approver.asked) > before, tool
        assert "can't be read" in approver.asked[-1].reason
        secret = {"name": "x", "folder": "Secret", "content": "y"}
        refused = await workspace.runner.run(Call.of("create_note", secret, AGENT))
        assert not refused.success, "the last good rules still deny"
        assert not (sample_vault / "Secret").exists()
        workspace.accept_rules()
        assert workspace.unreadable_rules == ()
        before = len(approver.asked)
        assert (await workspace.runner.run(Call.of("edit_note", edit, AGENT))).success
        assert len(approver.asked) == before
    finally:
        await workspace.close()
    assert load_settings().permissions.rules == RULES


async def test_settings_of_a_vault_that_cannot_be_read_hold_agents_back_too(
    sample_vault: Path, approver: ScriptedApprover
) -> None:
    settings = Settings()
    settings.embeddings.enabled = False
    workspace = await open_workspace(sample_vault, settings, approver, brief=True)
    folder = workspace.journal.folder
    await workspace.close()
    (folder / "settings.json").write_text("{", "utf-8")
    workspace = await open_workspace(sample_vault, settings, approver, brief=True)
    try:
        await workspace.start_scan(lambda progress: None)
        assert workspace.unreadable_rules == (str(folder / "settings.json"),)
        await workspace.runner.run(Call.of("list_tags", {}, AGENT))
        await workspace.runner.run(Call.of("read_note", {"name": "🧭 Start here"}, AGENT))
        assert approver.asked
    finally:
        await workspace.close()


@pytest.mark.parametrize("failing", ["save_settings", "save_vault_settings"])
async def test_rules_that_cannot_be_saved_are_not_accepted(
    sample_vault: Path, approver: ScriptedApprover, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def fail(*args: object) -> None:
        raise OSError("disk full")

    save_settings(Settings(permissions=PermissionSettings(rules=RULES)))
    permissions_file().write_text("{", "utf-8")
    workspace = await open_workspace(sample_vault, load_settings(), approver, brief=True)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(f"app.workspace.workspace.{failing}", fail)
            with pytest.raises(OSError, match="disk full"):
                workspace.accept_rules()
        assert workspace.unreadable_rules == (str(permissions_file()),)
        workspace.accept_rules()
        assert workspace.unreadable_rules == ()
    finally:
        await workspace.close()
    assert load_settings().permissions.rules == RULES
