"""Small talk is answered without a search."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.agent.builtin import BuiltinAgent
from app.agent.language.meaning.readings import (
    Reply,
)
from tests.support.everyday_requests import HERE, read, sample_agent

NOWHERE = replace(HERE, open_note=None)


@pytest.fixture(scope="module")
def agent() -> BuiltinAgent:
    return sample_agent()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("danke, das wars", "thanks"),
        ("ok thanks, that's it", "thanks"),
        ("nee, doch nicht", "cancelled"),
        ("no, never mind", "cancelled"),
        ("no, thanks", "cancelled"),
        ("thanks, looks better", "thanks"),
        ("much better, thanks", "thanks"),
        ("that looks good", "thanks"),
        ("danke, sieht besser aus", "thanks"),
    ],
)
def test_several_words_of_small_talk_are_small_talk(agent: BuiltinAgent, text: str, kind: str) -> None:
    assert read(agent, text, NOWHERE) == Reply(kind)


@pytest.mark.parametrize("text", ["thanks, tag it better", "which one looks better"])
def test_other_words_with_thanks_are_no_small_talk(agent: BuiltinAgent, text: str) -> None:
    assert read(agent, text, NOWHERE) != Reply("thanks")
