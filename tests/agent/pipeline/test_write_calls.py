"""Properties are written with values of the right kind."""

from __future__ import annotations

import pytest

from app.agent.language.meaning.readings import NoteSet, PipelineStep
from app.agent.language.words.vault_words import VaultWords
from app.index.records import PropertyValueShares
from app.toolkit.outcome import ToolOutcome
from tests.support.pipeline_hosts import PreparedHost, run_step


async def written(key, value, words=VaultWords):
    host = PreparedHost(lambda arguments: ToolOutcome(True, {"path": "A.md"}))
    step = PipelineStep("set_property", NoteSet(notes=("A.md",)), {"key": key, "value": value})
    await run_step(host, step, words=words)
    return host.calls[-1][1]["properties"][key]


@pytest.mark.parametrize(("text", "value"), [("true", True), ("False", False), ("truth", "truth")])
async def test_the_words_true_and_false_set_a_property_to_a_boolean(text, value):
    kept = await written("read", text)
    assert kept == value and type(kept) is type(value)


@pytest.mark.parametrize(("key", "value"), [("title", "True"), ("read", True)])
async def test_a_property_without_checkboxes_keeps_the_word_true(key, value):
    shares = (PropertyValueShares("title"), PropertyValueShares("Read", checkboxes=0.5))
    assert await written(key, "True", lambda: VaultWords(value_shares=shares)) == value
