"""Installed external agents in the settings, each with a button to add it."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.agent.acp.presets import installed_presets
from app.desktop.runtime import tasks
from app.desktop.widgets.plain_labels import wrapped_label
from app.settings import AgentProgram, AgentProgramSettings


class ProgramsPage(QFrame):
    """Lists known agents that are installed and not in the settings yet.

    `added` carries the agent that the user adds.
    """

    added = Signal(object)

    def __init__(self, settings: AgentProgramSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.setProperty(
            "searchKeywords", self.tr("Agents found on this computer, Claude Code, Codex, Gemini")
        )
        self._settings = settings
        self._installed: tuple[AgentProgram, ...] | None = None
        self._has_searched = False
        title = QLabel(self.tr("Found on this computer"))
        title.setProperty("textSize", "strong")
        self.status = wrapped_label(tone="muted")
        self._rows = QVBoxLayout()
        self._rows.setSpacing(4)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(8)
        column.addWidget(title)
        column.addWidget(self.status)
        column.addLayout(self._rows)
        self._update_rows()

    def showEvent(self, event: QShowEvent) -> None:
        """Look for installed agents when the page is first shown."""
        super().showEvent(event)
        if not self._has_searched:
            self._has_searched = True
            tasks.start(self._find_programs(), owner=self, action=self.tr("look for installed agents"))

    def show_settings(self, settings: AgentProgramSettings) -> None:
        """Apply the current settings."""
        self._settings = settings
        self._update_rows()

    async def _find_programs(self) -> None:
        self._installed = await asyncio.to_thread(installed_presets)
        self._update_rows()

    def _update_rows(self) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        if self._installed is None:
            self.status.setText(self.tr("Searching…"))
            return
        names = {program.name for program in self._settings.programs}
        addable = [program for program in self._installed if program.name not in names]
        for program in addable:
            self._rows.addWidget(self._create_row(program))
        if addable:
            self.status.setText(self.tr("These programs handle their own login. No key is needed here."))
        elif self._installed:
            self.status.setText(self.tr("All programs found are already in the list."))
        else:
            self.status.setText(
                self.tr(
                    "No known agent was found. Install one, such as Claude Code (claude-agent-acp), "
                    "Codex (codex-acp) or Gemini CLI, or add a program yourself."
                )
            )

    def _create_row(self, program: AgentProgram) -> QWidget:
        widget = QWidget()
        row = QHBoxLayout(widget)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        name_label = QLabel(program.name)
        command_label = QLabel(" ".join((program.command, *program.arguments)))
        for label in (name_label, command_label):
            label.setTextFormat(Qt.TextFormat.PlainText)
        command_label.setProperty("tone", "muted")
        add_button = QPushButton(self.tr("Add"))
        add_button.setAccessibleName(self.tr("Add {0}").format(program.name))
        add_button.setToolTip(self.tr("Add {0} to the list that the agent panel offers").format(program.name))
        add_button.clicked.connect(lambda: self.added.emit(program))
        row.addWidget(name_label)
        row.addWidget(command_label, 1)
        row.addWidget(add_button)
        return widget
