"""Notifications of clients, and the information that they must not contain."""

from __future__ import annotations

from app.index.records import IndexUpdated
from app.permissions.caller import CallerKind
from app.servers.change_stream import ChangeStream
from app.servers.vault_access import Client, VaultChange
from app.vault.path import NotePath
from app.workspace.workspace import Workspace

ROBOT = Client(CallerKind.MCP, "Robot")


async def pending_changes(workspace: Workspace, reader: ChangeStream) -> list[VaultChange]:
    """End the stream and return its pending changes."""
    reader.end()
    return [change async for change in reader]


async def test_a_private_note_is_not_reported_even_when_deleted(workspace: Workspace) -> None:
    secret = workspace.root / "Diary.md"
    reader = workspace.endpoints.local_vault.changes(ROBOT)
    secret.write_text("---\nai: private\n---\nx\n")
    await workspace.index.refresh((NotePath.on_disk("Diary.md"),), ())
    secret.unlink()
    await workspace.index.refresh((), (NotePath.on_disk("Diary.md"),))
    assert await pending_changes(workspace, reader) == []


async def test_many_changes_are_one_notification(workspace: Workspace) -> None:
    reader = workspace.endpoints.local_vault.changes(ROBOT)
    names = [f"Note {number}.md" for number in range(30)]
    for name in names:
        (workspace.root / name).write_text("x\n")
        await workspace.index.refresh((NotePath.on_disk(name),), ())
    (news,) = await pending_changes(workspace, reader)
    assert news == VaultChange("notes", tuple(sorted(names)), listed=True)


async def test_a_slow_reader_keeps_at_most_one_event_of_each_kind(workspace: Workspace) -> None:
    total = len(workspace.index.notes())
    # Until the number of notes is known, every change is one of the list.
    workspace.events.publish(IndexUpdated((), (), total))
    reader = workspace.endpoints.local_vault.changes(ROBOT)
    for number in range(2000):
        path = NotePath.on_disk(f"Note {number}.md")
        workspace.events.publish(IndexUpdated((path,), (), total))
        workspace.endpoints.local_vault.notify_tools_changed()
    assert await pending_changes(workspace, reader) == [VaultChange("notes"), VaultChange("tools")]
