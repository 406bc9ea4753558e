"""Connections to running programs, and the errors of programs that fail."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from app.agent.acp.options import MODE, AcpOption, apply_values, config_options, merge_options
from app.agent.acp.process import ProgramProcess
from app.errors import NotFoundError, ScriptoriumError, StorageError
from app.settings import AgentProgram

if TYPE_CHECKING:
    from acp import Client, RequestError, schema
    from acp.client.connection import ClientSideConnection

    from app.agent.acp.client import AcpClient


_PROTOCOL_VERSION = 1
_AUTH_REQUIRED = -32000
_START_TIMEOUT_S = 60.0
_CLOSE_TIMEOUT_S = 2.0
_MAX_SHOWN_ERROR_CHARS = 600


class ProgramError(ScriptoriumError):
    """A program failed to start or to continue; `hint` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(eq=False)
class AcpSession:
    """A program's session for a conversation: its id, permissions, cost in dollars and options.

    `is_new`: the program has not received a prompt in it yet.
    """

    id: str
    read_only: bool
    cost: float = 0.0
    is_new: bool = True
    options: tuple[AcpOption, ...] = ()


class AcpConnection:
    """The connection to one running program; `open` creates it.

    `sessions` maps conversation ids to the program's open sessions.
    """

    def __init__(
        self,
        program: AgentProgram,
        process: ProgramProcess,
        rpc: ClientSideConnection,
        client: AcpClient,
    ) -> None:
        self.program = program
        self.process = process
        self.rpc = rpc
        self.client = client
        self.sessions: dict[str, AcpSession] = {}
        self._init_response: schema.InitializeResponse | None = None

    @classmethod
    async def open(cls, program: AgentProgram, root: Path) -> AcpConnection:
        """Start `program` in the vault at `root` and negotiate the protocol.

        Raises:
            ProgramError: The program does not start or does not speak the protocol.
        """
        # The protocol's classes take a second to import.
        await asyncio.to_thread(import_module, "acp")
        from acp.client.connection import ClientSideConnection

        from app.agent.acp.client import AcpClient

        try:
            process = await ProgramProcess.start(program, root)
        except (NotFoundError, StorageError) as error:
            hint = "Install it, or enter its full path in the settings under External agents."
            raise ProgramError(error.message, hint) from error
        client = AcpClient(root)
        # The cast is needed because the library's protocol declares every draft method with all its
        # parameters.
        rpc = ClientSideConnection(cast("Client", client), process.stdin, process.stdout)
        connection = cls(program, process, rpc, client)
        client.on_options_changed = connection._update_options
        try:
            await connection._initialize()
        except BaseException:
            await connection.close(immediately=True)
            raise
        return connection

    @property
    def is_alive(self) -> bool:
        """True if the program is running."""
        return self.process.exit_status is None

    @property
    def can_load(self) -> bool:
        """True if the program can load an earlier session and replay its updates."""
        capabilities = self._init_response.agent_capabilities if self._init_response else None
        return bool(capabilities and capabilities.load_session)

    @property
    def can_resume(self) -> bool:
        """True if the program can resume an earlier session without a replay."""
        capabilities = self._init_response.agent_capabilities if self._init_response else None
        sessions = capabilities.session_capabilities if capabilities else None
        return bool(sessions and sessions.resume is not None)

    async def close(self, *, immediately: bool = False) -> None:
        """Stop the program and its child processes."""
        # Stop the process first, because closing a connection waits for its unsent messages.
        await self.process.terminate(immediately=immediately)
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                await self.rpc.close()

    async def _initialize(self) -> None:
        from acp import RequestError, schema

        capabilities = schema.ClientCapabilities(
            fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=False
        )
        client_info = schema.Implementation(name="scriptorium", title="Scriptorium", version="1")
        try:
            async with asyncio.timeout(_START_TIMEOUT_S):
                self._init_response = await self.rpc.initialize(_PROTOCOL_VERSION, capabilities, client_info)
        except TimeoutError as error:
            message = f"{self.program.name} did not respond within {_START_TIMEOUT_S:.0f} s of starting."
            raise ProgramError(message, self._advice()) from error
        except RequestError as error:
            raise self.explain_error(error) from error
        except (ConnectionError, ValueError) as error:
            raise await self.connection_error("during startup") from error
        if self._init_response.protocol_version != _PROTOCOL_VERSION:
            version = self._init_response.protocol_version
            raise ProgramError(
                f"{self.program.name} speaks version {version} of the protocol;"
                f" this app needs {_PROTOCOL_VERSION}.",
                "Install a version of the program that supports it.",
            )

    def _update_options(self, id_: str, update: object) -> None:
        """Apply a change of mode or options that the program reports."""
        from acp import schema

        for session in self.sessions.values():
            if session.id != id_:
                continue
            match update:
                case schema.CurrentModeUpdate(current_mode_id=mode):
                    session.options = apply_values(session.options, {MODE: mode})
                case schema.ConfigOptionUpdate(config_options=config):
                    session.options = merge_options(session.options, config_options(config))

    async def connection_error(self, when: str) -> ProgramError:
        """Return the error for a program that exited or does not speak the protocol, with its last output."""
        await self.process.wait_ended(1.0)
        status = self.process.exit_status
        if status is None:
            return ProgramError(
                f"{self.program.name} does not speak the Agent Client Protocol.", self._advice()
            )
        status_label = f"exit status {status}" if status >= 0 else f"signal {-status}"
        return ProgramError(f"{self.program.name} exited {when} ({status_label}).", self._advice())

    def explain_error(self, error: RequestError) -> ProgramError:
        """Return a program's error, worded for the user."""
        name = self.program.name
        if error.code == _AUTH_REQUIRED:
            methods = [
                method.name
                for method in (self._init_response.auth_methods if self._init_response else None) or ()
            ]
            methods_hint = f" Login methods: {', '.join(methods)}." if methods else ""
            return ProgramError(
                f"{name} requires you to log in first.",
                f"Start it in a terminal, log in there, then send the message again.{methods_hint}",
            )
        data = error.data if isinstance(error.data, dict) else {}
        details = str(data.get("details") or data.get("message") or "")
        message = f"{error}: {details}" if details and details not in str(error) else str(error)
        return ProgramError(f"{name} reports: {message}"[:_MAX_SHOWN_ERROR_CHARS], self._advice())

    def _advice(self) -> str:
        output = self.process.stderr_tail[-_MAX_SHOWN_ERROR_CHARS:]
        return f"Last output: {output}" if output else "The next message restarts it."
