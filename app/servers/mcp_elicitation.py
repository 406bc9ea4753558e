"""Ask the user through the calling MCP client (elicitation) when Scriptorium has no window.

In the 2025 protocol, the server sends the question during the call. In the 2026 protocol, the call returns
with the question; its task stays pending until the client calls again with the answer.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, cast

import anyio
import mcp_types as t
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from app.errors import PermissionDeniedError
from app.permissions.approval import ApprovalRequest, Decision
from app.servers import mcp_approval_form
from app.servers.mcp_progress import Context
from app.servers.vault_access import Client

T = TypeVar("T")
CALLS_KEY = "scriptorium.calls"
"""Key of the running calls in a request's scope."""
_INPUT_KEY = "approval"
_MAX_PENDING_CALLS = 32
_RESULT_TTL_S = 60.0
"""How long the result of a pending call stays available to its client."""


class Asker(Protocol):
    """Forwards a question to the user of one client."""

    async def ask(self, request: ApprovalRequest) -> Decision:
        """Return the user's decision. Cancellation withdraws the question."""
        ...


ASKER: ContextVar[Asker | None] = ContextVar("asker", default=None)
"""The asker for the current call; inherited by the tasks that the call starts."""


class ClientApprover:
    """An `Approver` that asks the client's user, for a process without a window.

    Attributes:
        is_pending: Returns whether a call is a pending operation, which waits indefinitely for a decision.
    """

    def __init__(self) -> None:
        self.is_pending: Callable[[str], bool] = lambda call: False

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Return the decision of the client's user; for a pending operation, wait until canceled.

        Raises:
            PermissionDeniedError: the client can't ask its user.
        """
        if self.is_pending(request.call):
            decision: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
            return await decision
        asker = ASKER.get()
        if asker is None:
            raise PermissionDeniedError(
                f"This client can't ask the user, and {request.reason}. Nothing was changed. Open the vault "
                "in Scriptorium, or call again without waiting for the user."
            )
        return await asker.ask(request)


class _LiveElicitation:
    """Asker that sends the question during the call."""

    def __init__(self, ctx: Context, on_asking: Callable[[], None]) -> None:
        self._ctx = ctx
        self._on_asking = on_asking

    async def ask(self, request: ApprovalRequest) -> Decision:
        form = mcp_approval_form.question_form(request)
        self._on_asking()
        session, request_id = self._ctx.session, self._ctx.request_id
        answer = await session.elicit_form(form.message, form.requested_schema, related_request_id=request_id)
        return mcp_approval_form.parse_decision(request, answer)


@dataclass
class _PendingElicitation:
    """A call that returned with a question and is waiting for the answer."""

    client: tuple[str, str]
    call: tuple[str, object]
    question_ready: asyncio.Event = field(default_factory=asyncio.Event)
    request: ApprovalRequest | None = None
    form: t.ElicitRequestFormParams | None = None
    answer: asyncio.Future[Decision] | None = None
    task: asyncio.Task[Any] | None = None

    async def ask(self, request: ApprovalRequest) -> Decision:
        self.form = mcp_approval_form.question_form(request)
        self.request = request
        self.answer = asyncio.get_running_loop().create_future()
        self.question_ready.set()
        try:
            return await self.answer
        finally:
            self.request = self.form = None
            self.question_ready.clear()


class Elicitation:
    """Runs calls whose questions go to the client. Lives as long as the server."""

    def __init__(self) -> None:
        self._pending: dict[str, _PendingElicitation] = {}

    async def run(
        self,
        ctx: Context,
        params: t.InputResponseRequestParams,
        client: Client,
        call: tuple[str, object],
        work: Callable[[], Coroutine[Any, Any, T]],
        on_asking: Callable[[], None] = lambda: None,
    ) -> T | t.InputRequiredResult:
        """Return the result of `work`, or its question to the user.

        Args:
            ctx: The request.
            params: Its parameters, with the answers for a pending call.
            client: The calling client.
            call: The tool and its arguments, which must be the same when the answer arrives.
            work: Starts the call.
            on_asking: Called when the server is about to ask the client's user.

        Raises:
            MCPError: the answer does not belong to a pending call, or the call was canceled.
            Exception: any exception of `work`.
        """
        is_modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        if not is_modern:
            return await _run_live(ctx, work, on_asking)
        if params.request_state is not None:
            return cast("T | t.InputRequiredResult", await self._resume(params, client, call))
        if not _can_ask(ctx):
            return await run_detached(work())
        pending = _PendingElicitation((client.kind.value, client.name), call)
        pending.task = _start_task(work(), pending)
        return cast(
            "T | t.InputRequiredResult", await self._next_question(secrets.token_urlsafe(24), pending)
        )

    async def _resume(
        self, params: t.InputResponseRequestParams, client: Client, call: tuple[str, object]
    ) -> Any:  # noqa: ANN401 (the result of a call from another request)
        state = str(params.request_state)
        pending = self._pending.get(state)
        if pending is None or pending.client != (client.kind.value, client.name) or pending.call != call:
            raise MCPError(
                t.INVALID_PARAMS, "No such call is waiting for an answer.", {"reason": "request_state"}
            )
        answer = (params.input_responses or {}).get(_INPUT_KEY)
        if pending.request is not None and pending.answer is not None and isinstance(answer, t.ElicitResult):
            pending.question_ready.clear()
            if not pending.answer.done():
                pending.answer.set_result(mcp_approval_form.parse_decision(pending.request, answer))
        return await self._next_question(state, pending)

    async def _next_question(self, state: str, pending: _PendingElicitation) -> Any:  # noqa: ANN401
        """Return the result of a pending call, or its next question."""
        assert pending.task is not None
        question_task = asyncio.create_task(pending.question_ready.wait())
        try:
            await asyncio.wait({pending.task, question_task}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._pending.pop(state, None)
            await _cancel_task(pending.task)
            raise
        finally:
            question_task.cancel()
        if pending.task.done():
            self._pending.pop(state, None)
            return _task_result(pending.task)
        self._add_pending(state, pending)
        assert pending.form is not None
        request = t.ElicitRequest(params=pending.form)
        return t.InputRequiredResult(input_requests={_INPUT_KEY: request}, request_state=state)

    def _add_pending(self, state: str, pending: _PendingElicitation) -> None:
        if state in self._pending:
            return
        if len(self._pending) >= _MAX_PENDING_CALLS:
            oldest = self._pending.pop(next(iter(self._pending)))
            if oldest.task is not None:
                oldest.task.cancel("too many calls are waiting for answers")
        self._pending[state] = pending
        assert pending.task is not None
        loop = asyncio.get_running_loop()
        pending.task.add_done_callback(
            lambda done: loop.call_later(_RESULT_TTL_S, self._pending.pop, state, None)
        )

    async def close(self) -> None:
        """Cancel the pending calls and wait for them to finish."""
        tasks = [pending.task for pending in self._pending.values() if pending.task is not None]
        self._pending.clear()
        for task in tasks:
            task.cancel("the client is gone")
        await asyncio.gather(*tasks, return_exceptions=True)


async def _run_live(
    ctx: Context, work: Callable[[], Coroutine[Any, Any, T]], on_asking: Callable[[], None]
) -> T:
    task = _start_task(work(), _LiveElicitation(ctx, on_asking) if _can_ask(ctx) else None)
    # Over HTTP, a client of the 2025 protocol can just disconnect; the transport cancels these tasks.
    calls = ctx.request.scope.get(CALLS_KEY) if ctx.request is not None else None
    if calls is not None:
        calls.add(task)
        task.add_done_callback(calls.discard)
    return await _wait_for_result(task)


def _can_ask(ctx: Context) -> bool:
    """Return whether the client can show forms to its user."""
    capabilities = ctx.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _start_task(work: Coroutine[Any, Any, T], asker: Asker | None) -> asyncio.Task[T]:
    """Start a task whose context has `asker` as its asker."""
    token = ASKER.set(asker)
    try:
        return asyncio.create_task(work, name="a call over MCP")
    finally:
        ASKER.reset(token)


async def run_detached(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`, run in a task that is canceled only once.

    anyio cancels the tasks in its scopes repeatedly until they end, but a canceled call still has to
    withdraw its question and write its audit entry.

    Raises:
        MCPError: the call was canceled, but not by this task's cancellation.
    """
    return await _wait_for_result(asyncio.create_task(work, name="a call over MCP"))


async def _wait_for_result(task: asyncio.Task[T]) -> T:
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        await _cancel_task(task)
        raise
    return _task_result(task)


def _task_result(task: asyncio.Task[T]) -> T:
    if task.cancelled():
        raise MCPError(t.INTERNAL_ERROR, "The call was canceled.")
    return task.result()


async def _cancel_task(task: asyncio.Task[Any]) -> None:
    task.cancel("withdrawn by the client")
    with anyio.CancelScope(shield=True):
        await asyncio.wait({task})
