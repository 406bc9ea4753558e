"""Models over real HTTP: the connection test, and a message for each kind of failure."""

from __future__ import annotations

import socket

import pytest

from app.agent import models
from app.errors import InvalidParametersError
from app.settings import ModelSettings
from tests.support.model_server import Fail, ModelServer, TextAnswer


def settings(address: str, model: str = "scripted") -> ModelSettings:
    return ModelSettings(provider="openai-compatible", base_url=address, model=model, request_timeout=5)


async def test_check_names_the_models_and_says_it_works():
    with ModelServer(TextAnswer("ready")) as server:
        result = await models.check(settings(server.address), None)
    assert result.ok and result.models == ("scripted",)
    assert server.requests[0]["tools"]


async def test_check_without_a_connection_says_where_and_what_to_do():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        result = await models.check(settings(address), None)
    assert not result.ok and result.text == f"No server responds at {address}." and result.hint


async def test_check_with_a_wrong_key():
    with ModelServer(key="right") as server:
        result = await models.check(settings(server.address), "wrong")
    assert not result.ok and "does not accept the key" in result.text
    assert "wrong" not in result.text + result.hint


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Fail(429, "Rate limit reached", {"retry-after": "0.05"}), "credit limit"),
        (Fail(400, "scripted does not support tools"), "can't call tools"),
        (Fail(404, "model not found"), "has no model called"),
        (Fail(500, "out of memory"), "failed (status 500): out of memory"),
    ],
)
async def test_each_status_has_a_message(answer, words):
    with ModelServer(answer, answer) as server:
        result = await models.check(settings(server.address), None)
    assert not result.ok and words in result.text


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        (settings("http://127.0.0.1:1/v1", model=""), "No model is selected"),
        (settings("ftp://example"), "not the address"),
        (settings("http://[::1"), "not the address"),
        (settings(""), "has no address"),
        (ModelSettings(provider="openai", model="m"), "needs a key"),
    ],
)
async def test_a_missing_model_or_address_is_reported_before_sending(chosen, words):
    with pytest.raises(InvalidParametersError, match=words):
        async with models.connect(chosen, None):
            pass
