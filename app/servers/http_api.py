"""The HTTP API under /api/v1, for programs with a token and for the user's own processes.

It exposes the methods of `LocalVaultAccess` as JSON; the middleware has already authenticated the requests.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app.errors import (
    ConflictError,
    InvalidParametersError,
    NotFoundError,
    PermissionDeniedError,
    ScriptoriumError,
)
from app.servers import codec
from app.servers.codec import API_PREFIX
from app.servers.local_vault import LocalVaultAccess
from app.servers.openapi import openapi
from app.servers.security import CLIENT_KEY, LOCAL_KEY
from app.servers.server_state import OnYield
from app.servers.sse import EventStream, ServerEvent, until_disconnected
from app.servers.vault_access import NAME_KINDS, CallProgress, Client, ToolDescriptor, WaitMode
from app.toolkit.outcome import ToolOutcome

_MAX_CLAIM_CHARS = 2000
_CLIENT_CLOSED_REQUEST = 499
_MAX_DIGITS = 9


def http_api(service: LocalVaultAccess, on_yield: OnYield | None = None) -> Starlette:
    """Return the app that serves /api/v1 for an open vault.

    Args:
        service: The vault.
        on_yield: Closes the vault when another of the user's processes asks for it; None in a window.
    """
    api = _Api(service, on_yield)
    paths: list[tuple[str, str, Callable[[Request], Awaitable[Response]]]] = [
        ("GET", "/vault", api.vault),
        ("GET", "/tools", api.tools),
        ("GET", "/tools/{name}", api.tool),
        ("GET", "/pending", api.pending),
        ("GET", "/pending/{id}", api.pending_operation),
        ("DELETE", "/pending/{id}", api.cancel),
        ("GET", "/notes", api.notes),
        ("GET", "/openapi.json", api.openapi),
        ("GET", "/complete", api.complete),
        ("DELETE", "/session", api.leave),
        ("POST", "/yield", api.yield_vault),
    ]
    # Routes are tried in order, and nearly all requests are calls.
    routes = [Route(API_PREFIX + "/tools/{name}", _ToolCalls(service).call, methods=["POST"])]
    routes += [Route(API_PREFIX + path, endpoint, methods=[method]) for method, path, endpoint in paths]
    routes += [
        Route(API_PREFIX + "/news", api.changes, methods=["GET"]),
        Route(API_PREFIX + "/activity", api.activity, methods=["GET"]),
    ]
    handlers: Any = {ScriptoriumError: _error_response, HTTPException: _http_error_response}
    return Starlette(routes=routes, exception_handlers=handlers)


class _Api:
    """Handlers of all requests except tool calls."""

    def __init__(self, service: LocalVaultAccess, on_yield: OnYield | None) -> None:
        self._service = service
        self._on_yield = on_yield
        self._yielding: asyncio.Future[None] | None = None

    async def vault(self, request: Request) -> Response:
        return JSONResponse({"name": self._service.name, "client": request_client(request).name})

    async def tools(self, request: Request) -> Response:
        tools = await self._service.tools(request_client(request))
        return JSONResponse({"tools": [codec.descriptor_to_wire(tool) for tool in tools]})

    async def openapi(self, request: Request) -> Response:
        tools = await self._service.tools(request_client(request))
        return JSONResponse(openapi(self._service.name, f"http://{request.headers['host']}", tools))

    async def tool(self, request: Request) -> Response:
        tool = await self._find_tool(request_client(request), request.path_params["name"])
        return JSONResponse(codec.descriptor_to_wire(tool))

    async def _find_tool(self, client: Client, name: str) -> ToolDescriptor:
        """Return a tool that a client may call.

        Raises:
            NotFoundError: there is no such tool, or the client may not call it.
        """
        for tool in await self._service.tools(client):
            if tool.name == name:
                return tool
        raise NotFoundError(f"There is no tool called {name!r}.", tool=name)

    async def pending(self, request: Request) -> Response:
        return _outcome_response(await self._service.call(request_client(request), "pending", {"op": "list"}))

    async def pending_operation(self, request: Request) -> Response:
        return _outcome_response(await self._call_pending(request, "status"))

    async def cancel(self, request: Request) -> Response:
        return _outcome_response(await self._call_pending(request, "cancel"))

    async def _call_pending(self, request: Request, op: str) -> ToolOutcome:
        arguments = {"op": op, "pending_operation_id": request.path_params["id"]}
        return await self._service.call(request_client(request), "pending", arguments)

    async def notes(self, request: Request) -> Response:
        query = request.query_params
        limit = _parse_number(query.get("limit", "200"), "limit")
        page = await self._service.notes(request_client(request), query.get("after", ""), limit)
        return JSONResponse({"paths": list(page.paths), "next": page.next})

    async def complete(self, request: Request) -> Response:
        query = request.query_params.get("kind", "note")
        kind = next((kind for kind in NAME_KINDS if kind == query), None)
        if kind is None:
            raise InvalidParametersError(f"{query!r} is not a valid kind.", allowed=list(NAME_KINDS))
        names = await self._service.complete(
            request_client(request), kind, request.query_params.get("text", "")
        )
        return JSONResponse({"names": names})

    async def leave(self, request: Request) -> Response:
        self._service.client_registry.mark_disconnected(request_client(request))
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def yield_vault(self, request: Request) -> Response:
        """Start closing the vault; the requester waits for the vault's lock."""
        if not request.scope[LOCAL_KEY]:
            raise PermissionDeniedError("Only the user's own processes can ask for the vault.")
        if self._on_yield is None:
            raise ConflictError("The vault is open in a window, which only the user can close.")
        # Use a separate task: closing the vault cancels the requests, including this one.
        self._yielding = self._yielding or asyncio.ensure_future(self._on_yield())
        return JSONResponse({"success": True, "message": "The vault is being closed."}, HTTPStatus.ACCEPTED)

    async def changes(self, request: Request) -> EventStream:
        stream = self._service.changes(request_client(request))

        async def events() -> AsyncGenerator[ServerEvent]:
            async for change in stream:
                yield ServerEvent("news", codec.change_to_wire(change))

        return EventStream(events(), stream.end)

    async def activity(self, request: Request) -> EventStream:
        stream = self._service.activity(request_client(request))

        async def events() -> AsyncGenerator[ServerEvent]:
            async for event in stream:
                yield ServerEvent(event.kind, event.data)

        return EventStream(events(), stream.end)


class _ToolCalls:
    """Tool calls: the response is the outcome, a pending operation (202), or a stream of stages."""

    def __init__(self, service: LocalVaultAccess) -> None:
        self._service = service

    async def call(self, request: Request) -> EventStream | Response:
        client, tool = request_client(request), request.path_params["name"]
        arguments = _parse_arguments(await request.body())
        wait_mode: WaitMode = "pending" if _is_async(request) else "wait"
        claim = unquote(request.headers.get("scriptorium-claim", ""))[:_MAX_CLAIM_CHARS]
        accept = request.headers.get("accept", "")
        if "text/event-stream" in accept:
            return EventStream(self._stages(client, tool, arguments, wait_mode, claim))
        work = self._service.call(client, tool, arguments, wait_mode=wait_mode, claim=claim)
        outcome = await until_disconnected(request.receive, work)
        if outcome is None:
            return Response(status_code=_CLIENT_CLOSED_REQUEST)
        if accept == codec.OUTCOME_TYPE:
            return JSONResponse(codec.outcome_to_wire(outcome), media_type=codec.OUTCOME_TYPE)
        return _outcome_response(outcome)

    async def _stages(
        self, client: Client, tool: str, arguments: Mapping[str, Any], wait_mode: WaitMode, claim: str
    ) -> AsyncGenerator[ServerEvent]:
        stages: asyncio.Queue[CallProgress | None] = asyncio.Queue()

        async def call() -> ToolOutcome:
            try:
                return await self._service.call(
                    client, tool, arguments, wait_mode=wait_mode, claim=claim, progress=stages.put_nowait
                )
            finally:
                stages.put_nowait(None)

        task = asyncio.ensure_future(call())
        try:
            while (stage := await stages.get()) is not None:
                yield ServerEvent("progress", codec.progress_to_wire(stage))
            outcome = await task
            yield ServerEvent("outcome", codec.outcome_to_wire(outcome))
        except ScriptoriumError as error:
            yield ServerEvent("error", {"error": error.as_dict()})
        finally:
            if not task.done():
                task.cancel("the client disconnected")
                await asyncio.wait({task})


def request_client(request: Request) -> Client:
    """Return the authenticated client."""
    client = request.scope[CLIENT_KEY]
    assert isinstance(client, Client)
    return client


def _parse_arguments(body: bytes) -> Mapping[str, Any]:
    """Parse the arguments of a call.

    Raises:
        InvalidParametersError: the body is not a JSON object.
    """
    if not body.strip():
        return {}
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidParametersError(f"The body is not JSON: {error}.") from error
    if not isinstance(data, dict):
        raise InvalidParametersError("The body must be a JSON object with the tool's arguments.")
    return data


def _is_async(request: Request) -> bool:
    preference = request.headers.get("prefer", "")
    return "respond-async" in preference or request.query_params.get("wait") in ("false", "0", "no")


def _parse_number(text: str, name: str) -> int:
    if not text.isdecimal() or len(text) > _MAX_DIGITS:
        raise InvalidParametersError(
            f"{name} is not a number of at most {_MAX_DIGITS} digits: {text[:80]!r}."
        )
    return int(text)


def _outcome_response(outcome: ToolOutcome) -> Response:
    headers: dict[str, str] = {}
    if outcome.entry:
        headers["scriptorium-entry"] = str(outcome.entry)
    if outcome.pending:
        headers["location"] = f"{API_PREFIX}/pending/{outcome.pending}"
    retry = (outcome.error or {}).get("retry_after")
    if isinstance(retry, int | float):
        headers["retry-after"] = str(max(1, round(retry)))
    return JSONResponse(outcome.as_dict(), codec.status_of(outcome), headers)


async def _error_response(request: Request, error: Exception) -> Response:
    assert isinstance(error, ScriptoriumError)
    return JSONResponse({"success": False, "error": error.as_dict()}, codec.status_of_error(error.type))


async def _http_error_response(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kind = NotFoundError.type if error.status_code == 404 else InvalidParametersError.type
    body = {"success": False, "error": {"type": kind, "message": f"{error.detail}."}}
    return JSONResponse(body, error.status_code, dict(error.headers or {}))
