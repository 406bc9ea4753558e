"""Bluesky over the AT Protocol: a session with an app password, and one record for each post.

The client library takes a second to import, so it is imported when a message is sent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import regex
from linkify_it import LinkifyIt

from app.errors import (
    InvalidParametersError,
    LimitError,
    NetworkError,
    PermissionDeniedError,
    ScriptoriumError,
    TimeoutExpiredError,
)
from app.messages.channel import Receipt, check_sendable, keep_addresses_out_of_logs

if TYPE_CHECKING:
    from atproto import AsyncClient

MAX_POST_GRAPHEMES = 300
MAX_POST_BYTES = 3000
_TIMEOUT_S = 20.0
_GRAPHEME = regex.compile(r"\X")
_HANDLE = regex.compile(
    r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?", regex.IGNORECASE
)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_EXPIRED = "ExpiredToken"
_CHECK_HINT = "Check the account to see whether the post is there."


@dataclass(frozen=True, slots=True)
class LinkSpan:
    """A link in a text: its start and end as UTF-8 byte offsets, and its target."""

    start: int
    end: int
    address: str


def count_graphemes(text: str) -> int:
    """Return the number of grapheme clusters, which is what Bluesky counts."""
    return sum(1 for _ in _GRAPHEME.finditer(text))


def link_spans(text: str) -> tuple[LinkSpan, ...]:
    """Return the web links of a text; Bluesky shows a link only if the post marks it."""
    matches = LinkifyIt(options={"fuzzy_email": False}).match(text) or []
    return tuple(
        LinkSpan(len(text[: match.index].encode()), len(text[: match.last_index].encode()), match.url)
        for match in matches
        if match.url.startswith(("http://", "https://"))
    )


@dataclass(frozen=True)
class BlueskyAccount:
    """A Bluesky account that can post.

    Args:
        handle: The account's handle, such as name.bsky.social.
        password: An app password, not the account password.
        service: The address of the account's server.

    Raises:
        InvalidParametersError: The handle or the address is not valid.
    """

    handle: str
    password: str = field(repr=False)
    service: str = "https://bsky.social"

    def __post_init__(self) -> None:
        if not _HANDLE.fullmatch(self.handle):
            raise InvalidParametersError(
                f"{self.handle!r} is not a valid handle. Use the form name.bsky.social."
            )
        parts = urlsplit(self.service)
        is_secure = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
        if not is_secure or not parts.hostname:
            raise InvalidParametersError(f"{self.service!r} is not the https address of a Bluesky server.")

    @property
    def destination(self) -> str:
        """The account and its server, as shown in approval requests."""
        return f"Bluesky, as @{self.handle} on {urlsplit(self.service).hostname}"

    def check(self, text: str) -> None:
        """Check the text as in `Channel`: 1 to 300 graphemes, and at most 3,000 bytes."""
        check_sendable(text)
        length, size = count_graphemes(text), len(text.encode())
        if length > MAX_POST_GRAPHEMES or size > MAX_POST_BYTES:
            unit, limit, count = (
                ("characters", MAX_POST_GRAPHEMES, length)
                if length > MAX_POST_GRAPHEMES
                else ("bytes", MAX_POST_BYTES, size)
            )
            raise LimitError(
                f"Bluesky allows {limit:,} {unit}; this message has {count:,}. Nothing was sent. Shorten it.",
                limit=limit,
                length=count,
            )

    async def send(self, text: str) -> Receipt:
        """Send as in `Channel`; after an expired-token error, log in and try once more."""
        import httpx
        from atproto import AsyncClient, AsyncRequest
        from atproto_client.exceptions import AtProtocolError

        self.check(text)
        keep_addresses_out_of_logs()
        request = AsyncRequest(timeout=_TIMEOUT_S, event_hooks={"response": [_refuse_redirect]})
        client = AsyncClient(self.service, request=request)
        try:
            try:
                return await self._post(client, text)
            except AtProtocolError as error:
                if _error_name(error) != _EXPIRED:
                    raise
                return await self._post(client, text)
        except AtProtocolError as error:
            raise _to_app_error(error) from None
        except (httpx.HTTPError, ValueError) as error:
            # The library does not wrap these: a lost connection, or a response that violates the protocol.
            kind = type(error).__name__
            raise NetworkError(f"The connection to Bluesky failed ({kind}). {_CHECK_HINT}") from error
        finally:
            await request.close()

    async def _post(self, client: AsyncClient, text: str) -> Receipt:
        from atproto import models

        await client.login(self.handle, self.password, fetch_bsky_profile=False)
        facets = [
            models.AppBskyRichtextFacet.Main(
                features=[models.AppBskyRichtextFacet.Link(uri=link.address)],
                index=models.AppBskyRichtextFacet.ByteSlice(byte_start=link.start, byte_end=link.end),
            )
            for link in link_spans(text)
        ]
        record = models.AppBskyFeedPost.Record(
            text=text, facets=facets or None, created_at=client.get_current_time_iso()
        )
        created = await client.com.atproto.repo.create_record(
            models.ComAtprotoRepoCreateRecord.Data(
                repo=self.handle, collection=models.ids.AppBskyFeedPost, record=record
            )
        )
        key = created.uri.rpartition("/")[2]
        return Receipt(created.uri, f"https://bsky.app/profile/{self.handle}/post/{key}")


async def _refuse_redirect(response: Any) -> None:  # noqa: ANN401 (of a lazily imported library)
    """Refuse a redirect: the password must not be sent to another address."""
    if response.is_redirect:
        raise NetworkError("Bluesky's server redirected to another address. Nothing was sent there.")


def _error_name(error: Exception) -> str:
    """Return the error name from the server's response, or an empty string if there is none."""
    content = getattr(getattr(error, "response", None), "content", None)
    return str(getattr(content, "error", ""))


def _to_app_error(error: Exception) -> ScriptoriumError:
    """Return the app error that explains a protocol error to the user."""
    from atproto_client import exceptions

    content = getattr(getattr(error, "response", None), "content", None)
    server_message = str(getattr(content, "message", None) or "")[:200]
    name = _error_name(error)
    if isinstance(error, exceptions.RateLimitExceededError):
        wait = error.retry_after
        retry_hint = f" Try again in {wait:g} s." if wait is not None else ""
        return LimitError(f"Bluesky’s rate limit has been reached.{retry_hint}", retry_after=wait)
    if isinstance(error, exceptions.UnauthorizedError) or name in ("AuthenticationRequired", _EXPIRED):
        return PermissionDeniedError(
            "Bluesky did not accept this handle and app password. Nothing was sent. "
            "Enter the app password again in the settings."
        )
    if isinstance(error, exceptions.BadRequestError):
        reason = server_message or name or "no reason given"
        return InvalidParametersError(f"Bluesky rejected this message: {reason}.")
    if isinstance(error, exceptions.InvokeTimeoutError):
        return TimeoutExpiredError(
            f"Bluesky did not answer in time. {_CHECK_HINT}",
            limit=_TIMEOUT_S,
        )
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is None:
        return NetworkError(f"The connection to Bluesky failed. {_CHECK_HINT}")
    return NetworkError(f"Bluesky returned error {status}. {_CHECK_HINT}", status=status)
