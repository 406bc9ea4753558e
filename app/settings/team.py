"""Agents of the team, their groups, and their limits."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.settings.section import SettingsSection

NAME_PATTERN = r"^[^\W\d_][\w .'-]{0,39}$"
"""The pattern of the names of agents, groups and programs.

A letter, then up to 39 letters, digits, underscores, spaces, periods, apostrophes and hyphens.
"""
RESERVED_NAMES = frozenset(
    ("user", "you", "desktop-agent", "mcp", "http", "cli", "plug-in", "built-in", "built-in agent", "model")
)


class AgentProfile(BaseModel):
    """An agent of the team."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    name: str = Field(
        pattern=NAME_PATTERN,
        title="Name",
        description="The name that you and other agents use, such as Researcher.",
    )
    instructions: str = Field("", title="Instructions", description="Its purpose, and how it should work.")
    model: str = Field(
        "",
        title="Model",
        description="Another model on the same server, or built-in. Leave empty for the default.",
    )
    tools: tuple[str, ...] = Field(
        (),
        title="Tools",
        description="Only these tools, such as read_* or edit_note.append. Leave empty for all.",
    )
    read_only: bool = Field(False, title="Read-only", description="It can't change anything.")


class AgentGroup(BaseModel):
    """Agents of the team that answer together."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    name: str = Field(pattern=NAME_PATTERN, title="Name", description="For example, Editors.")
    kind: Literal["supervisor", "round-robin", "pipeline", "voting"] = Field(
        "pipeline",
        title="Workflow",
        description=(
            "Supervisor: the first agent assigns work to the others. Round robin: they take turns, and each "
            "sees all answers. Pipeline: each continues the previous work. Voting: the best answer wins."
        ),
    )
    members: tuple[str, ...] = Field(
        min_length=1, title="Members", description="Names of the team's agents, in order."
    )
    rounds: int = Field(1, ge=1, le=5, title="Rounds", description="The number of rounds of a round robin.")


class TeamSettings(SettingsSection):
    """Agents with their own instructions and tools, and their groups."""

    agents: tuple[AgentProfile, ...] = Field(
        (), title="Agents", description="Additional agents with their own instructions and tools."
    )
    groups: tuple[AgentGroup, ...] = Field((), title="Groups", description="Agents that answer together.")
    max_depth: int = Field(
        3, ge=1, le=10, title="Depth", description="Maximum number of delegations in a chain."
    )
    max_turns: int = Field(20, ge=1, le=200, title="Turns", description="Maximum agent answers per request.")
    max_tokens: int = Field(
        400_000, ge=1000, title="Tokens", description="Maximum tokens for the team per request."
    )

    def agent(self, name: str) -> AgentProfile | None:
        """Return the agent with this name, ignoring case, or None."""
        return next((agent for agent in self.agents if agent.name.casefold() == name.casefold()), None)

    def group(self, name: str) -> AgentGroup | None:
        """Return the group with this name, ignoring case, or None."""
        return next((group for group in self.groups if group.name.casefold() == name.casefold()), None)

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        """Check that names are unique and not reserved, and that all members exist."""
        agents = [agent.name.casefold() for agent in self.agents]
        names = agents + [group.name.casefold() for group in self.groups]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two agents or groups have the name “{name}”")
            if name in RESERVED_NAMES:
                raise ValueError(f"the name “{name}” is reserved")
        for group in self.groups:
            for member in group.members:
                if self.agent(member) is None:
                    raise ValueError(
                        f"the group “{group.name}” has the member “{member}”, which is not an agent"
                    )
        return self
