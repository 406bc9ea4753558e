"""The channels that the user has set up. One that is off or half set up is an error, never a success."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.errors import InvalidParametersError, NotFoundError
from app.messages.channel import Channel, Secrets
from app.messages.discord import DiscordWebhook
from app.settings import MessageSettings

DISCORD, BLUESKY = "discord", "bluesky"
WEBHOOK = "webhook"
"""The account under which the address of Discord's webhook is kept."""
_WHERE = "Settings, Messages"


class Outbox:
    """Finds the channel of a target.

    Args:
        settings: What the user has switched on, as it is now.
        secrets: Holds the webhook's address and the app password.
    """

    def __init__(self, settings: Callable[[], MessageSettings], secrets: Secrets) -> None:
        self._settings = settings
        self._secrets = secrets

    def channel(self, target: str, id: str = "") -> Channel:
        """The channel of "discord" or "bluesky".

        Args:
            target: Which service.
            id: The name of a Discord channel or a Bluesky handle from the settings; empty for the first one.

        Raises:
            NotFoundError: there is no such channel or handle; `suggestions` are those that there are.
            InvalidParametersError: it is off, or not set up; the words say where to do it.
        """
        settings = self._settings()
        if target == DISCORD:
            if not settings.discord:
                raise _off("Discord")
            if id:
                _check_known(id, settings.discord_channels, "Discord channel")
            problem = f"The Discord channel {id} has no webhook" if id else "Discord has no webhook"
            return DiscordWebhook(self._secret(DISCORD, webhook_account(id), problem), id)
        if target == BLUESKY:
            if not settings.bluesky:
                raise _off("Bluesky")
            if not settings.bluesky_handle:
                raise InvalidParametersError(f"Bluesky has no handle yet: {_WHERE}. Nothing was sent.")
            # What counts its letters takes time to load, and most people send nothing.
            from app.messages.bluesky import BlueskyAccount

            handle = id.removeprefix("@") or settings.bluesky_handle
            _check_known(handle, (settings.bluesky_handle, *settings.bluesky_handles), "Bluesky handle")
            password = self._secret(BLUESKY, handle, "Bluesky has no app password")
            return BlueskyAccount(handle, password, settings.bluesky_service)
        raise InvalidParametersError(f"There is no channel {target!r}.", allowed=[DISCORD, BLUESKY])

    def _secret(self, service: str, account: str, problem: str) -> str:
        if secret := self._secrets.get(service, account):
            return secret
        raise InvalidParametersError(f"{problem} yet: {_WHERE}. Nothing was sent.")


def webhook_account(channel: str) -> str:
    """The account under which a channel's webhook is kept; empty for the first channel."""
    return f"{WEBHOOK}:{channel}" if channel else WEBHOOK


def _check_known(id: str, known: Sequence[str], what: str) -> None:
    if id not in known:
        message = f"There is no {what} {id!r} in the settings. Nothing was sent."
        raise NotFoundError(message, id=id, suggestions=list(known))


def _off(name: str) -> InvalidParametersError:
    return InvalidParametersError(f"Messages to {name} are off: {_WHERE}. Nothing was sent.")
