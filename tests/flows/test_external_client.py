"""An MCP client renames a note with 40 backlinks: each diff is shown, and one approval commits it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import mcp_types as t
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from app.desktop.approval.dialog import ApprovalDialog
from app.desktop.connections.dialogs import NewProgramDialog, SetUpDialog
from app.desktop.connections.panel import ConnectionsPanel
from app.permissions.audit_entry import AuditFilter
from app.vault.changes import Move, Update
from tests.flows.files import everything_in
from tests.flows.pilot import Pilot
from tests.support.mcp_clients import over_http

LINKING = 40


def linked_vault(root: Path) -> Path:
    """Write a note, and forty others that link to it in different ways."""
    (root / "Notes").mkdir(parents=True)
    (root / "Old name.md").write_text("# The note\n", "utf-8")
    for n in range(LINKING):
        text = f"# Note {n}\n\nBefore it.\nSee [[Old name]] and [[Old name|that {n}]].\nAfter it.\n"
        (root / "Notes" / f"Note {n:02}.md").write_text(text, "utf-8")
    return root


def outside(work: Callable[[], Coroutine[Any, Any, Any]]) -> asyncio.Task[Any]:
    """Run the work of another program in a loop and a thread of its own."""
    return asyncio.ensure_future(asyncio.to_thread(lambda: asyncio.run(work())))


async def connect(pilot: Pilot, name: str) -> tuple[str, str]:
    """Give a program a token on the connections page, and return the server's address and the token."""
    pilot.window.menu.run("show-connections")
    panel = pilot.panel("connections", ConnectionsPanel)
    await pilot.until(lambda: panel.isVisible() and panel.overview is not None, "the page is shown")
    assert panel.overview is not None
    await pilot.click(panel.add_button)
    await pilot.until(lambda: pilot.sheets, "the program is asked for")
    (sheet,) = pilot.sheets
    assert isinstance(sheet, NewProgramDialog)
    sheet.target_box.setCurrentText("Another MCP client")
    sheet.transport_box.setCurrentIndex(sheet.transport_box.findData("http"))
    QTest.keyClicks(sheet.name, name)
    await pilot.click(sheet.connect_button)
    await pilot.until(lambda: any(isinstance(one, SetUpDialog) for one in pilot.sheets), "the token is shown")
    (shown,) = pilot.sheets
    assert isinstance(shown, SetUpDialog)
    token = shown.token.text()
    await pilot.press("Done")
    await pilot.until(lambda: not pilot.sheets, "the sheet is closed")
    return panel.overview.server.address, token


async def read_every_diff(pilot: Pilot, dialog: ApprovalDialog) -> None:
    """Go through the files with the arrow keys and see the difference of each."""
    proposal = dialog.current.request.proposal
    files, page = dialog.page.files, dialog.page
    assert files.model.rowCount() == LINKING + 1 == len(proposal.changes)
    files.view.setFocus()
    for row, change in enumerate(proposal.changes):
        if row:
            QTest.keyClick(files.view, Qt.Key.Key_Down)
        after = change.after if isinstance(change, Update) else None

        def shows(after: bytes | None = after) -> bool:
            shown = page.diff_view.diff
            return shown is not None and (after is None or b"".join(shown.after) == after)

        await pilot.until(shows, f"the difference of {change.path} is shown")
        if isinstance(change, Update):
            diff = page.diff_view.diff
            assert diff is not None and (diff.added, diff.removed) == (1, 1)
            assert b"[[New name]] and [[New name|that" in b"".join(diff.after)


async def undo_at_a_terminal(pilot: Pilot, root: Path) -> None:
    """Run `scriptorium undo` in its own process: it names the call and asks in the open window."""
    command = [sys.executable, "-m", "app", "undo", "--vault", str(root)]
    none = subprocess.DEVNULL
    run = partial(subprocess.run, command, capture_output=True, text=True, stdin=none, check=False)
    ending = asyncio.ensure_future(asyncio.to_thread(run))
    dialog = await pilot.question()
    said = " ".join(label.text() for label in dialog.page.header.findChildren(QLabel))
    assert "Terminal" in said and len(dialog.current.request.proposal.changes) == LINKING + 1
    await pilot.approve()
    ended = await ending
    assert ended.returncode == 0, ended.stderr
    assert "move_note by Laptop" in ended.stderr + ended.stdout


def test_a_rename_with_forty_backlinks_from_outside(app_run, tmp_path: Path) -> None:
    root = linked_vault(tmp_path / "Garden")
    before = everything_in(root)

    async def use(pilot: Pilot) -> None:
        await pilot.open(root)
        address, token = await connect(pilot, "Laptop")

        async def rename() -> t.CallToolResult:
            info = t.Implementation(name="robot", version="1.2")
            async with over_http(address, token, "auto", client_info=info) as client:
                given = {"name": "Old name", "new_name": "New name", "why": "It is clearer."}
                return await client.call_tool("move_note", given)

        calling = outside(rename)
        dialog = await pilot.question()
        await pilot.click(dialog.page.header.details.expand_button)
        said = " ".join(label.text() for label in dialog.page.header.findChildren(QLabel))
        assert "Laptop wants to" in said and "MCP client, calls itself “robot 1.2”" in said
        assert "It is clearer." in said and "updates the links in 40 notes" in said
        moves = [one for one in dialog.current.request.proposal.changes if isinstance(one, Move)]
        assert [(str(one.path), str(one.to)) for one in moves] == [("Old name.md", "New name.md")]
        await read_every_diff(pilot, dialog)
        assert everything_in(root) == before, "nothing is written while it is asked"
        last = await pilot.run(lambda ws: ws.audit.last_commit)
        await pilot.approve()
        result = await calling
        assert not result.is_error and result.structured_content["success"]
        assert len(result.structured_content["rewritten"]) == LINKING
        after = everything_in(root)
        assert "New name.md" in after and "Old name.md" not in after
        assert all(b"Old name" not in text for text in after.values())
        entries = await pilot.run(lambda ws: ws.audit.entries(AuditFilter(caller="Laptop")))
        (entry,) = entries
        assert (entry.tool, entry.decision, entry.caller_kind) == ("move_note", "user-approved", "mcp")
        assert entry.commit == last + 1 == await pilot.run(lambda ws: ws.audit.last_commit)
        panel = pilot.panel("connections", ConnectionsPanel)
        await pilot.until(lambda: [one.entry for one in panel.page.calls.calls] == [entry], "it is listed")
        await undo_at_a_terminal(pilot, root)
        assert everything_in(root) == before
        undone = await pilot.run(lambda ws: ws.audit.entry(entry.id))
        assert undone.undone_by is not None

    app_run(use)
