"""Local servers that speak the protocols of Discord's webhooks and of Bluesky (XRPC)."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.support.web_server import WebServer

NUMBER, TOKEN = "1234567890", "sEcReT-webhook_token-0123456789"
HANDLE, PASSWORD = "writer.example.com", "abcd-efgh-ijkl-mnop"


class DiscordServer(WebServer):
    """Accepts posts for one webhook; `answers` are given first, in order, as (status, body, headers)."""

    def __init__(self, *answers: tuple[int, object, dict[str, str]]) -> None:
        self.answers = list(answers)
        self.posts: list[dict[str, object]] = []
        self.waits: list[bool] = []
        super().__init__([Route("/api/webhooks/{number}/{token}", self._post, methods=["POST"])])

    @property
    def webhook(self) -> str:
        """The webhook's address, which contains its token."""
        return f"{self.address}/api/webhooks/{NUMBER}/{TOKEN}"

    async def _post(self, request: Request) -> Response:
        body = await request.json()
        if self.answers:
            status, answer, headers = self.answers.pop(0)
            return JSONResponse(answer, status, headers)
        if request.path_params["number"] != NUMBER:
            return JSONResponse({"message": "Unknown Webhook", "code": 10015}, 404)
        if request.path_params["token"] != TOKEN:
            return JSONResponse({"message": "Invalid Webhook Token", "code": 50027}, 401)
        if len(body.get("content", "")) > 2000:
            return JSONResponse({"message": "Invalid Form Body", "code": 50035}, 400)
        self.posts.append(body)
        waits = request.query_params.get("wait") == "true"
        self.waits.append(waits)
        if not waits:
            return Response(status_code=204)
        return JSONResponse({"id": "99", "content": body["content"], "channel_id": "7"})


@dataclass
class ErrorResponse:
    """An error response of the Bluesky server; with status 307, a redirect to `message`."""

    status: int
    error: str
    message: str = ""
    headers: dict[str, str] = field(default_factory=dict)


class BlueskyServer(WebServer):
    """Creates sessions for one account, and records for the last session's token.

    `error_responses` are the errors that `session` and `record` requests get first, in order.
    """

    def __init__(self, **error_responses: list[ErrorResponse]) -> None:
        self.error_responses = error_responses
        self.sessions = 0
        self.records: list[dict[str, object]] = []
        super().__init__(
            [
                Route("/xrpc/com.atproto.server.createSession", self._session, methods=["POST"]),
                Route("/xrpc/com.atproto.repo.createRecord", self._record, methods=["POST"]),
            ]
        )

    def _rejected(self, method: str) -> Response | None:
        waiting = self.error_responses.get(method)
        if not waiting:
            return None
        rejection = waiting.pop(0)
        if rejection.status == 307:
            return RedirectResponse(rejection.message, 307)
        return JSONResponse(
            {"error": rejection.error, "message": rejection.message}, rejection.status, rejection.headers
        )

    async def _session(self, request: Request) -> Response:
        body = await request.json()
        if rejected := self._rejected("session"):
            return rejected
        if (body["identifier"], body["password"]) != (HANDLE, PASSWORD):
            wrong = {"error": "AuthenticationRequired", "message": "Invalid identifier or password"}
            return JSONResponse(wrong, 401)
        self.sessions += 1
        return JSONResponse(
            {
                "did": "did:plc:z72i7hdynmk6r22z27h6tvur",
                "handle": HANDLE,
                "accessJwt": _token(self.sessions),
                "refreshJwt": _token(self.sessions),
            }
        )

    async def _record(self, request: Request) -> Response:
        if rejected := self._rejected("record"):
            return rejected
        if request.headers.get("authorization") != f"Bearer {_token(self.sessions)}":
            return JSONResponse({"error": "InvalidToken", "message": "Token could not be verified"}, 401)
        self.records.append(await request.json())
        uri = f"at://did:plc:z72i7hdynmk6r22z27h6tvur/app.bsky.feed.post/3k{len(self.records)}"
        return JSONResponse(
            {"uri": uri, "cid": "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a"}
        )


_ISSUED_AT = int(time.time())


def _token(number: int) -> str:
    """Return a token in the server's format, with an invalid signature."""

    def part(fields: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")

    claims = {"scope": "com.atproto.appPass", "iat": _ISSUED_AT, "exp": _ISSUED_AT + 7200, "n": number}
    return f"{part({'typ': 'at+jwt', 'alg': 'HS256'})}.{part(claims)}.c2lnbmF0dXJl"
