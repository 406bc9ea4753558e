"""Settings for the servers that other programs use, and for the programs that the app starts."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.settings.section import SettingsSection
from app.settings.team import NAME_PATTERN, RESERVED_NAMES


class ServerSettings(SettingsSection):
    """Programs on this machine that may use the vault's tools while it is open."""

    mcp: bool = Field(
        True,
        title="MCP server",
        description="Programs with a token may call tools; you approve their changes.",
    )
    http_api: bool = Field(
        False, title="HTTP API", description="The same tools under /api/v1, for programs with a token."
    )
    port: int = Field(
        27482,
        ge=1024,
        le=65535,
        title="Port",
        description="On this computer only (127.0.0.1). If the port is in use, another is used and shown.",
        json_schema_extra={"group_digits": False},
    )


class ExternalServer(BaseModel):
    """An MCP server whose tools agents may use."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    name: str = Field(
        title="Name", description="The prefix of its tools' names.", min_length=1, max_length=40
    )
    transport: Literal["stdio", "http"] = Field(
        "stdio", title="Connection", description="A program (stdio) or an address (http)."
    )
    command: str = Field("", title="Program", description="The command to start, for stdio.")
    arguments: tuple[str, ...] = Field((), title="Arguments", description="The program's arguments.")
    variables: tuple[str, ...] = Field(
        (), title="Variables", description="Names of environment variables to pass to the program."
    )
    address: str = Field(
        "", title="Address", description="The address for http, such as https://example.org/mcp."
    )
    seconds: int = Field(60, ge=1, le=3600, title="Time limit", description="Maximum seconds per tool call.")
    on: bool = Field(False, title="Enabled", description="Start it with the vault and offer its tools.")


class ExternalSettings(SettingsSection):
    """Tools from other programs; each call needs your approval, and results are never trusted."""

    servers: tuple[ExternalServer, ...] = Field((), title="Servers", description="Servers you added.")


class AgentProgram(BaseModel):
    """A program that supports the Agent Client Protocol and can answer in the panel."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    name: str = Field(pattern=NAME_PATTERN, title="Name", description="The name in the model picker.")
    command: str = Field(title="Program", description="The command to start.", min_length=1)
    arguments: tuple[str, ...] = Field((), title="Arguments", description="The program's arguments.")
    variables: tuple[str, ...] = Field(
        (),
        title="Variables",
        description="Names of additional environment variables to pass to it, such as one for an API key.",
    )


class AgentProgramSettings(SettingsSection):
    """External agents that can be chosen in the model picker."""

    programs: tuple[AgentProgram, ...] = Field(
        (),
        title="Programs",
        description=(
            "Installed agents that support the Agent Client Protocol. They run with your permissions on "
            "this computer. You see their requests, and you can undo changes they make directly."
        ),
    )

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        """Check that names are unique and not reserved: the audit log and rules identify programs by name."""
        names = [program.name.casefold() for program in self.programs]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two programs have the name “{name}”")
            if name in RESERVED_NAMES:
                raise ValueError(f"the name “{name}” is reserved")
        return self
