"""A panel has the same title in its tab, in the menu and in the handbook."""

from __future__ import annotations

import pytest

from app import paths
from app.desktop.help.handbook import ExampleNames, read_handbook
from app.desktop.shell.command_registry import COMMANDS, PANELS, PanelSpec, panel_title

SHOWN_BY_COMMAND = [panel for panel in PANELS if panel.area in ("side", "bottom")]


@pytest.mark.parametrize("panel", SHOWN_BY_COMMAND, ids=lambda panel: panel.id)
def test_a_panel_has_one_title(panel: PanelSpec, qapp) -> None:
    (command,) = (command for command in COMMANDS if command.id == f"show-{panel.id}")
    assert command.title == panel.title == panel_title(panel.id)
    pages = read_handbook(paths.resources_folder() / "handbook", ExampleNames())
    assert panel.title in [page.title for page in pages if panel.id in page.panels]
