"""API keys of model providers, kept in the system's key store, never in settings, logs or the audit log.

Without a system key store, a key is kept in memory until the app exits, and the front end warns the user.
"""

from __future__ import annotations

import logging
import os
from types import ModuleType

from app import paths

log = logging.getLogger(__name__)


class CredentialStore:
    """Reads and writes one key for each provider and address.

    The environment variable `OPENAI_API_KEY` is the fallback for OpenAI at its default address.
    """

    def __init__(self) -> None:
        self._session: dict[str, str] = {}

    @staticmethod
    def _account(provider: str, address: str) -> str:
        return f"{provider}@{address}" if address else provider

    @property
    def is_persistent(self) -> bool:
        """True if the system has a key store that persists keys."""
        backend = _keyring().get_keyring()
        return backend.priority > 0 and not type(backend).__module__.startswith("keyring.backends.null")

    def get(self, provider: str, address: str) -> str | None:
        """Return the saved key or its fallback; None if there is neither."""
        account = self._account(provider, address)
        if account in self._session:
            return self._session[account]
        keyring = _keyring()
        try:
            saved = keyring.get_password(paths.APP_NAME, account)
        except keyring.errors.KeyringError as error:
            log.warning("cannot read from the system's key store: %s", type(error).__name__)
            saved = None
        return saved or (os.environ.get("OPENAI_API_KEY") if provider == "openai" and not address else None)

    def set(self, provider: str, address: str, key: str) -> bool:
        """Save `key`, or delete the saved key if `key` is empty.

        A key that the system's key store can't save is kept in memory until the app exits.

        Returns:
            True if the system's key store saved or deleted the key. Without a key store, deleting succeeds.
        """
        account = self._account(provider, address)
        self._session.pop(account, None)
        keyring = _keyring()
        try:
            if key and self.is_persistent:
                keyring.set_password(paths.APP_NAME, account, key)
                return True
            if not key and keyring.get_password(paths.APP_NAME, account) is not None:
                keyring.delete_password(paths.APP_NAME, account)
        except keyring.errors.KeyringError as error:
            log.warning("cannot write to the system's key store: %s", type(error).__name__)
            if not key:
                return not self.is_persistent
        if key:
            self._session[account] = key
        return not key


def _keyring() -> ModuleType:
    """Import the key store library on first use, because it slows down startup."""
    import keyring
    import keyring.errors

    return keyring
