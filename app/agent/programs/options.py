"""What a program lets the person choose: its modes, its models, how long it thinks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp import schema
    from acp.client.connection import ClientSideConnection

MODE = "mode"


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of an option, with its name for people and what it says of itself."""

    value: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """Something that can be chosen; `is_mode` for the older way of the protocol to set it."""

    id: str
    name: str
    current: str
    choices: tuple[Choice, ...]
    is_mode: bool = False

    def now(self, value: str) -> Option:
        """The same with another value."""
        return replace(self, current=value)


def options_of(
    modes: schema.SessionModeState | None,
    config: Sequence[schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean] | None,
) -> tuple[Option, ...]:
    """What a session offers; modes only where they are not among the newer options."""
    found = config_options(config)
    if modes is not None and not any(one.id == MODE for one in found):
        choices = tuple(Choice(one.id, one.name, one.description or "") for one in modes.available_modes)
        found = (Option(MODE, "Mode", modes.current_mode_id, choices, is_mode=True), *found)
    return tuple(one for one in found if len(one.choices) > 1)


def config_options(
    config: Sequence[schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean] | None,
) -> tuple[Option, ...]:
    """The options that are a choice among values."""
    from acp import schema

    return tuple(
        Option(one.id, one.name, one.current_value, tuple(_choices(one.options)))
        for one in config or ()
        if isinstance(one, schema.SessionConfigOptionSelect)
    )


def _choices(
    options: Sequence[schema.SessionConfigSelectOption] | Sequence[schema.SessionConfigSelectGroup],
) -> list[Choice]:
    from acp import schema

    made: list[Choice] = []
    for one in options:
        if isinstance(one, schema.SessionConfigSelectGroup):
            made += _choices(one.options)
        else:
            made.append(Choice(one.value, one.name, one.description or ""))
    return made


async def set_option(
    connection: ClientSideConnection, session: str, option: Option, value: str
) -> tuple[Option, ...] | None:
    """Set an option of a session; all options as they are then, None where the program does not say."""
    if option.is_mode:
        await connection.set_session_mode(session_id=session, mode_id=value)
        return None
    answer = await connection.set_config_option(config_id=option.id, session_id=session, value=value)
    return config_options(answer.config_options) if answer is not None else None


def with_values(options: tuple[Option, ...], values: Mapping[str, str]) -> tuple[Option, ...]:
    """The options with these values, where they have them."""
    return tuple(
        one.now(values[one.id]) if values.get(one.id) in {choice.value for choice in one.choices} else one
        for one in options
    )
