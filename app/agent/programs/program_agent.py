"""Answers turns by installed programs that speak the Agent Client Protocol.

A program is started in the vault's folder when it is first asked, serves all conversations, and ends with the
app. It works with our tools over MCP, by a server that joins this app, so that the gate, the dialog, the
audit log and undo are the same as for everyone. What it asks for beside that goes through the gate, too; what
it does without asking is found, logged as such, and can be taken back.

What it has read, by itself or from the net, nobody knows: it counts as tainted from its first word.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from app.agent.programs.direct_edits import DirectEdits
from app.agent.programs.handover import MCP_SERVER, NoteText, asked, said_before, welcome
from app.agent.programs.kept import Kept, keep, kept_of
from app.agent.programs.link import Link, ProgramError, Session
from app.agent.programs.options import Option, options_of, set_option, with_values
from app.agent.programs.own_server import OwnServer
from app.agent.turn import Turn
from app.permissions.caller import Caller, CallerKind
from app.settings import AgentProgram, Settings
from app.toolkit.outcome import ToolFinished

if TYPE_CHECKING:
    from acp import schema

    from app.agent.programs.desk import Talk

log = logging.getLogger(__name__)

_CANCEL_S = 5.0
_SESSION_S = 60.0
_CHOOSE_S = 10.0
_WORDS = {
    "max_tokens": "{0} stopped: it has used the tokens that it may for one answer.",
    "max_turn_requests": "{0} stopped: it has asked its model as often as it may for one answer.",
    "refusal": "{0} does not go on with this.",
}


class ProgramAgent:
    """Answers turns by the program that each names.

    Args:
        vault: The vault's name.
        root: Its folder.
        note_text: Gives the text of a note for the prompt, None for one that a model may not see.
        edits: Finds what programs write by themselves.
        news: Gives what is new in the streams as a block of data, and says in the turn that it was given.
    """

    def __init__(
        self,
        vault: str,
        root: Path,
        settings: Callable[[], Settings],
        note_text: NoteText,
        edits: DirectEdits,
        news: Callable[[Turn], str] = lambda turn: "",
    ) -> None:
        self._vault = vault
        self._root = root
        self._settings = settings
        self._note_text = note_text
        self._server = OwnServer(root)
        self._news = news
        self._links: dict[AgentProgram, Link] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._wanted: dict[str, dict[str, str]] = {}
        self._opening: dict[AgentProgram, asyncio.Lock] = {}
        self.edits = edits

    async def respond(self, turn: Turn) -> None:
        """Let the turn's program answer; a failure becomes a notice."""
        assert turn.program is not None
        turn.news = self._news(turn)
        preparing = asyncio.ensure_future(self.edits.prepare())
        try:
            link = await self._link(turn.program)
            session = await self._session(link, turn)
            await preparing
            await self._converse(link, session, turn)
        except ProgramError as error:
            turn.notice("error", error.message, error.hint)
        finally:
            preparing.cancel()
            await asyncio.gather(preparing, return_exceptions=True)

    def caller_called(self, name: str) -> Caller | None:
        """The program of this name as a caller: in the turn that it answers, if it does; None for others."""
        talks = [talk for link in self._links.values() for talk in link.desk.talks.values()]
        turns = [talk.turn for talk in talks if talk.turn.agent == name and not talk.withdrawn]
        if turns:
            return turns[-1].caller
        known = any(one.name == name for one in self._settings().programs.programs)
        return Caller(CallerKind.MCP, name, tainted=True) if known else None

    def options(self, name: str) -> tuple[Option, ...]:
        """What the program called `name` lets the person choose; empty before its first conversation."""
        sessions = [
            session
            for program, link in self._links.items()
            if program.name == name
            for session in link.sessions.values()
        ]
        return with_values(sessions[-1].options, self._wanted.get(name, {})) if sessions else ()

    async def choose(self, name: str, option: str, value: str) -> None:
        """Choose for the conversations of the program called `name`, those to come included.

        Raises:
            ProgramError: the program refuses it.
        """
        from acp import RequestError

        self._wanted.setdefault(name, {})[option] = value
        for program, link in tuple(self._links.items()):
            if program.name != name:
                continue
            try:
                async with asyncio.timeout(_CHOOSE_S):
                    for session in tuple(link.sessions.values()):
                        await self._set(link, session, option, value)
            except (RequestError, ConnectionError, TimeoutError) as error:
                self._wanted[name].pop(option, None)
                said = f": {error}" if str(error) else ""
                raise ProgramError(f"{name} did not take that{said}.", "It stays as it was.") from error

    async def close(self) -> None:
        """End every program and all that they started."""
        links = list(self._links.values())
        self._links.clear()
        closing = (link.close() for link in links)
        await asyncio.gather(*closing, *self._ending, return_exceptions=True)
        self.edits.close()

    # The program and its session

    async def _link(self, program: AgentProgram) -> Link:
        """The running program; started when it does not run (any more)."""
        await self._end_removed()
        async with self._opening.setdefault(program, asyncio.Lock()):
            link = self._links.get(program)
            if link is not None and link.is_alive:
                return link
            if link is not None:
                await self._drop(link)
            self._links[program] = link = await Link.open(program, self._root)
            return link

    def settings_changed(self) -> None:
        """End what the settings do not have any more; call it in the loop where a program may run."""
        if not self._links:
            return
        task = asyncio.get_running_loop().create_task(self._end_removed(), name="end removed programs")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end_removed(self) -> None:
        """End the programs that the settings do not have any more, once they have nothing to do."""
        wanted = self._settings().programs.programs
        for program, link in tuple(self._links.items()):
            if program not in wanted and not link.desk.talks:
                await self._drop(link)

    async def _drop(self, link: Link) -> None:
        if self._links.get(link.program) is link:
            del self._links[link.program]
        await link.close(at_once=True)

    async def _session(self, link: Link, turn: Turn) -> Session:
        """The conversation as the program knows it, or a new one.

        Raises:
            ProgramError: it can't begin one.
        """
        from acp import RequestError

        read_only = turn.prompt.mode != "propose"
        kept = kept_of(turn)
        known = link.sessions.get(turn.conversation)
        as_kept = known is not None and kept is not None and known.id == kept.session
        if known is not None and as_kept and known.read_only == read_only:
            return known
        try:
            async with asyncio.timeout(_SESSION_S):
                made = kept and await self._taken_up(link, kept, turn, read_only)
                made = made or await self._begun(link, turn, read_only)
                for id_, value in self._wanted.get(link.program.name, {}).items():
                    await self._set(link, made, id_, value)
        except RequestError as error:
            raise link.explained(error) from error
        except ConnectionError as error:
            raise await self._lost(link, "when a conversation began") from error
        except TimeoutError as error:
            await self._drop(link)
            name = link.program.name
            raise ProgramError(f"{name} began no conversation within {_SESSION_S:.0f} s.", "") from error
        link.sessions[turn.conversation] = made
        return made

    async def _set(self, link: Link, session: Session, id_: str, value: str) -> None:
        """Set an option of a session, where it has that value to choose."""
        option = next((one for one in session.options if one.id == id_), None)
        if option is None or value == option.current or with_values((option,), {id_: value}) == (option,):
            return
        told = await set_option(link.connection, session.id, option, value)
        session.options = with_values(session.options, {id_: value}) if told is None else told

    async def _begun(self, link: Link, turn: Turn, read_only: bool) -> Session:
        answer = await link.connection.new_session(
            cwd=str(self._root), mcp_servers=[self._own_server(link, read_only=read_only)]
        )
        options = options_of(answer.modes, answer.config_options)
        return Session(answer.session_id, read_only, options=options)

    async def _taken_up(self, link: Link, kept: Kept, turn: Turn, read_only: bool) -> Session | None:
        """The session that the program had before; None where it can't go on with it."""
        from acp import RequestError

        go_on = (
            link.connection.resume_session
            if link.resumes
            else link.connection.load_session
            if link.loads
            else None
        )
        if go_on is None:
            return None
        try:
            answer = await go_on(
                cwd=str(self._root),
                session_id=kept.session,
                mcp_servers=[self._own_server(link, read_only=read_only)],
            )
        except RequestError as error:
            log.info("%s does not go on with a session: %s", link.program.name, error)
            return None
        options = options_of(answer.modes, answer.config_options) if answer is not None else ()
        return Session(kept.session, read_only, kept.cost, is_new=False, options=options)

    def _own_server(self, link: Link, *, read_only: bool) -> schema.McpServerStdio:
        from acp import schema

        command, arguments = self._server.command(link.program.name, read_only=read_only)
        variables = self._server.variables()
        return schema.McpServerStdio(
            name=MCP_SERVER,
            command=command,
            args=list(arguments),
            env=[schema.EnvVariable(name=name, value=value) for name, value in variables.items()],
        )

    # A turn

    async def _converse(self, link: Link, session: Session, turn: Turn) -> None:
        from app.agent.programs.desk import Talk
        from app.agent.programs.narration import Narration

        narration = Narration(turn)
        talk = Talk(turn, narration)
        watched = await self.edits.begin(turn, lambda: narration.named)
        link.desk.talks[session.id] = talk
        unsubscribe = turn.events.subscribe(ToolFinished, narration.called)
        answer: schema.PromptResponse | None = None
        try:
            answer = await self._prompted(link, session, talk)
        finally:
            link.desk.talks.pop(session.id, None)
            unsubscribe()
            await asyncio.shield(asyncio.ensure_future(self.edits.end(watched)))
            session.cost = narration.end(answer, session.cost)
            keep(turn, session.id, session.cost)
            self._warn(turn, watched.found)
        if (words := _WORDS.get(answer.stop_reason)) is not None:
            turn.notice("warning", words.format(link.program.name))

    async def _prompted(self, link: Link, session: Session, talk: Talk) -> schema.PromptResponse:
        """Send the prompt and wait for the end of the answer.

        Raises:
            ProgramError: the program failed, or is gone.
            CancelledError: the person stopped the turn, and the program has stopped or was ended.
        """
        from acp import RequestError, schema

        said = [schema.TextContentBlock(type="text", text=self._said(session, talk.turn))]
        answer = asyncio.ensure_future(link.connection.prompt(session_id=session.id, prompt=[*said]))
        session.is_new = False
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            stopping = asyncio.ensure_future(self._stop(link, session, talk, answer))
            await _through(stopping)
            raise
        except RequestError as error:
            raise link.explained(error) from error
        except ConnectionError as error:
            await talk.withdraw()
            raise await self._lost(link, "in the middle of the turn") from error

    async def _stop(
        self, link: Link, session: Session, talk: Talk, answer: asyncio.Future[schema.PromptResponse]
    ) -> None:
        """Ask the program to stop; one that does not is ended."""
        await talk.withdraw()
        try:
            async with asyncio.timeout(_CANCEL_S):
                await link.connection.cancel(session.id)
                await asyncio.wait({answer})
        except (TimeoutError, ConnectionError):
            log.info("%s did not stop when it was asked to", link.program.name)
        if not answer.done():
            answer.cancel()
            await asyncio.wait({answer})
            await self._drop(link)
            talk.turn.notice("warning", f"{link.program.name} did not stop when asked, so it was ended.")
        elif not answer.cancelled():
            answer.exception()

    async def _lost(self, link: Link, when: str) -> ProgramError:
        error = await link.lost(when)
        await self._drop(link)
        return error

    def _said(self, session: Session, turn: Turn) -> str:
        """The prompt with what the program has not heard yet."""
        kept = kept_of(turn)
        heard = kept.heard if kept is not None and not session.is_new else 0
        # The last item is the prompt itself.
        items = turn.store.items(turn.conversation)[heard:]
        own = items.index(next(item for item in items if item.turn == turn.caller.turn)) if items else 0
        before = said_before(items[:own], turn.agent)
        instructions = self._settings().agent.instructions
        first = welcome(self._vault, self._root, instructions) if session.is_new else ""
        return "\n\n".join(filter(None, (first, before, asked(turn, self._note_text))))

    def _warn(self, turn: Turn, found: int) -> None:
        """Say so where a program wrote by itself though it was to read only."""
        if found and turn.prompt.mode != "propose":
            turn.notice(
                "warning",
                f"{turn.agent} changed files though it was to read only.",
                "Undo takes that back. Programs run with all that you may do on this machine.",
            )


async def _through(work: asyncio.Future[None]) -> None:
    """Wait until `work` is done, however often somebody is in a hurry."""
    while not work.done():
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            if work.cancelled():
                raise
