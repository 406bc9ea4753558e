"""Call every tool once on a copy of the sample vault, and print the results.

`scriptorium tools --check` runs this from a checkout. The smoke test of the installers runs it inside the
built program.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from app import paths
from app.embeddings.sync_scheduler import EmbeddingFailed, EmbeddingProgressed
from app.memory.block import Permission
from app.permissions.approval import ApprovalRequest, Approved, Decision, Effect
from app.permissions.caller import Caller, CallerKind
from app.settings import AgentProfile, Settings, TeamSettings, WebSettings
from app.sources.config import FileRule, FolderConfig
from app.toolkit.call import Call
from app.toolkit.services import WebServices
from app.tools import CATALOG, FILE_TOOL
from app.web.access import WebAccess
from tests.smoke.local_pages import LocalPages
from tests.smoke.tool_calls import TOOL_CALLS, ToolCall

if TYPE_CHECKING:
    from app.toolkit.outcome import ToolOutcome
    from app.workspace.workspace import Workspace

PrintLine = Callable[[str], None]
_FOLDER_VARIABLES = ("SCRIPTORIUM_CONFIG", "SCRIPTORIUM_DATA", "SCRIPTORIUM_CACHE", "SCRIPTORIUM_LOGS")
_MAX_LINE_CHARS = 160


class RecordingApprover:
    """Approves everything and records the requests; safe, since the vault is a copy."""

    def __init__(self) -> None:
        self.asked: list[ApprovalRequest] = []

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Approve the proposal."""
        self.asked.append(request)
        return Approved(request.proposal)


def run(print_line: PrintLine = print, calls: Iterable[ToolCall] = TOOL_CALLS) -> int:
    """Run the calls and return the exit status: 1 if a tool failed or has no call."""
    with tempfile.TemporaryDirectory(prefix="scriptorium-tools-") as folder, _own_folders(Path(folder)):
        vault = Path(folder) / "Sample vault"
        shutil.copytree(paths.resources_folder() / "sample-vault", vault)
        _make_repository(vault)
        return asyncio.run(_walk(vault, tuple(calls), print_line))


def _make_repository(vault: Path) -> None:
    """Initialize a git repository in the copy; without git the results report that it is missing."""
    if (program := shutil.which("git")) is not None:
        subprocess.run([program, "init", "--quiet", str(vault)], check=True)


@contextmanager
def _own_folders(folder: Path) -> Iterator[None]:
    """Use separate folders for settings, logs and journal during the check."""
    kept = {name: os.environ.get(name) for name in _FOLDER_VARIABLES}
    os.environ.update({name: str(folder / name.lower()) for name in _FOLDER_VARIABLES})
    try:
        yield
    finally:
        for name, value in kept.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


async def _walk(vault: Path, calls: tuple[ToolCall, ...], print_line: PrintLine) -> int:
    from app.workspace.opening import open_workspace

    approver = RecordingApprover()
    with LocalPages() as pages:
        workspace = await open_workspace(vault, _settings(pages), approver)
        # The guard refuses requests to this machine; only here it lets the check's own server through.
        web = WebAccess(lambda: workspace.settings.web, lambda *_: None, address_policy=pages.reach)
        workspace.runner.services["web"] = WebServices(web)
        try:
            await _read_all(workspace)
            await _add_folder(workspace, vault.with_name("Letters"))
            failed = await _call_all(workspace, approver, calls, print_line, {"local_pages": pages.facts})
        finally:
            await web.close()
            await workspace.close()
    missing = sorted({tool.name for tool in (*CATALOG, FILE_TOOL)} - {call.tool for call in calls})
    print_line(f"{len(calls)} calls, {len(failed)} failed")
    for name in missing:
        print_line(f"{name}: no call in tests/smoke/tool_calls.py")
    return 1 if failed or missing else 0


def _settings(pages: LocalPages) -> Settings:
    """Return default settings with a team agent without a model, and the pages as search provider.

    Notes are embedded as fast on a busy machine.
    """
    made = Settings()
    made.embeddings.on_battery = made.embeddings.when_busy = "full"
    made.team = TeamSettings(agents=(AgentProfile(name="Librarian", model="built-in"),))
    made.web = WebSettings(provider="searxng", address=pages.address)
    return made


async def _add_folder(workspace: Workspace, folder: Path) -> None:
    """Add a folder outside the vault for the file tools."""
    folder.mkdir()
    (folder / "Letter.txt").write_text("Dear Sir,\n", "utf-8")
    rule = FileRule(glob="**", permission=Permission.ADMIN)
    await workspace.sources.add(FolderConfig(id="letters", name="Letters", folder=str(folder), rules=(rule,)))


async def _read_all(workspace: Workspace) -> None:
    """Wait until the notes are indexed and embedded."""
    indexed = asyncio.Event()

    def progressed(event: EmbeddingProgressed) -> None:
        if event.is_over:
            indexed.set()

    workspace.events.subscribe(EmbeddingProgressed, progressed)
    workspace.events.subscribe(EmbeddingFailed, lambda event: indexed.set())
    await workspace.start_scan(lambda progress: None)
    await indexed.wait()


async def _call_all(
    workspace: Workspace,
    approver: RecordingApprover,
    calls: tuple[ToolCall, ...],
    print_line: PrintLine,
    brought: Mapping[str, Mapping[str, object]],
) -> list[str]:
    """Call the tools in order; `brought` are facts that the calls get along with the results so far."""
    for category in workspace.registry.categories:
        workspace.registry.set_category(category.id, on=True)
    results: dict[str, Mapping[str, object]] = dict(brought)
    failed = []
    for call in calls:
        arguments = call.arguments(results) if callable(call.arguments) else call.arguments
        approver.asked.clear()
        caller = Caller(CallerKind.CLI, "tools --check", uses_model=False)
        outcome = await workspace.runner.run(Call.of(call.tool, arguments, caller))
        _print_call(call.tool, json.dumps(arguments, ensure_ascii=False), approver.asked, outcome, print_line)
        if outcome.success:
            results[call.tool] = dict(outcome.result)
        else:
            failed.append(call.tool)
    return failed


def _print_call(
    tool: str, arguments: str, asked: Iterable[ApprovalRequest], outcome: ToolOutcome, print_line: PrintLine
) -> None:
    print_line(f"{'ok    ' if outcome.success else 'FAILED'} {tool} {_short(arguments)}")
    for request in asked:
        print_line(f"         asked: {_short(_proposed(request))}")
    error = outcome.error or {}
    print_line(f"         {_short(outcome.message or str(error.get('message', '')))}")


def _proposed(request: ApprovalRequest) -> str:
    """Return the approved proposal in one line."""
    if isinstance(request.proposal, Effect):
        return request.proposal.text
    changes = (f"{type(change).__name__.lower()} {change.path}" for change in request.proposal.changes)
    return f"{', '.join(changes)} ({request.reason})"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_LINE_CHARS else f"{line[: _MAX_LINE_CHARS - 1]}…"
