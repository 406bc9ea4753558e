"""Answer turns with installed programs that speak the Agent Client Protocol.

A program starts in the vault's folder with its first prompt, serves all conversations, and stops when the app
exits or when it is removed from the settings. It calls the app's tools over MCP, through a server process
that connects to this app, so the gate, the approval dialog, the audit log and undo work as they do for every
other caller. Its own requests also go through the gate. Changes that it makes without asking are detected,
logged as such, and can be undone.

The app cannot know what a program has read, so all of its text is treated as untrusted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from app.agent.acp.connection import AcpConnection, AcpSession, ProgramError
from app.agent.acp.external_edits import ExternalEditTracker
from app.agent.acp.mcp_endpoint import McpEndpoint
from app.agent.acp.options import AcpOption, apply_values, merge_options, session_options, set_option
from app.agent.acp.prompt_context import (
    MCP_SERVER,
    NoteText,
    build_prompt,
    conversation_history,
    session_preamble,
)
from app.agent.acp.session_state import AcpSessionState, load_session_state, save_session_state
from app.agent.turn import Turn
from app.permissions.caller import Caller, CallerKind
from app.settings import AgentProgram, Settings
from app.toolkit.outcome import ToolFinished

if TYPE_CHECKING:
    from acp import schema

    from app.agent.acp.client import AcpTurn

log = logging.getLogger(__name__)

_CANCEL_TIMEOUT_S = 5.0
_NEW_SESSION_TIMEOUT_S = 60.0
_SET_OPTION_TIMEOUT_S = 10.0
_STOP_REASONS = {
    "max_tokens": "{0} stopped: it reached its token limit for one answer.",
    "max_turn_requests": "{0} stopped: it reached its limit of model requests for one answer.",
    "refusal": "{0} refused to continue.",
}


class AcpAgent:
    """Answers each turn with the program that the turn names.

    Args:
        vault: The vault's name.
        root: The vault's folder.
        settings: Returns the current settings.
        note_text: Returns the text of a note for the prompt; None for a note that is hidden from models.
        edits: Detects changes that programs make without the gate.
        notifications: Returns new items from the sources as a block of data, and records in the turn that
            the program received them.
    """

    def __init__(
        self,
        vault: str,
        root: Path,
        settings: Callable[[], Settings],
        note_text: NoteText,
        edits: ExternalEditTracker,
        notifications: Callable[[Turn], str],
    ) -> None:
        self._vault = vault
        self._root = root
        self._settings = settings
        self._note_text = note_text
        self._server = McpEndpoint(root)
        self._notifications = notifications
        self._connections: dict[AgentProgram, AcpConnection] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._chosen_options: dict[str, dict[str, str]] = {}
        self._open_locks: dict[AgentProgram, asyncio.Lock] = {}
        self.edits = edits

    async def respond(self, turn: Turn) -> None:
        """Answer the turn with its program; show a failure as a notice."""
        assert turn.program is not None
        turn.notifications = self._notifications(turn)
        preparing = asyncio.ensure_future(self.edits.prepare())
        try:
            connection = await self._connect(turn.program)
            session = await self._session(connection, turn)
            await preparing
            await self._converse(connection, session, turn)
        except ProgramError as error:
            turn.notice("error", error.message, error.hint)
        finally:
            preparing.cancel()
            await asyncio.gather(preparing, return_exceptions=True)

    def caller_named(self, name: str) -> Caller | None:
        """Return the caller for the program called `name`; None if there is no such program.

        During a turn, that is the turn's caller; between turns, a caller with untrusted text.
        """
        acp_turns = [
            acp_turn
            for connection in self._connections.values()
            for acp_turn in connection.client.turns.values()
        ]
        turns = [
            acp_turn.turn
            for acp_turn in acp_turns
            if acp_turn.turn.agent == name and not acp_turn.is_cancelled
        ]
        if turns:
            return turns[-1].caller
        is_known = any(program.name == name for program in self._settings().programs.programs)
        return Caller(CallerKind.MCP, name, tainted=True) if is_known else None

    def options(self, name: str) -> tuple[AcpOption, ...]:
        """Return the options of the program called `name`; empty before its first conversation."""
        sessions = [
            session
            for program, connection in self._connections.items()
            if program.name == name
            for session in connection.sessions.values()
        ]
        return apply_values(sessions[-1].options, self._chosen_options.get(name, {})) if sessions else ()

    async def set_option(self, name: str, option: str, value: str) -> None:
        """Set an option for all current and future conversations of the program called `name`.

        Raises:
            ProgramError: The program refused the value, lost its connection or did not answer in time.
        """
        from acp import RequestError

        chosen = self._chosen_options.setdefault(name, {})
        previous_choice = chosen.get(option)
        chosen[option] = value
        sessions = [
            (connection, session)
            for program, connection in self._connections.items()
            if program.name == name
            for session in connection.sessions.values()
        ]
        changed: list[tuple[AcpConnection, AcpSession, tuple[AcpOption, ...]]] = []
        try:
            async with asyncio.timeout(_SET_OPTION_TIMEOUT_S):
                for connection, session in sessions:
                    previous = session.options
                    await self._apply_option(connection, session, option, value)
                    changed.append((connection, session, previous))
        except (RequestError, ConnectionError, TimeoutError) as error:
            if previous_choice is None:
                chosen.pop(option, None)
            else:
                chosen[option] = previous_choice
            # Without an answer, the program may have set the value.
            is_unchanged = isinstance(error, RequestError) and await self._restore_option(changed, option)
            detail = f": {error}" if str(error) else ""
            raise ProgramError(
                f"{name} did not accept the option{detail}.",
                "The option is unchanged."
                if is_unchanged
                else "Conversations in progress may use the new value. Choose the option again.",
            ) from error

    async def _restore_option(
        self, changed: list[tuple[AcpConnection, AcpSession, tuple[AcpOption, ...]]], id_: str
    ) -> bool:
        """Restore an option's previous value in the changed sessions; return False if that fails."""
        from acp import RequestError

        try:
            async with asyncio.timeout(_SET_OPTION_TIMEOUT_S):
                for connection, session, previous in changed:
                    for option in previous:
                        if option.id == id_:
                            await self._apply_option(connection, session, id_, option.current)
        except (RequestError, ConnectionError, TimeoutError) as error:
            log.info("could not restore an option of a program: %s", error)
            return False
        return True

    async def close(self) -> None:
        """Stop every program and its child processes, and stop watching the vault's files."""
        connections = list(self._connections.values())
        self._connections.clear()
        closing = (connection.close() for connection in connections)
        await asyncio.gather(*closing, *self._ending, return_exceptions=True)
        self.edits.close()

    # Programs and sessions

    async def _connect(self, program: AgentProgram) -> AcpConnection:
        """Return the connection to the program; start the program if it is not running."""
        await self._end_removed()
        async with self._open_locks.setdefault(program, asyncio.Lock()):
            connection = self._connections.get(program)
            if connection is not None and connection.is_alive:
                return connection
            if connection is not None:
                await self._close_connection(connection)
            self._connections[program] = connection = await AcpConnection.open(program, self._root)
            return connection

    def apply_settings(self) -> None:
        """Stop idle programs that were removed from the settings; call it on the programs' event loop.

        A busy program is stopped at the next turn or settings change.
        """
        if not self._connections:
            return
        task = asyncio.get_running_loop().create_task(self._end_removed(), name="end removed programs")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end_removed(self) -> None:
        """Stop the idle programs that were removed from the settings."""
        configured = self._settings().programs.programs
        for program, connection in tuple(self._connections.items()):
            if program not in configured and not connection.client.turns:
                await self._close_connection(connection)

    async def _close_connection(self, connection: AcpConnection) -> None:
        if self._connections.get(connection.program) is connection:
            del self._connections[connection.program]
        await connection.close(immediately=True)

    async def _session(self, connection: AcpConnection, turn: Turn) -> AcpSession:
        """Return the program's session for the conversation; resume or create one if needed.

        Raises:
            ProgramError: The program failed, exited or did not answer in time.
        """
        from acp import RequestError

        read_only = turn.prompt.mode != "propose"
        saved = load_session_state(turn)
        open_session = connection.sessions.get(turn.conversation)
        is_saved = open_session is not None and saved is not None and open_session.id == saved.session
        if open_session is not None and is_saved and open_session.read_only == read_only:
            return open_session
        try:
            async with asyncio.timeout(_NEW_SESSION_TIMEOUT_S):
                session = saved and await self._resume_session(connection, saved, read_only)
                session = session or await self._begin_session(connection, read_only)
                for id_, value in self._chosen_options.get(connection.program.name, {}).items():
                    await self._apply_option(connection, session, id_, value)
        except RequestError as error:
            raise connection.explain_error(error) from error
        except ConnectionError as error:
            raise await self._handle_loss(connection, "at the start of a conversation") from error
        except TimeoutError as error:
            await self._close_connection(connection)
            name = connection.program.name
            raise ProgramError(
                f"{name} did not start a conversation within {_NEW_SESSION_TIMEOUT_S:.0f} s.",
                "The next message restarts it.",
            ) from error
        connection.sessions[turn.conversation] = session
        return session

    async def _apply_option(
        self, connection: AcpConnection, session: AcpSession, id_: str, value: str
    ) -> None:
        """Set an option of a session if the session offers that value."""
        option = next((option for option in session.options if option.id == id_), None)
        if option is None or value == option.current or apply_values((option,), {id_: value}) == (option,):
            return
        options = await set_option(connection.rpc, session.id, option, value)
        session.options = (
            apply_values(session.options, {id_: value})
            if options is None
            else merge_options(session.options, options)
        )

    async def _begin_session(self, connection: AcpConnection, read_only: bool) -> AcpSession:
        response = await connection.rpc.new_session(
            cwd=str(self._root), mcp_servers=[self._own_server(connection, read_only=read_only)]
        )
        options = session_options(response.modes, response.config_options)
        return AcpSession(response.session_id, read_only, options=options)

    async def _resume_session(
        self, connection: AcpConnection, saved: AcpSessionState, read_only: bool
    ) -> AcpSession | None:
        """Resume the program's earlier session; return None if the program cannot resume it."""
        from acp import RequestError

        resume = (
            connection.rpc.resume_session
            if connection.can_resume
            else connection.rpc.load_session
            if connection.can_load
            else None
        )
        if resume is None:
            return None
        try:
            response = await resume(
                cwd=str(self._root),
                session_id=saved.session,
                mcp_servers=[self._own_server(connection, read_only=read_only)],
            )
        except RequestError as error:
            log.info("%s could not resume a session: %s", connection.program.name, error)
            return None
        options = session_options(response.modes, response.config_options) if response is not None else ()
        return AcpSession(saved.session, read_only, saved.cost, is_new=False, options=options)

    def _own_server(self, connection: AcpConnection, *, read_only: bool) -> schema.McpServerStdio:
        from acp import schema

        command, arguments = self._server.command(connection.program.name, read_only=read_only)
        variables = self._server.variables()
        return schema.McpServerStdio(
            name=MCP_SERVER,
            command=command,
            args=list(arguments),
            env=[schema.EnvVariable(name=name, value=value) for name, value in variables.items()],
        )

    # Turns

    async def _converse(self, connection: AcpConnection, session: AcpSession, turn: Turn) -> None:
        from app.agent.acp.client import AcpTurn
        from app.agent.acp.update_translator import UpdateTranslator

        translator = UpdateTranslator(turn)
        acp_turn = AcpTurn(turn, translator)
        watched = await self.edits.begin(turn, lambda: translator.named_files)
        connection.client.turns[session.id] = acp_turn
        unsubscribe = turn.events.subscribe(ToolFinished, translator.show_outcome)
        answer: schema.PromptResponse | None = None
        try:
            answer = await self._run_prompt(connection, session, acp_turn)
        finally:
            connection.client.turns.pop(session.id, None)
            unsubscribe()
            await asyncio.shield(asyncio.ensure_future(self.edits.end(watched)))
            session.cost = translator.end(answer, session.cost)
            save_session_state(turn, session.id, session.cost)
            self._warn_of_forbidden_changes(turn, watched.change_count)
        if (explanation := _STOP_REASONS.get(answer.stop_reason)) is not None:
            turn.notice("warning", explanation.format(connection.program.name))

    async def _run_prompt(
        self, connection: AcpConnection, session: AcpSession, acp_turn: AcpTurn
    ) -> schema.PromptResponse:
        """Send the prompt and wait until the answer is complete.

        Raises:
            ProgramError: The program failed or exited.
            CancelledError: The user stopped the turn, and the program stopped or was killed.
        """
        from acp import RequestError, schema

        prompt = [schema.TextContentBlock(type="text", text=self._prompt_text(session, acp_turn.turn))]
        answer = asyncio.ensure_future(connection.rpc.prompt(session_id=session.id, prompt=[*prompt]))
        session.is_new = False
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            stopping = asyncio.ensure_future(self._stop(connection, session, acp_turn, answer))
            await _wait_uninterrupted(stopping)
            raise
        except RequestError as error:
            raise connection.explain_error(error) from error
        except ConnectionError as error:
            await acp_turn.cancel()
            raise await self._handle_loss(connection, "during the turn") from error

    async def _stop(
        self,
        connection: AcpConnection,
        session: AcpSession,
        acp_turn: AcpTurn,
        answer: asyncio.Future[schema.PromptResponse],
    ) -> None:
        """Ask the program to cancel; kill it if it does not answer in time."""
        await acp_turn.cancel()
        try:
            async with asyncio.timeout(_CANCEL_TIMEOUT_S):
                await connection.rpc.cancel(session.id)
                await asyncio.wait({answer})
        except (TimeoutError, ConnectionError):
            log.info("%s did not stop on request", connection.program.name)
        if not answer.done():
            answer.cancel()
            await asyncio.wait({answer})
            await self._close_connection(connection)
            acp_turn.turn.notice(
                "warning", f"{connection.program.name} did not stop on request, so it was terminated."
            )
        elif not answer.cancelled():
            answer.exception()

    async def _handle_loss(self, connection: AcpConnection, when: str) -> ProgramError:
        error = await connection.connection_error(when)
        await self._close_connection(connection)
        return error

    def _prompt_text(self, session: AcpSession, turn: Turn) -> str:
        """Return the prompt, preceded by the items that the program has not received yet.

        A new session begins with its preamble.
        """
        saved = load_session_state(turn)
        received = saved.heard if saved is not None and not session.is_new else 0
        # The turn's first item is the prompt itself.
        items = turn.store.items(turn.conversation)[received:]
        prompt_index = (
            items.index(next(item for item in items if item.turn == turn.caller.turn)) if items else 0
        )
        before = conversation_history(items[:prompt_index], turn.agent)
        instructions = self._settings().agent.instructions
        first = session_preamble(self._vault, self._root, instructions) if session.is_new else ""
        return "\n\n".join(filter(None, (first, before, build_prompt(turn, self._note_text))))

    def _warn_of_forbidden_changes(self, turn: Turn, change_count: int) -> None:
        """Warn the user if a program changed files in a read-only turn."""
        if change_count and turn.prompt.mode != "propose":
            turn.notice(
                "warning",
                f"{turn.agent} changed files in a read-only turn.",
                "You can undo the changes. External agents run with your permissions on this computer.",
            )


async def _wait_uninterrupted(work: asyncio.Future[None]) -> None:
    """Wait until `work` is done, even if this task is canceled in the meantime."""
    while not work.done():
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            if work.cancelled():
                raise
