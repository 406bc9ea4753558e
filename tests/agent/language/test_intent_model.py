"""The trained ranking of actions is reproducible from its source files and never changes otherwise."""

from __future__ import annotations

import hashlib

import pytest

from app.agent.builtin import BuiltinAgent
from app.agent.language.actions import ACTIONS
from app.agent.language.intent_model import intent_model, mask_words
from app.agent.language.mentions import EntityMention
from app.agent.language.notation import serialize
from app.agent.language.readings import Clarification, ContentQuestion, ModelRequired, Reading, Reply
from app.agent.language.tokens import tokenize
from app.paths import resources_folder
from tests.support.everyday_requests import read, sample_agent

ROOT = resources_folder().parent


@pytest.fixture(scope="module")
def agent() -> BuiltinAgent:
    return sample_agent()


def test_the_model_was_trained_from_the_examples_as_they_are() -> None:
    files = [
        *sorted((ROOT / "packaging" / "intents").glob("*.txt")),
        ROOT / "tests" / "evaluation" / "requests_seen.txt",
    ]
    hashes = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    assert intent_model().sources == hashes, "run `python packaging/train_intents.py`"


def test_every_label_is_an_action_or_no_request() -> None:
    actions = {label.partition(".")[0] for label in intent_model().labels}
    assert actions - set(ACTIONS) == {"ask", "model", "none", "question"}


def test_a_mention_hides_its_words_and_unknown_words_are_a_topic() -> None:
    tokens = tokenize("chuck H4 zorblax quux", {})
    mentions = [
        EntityMention("word", tokens[:1]),
        EntityMention("note", tokens[1:2]),
        *(EntityMention("word", (token,)) for token in tokens[2:]),
    ]
    assert mask_words(mentions, frozenset({"chuck"})) == ("chuck", "{note}", "{topic}")


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("the frontmatter of Greenwich would be useful", "properties_of [@Concepts/Greenwich]"),
        ("would you kindly dig out whatever I wrote on scurvy", "find [scurvy]"),
        ("hypotheses between .5 and .8", "find [type:hypothesis [confidence:>=.5] [confidence:<=.8]]"),
        ("who was born after 1700", "find [[born:>1700]]"),
    ],
)
def test_a_wording_without_a_rule_is_read(agent: BuiltinAgent, text: str, reading: str) -> None:
    found = read(agent, text)
    assert isinstance(found, Reading) and serialize(found) == reading


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("chuck out Octant, would you", "delete [@Instruments/Octant]"),
        ("Gimbal -> #mechanics", "add_tag [@Concepts/Gimbal] tag=mechanics"),
        ("schmeiß Octant weg", "delete [@Instruments/Octant]"),
        ("H2 belongs into Events", "move [@Instruments/H2] folder=Events"),
    ],
)
def test_a_change_without_a_rule_is_asked_about(agent: BuiltinAgent, text: str, reading: str) -> None:
    found = read(agent, text)
    assert isinstance(found, Clarification)
    assert reading in [serialize(option.reading) for option in found.options]


@pytest.mark.parametrize("text", ["could you sing something for me", "book me a table", "you are great"])
def test_text_that_is_no_request_is_not_guessed(agent: BuiltinAgent, text: str) -> None:
    found = read(agent, text)
    assert isinstance(found, Reply | ModelRequired | ContentQuestion)
