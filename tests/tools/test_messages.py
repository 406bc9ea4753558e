"""send_message to outside services: the real gate, key store and log, and servers that speak the protocol."""

from __future__ import annotations

import json
import logging

import pytest

from app.errors import InvalidParametersError
from app.messages.channel_registry import WEBHOOK, webhook_account
from app.permissions.approval import Denied, Effect
from app.permissions.caller import Caller, CallerKind
from app.settings import MessageSettings, settings_file
from app.toolkit.call import Call
from tests.support.message_servers import HANDLE, PASSWORD, TOKEN, BlueskyServer, DiscordServer

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Agent", turn="t")


def send(workspace, target, content="The tide is at 6.", **more):
    return workspace.runner.run(
        Call.of("send_message", {"target": target, "content": content, **more}, AGENT)
    )


@pytest.fixture
def discord(workspace):
    with DiscordServer() as server:
        workspace.change_settings("messages", discord=True)
        workspace.keys.set("discord", WEBHOOK, server.webhook)
        yield server


@pytest.fixture
def bluesky(workspace):
    with BlueskyServer() as server:
        workspace.change_settings(
            "messages", bluesky=True, bluesky_handle=HANDLE, bluesky_service=server.address
        )
        workspace.keys.set("bluesky", HANDLE, PASSWORD)
        yield server


async def test_a_message_to_discord_is_shown_exactly_and_then_sent(workspace, discord, approver):
    outcome = await send(workspace, "discord")
    assert outcome.success and [post["content"] for post in discord.posts] == ["The tide is at 6."]
    (request,) = approver.asked
    effect = request.proposal
    assert isinstance(effect, Effect) and effect.kind == "message" and not request.offers
    where = "Discord, webhook 1234567890 at 127.0.0.1"
    assert dict(effect.arguments) == {"to": where, "text": "The tide is at 6."}


async def test_a_post_to_bluesky_is_shown_exactly_and_then_sent(workspace, bluesky, approver):
    outcome = await send(workspace, "bluesky")
    assert outcome.success and outcome.result["link"].startswith(f"https://bsky.app/profile/{HANDLE}/")
    assert f"@{HANDLE}" in dict(approver.asked[0].proposal.arguments)["to"]


@pytest.mark.parametrize("target", ["discord", "bluesky"])
async def test_a_denied_message_is_not_sent_and_none_is_ever_sent_unasked(
    workspace, discord, bluesky, approver, target
):
    approver.answers = [Denied("not today")]
    for _ in range(2):
        outcome = await send(workspace, target)
        assert outcome.denied and outcome.words == "not today"
    assert len(approver.asked) == 2
    assert discord.posts == [] and bluesky.records == [] and bluesky.sessions == 0


@pytest.mark.parametrize(
    ("settings", "target", "words"),
    [
        ({}, "discord", "Discord are off"),
        ({"discord": True}, "discord", "no webhook"),
        ({}, "bluesky", "Bluesky are off"),
        ({"bluesky": True}, "bluesky", "no handle"),
        ({"bluesky": True, "bluesky_handle": HANDLE}, "bluesky", "no app password"),
        ({"bluesky": True, "bluesky_handle": "nobody"}, "bluesky", "app password"),
    ],
)
async def test_an_unconfigured_channel_is_an_error(workspace, approver, settings, target, words):
    workspace.change_settings("messages", **settings)
    outcome = await send(workspace, target)
    error_message = outcome.error["message"]
    assert not outcome.success and words in error_message and "Settings" in error_message
    assert approver.asked == []


async def test_a_channel_and_a_handle_are_chosen_by_id(workspace, discord, bluesky, approver):
    second = "second.example.com"
    workspace.change_settings("messages", discord_channels=("tides",), bluesky_handles=(second,))
    missing = await send(workspace, "discord", id="tides")
    assert "The Discord channel tides has no webhook" in missing.error["message"]
    workspace.keys.set("discord", webhook_account("tides"), discord.webhook)
    assert (await send(workspace, "discord", id="tides")).success and len(discord.posts) == 1
    assert dict(approver.asked[-1].proposal.arguments)["to"].startswith("Discord, tides, webhook")
    unknown = await send(workspace, "discord", id="moon")
    assert unknown.error["type"] == "not_found" and unknown.error["suggestions"] == ["tides"]
    workspace.keys.set("bluesky", second, PASSWORD)
    await send(workspace, "bluesky", id=f"@{second}")
    assert f"@{second}" in dict(approver.asked[-1].proposal.arguments)["to"]
    assert (await send(workspace, "bluesky", id="other.example.com")).error["type"] == "not_found"


async def test_metadata_is_refused_where_only_a_text_can_be_sent(workspace, discord, approver):
    outcome = await send(workspace, "discord", metadata={"topic": "tides"})
    assert outcome.error["type"] == "invalid_parameters" and discord.posts == [] and not approver.asked


async def test_a_message_that_is_too_long_fails_without_a_question(workspace, discord, bluesky, approver):
    for target, length in (("discord", 2001), ("bluesky", 301)):
        outcome = await send(workspace, target, "x" * length)
        assert outcome.error["type"] == "limit" and outcome.error["length"] == length
    assert approver.asked == [] and discord.posts == []


async def test_a_refusal_by_the_service_is_an_error_and_logged(workspace, discord):
    discord.answers.append((429, {"message": "slow", "retry_after": 2.5}, {}))
    outcome = await send(workspace, "discord")
    assert outcome.error["type"] == "limit" and outcome.error["retry_after"] == 2.5
    (entry,) = workspace.audit.entries(limit=1)
    assert (entry.tool, entry.decision) == ("send_message", "failed") and entry.result.startswith("limit: ")


async def test_no_secret_is_in_settings_audit_or_logs(workspace, discord, bluesky, caplog):
    caplog.set_level(logging.DEBUG)
    for target in ("discord", "bluesky"):
        assert (await send(workspace, target)).success
    discord.answers.append((401, {"message": "no"}, {}))
    outcomes = [(await send(workspace, "discord")).as_dict()]
    log = "".join(str(entry) for entry in workspace.audit.entries(limit=10))
    kept = settings_file().read_text()
    for secret in (TOKEN, PASSWORD):
        assert secret not in log and secret not in kept and secret not in caplog.text
        assert secret not in json.dumps(outcomes, default=str)
    assert "The tide is at 6." in log


def test_the_settings_have_no_field_for_a_secret():
    assert not [name for name in MessageSettings.model_fields if "pass" in name or "webhook" in name]


async def test_a_wrong_webhook_in_the_key_store_is_reported(workspace, discord):
    workspace.keys.set("discord", WEBHOOK, "https://example.com/")
    with pytest.raises(InvalidParametersError):
        workspace.runner.services["messages"].channels.channel("discord")
    assert not (await send(workspace, "discord")).success
