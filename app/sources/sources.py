"""The sources of a vault: their configuration, life cycle and unread notifications."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rapidfuzz import process

from app import paths
from app.errors import InvalidParametersError, NotFoundError, ScriptoriumError, StorageError, VaultBusyError
from app.events import EventBus
from app.memory.store import MemoryStore
from app.sources.config import (
    FeedConfig,
    FolderConfig,
    FolderStreamConfig,
    SourceConfig,
    SourceConfigStore,
    StreamConfig,
    VaultStreamConfig,
)
from app.sources.feed_stream import FEED_LIMITS, FeedStream
from app.sources.file_source import FileSource, folder_hash
from app.sources.folder_stream import FolderStream
from app.sources.inbox import Inbox
from app.sources.source import Notification, Notified, SourceInfo, SourcesChanged, SourceState, Stream
from app.sources.vault_stream import VaultStream
from app.sources.working_copy import SOURCE_KEY, TOKEN_KEY
from app.vault.changes import content_hash
from app.vault.journal import Journal
from app.vault.path import NotePath
from app.web.http_fetcher import Fetcher

log = logging.getLogger(__name__)

_MAX_RECENT_NOTIFICATIONS = 50
_MAX_NOTIFICATIONS_PER_TURN = 30
_MAX_SOURCES = 50
RegisterStore = Callable[[FileSource], Callable[[], None]]
"""Registers a source's folder as a document store; returns a function that removes it."""


@dataclass(slots=True)
class _RunningSource:
    """A running source; `close` removes a folder's document store."""

    source: FileSource | Stream
    close: Callable[[], None]


class Sources:
    """The sources of one vault. Belongs to the service thread.

    Args:
        vault: The vault's folder; folders inside it or containing it can't be sources.
        folder: The vault's data folder.
        journal: Records commits in the folders.
        memory: Holds loaded files; without it, there are no file sources.
        events: Publishes notifications and changes to sources.
        register_store: Registers a folder as a document store.
        writable: Whether this process may write; otherwise no source is started.
    """

    def __init__(
        self,
        vault: Path,
        folder: Path,
        journal: Journal,
        memory: MemoryStore | None,
        events: EventBus,
        register_store: RegisterStore,
        *,
        writable: bool = True,
    ) -> None:
        self._vault = vault
        self._folder = folder / "sources"
        self._journal = journal
        self._memory = memory
        self._events = events
        self._register_store = register_store
        self._fetcher = Fetcher(limits=FEED_LIMITS)
        self._writable = writable
        self._config_store = SourceConfigStore(folder, writable=writable)
        self._configs: dict[str, SourceConfig] = {config.id: config for config in self._config_store.load()}
        self._running: dict[str, _RunningSource] = {}
        self._problems: dict[str, str] = {}
        self._recent: dict[str, deque[Notification]] = {}
        self.inbox = Inbox(self._folder / "inbox.json" if writable else None)
        self.problem = self._config_store.problem
        self.on_configured: Callable[[str, SourceConfig], None] = lambda op, config: None
        """Called with the user's action (“add”, “change”, “pause”, “resume” or “remove”) and the source."""

    # Lifecycle

    async def start(self, *, streams: bool = True) -> None:
        """Start every source that is not paused; a source that fails does not affect the others.

        Without `streams`, only folders are opened, and there is no network access. In a vault that is open
        read-only, no source is started.
        """
        if self._writable:
            for config in tuple(self._configs.values()):
                if not config.paused and (streams or isinstance(config, FolderConfig)):
                    await self._start(config)

    async def close(self) -> None:
        """Stop all sources and save the unread notifications."""
        for source_id in tuple(self._running):
            await self._stop(source_id)
        if self._writable and (len(self.inbox) or (self._folder / "inbox.json").exists()):
            try:
                await asyncio.to_thread(self.inbox.save)
            except OSError as error:
                log.warning("unread notifications could not be saved: %s", error)

    async def _start(self, config: SourceConfig) -> None:
        self._problems.pop(config.id, None)
        try:
            if isinstance(config, FolderConfig):
                self._running[config.id] = await self._start_folder(config)
            else:
                stream = self._create_stream(config)
                await stream.start(self._add_notification)
                self._running[config.id] = _RunningSource(stream, _no_close)
        except (OSError, ScriptoriumError) as error:
            log.warning("the source %s could not be started: %s", config.id, error)
            self._problems[config.id] = str(error)
        self._events.publish(SourcesChanged((config.id,)))

    async def _start_folder(self, config: FolderConfig) -> _RunningSource:
        if self._memory is None:
            raise InvalidParametersError("There is no memory to load files into.")
        source = FileSource(
            config,
            self._journal,
            self._folder / config.id,
            self._events,
            self._is_loaded,
            writable=self._writable,
        )
        await source.start()
        try:
            return _RunningSource(source, self._register_store(source))
        except BaseException:
            await source.stop()
            raise

    def _create_stream(self, config: StreamConfig) -> Stream:
        match config:
            case VaultStreamConfig():
                return VaultStream(config, self._events)
            case FolderStreamConfig():
                return FolderStream(config, self._events)
            case FeedConfig():
                return FeedStream(config, self._folder / config.id / "feed.json", self._fetcher, self._events)

    async def _stop(self, source_id: str) -> None:
        running = self._running.pop(source_id, None)
        if running is not None:
            running.close()
            await running.source.stop()

    # Access

    def list_sources(self) -> tuple[SourceInfo, ...]:
        """Return the state of every source, in the order in which they were added."""
        return tuple(self._info(config) for config in self._configs.values())

    def get(self, source_id: str) -> SourceInfo:
        """Return the source with this id or name.

        Raises:
            NotFoundError: there is no such source, or several sources have this name.
        """
        return self._info(self._find(source_id))

    def open_folders(self) -> tuple[FileSource, ...]:
        """Return the open folders."""
        return tuple(
            running.source for running in self._running.values() if isinstance(running.source, FileSource)
        )

    def _find(self, source_id: str) -> SourceConfig:
        if source_id in self._configs:
            return self._configs[source_id]
        matches = [
            config
            for config in self._configs.values()
            if config.name.casefold() == source_id.strip().casefold()
        ]
        if len(matches) == 1:
            return matches[0]
        available = [f"{config.id} ({config.name})" for config in self._configs.values()]
        suggestions = [match[0] for match in process.extract(source_id, available, limit=3, score_cutoff=40)]
        message = (
            f"{len(matches)} sources have the name {source_id!r}. Use an id instead."
            if matches
            else f"There is no source {source_id!r}."
        )
        raise NotFoundError(message, source_id=source_id, suggestions=suggestions, sources=available)

    def _info(self, config: SourceConfig) -> SourceInfo:
        running = self._running.get(config.id)
        source = running.source if running else None
        problem = self._problems.get(config.id, "") or (source.problem if source else "")
        state = SourceState.PAUSED if config.paused else SourceState.FAILED if problem else SourceState.ACTIVE
        if not self._writable and not config.paused:
            state, problem = SourceState.PAUSED, "The vault is open read-only."
        detail = config.folder if isinstance(config, FolderConfig | FolderStreamConfig) else ""
        if isinstance(config, FeedConfig):
            detail = config.url
        return SourceInfo(
            config,
            state,
            detail,
            not isinstance(config, FolderConfig),
            problem,
            tuple(reversed(self._recent.get(config.id, ()))),
            len(self.inbox.source_notifications(config.id)),
            self._loaded_labels(config),
            source.checked if source is not None and not isinstance(source, FileSource) else None,
        )

    def _loaded_labels(self, config: SourceConfig) -> tuple[str, ...]:
        if self._memory is None or not isinstance(config, FolderConfig):
            return ()
        blocks = self._memory.all_blocks()
        return tuple(sorted({block.label for block in blocks if block.origin.get(SOURCE_KEY) == config.id}))

    def _is_loaded(self, label: str) -> bool:
        return self._memory is not None and any(block.label == label for block in self._memory.all_blocks())

    # User actions

    async def add(self, config: SourceConfig) -> SourceInfo:
        """Add a source and start it.

        Raises:
            InvalidParametersError: its folder or address is not valid or is already a source, or there are
                too many sources.
            VaultBusyError: the vault is open read-only.
            StorageError: the configuration can't be saved.
        """
        if len(self._configs) >= _MAX_SOURCES:
            raise InvalidParametersError(f"There are already {_MAX_SOURCES} sources. Remove one first.")
        await asyncio.to_thread(self._check_config, config)
        self._save({**self._configs, config.id: config})
        self.on_configured("add", config)
        if not config.paused:
            await self._start(config)
        return self._info(config)

    async def change(self, config: SourceConfig) -> SourceInfo:
        """Reconfigure and restart a source. Raises the same errors as `add`, and NotFoundError."""
        return await self._change(config, "change")

    async def _change(self, config: SourceConfig, op: str) -> SourceInfo:
        """Change the configuration; `op` is empty if a tool call logs the change."""
        previous = self._find(config.id)
        if previous != config:
            await asyncio.to_thread(self._check_config, config)
            self._save({**self._configs, config.id: config})
            if op:
                self.on_configured(op, config)
            await self._stop(config.id)
            if not config.paused:
                await self._start(config)
            self._events.publish(SourcesChanged((config.id,)))
        return self._info(config)

    async def set_paused(self, source_id: str, paused: bool, *, by_call: bool = False) -> SourceInfo:
        """Pause or resume a source; the choice survives a restart. Raises the same errors as `change`.

        Args:
            source_id: The source's id or name.
            paused: Whether to pause it.
            by_call: Whether a tool call requested it; that call has its own log entry.
        """
        op = "" if by_call else "pause" if paused else "resume"
        return await self._change(self._find(source_id).model_copy(update={"paused": paused}), op)

    async def remove(self, source_id: str) -> None:
        """Remove a source. Its files and the blocks that were loaded from them remain.

        Raises:
            NotFoundError: there is no such source.
            VaultBusyError: the vault is open read-only.
            StorageError: the configuration can't be saved.
        """
        config = self._find(source_id)
        self._save({key: other for key, other in self._configs.items() if key != config.id})
        self.on_configured("remove", config)
        await self._stop(config.id)
        self.inbox.remove_source(config.id)
        self._recent.pop(config.id, None)
        self._events.publish(SourcesChanged((config.id,)))

    async def check_feed(self, source_id: str) -> SourceInfo:
        """Poll a feed now.

        Raises:
            NotFoundError: there is no such source.
            InvalidParametersError: the source is not a feed, or is paused.
        """
        config = self._find(source_id)
        running = self._running.get(config.id)
        if running is None or not isinstance(running.source, FeedStream):
            raise InvalidParametersError(f"{config.name} is paused or not a feed, so it can't be checked.")
        await running.source.check()
        return self._info(config)

    def _save(self, sources: dict[str, SourceConfig]) -> None:
        if not self._writable:
            raise VaultBusyError("The vault is open read-only, so its sources can't be changed.")
        try:
            self._config_store.save(tuple(sources.values()))
        except OSError as error:
            message = f"The sources could not be saved: {error.strerror or error}. Nothing was changed."
            raise StorageError(message, errno=error.errno) from error
        self._configs = sources

    def _check_config(self, config: SourceConfig) -> None:
        others = [other for other in self._configs.values() if other.id != config.id]
        if isinstance(config, FolderConfig | FolderStreamConfig):
            self._check_folder(Path(config.folder))
        if isinstance(config, FeedConfig):
            self._fetcher.check(config.url)
        for other in others:
            if isinstance(config, FolderConfig) and isinstance(other, FolderConfig):
                if folder_hash(Path(other.folder)) == folder_hash(Path(config.folder)):
                    message = f"The folder is already a source: {other.name}."
                    raise InvalidParametersError(message, source_id=other.id)
            elif isinstance(config, FeedConfig) and isinstance(other, FeedConfig) and other.url == config.url:
                message = f"The feed is already a source: {other.name}."
                raise InvalidParametersError(message, source_id=other.id)

    def _check_folder(self, folder: Path) -> None:
        """Check that a folder exists and does not overlap with the vault or the app's own data.

        Raises:
            InvalidParametersError: it does not exist, or it overlaps with them.
        """
        if not folder.is_absolute() or not folder.is_dir():
            raise InvalidParametersError(f"There is no folder {folder}.", folder=str(folder))
        real_folder = Path(os.path.realpath(folder))
        reserved = {
            "the vault": self._vault,
            "the app's settings": paths.config_folder(),
            "the app's data": paths.data_folder(),
            "the app's cache": paths.cache_folder(),
        }
        for name, other_folder in reserved.items():
            other_path = Path(os.path.realpath(other_folder))
            if (
                real_folder == other_path
                or other_path in real_folder.parents
                or real_folder in other_path.parents
            ):
                raise InvalidParametersError(
                    f"{folder} overlaps with {name}, so it can't be a source. Choose another folder.",
                    folder=str(folder),
                )

    # Notifications

    def _add_notification(self, notification: Notification) -> None:
        self._recent.setdefault(notification.source, deque(maxlen=_MAX_RECENT_NOTIFICATIONS)).append(
            notification
        )
        self.inbox.add(notification)
        self._events.publish(Notified(notification))

    def take_notifications(self, may_see: Callable[[Notification], bool]) -> tuple[Notification, ...]:
        """Remove a limited number of the oldest unread notifications; return those that the agent may see."""
        notifications = self.inbox.take(_MAX_NOTIFICATIONS_PER_TURN)
        if notifications:
            self._events.publish(
                SourcesChanged(tuple(dict.fromkeys(notification.source for notification in notifications)))
            )
        return tuple(notification for notification in notifications if may_see(notification))

    def is_vault_notification(self, notification: Notification) -> bool:
        """Return whether a notification comes from the vault, so that its path is a note's."""
        return isinstance(self._configs.get(notification.source), VaultStreamConfig)

    def name_of(self, source_id: str) -> str:
        """Return the name of a source, or its id if it was removed."""
        config = self._configs.get(source_id)
        return config.name if config is not None else source_id

    def starts_turn(self, source_id: str) -> bool:
        """Return whether notifications of a source can start a turn of the agent."""
        config = self._configs.get(source_id)
        return isinstance(config, VaultStreamConfig | FolderStreamConfig | FeedConfig) and config.starts_turn

    # Commits

    def record_commit(
        self, place: str, changed: tuple[tuple[NotePath, str | None], ...], *, undo: bool
    ) -> None:
        """Record which blocks a commit saved: those whose content it wrote to their files.

        An undo saves no block.

        Args:
            place: The store of the commit.
            changed: The changed files, each with the hash of its new content, or None if it is gone.
            undo: Whether the commit is an undo.

        Raises:
            OSError: the record can't be written.
        """
        source = next(
            (file_source for file_source in self.open_folders() if file_source.place == place), None
        )
        if source is None or self._memory is None or undo:
            return
        for path, saved_hash in changed:
            label = source.label(path)
            for block in self._memory.all_blocks():
                content = block.text.encode() if block.label == label else b""
                if block.label == label and saved_hash == content_hash(content):
                    source.bases.save(content)
                    source.bases.record_save(block.origin.get(TOKEN_KEY, ""), saved_hash)

    def was_on_disk(self, origin_source: str, saved_hash: str, content: bytes) -> bool:
        """Return whether a file of this source once had this content, whose hash is `saved_hash`."""
        bases = next(
            (
                file_source.bases
                for file_source in self.open_folders()
                if file_source.config.id == origin_source
            ),
            None,
        )
        return bases is not None and content_hash(content) == saved_hash and bases.contains(content)


def new_id(kind: str) -> str:
    """Return an id for a new source."""
    return f"{kind}-{secrets.token_hex(4)}"


def _no_close() -> None:
    """Do nothing: a stream has no store to remove."""
