"""The examples that the request model is trained on."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from app.agent.language.model import request_model
from app.agent.language.model.known_conditions import MAX_KNOWN_CONDITIONS
from app.agent.language.words.vocabulary import MAX_FIELDS
from tests.evaluation.requests import EvaluatedConversation, EvaluatedRequest

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch):
    """Return a function that imports a script of `packaging` as a module."""
    monkeypatch.syspath_prepend(str(PACKAGING))

    def load(name: str) -> ModuleType:
        return importlib.import_module(name)

    return load


def test_training_and_the_app_agree_on_the_inputs_of_the_model(scripts) -> None:
    training = scripts("train_request_model")
    names = ("CLASSES", "SIMILAR_CLASSES", "MAX_ITEMS", "MAX_SYMBOLS", "MAX_STATE_SYMBOLS")
    assert {name: getattr(training, name) for name in names} == {
        name: getattr(request_model, name) for name in names
    }
    assert training.MAX_FIELDS == MAX_FIELDS + MAX_KNOWN_CONDITIONS


async def test_the_right_reading_of_a_request_becomes_a_program(scripts, tmp_path, monkeypatch) -> None:
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    examples = scripts("request_examples")
    conversation = EvaluatedConversation(
        "sample",
        [
            EvaluatedRequest("show me H4", ("read [@H4]",)),
            EvaluatedRequest("tag it with brass", ("add_tag [@H4] tag=brass",)),
            EvaluatedRequest("tag it with copper", ("add_tag [@H4] tag=tin",)),
        ],
    )
    async with examples.vault_run("sample") as run:
        aligned = await run.conversations([conversation], False)
    assert [example.program for example in aligned] == [
        ["read", "@", [2, 2]],
        ["add_tag", "it", "tag=", [3, 3]],
    ]
    assert sum(run.failures.values()) == 1
    assert "focus" in aligned[1].state and "nofocus" in aligned[0].state


async def test_a_reading_without_words_in_the_request_selects_a_condition(
    scripts, tmp_path, monkeypatch
) -> None:
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    examples = scripts("request_examples")
    conversation = EvaluatedConversation(
        "sample",
        [
            EvaluatedRequest("gear about longitude", ("find [path:Instruments longitude]",)),
            EvaluatedRequest("and latitude?", ("find [path:Instruments latitude]",)),
        ],
    )
    async with examples.vault_run("sample") as run:
        aligned = await run.conversations([conversation], False)
    first, second = aligned
    at = first.program.index("cond") + 1
    position = first.program[at][0] - len(first.items)
    assert first.fields[position][0] == "instruments"
    assert first.program == ["find", "cond", first.program[at], "word", [2, 2]]
    assert second.program == ["find", "swap", "word", [1, 1]]


async def test_another_day_for_a_task_reschedules_it(scripts, tmp_path, monkeypatch) -> None:
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    examples = scripts("request_examples")
    conversation = EvaluatedConversation(
        "leisure",
        [
            EvaluatedRequest(
                "the varda box to friday", ('replace [@2026-03-02] old~="Varda box" text~="2026-03-20"',)
            )
        ],
    )
    async with examples.vault_run("leisure") as run:
        aligned = await run.conversations([conversation], False)
    assert aligned[0].program == ["reschedule_task", "due=", [4, 4], "query=", [1, 2]]


async def test_the_right_options_of_requests_are_found(scripts, tmp_path, monkeypatch) -> None:
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    file = tmp_path / "requests.txt"
    file.write_text("# vault: sample\nshow me H4 => read [@H4]\n\nshow me H4 => delete [@K1]\n")
    decision = scripts("fit_request_decision")
    with monkeypatch.context() as patch:
        patch.setattr(decision.interpretation_choice, "options_of", decision.options_of)
        right, wrong = await decision.judge(file)
    chosen = [option for option, is_right in zip(right.options, right.right, strict=True) if is_right]
    actions = {option.reading.last.action if option.reading else option.outcome for option in chosen}
    assert actions and actions <= {"read", "open"}
    assert wrong.right[-1] and sum(wrong.right) == 1 and wrong.options[-1].outcome == "else"
    weights = decision.fit_weights([right, wrong])
    assert weights.keys() >= {"written", "grammar", "else"}
