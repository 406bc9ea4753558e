"""A vault is joined where it is open, or opened here."""

from __future__ import annotations

import pytest

from app.errors import VaultBusyError
from app.servers.handoff import join_or_open


async def not_joined() -> str | None:
    return None


async def busy() -> str | None:
    raise VaultBusyError("The vault is open in another program.")


async def test_a_vault_that_can_be_joined_is_not_opened() -> None:
    async def joined() -> str | None:
        return "joined"

    assert await join_or_open(joined, busy, 0.0) == "joined"


async def test_a_vault_is_opened_when_it_is_no_longer_busy() -> None:
    attempts: list[str] = []
    waits: list[VaultBusyError] = []

    async def open_here() -> str | None:
        attempts.append("open")
        if len(attempts) == 1:
            return await busy()
        return "opened" if len(attempts) == 3 else None

    assert await join_or_open(not_joined, open_here, 60.0, waits.append) == "opened"
    assert len(waits) == 1, "an opener that must wait reports no busy vault"


async def test_a_vault_that_stays_busy_is_reported() -> None:
    with pytest.raises(VaultBusyError):
        await join_or_open(not_joined, busy, 0.0)
