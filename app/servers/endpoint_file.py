"""How a process finds the one that has a vault open: `door.json` in the vault's data folder.

Only who can read the user's files can read it, and with it the token that opens the door on this machine.
It names its process by number and start, so that what a crash left behind is not taken for a door: another
program may have the port by now.
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
"""Two looks at the start of one process differ by rounding, and by a clock that was set meanwhile."""


class _EndpointFile(BaseModel):
    """What stands in the file."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    port: int
    token: str
    pid: int
    started: float
    version: str
    holder: Holder = "desktop"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the process that has a vault open listens; `token` lets in who could read it.

    `holder` says what it is: a "headless" one makes way for a window.
    """

    port: int
    token: str
    pid: int
    version: str
    holder: Holder = "desktop"

    @property
    def address(self) -> str:
        """The root of its addresses."""
        return f"http://127.0.0.1:{self.port}"


def new_endpoint(port: int, holder: Holder = "desktop") -> Endpoint:
    """The sign of this process, with a new token, before others can read it."""
    return Endpoint(port, secrets.token_urlsafe(32), os.getpid(), __version__, holder)


def publish(folder: Path, sign: Endpoint) -> None:
    """Tell other processes of this user that this one has the vault open.

    Args:
        folder: The vault's data folder.
        sign: Where it listens already.

    Raises:
        StorageError: the disk refused.
    """
    started = psutil.Process(sign.pid).create_time()
    write_private(_file(folder), _EndpointFile(started=started, **asdict(sign)).model_dump_json().encode())


def unpublish(folder: Path, sign: Endpoint) -> None:
    """Remove the file, if it is still this one's."""
    with suppress(OSError, ValidationError):
        if _EndpointFile.model_validate_json(_file(folder).read_bytes()).token == sign.token:
            _file(folder).unlink()


def find_endpoint(root: Path) -> Endpoint | None:
    """The door of the process that has the vault at `root` open; None where there is none."""
    folder = paths.data_folder() / "vaults" / paths.vault_id(root)
    try:
        said = _EndpointFile.model_validate_json(_file(folder).read_bytes())
    except (OSError, ValidationError):
        return None
    try:
        started = psutil.Process(said.pid).create_time()
    except psutil.Error:
        return None
    if abs(started - said.started) > _START_TIME_TOLERANCE_S:
        return None
    return Endpoint(said.port, said.token, said.pid, said.version, said.holder)


def _file(folder: Path) -> Path:
    return folder / "door.json"
