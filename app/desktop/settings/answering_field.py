"""The setting that chooses the answering agent: the built-in agent, the model, the team or another agent."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox

from app.desktop.widgets.model_form import Editor
from app.settings import AnswerByBuiltIn, AnswerByModel, AnswerByProgram, AnswerByTeam, Settings
from app.settings.answering import Answering


class AnsweringEditor(Editor):
    """Lists the agents that can answer, including those in the team and external agent settings."""

    def __init__(self, settings: Settings) -> None:
        self._box = QComboBox()
        self._choices: list[Answering] = []
        super().__init__(self._box, lambda: self._choices[self._box.currentIndex()])
        self.show_settings(settings)
        self._box.activated.connect(self.emit_value)

    def show_settings(self, settings: Settings) -> None:
        """List the choices of these settings, and select the current one."""
        team, programs, current = settings.team, settings.programs.programs, settings.agent.answering
        labels: dict[Answering, str] = {
            AnswerByBuiltIn(): self.tr("Built-in agent"),
            AnswerByModel(): self.tr("Model: {0}").format(settings.model.model or self.tr("none selected")),
        }
        for name in (member.name for members in (team.agents, team.groups) for member in members):
            labels[AnswerByTeam(name=name)] = name
        labels |= {AnswerByProgram(name=program.name): program.name for program in programs}
        if current not in labels:
            # A removed agent stays visible until the user chooses another one.
            labels[current] = getattr(current, "name", "")
        self._choices = list(labels)
        with QSignalBlocker(self._box):
            self._box.clear()
            self._box.addItems(list(labels.values()))
            self._box.setCurrentIndex(self._choices.index(current))
