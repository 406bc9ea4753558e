"""Format the results of the node and relationship tools as text for the agent panel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.agent.answered_call import AnsweredCall
from app.agent.generic_formatting import link_or_path
from app.permissions.pluralize import pluralize
from app.vault.markdown.relations import relation_phrase
from app.vault.markdown.text import bullet_list
from app.vault.path import NotePath

Result = Mapping[str, Any]
_MAX_LIST_ITEMS = 12


def _short_list(lines: Sequence[str]) -> str:
    """Return the first lines as a Markdown list, with the number of omitted ones."""
    omitted = len(lines) - _MAX_LIST_ITEMS
    more = [f"… and {omitted} more"] if omitted > 0 else []
    return bullet_list([*lines[:_MAX_LIST_ITEMS], *more])


def _summary(result: Result, call: AnsweredCall) -> str:
    text = str(result["summary"])
    if not text:
        return f"{link_or_path(result['node_id'])} has no text to summarize."
    has_length = "max_length" in call.arguments  # a summary of a given length has no other parts
    points = [] if has_length else [point for point in result["key_points"] if point not in text]
    more = f"\n\nKey points:\n\n{bullet_list(points)}" if points else ""
    return f"Summary of {link_or_path(result['node_id'])}:\n\n{text}{more}\n\n*{result['reasoning']}*"


def _with_context(result: Result, call: AnsweredCall) -> str:
    parts = [f"{link_or_path(result['node_id'])}: {result['summary']}", str(result["synthesis"])]
    neighbors = result["context"]
    if side := str(call.arguments.get("side", "")):
        verb = "supports" if side == "supports" else "contradicts"
        if not neighbors[side]:
            return f"No note {verb} {link_or_path(result['node_id'])}."
        return f"What {verb} {link_or_path(result['node_id'])}:\n\n{_short_list(neighbors[side])}"
    for key, title in (("supports", "Supporting"), ("contradicts", "Contradicting"), ("related", "Related")):
        if lines := neighbors[key]:
            parts.append(f"**{title}**\n\n{_short_list(lines)}")
    return "\n\n".join(parts)


def _related(result: Result, call: AnsweredCall) -> str:
    lines = [
        f"{link_or_path(node['id'])}: {relation_phrase(node['suggested_relationship'])},"
        f" similarity {node['similarity_score']:.2f}. {node['reasoning']}"
        for node in result["related_nodes"]
    ]
    if not lines:
        return f"No notes are similar to {link_or_path(result['node_id'])}."
    created = result["links_created"]
    head = f"{link_or_path(result['node_id'])} could be related to:"
    if created:
        written = pluralize(created, "relation was", "relations were")
        head = f"{written} written. {link_or_path(result['node_id'])} is similar to:"
    return f"{head}\n\n{bullet_list(lines)}"


def _confidence(result: Result, call: AnsweredCall) -> str:
    subject = result.get("node_id") or result.get("edge_id")
    lines = [f"{factor['factor']}: {factor['impact']}" for factor in result["factors"]]
    previous, current = result["old_confidence"], result["new_confidence"]
    label = "none" if current is None else f"{current:.2f}"
    return f"{link_or_path(str(subject))}: {previous:.2f} before, {label} now.\n\n{bullet_list(lines)}"


def _node(result: Result, call: AnsweredCall) -> str:
    lines = [
        f"{relation_phrase(relationship['relationship_type'])} {link_or_path(relationship['to_id'])}"
        for relationship in result["relationships"]
    ]
    lines += [
        f"{link_or_path(relationship['from_id'])} {relation_phrase(relationship['relationship_type'])} it"
        for relationship in result["incoming"]
    ]
    confidence = f", confidence {result['confidence']:.2f}" if result["confidence"] is not None else ""
    head = f"{link_or_path(result['node_id'])} is of type {result['type']}{confidence}."
    return f"{head}\n\n{bullet_list(lines)}" if lines else f"{head} It has no relations."


def _relation(result: Result, call: AnsweredCall) -> str:
    evidence = f"\n\n{bullet_list(result['evidence'])}" if result["evidence"] else ""
    return f"{result['summary']} A {result['strength_assessment']} relation.{evidence}"


def _suggested(result: Result, call: AnsweredCall) -> str:
    lines = [
        f"{link_or_path(suggestion['from_id'])} {relation_phrase(suggestion['relationship_type'])}"
        f" {link_or_path(suggestion['to_id'])} ({suggestion['score']:.2f}): {suggestion['reasoning']}"
        for suggestion in result["suggestions"]
    ]
    if not lines:
        return "No missing relations were found."
    return f"These relations may be missing. Say “relate … to …” to add one.\n\n{bullet_list(lines)}"


def _merged(result: Result, call: AnsweredCall) -> str:
    primary = link_or_path(result["primary_node_id"])
    secondary = NotePath.on_disk(result["secondary_node_id"]).name
    count = len(result["rewritten"])
    links = f" Updated links in {pluralize(count, 'note')}." if count else ""
    text = f"“{secondary}” was merged into {primary} and moved to the vault's trash.{links}"
    text += " To undo this, say “undo”."
    if skipped := result["left_out"]:
        text += f"\n\nUnchanged:\n\n{_short_list(skipped)}"
    return text


NODE_FORMATTERS: Mapping[str, Callable[[Result, AnsweredCall], str]] = {
    "summarize_node": _summary,
    "summarize_node_with_context": _with_context,
    "find_related_nodes": _related,
    "recalculate_node_confidence": _confidence,
    "recalculate_edge_confidence": _confidence,
    "get_node": _node,
    "merge_nodes": _merged,
    "summarize_relationship": _relation,
    "suggest_relationships": _suggested,
}
