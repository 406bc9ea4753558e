"""Access to a vault that is open in another process, through its local server."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from urllib.parse import quote

import httpx2

from app.encoding import encodable, encodable_arguments
from app.errors import NetworkError
from app.servers import codec
from app.servers.endpoint_file import Endpoint
from app.servers.vault_access import (
    Client,
    NameKind,
    NotePage,
    OnProgress,
    ToolDescriptor,
    VaultChange,
    WaitMode,
)
from app.toolkit.outcome import ToolOutcome

_TIMEOUT = httpx2.Timeout(10.0, read=60.0)
_STREAM_TIMEOUT = httpx2.Timeout(10.0, read=None)
_CONNECTION_LIMITS = httpx2.Limits(max_connections=100, max_keepalive_connections=10)


class HolderGoneError(NetworkError):
    """The process that had the vault open can't be reached."""

    @property
    def sent(self) -> bool:
        """True if the request may have arrived, so its outcome is unknown; False if it never arrived."""
        return bool(self.data.get("sent"))


class RemoteVaultAccess:
    """A `VaultAccess` in another process. The caller must close it.

    The methods raise `HolderGoneError` if that process is gone, and the `ScriptoriumError`s that it reports.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._name = ""
        self._session = uuid.uuid4().hex
        self._clients: set[Client] = set()
        self._http = httpx2.AsyncClient(
            base_url=endpoint.address + codec.API_PREFIX,
            headers={"authorization": f"Bearer {endpoint.token}"},
            timeout=_TIMEOUT,
            limits=_CONNECTION_LIMITS,
            trust_env=False,
        )

    @classmethod
    async def join(cls, endpoint: Endpoint) -> RemoteVaultAccess:
        """Connect to the vault at an endpoint.

        Raises:
            HolderGoneError: the endpoint does not respond.
            ScriptoriumError: the server rejects the connection.
        """
        vault = cls(endpoint)
        try:
            vault._name = str((await vault._get("/vault", None)).get("name", ""))
        except BaseException:
            await vault.close()
            raise
        return vault

    @property
    def name(self) -> str:
        """The vault's name."""
        return self._name

    async def close(self) -> None:
        """End the clients' sessions if the server is still reachable, and close the connections."""
        for client in tuple(self._clients):
            with suppress(httpx2.HTTPError):
                await self._http.delete("/session", headers=self._headers(client), timeout=2.0)
        await self._http.aclose()

    async def tools(self, client: Client) -> tuple[ToolDescriptor, ...]:
        """Return the tools that `client` may call, without the operations that it may not use."""
        return tuple(map(codec.descriptor_from_wire, (await self._get("/tools", client))["tools"]))

    async def call(
        self,
        client: Client,
        tool: str,
        arguments: Mapping[str, object],
        *,
        wait_mode: WaitMode = "wait",
        claim: str = "",
        progress: OnProgress | None = None,
    ) -> ToolOutcome:
        """Call a tool. Cancellation closes the connection, which cancels the call on the server.

        Raises:
            HolderGoneError: the server is gone; if `sent` is true, the outcome of the call is unknown.
        """
        tool, arguments = encodable(tool), encodable_arguments(arguments)
        headers = self._headers(client)
        if claim:
            headers["scriptorium-claim"] = quote(encodable(claim))
        if wait_mode == "pending":
            headers["prefer"] = "respond-async"
        path = f"/tools/{quote(tool, safe='')}"
        try:
            if progress is None:
                return await self._call_once(path, dict(arguments), headers)
            return await self._call_with_stages(path, dict(arguments), headers, progress)
        except httpx2.HTTPError as error:
            raise _unreachable_error(error) from error

    async def _call_once(
        self, path: str, arguments: dict[str, object], headers: dict[str, str]
    ) -> ToolOutcome:
        """Call a tool and return its outcome, received as a single response."""
        headers["accept"] = codec.OUTCOME_TYPE
        response = await self._http.post(path, json=arguments, headers=headers, timeout=_STREAM_TIMEOUT)
        if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
            raise _closed_error()
        if response.headers.get("content-type") != codec.OUTCOME_TYPE:
            raise codec.error_from_wire(_json(response.content))
        return codec.outcome_from_wire(_json(response.content))

    async def _call_with_stages(
        self, path: str, arguments: dict[str, object], headers: dict[str, str], progress: OnProgress
    ) -> ToolOutcome:
        """Call a tool, report its stages and return its outcome."""
        headers["accept"] = "text/event-stream"
        async with self._http.stream(
            "POST", path, json=arguments, headers=headers, timeout=_STREAM_TIMEOUT
        ) as response:
            async for event, data in _events(response):
                if event == "outcome":
                    return codec.outcome_from_wire(data)
                if event == "error":
                    raise codec.error_from_wire(data)
                if event == "progress":
                    progress(codec.progress_from_wire(data))
        raise _closed_error()

    async def notes(self, client: Client, after: str = "", limit: int = 200) -> NotePage:
        """Return a page of the notes that `client` may see, sorted by path, after `after`."""
        page = await self._get("/notes", client, after=encodable(after), limit=str(limit))
        return NotePage(tuple(page["paths"]), page["next"])

    async def complete(self, client: Client, kind: NameKind, text: str) -> list[str]:
        """Return up to 100 completions of `text`, best first."""
        return list((await self._get("/complete", client, kind=kind, text=encodable(text)))["names"])

    async def changes(self, client: Client) -> AsyncIterator[VaultChange]:
        """Yield changes from now on, until the server stops.

        Raises:
            HolderGoneError: the server can't be reached, or the connection broke.
            ScriptoriumError: the server rejects the request.
        """
        headers = {**self._headers(client), "accept": "text/event-stream"}
        try:
            async with self._http.stream(
                "GET", "/news", headers=headers, timeout=_STREAM_TIMEOUT
            ) as response:
                async for event, data in _events(response):
                    if event == "news":
                        yield codec.change_from_wire(data)
        except httpx2.HTTPError as error:
            raise _unreachable_error(error) from error

    async def _get(self, path: str, client: Client | None, **query: str) -> codec.Json:
        headers = self._headers(client) if client is not None else {}
        try:
            response = await self._http.get(path, headers=headers, params=query)
        except httpx2.HTTPError as error:
            raise _unreachable_error(error) from error
        if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
            raise _closed_error()
        data = _json(response.content)
        if response.status_code >= 400:
            raise codec.error_from_wire(data)
        return data

    def _headers(self, client: Client) -> dict[str, str]:
        self._clients.add(client)
        return {
            "scriptorium-client": quote(client.name, safe=" "),
            "scriptorium-kind": client.kind.value,
            "scriptorium-session": client.session or self._session,
            "scriptorium-says": quote(client.says, safe=" /()"),
        }


async def _events(response: httpx2.Response) -> AsyncIterator[tuple[str, codec.Json]]:
    """Yield the events of a stream.

    Raises:
        HolderGoneError: the server is closing.
        ScriptoriumError: the server responded with an error.
    """
    if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
        raise _closed_error()
    if response.status_code >= 400:
        raise codec.error_from_wire(_json(await response.aread()))
    name = ""
    async for line in response.aiter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, _json(line.removeprefix("data: ").encode())


def _json(content: bytes) -> codec.Json:
    """Return the JSON object of a response, or an empty one if it is invalid."""
    try:
        data = json.loads(content)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _closed_error() -> HolderGoneError:
    message = "The app was closed during the request, so its outcome is unknown."
    return HolderGoneError(message, sent=True)


def _unreachable_error(error: httpx2.HTTPError) -> HolderGoneError:
    was_sent = not isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout)
    reason = str(error) or type(error).__name__
    return HolderGoneError(f"The app that has the vault open can't be reached ({reason}).", sent=was_sent)
