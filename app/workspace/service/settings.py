"""The user's and the vault's settings, and the keys for online services."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from app.agent import models

if TYPE_CHECKING:
    from app.settings import Settings, VaultSettings
    from app.workspace.workspace import Workspace


class SettingsService:
    """Reads and changes settings, and applies the changes."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @property
    def current(self) -> Settings:
        """The user's settings."""
        return self._workspace.settings

    @property
    def of_vault(self) -> VaultSettings:
        """This vault's settings."""
        return self._workspace.vault_settings

    def apply(self, settings: Settings) -> None:
        """Apply saved settings now.

        The index settings, except `check_minutes`, and the journal settings take effect when the vault is
        reopened.
        """
        self._workspace.apply_settings(settings)

    def change(self, section: str, **values: object) -> None:
        """Change, save and apply some settings of a section.

        Raises:
            InvalidParametersError: A value is invalid.
            OSError: The settings can't be saved; they are unchanged.
        """
        self._workspace.change_settings(section, **values)

    def change_vault(self, settings: VaultSettings) -> None:
        """Replace, save and apply this vault's settings.

        Raises:
            OSError: The settings can't be saved; they are unchanged.
        """
        self._workspace.change_vault_settings(settings)

    def enable_categories(self, ids: Iterable[str]) -> None:
        """Turn tool categories on until the vault is closed, regardless of the settings.

        A category that permissions or the vault's rules turn off stays off.

        Raises:
            InvalidParametersError: There is no such category.
        """
        self._workspace.enable_categories(ids)

    @property
    def unreadable_rules(self) -> tuple[str, ...]:
        """The permission rule files that can't be read; until they are fixed, agents always ask."""
        return self._workspace.unreadable_rules

    def accept_rules(self) -> None:
        """Replace the rules that can't be read with the rules in effect.

        Raises:
            OSError: The rules can't be saved; agents still ask before every call.
        """
        self._workspace.accept_rules()

    # Keys

    def key(self, service: str, account: str) -> str | None:
        """Return the key of an account; None if there is none."""
        return self._workspace.keys.get(service, account)

    def set_key(self, service: str, account: str, key: str) -> bool:
        """Save a key, or delete it if `key` is empty; return whether the system's key store did so."""
        return self._workspace.keys.set(service, account, key)

    @property
    def keeps_keys(self) -> bool:
        """True if the system's key store keeps the keys; otherwise, they are lost when the app quits."""
        return self._workspace.keys.is_persistent

    # Models

    async def local_models(self) -> tuple[tuple[models.Provider, tuple[str, ...]], ...]:
        """Return the model servers that respond on this machine, with their models."""
        return await models.find_local()

    async def check_model(self) -> models.ModelCheck:
        """Check whether the model in the settings works."""
        model = self.current.model
        # Reading the system's key store can block.
        key = await asyncio.to_thread(self.key, model.provider, model.base_url)
        return await models.check(model, key)
