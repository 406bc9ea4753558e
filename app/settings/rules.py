"""Rules in the settings and in vaults: what callers may do, how often, and in which order."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Effect = Literal["allow", "ask", "deny"]
OperationName = Literal["read", "create", "update", "delete", "administrative", "execute", "network"]


class Rule(BaseModel):
    """One rule: the effect on these operations on these paths by these callers."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    effect: Effect = Field(
        title="Effect", description="allow, ask or deny. Deny overrides ask, and ask overrides allow."
    )
    operations: tuple[OperationName, ...] = Field(
        (), title="Operations", description="Operations. Leave empty for all."
    )
    glob: str = Field(
        "**",
        title="Paths",
        description="Glob pattern for vault paths, such as Journal/**, or for another store: memory:*/human.",
    )
    caller: str = Field("*", title="Caller", description="Glob pattern for the caller's kind or name.")
    tool: str = Field("*", title="Tool", description="Glob pattern for the tool's name.")


class CallerProfile(BaseModel):
    """Limits for callers with a matching kind or name; all matching profiles apply together."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    caller: str = Field("*", title="Caller", description="Glob pattern for the caller's kind or name.")
    categories: tuple[str, ...] = Field(
        (), title="Categories", description="Only tools in these categories. Leave empty for all."
    )
    tools: tuple[str, ...] = Field(
        (),
        title="Tools",
        description="Only these tools, such as edit_note.append or read_*. Leave empty for all.",
    )
    folders: tuple[str, ...] = Field(
        (), title="Folders", description="Only notes in these folders. Leave empty for the whole vault."
    )
    read_only: bool = Field(False, title="Read-only", description="The caller can't change anything.")


class CallLimit(BaseModel):
    """A limit on each caller's calls to matching tools."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    tool: str = Field("*", title="Tool", description="Glob pattern for the tool's name.")
    per_minute: int | None = Field(None, ge=0, title="Per minute", description="Maximum calls per minute.")
    pause: float | None = Field(
        None, ge=0, title="Pause (s)", description="Minimum seconds between two calls to the same tool."
    )
    per_turn: int | None = Field(None, ge=0, title="Per turn", description="Maximum calls in one turn.")


class TurnRule(BaseModel):
    """A rule on the order of an agent's calls in a turn, or on the choice between tools."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    kind: Literal["first", "last", "either"] = Field(
        title="Rule",
        description="first: before any other tool. last: it ends the turn. either: only one of them.",
    )
    tools: tuple[str, ...] = Field(title="Tools", description="Glob patterns for tool names.")
