"""Options that a program offers to the user, such as modes, models and reasoning effort."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp import schema
    from acp.client.connection import ClientSideConnection

MODE = "mode"


@dataclass(frozen=True, slots=True)
class AcpOptionValue:
    """A value of an option, with its display name and description."""

    value: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class AcpOption:
    """A selectable option; `is_mode` marks one that is set by the protocol's older mode request."""

    id: str
    name: str
    current: str
    choices: tuple[AcpOptionValue, ...]
    is_mode: bool = False

    def with_value(self, value: str) -> AcpOption:
        """Return a copy with another value."""
        return replace(self, current=value)


def session_options(
    modes: schema.SessionModeState | None,
    config: Sequence[schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean] | None,
) -> tuple[AcpOption, ...]:
    """Return the options of a session; modes only if the newer options do not include them."""
    found = config_options(config)
    if modes is not None and not any(one.id == MODE for one in found):
        choices = tuple(
            AcpOptionValue(one.id, one.name, one.description or "") for one in modes.available_modes
        )
        found = (AcpOption(MODE, "Mode", modes.current_mode_id, choices, is_mode=True), *found)
    return tuple(one for one in found if len(one.choices) > 1)


def config_options(
    config: Sequence[schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean] | None,
) -> tuple[AcpOption, ...]:
    """Return the options that select one of several values."""
    from acp import schema

    return tuple(
        AcpOption(one.id, one.name, one.current_value, tuple(_option_values(one.options)))
        for one in config or ()
        if isinstance(one, schema.SessionConfigOptionSelect)
    )


def _option_values(
    options: Sequence[schema.SessionConfigSelectOption] | Sequence[schema.SessionConfigSelectGroup],
) -> list[AcpOptionValue]:
    from acp import schema

    made: list[AcpOptionValue] = []
    for one in options:
        if isinstance(one, schema.SessionConfigSelectGroup):
            made += _option_values(one.options)
        else:
            made.append(AcpOptionValue(one.value, one.name, one.description or ""))
    return made


async def set_option(
    connection: ClientSideConnection, session: str, option: AcpOption, value: str
) -> tuple[AcpOption, ...] | None:
    """Set an option of a session; return all options afterwards, None if the program omits them."""
    if option.is_mode:
        await connection.set_session_mode(session_id=session, mode_id=value)
        return None
    answer = await connection.set_config_option(config_id=option.id, session_id=session, value=value)
    return config_options(answer.config_options) if answer is not None else None


def apply_values(options: tuple[AcpOption, ...], values: Mapping[str, str]) -> tuple[AcpOption, ...]:
    """Return the options with these values set, where an option offers the value."""
    return tuple(
        one.with_value(values[one.id])
        if values.get(one.id) in {choice.value for choice in one.choices}
        else one
        for one in options
    )
