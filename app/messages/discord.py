"""Discord webhooks: one address, which is the secret, and one POST for each message."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from app.errors import (
    InvalidParametersError,
    LimitError,
    NetworkError,
    NotFoundError,
    PermissionDeniedError,
    ScriptoriumError,
    TimeoutExpiredError,
)
from app.messages.channel import Receipt, check_sendable, keep_addresses_out_of_logs

if TYPE_CHECKING:
    import httpx2

MAX_CHARS = 2000
_TIMEOUT_S = 20.0
_PATH = re.compile(r"/api/(?:v\d+/)?webhooks/(\d+)/[\w-]+")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_CHECK_HINT = "Check the channel to see whether the message arrived."


@dataclass(frozen=True)
class DiscordWebhook:
    """The channel behind a webhook.

    Args:
        address: The webhook's address. Anyone who has it can post, so it is stored as a secret.
        name: The user's name for the channel.

    Raises:
        InvalidParametersError: The address is not a webhook; the message does not repeat it.
    """

    address: str
    name: str = ""

    def __post_init__(self) -> None:
        parts = urlsplit(self.address)
        is_secure = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
        if not is_secure or not parts.hostname or not _PATH.fullmatch(parts.path):
            raise InvalidParametersError(
                "That is not the address of a Discord webhook, such as "
                "https://discord.com/api/webhooks/<number>/<token>. Copy it from the channel's settings."
            )

    def __repr__(self) -> str:
        return f"DiscordWebhook({self.destination})"

    @property
    def destination(self) -> str:
        """The webhook's name and number, and its server, without the token."""
        parts = urlsplit(self.address)
        number = _PATH.fullmatch(parts.path)
        name = f"{self.name}, " if self.name else ""
        return f"Discord, {name}webhook {number[1] if number else '?'} at {parts.hostname}"

    def check(self, text: str) -> None:
        """Check the text as in `Channel`: 1 to 2,000 characters."""
        check_sendable(text)
        if len(text) > MAX_CHARS:
            raise LimitError(
                f"Discord allows {MAX_CHARS:,} characters; this message has {len(text):,}. Nothing was sent: "
                "shorten it, or send it in parts.",
                limit=MAX_CHARS,
                length=len(text),
            )

    async def send(self, text: str) -> Receipt:
        """Send as in `Channel`; mentions in the text do not notify anyone."""
        import httpx2

        self.check(text)
        keep_addresses_out_of_logs()
        body = {"content": text, "allowed_mentions": {"parse": []}}
        try:
            async with httpx2.AsyncClient(timeout=_TIMEOUT_S, follow_redirects=False) as client:
                response = await client.post(self.address, params={"wait": "true"}, json=body)
        except httpx2.ConnectTimeout:
            raise NetworkError("Discord could not be reached in time; nothing was sent.") from None
        except httpx2.TimeoutException:
            raise TimeoutExpiredError(
                f"Discord did not answer in time. {_CHECK_HINT}",
                limit=_TIMEOUT_S,
            ) from None
        except httpx2.HTTPError as error:
            # The library's message contains the address, which is the secret.
            hint = "Nothing was sent." if isinstance(error, httpx2.ConnectError) else _CHECK_HINT
            raise NetworkError(f"The connection to Discord failed ({type(error).__name__}). {hint}") from None
        if response.status_code == 204:
            return Receipt("")
        if response.status_code == 200:
            return Receipt(str(_json_fields(response).get("id", "")))
        raise _to_app_error(response)


def _json_fields(response: httpx2.Response) -> Mapping[str, object]:
    try:
        fields = json.loads(response.content)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def _to_app_error(response: httpx2.Response) -> ScriptoriumError:
    """Return the error that explains Discord's response to the user."""
    status, fields = response.status_code, _json_fields(response)
    server_message = str(fields.get("message", ""))[:200]
    if status == 429:
        wait = _parse_seconds(fields.get("retry_after", response.headers.get("retry-after")))
        retry_hint = f" Try again in {wait:g} s." if wait is not None else ""
        return LimitError(f"Discord’s rate limit has been reached.{retry_hint}", retry_after=wait)
    if status in (401, 403):
        return PermissionDeniedError(
            "Discord does not accept the webhook's token. Nothing was sent. "
            "Enter the webhook again in the settings."
        )
    if status == 404:
        return NotFoundError(
            "The webhook was deleted in Discord. Nothing was sent. Create another one there, "
            "and enter it in the settings."
        )
    if status == 400:
        return InvalidParametersError(
            f"Discord rejected this message: {server_message or 'no reason given'}."
        )
    return NetworkError(f"Discord returned error {status}. {_CHECK_HINT}", status=status)


def _parse_seconds(value: object) -> float | None:
    try:
        return max(0.0, float(str(value)))
    except ValueError:
        return None
