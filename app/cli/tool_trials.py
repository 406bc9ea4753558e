"""One call or more of every tool on a copy of the sample vault: what `scriptorium tools --check` runs.

Calls are made in this order, so a later one may build on what an earlier one wrote.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app import paths

Results = Mapping[str, Mapping[str, object]]
"""The last result of each tool so far, and what the frame brings: `trial_pages` has an `address`."""

Arguments = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Trial:
    """A call; `arguments` may be made from the results so far."""

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
    Trial("create_note", {"name": "A trial", "content": "Written by the trial.\n", "folder": "Journal"}),
    Trial("read_note", {"name": "A trial"}),
    Trial("edit_note", {"name": "A trial", "op": "patch", "patch": _PATCH}),
    Trial("edit_note", {"name": "Gimbal", "op": "append", "text": "Seen by the trial."}),
    Trial("update_note", {"name": "A trial", "content": "All new.\n"}),
    Trial("set_properties", {"name": "A trial", "properties": {"status": "draft", "rating": 4}}),
    Trial("move_note", {"name": "Longitude", "new_name": "Geographic longitude"}),
    Trial("list_notes", {"folder": "Journal"}),
    Trial("get_metadata", {"name": "H4"}),
    Trial("note_history", {"name": "Gimbal"}),
    Trial("restore_note", _version),
    Trial("undo", {}),
    Trial("delete_note", {"name": "A trial"}),
)
_SEARCH = (
    Trial("search_notes", {"query": "chronometer -tag:core", "order": "modified", "group": "folder"}),
    Trial("semantic_search", {"query": "how sailors kept time", "limit": 3}),
    Trial("find_passages", {"question": "how heavy was the first sea clock?"}),
    Trial("search_by_tags", {"tags": ["core"]}),
    Trial("search_by_properties", {"properties": {"type": ["claim", "hypothesis"]}}),
    Trial("find_related", {"name": "H4", "limit": 3}),
    Trial("list_tags", {}),
    Trial("vault_info", {}),
    Trial("unlinked_mentions", {"name": "Greenwich"}),
    Trial("list_unresolved_links", {}),
    Trial("find_duplicates", {}),
)
_TAGS = (
    Trial("add_tag", {"name": "Octant", "tag": "to-check"}),
    Trial("remove_tag", {"name": "Octant", "tag": "to-check"}),
    Trial("rename_tag", {"tag": "core", "new_tag": "central"}),
)
_MEMORY = (
    Trial("block", {"op": "create", "label": "trial", "content": "Made by it.", "permission": "admin"}),
    Trial("block", {"op": "pin", "label": "trial"}),
    Trial("block_edit", {"op": "append", "label": "trial", "content": "And added to."}),
    Trial("block_edit", {"op": "undo", "label": "trial"}),
    Trial("context", {"op": "replace", "label": "trial", "old": "Made", "new": "Changed"}),
    Trial("block", {"op": "load", "label": "trial"}),
    Trial("block", {"op": "delete", "label": "trial"}),
    Trial("recall", {"op": "insert", "content": "Harrison's fourth timekeeper is the one that mattered."}),
    Trial("recall", {"op": "search", "query": "timekeeper"}),
    Trial("search", {"query": "timekeeper", "limit": 3}),
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
    Trial(
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
    Trial("get_node", {"node_id": _BEAT}),
    Trial("update_node", {"node_id": "A trial observation", "updates": {"place": "Jamaica"}}),
    Trial("find_related_nodes", {"node_id": _BEAT, "limit": 3, "min_similarity": 0.3}),
    Trial("summarize_node", {"node_id": "John Harrison", "max_length": 300}),
    Trial("summarize_node_with_context", {"node_id": _BEAT, "depth": 2}),
    Trial("recalculate_node_confidence", {"node_id": _BEAT}),
    Trial("reclassify_node", {"node_id": "A trial observation", "new_type": "hypothesis"}),
    Trial("create_node", {"type": "observation", "content": _TWIN, "auto_analyze": False}),
    Trial("merge_nodes", {"primary_node_id": "A trial observation", "secondary_node_id": "A trial twin"}),
    Trial("delete_node", {"node_id": "A trial observation", "cascade": True}),
)
_RELATIONSHIPS = (
    Trial(
        "create_relationship",
        {"from_id": "K1", "to_id": _BEAT, "relationship_type": "relates to", "confidence": 0.6},
    ),
    Trial("recalculate_edge_confidence", {"edge_id": _NEW_EDGE}),
    Trial("summarize_relationship", {"edge_id": f"{_JAMAICA} -[SUPPORTS]-> {_BEAT}"}),
    Trial("delete_relationship", {"edge_id": _NEW_EDGE}),
    Trial("reclassify_relationship", {"edge_id": f"{_JAMAICA} -[SUPPORTS]-> {_BEAT}", "new_type": "CITES"}),
    Trial("suggest_relationships", {"op": "list", "limit": 5}),
    Trial("suggest_relationships", _suggestion),
)
_WEB = (
    Trial("fetch_page", lambda results: {"url": f"{results['trial_pages']['address']}/chronometers"}),
    Trial(
        "search_web_for_evidence",
        {"node_id": "Timekeepers beat the Moon", "max_results": 3, "create_sources": True},
    ),
)
_SOURCES = (
    Trial("source", {"op": "list"}),
    Trial("file", {"op": "list", "pattern": "*.txt"}),
    Trial("file", {"op": "load", "path": "Letter.txt"}),
    Trial("file", {"op": "replace", "path": "Letter.txt", "old": "Sir", "new": "Madam"}),
    Trial("file", {"op": "append", "path": "Letter.txt", "content": "Yours truly"}),
    Trial("file", {"op": "diff", "path": "Letter.txt"}),
    Trial("file", {"op": "save", "path": "Letter.txt"}),
    Trial("file", {"op": "status"}),
    Trial("file", {"op": "create", "path": "Answers/First.txt", "content": "Dear Sir,\n"}),
    Trial("file", {"op": "reload", "path": "Letter.txt"}),
    Trial("file", {"op": "reconcile", "path": "Letter.txt", "keep": "disk"}),
    Trial("file", {"op": "delete", "path": "Answers/First.txt"}),
)
_AGENTS = (
    Trial("list_tools", {"query": "rename"}),
    Trial("pending", {"op": "list"}),
    Trial("delegate", {"agent": "Librarian", "prompt": "list all tags"}),
)
_MESSAGES = (
    Trial("send_message", {"target": "user", "content": "The trial is here."}),
    Trial("send_message", {"target": "agent", "id": "Librarian", "content": "find notes about sextant"}),
)
_FILESYSTEM = (
    Trial("find", {"pattern": "*.md", "path": "Events", "kind": "file"}),
    Trial("directory_list", {"path": "People"}),
    Trial("directory_list", {"path": str(paths.resources_folder())}),
    Trial("file_read", {"path": "Events/Trial of H4.md", "limit": 5}),
    Trial("grep", {"pattern": r"\b17\d\d\b", "path": "Events", "files": "*.md", "limit": 5}),
)
# `sort` is on every system, and `-o` on all but Windows.
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
    Trial("file_write", {"path": "Numbers.txt", "content": "three\ntwo\none\n"}),
    Trial("shell", {"command": "sort", "args": ["Numbers.txt"]}),
    Trial("shell", {"command": "sort", "args": [*_SORT_IN_PLACE, "Numbers.txt"], "writes": True}),
    Trial("patch", {"patch": _FILE_PATCH, "files": ["Numbers.txt"], "dry_run": True}),
    Trial("patch", {"patch": _FILE_PATCH, "files": ["Numbers.txt"]}),
    Trial("diff", {"path": "Numbers.txt", "other": "Events/Trial of H4.md"}),
    Trial("git", {"op": "status"}),
    Trial("git", {"op": "add", "paths": ["Numbers.txt"]}),
    Trial("git", {"op": "diff", "staged": True}),
    Trial("git", {"op": "commit", "message": "Numbers of the trial"}),
    Trial("git", {"op": "branch", "name": "trial"}),
    Trial("git", {"op": "log"}),
)

TRIALS: tuple[Trial, ...] = (
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
