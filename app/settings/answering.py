"""The four kinds of agents that can answer in the agent panel."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Choice(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AnswerByBuiltIn(_Choice):
    """The built-in agent, which needs no model."""

    kind: Literal["built-in"] = "built-in"


class AnswerByModel(_Choice):
    """The model from the “Model” section."""

    kind: Literal["model"] = "model"


class AnswerByTeam(_Choice):
    """A team agent or group."""

    kind: Literal["team"] = "team"
    name: str


class AnswerByProgram(_Choice):
    """An external agent."""

    kind: Literal["program"] = "program"
    name: str


Answering = Annotated[
    AnswerByBuiltIn | AnswerByModel | AnswerByTeam | AnswerByProgram, Field(discriminator="kind")
]
