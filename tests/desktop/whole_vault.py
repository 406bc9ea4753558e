"""A whole workspace in the service thread for the tests of the window, with the window's own approver."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from app.desktop.bridge import DesktopApprover, ServiceThread, VaultClient
from app.permissions.approval import Approved, Decision
from app.permissions.caller import Caller, CallerKind
from app.settings import Settings
from app.toolkit.call import Call
from app.toolkit.outcome import ToolOutcome
from app.workspace import open_workspace

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Agent", turn="turn-1", uses_model=False)


class WholeVault:
    """The client of an open vault. While `decision` is set every question is answered with it.

    None in its place approves each proposal as it is; `asked` has the questions.
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

    async def call(self, tool: str, arguments: Mapping[str, object], caller: Caller = AGENT) -> ToolOutcome:
        return await self.client.run(lambda workspace: workspace.runner.run(Call.of(tool, arguments, caller)))

    async def save(self, name: str, text: bytes) -> ToolOutcome:
        from app.vault.path import NotePath

        path = NotePath.parse(name)
        before = (self.root / name).read_bytes()
        return await self.client.run(lambda workspace: workspace.runner.run(Call.save(path, before, text)))


@asynccontextmanager
async def whole_vault(
    root: Path, service: ServiceThread, notes: Mapping[str, str]
) -> AsyncIterator[WholeVault]:
    """An open and scanned vault of `notes` at `root`; closed in the end."""
    for name, text in notes.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    approver = DesktopApprover(service)
    settings = Settings()
    settings = settings.model_copy(
        update={"embeddings": settings.embeddings.model_copy(update={"enabled": False})}
    )
    workspace = await service.call(lambda: open_workspace(root, settings, approver))
    client = VaultClient(service, workspace, approver)
    try:
        await client.run(lambda ws: ws.start_scan(lambda _: None))
        yield WholeVault(root, client, approver)
    finally:
        await client.close()
