"""The operations of the connection page on the open vault; they run in the service thread. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.desktop.tool_form.labels import category_label
from app.permissions.audit_entry import AuditFilter
from app.permissions.caller import CallerKind
from app.servers.client_registry import ConnectedClient
from app.servers.server_state import LocalServerState
from app.settings import CallerProfile, ServerSettings, Settings

if TYPE_CHECKING:
    from app.servers.tokens import NamedClient
    from app.workspace import VaultService

_GLOB_CHARACTERS = frozenset("*?[]{}")
_CALLER_KINDS = {kind.value for kind in CallerKind}


@dataclass(frozen=True, slots=True)
class ClientProgram:
    """A program that the user added, or that is connected.

    Args:
        name: The program's name, under which its calls are logged.
        token_created: When its token was created, in Unix seconds; None if it has no token.
        last_active: When it last called a tool, in Unix seconds; None if no call is known.
        sessions: Its open connections.
        profile: The permissions that name this program; None if there are none.
    """

    name: str
    token_created: float | None = None
    last_active: float | None = None
    sessions: tuple[ConnectedClient, ...] = ()
    profile: CallerProfile | None = None

    @property
    def open_calls(self) -> int:
        """The number of calls that are waiting or running."""
        return sum(session.open for session in self.sessions)

    @property
    def self_description(self) -> str:
        """The program's own description; empty if it gives none or is not connected."""
        return next((session.client.says for session in self.sessions if session.client.says), "")

    @property
    def is_tainted(self) -> bool:
        """True if a session has read untrusted text, so that every change needs approval."""
        return any(session.tainted for session in self.sessions)

    @property
    def can_have_profile(self) -> bool:
        """True if a profile can apply to it alone: its name is neither a pattern nor a kind of caller."""
        return not (set(self.name) & _GLOB_CHARACTERS) and self.name.casefold() not in _CALLER_KINDS


@dataclass(frozen=True, slots=True)
class CategoryState:
    """A category of tools, and whether it is enabled in this vault."""

    id: str
    name: str
    is_enabled: bool


@dataclass(frozen=True, slots=True)
class ProfileChoices:
    """The values that a profile can contain, and when each program was last active (Unix seconds)."""

    categories: tuple[CategoryState, ...]
    folders: tuple[str, ...]
    tools: tuple[str, ...]
    last_active: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ConnectionsOverview:
    """The state of the local server and the programs."""

    vault: Path
    settings: ServerSettings
    server: LocalServerState
    read_only: bool
    programs: tuple[ClientProgram, ...]
    choices: ProfileChoices


async def read_overview(vault: VaultService, choices: ProfileChoices | None = None) -> ConnectionsOverview:
    """Return the current state of the server and the programs.

    Args:
        vault: The open vault.
        choices: The choices of an earlier call; None reads them, which scans every note.
    """
    if choices is None:
        choices = await _read_choices(vault)
    return ConnectionsOverview(
        vault.root,
        vault.settings.current.servers,
        vault.connections.state(),
        vault.read_only,
        _list_programs(vault, choices.last_active),
        choices,
    )


async def _read_choices(vault: VaultService) -> ProfileChoices:
    disabled = vault.tools.categories_off
    categories = vault.tools.categories
    return ProfileChoices(
        tuple(
            CategoryState(
                category.id, category_label(category.name), category.on and category.id not in disabled
            )
            for category in categories
        ),
        vault.notes.folders(),
        tuple(tool.name for tool in vault.tools.all_tools()),
        {
            name: time
            for name in _list_added_names(vault)
            if (time := _find_last_active(vault, name)) is not None
        },
    )


def _list_programs(vault: VaultService, last_active: Mapping[str, float]) -> tuple[ClientProgram, ...]:
    tokens = _list_tokens(vault)
    profiles = named_profiles(vault.settings.current)
    sessions: dict[str, list[ConnectedClient]] = {}
    for session in vault.connections.clients():
        sessions.setdefault(session.client.name, []).append(session)
    return tuple(
        ClientProgram(
            name,
            tokens[name].made if name in tokens else None,
            max((session.last for session in sessions.get(name, ())), default=last_active.get(name)),
            tuple(sessions.get(name, ())),
            profiles.get(name),
        )
        for name in sorted({*_list_added_names(vault), *sessions}, key=str.casefold)
    )


def _list_added_names(vault: VaultService) -> frozenset[str]:
    """Return the names of the programs that the user added."""
    return frozenset((*_list_tokens(vault), *named_profiles(vault.settings.current)))


def _list_tokens(vault: VaultService) -> dict[str, NamedClient]:
    return {client.name: client for client in vault.connections.named_clients()}


def _find_last_active(vault: VaultService, name: str) -> float | None:
    entries = vault.history.entries(AuditFilter(caller=name), 1)
    return entries[0].time if entries else None


def named_profiles(settings: Settings) -> dict[str, CallerProfile]:
    """Return the profiles of individual programs by name, without those of the team's agents."""
    team = {agent.name for agent in settings.team.agents}
    profiles: dict[str, CallerProfile] = {}
    for profile in settings.permissions.callers:
        name = profile.caller
        if ClientProgram(name).can_have_profile and name not in team:
            profiles.setdefault(name, profile)
    return profiles


def with_profile(settings: Settings, profile: CallerProfile) -> Settings:
    """Return the settings with `profile` in place of its caller's profile, or added if there is none."""
    callers = settings.permissions.callers
    position = next((index for index, caller in enumerate(callers) if caller.caller == profile.caller), None)
    new_callers = (
        (*callers, profile) if position is None else (*callers[:position], profile, *callers[position + 1 :])
    )
    return _with_callers(settings, new_callers)


def without_profile(settings: Settings, name: str) -> Settings:
    """Return the settings without the profiles that name this program."""
    return _with_callers(
        settings, tuple(profile for profile in settings.permissions.callers if profile.caller != name)
    )


def with_servers(settings: Settings, **values: object) -> Settings:
    """Return the settings with these fields of the server settings changed."""
    servers = ServerSettings.model_validate({**settings.servers.model_dump(), **values})
    return settings.model_copy(update={"servers": servers})


def create_token(vault: VaultService, name: str) -> str:
    """Create and return a token for a new program; it can't be read again.

    Raises:
        ScriptoriumError: The name is invalid or taken, or the token could not be saved.
    """
    return vault.connections.tokens.create(name)


def renew_token(vault: VaultService, name: str) -> str:
    """Replace the program's token, or create its first one, and return it.

    Raises:
        ScriptoriumError: The name is invalid, or the token could not be saved.
    """
    tokens = vault.connections.tokens
    has_token = any(client.name == name for client in tokens.clients)
    return tokens.renew(name) if has_token else tokens.create(name)


def revoke_token(vault: VaultService, name: str) -> None:
    """Revoke a program's token, if it has one.

    Raises:
        ScriptoriumError: The change could not be saved.
    """
    tokens = vault.connections.tokens
    if any(client.name == name for client in tokens.clients):
        tokens.revoke(name)


def _with_callers(settings: Settings, callers: tuple[CallerProfile, ...]) -> Settings:
    permissions = settings.permissions.model_copy(update={"callers": callers})
    return settings.model_copy(update={"permissions": permissions})
