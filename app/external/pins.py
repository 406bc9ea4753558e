"""The tools that the user has allowed, each with its description at that time.

They are stored in the user's data folder, for all vaults, like the servers. An entry is valid only for the
program or address that it was allowed for, not for a later server with the same name.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from app.external.remote_tool import RemoteTool
from app.settings import ExternalServer
from app.storage.files import DurableFile


class _ServerPins(BaseModel):
    """The allowed tools of one server, by the server's names."""

    model_config = ConfigDict(extra="forbid")

    identity: str
    tools: dict[str, RemoteTool] = Field(default_factory=dict)


class _PinsFile(BaseModel):
    """The stored file."""

    model_config = ConfigDict(extra="forbid")

    servers: dict[str, _ServerPins] = Field(default_factory=dict)


def identity_of(server: ExternalServer) -> str:
    """Return a hash that identifies a server by its transport and its command line or address."""
    parts = (
        [server.transport, server.command, *server.arguments]
        if server.transport == "stdio"
        else [server.transport, server.address]
    )
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()


class Pins:
    """The tools that the user has allowed, by server.

    If the file could not be read, `problem` is a message about it and no tools are allowed; otherwise
    `problem` is empty.

    Args:
        folder: The user's data folder. The file is read again whenever it has changed, because another
            process may have changed it.
    """

    def __init__(self, folder: Path) -> None:
        # No backup: a revoked permission must not come back.
        self._file = DurableFile(
            folder / "external-tools.json",
            "The list of allowed external tools",
            _PinsFile.model_validate_json,
            _PinsFile,
            "All of them are off until you allow them again.",
            keeps_backup=False,
        )
        self.problem = ""
        self._known: tuple[tuple[int, ...], _PinsFile] | None = None
        self._load()

    def allowed_tools(self, server: ExternalServer) -> dict[str, RemoteTool]:
        """Return the allowed tools of `server`, as they were when the user allowed them."""
        return dict(self._pins_of(server, self._load()).tools)

    def allow(self, server: ExternalServer, tool: RemoteTool) -> None:
        """Allow the tool in its current form.

        Raises:
            OSError: the file can't be written.
        """
        file = self._load()
        pins = self._pins_of(server, file)
        pins.tools[tool.name] = tool
        file.servers[server.name] = pins
        self._save(file)

    def revoke(self, server: ExternalServer, tool: str) -> None:
        """Revoke the permission for a tool, if it has one.

        Raises:
            OSError: the file can't be written.
        """
        file = self._load()
        pins = self._pins_of(server, file)
        if pins.tools.pop(tool, None) is not None:
            file.servers[server.name] = pins
            self._save(file)

    def remove_server(self, server: str) -> None:
        """Remove all entries of a server, if there are any.

        Raises:
            OSError: the file can't be written.
        """
        file = self._load()
        if file.servers.pop(server, None) is not None:
            self._save(file)

    @staticmethod
    def _pins_of(server: ExternalServer, file: _PinsFile) -> _ServerPins:
        identity = identity_of(server)
        pins = file.servers.get(server.name)
        return pins if pins is not None and pins.identity == identity else _ServerPins(identity=identity)

    def _load(self) -> _PinsFile:
        """Return a copy of the stored entries; the file is read again only if it has changed."""
        try:
            status = self._file.path.stat()
        except OSError:
            return _PinsFile()
        signature = (status.st_ino, status.st_mtime_ns, status.st_size)
        if self._known is None or self._known[0] != signature:
            pins, problem = self._file.load()
            self.problem = problem or self.problem
            self._known = (signature, pins)
        return self._known[1].model_copy(deep=True)

    def _save(self, file: _PinsFile) -> None:
        self._file.save(file.model_dump_json(indent=1).encode("utf-8"))
