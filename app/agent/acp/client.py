"""Handle a program's requests during a turn: progress reports, permissions and file access."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any, NoReturn, TypeVar

from acp import RequestError, schema

from app.agent.acp.client_tools import agent_action, agent_read, agent_write
from app.agent.acp.update_translator import UpdateTranslator, extract_diffs, input_as_json, kind_label
from app.agent.turn import Turn
from app.toolkit.call import Call
from app.toolkit.outcome import ToolOutcome
from app.vault.diff import compare
from app.vault.unified_diff import unified_diff

log = logging.getLogger(__name__)

_ERROR_CODE_REFUSED = -32603
_ERROR_CODE_NOT_FOUND = -32002
_READ_ONLY_KINDS = ("read", "search", "think", "fetch")
_NO_TERMINAL = "Terminals are not supported. To run a command, use the shell tool, which the user can enable."
_ALWAYS_ALLOW_NOTE = "permanent: the program offers no one-time approval"
T = TypeVar("T")


@dataclass(eq=False)
class AcpTurn:
    """A program's turn: its progress reports and its pending requests.

    `hashes` are the content hashes of the files that the program has read or written, by path.
    """

    turn: Turn
    translator: UpdateTranslator
    hashes: dict[str, str] = field(default_factory=dict)
    pending_calls: set[asyncio.Task[ToolOutcome]] = field(default_factory=set)
    is_cancelled: bool = False

    @property
    def may_change(self) -> bool:
        """True if agents may change anything in this turn."""
        return self.turn.prompt.mode == "propose"

    async def run(self, call: Coroutine[Any, Any, ToolOutcome]) -> ToolOutcome | None:
        """Run a tool call and return its outcome; None if the turn was canceled before or during the call."""
        if self.is_cancelled:
            call.close()
            return None
        task = asyncio.get_running_loop().create_task(call)
        self.pending_calls.add(task)
        try:
            await asyncio.wait({task})
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
            self.pending_calls.discard(task)
        return None if task.cancelled() else task.result()

    async def cancel(self) -> None:
        """Cancel all pending requests and refuse new ones."""
        self.is_cancelled = True
        calls = tuple(self.pending_calls)
        for task in calls:
            task.cancel()
        if calls:
            await asyncio.wait(calls)


class AcpClient:
    """The client side of the protocol for all sessions of a program in the vault at `root`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.on_options_changed: Callable[[str, object], None] = lambda session_id, update: None
        self.turns: dict[str, AcpTurn] = {}

    def on_connect(self, conn: object) -> None:
        """Do nothing: the client sends no requests when the connection opens."""

    async def session_update(self, session_id: str, update: object, **_: object) -> None:
        """Show an update from the program.

        Outside a turn, only changes to the mode and the options are processed, because loading a session
        replays its history.
        """
        if isinstance(update, schema.CurrentModeUpdate | schema.ConfigOptionUpdate):
            self.on_options_changed(session_id, update)
        elif (acp_turn := self.turns.get(session_id)) is not None:
            acp_turn.translator.handle_update(update)

    async def request_permission(
        self,
        session_id: str,
        tool_call: schema.ToolCallUpdate,
        options: list[schema.PermissionOption],
        **_: object,
    ) -> schema.RequestPermissionResponse:
        """Ask the user whether the program may perform an action of its own.

        The permission is permanent only if the program offers no one-time permission; the question says so.
        The request is rejected without asking the user if the program offers no permission at all, or if it
        may not perform the action in this turn.

        Raises:
            RequestError: No turn is in progress, or it was canceled.
        """
        acp_turn = self._turn_of(session_id)
        call = acp_turn.translator.tool_call_state(tool_call)
        once = _find_option(options, "allow_once")
        allow_option = once or _find_option(options, "allow_always")
        if allow_option is None:
            return _permission_response(_find_option(options, "reject_once", "reject_always"))
        arguments = {
            "what": call.title or kind_label(call),
            "kind": call.kind or "other",
            "details": _call_details(call, is_permanent=once is None),
            "may_change": acp_turn.may_change or call.kind in _READ_ONLY_KINDS,
        }
        turn = acp_turn.turn
        caller = replace(turn.caller, claim=turn.flush().strip())
        outcome = await acp_turn.run(turn.runner.run(Call.internal(agent_action, arguments, caller)))
        if outcome is None:
            return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))
        if not outcome.success:
            if outcome.words:
                turn.notice("info", f"You denied “{arguments['what']}”: {outcome.words}")
            return _permission_response(_find_option(options, "reject_once", "reject_always"))
        return _permission_response(allow_option)

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **_: object
    ) -> schema.ReadTextFileResponse:
        """Return the text of a file, or at most `limit` lines of it, starting at `line`.

        Raises:
            RequestError: No turn is in progress, the turn was canceled, or the file can't be read.
        """
        acp_turn = self._turn_of(session_id)
        optional = {"path": self._display_path(path), "line": line, "limit": limit}
        arguments = {name: value for name, value in optional.items() if value is not None}
        outcome = await acp_turn.run(
            acp_turn.turn.runner.run(Call.internal(agent_read, arguments, acp_turn.turn.caller))
        )
        if outcome is None or not outcome.success:
            _raise_refusal(outcome, path)
        acp_turn.hashes[_path_key(path)] = str(outcome.result["hash"])
        return schema.ReadTextFileResponse(content=str(outcome.result["text"]))

    async def write_text_file(
        self, session_id: str, path: str, content: str, **_: object
    ) -> schema.WriteTextFileResponse:
        """Propose new text for a file in the vault, and write it once it is approved.

        Raises:
            RequestError: No turn is in progress, the turn was canceled, or the file was not written, for
                example because it has changed since the program read it.
        """
        acp_turn = self._turn_of(session_id)
        arguments: dict[str, object] = {"path": self._display_path(path), "content": content}
        if known_hash := acp_turn.hashes.get(_path_key(path), ""):
            arguments["known_hash"] = known_hash
        if not acp_turn.may_change:
            arguments["may_change"] = False
        outcome = await acp_turn.run(acp_turn.turn.call(agent_write, arguments))
        if outcome is None or not outcome.success:
            _raise_refusal(outcome, path)
        acp_turn.hashes[_path_key(path)] = str(outcome.result["hash"])
        return schema.WriteTextFileResponse()

    async def create_terminal(self, session_id: str, command: str, **_: object) -> NoReturn:
        """Refuse: a program's commands would bypass the sandbox of the shell tool."""
        raise RequestError(_ERROR_CODE_REFUSED, _NO_TERMINAL, {"command": command})

    async def terminal_output(self, **_: object) -> NoReturn:
        """Refuse the request like `create_terminal`."""
        raise RequestError(_ERROR_CODE_REFUSED, _NO_TERMINAL)

    async def release_terminal(self, **_: object) -> NoReturn:
        """Refuse the request like `create_terminal`."""
        raise RequestError(_ERROR_CODE_REFUSED, _NO_TERMINAL)

    async def wait_for_terminal_exit(self, **_: object) -> NoReturn:
        """Refuse the request like `create_terminal`."""
        raise RequestError(_ERROR_CODE_REFUSED, _NO_TERMINAL)

    async def kill_terminal(self, **_: object) -> NoReturn:
        """Refuse the request like `create_terminal`."""
        raise RequestError(_ERROR_CODE_REFUSED, _NO_TERMINAL)

    async def create_elicitation(self, **_: object) -> NoReturn:
        """Decline: a program asks its questions in its reply, and the user answers in the next message."""
        raise RequestError.method_not_found("elicitation/create")

    async def complete_elicitation(self, **_: object) -> None:
        """Ignore the notification: the client declines all elicitations."""

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Refuse: the client supports no extensions of the protocol."""
        raise RequestError.method_not_found(f"_{method}")

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Ignore the notification: the client supports no extensions of the protocol."""

    def _display_path(self, path: str) -> str:
        """Return a path for display: relative to the vault if it is inside."""
        if not (pure := PurePath(path)).is_relative_to(self._root):
            return path
        return pure.relative_to(self._root).as_posix()

    def _turn_of(self, session_id: str) -> AcpTurn:
        """Return the turn that the request belongs to.

        Raises:
            RequestError: No turn is in progress, or it was canceled.
        """
        acp_turn = self.turns.get(session_id)
        if acp_turn is None or acp_turn.is_cancelled:
            raise RequestError(_ERROR_CODE_REFUSED, "No turn is in progress, so no request is accepted.")
        return acp_turn


def _find_option(options: list[schema.PermissionOption], *kinds: str) -> schema.PermissionOption | None:
    """Return the first option of the first of these kinds that the program offers, or None."""
    return next((option for kind in kinds for option in options if option.kind == kind), None)


def _permission_response(option: schema.PermissionOption | None) -> schema.RequestPermissionResponse:
    if option is None:
        return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))
    selected = schema.AllowedOutcome(outcome="selected", option_id=option.option_id)
    return schema.RequestPermissionResponse(outcome=selected)


def _call_details(call: schema.ToolCallUpdate, *, is_permanent: bool) -> list[str]:
    """Return the program's description of its action as "name = value" lines."""
    details = [f"approval = {_ALWAYS_ALLOW_NOTE}"] if is_permanent else []
    details += [f"at = {location.path}" for location in call.locations or ()]
    if input_json := input_as_json(call):
        details.append(f"input = {input_json}")
    for change in extract_diffs(call):
        old, new = ((text or "").encode("utf-8", "replace") for text in (change.old_text, change.new_text))
        diff = unified_diff(compare(old, new), "before", "after")
        details.append(f"change to {change.path} = \n{diff.rstrip()}")
    return details


def _raise_refusal(outcome: ToolOutcome | None, path: str) -> NoReturn:
    """Reject the program's request with a reason.

    Raises:
        RequestError: Always.
    """
    if outcome is None:
        raise RequestError(_ERROR_CODE_REFUSED, "The turn was canceled.", {"path": path})
    error = dict(outcome.error or {})
    if error.get("type") == "not_found":
        raise RequestError(
            _ERROR_CODE_NOT_FOUND, outcome.message or str(error.get("message")), {"path": path}
        )
    message = outcome.message or str(error.get("message") or "The request was denied.")
    raise RequestError(_ERROR_CODE_REFUSED, message, {"path": path, "denied": outcome.denied})


def _path_key(path: str) -> str:
    with suppress(ValueError):
        return str(PurePath(path))
    return path
