"""Ask a headless process that has a vault open to yield it to another process."""

from __future__ import annotations

import asyncio
import http.client
import logging
from http import HTTPStatus
from pathlib import Path

from app.servers.endpoint_file import Endpoint, find_endpoint

log = logging.getLogger(__name__)

_YIELD_PATH = "/api/v1/yield"
_ANSWER_TIMEOUT_S = 3.0


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
