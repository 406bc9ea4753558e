"""The conversation so far, as a program receives it."""

from __future__ import annotations

import json

import pytest

from app.agent.acp.prompt_context import conversation_history
from app.agent.transcript import UserText


def said(text):
    return UserText(turn="t", at=0.0, text=text)


def test_the_latest_messages_that_fit_are_included():
    items = [said("a" * 20_000), said("b" * 20_000), said("c" * 5_000)]
    _, *lines, _ = conversation_history(items, "Outsider").splitlines()
    assert [json.loads(line)["said"][0] for line in lines] == ["b", "c"]


@pytest.mark.parametrize("text", ["x" * 30_000, "<" * 29_000, "x" * 20_000 + "\U0001f375<\n" * 20_000])
def test_a_latest_message_that_is_too_long_is_shortened_at_its_end(text):
    *_, line, _ = conversation_history([said("before"), said(text)], "Outsider").splitlines()
    content = json.loads(line)["said"]
    beginning = content.removesuffix("\n[shortened]")
    assert content != beginning and text.startswith(beginning)
    assert 10_000 < len(line) <= 30_000
