"""A model's structured answers, and the local ones with the reason if there are none."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from app.agent.credentials import CredentialStore
from app.agent.structured_output import PydanticAIModel
from app.analysis.language_model import ModelError
from app.permissions.caller import Caller
from app.settings import AnswerByModel, ModelSettings, Settings
from app.toolkit.call import Call as ToolCall
from app.vault.path import NotePath
from tests.support.model_server import CallTool, Fail, ModelServer

BEAT = "Claims/Timekeepers beat the Moon.md"
JAMAICA = "Claims/Error of H4 to Jamaica.md"


class Short(BaseModel):
    text: str


def settings(server: ModelServer) -> Settings:
    initial_settings = Settings()
    initial_settings.agent.answering = AnswerByModel()
    initial_settings.model = ModelSettings(
        provider="openai-compatible", base_url=server.address, model="scripted", request_timeout=60
    )
    return initial_settings


def thinker(server: ModelServer) -> PydanticAIModel:
    return PydanticAIModel(lambda: settings(server), CredentialStore(), lambda path: path.name == "Kept")


async def test_an_answer_has_the_form_that_was_asked_for() -> None:
    with ModelServer(CallTool("answer", {"text": "In short."})) as server:
        one = thinker(server)
        assert await one.answer("Summarise.", "A note.", Short) == Short(text="In short.")
        assert one.may_read(NotePath("A.md")) and not one.may_read(NotePath("Kept.md"))


@pytest.mark.parametrize("answers", [(Fail(500, "out of order"),), (CallTool("answer", {"wrong": 1}),)])
async def test_an_unusable_answer_is_an_error(answers) -> None:
    with ModelServer(*answers, *answers, *answers) as server:
        with pytest.raises(ModelError) as failed:
            await thinker(server).answer("Summarise.", "A note.", Short)
        assert failed.value.message


async def _ask(workspace, server: ModelServer, tool: str, **arguments: object):
    workspace.change_settings("model", **settings(server).model.model_dump())
    workspace.change_settings("agent", answering=AnswerByModel())
    return await workspace.runner.run(ToolCall.of(tool, arguments, Caller.user()))


@pytest.mark.parametrize(
    ("style", "said", "count", "task", "summary"),
    [
        ("paragraph", "One ran. Two sat.  Three ate.", 1, "at most 1 sentence and ", "One ran."),
        ("paragraph", "One ran. Two sat.", 2, "at most 2 sentences and ", "One ran. Two sat."),
        ("bullets", "- One\n- Two\n\n- Three", 2, "at most 2 bullet points and ", "- One\n- Two"),
        ("bullets", "- One\n\n- Two", None, "at most 500 characters", "- One\n- Two"),
    ],
)
async def test_a_summary_by_the_model_keeps_to_the_number_of_sentences(
    workspace, style, said, count, task, summary
) -> None:
    answer = CallTool("answer", {"summary": said, "key_points": []})
    options = {"style": style} | ({"max_sentences": count} if count else {})
    with ModelServer(answer) as server:
        outcome = await _ask(
            workspace, server, "summarize_node", node_id="Sextant", max_length=500, **options
        )
    assert outcome.result["summary"] == summary and task in str(server.requests[0])


async def test_a_summary_by_the_model_keeps_to_the_length(workspace) -> None:
    said = {"summary": "Long words. " * 30, "key_points": ["One"]}
    with ModelServer(CallTool("answer", said)) as server:
        outcome = await _ask(workspace, server, "summarize_node", node_id="H4", max_length=60)
    assert len(outcome.result["summary"]) <= 60 and outcome.result["key_points"] == ["One"]
    assert "scripted" in outcome.result["reasoning"]


async def test_without_an_answer_the_local_one_is_given_with_the_reason(workspace) -> None:
    with ModelServer(*[Fail(500, "out of order")] * 4) as server:
        outcome = await _ask(workspace, server, "summarize_node", node_id="H4")
    assert outcome.result["summary"] and "most central sentences" in outcome.result["reasoning"]
    assert "failed" in outcome.result["reasoning"]


async def test_a_private_note_never_reaches_the_model(workspace) -> None:
    with ModelServer(CallTool("answer", {"summary": "x", "key_points": []})) as server:
        outcome = await _ask(workspace, server, "summarize_node", node_id="Letters (private)")
        assert outcome.result["summary"] and "hidden from models" in outcome.result["reasoning"]
        assert not server.requests


async def test_the_type_of_a_relation_and_its_words_by_the_model(workspace) -> None:
    typed = CallTool("answer", {"relationship_type": "derived from", "reasoning": "It says so."})
    with ModelServer(typed) as server:
        edge = f"{JAMAICA} -[SUPPORTS]-> {BEAT}"
        outcome = await _ask(workspace, server, "reclassify_relationship", edge_id=edge)
    assert outcome.result["new_type"] == "DERIVED_FROM" and "It says so." in outcome.result["reasoning"]
    told = CallTool("answer", {"summary": "The trial bears it out.", "evidence": ["81 days"]})
    with ModelServer(told) as server:
        edge = outcome.result["edge_id"]
        outcome = await _ask(workspace, server, "summarize_relationship", edge_id=edge)
    assert outcome.result["summary"] == "The trial bears it out."
    assert outcome.result["evidence"] == ["81 days"]


async def test_a_failing_model_leaves_the_local_evidence_for_a_type(workspace) -> None:
    content = "The result contradicts [[H4]] in every point.\n\n- relates_to [[H4]]\n"
    note = {"name": "Against it", "content": content}
    await workspace.runner.run(ToolCall.of("create_note", note, Caller.user()))
    with ModelServer(*[Fail(500, "out of order")] * 4) as server:
        outcome = await _ask(workspace, server, "reclassify_relationship", edge_id="Against it -> H4")
    assert outcome.result["new_type"] == "CONTRADICTS" and "Computed locally" in outcome.result["reasoning"]


async def test_related_nodes_are_judged_by_the_model_and_those_it_skips_are_reported(workspace) -> None:
    wanted = {"node_id": "H4", "limit": 3, "min_similarity": 0.0}
    local = await workspace.runner.run(ToolCall.of("find_related_nodes", wanted, Caller.user()))
    ids = [one["id"] for one in local.result["related_nodes"]]
    assert len(ids) == 3
    said = [
        {"number": 2, "relationship_type": "inspired by", "reasoning": "One came of the other."},
        {"number": 9, "relationship_type": "CITES", "reasoning": "No such note."},
    ]
    with ModelServer(CallTool("answer", {"relations": said})) as server:
        outcome = await _ask(workspace, server, "find_related_nodes", **wanted)
    related_nodes = outcome.result["related_nodes"]
    assert [one["id"] for one in related_nodes] == ids
    assert related_nodes[1]["suggested_relationship"] == "INSPIRED_BY"
    assert related_nodes[1]["reasoning"] == "One came of the other. (scripted)"
    assert related_nodes[1]["suggestion_score"] == local.result["related_nodes"][1]["suggestion_score"]
    assert all("scripted suggested no" in related_nodes[skipped]["reasoning"] for skipped in (0, 2))
    with ModelServer(*[Fail(500, "out of order")] * 4) as server:
        outcome = await _ask(workspace, server, "find_related_nodes", **{**wanted, "limit": 1})
    (one,) = outcome.result["related_nodes"]
    assert one["suggested_relationship"] == local.result["related_nodes"][0]["suggested_relationship"]
    assert "Computed locally" in one["reasoning"]


async def test_the_model_does_not_answer_for_notes_that_it_was_not_asked_about(workspace) -> None:
    with ModelServer(CallTool("answer", {"relations": []})) as server:
        outcome = await _ask(
            workspace, server, "find_related_nodes", node_id="H4", min_similarity=0.0, limit=40
        )
    reasons = [one["reasoning"] for one in outcome.result["related_nodes"]]
    asked = [reason for reason in reasons if "suggested no known relation" in reason]
    skipped = [reason for reason in reasons if "scripted was not asked about this note" in reason]
    assert len(asked) == 12 and skipped and len(asked) + len(skipped) == len(reasons)


async def test_a_confidence_by_the_model_is_one_factor_more(workspace) -> None:
    arguments = {"node_id": BEAT}
    with ModelServer(
        CallTool("answer", {"confidence": 0.31, "reasoning": "The Moon did well, too."})
    ) as server:
        outcome = await _ask(workspace, server, "recalculate_node_confidence", **arguments)
        asked = str(server.requests)
    assert outcome.result["new_confidence"] == 0.31
    assert "The Moon did well, too. (scripted)" in outcome.result["reasoning"]
    assert outcome.result["factors"][-1]["factor"] == "judgment of scripted"
    assert "This supports it" in asked and "Letters (private)" not in asked


async def test_relations_of_a_private_note_are_judged_without_the_model(workspace) -> None:
    with ModelServer(CallTool("answer", {"relations": []})) as server:
        wanted = {"node_id": "Letters (private)", "min_similarity": 0.0}
        outcome = await _ask(workspace, server, "find_related_nodes", **wanted)
        assert not server.requests
    reasons = [one["reasoning"] for one in outcome.result["related_nodes"]]
    assert reasons and all("hidden from models" in reason for reason in reasons)
