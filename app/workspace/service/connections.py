"""The local server for other programs, their tokens and their connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.errors import VaultBusyError

if TYPE_CHECKING:
    from app.servers.client_registry import ConnectedClient
    from app.servers.local_vault import LocalVaultAccess
    from app.servers.server_state import LocalServerState, OnYield
    from app.servers.tokens import ClientTokens, NamedClient
    from app.workspace.endpoints import Endpoints


class ConnectionService:
    """Lets other programs use the vault."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints

    @property
    def access(self) -> LocalVaultAccess:
        """The vault as other programs and the command line see it."""
        return self._endpoints.local_vault

    async def begin(self) -> str:
        """Open the local server unless the vault is read-only; return a problem or an empty string."""
        return await self._endpoints.begin()

    async def begin_headless(self, on_yield: OnYield) -> int:
        """Open the local server of a process without a window and return its port.

        Args:
            on_yield: Closes the vault when another of the user's processes requests it.

        Raises:
            NetworkError: No port is available, or the vault is closed or open read-only.
            StorageError: The endpoint could not be announced to other processes.
        """
        return await self._endpoints.open("headless", on_yield)

    def state(self) -> LocalServerState:
        """Return the local server's address if it is open, the port setting, problems and rejected tokens."""
        return self._endpoints.state()

    def clients(self) -> tuple[ConnectedClient, ...]:
        """Return the connected programs in the order in which they connected."""
        return self._endpoints.local_vault.clients()

    def named_clients(self) -> tuple[NamedClient, ...]:
        """Return the programs that have a token; none if the vault is open read-only."""
        return self._endpoints.tokens.clients if self._endpoints.tokens is not None else ()

    @property
    def tokens(self) -> ClientTokens:
        """The tokens issued to programs.

        Raises:
            VaultBusyError: The vault is open read-only.
        """
        if self._endpoints.tokens is None:
            raise VaultBusyError("The vault is open read-only; other programs can't connect to it.")
        return self._endpoints.tokens
