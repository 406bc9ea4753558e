"""Hand over a vault: join the process that has it open, open it here, or ask that process to yield it."""

from __future__ import annotations

import asyncio
import http.client
import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path
from typing import TypeVar

from app.errors import VaultBusyError
from app.servers.endpoint_file import Endpoint, find_endpoint

log = logging.getLogger(__name__)

_YIELD_PATH = "/api/v1/yield"
_ANSWER_TIMEOUT_S = 3.0
_POLL_INTERVAL_S = 0.05
T = TypeVar("T")


async def join_or_open(
    join: Callable[[], Awaitable[T | None]],
    open_here: Callable[[], Awaitable[T | None]],
    timeout: float,
    on_busy: Callable[[VaultBusyError], None] = lambda error: None,
) -> T:
    """Join the process that has a vault open, or else open the vault in this process.

    Args:
        join: Connects to the process that has the vault open; returns None if there is none to join.
        open_here: Opens the vault in this process; returns None if it should not be opened here yet.
        timeout: Seconds to wait for a process that has the vault open and can't be joined.
        on_busy: Called with the error while that process is waited for.

    Raises:
        VaultBusyError: The vault could neither be joined nor opened in time.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    while True:
        if (joined := await join()) is not None:
            return joined
        try:
            if (opened := await open_here()) is not None:
                return opened
        except VaultBusyError as error:
            if loop.time() >= deadline:
                raise
            on_busy(error)
        await asyncio.sleep(_POLL_INTERVAL_S)


async def ask_to_yield(root: Path) -> bool:
    """Ask the process that has the vault at `root` open to close it.

    Returns:
        True if it is headless and agreed to close the vault. It releases the lock shortly afterwards.
    """
    endpoint = await asyncio.to_thread(find_endpoint, root)
    if endpoint is None or endpoint.holder != "headless":
        return False
    status = await asyncio.to_thread(_post, endpoint)
    log.info("process %d was asked to close the vault: %s", endpoint.pid, status)
    return status == HTTPStatus.ACCEPTED


def _post(endpoint: Endpoint) -> int:
    """Return the status of the response, or 0 if there is none."""
    connection = http.client.HTTPConnection("127.0.0.1", endpoint.port, timeout=_ANSWER_TIMEOUT_S)
    try:
        connection.request("POST", _YIELD_PATH, b"", {"Authorization": f"Bearer {endpoint.token}"})
        return connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        log.info("process %d did not respond: %s", endpoint.pid, error)
        return 0
    finally:
        connection.close()
