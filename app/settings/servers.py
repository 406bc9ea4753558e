"""Ways in from outside, and programs outside that the app starts."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.settings.section import SettingsSection
from app.settings.team import RESERVED_NAMES


class ServerSettings(SettingsSection):
    """Programs on this machine that may use the vault's tools while it is open."""

    mcp: bool = Field(
        True,
        title="MCP server",
        description="Programs to which you gave a token may call tools; you approve what they change.",
    )
    http_api: bool = Field(
        False, title="HTTP API", description="The same tools under /api/v1, for programs with a token."
    )
    port: int = Field(
        27482,
        ge=1024,
        le=65535,
        title="Port",
        description="Of this machine only (127.0.0.1); when it is taken, another one is used and shown.",
    )


class ExternalServer(BaseModel):
    """A server of the Model Context Protocol whose tools the agent may use."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    name: str = Field(
        title="Name", description="Stands before its tools' names.", min_length=1, max_length=40
    )
    transport: Literal["stdio", "http"] = Field("stdio", title="How", description="A program, or an address.")
    command: str = Field("", title="Program", description="What is started, for stdio.")
    arguments: tuple[str, ...] = Field((), title="Arguments", description="Of the program.")
    variables: tuple[str, ...] = Field(
        (), title="Variables", description="Names of environment variables that the program gets."
    )
    address: str = Field("", title="Address", description="For http, such as https://example.org/mcp.")
    seconds: int = Field(
        60, ge=1, le=3600, title="Time limit", description="Seconds that one call of a tool may take."
    )
    on: bool = Field(False, title="On", description="Start it with the vault and offer its tools.")


class ExternalSettings(SettingsSection):
    """Tools of other programs, each asked about as an effect, their results never trusted."""

    servers: tuple[ExternalServer, ...] = Field((), title="Servers", description="Servers that you added.")


class AgentProgram(BaseModel):
    """A program that speaks the Agent Client Protocol and can work in the panel."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    name: str = Field(
        pattern=r"^[^\W\d_][\w .'-]{0,39}$", title="Name", description="As the model picker shows it."
    )
    command: str = Field(title="Program", description="What is started.", min_length=1)
    arguments: tuple[str, ...] = Field((), title="Arguments", description="Of the program.")
    variables: tuple[str, ...] = Field(
        (),
        title="Variables",
        description="Names of environment variables that it gets beside the usual ones, such as a key's.",
    )


class AgentProgramSettings(SettingsSection):
    """Agents from outside that can be chosen in the model picker."""

    programs: tuple[AgentProgram, ...] = Field(
        (),
        title="Programs",
        description=(
            "Agents you installed that speak the Agent Client Protocol. They run with all that you may do on"
            " this machine: what they ask for is shown to you, what they write by themselves can be undone."
        ),
    )
    answers: str = Field(
        "",
        title="Who answers",
        description="The name of a program; empty: the built-in agent, the model or the team.",
    )

    @model_validator(mode="after")
    def _names_are_clear(self) -> Self:
        """No name twice, and none that means a way in: the log and the rules know a program by it."""
        names = [one.name.casefold() for one in self.programs]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two programs are called {name}")
            if name in RESERVED_NAMES:
                raise ValueError(f"{name} is the name of something else")
        return self

    @property
    def answering(self) -> AgentProgram | None:
        """The program that answers in the panel; None when none does."""
        return next((one for one in self.programs if one.name == self.answers), None)
