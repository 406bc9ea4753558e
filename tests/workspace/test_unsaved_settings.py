"""Settings that can't be saved stay as they were."""

from __future__ import annotations

import pytest

from app.workspace.workspace import SettingsChanged, Workspace


async def test_a_setting_that_cannot_be_saved_does_not_change(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(settings: object) -> None:
        raise OSError("disk full")

    events: list[SettingsChanged] = []
    workspace.events.subscribe(SettingsChanged, events.append)
    before = workspace.settings.model_dump()
    monkeypatch.setattr("app.workspace.workspace.save_settings", fail)
    with pytest.raises(OSError, match="disk full"):
        workspace.change_settings("embeddings", enabled=not workspace.settings.embeddings.enabled)
    assert workspace.settings.model_dump() == before
    assert not events
