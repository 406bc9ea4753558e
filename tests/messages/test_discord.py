"""Messages to Discord, over HTTP to a server that speaks its webhook protocol."""

from __future__ import annotations

import logging
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import (
    InvalidParametersError,
    LimitError,
    NetworkError,
    NotFoundError,
    PermissionDeniedError,
)
from app.messages.discord import DiscordWebhook
from tests.support.message_servers import NUMBER, TOKEN, DiscordServer


async def test_a_message_arrives_unchanged_and_mentions_no_user(caplog):
    caplog.set_level(logging.DEBUG)
    with DiscordServer() as server:
        receipt = await DiscordWebhook(server.webhook).send("Tide at 6.\n@everyone ⛵")
    assert receipt.id == "99" and server.waits == [True]
    (post,) = server.posts
    assert post["content"] == "Tide at 6.\n@everyone ⛵" and post["allowed_mentions"] == {"parse": []}
    assert TOKEN not in caplog.text


async def test_no_content_is_a_success_too():
    with DiscordServer((204, None, {})) as server:
        assert (await DiscordWebhook(server.webhook).send("Hello")).id == ""


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        ((400, {"message": "An empty message"}, {}), InvalidParametersError, "empty"),
        ((401, {"message": "Invalid Webhook Token"}, {}), PermissionDeniedError, "token"),
        ((404, {"message": "Unknown Webhook"}, {}), NotFoundError, "deleted"),
        ((429, {"message": "slow", "retry_after": 1.5, "global": False}, {}), LimitError, "1.5 s"),
        ((429, "no object", {"retry-after": "3"}), LimitError, "3 s"),
        ((429, {}, {}), LimitError, "rate limit"),
        ((500, {}, {}), NetworkError, "500"),
        ((302, {}, {"location": "http://127.0.0.1:1/"}), NetworkError, "302"),
    ],
)
async def test_each_refusal_is_an_error_in_words_that_hold_no_secret(answer, error, words, caplog):
    caplog.set_level(logging.DEBUG)
    with DiscordServer(answer) as server, pytest.raises(error, match=words) as caught:
        await DiscordWebhook(server.webhook).send("Hello")
    assert TOKEN not in str(caught.value.as_dict()) and TOKEN not in caplog.text


async def test_an_unreachable_server_is_an_error_without_the_address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    hook = DiscordWebhook(f"http://127.0.0.1:{port}/api/webhooks/{NUMBER}/{TOKEN}")
    with pytest.raises(NetworkError, match="Nothing was sent") as caught:
        await hook.send("Hello")
    assert TOKEN not in str(caught.value) and caught.value.__cause__ is None


async def test_a_message_that_is_too_long_is_neither_sent_nor_truncated():
    with DiscordServer() as server:
        hook = DiscordWebhook(server.webhook)
        with pytest.raises(LimitError) as caught:
            await hook.send("x" * 2001)
        assert server.posts == [] and caught.value.data == {"limit": 2000, "length": 2001}
        await hook.send("é" * 2000)
        assert len(server.posts) == 1
        with pytest.raises(InvalidParametersError):
            await hook.send(" \n ")
        with pytest.raises(InvalidParametersError):
            await hook.send("broken \ud800")


@pytest.mark.parametrize(
    "address",
    [
        "http://discord.com/api/webhooks/1/t",
        "https://discord.com/channels/1/2",
        "https:///api/webhooks/1/t",
        "ftp://127.0.0.1/api/webhooks/1/t",
        "",
    ],
)
def test_an_invalid_webhook_is_refused_without_repeating_it(address):
    with pytest.raises(InvalidParametersError) as caught:
        DiscordWebhook(address)
    assert not address or address not in str(caught.value)


@given(st.from_regex(r"[A-Za-z0-9_-]{20,60}", fullmatch=True))
def test_the_token_is_in_no_message(token):
    hook = DiscordWebhook(f"https://discord.com/api/v10/webhooks/42/{token}")
    assert token not in hook.destination and token not in repr(hook) and "42" in hook.destination
