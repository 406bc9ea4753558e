"""A vault and a folder outside it that agents may use."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.memory.block import Permission
from app.permissions.caller import Caller, CallerKind
from app.settings import Settings
from app.sources.config import AgentRules, FileRule, FolderConfig
from app.sources.file_source import FileSource
from app.sources.source import SourceInfo
from app.toolkit.call import Call
from app.toolkit.outcome import ToolOutcome
from app.workspace.opening import open_workspace
from app.workspace.workspace import Workspace
from tests.support.approver import ScriptedApprover

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Agent", turn="turn-1", conversation="talk-1")


@dataclass
class SourcesBench:
    """The vault, the folder, and calls of the agent's tools."""

    workspace: Workspace
    approver: ScriptedApprover
    folder: Path

    @property
    def source(self) -> FileSource:
        (found,) = self.workspace.sources.open_folders()
        return found

    async def add(
        self, *rules: tuple[str, Permission], agents: tuple[AgentRules, ...] = (), name: str = "Desk"
    ) -> SourceInfo:
        """Add the folder as a source."""
        made = tuple(FileRule(glob=glob, permission=permission) for glob, permission in rules)
        config = FolderConfig(id="desk", name=name, folder=str(self.folder), rules=made, agents=agents)
        return await self.workspace.sources.add(config)

    async def file(
        self, op: str, path: str | None = None, caller: Caller = AGENT, **more: object
    ) -> ToolOutcome:
        arguments = {"op": op, **({"path": path} if path is not None else {}), **more}
        return await self.workspace.runner.run(Call.of("file", arguments, caller))

    async def state(self, path: str) -> str:
        outcome = await self.file("status", path)
        assert outcome.success, outcome.message
        return str(outcome.result["state"])

    def block(self, path: str, agent: str = "scriptorium") -> str:
        return self.workspace.memory.store.block(f"file:{self.source.hash8}:{path}", agent).text

    def write(self, path: str, text: str) -> None:
        """Write a file like another program."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())

    def text(self, path: str) -> str:
        return (self.folder / path).read_bytes().decode()


async def opened(root: Path, approver: ScriptedApprover) -> Workspace:
    settings = Settings()
    settings.embeddings.enabled = False
    return await open_workspace(root, settings, approver)


@pytest.fixture
async def desk(tmp_path: Path, approver: ScriptedApprover) -> AsyncIterator[SourcesBench]:
    root, folder = tmp_path / "vault", tmp_path / "desk"
    root.mkdir()
    folder.mkdir()
    (root / "Tea.md").write_text("Leaves.\n", "utf-8")
    (folder / "Plan.txt").write_text("one\ntwo\nthree\n", "utf-8")
    workspace = await opened(root, approver)
    new_desk = SourcesBench(workspace, approver, folder)
    try:
        await workspace.start_scan(lambda progress: None)
        yield new_desk
    finally:
        await new_desk.workspace.close()
