"""The endpoint file `door.json` in a vault's data folder, which locates the process that has it open.

Only the user can read the file and the token in it. The file names the process by id and start time, so that
a file left behind by a crash is ignored: another program may use the port by now.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

from app import __version__, paths
from app.servers.server_state import Holder
from app.servers.tokens import write_private

_START_TIME_TOLERANCE_S = 2.0
"""Tolerance for start times of a process, which vary due to rounding and clock changes."""


class _EndpointFile(BaseModel):
    """Content of the file."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    port: int
    token: str
    pid: int
    started: float
    version: str
    holder: Holder = "desktop"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The local server of the process that has a vault open; `token` authenticates the user's programs.

    `holder` is the kind of process: a "headless" one yields the vault to a window.
    """

    port: int
    token: str
    pid: int
    version: str
    holder: Holder = "desktop"

    @property
    def address(self) -> str:
        """The base URL of the server."""
        return f"http://127.0.0.1:{self.port}"


def new_endpoint(port: int, holder: Holder = "desktop") -> Endpoint:
    """Return an endpoint of this process with a new token; it is not published yet."""
    return Endpoint(port, secrets.token_urlsafe(32), os.getpid(), __version__, holder)


def publish(folder: Path, endpoint: Endpoint) -> None:
    """Publish the endpoint to other processes of this user.

    Args:
        folder: The vault's data folder.
        endpoint: The endpoint, which must already be listening.

    Raises:
        StorageError: the file can't be written.
    """
    started = psutil.Process(endpoint.pid).create_time()
    write_private(
        _file(folder), _EndpointFile(started=started, **asdict(endpoint)).model_dump_json().encode()
    )


def unpublish(folder: Path, endpoint: Endpoint) -> None:
    """Remove the file if it still holds this endpoint; leave it if it can't be read or deleted."""
    with suppress(OSError, ValidationError):
        if _EndpointFile.model_validate_json(_file(folder).read_bytes()).token == endpoint.token:
            _file(folder).unlink()


def find_endpoint(root: Path) -> Endpoint | None:
    """Return the endpoint of the process that has the vault at `root` open, or None."""
    folder = paths.data_folder() / "vaults" / paths.vault_id(root)
    try:
        content = _EndpointFile.model_validate_json(_file(folder).read_bytes())
    except (OSError, ValidationError):
        return None
    try:
        started = psutil.Process(content.pid).create_time()
    except psutil.Error:
        return None
    if abs(started - content.started) > _START_TIME_TOLERANCE_S:
        return None
    return Endpoint(content.port, content.token, content.pid, content.version, content.holder)


def _file(folder: Path) -> Path:
    return folder / "door.json"
