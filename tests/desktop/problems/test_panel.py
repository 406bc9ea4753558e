"""The list of problems over a real vault."""

from __future__ import annotations

from pathlib import Path

from app.desktop.bridge import ServiceThread
from app.desktop.problems import panel as problems
from app.desktop.theme.theme import ThemeSource
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
