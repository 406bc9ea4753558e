"""A scripted program that speaks the Agent Client Protocol: the lines of the prompt are its commands.

Commands end with a newline or with " ;; ".

    !say words · !think words · !plan step|step · !tool kind words · !ask kind words · !read path

    !write path words · !edit path words · !edit-silently path words · !delete path · !move path path

    !terminal · !mcp tool {json} · !server · !prompt · !heard · !mode · !env NAME · !spawn

    !wait · !hang · !crash

`!prompt` repeats the whole prompt, `!heard` reports the number of earlier prompts in the session, `!wait`
stops when it is canceled, `!hang` does not. Its sessions are stored in the file that the environment's
`AGENT_SESSIONS` names. The flags `--not-acp`, `--dies-at-once`, `--needs-login` and `--MODE-only-first` make
it fail.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path

if "--not-acp" in sys.argv:
    print("Usage: other-program FILE", flush=True)
    sys.exit(2)
if "--dies-at-once" in sys.argv:
    print("no license found", file=sys.stderr, flush=True)
    sys.exit(3)

from acp import (
    PROTOCOL_VERSION,
    RequestError,
    plan_entry,
    run_agent,
    start_tool_call,
    update_agent_message_text,
    update_agent_thought_text,
    update_plan,
    update_tool_call,
)
from acp.schema import (
    AgentCapabilities,
    Implementation,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    SessionMode,
    SessionModeState,
    SetSessionModeResponse,
    ToolCallLocation,
    ToolCallUpdate,
    Usage,
)

OPTIONS = [
    PermissionOption(option_id="always", name="Always", kind="allow_always"),
    PermissionOption(option_id="once", name="Yes", kind="allow_once"),
    PermissionOption(option_id="no", name="No", kind="reject_once"),
]


class ExternalAgent:
    """Serves one client."""

    def __init__(self, flags: set[str]) -> None:
        self.flags = flags
        self.sessions_file = Path(os.environ["AGENT_SESSIONS"]) if "AGENT_SESSIONS" in os.environ else None
        self.heard: dict[str, list[str]] = {}
        self.servers: dict[str, list] = {}
        self.modes: dict[str, str] = {}
        self.cancelled: dict[str, asyncio.Event] = {}
        self.calls = 0

    def on_connect(self, conn) -> None:
        self.client = conn

    async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **_):
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities(load_session=self.sessions_file is not None),
            agent_info=Implementation(name="outside", version="1"),
        )

    async def new_session(self, cwd, additional_directories=None, mcp_servers=None, **_):
        if "--needs-login" in self.flags:
            raise RequestError.auth_required()
        session_id = uuid.uuid4().hex
        self.heard[session_id] = []
        self.servers[session_id] = mcp_servers or []
        self.modes[session_id] = "careful"
        return NewSessionResponse(session_id=session_id, modes=self._modes(session_id))

    async def load_session(self, cwd, session_id, mcp_servers=None, additional_directories=None, **_):
        saved_sessions = (
            json.loads(self.sessions_file.read_text())
            if self.sessions_file and self.sessions_file.is_file()
            else {}
        )
        if session_id not in saved_sessions:
            raise RequestError.resource_not_found(session_id)
        self.heard[session_id] = saved_sessions[session_id]
        self.servers[session_id] = mcp_servers or []
        self.modes[session_id] = "careful"
        for text in self.heard[session_id]:
            await self.client.session_update(session_id, update_agent_message_text(f"(again) {text}"))
        return LoadSessionResponse(modes=self._modes(session_id))

    def _modes(self, session_id):
        modes = [SessionMode(id=id_, name=id_.title()) for id_ in ("careful", "bold")]
        return SessionModeState(current_mode_id=self.modes[session_id], available_modes=modes)

    async def set_session_mode(self, session_id, mode_id, **_):
        if f"--{mode_id}-only-first" in self.flags and session_id != next(iter(self.modes)):
            raise RequestError.invalid_params()
        self.modes[session_id] = mode_id
        return SetSessionModeResponse()

    async def cancel(self, session_id, **_) -> None:
        self.cancelled[session_id].set()

    async def prompt(self, session_id, prompt, **_):
        text = "".join(block.text for block in prompt)
        self.cancelled[session_id] = asyncio.Event()
        for line in re.split(r"\n| ;; ", text):
            if line.startswith("!"):
                verb, _, rest = line[1:].partition(" ")
                await getattr(self, "do_" + verb.replace("-", "_"))(session_id, rest, text)
                if self.cancelled[session_id].is_set():
                    return PromptResponse(stop_reason="cancelled")
        self.heard[session_id].append(text)
        if self.sessions_file:
            self.sessions_file.write_text(json.dumps(self.heard))
        usage = Usage(total_tokens=30, input_tokens=20, output_tokens=10)
        return PromptResponse(stop_reason="end_turn", usage=usage)

    async def say(self, session_id, text) -> None:
        await self.client.session_update(session_id, update_agent_message_text(text))

    async def do_say(self, session_id, rest, _):
        for word in rest.split(" "):
            await self.say(session_id, word + " ")

    async def do_think(self, session_id, rest, _):
        await self.client.session_update(session_id, update_agent_thought_text(rest))

    async def do_plan(self, session_id, rest, _):
        for done in range(2):
            entries = [
                plan_entry(step, status="completed" if at < done else "pending")
                for at, step in enumerate(rest.split("|"))
            ]
            await self.client.session_update(session_id, update_plan(entries))

    async def do_tool(self, session_id, rest, _):
        kind, _, title = rest.partition(" ")
        self.calls += 1
        call = f"call-{self.calls}"
        start = start_tool_call(call, title, kind=kind, status="in_progress", raw_input={"of": title})
        await self.client.session_update(session_id, start)
        await self.client.session_update(session_id, update_tool_call(call, status="completed"))

    async def do_ask(self, session_id, rest, _):
        kind, _, title = rest.partition(" ")
        call = ToolCallUpdate(tool_call_id="asked", title=title, kind=kind, raw_input={"command": title})
        answer = await self.client.request_permission(session_id=session_id, tool_call=call, options=OPTIONS)
        choice = getattr(answer.outcome, "option_id", answer.outcome.outcome)
        await self.say(session_id, f"[{choice}]")

    async def do_read(self, session_id, rest, _):
        path = str(Path(rest).absolute())
        await self._try(session_id, self.client.read_text_file(session_id=session_id, path=path), "content")

    async def do_write(self, session_id, rest, _):
        path, _, text = rest.partition(" ")
        path = str(Path(path).absolute())
        writing = self.client.write_text_file(session_id=session_id, path=path, content=text + "\n")
        await self._try(session_id, writing, "")

    async def do_terminal(self, session_id, rest, _):
        await self._try(session_id, self.client.create_terminal(session_id=session_id, command="ls"), "")

    async def _try(self, session_id, work, field):
        try:
            answer = await work
        except RequestError as error:
            await self.say(session_id, f"[refused: {error}]")
        else:
            await self.say(session_id, f"[{getattr(answer, field) if field else 'written'}]")

    async def do_edit(self, session_id, rest, _):
        path, _, text = rest.partition(" ")
        where = [ToolCallLocation(path=str(Path(path).absolute()))]
        start = start_tool_call("edit", f"Edit {path}", kind="edit", status="in_progress", locations=where)
        await self.client.session_update(session_id, start)
        Path(path).write_text(text + "\n")
        await self.client.session_update(session_id, update_tool_call("edit", status="completed"))

    async def do_edit_silently(self, session_id, rest, _):
        path, _, text = rest.partition(" ")
        Path(path).write_text(text + "\n")

    async def do_delete(self, session_id, rest, _):
        Path(rest).unlink()

    async def do_move(self, session_id, rest, _):
        old, _, new = rest.partition(" ")
        Path(old).rename(new)

    async def do_prompt(self, session_id, rest, text):
        await self.say(session_id, text)

    async def do_heard(self, session_id, rest, _):
        await self.say(session_id, f"[{len(self.heard[session_id])} before]")

    async def do_mode(self, session_id, rest, _):
        await self.say(session_id, f"[{self.modes[session_id]}]")

    async def do_env(self, session_id, rest, _):
        await self.say(session_id, f"[{os.environ.get(rest, 'unset')}]")

    async def do_spawn(self, session_id, rest, _):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        await self.say(session_id, f"[{os.getpid()} {child.pid}]")

    async def do_server(self, session_id, rest, _):
        (server,) = self.servers[session_id]
        await self.say(session_id, json.dumps(server.model_dump(mode="json", by_alias=True)))

    async def do_mcp(self, session_id, rest, _):
        from mcp import Client, StdioServerParameters, stdio_client

        tool, _, arguments = rest.partition(" ")
        (server,) = self.servers[session_id]
        env = {**os.environ, **{variable.name: variable.value for variable in server.env}}
        parameters = StdioServerParameters(command=server.command, args=server.args, env=env)
        start = start_tool_call("mcp", f"mcp__scriptorium__{tool}", kind="other", status="in_progress")
        await self.client.session_update(session_id, start)
        async with Client(stdio_client(parameters)) as client:
            result = await client.call_tool(tool, json.loads(arguments or "{}"))
        await self.client.session_update(session_id, update_tool_call("mcp", status="completed"))
        await self.say(session_id, f"[{json.dumps(result.structured_content)}]")

    async def do_wait(self, session_id, rest, _):
        await self.cancelled[session_id].wait()

    async def do_hang(self, session_id, rest, _):
        await asyncio.Event().wait()

    async def do_crash(self, session_id, rest, _):
        print("the disk of the agent is full", file=sys.stderr, flush=True)
        os._exit(7)


if __name__ == "__main__":
    asyncio.run(run_agent(ExternalAgent(set(sys.argv[1:]))))
