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
    """Return a session's options, with the modes unless the config options include them."""
    if modes is None:
        return merge_options((), config_options(config))
    choices = tuple(
        AcpOptionValue(mode.id, mode.name, mode.description or "") for mode in modes.available_modes
    )
    mode_option = AcpOption(MODE, "Mode", modes.current_mode_id, choices, is_mode=True)
    return merge_options((mode_option,), config_options(config))


def merge_options(current: tuple[AcpOption, ...], reported: tuple[AcpOption, ...]) -> tuple[AcpOption, ...]:
    """Return the options that a program currently reports and that offer a choice.

    Reports contain only config options, so the current mode stays unless they include one.
    """
    has_mode = any(option.id == MODE for option in reported)
    modes = () if has_mode else tuple(option for option in current if option.is_mode)
    return tuple(option for option in (*modes, *reported) if len(option.choices) > 1)


def config_options(
    config: Sequence[schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean] | None,
) -> tuple[AcpOption, ...]:
    """Return the options that select one of several values."""
    from acp import schema

    return tuple(
        AcpOption(option.id, option.name, option.current_value, tuple(_option_values(option.options)))
        for option in config or ()
        if isinstance(option, schema.SessionConfigOptionSelect)
    )


def _option_values(
    options: Sequence[schema.SessionConfigSelectOption] | Sequence[schema.SessionConfigSelectGroup],
) -> list[AcpOptionValue]:
    from acp import schema

    values: list[AcpOptionValue] = []
    for option in options:
        if isinstance(option, schema.SessionConfigSelectGroup):
            values += _option_values(option.options)
        else:
            values.append(AcpOptionValue(option.value, option.name, option.description or ""))
    return values


async def set_option(
    connection: ClientSideConnection, session: str, option: AcpOption, value: str
) -> tuple[AcpOption, ...] | None:
    """Set an option of a session; return the config options that the program reports in reply, if any."""
    if option.is_mode:
        await connection.set_session_mode(session_id=session, mode_id=value)
        return None
    response = await connection.set_config_option(config_id=option.id, session_id=session, value=value)
    return config_options(response.config_options) if response is not None else None


def apply_values(options: tuple[AcpOption, ...], values: Mapping[str, str]) -> tuple[AcpOption, ...]:
    """Return the options with these values set, where an option offers the value."""
    return tuple(
        option.with_value(values[option.id])
        if values.get(option.id) in {choice.value for choice in option.choices}
        else option
        for option in options
    )
