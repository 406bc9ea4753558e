"""The one interface of an open vault for every front end: `VaultService` and its parts."""

from app.workspace.service.vault_service import VaultService

__all__ = ["VaultService"]
