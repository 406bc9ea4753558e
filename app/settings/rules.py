"""What callers may do, how often, and in which order: the rules of the settings and of a vault."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Effect = Literal["allow", "ask", "deny"]
OperationName = Literal["read", "create", "update", "delete", "administrative", "execute", "network"]


class Rule(BaseModel):
    """One rule: what happens to these operations on these paths by these callers."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    effect: Effect = Field(title="Effect", description="allow, ask or deny; deny beats ask beats allow.")
    operations: tuple[OperationName, ...] = Field(
        (), title="Operations", description="Which operations; none means all."
    )
    glob: str = Field(
        "**",
        title="Paths",
        description="Glob over vault paths, such as Journal/**, or of another place: memory:*/human.",
    )
    caller: str = Field("*", title="Caller", description="Glob over the caller's kind or name.")
    tool: str = Field("*", title="Tool", description="Glob over the tool's name.")


class CallerProfile(BaseModel):
    """What callers of a name may do at all; several that fit hold together."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    caller: str = Field("*", title="Caller", description="Glob over the caller's kind or name.")
    categories: tuple[str, ...] = Field(
        (), title="Categories", description="Tools of these categories only; none means all."
    )
    tools: tuple[str, ...] = Field(
        (), title="Tools", description="Only these, such as edit_note.append or read_*; none means all."
    )
    folders: tuple[str, ...] = Field(
        (), title="Folders", description="Notes of these folders only; none means the whole vault."
    )
    read_only: bool = Field(False, title="Only reads", description="It may change nothing.")


class CallLimit(BaseModel):
    """How often tools may be called by one caller."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    tool: str = Field("*", title="Tool", description="Glob over the tool's name.")
    per_minute: int | None = Field(None, ge=0, title="A minute", description="Calls a minute at most.")
    pause: float | None = Field(
        None, ge=0, title="Pause (s)", description="Seconds between two calls of the same tool."
    )
    per_turn: int | None = Field(None, ge=0, title="A turn", description="Calls in one turn at most.")


class TurnRule(BaseModel):
    """A rule on the order of an agent's calls in one turn."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    kind: Literal["first", "last", "either"] = Field(
        title="Rule",
        description="first: before any other. last: the turn is over with it. either: only one of them.",
    )
    tools: tuple[str, ...] = Field(title="Tools", description="Globs over the tools' names.")
