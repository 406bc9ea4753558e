"""A folder outside the vault whose text files agents load into their memory, work on and save."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.errors import InvalidPathError, LimitError, NotFoundError, UnreadableNoteError
from app.events import EventBus
from app.memory.block import Permission
from app.sources.config import FolderConfig
from app.sources.merge_bases import MergeBases
from app.sources.rules import FileRules
from app.sources.source import SourcesChanged
from app.task_supervisor import TaskSupervisor
from app.vault.changes import content_hash
from app.vault.globs import Glob
from app.vault.journal import Journal
from app.vault.path import NotePath
from app.vault.store import NoteStore
from app.vault.transaction import Recovery
from app.vault.watcher import FileBatch, watch

log = logging.getLogger(__name__)

MAX_FILE_BYTES = 2 * 1024 * 1024
"""Maximum bytes of a file that can be loaded."""
_CLOSE_TIMEOUT_S = 10.0
_MAX_DEPTH = 24
_MAX_SCANNED_FILES = 50_000
_EXCLUDED_FOLDERS = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file: its bytes and its text."""

    content: bytes
    text: str

    @property
    def hash(self) -> str:
        """Content hash of the bytes."""
        return content_hash(self.content)


@dataclass(frozen=True, slots=True)
class FileListing:
    """A folder's files with sizes in bytes; `is_truncated`: a limit was reached, so some may be missing."""

    files: tuple[tuple[NotePath, int], ...]
    is_truncated: bool


class FileSource:
    """A folder outside the vault. It reads and watches files; only its store writes.

    `recovered` lists the changes interrupted by a crash that `start` has finished or rolled back. `changed`
    lists up to 50 loaded files that other programs changed, latest first.

    Args:
        config: The user's configuration of the folder.
        journal: Records the commits of its store.
        data: The folder for its own state.
        events: Publishes changes to loaded files and to `problem`.
        is_loaded: Returns whether an agent has loaded the file with this label.
        writable: Whether this process may write.
    """

    def __init__(
        self,
        config: FolderConfig,
        journal: Journal,
        data: Path,
        events: EventBus,
        is_loaded: Callable[[str], bool],
        *,
        writable: bool = True,
    ) -> None:
        self.config = config
        self.root = Path(config.folder)
        self.hash8 = folder_hash(self.root)
        self.place = f"files-{self.hash8}"
        self.rules = FileRules(config)
        self.bases = MergeBases(data)
        self.store = NoteStore(
            self.root, journal, place=self.place, log_folder=data / "intents", writable=writable
        )
        self.problem = ""
        self.recovered: tuple[Recovery, ...] = ()
        self.changed: tuple[NotePath, ...] = ()
        self._writable = writable
        self._events = events
        self._is_loaded = is_loaded
        self._stop = asyncio.Event()
        self._supervisor = TaskSupervisor(events)

    # Lifecycle

    async def start(self) -> None:
        """Recover from a crash, start watching the folder, and wait up to two seconds for the watcher.

        Raises:
            VaultLostError, StorageError: An interrupted change can't be recovered yet; nothing is watched.
        """
        self._stop = asyncio.Event()
        ready = asyncio.Event()
        if self._writable and await asyncio.to_thread(self.root.is_dir):
            self.recovered = tuple(await asyncio.to_thread(self.store.recover))
        self._supervisor = TaskSupervisor(self._events)
        self._supervisor.start(f"watch {self.config.name}", lambda: self._watch(ready))
        with suppress(TimeoutError):
            await asyncio.wait_for(ready.wait(), 2)

    async def stop(self) -> None:
        """Stop watching."""
        self._stop.set()
        await self._supervisor.close(_CLOSE_TIMEOUT_S)

    async def _watch(self, ready: asyncio.Event) -> None:
        if self.problem:
            self._set_problem("")
        try:
            await watch(self.root, self._handle_batch, self._stop, self.store.is_own_write, ready=ready)
        except Exception as error:
            self._set_problem(f"The folder can't be watched: {error}")
            raise

    async def _handle_batch(self, batch: FileBatch) -> None:
        """Handle changes that other programs made."""
        if batch.lost:
            self._set_problem("The folder is missing. It may have been unplugged, renamed or deleted.")
        elif batch.found:
            self._set_problem("")
        else:
            touched = (*batch.changed, *batch.removed)
            loaded = tuple(path for path in touched if self._is_loaded(self.label(path)))
            if loaded:
                self.changed = tuple(dict.fromkeys((*loaded, *self.changed)))[:50]
                self._events.publish(SourcesChanged((self.config.id,)))

    def _set_problem(self, problem: str) -> None:
        self.problem = problem
        self._events.publish(SourcesChanged((self.config.id,)))

    # Contents

    def label(self, path: NotePath) -> str:
        """Return the label of the block that a file is loaded into."""
        return f"file:{self.hash8}:{path}"

    def permission(self, path: NotePath, agent: str) -> Permission:
        """Return the agent's permission for the file."""
        return self.rules.permission(path, agent)

    def resolve_path(self, text: str) -> NotePath:
        """Resolve a relative path, an absolute path in the folder, or a label to a file.

        Raises:
            InvalidPathError: the path leaves the folder or is hidden, or it is not a valid name and there is
                no such file.
            VaultLostError, StorageError: the folder is gone, or the disk failed.
        """
        relative = text.removeprefix(f"file:{self.hash8}:")
        if Path(relative).is_absolute():
            try:
                relative = Path(os.path.normpath(relative)).relative_to(self.root).as_posix()
            except ValueError:
                message = f"{text} is not in the folder {self.config.name}."
                raise InvalidPathError(message, path=text) from None
        try:
            path = NotePath.parse(relative)
        except InvalidPathError:
            path = NotePath.on_disk(relative)
            if not self.store.exists(path):
                raise
        if path.is_hidden:
            raise InvalidPathError(f"{path} is hidden; hidden files are excluded.", path=str(path))
        return path

    def read(self, path: NotePath) -> TextFile:
        """Read a text file of the folder.

        Raises:
            NotFoundError: there is no such file, or it is hidden.
            InvalidPathError: it is a folder, or a link leads out of the source's folder.
            LimitError: the file is larger than `MAX_FILE_BYTES`.
            UnreadableNoteError: the file is not UTF-8 text.
            VaultLostError, StorageError: the folder is gone, or reading failed.
        """
        if path.is_hidden:
            raise NotFoundError(f"There is no file {path}.", path=str(path))
        size = self.store.stat(path).size
        if size > MAX_FILE_BYTES:
            message = f"{path} is {size:,} bytes; only files up to {MAX_FILE_BYTES:,} bytes can be loaded."
            raise LimitError(message, path=str(path), limit=MAX_FILE_BYTES)
        content = self.store.read(path)
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise _not_text_error(path) from error
        if "\0" in text:
            raise _not_text_error(path)
        return TextFile(content, text)

    def find(self, path: NotePath) -> TextFile | None:
        """Read a text file like `read`; return None if there is no such file."""
        try:
            return self.read(path)
        except NotFoundError:
            return None

    def read_start(self, path: NotePath, length: int) -> bytes:
        """Return the first `length` bytes of a file of any size; for errors, see `NoteStore.read_start`."""
        return self.store.read_start(path, length)

    def list_files(
        self, pattern: str, limit: int, is_visible: Callable[[NotePath], bool] = lambda path: True
    ) -> FileListing:
        """List files in name order, depth first.

        Links, hidden and unreadable files and folders, `node_modules`, `__pycache__`, and folders more than
        24 levels deep are left out.

        Args:
            pattern: A glob that the files match; empty for all files.
            limit: Maximum number of files to list.
            is_visible: Returns whether a file is visible; others are not listed.
        """
        glob = Glob(pattern) if pattern.strip() else None
        files: list[tuple[NotePath, int]] = []
        for scanned, (path, size) in enumerate(_walk(self.root, "", _MAX_DEPTH)):
            if scanned >= _MAX_SCANNED_FILES:
                return FileListing(tuple(files), is_truncated=True)
            if (glob is None or glob.matches(path)) and is_visible(path):
                if len(files) >= limit:
                    return FileListing(tuple(files), is_truncated=True)
                files.append((path, size))
        return FileListing(tuple(files), is_truncated=False)


def folder_hash(root: Path) -> str:
    """Return eight hexadecimal digits that identify a folder in labels and store names."""
    real_path = os.path.realpath(root)
    return hashlib.sha256(real_path.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _walk(root: Path, folder: str, depth: int) -> Iterator[tuple[NotePath, int]]:
    try:
        with os.scandir(root / folder) as entries:
            children = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in children:
        if entry.name.startswith(".") or entry.name in _EXCLUDED_FOLDERS:
            continue
        path = f"{folder}/{entry.name}" if folder else entry.name
        try:
            if entry.is_dir(follow_symlinks=False):
                if depth:
                    yield from _walk(root, path, depth - 1)
            elif entry.is_file(follow_symlinks=False):
                yield NotePath.on_disk(path), entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue


def _not_text_error(path: NotePath) -> UnreadableNoteError:
    return UnreadableNoteError(f"{path} is not a UTF-8 text file, so it can't be loaded.", path=str(path))
