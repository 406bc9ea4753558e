"""Find the relation between two notes."""

from __future__ import annotations

from app.agent.pipeline.tool_calls import ToolCalls, items_of


async def find_edge(tools: ToolCalls, first: str, second: str) -> str | None:
    """Return the id of a relation between two notes, in either direction; None if there is none."""
    for path, other in ((first, second), (second, first)):
        outcome = await tools.call("get_node", {"node_id": path})
        if outcome.success:
            for edge in items_of(outcome.result, "relationships"):
                if edge.get("to_id") == other:
                    return str(edge["edge_id"])
    return None
