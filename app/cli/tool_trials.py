"""Calls of every tool on a copy of the sample vault, for `scriptorium tools --check`.

Calls run in this order, so a later one may build on the result of an earlier one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app import paths

Results = Mapping[str, Mapping[str, object]]
"""The last result of each tool so far, and given facts: `trial_pages` has an `address`."""

Arguments = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class SmokeCase:
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
    SmokeCase("create_note", {"name": "A trial", "content": "Written by the trial.\n", "folder": "Journal"}),
    SmokeCase("read_note", {"name": "A trial"}),
    SmokeCase("edit_note", {"name": "A trial", "op": "patch", "patch": _PATCH}),
    SmokeCase("edit_note", {"name": "Gimbal", "op": "append", "text": "Seen by the trial."}),
    SmokeCase("update_note", {"name": "A trial", "content": "All new.\n"}),
    SmokeCase("set_properties", {"name": "A trial", "properties": {"status": "draft", "rating": 4}}),
    SmokeCase("move_note", {"name": "Longitude", "new_name": "Geographic longitude"}),
    SmokeCase("list_notes", {"folder": "Journal"}),
    SmokeCase("get_metadata", {"name": "H4"}),
    SmokeCase("note_history", {"name": "Gimbal"}),
    SmokeCase("restore_note", _version),
    SmokeCase("undo", {}),
    SmokeCase("delete_note", {"name": "A trial"}),
)
_SEARCH = (
    SmokeCase("search_notes", {"query": "chronometer -tag:core", "order": "modified", "group": "folder"}),
    SmokeCase("semantic_search", {"query": "how sailors kept time", "limit": 3}),
    SmokeCase("find_passages", {"question": "how heavy was the first sea clock?"}),
    SmokeCase("search_by_tags", {"tags": ["core"]}),
    SmokeCase("search_by_properties", {"properties": {"type": ["claim", "hypothesis"]}}),
    SmokeCase("find_related", {"name": "H4", "limit": 3}),
    SmokeCase("list_tags", {}),
    SmokeCase("vault_info", {}),
    SmokeCase("unlinked_mentions", {"name": "Greenwich"}),
    SmokeCase("list_unresolved_links", {}),
    SmokeCase("find_duplicates", {}),
)
_TAGS = (
    SmokeCase("add_tag", {"name": "Octant", "tag": "to-check"}),
    SmokeCase("remove_tag", {"name": "Octant", "tag": "to-check"}),
    SmokeCase("rename_tag", {"tag": "core", "new_tag": "central"}),
)
_MEMORY = (
    SmokeCase("block", {"op": "create", "label": "trial", "content": "Made by it.", "permission": "admin"}),
    SmokeCase("block", {"op": "pin", "label": "trial"}),
    SmokeCase("block_edit", {"op": "append", "label": "trial", "content": "And added to."}),
    SmokeCase("block_edit", {"op": "undo", "label": "trial"}),
    SmokeCase("context", {"op": "replace", "label": "trial", "old": "Made", "new": "Changed"}),
    SmokeCase("block", {"op": "load", "label": "trial"}),
    SmokeCase("block", {"op": "delete", "label": "trial"}),
    SmokeCase(
        "recall", {"op": "insert", "content": "Harrison's fourth timekeeper is the one that mattered."}
    ),
    SmokeCase("recall", {"op": "search", "query": "timekeeper"}),
    SmokeCase("search", {"query": "timekeeper", "limit": 3}),
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
    SmokeCase(
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
    SmokeCase("get_node", {"node_id": _BEAT}),
    SmokeCase("update_node", {"node_id": "A trial observation", "updates": {"place": "Jamaica"}}),
    SmokeCase("find_related_nodes", {"node_id": _BEAT, "limit": 3, "min_similarity": 0.3}),
    SmokeCase("summarize_node", {"node_id": "John Harrison", "max_length": 300}),
    SmokeCase("summarize_node_with_context", {"node_id": _BEAT, "depth": 2}),
    SmokeCase("recalculate_node_confidence", {"node_id": _BEAT}),
    SmokeCase("reclassify_node", {"node_id": "A trial observation", "new_type": "hypothesis"}),
    SmokeCase("create_node", {"type": "observation", "content": _TWIN, "auto_analyze": False}),
    SmokeCase("merge_nodes", {"primary_node_id": "A trial observation", "secondary_node_id": "A trial twin"}),
    SmokeCase("delete_node", {"node_id": "A trial observation", "cascade": True}),
)
_RELATIONSHIPS = (
    SmokeCase(
        "create_relationship",
        {"from_id": "K1", "to_id": _BEAT, "relationship_type": "relates to", "confidence": 0.6},
    ),
    SmokeCase("recalculate_edge_confidence", {"edge_id": _NEW_EDGE}),
    SmokeCase("summarize_relationship", {"edge_id": f"{_JAMAICA} -[SUPPORTS]-> {_BEAT}"}),
    SmokeCase("delete_relationship", {"edge_id": _NEW_EDGE}),
    SmokeCase(
        "reclassify_relationship", {"edge_id": f"{_JAMAICA} -[SUPPORTS]-> {_BEAT}", "new_type": "CITES"}
    ),
    SmokeCase("suggest_relationships", {"op": "list", "limit": 5}),
    SmokeCase("suggest_relationships", _suggestion),
)
_WEB = (
    SmokeCase("fetch_page", lambda results: {"url": f"{results['trial_pages']['address']}/chronometers"}),
    SmokeCase(
        "search_web_for_evidence",
        {"node_id": "Timekeepers beat the Moon", "max_results": 3, "create_sources": True},
    ),
)
_SOURCES = (
    SmokeCase("source", {"op": "list"}),
    SmokeCase("file", {"op": "list", "pattern": "*.txt"}),
    SmokeCase("file", {"op": "load", "path": "Letter.txt"}),
    SmokeCase("file", {"op": "replace", "path": "Letter.txt", "old": "Sir", "new": "Madam"}),
    SmokeCase("file", {"op": "append", "path": "Letter.txt", "content": "Yours truly"}),
    SmokeCase("file", {"op": "diff", "path": "Letter.txt"}),
    SmokeCase("file", {"op": "save", "path": "Letter.txt"}),
    SmokeCase("file", {"op": "status"}),
    SmokeCase("file", {"op": "create", "path": "Answers/First.txt", "content": "Dear Sir,\n"}),
    SmokeCase("file", {"op": "reload", "path": "Letter.txt"}),
    SmokeCase("file", {"op": "reconcile", "path": "Letter.txt", "keep": "disk"}),
    SmokeCase("file", {"op": "delete", "path": "Answers/First.txt"}),
)
_AGENTS = (
    SmokeCase("list_tools", {"query": "rename"}),
    SmokeCase("pending", {"op": "list"}),
    SmokeCase("delegate", {"agent": "Librarian", "prompt": "list all tags"}),
)
_MESSAGES = (
    SmokeCase("send_message", {"target": "user", "content": "The trial is here."}),
    SmokeCase("send_message", {"target": "agent", "id": "Librarian", "content": "find notes about sextant"}),
)
_FILESYSTEM = (
    SmokeCase("find", {"pattern": "*.md", "path": "Events", "kind": "file"}),
    SmokeCase("directory_list", {"path": "People"}),
    SmokeCase("directory_list", {"path": str(paths.resources_folder())}),
    SmokeCase("file_read", {"path": "Events/Trial of H4.md", "limit": 5}),
    SmokeCase("grep", {"pattern": r"\b17\d\d\b", "path": "Events", "files": "*.md", "limit": 5}),
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
    SmokeCase("file_write", {"path": "Numbers.txt", "content": "three\ntwo\none\n"}),
    SmokeCase("shell", {"command": "sort", "args": ["Numbers.txt"]}),
    SmokeCase("shell", {"command": "sort", "args": [*_SORT_IN_PLACE, "Numbers.txt"], "writes": True}),
    SmokeCase("patch", {"patch": _FILE_PATCH, "files": ["Numbers.txt"], "dry_run": True}),
    SmokeCase("patch", {"patch": _FILE_PATCH, "files": ["Numbers.txt"]}),
    SmokeCase("diff", {"path": "Numbers.txt", "other": "Events/Trial of H4.md"}),
    SmokeCase("git", {"op": "status"}),
    SmokeCase("git", {"op": "add", "paths": ["Numbers.txt"]}),
    SmokeCase("git", {"op": "diff", "staged": True}),
    SmokeCase("git", {"op": "commit", "message": "Numbers of the trial"}),
    SmokeCase("git", {"op": "branch", "name": "trial"}),
    SmokeCase("git", {"op": "log"}),
)

TRIALS: tuple[SmokeCase, ...] = (
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
