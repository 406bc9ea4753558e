"""Calls of every tool, for `check_tools`.

Calls run in this order, so a later one may build on the result of an earlier one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app import paths

Results = Mapping[str, Mapping[str, object]]
"""The last result of each tool so far, and given facts: `local_pages` has an `address`."""

Arguments = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call; `arguments` may be a function of the results so far."""

    tool: str
    arguments: Arguments | Callable[[Results], Arguments]


def _version(results: Results) -> Arguments:
    versions = results["note_history"]["versions"]
    assert isinstance(versions, list)
    return {"name": "Gimbal", "version": versions[-1]["version"]}


_PATCH = """\
@@ -1,1 +1,1 @@
-Written by the trial.
+Written and patched by the trial.
"""

_NOTES = (
    ToolCall("create_note", {"name": "A trial", "content": "Written by the trial.\n", "folder": "Journal"}),
    ToolCall("read_note", {"name": "A trial"}),
    ToolCall("edit_note", {"name": "A trial", "op": "patch", "patch": _PATCH}),
    ToolCall("edit_note", {"name": "Gimbal", "op": "append", "text": "Seen by the trial."}),
    ToolCall("update_note", {"name": "A trial", "content": "All new.\n\n## Part\n"}),
    ToolCall("set_properties", {"name": "A trial", "properties": {"status": "draft", "rating": 4}}),
    ToolCall("rename_property", {"key": "rating", "new_key": "stars", "names": ["A trial"]}),
    ToolCall("rename_heading", {"name": "A trial", "heading": "Part", "new_heading": "Chapter"}),
    ToolCall("move_folder", {"folder": "Journal", "new_folder": "Diary"}),
    ToolCall("move_folder", {"folder": "Diary", "new_folder": "Journal"}),
    ToolCall("move_note", {"name": "Longitude", "new_name": "Geographic longitude"}),
    ToolCall("list_notes", {"folder": "Journal"}),
    ToolCall("get_metadata", {"name": "H4"}),
    ToolCall("note_history", {"name": "Gimbal"}),
    ToolCall("restore_note", _version),
    ToolCall("undo", {}),
    ToolCall("link_mentions", {"name": "Greenwich"}),
    ToolCall("delete_note", {"name": "A trial"}),
)
_SEARCH = (
    ToolCall("search_notes", {"query": "chronometer -tag:core", "order": "modified", "group": "folder"}),
    ToolCall("semantic_search", {"query": "how sailors kept time", "limit": 3}),
    ToolCall("find_passages", {"question": "how heavy was the first sea clock?"}),
    ToolCall("search_by_tags", {"tags": ["core"]}),
    ToolCall("search_by_properties", {"properties": {"type": ["claim", "hypothesis"]}}),
    ToolCall("find_related", {"name": "H4", "limit": 3}),
    ToolCall("list_tags", {}),
    ToolCall("vault_info", {}),
    ToolCall("unlinked_mentions", {"name": "Greenwich"}),
    ToolCall("list_unresolved_links", {}),
    ToolCall("find_duplicates", {}),
)
_TAGS = (
    ToolCall("add_tag", {"name": "Octant", "tag": "to-check"}),
    ToolCall("remove_tag", {"name": "Octant", "tag": "to-check"}),
    ToolCall("rename_tag", {"tag": "core", "new_tag": "central"}),
)
_MEMORY = (
    ToolCall("block", {"op": "create", "label": "trial", "content": "Made by it.", "permission": "admin"}),
    ToolCall("block", {"op": "pin", "label": "trial"}),
    ToolCall("block_edit", {"op": "append", "label": "trial", "content": "And added to."}),
    ToolCall("block_edit", {"op": "undo", "label": "trial"}),
    ToolCall("context", {"op": "replace", "label": "trial", "old": "Made", "new": "Changed"}),
    ToolCall("block", {"op": "load", "label": "trial"}),
    ToolCall("block", {"op": "delete", "label": "trial"}),
    ToolCall("recall", {"op": "insert", "content": "Harrison's fourth timekeeper is the one that mattered."}),
    ToolCall("recall", {"op": "search", "query": "timekeeper"}),
    ToolCall("search", {"query": "timekeeper", "limit": 3}),
)
_BEAT = "Claims/Timekeepers beat the Moon.md"
_JAMAICA = "Claims/Error of H4 to Jamaica.md"
_NEW_EDGE = f"Instruments/K1.md -[RELATES_TO]-> {_BEAT}"


def _suggestion(results: Results) -> Arguments:
    found = results["suggest_relationships"]["suggestions"]
    assert isinstance(found, list)
    name = found[0]["suggestion_id"] if found else "Instruments/K1.md ~ Instruments/H4.md"
    return {"op": "reject", "suggestion_id": name}


_TWIN = {"title": "A trial twin", "text": "A twin of the observation.", "folder": "Journal"}
_NODES = (
    ToolCall(
        "create_node",
        {
            "type": "observation",
            "content": {
                "title": "A trial observation",
                "text": "The watch lost five seconds.",
                "folder": "Journal",
                "confidence": 0.7,
            },
        },
    ),
    ToolCall("get_node", {"node_id": _BEAT}),
    ToolCall("update_node", {"node_id": "A trial observation", "updates": {"place": "Jamaica"}}),
    ToolCall("find_related_nodes", {"node_id": _BEAT, "limit": 3, "min_similarity": 0.3}),
    ToolCall("summarize_node", {"node_id": "John Harrison", "max_length": 300}),
    ToolCall("summarize_node_with_context", {"node_id": _BEAT, "depth": 2}),
    ToolCall("recalculate_node_confidence", {"node_id": _BEAT}),
    ToolCall("reclassify_node", {"node_id": "A trial observation", "new_type": "hypothesis"}),
    ToolCall("create_node", {"type": "observation", "content": _TWIN, "auto_analyze": False}),
    ToolCall("merge_nodes", {"primary_node_id": "A trial observation", "secondary_node_id": "A trial twin"}),
    ToolCall("delete_node", {"node_id": "A trial observation", "cascade": True}),
)
_RELATIONSHIPS = (
    ToolCall(
        "create_relationship",
        {"from_id": "K1", "to_id": _BEAT, "relationship_type": "relates to", "confidence": 0.6},
    ),
    ToolCall("recalculate_edge_confidence", {"edge_id": _NEW_EDGE}),
    ToolCall("summarize_relationship", {"edge_id": f"{_JAMAICA} -[SUPPORTS]-> {_BEAT}"}),
    ToolCall("delete_relationship", {"edge_id": _NEW_EDGE}),
    ToolCall(
        "reclassify_relationship", {"edge_id": f"{_JAMAICA} -[SUPPORTS]-> {_BEAT}", "new_type": "CITES"}
    ),
    ToolCall("suggest_relationships", {"op": "list", "limit": 5}),
    ToolCall("suggest_relationships", _suggestion),
)
_WEB = (
    ToolCall("fetch_page", lambda results: {"url": f"{results['local_pages']['address']}/chronometers"}),
    ToolCall(
        "search_web_for_evidence",
        {"node_id": "Timekeepers beat the Moon", "max_results": 3, "create_sources": True},
    ),
)
_SOURCES = (
    ToolCall("source", {"op": "list"}),
    ToolCall("file", {"op": "list", "pattern": "*.txt"}),
    ToolCall("file", {"op": "load", "path": "Letter.txt"}),
    ToolCall("file", {"op": "replace", "path": "Letter.txt", "old": "Sir", "new": "Madam"}),
    ToolCall("file", {"op": "append", "path": "Letter.txt", "content": "Yours truly"}),
    ToolCall("file", {"op": "diff", "path": "Letter.txt"}),
    ToolCall("file", {"op": "save", "path": "Letter.txt"}),
    ToolCall("file", {"op": "status"}),
    ToolCall("file", {"op": "create", "path": "Answers/First.txt", "content": "Dear Sir,\n"}),
    ToolCall("file", {"op": "reload", "path": "Letter.txt"}),
    ToolCall("file", {"op": "reconcile", "path": "Letter.txt", "keep": "disk"}),
    ToolCall("file", {"op": "delete", "path": "Answers/First.txt"}),
)
_AGENTS = (
    ToolCall("list_tools", {"query": "rename"}),
    ToolCall("pending", {"op": "list"}),
    ToolCall("delegate", {"agent": "Librarian", "prompt": "list all tags"}),
)
_MESSAGES = (
    ToolCall("send_message", {"target": "user", "content": "The trial is here."}),
    ToolCall("send_message", {"target": "agent", "id": "Librarian", "content": "find notes about sextant"}),
)
_FILESYSTEM = (
    ToolCall("find", {"pattern": "*.md", "path": "Events", "kind": "file"}),
    ToolCall("directory_list", {"path": "People"}),
    ToolCall("directory_list", {"path": str(paths.resources_folder())}),
    ToolCall("file_read", {"path": "Events/Trial of H4.md", "limit": 5}),
    ToolCall("grep", {"pattern": r"\b17\d\d\b", "path": "Events", "files": "*.md", "limit": 5}),
)
# `sort` exists on every system, `-o` on all but Windows.
_SORT_IN_PLACE = () if sys.platform == "win32" else ("-o", "Sorted.txt")
_FILE_PATCH = """\
--- a/Numbers.txt
+++ b/Numbers.txt
@@ -1,3 +1,3 @@
 three
-two
+two and a half
 one
"""
_DEVELOPMENT = (
    ToolCall("file_write", {"path": "Numbers.txt", "content": "three\ntwo\none\n"}),
    ToolCall("shell", {"command": "sort", "args": ["Numbers.txt"]}),
    ToolCall("shell", {"command": "sort", "args": [*_SORT_IN_PLACE, "Numbers.txt"], "writes": True}),
    ToolCall("patch", {"patch": _FILE_PATCH, "files": ["Numbers.txt"], "dry_run": True}),
    ToolCall("patch", {"patch": _FILE_PATCH, "files": ["Numbers.txt"]}),
    ToolCall("diff", {"path": "Numbers.txt", "other": "Events/Trial of H4.md"}),
    ToolCall("git", {"op": "status"}),
    ToolCall("git", {"op": "add", "paths": ["Numbers.txt"]}),
    ToolCall("git", {"op": "diff", "staged": True}),
    ToolCall("git", {"op": "commit", "message": "Numbers of the trial"}),
    ToolCall("git", {"op": "branch", "name": "trial"}),
    ToolCall("git", {"op": "log"}),
)

TOOL_CALLS: tuple[ToolCall, ...] = (
    *_NOTES,
    *_SEARCH,
    *_TAGS,
    *_MEMORY,
    *_FILESYSTEM,
    *_DEVELOPMENT,
    *_NODES,
    *_RELATIONSHIPS,
    *_WEB,
    *_SOURCES,
    *_AGENTS,
    *_MESSAGES,
)
