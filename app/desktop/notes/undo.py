"""Undo an audit entry or its turn through the `undo` tool; the user resolves conflicts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.notes.conflict_dialog import ConflictDialog
from app.desktop.runtime.translation import translate
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.permissions.audit_entry import AuditEntry
from app.permissions.caller import Caller
from app.toolkit.call import Call
from app.toolkit.outcome import ToolOutcome
from app.vault.path import NotePath
from app.vault.undo import UndoPlan

if TYPE_CHECKING:
    from app.workspace import VaultService


async def undo(
    client: VaultClient, theme: ThemeSource, window: QWidget, entry: AuditEntry, *, whole_turn: bool
) -> None:
    """Propose to undo the changes of `entry`, or of its whole turn, until none are left.

    If later edits conflict, show both texts and let the user choose. Show any other error in a message.
    """
    arguments: dict[str, object] = {"turn": entry.turn} if whole_turn else {"entry": entry.id}
    is_incomplete = True
    while is_incomplete:
        outcome: ToolOutcome = await client.run(
            lambda vault: vault.call(Call.of("undo", arguments, Caller.user()))
        )
        is_incomplete = outcome.success and outcome.commit is not None and bool(outcome.result.get("left"))
    if outcome.success or outcome.denied:
        return
    if _is_conflict(outcome):
        await _resolve_conflicts(client, theme, window, arguments, outcome)
    else:
        await dialogs.show_message(window, translate("Audit", "This can't be undone"), outcome.message)


async def _resolve_conflicts(
    client: VaultClient,
    theme: ThemeSource,
    window: QWidget,
    arguments: dict[str, object],
    outcome: ToolOutcome,
) -> None:
    """Let the user resolve the conflicts; repeat if a file changes in the meantime. Show any other error."""
    while _is_conflict(outcome):
        plan: UndoPlan = await client.run(lambda vault: vault.history.plan_undo(arguments))
        choices = await _pick_contents(plan, theme, window) if plan.conflicts else {}
        if choices is None:
            return
        outcome = await client.run(partial(_write_choices, plan, choices, arguments))
    if not outcome.success and not outcome.denied:
        await dialogs.show_message(window, translate("Audit", "Could not undo the change"), outcome.message)


async def _pick_contents(
    plan: UndoPlan, theme: ThemeSource, window: QWidget
) -> dict[NotePath, bytes | None] | None:
    """Return the chosen contents of the conflicting files; None if the user cancels."""
    dialog = ConflictDialog(plan.conflicts, theme, window)
    choices: dict[NotePath, bytes | None] = {}
    dialog.accepted.connect(lambda: choices.update(dialog.choices()))
    accepted = await dialogs.run_dialog(dialog) == int(QDialog.DialogCode.Accepted)
    return choices if accepted else None


async def _write_choices(
    plan: UndoPlan,
    choices: dict[NotePath, bytes | None],
    arguments: dict[str, object],
    vault: VaultService,
) -> ToolOutcome:
    return await vault.call(Call.undo(plan, choices, arguments))


def _is_conflict(outcome: ToolOutcome) -> bool:
    return (outcome.error or {}).get("type") == "conflict"
