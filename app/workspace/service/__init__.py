"""The interface of an open vault for front ends: `VaultService` and its parts."""

from app.workspace.service.vault_service import VaultService

__all__ = ["VaultService"]
