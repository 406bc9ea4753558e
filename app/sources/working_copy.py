"""A file and the block that an agent has loaded it into: their state, and the operations on them.

The operations write neither to the folder nor to the memory: each returns a change set, which needs approval.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from app.errors import ConflictError, InvalidParametersError, NotFoundError, PermissionDeniedError
from app.memory import changes as memory_changes
from app.memory import edits
from app.memory.block import Block, BlockType
from app.memory.schema import TextSchema
from app.memory.store import MemoryStore
from app.sources.file_source import MAX_FILE_BYTES, FileSource, TextFile
from app.sources.rules import FileAction, allows
from app.vault.changes import ChangeSet, Create, Delete, Update, content_hash
from app.vault.diff import compare
from app.vault.merge import merge
from app.vault.path import NotePath
from app.vault.unified_diff import unified_diff

Keep = Literal["disk", "memory", "merge"]
SOURCE_KEY, PATH_KEY, HASH_KEY, TOKEN_KEY = "source", "path", "hash", "loading"
"""Keys of a loaded block's origin: the source, the file, its hash when loaded, and the token of the load."""


class FileState(StrEnum):
    """State of a file and its block."""

    NOT_LOADED = "not loaded"
    IN_SYNC = "in sync"
    CHANGED_IN_MEMORY = "changed in memory"
    CHANGED_ON_DISK = "changed on disk"
    CHANGED_IN_BOTH = "changed in memory and on disk"
    GONE_FROM_DISK = "gone from disk"


@dataclass(frozen=True, slots=True)
class WorkingCopy:
    """A file as an agent works on it; created for each operation.

    `disk` is None if there is no such file, and `block` is None if the file is not loaded.
    """

    source: FileSource
    agent: str
    path: NotePath
    disk: TextFile | None
    block: Block | None

    @property
    def label(self) -> str:
        """The label of the block."""
        return self.source.label(self.path)

    @property
    def base(self) -> str:
        """The hash that the file had when the block was last loaded or saved; empty if it is not loaded."""
        if self.block is None:
            return ""
        return self.source.bases.base_hash(
            self.block.origin.get(TOKEN_KEY, ""), self.block.origin.get(HASH_KEY, "")
        )

    @property
    def state(self) -> FileState:
        """The state of the file and its block."""
        if self.block is None:
            return FileState.NOT_LOADED
        if self.disk is None:
            return FileState.GONE_FROM_DISK
        memory = content_hash(self.block.text.encode())
        if memory == self.disk.hash:
            return FileState.IN_SYNC
        if self.disk.hash == self.base:
            return FileState.CHANGED_IN_MEMORY
        return FileState.CHANGED_ON_DISK if memory == self.base else FileState.CHANGED_IN_BOTH

    # Operations

    def load(self) -> ChangeSet:
        """Load the file into the memory; the change set is empty if the block already has its text.

        Raises:
            NotFoundError: there is no such file.
            ConflictError: the block has unsaved edits.
            OSError: the text can't be stored for a later merge.
        """
        disk = self._require_disk()
        if self.block is None or self.state is FileState.CHANGED_ON_DISK:
            return self._reloaded_block(disk, f"Load {self.path}")
        if self.state in (FileState.CHANGED_IN_MEMORY, FileState.CHANGED_IN_BOTH):
            raise self._conflict(
                f"{self.path} is loaded and has unsaved edits. Save it, reload it to discard them, or "
                "reconcile."
            )
        return ChangeSet((), place=memory_changes.MEMORY_PLACE)

    def reload(self) -> ChangeSet:
        """Load the file again; unsaved edits are discarded.

        Raises:
            NotFoundError: there is no such file.
            OSError: the text can't be stored for a later merge.
        """
        disk = self._require_disk()
        if self.block is not None and self.state is FileState.IN_SYNC and self.base == disk.hash:
            return ChangeSet((), place=memory_changes.MEMORY_PLACE)
        return self._reloaded_block(disk, f"Reload {self.path}")

    def save(self) -> ChangeSet:
        """Write the whole block to the file.

        Raises:
            NotFoundError: the file is not loaded.
            ConflictError: the file was changed, deleted or moved since it was loaded.
            InvalidParametersError: the block is too large for a file.
        """
        block = self._require_block()
        match self.state:
            case FileState.IN_SYNC:
                return ChangeSet((), place=self.source.place)
            case FileState.CHANGED_IN_MEMORY:
                return self._write_file(block.text, f"Save {self.path}")
            case FileState.GONE_FROM_DISK:
                raise self._conflict(
                    f"{self.path} was deleted or moved since it was loaded. Nothing was written. To create "
                    "it again, reconcile with keep=memory."
                )
        raise self._conflict(
            f"{self.path} changed on disk since it was loaded. Nothing was written. Review the diff, "
            "then reconcile with keep=disk, memory or merge."
        )

    def create(self, content: str) -> ChangeSet:
        """Create the file.

        Raises:
            ConflictError: the name is taken.
            InvalidParametersError: the content is too large.
        """
        existing = self.source.store.existing_path(self.path)
        if existing is not None:
            raise ConflictError(f"{existing} already exists. Nothing was written.", path=str(existing))
        self._check_size(content)
        path = self.source.store.disk_spelling(self.path)
        change = Create(path, content.encode())
        return ChangeSet.of(change, summary=f"Create {path}", place=self.source.place)

    def delete(self) -> ChangeSet:
        """Move the file to the trash of the source's folder.

        Raises:
            NotFoundError: there is no such file.
        """
        change = Delete(self.path, self.source.store.read(self.path))
        return ChangeSet.of(change, summary=f"Delete {self.path}", place=self.source.place)

    def append(self, text: str) -> ChangeSet:
        """Append text to the block.

        Raises:
            NotFoundError: the file is not loaded.
            PermissionDeniedError: appending to the file is not allowed.
        """
        self._check(FileAction.APPEND)
        block = self._require_block()
        return memory_changes.edit_block(block, edits.append(block, text), f"Add to {self.path} in memory")

    def replace(self, old: str, new: str) -> ChangeSet:
        """Replace the only occurrence of `old` in the block.

        Raises:
            NotFoundError: the file is not loaded, or does not contain the text.
            InvalidParametersError: the text occurs more than once.
            PermissionDeniedError: overwriting the file is not allowed.
        """
        self._check(FileAction.OVERWRITE)
        block = self._require_block()
        if (count := block.text.count(old)) > 1:
            message = f"{self.path} contains that text {count} times: include more of the surrounding text."
            raise InvalidParametersError(message, path=str(self.path), count=count)
        return memory_changes.edit_block(block, edits.replace(block, old, new), f"Edit {self.path} in memory")

    def reconcile(self, keep: Keep) -> ChangeSet:
        """Resolve a conflict with a file that changed on disk since it was loaded.

        `disk` loads the file's text into the memory, `memory` overwrites the file with the block, and `merge`
        merges both into the memory, for review and saving.

        Raises:
            NotFoundError: the file is not loaded, or (unless `keep` is `memory`) no longer exists.
            ConflictError: both changed the same lines (`conflicts` lists the first ones), or the text that
                was loaded is no longer stored.
            InvalidParametersError: the block is too large for a file.
            OSError: the file's text can't be stored for a later merge.
        """
        block = self._require_block()
        if keep == "memory":
            return self._write_file(block.text, f"Overwrite {self.path} on disk")
        return self.reload() if keep == "disk" else self._merge_text(block, self._require_disk())

    def diff(self) -> str:
        """Return the change that saving would make to the file, as a unified diff; empty if there is none.

        Raises:
            NotFoundError: the file is not loaded.
        """
        block = self._require_block()
        before = self.disk.text if self.disk is not None else ""
        diff = compare(before.encode(), block.text.encode())
        return unified_diff(diff, f"{self.path} (disk)", f"{self.path} (memory)")

    # Helpers

    def _merge_text(self, block: Block, disk: TextFile) -> ChangeSet:
        base = self.source.bases.content(self.base)
        if base is None:
            raise self._conflict(
                f"The text of {self.path} when it was loaded is no longer stored, so it can't be merged. "
                "Reconcile with keep=disk or keep=memory."
            )
        merge_result = merge(base, disk.content, block.text.encode())
        if merge_result.conflicts:
            conflicts = [
                {
                    "base": conflict.base.decode(),
                    "disk": conflict.ours.decode(),
                    "memory": conflict.theirs.decode(),
                }
                for conflict in merge_result.conflicts[:20]
            ]
            raise self._conflict(
                f"Disk and memory changed the same lines of {self.path}. Nothing was changed. Edit the "
                "block until it has the text you want, then reconcile with keep=memory, or use keep=disk.",
                conflicts=conflicts,
            )
        return self._reloaded_block(disk, f"Merge {self.path}", merge_result.text.decode())

    def _reloaded_block(self, disk: TextFile, summary: str, text: str | None = None) -> ChangeSet:
        """Return the change that updates the block to the file's current text, or to a merged one."""
        origin: Mapping[str, str] = {
            SOURCE_KEY: self.source.config.id,
            PATH_KEY: str(self.path),
            HASH_KEY: self.source.bases.save(disk.content),
            TOKEN_KEY: secrets.token_hex(8),
        }
        content = disk.text if text is None else text
        permission = self.source.permission(self.path, self.agent)
        if self.block is None:
            block = Block(
                self.agent,
                self.label,
                BlockType.WORKING,
                TextSchema(),
                permission,
                f"The file {self.path} in {self.source.config.name}.",
                content,
                origin=origin,
            )
            return memory_changes.create_block(block, summary)
        after = replace(self.block.with_text(content), origin=origin, permission=permission)
        return memory_changes.edit_block(self.block, after, summary)

    def _write_file(self, text: str, summary: str) -> ChangeSet:
        self._check_size(text)
        after = text.encode()
        if self.disk is None:
            change: Create | Update = Create(self.source.store.disk_spelling(self.path), after)
        else:
            change = Update(self.path, self.disk.content, after)
        return ChangeSet.of(change, summary=summary, place=self.source.place)

    def _require_block(self) -> Block:
        if self.block is None:
            raise NotFoundError(f"{self.path} is not loaded. Load it first.", path=str(self.path))
        return self.block

    def _require_disk(self) -> TextFile:
        return self.disk if self.disk is not None else self.source.read(self.path)

    def _check(self, operation: FileAction) -> None:
        permission = self.source.permission(self.path, self.agent)
        if not allows(permission, operation):
            message = (
                f"{self.path} is {permission.value} for {self.agent}, so {operation.value} is not allowed."
            )
            raise PermissionDeniedError(message, path=str(self.path), permission=permission.value)

    def _check_size(self, text: str) -> None:
        if len(text.encode()) > MAX_FILE_BYTES:
            raise InvalidParametersError(
                f"A file can be at most {MAX_FILE_BYTES:,} bytes.", limit=MAX_FILE_BYTES
            )

    def _conflict(self, message: str, **details: object) -> ConflictError:
        disk_hash = self.disk.hash if self.disk is not None else None
        state = self.state.value
        return ConflictError(
            message,
            path=str(self.path),
            state=state,
            expected_hash=self.base,
            current_hash=disk_hash,
            **details,
        )


def working_copy(source: FileSource, memory: MemoryStore, agent: str, path: NotePath) -> WorkingCopy:
    """Return the working copy of a file, read from the disk and the memory.

    Raises:
        ConflictError: another file is loaded under this label; its name differs only in case.
        LimitError, UnreadableNoteError, StorageError: the file can't be read.
    """
    block = memory.find(source.label(path), agent)
    if block is not None and (block.owner != agent or SOURCE_KEY not in block.origin):
        block = None
    if block is not None and block.origin.get(PATH_KEY) != str(path):
        loaded = block.origin.get(PATH_KEY)
        message = f"{loaded}, whose name differs only in case, is loaded. Delete its block first."
        raise ConflictError(message, path=str(path))
    return WorkingCopy(source, agent, path, source.find(path), block)
