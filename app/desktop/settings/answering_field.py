"""The editor of who answers in the agent panel: the built-in agent, the model, the team, external agents."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox

from app.desktop.widgets.model_form import Editor
from app.settings import AnswerByBuiltIn, AnswerByModel, AnswerByProgram, AnswerByTeam, Settings
from app.settings.answering import Answering


class AnsweringEditor(Editor):
    """Lists everyone who can answer; the list follows the team and the external agents."""

    def __init__(self, settings: Settings) -> None:
        self._box = QComboBox()
        self._choices: list[Answering] = []
        super().__init__(self._box, lambda: self._choices[self._box.currentIndex()])
        self.show_settings(settings)
        self._box.activated.connect(self.emit_value)

    def show_settings(self, settings: Settings) -> None:
        """List the choices of these settings, and select the current one."""
        team, programs, chosen = settings.team, settings.programs.programs, settings.agent.answering
        named: dict[Answering, str] = {
            AnswerByBuiltIn(): self.tr("Built-in agent"),
            AnswerByModel(): self.tr("Model: {0}").format(settings.model.model or self.tr("none selected")),
        }
        for name in (one.name for members in (team.agents, team.groups) for one in members):
            named[AnswerByTeam(name=name)] = name
        named |= {AnswerByProgram(name=one.name): one.name for one in programs}
        if chosen not in named:
            # One that was removed stays visible until another one is chosen.
            named[chosen] = getattr(chosen, "name", "")
        self._choices = list(named)
        with QSignalBlocker(self._box):
            self._box.clear()
            self._box.addItems(list(named.values()))
            self._box.setCurrentIndex(self._choices.index(chosen))
