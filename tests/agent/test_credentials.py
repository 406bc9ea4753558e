"""API keys are saved in and deleted from the system's key store; failures are reported."""

from __future__ import annotations

from collections.abc import Iterator

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail
from keyring.errors import PasswordDeleteError

from app.agent.credentials import CredentialStore


class LockedKeyring(KeyringBackend):
    """A key store that saves keys but deletes none."""

    priority = 1  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.saved: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.saved.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.saved[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        raise PasswordDeleteError("locked")


@pytest.fixture(autouse=True)
def restored_keyring() -> Iterator[None]:
    backend = keyring.get_keyring()
    yield
    keyring.set_keyring(backend)


def test_a_key_that_the_key_store_does_not_delete_is_reported() -> None:
    keyring.set_keyring(LockedKeyring())
    keys = CredentialStore()
    assert keys.set("openai", "", "k") and not keys.set("openai", "", "")
    assert keys.get("openai", "") == "k"


def test_without_a_key_store_a_key_is_kept_in_memory_and_deleted() -> None:
    keyring.set_keyring(fail.Keyring())
    keys = CredentialStore()
    assert not keys.set("other", "", "k") and keys.get("other", "") == "k"
    assert keys.set("other", "", "") and keys.get("other", "") is None
