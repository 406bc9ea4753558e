"""The key and the connection test of a model in the settings, against a server that speaks the protocol."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QComboBox, QWidget

from app.desktop.bridge import ServiceThread
from app.desktop.settings.dialog_factory import create_settings_dialog
from app.desktop.settings.model_page import ModelPage
from app.desktop.theme.theme import ThemeSource
from app.settings import (
    AgentProfile,
    AgentProgram,
    AgentProgramSettings,
    AnswerByModel,
    AnswerByTeam,
    Settings,
)
from tests.desktop.whole_vault import whole_vault
from tests.support.model_server import ModelServer, TextAnswer


@pytest.fixture
def owner(qtbot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


def test_a_wrong_key_is_reported_and_the_right_one_works(
    gui, service: ServiceThread, wait_until, tmp_path: Path, monkeypatch
) -> None:
    async def main() -> None:
        with ModelServer(TextAnswer("ready"), key="right") as server:
            async with whole_vault(tmp_path, service, {"A.md": "a"}) as vault:
                change = {"provider": "openai-compatible", "base_url": server.address, "model": "scripted"}
                await vault.run(lambda ws: ws.change_settings("model", **change))
                model = await vault.run(lambda ws: ws.settings.model)
                picked: list[str] = []
                setup = ModelPage(vault.client, ThemeSource("light"), model, picked.append)
                await wait_until(lambda: setup.key_state.text())
                assert "no key store" in setup.key_state.text()
                setup.key.setText("wrong")
                setup.check()
                await wait_until(lambda: "does not accept the key" in setup.result.text())
                assert setup.key.text() == ""
                setup.key.setText("right")
                setup.save_key()
                await wait_until(lambda: setup.key.text() == "")
                setup.check()
                await wait_until(lambda: "accepts tools" in setup.result.text())
                assert setup.models.count() > 0
                setup.models.activated.emit(0)
                assert picked == [setup.models.itemText(0)]
                setup.remove_key()
                await wait_until(lambda: setup._remove_button.isHidden())
                monkeypatch.setattr(vault.workspace.keys, "set", lambda *_: False)
                setup.remove_key()
                await wait_until(lambda: "could not be removed" in setup.key_state.text())
                setup.deleteLater()

    gui(main())


def test_nothing_is_asked_for_without_a_vault(owner: QWidget) -> None:
    dialog = create_settings_dialog(Settings(), ThemeSource("light"), None, owner)
    dialog.show_section("model")
    (setup,) = dialog.findChildren(ModelPage)
    assert "Open a vault" in setup._status.text()
    assert setup._key_box.isHidden()


def test_the_choice_of_who_answers_lists_the_team_and_programs_and_follows_them(owner: QWidget) -> None:
    settings = Settings()
    settings.programs = AgentProgramSettings(programs=(AgentProgram(name="Claude Code", command="c"),))
    dialog = create_settings_dialog(settings, ThemeSource("light"), None, owner)
    box = dialog.editor_of("agent", "answering").control
    assert isinstance(box, QComboBox)

    def labels() -> list[str]:
        return [box.itemText(row) for row in range(box.count())]

    assert labels() == ["Built-in agent", "Model: none selected", "Claude Code"]
    dialog.set_value("team", "agents", (AgentProfile(name="Anna"),))
    dialog.set_value("model", "model", "qwen3")
    assert labels() == ["Built-in agent", "Model: qwen3", "Anna", "Claude Code"]
    box.setCurrentIndex(2)
    box.activated.emit(2)
    assert dialog.settings.agent.answering == AnswerByTeam(name="Anna")
    dialog.show_section("model")
    (setup,) = dialog.findChildren(ModelPage)
    assert not setup.use_button.isHidden()
    setup.use_button.click()
    assert dialog.settings.agent.answering == AnswerByModel()
    assert box.currentText() == "Model: qwen3" and setup.use_button.isHidden()
    dialog.set_value("agent", "answering", AnswerByTeam(name="Anna"))
    dialog.set_value("team", "agents", ())
    assert box.currentText() == "Anna", "one that is gone stays visible"
