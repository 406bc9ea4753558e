"""A whole workspace in the service thread for the window's tests, with the window's own approver."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from app.desktop.bridge import DesktopApprover, ServiceThread, VaultClient
from app.permissions.approval import Approved, Decision
from app.permissions.caller import Caller, CallerKind
from app.settings import Settings
from app.toolkit.call import Call
from app.toolkit.outcome import ToolOutcome
from app.workspace import open_vault
from app.workspace.workspace import Workspace
from tests.desktop.workspace_access import in_workspace, workspace_of

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Agent", turn="turn-1", uses_model=False)


class WholeVault:
    """The client of an open vault; while `decision` is set, it answers every question.

    None approves each proposal unchanged; `asked` has the questions.
    """

    def __init__(self, root: Path, client: VaultClient, approver: DesktopApprover) -> None:
        self.root = root
        self.client = client
        self.approver = approver
        self.answers_itself = True
        self.decision: Decision | None = None
        self.asked: list[object] = []
        approver.asked.connect(self._answer)

    def _answer(self, question) -> None:
        self.asked.append(question)
        if self.answers_itself:
            question.answer(self.decision or Approved(question.request.proposal))

    @property
    def workspace(self) -> Workspace:
        """The parts behind the service, which the window does not see."""
        return workspace_of(self.client)

    async def run(self, fn: Callable[[Workspace], Any]) -> Any:
        """Return the result of `fn(workspace)`, computed in the service thread."""
        return await in_workspace(self.client, fn)

    async def call(self, tool: str, arguments: Mapping[str, object], caller: Caller = AGENT) -> ToolOutcome:
        return await self.client.run(lambda vault: vault.call(Call.of(tool, arguments, caller)))

    async def save(self, name: str, text: bytes) -> ToolOutcome:
        from app.vault.path import NotePath

        path = NotePath.parse(name)
        before = (self.root / name).read_bytes()
        return await self.client.run(lambda vault: vault.call(Call.save(path, before, text)))


@asynccontextmanager
async def whole_vault(
    root: Path, service: ServiceThread, notes: Mapping[str, str]
) -> AsyncIterator[WholeVault]:
    """Open and scan a vault of `notes` at `root`, and close it at the end."""
    for name, text in notes.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    approver = DesktopApprover(service)
    settings = Settings()
    settings = settings.model_copy(
        update={"embeddings": settings.embeddings.model_copy(update={"enabled": False})}
    )
    vault = await service.call(lambda: open_vault(root, settings, approver))
    client = VaultClient(service, vault, approver)
    try:
        await client.run(lambda vault: vault.start_scan(lambda _: None))
        yield WholeVault(root, client, approver)
    finally:
        await client.close()
