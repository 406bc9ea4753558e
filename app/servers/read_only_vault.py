"""Access to a vault with read-only tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

from app.errors import PermissionDeniedError
from app.servers.vault_access import (
    Client,
    NameKind,
    NotePage,
    OnProgress,
    ToolDescriptor,
    VaultAccess,
    VaultChange,
    WaitMode,
)
from app.toolkit.outcome import ToolOutcome


class ReadOnlyVaultService:
    """A `VaultAccess` with only the tools that change nothing."""

    def __init__(self, service: VaultAccess) -> None:
        self._service = service

    @property
    def name(self) -> str:
        """The vault's name."""
        return self._service.name

    async def tools(self, client: Client) -> tuple[ToolDescriptor, ...]:
        """Return the tools that change nothing."""
        return tuple(entry for entry in await self._service.tools(client) if entry.read_only)

    async def call(
        self,
        client: Client,
        tool: str,
        arguments: Mapping[str, object],
        *,
        wait_mode: WaitMode = "wait",
        claim: str = "",
        progress: OnProgress | None = None,
    ) -> ToolOutcome:
        """Call a tool that changes nothing.

        Raises:
            PermissionDeniedError: the tool can change something, or `client` has no such tool.
            LimitError: too many calls are waiting or running.
        """
        if not any(entry.name == tool for entry in await self.tools(client)):
            raise PermissionDeniedError(
                f"{client.name} has read-only access and can't use {tool}.", tool=tool
            )
        return await self._service.call(
            client, tool, arguments, wait_mode=wait_mode, claim=claim, progress=progress
        )

    async def notes(self, client: Client, after: str = "", limit: int = 200) -> NotePage:
        """Return a page of the notes that `client` may see, sorted by path, after `after`."""
        return await self._service.notes(client, after, limit)

    async def complete(self, client: Client, kind: NameKind, text: str) -> list[str]:
        """Return up to 100 completions of `text`, best first."""
        return await self._service.complete(client, kind, text)

    def changes(self, client: Client) -> AsyncIterator[VaultChange]:
        """Return changes from now on, until the iterator is closed."""
        return self._service.changes(client)
