"""Tool calls are shown in plain words."""

from __future__ import annotations

import json

import pytest

from app.desktop.tool_form.labels import arguments_label
from app.desktop.tool_form.result_text import format_result
from app.permissions.tool_label import argument_label, tool_label


@pytest.mark.parametrize(
    ("tool", "label"),
    [
        ("search_notes", "Search notes"),
        ("summarize_node", "Summarize note"),
        ("recalculate_edge_confidence", "Recalculate relation confidence"),
        ("create_relationship", "Create relation"),
        ("my_server__get_node", "My server: get node"),
        ("", ""),
    ],
)
def test_a_tool_is_named_in_the_words_of_the_interface(tool: str, label: str) -> None:
    assert tool_label(tool) == label


def test_an_argument_is_named_in_the_words_of_the_interface() -> None:
    assert [argument_label(name) for name in ("node_id", "related_nodes", "new_name")] == [
        "Note",
        "Related notes",
        "New name",
    ]
    assert format_result({"edge_id": 3}) == "- **Relation**: 3"


@pytest.mark.parametrize(
    ("arguments", "label"),
    [
        ({}, ""),
        ({"limit": 20, "order": "name", "query": "tag:core "}, "tag:core  ·  order: name"),
        ({"node_id": "Instruments/H4.md", "include_relationships": False}, "H4"),
        ({"entry": 26}, "audit entry 26"),
        (
            {"name": "H4.md", "properties": {"status": "done", "tags": ["a", "b"], "open": True}},
            "H4  ·  status: done, tags: a, b, open",
        ),
        (
            {"names": ["A/H4.md", "H1.md"], "arguments": [{"tag": "core"}, {"tag": "core"}]},
            "H4, H1  ·  tag: core",
        ),
        ({"arguments": '{"name": "unfin'}, ""),
        ({"name": "H4.md", "op": "append", "text": "One\n\ntwo"}, "H4  ·  append  ·  text: One two"),
        ({"edge_id": None, "remove": []}, ""),
        ({"edge_id": 3, "properties": {"my_node": "A"}}, "relation: 3  ·  my_node: A"),
    ],
)
def test_arguments_are_shown_without_json(arguments: dict[str, object], label: str) -> None:
    assert arguments_label(json.dumps(arguments)) == label


def test_a_long_value_is_cut() -> None:
    label = arguments_label(json.dumps({"query": "word " * 100}))
    assert len(label) == 200 and label.endswith("…")
