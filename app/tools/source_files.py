"""Category sources: load files from folders outside the vault, edit them in memory and save them."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from app.errors import AmbiguousError, InvalidPathError, NotFoundError, StorageError
from app.memory.store import MemoryStore
from app.permissions.pluralize import pluralize
from app.sources.file_source import FileSource
from app.sources.sources import Sources
from app.sources.working_copy import FileState, WorkingCopy, working_copy
from app.toolkit.argument_types import Limit, MarkdownText
from app.toolkit.memory_service import agent_key
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.services import MemoryContext
from app.toolkit.tool import tool
from app.tools.sources import ADD_FOLDER_HINT
from app.vault.changes import ChangeSet
from app.vault.markdown.privacy import HEAD_BYTES, classify_privacy
from app.vault.note import Privacy, PrivacyVerdict
from app.vault.path import NotePath

_MAX_TEXT_CHARS = 40_000


class ListedFile(BaseModel):
    """A file: the label of its block, the agent's permission, and the state of the file and the block."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    path: str
    label: str
    size: int
    permission: str
    state: str


class FileAnswer(ToolResult):
    """The result of an operation on a file, or information about several.

    `text` is the file's beginning (`cut`: there is more), `diff` is what saving would change on disk.
    """

    path: str = ""
    label: str = ""
    state: str = ""
    permission: str = ""
    text: str | None = None
    cut: bool = False
    diff: str = ""
    files: list[ListedFile] = Field(default_factory=list)


@tool(
    category="sources",
    examples={
        "list": ("list the files of the source", "which files are in the added folder"),
        "load": ("load the file {path}", "open the outside file {path} in memory"),
        "save": ("save the file {path} to disk", "write the loaded file {path} back"),
        "status": ("status of the file {path}", "is the file {path} changed on disk"),
        "diff": ("diff the file {path} against the disk", "show what saving the file {path} would change"),
        "reload": ("reload the file {path} from disk",),
        "delete": ("delete the outside file {path} from disk",),
    },
    read_operations=("list", "status", "diff"),
    operations={
        "load": "path",
        "save": "path",
        "create": "path content?",
        "delete": "path",
        "append": "path content",
        "replace": "path old new",
        "list": "pattern? limit?",
        "status": "path?",
        "diff": "path",
        "reload": "path",
        "reconcile": "path keep",
    },
    usage_rule=(
        "file works on folders outside the vault: load a file into memory first, edit it there "
        "(append, replace, or block_edit with its label), check diff, then save. If save reports "
        "that the file changed on disk, reconcile with keep=disk, memory or merge."
    ),
)
async def file(
    context: MemoryContext,
    op: Literal[
        "load",
        "save",
        "create",
        "delete",
        "append",
        "replace",
        "list",
        "status",
        "diff",
        "reload",
        "reconcile",
    ],
    path: str | None = None,
    content: MarkdownText | None = None,
    old: str | None = None,
    new: str | None = None,
    keep: Literal["disk", "memory", "merge"] | None = None,
    pattern: str = "",
    limit: Limit = 200,
    source_id: str | None = None,
) -> Proposal[FileAnswer] | FileAnswer:
    """Work on text files in the external folders that the user added.

    Args:
        op: load a file into memory, append to it or replace text in it, save it, reload it, show its diff or
            status, reconcile it with a changed file on disk; create or delete a file; list files.
        path: The file, relative to its folder, or the label of its block (file:…).
        content: The text of a new file, or the text to append.
        old: The text to replace; it must occur exactly once.
        new: The replacement.
        keep: Which text to keep: the one on disk, the one in memory, or both merged.
        pattern: A glob that file names must match.
        limit: The maximum number of files.
        source_id: The folder, by id or name, if there are several.
    """
    sources, agent = context.services.sources, agent_key(context.caller)
    memory = context.services.memory.store
    if op == "list" or (op == "status" and path is None):
        folders = _select_folders(sources, source_id)
        return await asyncio.to_thread(_list_files, context, folders, memory, agent, op, pattern, limit)
    requested = path or ""
    return await asyncio.to_thread(
        lambda: _run_operation(
            context, _find_copy(sources, source_id, memory, agent, requested), op, content, old, new, keep
        )
    )


def _run_operation(
    context: MemoryContext,
    copy: WorkingCopy,
    op: str,
    content: str | None,
    old: str | None,
    new: str | None,
    keep: Literal["disk", "memory", "merge"] | None,
) -> Proposal[FileAnswer] | FileAnswer:
    """Run an operation on a file; an answer that contains its text or diff is marked as untrusted.

    Raises:
        NotFoundError: The file does not exist, or the caller may not read it.
    """
    _check_readable(context, copy)
    change_set: ChangeSet
    match op:
        case "status" | "diff":
            return _state_answer(copy, copy.diff() if op == "diff" else "")
        case "load":
            return _propose_loading(context, copy, copy.load(), "Loaded")
        case "reload":
            return _propose_loading(context, copy, copy.reload(), "Reloaded")
        case "save":
            change_set, message = copy.save(), f"Saved {copy.path}."
        case "create":
            change_set, message = copy.create(content or ""), f"Created {copy.path}; load it to work on it."
        case "delete":
            change_set, message = copy.delete(), f"Deleted {copy.path}: it is in its folder's trash."
        case "append":
            change_set, message = (
                copy.append(content or ""),
                f"Added to {copy.path} in memory; save it to write the change to disk.",
            )
        case "replace":
            change_set = copy.replace(old or "", new or "")
            message = f"Replaced the text in {copy.path} in memory; save it to write the change to disk."
        case _:
            assert keep is not None
            change_set, message = copy.reconcile(keep), _RECONCILED_MESSAGES[keep].format(copy.path)
    if not change_set:
        is_edit = op in ("append", "replace")
        state = "already has this text" if is_edit else "is the same on disk and in memory"
        message = f"{copy.path} {state}; nothing to do."
    return context.propose(change_set, _file_answer(copy, message))


def readable_copy(context: MemoryContext, source_id: str | None, path: str) -> WorkingCopy:
    """Return the caller's working copy of the file with this path or label.

    Raises:
        NotFoundError: No open folder matches, or the caller may not read the file.
        InvalidPathError: The path is not valid in any of the folders.
        AmbiguousError: The file could be in several folders.
    """
    copy = _find_copy(
        context.services.sources, source_id, context.services.memory.store, agent_key(context.caller), path
    )
    _check_readable(context, copy)
    return copy


def _check_readable(context: MemoryContext, copy: WorkingCopy) -> None:
    """Raise NotFoundError for a file that the caller may not read."""
    is_hidden = copy.disk is not None and _hides(copy.path, classify_privacy(copy.disk.content))
    if is_hidden or not context.can_read(copy.source.place, copy.path):
        raise NotFoundError(f"There is no file {copy.path}.", path=str(copy.path))


def _hides(path: NotePath, verdict: PrivacyVerdict) -> bool:
    """Return whether a file with this verdict is hidden from callers."""
    # Only notes have properties, so unreadable bytes in other files don't affect their privacy.
    return verdict.hides if path.is_note else verdict.privacy is Privacy.PRIVATE


_RECONCILED_MESSAGES = {
    "disk": "{0} in memory now matches the file on disk.",
    "memory": "{0} on disk now matches the copy in memory.",
    "merge": "Both are merged in memory: look at the diff of {0}, then save it.",
}


def _propose_loading(
    context: MemoryContext, copy: WorkingCopy, change_set: ChangeSet, verb: str
) -> Proposal[FileAnswer]:
    assert copy.disk is not None
    message = f"{verb} {copy.path}." if change_set else f"{copy.path} is already loaded."
    text = copy.disk.text if change_set or copy.block is None else copy.block.text
    answer = _file_answer(copy, message).model_copy(
        update={"text": text[:_MAX_TEXT_CHARS], "cut": len(text) > _MAX_TEXT_CHARS}
    )
    return context.propose(change_set, answer.from_outside())


def _file_answer(copy: WorkingCopy, message: str) -> FileAnswer:
    permission = copy.source.permission(copy.path, copy.agent).value
    return FileAnswer(path=str(copy.path), label=copy.label, permission=permission, message=message)


def _state_answer(copy: WorkingCopy, diff: str) -> FileAnswer:
    message = f"{copy.path}: {copy.state.value}."
    if copy.state in (FileState.CHANGED_ON_DISK, FileState.CHANGED_IN_BOTH):
        message += " Reconcile it before you save."
    if copy.block is None and copy.disk is None:
        raise NotFoundError(f"There is no file {copy.path}.", path=str(copy.path))
    answer = _file_answer(copy, message).model_copy(update={"state": copy.state.value, "diff": diff})
    return answer.from_outside() if diff else answer


def _may_know(context: MemoryContext, folder: FileSource, path: NotePath) -> bool:
    """Return whether the rules and the file's privacy allow the caller to see that it exists."""
    if not context.can_read(folder.place, path):
        return False
    try:
        start = folder.read_start(path, HEAD_BYTES)
    except NotFoundError:
        # A loaded file may be gone from disk.
        return True
    except StorageError:
        return False
    return not _hides(path, classify_privacy(start, complete=len(start) < HEAD_BYTES))


def _list_files(
    context: MemoryContext,
    folders: tuple[FileSource, ...],
    memory: MemoryStore,
    agent: str,
    op: str,
    pattern: str,
    limit: int,
) -> FileAnswer:
    """List at most `limit` visible files; for `status`, all visible files that are loaded."""
    listed: list[ListedFile] = []
    is_truncated = False
    for folder in folders:
        is_visible = partial(_may_know, context, folder)
        if op == "status":
            blocks = (
                block for block in memory.blocks(agent) if block.origin.get("source") == folder.config.id
            )
            loaded = ((NotePath.on_disk(block.origin["path"]), block.size) for block in blocks)
            paths = [(path, size) for path, size in loaded if is_visible(path)]
        else:
            listing = folder.list_files(pattern, limit - len(listed), is_visible)
            paths, is_truncated = list(listing.files), is_truncated or listing.is_truncated
        listed += [_listed_file(folder, memory, agent, path, size) for path, size in paths]
    noun = "loaded file" if op == "status" else "file"
    hint = "; there are more: narrow the pattern" if is_truncated else ""
    message = f"{pluralize(len(listed), noun)}{hint}."
    return FileAnswer(files=listed, message=message)


def _listed_file(
    folder: FileSource, memory: MemoryStore, agent: str, path: NotePath, size: int
) -> ListedFile:
    state = FileState.NOT_LOADED
    label = folder.label(path)
    if memory.find(label, agent) is not None:
        state = working_copy(folder, memory, agent, path).state
    permission = folder.permission(path, agent).value
    return ListedFile(path=str(path), label=label, size=size, permission=permission, state=state.value)


# File selection


def _select_folders(sources: Sources, source_id: str | None) -> tuple[FileSource, ...]:
    """Return the open folder with this id or name, or all open folders for None.

    Raises:
        NotFoundError: No matching folder is open.
    """
    folders = sources.open_folders()
    if source_id is not None:
        wanted_id = sources.get(source_id).id
        folders = tuple(folder for folder in folders if folder.config.id == wanted_id)
    if not folders:
        raise NotFoundError(f"No matching folder is open. {ADD_FOLDER_HINT}", source_id=source_id or "")
    return folders


def _find_copy(
    sources: Sources, source_id: str | None, memory: MemoryStore, agent: str, requested: str
) -> WorkingCopy:
    """Return the agent's working copy of a file.

    Raises:
        NotFoundError: No open folder matches.
        InvalidPathError: The path is not valid in any of the folders.
        AmbiguousError: The file could be in several folders.
    """
    folders = _select_folders(sources, source_id)
    labeled = [folder for folder in folders if requested.startswith(f"file:{folder.hash8}:")]
    if requested.startswith("file:") and not labeled:
        raise NotFoundError(f"No open folder has {requested}.", path=requested)
    copies, problems = [], []
    for folder in labeled or folders:
        try:
            copies.append(working_copy(folder, memory, agent, folder.resolve_path(requested)))
        except InvalidPathError as error:
            problems.append(error)
    if not copies:
        raise problems[0]
    present = [copy for copy in copies if copy.disk is not None or copy.block is not None] or copies
    if len(present) > 1:
        names = [copy.source.config.id for copy in present]
        message = f"{requested} could be in several folders. Specify one with source_id."
        raise AmbiguousError(message, path=requested, candidates=names)
    return present[0]
