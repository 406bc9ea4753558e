"""The menu for choosing who answers: the built-in agent, a model, the team or an external agent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QCoreApplication, QPoint, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from app import paths
from app.agent.acp.options import AcpOption
from app.agent.models import Provider
from app.desktop.agent.labels import provider_label
from app.desktop.shell.window_state import WindowState
from app.settings import Settings

BUILTIN = "built-in"
_MAX_RECENT_MODELS = 8


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model, or the built-in agent.

    Args:
        provider: The id of the model's provider, or `BUILTIN`.
        address: The provider's address; empty for its default address.
        model: The model's name; empty if none is set up.
    """

    provider: str
    address: str = ""
    model: str = ""

    @classmethod
    def from_settings(cls, settings: Settings) -> ModelChoice:
        """Return the model if the settings use one; otherwise, the built-in agent."""
        if not settings.uses_model:
            return cls(BUILTIN)
        return cls(settings.model.provider, settings.model.base_url, settings.model.model)

    @property
    def label(self) -> str:
        """The text of the button under the prompt."""
        if self.provider == BUILTIN:
            return QCoreApplication.translate("ModelMenu", "Built-in")
        return self.model or provider_label(self.provider)


class RecentModels:
    """The recently used models, latest first, stored in the app's data folder."""

    def __init__(self) -> None:
        self._state = WindowState(paths.data_folder() / "models.json")

    def list_models(self) -> tuple[ModelChoice, ...]:
        """Return the recently used models, latest first."""
        rows = self._state.mapping("used").get("models", [])
        return tuple(ModelChoice(*map(str, row)) for row in rows if isinstance(row, list) and len(row) == 3)

    def add(self, choice: ModelChoice) -> None:
        """Put `choice` first; ignore the built-in agent and a provider without a model."""
        if choice.provider == BUILTIN or not choice.model:
            return
        models = [choice, *(other for other in self.list_models() if other != choice)][:_MAX_RECENT_MODELS]
        self._state.save(used={"models": [[model.provider, model.address, model.model] for model in models]})


class ModelMenu(QMenu):
    """The menu; `chosen` carries a `ModelChoice`.

    `team_chosen` carries the name of a team's agent or group, `program_chosen` the name of an external agent,
    `option_chosen` the id and value of an option of the answering agent, `setup_requested` the section of the
    settings to open.
    """

    chosen = Signal(object)
    team_chosen = Signal(str)
    program_chosen = Signal(str)
    option_chosen = Signal(str, str)
    setup_requested = Signal(str)

    def __init__(
        self,
        settings: Settings,
        recent_models: Iterable[ModelChoice],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setToolTipsVisible(True)
        self._button: QWidget | None = None
        self._settings = settings
        current = ModelChoice.from_settings(settings)
        self._current = None if settings.answering_program or settings.answering_agent else current
        self._listed_models: set[ModelChoice] = set()
        self._add_model(
            ModelChoice(BUILTIN), self.tr("Built-in agent"), self.tr("Works offline, without a model")
        )
        models = [model for model in (current, *recent_models) if model.provider != BUILTIN]
        for model in dict.fromkeys(models):
            location = model.address or provider_label(model.provider)
            name = model.model or self.tr("No model selected")
            self._add_model(model, f"{name}  ·  {provider_label(model.provider)}", location)
        self.addSeparator()
        self._search_action = self.addAction(self.tr("Looking for local models…"))
        self._search_action.setEnabled(False)
        self.addSeparator()
        self.addAction(self.tr("Set up a model…"), partial(self.setup_requested.emit, "model"))
        self._add_team()
        self._add_programs()

    def _add_programs(self) -> None:
        """Add the external agents, and an action to add another."""
        self.addSection(self.tr("External agents"))
        current = self._settings.answering_program
        self._program_action: QAction | None = None
        for program in self._settings.programs.programs:
            action = self.addAction(
                program.name.replace("&", "&&"), partial(self.program_chosen.emit, program.name)
            )
            action.setToolTip(self.tr("Starts {0}").format(" ".join((program.command, *program.arguments))))
            action.setCheckable(True)
            action.setChecked(current is not None and program.name == current.name)
            self._program_action = action if action.isChecked() else self._program_action
        self.addAction(self.tr("Add external agent…"), partial(self.setup_requested.emit, "programs"))

    def show_options(self, options: Iterable[AcpOption]) -> None:
        """Add a submenu for each option of the answering external agent, if there is one, below it."""
        actions = self.actions()
        if self._program_action not in actions:
            return
        next_action = actions[actions.index(self._program_action) + 1]
        for option in options:
            names = {choice.value: choice.name for choice in option.choices}
            submenu = QMenu(f"{option.name}: {names.get(option.current, '')}".replace("&", "&&"), self)
            submenu.setToolTipsVisible(True)
            for choice in option.choices:
                action = submenu.addAction(choice.name.replace("&", "&&"))
                action.setToolTip(choice.description)
                action.setCheckable(True)
                action.setChecked(choice.value == option.current)
                action.triggered.connect(partial(self.option_chosen.emit, option.id, choice.value))
            self.insertMenu(next_action, submenu)
        if self._button is not None and self.isVisible():
            self.adjustSize()
            self.move(self._position())

    def _add_team(self) -> None:
        """Add the team's agents and groups, and an action to set up the team."""
        self.addSection(self.tr("Team"))
        for agent in self._settings.team.agents:
            self._add_team_member(agent.name, agent.name, " ".join(agent.instructions.split())[:200])
        for group in self._settings.team.groups:
            text = f"{group.name}  ·  {group.kind.replace('-', ' ')}"
            self._add_team_member(group.name, text, ", ".join(group.members))
        self.addAction(self.tr("Set up the team…"), partial(self.setup_requested.emit, "team"))

    def _add_team_member(self, name: str, label: str, tooltip: str) -> None:
        action = self.addAction(label.replace("&", "&&"), partial(self.team_chosen.emit, name))
        action.setToolTip(tooltip)
        action.setCheckable(True)
        current = self._settings.answering_agent
        action.setChecked(current is not None and name == current.name)

    def show_above(self, button: QWidget) -> None:
        """Open above `button`, and stay there when the menu grows."""
        self._button = button
        self.popup(self._position())

    def _position(self) -> QPoint:
        assert self._button is not None
        corner = self._button.mapToGlobal(self._button.rect().topLeft())
        screen = self._button.screen().availableGeometry()
        size = self.sizeHint()
        left = max(screen.left(), min(corner.x(), screen.right() - size.width()))
        return QPoint(left, max(screen.top(), corner.y() - size.height() - 2))

    def show_local(self, servers: Iterable[tuple[Provider, tuple[str, ...]]]) -> None:
        """Add the models of local servers that are not listed yet, or report that there are none."""
        offers = [(ModelChoice(server.id, "", name), server) for server, names in servers for name in names]
        new_offers = [(choice, server) for choice, server in offers if choice not in self._listed_models]
        for choice, server in new_offers:
            self._add_model(
                choice, f"{choice.model}  ·  {server.label}", server.address, before=self._search_action
            )
        if new_offers:
            self.removeAction(self._search_action)
        else:
            text = self.tr("No other local models") if offers else self.tr("No local models found")
            self._search_action.setText(text)
        if self._button is not None and self.isVisible():
            self.adjustSize()
            self.move(self._position())

    def _add_model(self, choice: ModelChoice, text: str, tooltip: str, before: QAction | None = None) -> None:
        action = QAction(text.replace("&", "&&"), self)
        action.setToolTip(tooltip)
        action.setCheckable(True)
        action.setChecked(choice == self._current)
        action.triggered.connect(partial(self.chosen.emit, choice))
        self.insertAction(before, action) if before is not None else self.addAction(action)
        self._listed_models.add(choice)
