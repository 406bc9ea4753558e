"""The menu of agents and models, and what it remembers."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget

from app.agent.acp.options import AcpOption, AcpOptionValue
from app.agent.models import PROVIDERS
from app.agent.transcript import Usage
from app.desktop.agent.labels import full_usage, short_usage
from app.desktop.agent.model_menu import ModelChoice, ModelMenu, RecentModels
from app.settings import (
    AgentGroup,
    AgentProfile,
    AgentProgram,
    AgentProgramSettings,
    AnswerByModel,
    AnswerByProgram,
    AnswerByTeam,
    Settings,
    TeamSettings,
)
from app.settings.answering import Answering

OLLAMA = next(known for known in PROVIDERS if known.id == "ollama")
CLOUD = ModelChoice("openai", "", "gpt-4.1-mini")


def answered_by(answering: Answering) -> Settings:
    settings = Settings()
    settings.model.model = CLOUD.model
    settings.agent.answering = answering
    return settings


def texts(menu: ModelMenu) -> list[str]:
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def test_the_menu_has_the_built_in_agent_the_recent_models_and_the_local_ones(qtbot) -> None:
    owner = QWidget()
    qtbot.addWidget(owner)
    menu = ModelMenu(answered_by(AnswerByModel()), [CLOUD, ModelChoice("ollama", "", "qwen3")], owner)
    menu.show_local([(OLLAMA, ("qwen3", "llama3.2"))])
    assert texts(menu) == [
        "Built-in agent",
        "gpt-4.1-mini  ·  OpenAI",
        "qwen3  ·  Ollama",
        "llama3.2  ·  Ollama",
        "Set up a model…",
        "Set up the team…",
        "Add external agent…",
    ]
    assert [action.isChecked() for action in menu.actions() if action.isCheckable()] == [
        False,
        True,
        False,
        False,
    ]
    chosen: list[ModelChoice] = []
    menu.chosen.connect(chosen.append)
    next(action for action in menu.actions() if action.text() == "llama3.2  ·  Ollama").trigger()
    assert chosen == [ModelChoice("ollama", "", "llama3.2")]


def test_the_team_is_listed_below_and_the_active_agent_is_marked(qtbot) -> None:
    owner = QWidget()
    qtbot.addWidget(owner)
    agents = (AgentProfile(name="Anna"), AgentProfile(name="Bert"))
    duo = AgentGroup(name="Duo", members=("Anna", "Bert"))
    settings = answered_by(AnswerByTeam(name="duo"))
    settings.team = TeamSettings(agents=agents, groups=(duo,))
    menu = ModelMenu(settings, [CLOUD], owner)
    assert texts(menu)[-5:-1] == ["Anna", "Bert", "Duo  ·  pipeline", "Set up the team…"]
    assert [action.text() for action in menu.actions() if action.isChecked()] == ["Duo  ·  pipeline"]
    chosen: list[str] = []
    requested: list[str] = []
    menu.team_chosen.connect(chosen.append)
    menu.setup_requested.connect(requested.append)
    for text in ("Bert", "Set up the team…", "Set up a model…"):
        next(action for action in menu.actions() if action.text() == text).trigger()
    assert chosen == ["Bert"] and requested == ["team", "model"]


def test_external_programs_are_listed_last_and_the_active_one_is_marked(qtbot) -> None:
    owner = QWidget()
    qtbot.addWidget(owner)
    program = AgentProgram(name="Claude Code", command="claude-agent-acp")
    settings = answered_by(AnswerByProgram(name="Claude Code"))
    settings.team = TeamSettings(agents=(AgentProfile(name="Anna"),))
    settings.programs = AgentProgramSettings(programs=(program,))
    menu = ModelMenu(settings, [CLOUD], owner)
    assert texts(menu)[-2:] == ["Claude Code", "Add external agent…"]
    assert [action.text() for action in menu.actions() if action.isChecked()] == ["Claude Code"]
    chosen: list[str] = []
    requested: list[str] = []
    menu.program_chosen.connect(chosen.append)
    menu.setup_requested.connect(requested.append)
    for text in ("Claude Code", "Add external agent…"):
        next(action for action in menu.actions() if action.text() == text).trigger()
    assert chosen == ["Claude Code"] and requested == ["programs"]
    choices = (AcpOptionValue("ask", "Always ask"), AcpOptionValue("plan", "Plan & ask"))
    menu.show_options([AcpOption("mode", "Mode", "ask", choices, is_mode=True)])
    assert texts(menu)[-3:] == ["Claude Code", "Mode: Always ask", "Add external agent…"]
    options: list[tuple[str, str]] = []
    menu.option_chosen.connect(lambda *choice: options.append(choice))
    submenu = next(action.menu() for action in menu.actions() if action.text() == "Mode: Always ask")
    assert [action.isChecked() for action in submenu.actions()] == [True, False]
    submenu.actions()[1].trigger()
    assert options == [("mode", "plan")]


def test_a_machine_without_models_says_so(qtbot) -> None:
    owner = QWidget()
    qtbot.addWidget(owner)
    menu = ModelMenu(Settings(), [], owner)
    menu.show_local([])
    assert "No local models found" in texts(menu)


def test_recent_models_are_remembered_the_latest_first() -> None:
    recent_models = RecentModels()
    for number in range(12):
        recent_models.add(ModelChoice("openai", "", f"m{number}"))
    recent_models.add(ModelChoice("openai", "", "m10"))
    recent_models.add(ModelChoice("built-in"))
    names = [choice.model for choice in RecentModels().list_models()]
    assert names[:3] == ["m10", "m11", "m9"]
    assert len(names) == 8


@pytest.mark.parametrize(
    ("usage", "label"),
    [
        (Usage(cost=0.0), ""),
        (Usage(requests=1, input_tokens=100, output_tokens=20, cost=None), "120 tokens"),
        (Usage(requests=2, input_tokens=1900, output_tokens=100, cost=0.0104), "2.0k tokens · $0.010"),
        (Usage(requests=1, input_tokens=1, cost=0.0004), "1 token · <$0.001"),
        (Usage(requests=1, input_tokens=999_949, cost=0.0006), "999.9k tokens · $0.001"),
        (Usage(requests=1, input_tokens=999_950, cost=None), "1.0M tokens"),
        (Usage(requests=1, input_tokens=1_250_000, cost=3.0), "1.2M tokens · $3.000"),
    ],
)
def test_usage_in_short(usage: Usage, label: str) -> None:
    assert short_usage(usage) == label


def test_usage_adds_up_and_an_unknown_price_stays_unknown() -> None:
    known = Usage(requests=1, input_tokens=10, output_tokens=1, cost=0.5)
    unknown = Usage(requests=1, input_tokens=10, output_tokens=1, cost=None)
    assert known.plus(known).cost == 1.0
    assert known.plus(unknown).cost is None
    assert known.plus(Usage()).cost == 0.5
    assert "Cost unknown" in full_usage(unknown)


def test_a_cost_near_zero_is_not_shown_as_zero() -> None:
    assert "Estimated cost: <$0.0001" in full_usage(Usage(requests=1, input_tokens=10, cost=0.00004))
    assert "Estimated cost: $0.0000" in full_usage(Usage(requests=1, input_tokens=10, cost=0.0))
