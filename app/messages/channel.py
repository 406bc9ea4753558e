"""A channel: a place outside the machine that takes messages."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Protocol

from app.errors import InvalidParametersError

_CHATTY = ("httpx2", "httpcore2", "httpx", "httpcore")


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a channel says of a message that it took: its id there, and where it can be seen, if known."""

    id: str
    link: str = ""


class Channel(Protocol):
    """Takes messages for one place that the user has set up."""

    @property
    def where(self) -> str:
        """The place in words for the approval; never a secret."""
        ...

    def check(self, text: str) -> None:
        """See that the text can be sent as it is; nothing is ever cut.

        Raises:
            InvalidParametersError: it is empty.
            LimitError: it is too long; `limit` and `length` say by how much.
        """
        ...

    async def send(self, text: str) -> Receipt:
        """Send the text; returns once the place has taken it.

        Raises:
            PermissionDeniedError: the place does not accept the secret.
            NotFoundError: the place is gone.
            InvalidParametersError: the place does not take this text.
            LimitError: too many messages; `retry_after` in seconds, where the place says it.
            TimeoutExpiredError: no answer came; whether the message arrived is not known.
            NetworkError: the place can't be reached, or failed.
        """
        ...


class Secrets(Protocol):
    """Where secrets are kept: the system's key store."""

    def get(self, provider: str, address: str) -> str | None:
        """The secret of a service and an account, None when there is none."""
        ...


def check_sendable(text: str) -> None:
    """See that there is something to send, and that it is text.

    Raises:
        InvalidParametersError: it is empty, or holds halves of characters.
    """
    if not text.strip():
        raise InvalidParametersError("An empty message can't be sent.")
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise InvalidParametersError("The message holds broken characters (surrogates). Nothing was sent.")


def keep_addresses_out_of_logs() -> None:
    """Let the HTTP libraries log only what goes wrong: they would log addresses, which may hold a secret."""
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
