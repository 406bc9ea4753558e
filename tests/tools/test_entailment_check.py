"""Suggested relations with a cross-encoder chosen by the user, through the tools, on the sample vault."""

from __future__ import annotations

import sys

import pytest

from tests.support.pair_worker import PairProgram
from tests.support.tool_calls import call

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")


@pytest.fixture
def program(tmp_path):
    return PairProgram(tmp_path)


async def two_notes(workspace, second):
    said = "The sea watch kept good time at sea.\n\n- relates_to [[Theirs]]\n"
    await call(workspace, "create_note", name="Theirs", content=second)
    await call(workspace, "create_note", name="Ours", content=said)


async def reclassified(workspace):
    return (await call(workspace, "reclassify_relationship", edge_id="Ours -> Theirs")).result


@pytest.mark.parametrize(
    ("second", "kind", "says"),
    [
        ("Some sea watch kept good time at sea.", "SUPPORTS", "nli finds support (entailment 0.95"),
        ("It is not so that the sea watch kept time.", "CONTRADICTS", "nli finds a contradiction"),
    ],
)
async def test_the_model_determines_the_type_and_is_named(workspace, program, second, kind, says):
    await two_notes(workspace, second)
    before = (await call(workspace, "find_related_nodes", node_id="Ours", min_similarity=0.1)).result
    workspace.change_settings("embeddings", cross_encoder="nli", python=str(program.path))
    assert program.starts == []
    after = (await call(workspace, "find_related_nodes", node_id="Ours", min_similarity=0.1)).result
    plain, checked = (
        next(one for one in found["related_nodes"] if one["id"] == "Theirs.md") for found in (before, after)
    )
    assert "nli" not in plain["reasoning"] and says in checked["reasoning"]
    assert checked["suggested_relationship"] == kind
    assert checked["suggestion_score"] > plain["suggestion_score"]
    outcome = await reclassified(workspace)
    assert outcome["new_type"] == kind and says in outcome["reasoning"] and program.starts == ["nli"]


async def test_the_queue_is_checked_too(workspace, program):
    workspace.change_settings("embeddings", cross_encoder="nli", python=str(program.path))
    links = "\n".join(f"[[Shared {number}]]" for number in range(7))
    for name in ("One of two", "Two of two"):
        await call(workspace, "create_note", name=name, content=f"The watch kept time.\n\n{links}\n#rare")
    for number in range(7):
        await call(workspace, "create_note", name=f"Shared {number}", content=f"Shared {number}")
    outcome = await call(workspace, "suggest_relationships", limit=50)
    suggestions = outcome.result["suggestions"]
    scores = [one["score"] for one in suggestions]
    assert scores == sorted(scores, reverse=True) and min(scores) >= 0.6
    (pair,) = [
        one for one in suggestions if {one["from_id"], one["to_id"]} == {"One of two.md", "Two of two.md"}
    ]
    assert pair["relationship_type"] == "SUPPORTS" and "nli finds support" in pair["reasoning"]
    assert pair["auto"] == (pair["score"] >= 0.8)


async def test_a_model_that_cannot_be_loaded_is_reported_once(workspace, program):
    await two_notes(workspace, "Some sea watch kept good time at sea.")
    workspace.change_settings("embeddings", cross_encoder="none", python=str(program.path))
    first = await reclassified(workspace)
    assert "Without the cross-encoder: There is no such model." in first["reasoning"]
    assert first["new_type"] != "SUPPORTS"
    await call(workspace, "undo", turn="t1")
    await two_notes(workspace, "Some sea watch kept good time at sea.")
    outcome = await reclassified(workspace)
    assert "cross-encoder" not in outcome["reasoning"] and program.starts == ["none"]


async def test_notes_hidden_from_models_are_not_sent_to_it(workspace, program):
    await two_notes(workspace, "---\nai: private\n---\nSome sea watch kept good time at sea.")
    workspace.change_settings("embeddings", cross_encoder="nli", python=str(program.path))
    outcome = await reclassified(workspace)
    assert outcome["reasoning"] and "nli" not in outcome["reasoning"] and program.starts == []
