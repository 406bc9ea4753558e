"""Taking an entry or its turn back, by the same tool as everybody, and settling what conflicts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from app.desktop import dialogs
from app.desktop.bridge import VaultClient
from app.desktop.conflict_dialog import ConflictDialog
from app.desktop.theme import ThemeSource
from app.errors import NotFoundError
from app.permissions.audit_entry import AuditEntry
from app.permissions.caller import Caller
from app.toolkit.outcome import ToolOutcome
from app.vault.changes import Create, Update, before_of
from app.vault.path import NotePath
from app.vault.undo import UndoPlan

if TYPE_CHECKING:
    from app.workspace import Workspace


async def undo(
    client: VaultClient, theme: ThemeSource, window: QWidget, entry: AuditEntry, *, whole_turn: bool
) -> None:
    """Propose to take back what `entry` wrote, or all that its turn wrote; the user is asked as ever.

    Where later edits are in the way, both texts are shown and the user picks.
    """
    arguments: dict[str, object] = {"turn": entry.turn} if whole_turn else {"entry": entry.id}
    outcome: ToolOutcome = await client.run(
        lambda workspace: workspace.runner.call("undo", arguments, Caller.user())
    )
    if outcome.success or outcome.denied:
        return
    error = outcome.error or {}
    commits = error.get("commits")
    if error.get("type") == "conflict" and isinstance(commits, list):
        await _settle(client, theme, window, [int(number) for number in commits])
    else:
        await dialogs.tell(window, _tr("It can't be undone"), outcome.message)


async def _settle(client: VaultClient, theme: ThemeSource, window: QWidget, commits: list[int]) -> None:
    plan = await client.run(lambda workspace: workspace.journal.undo(commits, _reader(workspace)))
    dialog = ConflictDialog(plan.conflicts, theme, window)
    choices: dict[NotePath, bytes | None] = {}
    dialog.accepted.connect(lambda: choices.update(dialog.choices()))
    await dialogs.ask(dialog)
    if choices:
        await _write(client, window, plan, choices)


async def _write(
    client: VaultClient, window: QWidget, plan: UndoPlan, choices: dict[NotePath, bytes | None]
) -> None:
    """Write what the user has settled, as the user's own edits; say what has to be done by hand."""
    left: list[str] = []
    for change in plan.resolve(choices).changes:
        if not isinstance(change, Create | Update):
            left.append(str(change.path))
            continue
        path, before, after = change.path, before_of(change), change.after

        outcome: ToolOutcome = await client.run(partial(_save, path, before, after))
        if not outcome.success:
            left.append(str(path))
    if left:
        words = _tr("These files were left as they are: {0}").format(", ".join(left))
        await dialogs.tell(window, _tr("Not all of it was undone"), words)


async def _save(path: NotePath, before: bytes | None, after: bytes, workspace: Workspace) -> ToolOutcome:
    return await workspace.runner.save(path, before, after)


def _reader(workspace: Workspace) -> Callable[[NotePath], bytes | None]:
    def read(path: NotePath) -> bytes | None:
        try:
            return workspace.store.read(path)
        except NotFoundError:
            return None

    return read


def _tr(text: str) -> str:
    return QCoreApplication.translate("Audit", text)
