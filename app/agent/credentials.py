"""Keys of model providers: in the system's key store, never in settings, logs or the audit.

Where the system has no key store, a key is kept in memory until the app ends, and the front end says so.
"""

from __future__ import annotations

import logging
import os
from types import ModuleType

from app import paths

log = logging.getLogger(__name__)


class CredentialStore:
    """Reads and writes one key for each provider and address.

    An environment variable (`OPENAI_API_KEY`) serves where nothing was saved for OpenAI itself.
    """

    def __init__(self) -> None:
        self._session: dict[str, str] = {}

    @staticmethod
    def _account(provider: str, address: str) -> str:
        return f"{provider}@{address}" if address else provider

    @property
    def persistent(self) -> bool:
        """Whether the system has a key store that keeps keys."""
        backend = _keyring().get_keyring()
        return backend.priority > 0 and not type(backend).__module__.startswith("keyring.backends.null")

    def get(self, provider: str, address: str) -> str | None:
        """The key, or None when there is none."""
        account = self._account(provider, address)
        if account in self._session:
            return self._session[account]
        keyring = _keyring()
        try:
            saved = keyring.get_password(paths.APP_NAME, account)
        except keyring.errors.KeyringError as error:
            log.warning("the system's key store did not answer: %s", type(error).__name__)
            saved = None
        return saved or (os.environ.get("OPENAI_API_KEY") if provider == "openai" and not address else None)

    def set(self, provider: str, address: str, key: str) -> bool:
        """Keep `key`; empty takes it away. True when the system's store has it, False when only this run."""
        account = self._account(provider, address)
        self._session.pop(account, None)
        keyring = _keyring()
        try:
            if key and self.persistent:
                keyring.set_password(paths.APP_NAME, account, key)
                return True
            if not key and keyring.get_password(paths.APP_NAME, account) is not None:
                keyring.delete_password(paths.APP_NAME, account)
        except keyring.errors.KeyringError as error:
            log.warning("the system's key store refused: %s", type(error).__name__)
        if key:
            self._session[account] = key
        return not key


def _keyring() -> ModuleType:
    """The library that speaks to the system's key store; loaded when a key is wanted, not at each start."""
    import keyring
    import keyring.errors

    return keyring
