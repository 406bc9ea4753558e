"""Background tasks of an open vault are reported when they die, and restarted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from app.embeddings.sync_scheduler import EmbeddingProgressed
from app.servers.endpoint_file import find_endpoint
from app.servers.server_state import LocalServerStateChanged
from app.settings import Settings
from app.task_supervisor import TaskFailed
from app.vault.path import NotePath
from app.vault.watcher import VaultLost
from app.workspace.opening import open_workspace
from app.workspace.workspace import Workspace
from tests.support.approver import ScriptedApprover


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch, errors: list[str]) -> None:
    monkeypatch.setattr("app.task_supervisor.MIN_RESTART_DELAY_S", 0.01)
    errors.append("could not ")


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


async def test_a_watcher_that_dies_is_reported_and_nothing_is_missed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[TaskFailed] = []
    workspace.events.subscribe(TaskFailed, failures.append)
    take = workspace._handle_batch

    async def break_once(batch: object) -> None:
        monkeypatch.setattr(workspace, "_handle_batch", take)
        # This happens while the watcher is not running.
        (workspace.root / "Missed.md").write_text("Nobody saw this.\n", "utf-8")
        raise RuntimeError("a batch that nobody foresaw")

    await end_watching(workspace)
    monkeypatch.setattr(workspace, "_handle_batch", break_once)
    await workspace._watch()
    (workspace.root / "First.md").write_text("This one breaks it.\n", "utf-8")
    await until(lambda: bool(failures))
    assert failures[0] == TaskFailed("watch the vault", "a batch that nobody foresaw", 0.01)
    await until(lambda: workspace.index.note(NotePath("Missed.md")) is not None)
    assert workspace.index.note(NotePath("First.md")) is not None
    (workspace.root / "Later.md").write_text("Watched again.\n", "utf-8")
    await until(lambda: workspace.index.note(NotePath("Later.md")) is not None)


async def end_watching(workspace: Workspace) -> None:
    """Stop the fixture's watcher, so that the next one has other parts."""
    for task in tuple(workspace._supervisor._running.values()):
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    workspace._is_watching = False


async def test_a_watcher_that_cannot_start_does_not_block_the_opening(
    sample_vault: Path, approver: object, monkeypatch: pytest.MonkeyPatch, workspace: Workspace
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise OSError("no more watches")

    failures: list[TaskFailed] = []
    await end_watching(workspace)
    workspace.events.subscribe(TaskFailed, failures.append)
    monkeypatch.setattr("app.workspace.workspace.watch", refuse)
    await workspace._watch()
    await until(lambda: len(failures) > 1)
    assert {failure.reason for failure in failures} == {"no more watches"}


async def test_a_local_server_that_dies_is_reported_and_reopened(workspace: Workspace) -> None:
    failures: list[TaskFailed] = []
    problems: list[str] = []
    workspace.events.subscribe(TaskFailed, failures.append)
    workspace.events.subscribe(LocalServerStateChanged, lambda event: problems.append(event.state.problem))
    await workspace.endpoints.open()
    server = workspace.endpoints.server
    assert server is not None and server._serving is not None
    server._serving.cancel()
    await until(lambda: bool(failures))
    assert failures[0].task == "serve other programs"
    await until(lambda: workspace.endpoints.server is not server and workspace.endpoints.state().port > 0)
    assert any("The local server ended" in problem for problem in problems)
    assert problems[-1] == ""
    sign = find_endpoint(workspace.root)
    assert sign is not None
    async with httpx2.AsyncClient() as client:
        assert (await client.get(f"{sign.address}/")).status_code < 500


async def test_a_vault_that_is_away_while_notes_are_embedded_is_embedded_whole_afterwards(
    tmp_path: Path, approver: ScriptedApprover, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.embeddings.sync_scheduler.BATCH_NOTES", 4)
    root, away = tmp_path / "Vault", tmp_path / "away"
    root.mkdir()
    for number in range(40):
        (root / f"{number}.md").write_text(f"Note {number} is about the number {number}.\n", "utf-8")
    settings = Settings()
    settings.embeddings.on_battery = settings.embeddings.when_busy = "full"
    workspace = await open_workspace(root, settings, approver)
    told: list[tuple[int, int, int]] = []
    moved: list[Path] = []

    def progressed(event: EmbeddingProgressed) -> None:
        told.append((event.done, event.total, workspace.embeddings.vectors.notes))
        if event.done and not moved:
            moved.append(root.rename(away))

    workspace.events.subscribe(EmbeddingProgressed, progressed)
    lost: list[VaultLost] = []
    workspace.events.subscribe(VaultLost, lost.append)
    try:
        await workspace.start_scan(lambda progress: None)
        await until(lambda: bool(lost))
        assert workspace.embeddings.vectors.notes < 40
        away.rename(root)
        await until(lambda: workspace.embeddings.vectors.notes == 40)
        await until(lambda: told[-1][0] == told[-1][1])
        assert all(done <= embedded for done, _, embedded in told), told
    finally:
        await workspace.close()
