"""The grants panel on a real vault: active grants, their use, and revoking them."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QLabel, QPushButton

from app.desktop.approval.grants_panel import GrantsPanel
from app.desktop.bridge import ServiceThread
from app.desktop.theme.theme import ThemeSource
from app.permissions.approval import GrantOffer
from app.permissions.scope import Operation
from tests.desktop.whole_vault import whole_vault

NOTES = {"Ideas/A.md": "# A\n"}
OFFER = GrantOffer("", Operation.UPDATE, tool="edit_note", folder="Ideas", minutes=30)


def cards(panel: GrantsPanel) -> list[QPushButton]:
    return [b for b in panel.findChildren(QPushButton) if b.property("grant") and b.isVisibleTo(panel)]


def texts(panel: GrantsPanel) -> str:
    return "\n".join(label.text() for label in panel.findChildren(QLabel) if label.isVisibleTo(panel))


def test_a_grant_is_listed_counted_and_revoked(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            panel = GrantsPanel(vault.client, ThemeSource("light"))
            await vault.run(lambda ws: ws.grants.add(OFFER))
            await wait_until(lambda: len(panel.grants) == 1)
            assert "not used yet   ·   30 minutes left" in texts(panel)
            await vault.call("edit_note", {"name": "A", "op": "append", "text": "x"})
            assert vault.asked == []
            await wait_until(lambda: panel.grants[0].used == 1)
            assert "used once" in texts(panel)
            (button,) = cards(panel)
            assert button.property("grant") == panel.grants[0].id
            await panel.load()
            assert cards(panel) == [button], "what says the same stays, and with it the keyboard's focus"
            button.click()
            await wait_until(lambda: panel.grants == ())
            await vault.call("edit_note", {"name": "A", "op": "append", "text": "y"})
            assert len(vault.asked) == 1, "without the grant it asks again"

    gui(main())


def test_the_toggles_of_the_session_are_the_gates_own(gui, service, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, NOTES) as vault:
            panel = GrantsPanel(vault.client, ThemeSource("light"))
            await panel.load()
            assert panel.toggles[Operation.DELETE].isHidden(), "deleting is unlocked in the settings alone"
            panel.toggles[Operation.UPDATE].click()
            await wait_until(lambda: len(panel.grants) == 1)
            await vault.call("edit_note", {"name": "A", "op": "append", "text": "x"})
            assert vault.asked == []
            await vault.run(lambda ws: ws.grants.set_session(Operation.UPDATE, False))
            await wait_until(lambda: not panel.toggles[Operation.UPDATE].isChecked())

    gui(main())
