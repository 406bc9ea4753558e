"""Agents installed on this machine are listed once and added to the settings by their button."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton

from app.agent.acp.presets import installed_presets
from app.desktop.settings.dialog_factory import create_settings_dialog
from app.desktop.settings.programs_page import ProgramsPage
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.model_form import ModelRows
from app.settings import AgentProgram, AgentProgramSettings, Settings


@pytest.fixture
def on_the_path(tmp_path: Path, monkeypatch) -> Path:
    """Simulate a machine that has Gemini CLI, and Claude Code under both names."""
    for name in ("gemini", "claude-agent-acp", "claude-code-acp"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_only_installed_programs_are_listed_once_with_their_protocol(on_the_path: Path) -> None:
    commands = {preset.name: (preset.command, *preset.arguments) for preset in installed_presets()}
    assert commands == {"Claude Code": ("claude-agent-acp",), "Gemini CLI": ("gemini", "--acp")}


def offered(setup: ProgramsPage) -> list[str]:
    """Return the visible buttons."""
    return [one.accessibleName() for one in setup.findChildren(QPushButton) if one.isVisible()]


def test_the_button_puts_a_program_into_the_list(gui, wait_until, on_the_path: Path) -> None:
    async def main() -> None:
        dialog = create_settings_dialog(Settings(), ThemeSource("light"), None, None)
        dialog.show_section("programs")
        setup = dialog.findChild(ProgramsPage)
        dialog.show()
        await wait_until(lambda: offered(setup) == ["Add Claude Code", "Add Gemini CLI"])
        add = next(one for one in setup.findChildren(QPushButton) if "Claude" in one.accessibleName())
        add.click()
        assert [one.name for one in dialog.settings.programs.programs] == ["Claude Code"]
        rows = dialog.editor_of("programs", "programs").control
        assert isinstance(rows, ModelRows) and len(rows.values) == 1
        await wait_until(lambda: offered(setup) == ["Add Gemini CLI"])
        dialog.close()
        dialog.deleteLater()

    gui(main())


@pytest.mark.parametrize("names", [("Codex", "codex"), ("mcp",), ("9 lives",)])
def test_names_are_clear(names: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"have the name|reserved|pattern"):
        AgentProgramSettings(programs=tuple(AgentProgram(name=name, command="x") for name in names))
