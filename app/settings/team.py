"""Agents of the team, the groups they work in, and how far they may go."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.settings.section import SettingsSection

RESERVED_NAMES = frozenset(
    ("user", "you", "desktop-agent", "mcp", "http", "cli", "plug-in", "built-in", "built-in agent", "model")
)


class AgentProfile(BaseModel):
    """An agent of the team."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    name: str = Field(
        pattern=r"^[^\W\d_][\w .'-]{0,39}$",
        title="Name",
        description="How you and the other agents call it, such as Researcher.",
    )
    instructions: str = Field("", title="Instructions", description="What it is for, and how it is to work.")
    model: str = Field(
        "",
        title="Model",
        description="Another model of the same server; empty: the one of the settings. built-in: none.",
    )
    tools: tuple[str, ...] = Field(
        (), title="Tools", description="Only these, such as read_* or edit_note.append; none means all."
    )
    read_only: bool = Field(False, title="Only reads", description="It may change nothing.")


class AgentGroup(BaseModel):
    """Agents of the team that answer together."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    name: str = Field(pattern=r"^[^\W\d_][\w .'-]{0,39}$", title="Name", description="Such as Editors.")
    kind: Literal["supervisor", "round-robin", "pipeline", "voting"] = Field(
        "pipeline",
        title="How they work",
        description=(
            "Supervisor: the first one gives work to the others. Round robin: one after the other, each sees "
            "what was said. Pipeline: each works on what the one before made. Voting: the best answer wins."
        ),
    )
    members: tuple[str, ...] = Field(
        min_length=1, title="Members", description="Names of agents of the team, in order."
    )
    rounds: int = Field(1, ge=1, le=5, title="Rounds", description="Of a round robin.")


class TeamSettings(SettingsSection):
    """Agents with their own instructions and tools, and the groups they work in."""

    agents: tuple[AgentProfile, ...] = Field(
        (), title="Agents", description="Beside the one that answers by itself."
    )
    groups: tuple[AgentGroup, ...] = Field((), title="Groups", description="Agents that answer together.")
    answers: str = Field(
        "",
        title="Who answers",
        description="The name of an agent or a group; empty: the built-in agent or the model.",
    )
    max_depth: int = Field(
        3, ge=1, le=10, title="Depth", description="How often a request may be handed on, one to the next."
    )
    max_turns: int = Field(
        20, ge=1, le=200, title="Turns", description="How often agents may answer for one request of yours."
    )
    max_tokens: int = Field(
        400_000, ge=1000, title="Tokens", description="All that the team may use for one request of yours."
    )

    def agent(self, name: str) -> AgentProfile | None:
        """The agent of that name, whatever the case."""
        return next((one for one in self.agents if one.name.casefold() == name.casefold()), None)

    def group(self, name: str) -> AgentGroup | None:
        """The group of that name, whatever the case."""
        return next((one for one in self.groups if one.name.casefold() == name.casefold()), None)

    @model_validator(mode="after")
    def _names_are_clear(self) -> Self:
        """No name twice, none that means a way in, and no member that is not there."""
        agents = [one.name.casefold() for one in self.agents]
        names = agents + [one.name.casefold() for one in self.groups]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two agents or groups are called {name}")
            if name in RESERVED_NAMES:
                raise ValueError(f"{name} is the name of something else")
        for group in self.groups:
            for member in group.members:
                if self.agent(member) is None:
                    raise ValueError(f"{group.name}: there is no agent called {member}")
        return self
