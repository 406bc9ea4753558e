"""No text of a private note reaches a model or an external program, by any tool, in any spelling.

Each note of `VARIANTS` is marked as private in its own way, and has a canary in its path, title, alias, tag
and body. Every tool is called, and the canary must not occur in the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

import pytest

from app.permissions.approval import Approved, Denied, Effect
from app.permissions.caller import Caller, CallerKind
from app.settings import Settings
from app.toolkit.call import Call
from app.toolkit.tool import Tool
from app.tools import CATALOG, FILE_TOOL
from app.workspace.opening import open_workspace
from tests.support.private_notes import CANARY, HIDDEN_FOLDER, PLAIN, VARIANTS, write_private_vault, written
from tests.support.tool_calls import warnings_of

_HIDDEN = PLAIN
_NEEDS_NEW_PATH = {"create_note", "file_write", "patch", "move_note", "create_node"}


def _values(target: str) -> dict[str, object]:
    """Return an argument for each name that tools take, about `target`."""
    stem = target.removesuffix(".md")
    patch = f"--- a/{target}\n+++ b/{target}\n@@ -1,1 +1,1 @@\n-x\n+y\n"
    same = ("name", "node_id", "path", "from_id", "primary_node_id", "source_id", "label")
    return {
        **dict.fromkeys(same, target),
        "to_id": "Tea.md",
        "secondary_node_id": "Home.md",
        "other": "Tea.md",
        "edge_id": f"{target} -[SUPPORTS]-> Tea.md",
        "suggestion_id": f"{target} ~ Tea.md",
        "new_type": "concept",
        "type": "concept",
        "relationship_type": "supports",
        "updates": {"status": "draft"},
        "content": "text",
        "tag": "drink",
        "new_tag": "beverage",
        "key": "drink",
        "new_key": "beverage",
        "new_heading": "Tea leaves",
        "folder": "Notes",
        "new_folder": "Moved notes",
        "tags": ["drink"],
        "properties": {"type": "note"},
        "query": "drink",
        "pattern": ".",
        "command": "grep",
        "patch": patch,
        "files": [target],
        "paths": [target],
        "version": "0" * 64,
        "url": "http://127.0.0.1:9/",
        "target": "user",
        "agent": "Nobody",
        "permission": "read_only",
        "prompt": "list tags",
        "text": "more",
        "old": "drink",
        "new": "drinks",
        "heading": "Tea",
        "message": "A commit",
        "keep": "disk",
        "field": "x",
        "value": "x",
        "lines": "1-2",
        "archive_label": "a",
        "load_label": "b",
        "start_line": 1,
        "display_lines": 5,
        "pending_operation_id": "x",
        "new_name": stem.rpartition("/")[2] + " moved",
        "question": f"What does {stem} say?",
    }


def _calls(tool: Tool, target: str) -> Iterator[dict[str, object]]:
    """Return calls of each operation of a tool, about `target`."""
    values = _values(target)
    if tool.name in ("create_node",):
        values["content"] = {
            "title": target.removesuffix(".md").rpartition("/")[2],
            "text": "text",
            "folder": "Notes",
        }
    required = [one.name for one in tool.parameters if one.required and one.name != "op"]
    if not tool.operations:
        yield {name: values[name] for name in required}
    for op, fields in tool.operations.items():
        yield {"op": op, **{name: values[name] for name in {*required, *fields.needs}}}


_MORE = (
    ("move_note", {"name": "Tea", "new_name": "Green tea"}),
    ("move_note", {"name": "Green tea", "new_name": "Tea"}),
    ("move_note", {"name": "Home", "folder": "Notes"}),
    ("rename_tag", {"tag": "drink", "new_tag": "beverage"}),
    ("rename_property", {"key": "type", "new_key": "kind"}),
    ("rename_property", {"key": "ai", "new_key": "access"}),
    ("rename_heading", {"name": "Tea", "heading": "Tea", "new_heading": "Leaves"}),
    ("move_folder", {"folder": HIDDEN_FOLDER, "new_folder": "Elsewhere"}),
    ("move_folder", {"folder": "Notes", "new_folder": HIDDEN_FOLDER}),
    ("move_folder", {"folder": "Notes", "new_folder": "Elsewhere"}),
    ("move_folder", {"folder": "Mixed", "new_folder": "Elsewhere"}),
    ("move_folder", {"folder": "Mixed/Open", "new_folder": "Elsewhere"}),
    ("move_folder", {"folder": "Mixed/Open", "new_folder": "Mixed/Kept"}),
    ("undo", {}),
    ("delete_node", {"node_id": "Home", "cascade": True}),
    ("undo", {}),
    ("list_notes", {"folder": HIDDEN_FOLDER}),
    ("directory_list", {"path": HIDDEN_FOLDER}),
    ("list_notes", {"folder": "Notes"}),
    ("find", {"pattern": "*", "path": "Notes"}),
    ("find", {"pattern": "*", "depth": 5}),
    ("directory_list", {"path": "Notes"}),
    ("directory_list", {}),
    ("grep", {"pattern": "drink|heading|title"}),
    ("grep", {"pattern": "drink", "path": "Notes"}),
    ("grep", {"pattern": ".", "path": "Links/link.md"}),
    ("grep", {"pattern": ".", "path": "Links/link.txt"}),
    ("file_read", {"path": "Links/link.md"}),
    ("file_read", {"path": "Links/link.txt"}),
    ("read_note", {"name": "Links/link.md"}),
    ("diff", {"path": "Links/link.txt", "other": "Tea.md"}),
    ("shell", {"command": "cat", "args": ["Links/link.txt"]}),
    ("shell", {"command": "find", "args": ["."]}),
    ("shell", {"command": "grep", "args": ["-r", "drink", "."], "writes": True}),
    ("git", {"op": "commit", "message": "Nothing is staged"}),
    ("git", {"op": "add", "paths": ["Tea.md"]}),
    ("git", {"op": "add", "paths": ["."]}),
    ("git", {"op": "add", "paths": ["Notes"]}),
    ("git", {"op": "diff"}),
    ("git", {"op": "diff", "staged": True}),
    ("search_notes", {"query": "drink", "group": "folder"}),
    ("search_notes", {"query": "ai:private"}),
    ("search_notes", {"query": "[ai]"}),
    ("search_notes", {"query": "path:xyzzy"}),
    ("search_notes", {"query": "/xyz+y/"}),
    ("read_note", {"name": "xyzzycanar"}),
    ("read_note", {"name": "xyzzycanarytitle"}),
    ("get_metadata", {"name": "Tea"}),
    ("unlinked_mentions", {"name": "Tea"}),
    ("find_related", {"name": "Tea"}),
    ("find_related_nodes", {"node_id": "Tea", "min_similarity": 0.0}),
    ("summarize_node_with_context", {"node_id": "Tea", "depth": 3}),
    ("vault_info", {}),
)


@pytest.fixture
async def vault(tmp_path, approver):
    """An open vault of private notes of every kind, with every tool enabled.

    The folder `Mixed` contains an open note, a private note, a hidden file and an excluded folder.
    """
    settings = Settings()
    settings.embeddings.enabled = False
    settings.index.exclude = ("Therapy",)
    root = write_private_vault(tmp_path / "vault")
    for name in ("Open/Note", f"Kept/{CANARY} diary", "Open/.draft", f"Open/Therapy/{CANARY} session"):
        file = root / "Mixed" / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("See [[Tea]].\n" if name == "Open/Note" else written(VARIANTS["plain"]).decode())
    opened = await open_workspace(root, settings, approver)
    try:
        await opened.start_scan(lambda progress: None)
        for category in opened.registry.categories:
            opened.registry.set_category(category.id, on=True)
        yield opened
    finally:
        await opened.close()


class _Asking:
    """Calls tools, each as another program, so that no rate limit applies."""

    def __init__(self, workspace) -> None:
        self._workspace, self._count = workspace, 0

    async def __call__(self, tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
        self._count += 1
        caller = Caller(CallerKind.MCP, f"Caller {self._count}")
        return (await self._workspace.runner.run(Call.of(tool, arguments, caller))).as_dict()


def _effects_only(request):
    """Approve effects that leave the notes unchanged, and deny changes of notes."""
    return Approved(request.proposal) if isinstance(request.proposal, Effect) else Denied("no")


def _answer_text(answer: object, arguments: object) -> str:
    """Return an answer as text, without the caller's own input."""
    text = json.dumps(answer, ensure_ascii=False).casefold()
    for said in sorted(set(_texts(arguments)), key=len, reverse=True):
        text = text.replace(json.dumps(said.casefold(), ensure_ascii=False)[1:-1], "")
    return text


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        for text in (value, *re.split(r" -\[| ~ ", value), *value.replace("a/", "").split("\n")):
            if CANARY in text:
                yield from (text, text.removesuffix(".md"), text.removesuffix(".md").rpartition("/")[2])
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


async def test_the_canary_of_a_private_note_is_nowhere_in_what_a_tool_answers(vault, approver):
    ask, leaks = _Asking(vault), []
    approver.answers = [_effects_only]
    hidden = [f"Notes/{CANARY} {name}.md" for name in ("plain", "UTF-16", "no end", "over 4 MiB")]
    for target in ("Tea.md", *hidden, f"{CANARY} title", f"{CANARY} alias"):
        for tool in (*CATALOG, FILE_TOOL):
            for arguments in _calls(tool, target):
                answer = await ask(tool.name, arguments)
                if CANARY in _answer_text(answer, arguments):
                    leaks.append((tool.name, arguments, answer))
    approver.answers = [lambda request: Approved(request.proposal)]
    for tool, arguments in _MORE:
        answer = await ask(tool, arguments)
        if CANARY in _answer_text(answer, arguments):
            leaks.append((tool, arguments, answer))
    assert leaks == [], "\n".join(map(str, leaks))


async def test_a_private_note_and_none_at_all_are_the_same_to_a_tool(vault, approver):
    ask, different = _Asking(vault), []
    approver.answers = [_effects_only]
    absent = _HIDDEN.replace("plain", "plein")
    for tool in (*CATALOG, FILE_TOOL):
        if tool.name in _NEEDS_NEW_PATH or tool.category.startswith("memory"):
            continue
        for arguments, without in zip(_calls(tool, _HIDDEN), _calls(tool, absent), strict=True):
            told, expected = await ask(tool.name, arguments), await ask(tool.name, without)
            if _unmarked(told) != _unmarked(expected):
                different.append((tool.name, arguments, told, expected))
    assert different == [], "\n".join(map(str, different))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list_notes", {"folder": "X"}),
        ("directory_list", {"path": "X"}),
        ("find", {"pattern": "*", "path": "X"}),
        ("grep", {"pattern": ".", "path": "X"}),
        ("file_read", {"path": "X"}),
        ("diff", {"path": "X", "other": "Tea.md"}),
        ("shell", {"command": "ls", "cwd": "X"}),
        ("git", {"op": "add", "paths": ["X"]}),
        ("git", {"op": "diff", "paths": ["X"]}),
    ],
)
async def test_a_folder_of_private_notes_and_none_at_all_are_the_same_to_a_tool(vault, tool, arguments):
    ask = _Asking(vault)
    told = []
    for folder in (HIDDEN_FOLDER, HIDDEN_FOLDER.replace("folder", "fulder")):
        given = json.loads(json.dumps(arguments).replace("X", folder))
        told.append(json.dumps(await ask(tool, given)).replace(folder, "X"))
    assert told[0] == told[1]


@pytest.mark.parametrize(
    "hidden", [(), (".draft.md",), (f"Therapy/{CANARY}.md", f"Therapy/{CANARY}.png"), ("Therapy/x.md", ".y")]
)
async def test_the_result_of_a_move_does_not_depend_on_hidden_and_excluded_files(vault, approver, hidden):
    ask, told = _Asking(vault), []
    for folder, names in (("Open folder", ()), ("Mixed folder", hidden)):
        for name in ("Note.md", *names):
            file = vault.root / folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("See [[Tea]].\n")
    await vault.index.scan()
    approver.asked.clear()
    for folder in ("Open folder", "Mixed folder"):
        answers = [
            await ask("move_folder", {"folder": folder, "new_folder": f"{folder} moved"}),
            await ask("note_history", {"name": f"{folder} moved/Note"}),
        ]
        assert all(answer["success"] for answer in answers)
        told.append(_without_numbers(answers).replace(folder, "X"))
    assert told[0] == told[1] and CANARY not in told[1]
    stay = {1: "1 hidden or excluded file stays", 2: "2 hidden or excluded files stay"}.get(len(hidden))
    warnings = (f"{stay} in “Mixed folder”.",) if stay else ()
    assert warnings_of(approver.asked[-1]) == warnings


@pytest.mark.parametrize("hidden", ["Diary.md", ".draft.md", "Therapy/x.md"])
async def test_a_folder_of_hidden_files_is_refused_like_a_denied_path(vault, approver, hidden):
    file = vault.root / "Taken" / hidden
    file.parent.mkdir(parents=True)
    file.write_text("---\nai: private\n---\n")
    (vault.root / "Open").mkdir()
    (vault.root / "Open" / "Note.md").write_text("x\n")
    await vault.index.scan()
    approver.asked.clear()
    answer = await _Asking(vault)("move_folder", {"folder": "Open", "new_folder": "Taken"})
    assert answer["error"]["message"] == "That path can't be used." and not approver.asked


def _without_numbers(answers: list[dict[str, object]]) -> str:
    return re.sub(r"\d+(?:\.\d+)?|[0-9a-f]{64}", "", json.dumps(answers, ensure_ascii=False))


def _unmarked(answer: dict[str, object]) -> str:
    """Return an answer without the parts that differ between calls: caller, note and time."""
    return re.sub(r"Caller \d+|pl[ae]in|\"seconds\": [\d.]+", "", json.dumps(answer))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("create_note", {"name": _HIDDEN, "content": "x"}),
        ("file_write", {"path": _HIDDEN, "content": "x"}),
        ("move_note", {"name": "Tea", "new_name": f"{CANARY} plain", "folder": "Notes"}),
        ("patch", {"patch": f"--- /dev/null\n+++ b/{_HIDDEN}\n@@ -0,0 +1,1 @@\n+x\n", "files": [_HIDDEN]}),
    ],
)
async def test_the_path_of_a_private_note_is_refused_like_a_denied_one(vault, tool, arguments):
    answer = await _Asking(vault)(tool, arguments)
    assert answer["error"] == {
        "type": "invalid_parameters",
        "message": "That path can't be used.",
        "path": _HIDDEN,
    }


async def test_every_tool_of_the_catalog_is_called(vault):
    for tool in (*CATALOG, FILE_TOOL):
        for arguments in _calls(tool, "Tea.md"):
            tool.arguments.model_validate(arguments)
