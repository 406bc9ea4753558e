"""The protocol for channels, which send messages through a service, and the code that they share."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Protocol

from app.errors import InvalidParametersError

_HTTP_LOGGERS = ("httpx2", "httpcore2", "httpx", "httpcore")


@dataclass(frozen=True, slots=True)
class Receipt:
    """A channel's receipt for a message: its id in the service, and a link to it, if known."""

    id: str
    link: str = ""


class Channel(Protocol):
    """Sends messages to one destination that the user has set up."""

    @property
    def destination(self) -> str:
        """A description of the destination, for the approval; never contains a secret."""
        ...

    def check(self, text: str) -> None:
        """Check that the text can be sent unchanged; nothing is ever truncated.

        Raises:
            InvalidParametersError: The text is empty, or contains surrogates.
            LimitError: The text is too long; `limit` and `length` are in its data.
        """
        ...

    async def send(self, text: str) -> Receipt:
        """Send the text and return once the service has accepted it.

        Raises:
            PermissionDeniedError: The service rejected the secret.
            NotFoundError: The destination no longer exists.
            InvalidParametersError: `check` or the service rejected the text.
            LimitError: The text is too long, or too many messages were sent; then `retry_after` in its data
                is the wait in seconds, if known.
            TimeoutExpiredError: No response was received, so the message may or may not have been sent.
            NetworkError: The service can't be reached, or failed.
        """
        ...


class Secrets(Protocol):
    """The system's credential store."""

    def get(self, provider: str, address: str) -> str | None:
        """Return the secret stored for the account `address` of the service `provider`, or None."""
        ...


def check_sendable(text: str) -> None:
    """Check that a message is not empty and is valid Unicode.

    Raises:
        InvalidParametersError: The text is empty, or contains surrogates.
    """
    if not text.strip():
        raise InvalidParametersError("An empty message can't be sent.")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise InvalidParametersError("The message has invalid characters (surrogates). Nothing was sent.")


def keep_addresses_out_of_logs() -> None:
    """Limit the logs of the HTTP libraries to warnings: the addresses in them may contain a secret."""
    for name in _HTTP_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
