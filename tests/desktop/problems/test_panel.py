"""The list of problems over a real vault."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject

from app.desktop.bridge import ServiceThread
from app.desktop.problems import panel as problems
from app.desktop.shell.navigation import Navigation
from app.desktop.shell.panel_context import PanelContext
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import ThemedButton
from tests.desktop.whole_vault import whole_vault


def test_the_title_says_how_many_of_the_problems_are_listed(
    gui, service: ServiceThread, wait_until, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(problems, "_MAX_ROWS", 2)
    notes = {f"{number}.md": "---\nai: [\n---\n" for number in range(3)}

    async def main() -> None:
        async with whole_vault(tmp_path, service, notes) as vault:
            panel = problems.ProblemsPanel(vault.client, ThemeSource("light"))
            await wait_until(lambda: panel.title._count.text())
            assert panel.title._count.text() == "3 files (the first 2 are listed)"
            assert panel.table.topLevelItemCount() == 2
            monkeypatch.undo()
            await panel.reload()
            assert (panel.title._count.text(), panel.table.topLevelItemCount()) == ("3 files", 3)
            panel.deleteLater()

    gui(main())


def test_the_button_requests_a_scan(gui, service: ServiceThread, tmp_path: Path) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, {}) as vault:
            panel = problems.ProblemsPanel(vault.client, ThemeSource("light"))
            context = PanelContext(panel, Navigation(panel), lambda panel_id: {}, QObject(panel), panel)
            problems.connect(panel, context)
            requested: list[str] = []
            context.command_requested.connect(requested.append)
            button = next(each for each in panel.findChildren(ThemedButton) if "Rescan" in each.toolTip())
            button.click()
            assert requested == ["rescan"]
            panel.deleteLater()

    gui(main())
