"""Results of node tools are formatted for the agent panel."""

from __future__ import annotations

from app.agent.answered_call import AnsweredCall
from app.agent.node_formatting import NODE_FORMATTERS


def test_a_list_for_one_side_is_cut_and_says_so() -> None:
    result = {
        "node_id": "Claim.md",
        "summary": "",
        "synthesis": "",
        "context": {"supports": [f"reason {number}" for number in range(14)]},
    }
    call = AnsweredCall("summarize_node_with_context", {"side": "supports"})
    lines = NODE_FORMATTERS[call.tool](result, call).split("\n")
    assert lines[0] == "What supports [[Claim]]:"
    assert lines[-2:] == ["- reason 11", "- … and 2 more"]


def test_related_notes_are_not_presented_as_written_relations() -> None:
    node = {"suggested_relationship": "supports", "similarity_score": 0.9, "reasoning": "Shared tag."}
    nodes = [{"id": "One.md", **node}, {"id": "Two.md", **node}]
    result = {"node_id": "Claim.md", "related_nodes": nodes, "links_created": 1}
    call = AnsweredCall("find_related_nodes", {})
    text = NODE_FORMATTERS[call.tool](result, call)
    assert text.startswith("1 relation was written. [[Claim]] is similar to:")
