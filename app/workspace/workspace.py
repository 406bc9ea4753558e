"""An open vault: its parts put together, its life, and its settings."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app import paths
from app.agent.builtin import BuiltinAgent
from app.agent.conversations import ConversationStore
from app.agent.keys import KeyStore
from app.agent.model_agent import ModelAgent
from app.agent.news import NewsTurns
from app.agent.planner import BuiltinPlanner
from app.agent.programs.direct_edits import DirectEdits
from app.agent.programs.program_agent import ProgramAgent
from app.agent.session import AgentSession
from app.agent.structured import ModelThinker
from app.agent.team import team_profiles
from app.analysis.analyst import Analyst
from app.analysis.queue import SuggestionQueue
from app.embeddings.client import Embedder
from app.embeddings.model_choice import ModelChoice
from app.embeddings.pace import Machine, Pacer
from app.embeddings.upkeep import VectorUpkeep
from app.embeddings.vectors import VectorStore
from app.errors import InvalidParametersError, ScriptoriumError, VaultLostError
from app.events import Event, EventBus
from app.index.missed import MissedChanges
from app.index.records import ScanProgress, ScanReport
from app.index.saved_searches import SavedSearches
from app.index.vault_index import VaultIndex
from app.memory.store import MemoryStore
from app.messages.outbox import Outbox
from app.permissions.approval import Approver
from app.permissions.audit import AuditLog
from app.permissions.grants import Grants
from app.permissions.pending import PendingStore
from app.permissions.policy import Policy
from app.sandbox.sandbox import Sandbox
from app.settings import (
    PermissionSettings,
    Settings,
    VaultRules,
    VaultSettings,
    load_vault_rules,
    load_vault_settings,
    save_settings,
    save_vault_settings,
)
from app.toolkit.disk import Disk
from app.toolkit.meaning import Meaning
from app.toolkit.memory import Memory
from app.toolkit.pending import PendingOperations
from app.toolkit.plugins import load_plugins
from app.toolkit.registry import ToolRegistry
from app.toolkit.runner import ToolRunner
from app.tools import CATALOG, CATEGORIES
from app.vault.journal import Journal
from app.vault.lock import VaultLock
from app.vault.path import NotePath
from app.vault.store import NotesChanged, NoteStore
from app.vault.watcher import FileBatch, VaultFound, VaultLost, watch
from app.web.access import WebAccess
from app.workspace.model_sight import ModelSight
from app.workspace.recovery import told
from app.workspace.sources import news_for_model, open_sources
from app.workspace.ways_in import WaysIn

log = logging.getLogger(__name__)

_OUTSIDE = "outside"


@dataclass(frozen=True, slots=True)
class SettingsChanged(Event):
    """Other settings are in force."""

    settings: Settings


class Workspace:
    """An open vault.

    Use `open_workspace` to make one and `close` to end it. `notices` are sentences that the user should
    read on opening: a commit that a crash cut off and that was settled, a journal that was set aside.
    """

    def __init__(self, root: Path, settings: Settings, approver: Approver | None, read_only: bool) -> None:
        self.root = root
        self.id = paths.vault_id(root)
        self.name = root.name
        self.read_only = read_only
        self.settings = settings
        self.events = EventBus()
        self.notices: list[str] = []
        shared = paths.vault_data_folder(root)
        # A second app on the vault must not write into what the first one owns.
        own = shared / f"reader-{os.getpid()}" if read_only else shared
        own.mkdir(parents=True, exist_ok=True)
        self._lock = VaultLock(shared)
        if not read_only:
            self._lock.acquire()
        self.journal = Journal(shared, settings.journal.max_mib * 1024 * 1024)
        self.store = NoteStore(root, self.journal, writable=not read_only)
        self.index = VaultIndex(root, self._cache(root), settings.index, self.events)
        self.searches = SavedSearches(shared, self.events, writable=not read_only)
        self.missed = MissedChanges(
            self.index, self.events, lambda: self.settings.index.check_minutes, _OUTSIDE
        )
        self.audit = AuditLog(own, None if read_only else paths.audit_head_file(root))
        self.grants = Grants(own, events=self.events)
        self.policy = Policy(_permissions(settings), self.grants, self._vault_rules())
        self.registry = ToolRegistry(CATEGORIES, CATALOG, self.policy.may_call)
        self.notices += load_plugins(self.registry).problems
        # The built-in agent's thresholds are those of the shipped model, whichever makes the notes' vectors.
        self.embedder = Embedder(threads=settings.embeddings.threads)
        self._note_embedder = self._made_embedder(settings)
        self.vectors = VectorStore(self._cache(root), self._note_embedder.model.key)
        self.meaning = Meaning(self._note_embedder, self.vectors)
        self.runner = ToolRunner(
            self.registry, self.policy, approver, self.store, self.index, self.journal, self.audit,
            self.grants, self.events,
        )  # fmt: skip
        self.runner.services.registry = self.registry
        self.runner.services.disk = Disk(root, paths.own_folders())
        self.runner.services.sandbox = Sandbox()
        conversations = ConversationStore(own)
        self.memory = Memory(MemoryStore(shared, self.journal, writable=not read_only), conversations.search)
        self.runner.services.memory = self.memory
        self.sources = open_sources(
            self.runner, self.registry, self.journal, self.events, root, shared, writable=not read_only
        )
        self._sight = ModelSight(self.store, self.memory.store, self.policy, self.registry)
        self.pending: PendingOperations | None = None
        if not read_only:
            store = PendingStore(own)
            self.notices += [store.problem] if store.problem else []
            self.pending = PendingOperations(self.runner.watched, store, self.journal, self.events)
        self.runner.services.pending = self.pending
        self._pacer = Pacer(Machine(lambda: self._note_embedder.worker_id))
        self._set_pace(settings)
        self.upkeep = VectorUpkeep(
            self.vectors, self.index, self.store, self._note_embedder, self.events,
            self._sight.keeps, self._pacer,
        )  # fmt: skip
        self.analysis = Analyst(
            self.index, self._known_vectors, own, self.events, self._sight.keeps
        )
        self.runner.services.suggestions = SuggestionQueue(self.analysis, self.index)
        self.keys = KeyStore()
        self._thinker = ModelThinker(self._settings, self.keys, self._sight.keeps)
        self.web = WebAccess(lambda: self.settings.web, self.keys.get)
        self.runner.services.web = self.web
        likeness = self.embedder if settings.embeddings.enabled else None
        planner = BuiltinPlanner(self.registry, self.index.resolver, likeness)
        news = partial(news_for_model, self.sources, self._sight.text)
        edits = DirectEdits(root, self._cache(root), self.store, self.runner.adoption)
        self.programs = ProgramAgent(self.name, root, self._settings, self._sight.text, edits, news)
        model = ModelAgent(
            self.name, self._settings, self.keys, self.registry, self._sight.text,
            self._sight.pinned_for, news,
        )  # fmt: skip
        self.agent = AgentSession(
            conversations, self.events, self.runner, BuiltinAgent(planner), model, self._settings,
            self.programs,
        )  # fmt: skip
        self.runner.services.team = self.agent.team
        self.runner.services.outbox = Outbox(lambda: self.settings.messages, self.keys)
        self._news_turns = NewsTurns(self.sources, self.agent, self._settings, self.events)
        self.ways_in = WaysIn(
            self.name, self.runner, self.registry, self.events, None if read_only else shared,
            lambda: self.settings.servers,
        )  # fmt: skip
        self.hub = self.ways_in.hub
        self._know_meaning(settings.embeddings.enabled)
        self._model_change: asyncio.Task[None] | None = None
        self._data = own
        self.vault_settings = load_vault_settings(own)
        self._apply_tool_settings()
        self._stop = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None
        self._checking: asyncio.Task[None] | None = None

    def _cache(self, root: Path) -> Path:
        """The cache; a reader beside another app has its own, so that they never wait for each other."""
        folder = paths.vault_cache_folder(root)
        own = folder / "reader" if self.read_only else folder
        own.mkdir(parents=True, exist_ok=True)
        return own

    def _settings(self) -> Settings:
        return self.settings

    def _vault_rules(self) -> VaultRules | None:
        try:
            return load_vault_rules(self.root)
        except InvalidParametersError as error:
            self.notices.append(error.message)
            return None

    # Life

    async def begin(self) -> None:
        """Settle what a crash cut off, open the index, and start to watch the folder."""
        if not self.read_only:
            for recovery in await asyncio.to_thread(self.store.recover):
                self.notices.append(told(recovery))
            self.runner.log_lost_commits()
        await asyncio.to_thread(self.memory.store.back_up)
        problems = (
            self.journal.problem, self.store.problem, self.audit.problem, self.searches.problem,
            self.memory.store.problem, self.sources.problem,
        )  # fmt: skip
        self.notices += [problem for problem in problems if problem]
        await self.index.open()
        ready = asyncio.Event()
        self._watching = asyncio.create_task(
            watch(self.root, self._take, self._stop, self.store.wrote, ready=ready), name="watch the vault"
        )
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait({waiting, self._watching}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        self._checking = asyncio.create_task(self.missed.run(self._stop), name="look for missed changes")
        await self.sources.start()

    async def close(self) -> None:
        """Let nobody in any more, stop the agent, the watcher and the worker, and close every file."""
        await self.ways_in.close()
        await self._news_turns.close()
        await self.agent.close()
        await self.programs.close()
        if self.pending is not None:
            await self.pending.close()
        self._stop.set()
        for task in (self._watching, self._checking):
            if task is not None:
                await asyncio.gather(task, return_exceptions=True)
        if self._model_change is not None:
            await asyncio.gather(self._model_change, return_exceptions=True)
        await self.sources.close()
        await self.analysis.close()
        await self.web.close()
        await self.upkeep.close()
        await self._note_embedder.close()
        await self.embedder.close()
        self.runner.close()
        await self.index.close()
        self.vectors.close()
        self.audit.close()
        self.memory.store.close()
        self.journal.close()
        self._lock.release()

    async def start_scan(self, progress: Callable[[ScanProgress], None]) -> ScanReport:
        """Bring the index up to date, then the vectors in the background. Cancelling keeps what was read.

        Raises:
            VaultLostError: the vault's folder is gone; what is in the index stays.
        """
        stop = threading.Event()
        try:
            report = await self.index.scan(progress, stop.is_set)
        except asyncio.CancelledError:
            stop.set()
            raise
        if self.settings.embeddings.enabled:
            self.upkeep.start()
        if not self.read_only:
            await asyncio.to_thread(self.store.cleanup)
        if self.pending is not None:
            self.pending.resume()
        return report

    async def _take(self, batch: FileBatch) -> None:
        """What others changed in the folder."""
        if batch.lost:
            self.events.publish(VaultLost())
            return
        try:
            if batch.found:
                self.events.publish(VaultFound())
                await self.index.scan()
            else:
                await self._take_files(batch)
        except VaultLostError:
            self.events.publish(VaultLost())
        except ScriptoriumError as error:
            log.warning("an outside change could not be indexed: %s", error)

    async def _take_files(self, batch: FileBatch) -> None:
        """Changed files: an agent's that works in the panel, or just others'."""
        known = await self.programs.edits.look((*batch.changed, *batch.removed))
        changed = tuple(path for path in batch.changed if path not in known)
        removed = tuple(path for path in batch.removed if path not in known)
        if changed or removed:
            delta = await self.index.refresh(changed, removed)
            self.events.publish(NotesChanged(changed, removed, delta.moved, _OUTSIDE, None))

    # Settings

    def change_settings(self, section: str, **values: object) -> None:
        """Change some settings, keep them, and let them take effect.

        Raises:
            InvalidParametersError: a value is not one of the allowed.
        """
        part = getattr(self.settings, section)
        try:
            changed = type(part).model_validate({**part.model_dump(), **values})
        except ValueError as error:
            raise InvalidParametersError(f"That setting can't be: {error}") from error
        setattr(self.settings, section, changed)
        save_settings(self.settings)
        self.apply_settings(self.settings)

    def apply_settings(self, settings: Settings) -> None:
        """Let these settings take effect now; those of the index and the journal do at the next opening."""
        self.settings = settings
        self.policy.configure(_permissions(settings), self._vault_rules())
        self._apply_tool_settings()
        self._set_pace(settings)
        self._know_meaning(settings.embeddings.enabled)
        if not settings.embeddings.enabled:
            self.upkeep.stop()
        elif _chosen(settings) != self._note_embedder.model:
            self._model_change = asyncio.create_task(self._change_model(self._model_change))
        else:
            self.upkeep.start()
        self.hub.tools_changed()
        self.events.publish(SettingsChanged(settings.model_copy(deep=True)))

    def _made_embedder(self, settings: Settings) -> Embedder:
        chosen = _chosen(settings)
        return self.embedder if chosen.is_shipped else Embedder(chosen, threads=settings.embeddings.threads)

    def _set_pace(self, settings: Settings) -> None:
        self._pacer.on_battery = settings.embeddings.on_battery
        self._pacer.when_busy = settings.embeddings.when_busy

    async def _change_model(self, earlier: asyncio.Task[None] | None) -> None:
        """Have the notes' vectors made by the model of the settings; the last of several changes holds."""
        if earlier is not None:
            await asyncio.gather(earlier, return_exceptions=True)
        old = self._note_embedder
        if _chosen(self.settings) == old.model:
            return
        self._note_embedder = self._made_embedder(self.settings)
        self.meaning.change_model(self._note_embedder)
        await self.upkeep.change_model(self._note_embedder)
        if old is not self.embedder:
            await old.close()
        if self.settings.embeddings.enabled:
            self.upkeep.start()

    def change_vault_settings(self, settings: VaultSettings) -> None:
        """Keep other settings of this vault, and let them take effect."""
        save_vault_settings(self._data, settings)
        self.vault_settings = settings
        self.apply_settings(self.settings)

    def _apply_tool_settings(self) -> None:
        """Which categories are on, and how often tools may be called, in this vault."""
        tools, here = self.settings.tools, self.vault_settings
        wanted = {*tools.categories_on, *here.categories_on}
        ours = {category.id for category in CATEGORIES if category.on}
        for category in self.registry.categories:
            on = (category.id in ours or category.id in wanted) and category.id not in here.categories_off
            self.registry.set_category(category.id, on)
        self.runner.configure((*tools.limits, *here.limits), tools.turn_rules)

    def _know_meaning(self, known: bool) -> None:
        """Let tools and the search language use search by meaning, or not."""
        self.runner.services.meaning = self.meaning if known else None
        has_model = self.settings.model.provider != "built-in"
        self.runner.services.thinker = self._thinker if has_model else None
        self.index.similarity = self._similar if known else None

    def _known_vectors(self) -> VectorStore | None:
        """What notes mean, as far as the user wants it known."""
        return self.vectors if self.settings.embeddings.enabled else None

    async def _similar(self, text: str, limit: int) -> list[tuple[NotePath, float]]:
        return [(hit.path, hit.score) for hit in await self.meaning.like_text(text, limit, 0.0)]


def _permissions(settings: Settings) -> PermissionSettings:
    """What the user set, and what the agents of the team may do at all."""
    callers = (*settings.permissions.callers, *team_profiles(settings.team))
    return settings.permissions.model_copy(update={"callers": callers})


def _chosen(settings: Settings) -> ModelChoice:
    """The model that makes the notes' vectors."""
    chosen = settings.embeddings
    made = ModelChoice(chosen.model.strip(), chosen.python.strip())
    return ModelChoice() if made.is_shipped else made
