"""Which tools of which servers the user has allowed, each as it was when they did.

Kept in the user's data folder, for all vaults, as the servers are. What is kept of a server holds for the
program or address that it was allowed for, and not for another one that goes by the same name later.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
import time
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.external.foreign_tool import ForeignTool
from app.settings import ExternalServer

log = logging.getLogger(__name__)


class _Kept(BaseModel):
    """What is allowed of one server, by the name that it gives its tools."""

    model_config = ConfigDict(extra="forbid")

    identity: str
    tools: dict[str, ForeignTool] = Field(default_factory=dict)


class _File(BaseModel):
    """All that is kept."""

    model_config = ConfigDict(extra="forbid")

    servers: dict[str, _Kept] = Field(default_factory=dict)


def identity_of(server: ExternalServer) -> str:
    """What makes a server this one: what is started, or the address."""
    said = (
        [server.transport, server.command, *server.arguments]
        if server.transport == "stdio"
        else [server.transport, server.address]
    )
    return hashlib.sha256(json.dumps(said).encode("ascii")).hexdigest()


class Pins:
    """What the user has allowed. `problem` says that the file could not be read and nothing is allowed.

    Args:
        folder: The user's data folder. Each change reads the file anew: another vault may be open in
            another process.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "external-tools.json"
        self.problem = ""
        self._known: tuple[tuple[int, ...], _File] | None = None
        self._load()

    def of(self, server: ExternalServer) -> dict[str, ForeignTool]:
        """The tools that are allowed of `server`, as they were then."""
        return dict(self._kept(server, self._load()).tools)

    def allow(self, server: ExternalServer, tool: ForeignTool) -> None:
        """Allow the tool as it is now."""
        file = self._load()
        kept = self._kept(server, file)
        kept.tools[tool.name] = tool
        file.servers[server.name] = kept
        self._save(file)

    def withdraw(self, server: ExternalServer, tool: str) -> None:
        """Allow the tool no more."""
        file = self._load()
        kept = self._kept(server, file)
        if kept.tools.pop(tool, None) is not None:
            file.servers[server.name] = kept
            self._save(file)

    def forget(self, server: str) -> None:
        """Keep nothing of a server that was removed."""
        file = self._load()
        if file.servers.pop(server, None) is not None:
            self._save(file)

    @staticmethod
    def _kept(server: ExternalServer, file: _File) -> _Kept:
        identity = identity_of(server)
        kept = file.servers.get(server.name)
        return kept if kept is not None and kept.identity == identity else _Kept(identity=identity)

    def _load(self) -> _File:
        """What is kept now, for the caller to change; read anew only where the file is another one."""
        try:
            found = self._path.stat()
            seen = (found.st_ino, found.st_mtime_ns, found.st_size)
            if self._known is None or self._known[0] != seen:
                self._known = (seen, _File.model_validate_json(self._path.read_bytes()))
            return self._known[1].model_copy(deep=True)
        except FileNotFoundError:
            return _File()
        except ValidationError as error:
            aside = self._path.with_suffix(f".damaged-{int(time.time())}.json")
            self._path.replace(aside)
            self.problem = (
                f"The list of allowed tools of other programs could not be read and was set aside as {aside}:"
                " all of them are off until you allow them again."
            )
            log.warning("the allowed external tools could not be read: %s", type(error).__name__)
            return _File()

    def _save(self, file: _File) -> None:
        handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=".external-")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(file.model_dump_json(indent=1))
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(self._path)
