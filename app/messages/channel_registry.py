"""The channels that the user has set up. A disabled or incomplete channel is an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.errors import InvalidParametersError, NotFoundError
from app.messages.channel import Channel, Secrets
from app.messages.discord import DiscordWebhook
from app.settings import MessageSettings

DISCORD, BLUESKY = "discord", "bluesky"
WEBHOOK = "webhook"
"""The account of the Discord webhook's address in the credential store."""
_SETTINGS_PAGE = "Settings, Messages"


class ChannelRegistry:
    """Finds the channel for a target.

    Args:
        settings: Returns the current settings.
        secrets: Stores the webhooks' addresses and the app passwords.
    """

    def __init__(self, settings: Callable[[], MessageSettings], secrets: Secrets) -> None:
        self._settings = settings
        self._secrets = secrets

    def channel(self, target: str, channel_id: str = "") -> Channel:
        """Return the channel of "discord" or "bluesky".

        Args:
            target: The service.
            channel_id: The name of a Discord channel or a Bluesky handle from the settings; empty for the
                first one.

        Raises:
            NotFoundError: There is no such channel or handle; `suggestions` lists the known ones.
            InvalidParametersError: There is no such service, or the channel is off, not set up, or set up
                with an invalid address or handle.
        """
        settings = self._settings()
        if target == DISCORD:
            if not settings.discord:
                raise _disabled_error("Discord")
            if channel_id:
                _check_known(channel_id, settings.discord_channels, "Discord channel")
            problem = (
                f"The Discord channel {channel_id} has no webhook" if channel_id else "Discord has no webhook"
            )
            return DiscordWebhook(self._secret(DISCORD, webhook_account(channel_id), problem), channel_id)
        if target == BLUESKY:
            if not settings.bluesky:
                raise _disabled_error("Bluesky")
            if not settings.bluesky_handle:
                raise InvalidParametersError(
                    f"Bluesky has no handle. Nothing was sent. Enter one in {_SETTINGS_PAGE}."
                )
            # Its library takes time to import, and most users send nothing.
            from app.messages.bluesky import BlueskyAccount

            handle = channel_id.removeprefix("@") or settings.bluesky_handle
            _check_known(handle, (settings.bluesky_handle, *settings.bluesky_handles), "Bluesky handle")
            password = self._secret(BLUESKY, handle, "Bluesky has no app password")
            return BlueskyAccount(handle, password, settings.bluesky_service)
        raise InvalidParametersError(f"There is no channel {target!r}.", allowed=[DISCORD, BLUESKY])

    def _secret(self, service: str, account: str, problem: str) -> str:
        if secret := self._secrets.get(service, account):
            return secret
        raise InvalidParametersError(f"{problem}. Nothing was sent. Enter it in {_SETTINGS_PAGE}.")


def webhook_account(channel: str) -> str:
    """Return the account of a channel's webhook in the credential store; `channel` is empty for the first."""
    return f"{WEBHOOK}:{channel}" if channel else WEBHOOK


def _check_known(channel_id: str, known: Sequence[str], kind: str) -> None:
    if channel_id not in known:
        message = f"There is no {kind} {channel_id!r} in the settings. Nothing was sent."
        raise NotFoundError(message, id=channel_id, suggestions=list(known))


def _disabled_error(name: str) -> InvalidParametersError:
    return InvalidParametersError(
        f"Messages to {name} are off. Nothing was sent. Turn them on in {_SETTINGS_PAGE}."
    )
