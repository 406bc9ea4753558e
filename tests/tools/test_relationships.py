"""The tools of the category relationships, on the sample vault."""

from __future__ import annotations

import pytest

from app.permissions.approval import Denied
from app.permissions.scope import Operation
from app.vault.markdown.scan import scan
from app.vault.path import NotePath
from tests.support.tool_calls import call

BEAT = "Claims/Timekeepers beat the Moon.md"
JAMAICA = "Claims/Error of H4 to Jamaica.md"
EDGE = f"{JAMAICA} -[SUPPORTS]-> {BEAT}"


def text(workspace, path):
    return workspace.store.read(NotePath(path)).decode()


async def test_create_writes_one_line(workspace):
    before = text(workspace, "Instruments/H1.md")
    outcome = await call(
        workspace,
        "create_relationship",
        from_id="H1",
        to_id="H4",
        relationship_type="leads to",
        confidence=0.8,
        notes="by way of\nH3",
    )
    assert outcome.success
    assert outcome.result["edge_id"] == "Instruments/H1.md -[LEADS_TO]-> Instruments/H4.md"
    added = [
        line for line in text(workspace, "Instruments/H1.md").splitlines() if line not in before.splitlines()
    ]
    assert [line for line in added if line.startswith("- ")] == [
        "- leads_to [[H4]] (confidence: 0.8, by way of H3)"
    ]
    second_outcome = await call(
        workspace, "create_relationship", from_id="H1", to_id="H4", relationship_type="LEADS_TO"
    )
    assert (
        second_outcome.error["type"] == "conflict"
        and second_outcome.error["edge_id"] == outcome.result["edge_id"]
    )


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"from_id": "H1", "to_id": "H1", "relationship_type": "CITES"}, "invalid_parameters"),
        ({"from_id": "H1", "to_id": "Nothing at all", "relationship_type": "CITES"}, "not_found"),
        ({"from_id": "H1", "to_id": "H4", "relationship_type": "!!"}, "invalid_parameters"),
        (
            {"from_id": "H1", "to_id": "H4", "relationship_type": "CITES", "confidence": 3},
            "invalid_parameters",
        ),
        ({"from_id": "Mercator", "to_id": "H4", "relationship_type": "CITES"}, "ambiguous"),
    ],
)
async def test_create_refuses(workspace, approver, arguments, error):
    outcome = await call(workspace, "create_relationship", **arguments)
    assert outcome.error["type"] == error and not approver.asked


async def test_delete_always_asks_and_removes_only_its_line(workspace, approver):
    workspace.grants.set_session(Operation.UPDATE, True)
    before = text(workspace, JAMAICA)
    approver.answers = [Denied("")]
    denied = await call(workspace, "delete_relationship", edge_id=EDGE)
    assert denied.denied and len(approver.asked) == 1 and text(workspace, JAMAICA) == before
    approver.answers = [lambda request: _yes(request)]
    outcome = await call(workspace, "delete_relationship", edge_id=EDGE)
    assert outcome.success and len(approver.asked) == 2
    removed = set(before.splitlines()) - set(text(workspace, JAMAICA).splitlines())
    assert len(removed) == 1 and next(iter(removed)).startswith("- supports [[Timekeepers beat the Moon]]")


def _yes(request):
    from app.permissions.approval import Approved

    return Approved(request.proposal)


@pytest.mark.parametrize(
    "reference",
    [
        EDGE,
        "Error of H4 to Jamaica -[supports]-> Timekeepers beat the Moon",
        "[[Error of H4 to Jamaica]] -> [[Timekeepers beat the Moon]]",
        "Timekeepers beat the Moon -- Error of H4 to Jamaica",
    ],
)
async def test_an_edge_is_named_in_several_ways(workspace, reference):
    outcome = await call(workspace, "summarize_relationship", edge_id=reference)
    assert outcome.success and outcome.result["edge_id"] == EDGE


async def test_an_edge_that_is_not_there_names_those_that_are(workspace):
    outcome = await call(workspace, "summarize_relationship", edge_id=f"{JAMAICA} -[CAUSES]-> {BEAT}")
    assert outcome.error["type"] == "not_found" and outcome.error["candidates"] == [EDGE]
    nonsense = await call(workspace, "delete_relationship", edge_id="this and that")
    assert nonsense.error["type"] == "invalid_parameters" and "-[SUPPORTS]->" in nonsense.error["message"]


async def test_an_edge_is_found_again_after_an_edit(workspace):
    await call(workspace, "edit_note", name=JAMAICA, op="prepend", text="A new first line.")
    await call(workspace, "recalculate_edge_confidence", edge_id=EDGE)
    assert (await call(workspace, "summarize_relationship", edge_id=EDGE)).success


async def test_two_of_one_kind_are_distinguished(workspace):
    relations = "- supports [[H4]] (first)\n- supports [[H4]] (second)\n- cites [[H4]]\n"
    await call(workspace, "create_note", name="Twice", content=relations)
    unclear = await call(workspace, "summarize_relationship", edge_id="Twice -> H4")
    assert unclear.error["type"] == "ambiguous" and len(unclear.error["candidates"]) == 3
    second = "Twice.md -[SUPPORTS]-> Instruments/H4.md #2"
    assert second in unclear.error["candidates"]
    assert (await call(workspace, "delete_relationship", edge_id=second)).success
    assert text(workspace, "Twice.md") == "- supports [[H4]] (first)\n- cites [[H4]]\n"


async def test_recalculate_edge_confidence_changes_only_the_number(workspace):
    before = text(workspace, JAMAICA)
    outcome = await call(workspace, "recalculate_edge_confidence", edge_id=EDGE)
    new_confidence = outcome.result["new_confidence"]
    assert outcome.result["old_confidence"] == 0.9 and 0 < new_confidence < 1 and outcome.result["factors"]
    assert text(workspace, JAMAICA) == before.replace(
        "- supports [[Timekeepers beat the Moon]] (confidence: 0.9",
        f"- supports [[Timekeepers beat the Moon]] (confidence: {new_confidence:g}",
    )
    second_outcome = await call(
        workspace, "recalculate_edge_confidence", edge_id=EDGE, consider_graph_structure=False
    )
    assert not any("Likeness" in one["factor"] for one in second_outcome.result["factors"])


async def test_reclassify_keeps_or_drops_the_remark(workspace):
    edge = "People/John Harrison.md -[SUPPORTS]-> " + BEAT
    outcome = await call(workspace, "reclassify_relationship", edge_id=edge, new_type="CITES")
    assert outcome.result["edge_id"] == "People/John Harrison.md -[CITES]-> " + BEAT
    line = "- cites [[Timekeepers beat the Moon]] (confidence: 0.9, by demonstration)"
    assert line in text(workspace, "People/John Harrison.md").splitlines()
    dropped = await call(
        workspace,
        "reclassify_relationship",
        edge_id=outcome.result["edge_id"],
        new_type="SUPPORTS",
        preserve_notes=False,
    )
    assert dropped.success
    assert "- supports [[Timekeepers beat the Moon]] (confidence: 0.9)" in text(
        workspace, "People/John Harrison.md"
    )


async def test_reclassify_suggests_a_type_with_its_reason(workspace):
    note_text = "The result contradicts [[H4]] in every point.\n\n- relates_to [[H4]]\n"
    await call(workspace, "create_note", name="Against it", content=note_text)
    outcome = await call(workspace, "reclassify_relationship", edge_id="Against it -> H4")
    assert outcome.result["new_type"] == "CONTRADICTS" and "contradict" in outcome.result["reasoning"]
    assert "- contradicts [[H4]]" in text(workspace, "Against it.md")


async def test_a_relation_is_no_evidence_for_itself_and_keeps_its_type_where_nothing_speaks_for_another(
    workspace,
):
    await call(workspace, "create_note", name="Pro", content="Plain words.\n\n- supports [[H4]]\n")
    outcome = await call(workspace, "reclassify_relationship", edge_id="Pro -> H4")
    assert outcome.result["new_type"] == outcome.result["old_type"] == "SUPPORTS"
    assert outcome.result["reasoning"].startswith("The notes contain no evidence for a type other than")
    judged = await call(workspace, "recalculate_edge_confidence", edge_id="Pro -> H4")
    assert not any("says" in one["factor"] for one in judged.result["factors"])


async def test_a_summary_of_two_notes_includes_their_relations(workspace):
    edge = "People/John Harrison.md -[SUPPORTS]-> " + BEAT
    outcome = await call(workspace, "reclassify_relationship", edge_id=edge)
    assert "already related as SUPPORTS" in outcome.result["reasoning"]
    assert "without a type" not in outcome.result["reasoning"]


async def test_summarize_relationship_gives_evidence_and_strength(workspace):
    result = (await call(workspace, "summarize_relationship", edge_id=EDGE)).result
    assert (
        result["strength_assessment"] == "strong" and result["evidence"] and "supports" in result["summary"]
    )
    plain_summary = await call(workspace, "summarize_relationship", edge_id=EDGE, include_evidence=False)
    assert plain_summary.result["evidence"] == []
    weak = "People/John Harrison.md -[CONTRADICTS]-> People/Nevil Maskelyne.md"
    moderate = await call(workspace, "summarize_relationship", edge_id=weak)
    assert moderate.result["strength_assessment"] == "moderate"


async def test_suggestions_are_listed_accepted_and_rejected_for_good(workspace, approver):
    links = "\n".join(f"[[Shared {number}]]" for number in range(7))
    for name in ("One of two", "Two of two"):
        await call(workspace, "create_note", name=name, content=f"{links}\n#rare")
    for number in range(7):
        await call(workspace, "create_note", name=f"Shared {number}", content=f"Shared {number}")
    approver.asked.clear()
    outcome = await call(workspace, "suggest_relationships", limit=50)
    suggestions = outcome.result["suggestions"]
    assert suggestions and all(one["score"] >= 0.6 and one["reasoning"] for one in suggestions)
    for one in suggestions:
        shown = one["evidence"] or one["relationship_type"] == "RELATES_TO"
        assert one["auto"] == bool(one["score"] >= 0.8 and shown)
    assert not approver.asked
    first = suggestions[0]
    rejected = await call(
        workspace, "suggest_relationships", op="reject", suggestion_id=first["suggestion_id"]
    )
    assert rejected.success and len(approver.asked) == 1
    assert workspace.analysis.rejected() == (tuple(sorted((first["from_id"], first["to_id"]))),)
    remaining = (await call(workspace, "suggest_relationships", op="list", limit=50)).result["suggestions"]
    assert first["suggestion_id"] not in [one["suggestion_id"] for one in remaining]
    if remaining:  # The common property of the other shared notes.
        accepted = await call(
            workspace,
            "suggest_relationships",
            op="accept",
            suggestion_id=remaining[0]["suggestion_id"],
            relationship_type="part of",
        )
        assert accepted.success
        relations = scan(text(workspace, remaining[0]["from_id"])).relations
        assert "PART_OF" in [one.type for one in relations]


async def test_accepting_an_existing_relation_is_a_conflict(workspace):
    arguments = {"from_id": "H1", "to_id": "H4", "relationship_type": "CITES"}
    created = await call(workspace, "create_relationship", **arguments)
    outcome = await call(
        workspace,
        "suggest_relationships",
        op="accept",
        suggestion_id="Instruments/H1.md ~ Instruments/H4.md",
        relationship_type="cites",
    )
    assert outcome.error["type"] == "conflict" and outcome.error["edge_id"] == created.result["edge_id"]


async def test_the_remark_in_a_summary_ends_with_one_full_stop(workspace):
    arguments = {"from_id": "H1", "to_id": "H4", "relationship_type": "CITES", "notes": "in a letter."}
    edge = (await call(workspace, "create_relationship", **arguments)).result["edge_id"]
    outcome = await call(workspace, "summarize_relationship", edge_id=edge)
    assert outcome.result["summary"].endswith(" In a letter.")


async def test_suggestions_of_one_note(workspace):
    outcome = await call(workspace, "suggest_relationships", op="list", node_id="H4")
    for one in outcome.result["suggestions"]:
        assert "Instruments/H4.md" in (one["from_id"], one["to_id"])
    second_outcome = await call(workspace, "suggest_relationships", op="reject", suggestion_id="H4 and H1")
    assert second_outcome.error["type"] == "invalid_parameters"


async def test_the_chain_from_related_nodes_to_a_summary(workspace, approver):
    """A typical turn: search, relate, weigh, summarize; one undo of the turn reverts all of it."""
    before = text(workspace, "Instruments/K1.md")
    outcome = await call(workspace, "find_related_nodes", node_id="K1", min_similarity=0.05)
    other = next(
        one
        for one in outcome.result["related_nodes"]
        if not any(r.link.target == NotePath(one["id"]).name for r in scan(before).relations)
    )
    second_outcome = await call(
        workspace,
        "create_relationship",
        from_id="K1",
        to_id=other["id"],
        relationship_type=other["suggested_relationship"],
        confidence=0.5,
    )
    weighed = await call(workspace, "recalculate_edge_confidence", edge_id=second_outcome.result["edge_id"])
    third_outcome = await call(workspace, "summarize_relationship", edge_id=second_outcome.result["edge_id"])
    assert second_outcome.success and weighed.success and third_outcome.success
    assert f"{weighed.result['new_confidence']:.2f}" in third_outcome.result["summary"]
    summary = await call(workspace, "summarize_node", node_id="K1", include_relationships=True)
    assert any(f"[[{NotePath(other['id']).name}]]" in point for point in summary.result["key_points"])
    assert (await call(workspace, "undo", turn="t1")).success
    assert text(workspace, "Instruments/K1.md") == before
