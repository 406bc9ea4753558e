"""An open vault: its parts, its life cycle, and its settings."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from pathlib import Path

from app import paths
from app.agent.acp.agent import AcpAgent
from app.agent.acp.external_edits import ExternalEditTracker
from app.agent.builtin import BUILTIN_NAME, BuiltinAgent
from app.agent.comparison.offered_tasks import MAX_TASKS
from app.agent.credentials import CredentialStore
from app.agent.language.words.vault_words import VaultWords
from app.agent.model_agent import ModelAgent
from app.agent.notifications import NotificationTrigger
from app.agent.session import AgentSession
from app.agent.structured_output import PydanticAIModel
from app.agent.team import team_profiles
from app.agent.undone_cards import UndoneCards
from app.agent.usage_limits import UsageBudget
from app.analysis.service import GraphAnalysisService
from app.analysis.suggestion_queue import SuggestionQueue
from app.embeddings.model_config import SHIPPED_MODEL
from app.errors import InvalidParametersError, ScriptoriumError, VaultLostError
from app.events import Event, EventBus
from app.external.servers import ExternalServers
from app.index.reconciler import Reconciler
from app.index.records import ScanProgress, ScanReport
from app.messages.channel_registry import ChannelRegistry
from app.permissions.approval import Approver
from app.permissions.audit_entry import AuditFilter
from app.permissions.caller import Caller, CallerKind
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
from app.task_supervisor import TaskSupervisor
from app.toolkit.file_access import FileAccess
from app.toolkit.memory_service import Memory, agent_key
from app.toolkit.pending import PendingOperations
from app.toolkit.plugins import load_plugins
from app.toolkit.registry import ToolRegistry
from app.toolkit.runner import ToolRunner
from app.toolkit.semantic_search import SemanticSearch
from app.toolkit.services import (
    AgentServices,
    DevelopmentServices,
    FileServices,
    MemoryServices,
    MessageServices,
    NoteServices,
    OptionalModels,
    PathInSettings,
    RelationServices,
    WebServices,
)
from app.tools import CATALOG, CATEGORIES
from app.vault.markdown.scan import scan
from app.vault.note_templates import DATE_FORMAT, TIME_FORMAT
from app.vault.obsidian import stored_obsidian_settings, templates_folder
from app.vault.path import NotePath
from app.vault.store import NotesChanged
from app.vault.watcher import FileBatch, VaultFound, VaultLost, WatchRounds, watch
from app.web.access import WebAccess
from app.workspace.embedding_service import EmbeddingService
from app.workspace.endpoints import Endpoints
from app.workspace.model_visibility import ModelVisibility
from app.workspace.note_folders import paths_in_settings
from app.workspace.note_moves import NoteMoves
from app.workspace.recovery_message import recovery_message
from app.workspace.sources import notifications_for_model, open_sources
from app.workspace.vault_storage import StoreReplaced, VaultStorage

log = logging.getLogger(__name__)

_OUTSIDE = "outside"
_CLOSE_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class SettingsChanged(Event):
    """The settings were changed."""

    settings: Settings


class Workspace:
    """An open vault.

    Use `open_workspace` to create one and `close` to close it. `notices` are messages for the user to read
    when the vault opens, for example about an interrupted change that was recovered or a journal that was set
    aside.
    """

    def __init__(
        self,
        root: Path,
        settings: Settings,
        approver: Approver | None,
        read_only: bool,
        ask_pending: bool = True,
    ) -> None:
        self.root = root
        self.id = paths.vault_id(root)
        self.name = root.name
        self.settings = settings
        self.events = EventBus()
        self._can_ask, self._ask_pending = approver is not None, ask_pending
        self._files = files = VaultStorage(root, settings, self.events, read_only)
        # A vault whose data folder can't be written to is read-only, too.
        self.read_only = read_only = files.read_only
        self.journal, self.store, self.index = files.journal, files.store, files.index
        self.searches, self.audit, self.grants = files.searches, files.audit, files.grants
        self.notices: list[str] = []
        self.reconciler = Reconciler(
            self.index, self.events, lambda: self.settings.index.check_minutes, _OUTSIDE
        )
        self.vault_settings, problem = load_vault_settings(files.shared, writable=not read_only)
        self.notices += [*settings.problems, *filter(None, (problem,))]
        self.policy = Policy(self._permissions(), self.grants, self._vault_rules())
        self.registry = ToolRegistry(
            CATEGORIES,
            CATALOG,
            self.policy.may_call,
            self.policy.may_write,
            lambda caller: not read_only or caller.kind is CallerKind.USER,
        )
        self.notices += load_plugins(self.registry, enabled=settings.tools.plugins_on)
        self.runner = ToolRunner(
            self.registry,
            self.policy,
            approver,
            self.store,
            self.index,
            self.journal,
            self.audit,
            self.grants,
            self.events,
            models=OptionalModels(self._semantic_search_in_use, self._language_model_in_use),
        )
        self.note_moves = NoteMoves(self.events)
        self.watch_rounds = WatchRounds()
        self.memory = Memory(files.memory, files.conversations.search, self._named_agents)
        self.keys = CredentialStore()
        self._build_parts()
        self._build_agent()
        self._provide_services()
        self.endpoints = Endpoints(
            self.name,
            self.runner,
            self.registry,
            self.events,
            None if read_only else files.shared,
            lambda: self.settings.servers,
            self.pending,
            self.memory,
        )
        self.endpoints.local_vault.find_turn_caller = self.programs.caller_named
        self._apply_search_settings()
        self._enabled_ids: frozenset[str] = frozenset()
        self._apply_tool_settings()
        self._stop = asyncio.Event()
        self._should_watch = True
        self._is_watching = False
        self._supervisor = TaskSupervisor(self.events)

    def _build_parts(self) -> None:
        """Build the parts that tools use in addition to the notes."""
        files = self._files
        self._model_visibility = ModelVisibility(
            self.store, self.index.resolver, self.policy, self.registry, self.memory
        )
        self.embeddings = EmbeddingService(
            files.cache,
            self.index,
            self.store,
            self.events,
            self._settings,
            self._model_visibility.is_hidden_from_models,
        )
        self.embedder, self.semantic_search = self.embeddings.embedder, self.embeddings.semantic_search
        self.sources = open_sources(
            self.runner,
            self.registry,
            self.journal,
            self.events,
            self.memory,
            self.root,
            files.shared,
            writable=not self.read_only,
        )
        self.pending = PendingOperations(
            self.runner.run, files.pending, self.journal, self.events, may_know=self.runner.can_see
        )
        self.analysis = GraphAnalysisService(
            self.index,
            self.embeddings.enabled_vectors,
            files.session_folder,
            self.events,
            self._model_visibility.is_hidden_from_models,
        )
        self._words: VaultWords | None = None
        self._spending = UsageBudget()
        self._language_model = PydanticAIModel(
            self._settings, self.keys, self._model_visibility.is_hidden_from_models, self._spending
        )
        self.web = WebAccess(lambda: self.settings.web, self.keys.get)
        self.external = ExternalServers(
            self.registry, self.events, paths.data_folder(), self.keys.get, self._apply_tool_settings
        )

    def _build_agent(self) -> None:
        """Build the agent panel's agents (built-in, with a model, ACP programs) and their session."""
        builtin = BuiltinAgent(
            self.registry,
            self.index.resolver,
            self._vault_words,
            self._builtin_changes_today,
            find_notes=self.index.matching,
            properties_of=self._properties_of,
            public_words=lambda: VaultWords(*self.index.public_names(), *self._template_settings()),
            public_resolver=self.index.public_resolver,
            is_english_only=self._is_english_only,
            tasks_of=lambda: self.index.tasks(MAX_TASKS, done=True),
            headings_of=self._headings_of,
        )
        visible_text = self._model_visibility.visible_text
        notifications = partial(notifications_for_model, self.sources, visible_text)
        model = ModelAgent(
            self.name,
            self._settings,
            self.keys,
            self.registry,
            visible_text,
            self._model_visibility.pinned_for,
            notifications,
            self._spending,
            self._model_visibility.cited_note,
            builtin.is_content_question,
        )
        edits = ExternalEditTracker(self.root, self._files.cache, self.store, self.runner.external_changes)
        self.programs = AcpAgent(self.name, self.root, self._settings, visible_text, edits, notifications)
        self.agent = AgentSession(
            self._files.conversations,
            self.events,
            self.runner,
            builtin,
            model,
            self._settings,
            self.programs,
        )
        self._undone_cards = UndoneCards(self._files.conversations, self.audit, self.events)
        self._notification_trigger = NotificationTrigger(
            self.sources, self.agent, self._settings, self.events
        )

    def _provide_services(self) -> None:
        """Provide the services that some categories' tools use in addition to the notes."""
        memory = MemoryServices(self.memory, self.sources)
        files = FileServices(FileAccess(self.root, paths.app_folders()))
        relations = RelationServices(SuggestionQueue(self.analysis, self.index), self.embeddings.entailment)
        team, channels = self.agent.team, ChannelRegistry(lambda: self.settings.messages, self.keys)
        self.runner.services.update(
            {
                "notes": NoteServices(self.policy, self._paths_in_settings),
                "memory": memory,
                "memory_context": memory,
                "sources": memory,
                "filesystem": files,
                "programs": files,
                "development": DevelopmentServices(files.file_access, Sandbox()),
                "nodes": relations,
                "relationships": relations,
                "messages": MessageServices(team, channels),
                "agents": AgentServices(self.registry, self.pending, team),
                "web": WebServices(self.web),
            }
        )

    def _semantic_search_in_use(self) -> SemanticSearch | None:
        return self.semantic_search if self.embeddings.is_enabled else None

    def _language_model_in_use(self) -> PydanticAIModel | None:
        return self._language_model if self.settings.uses_model else None

    def _vault_words(self) -> VaultWords:
        """Return the tags, types and properties that requests to the built-in agent may name."""
        values = self.index.property_values()
        # The same tuple means an unchanged index, unless it is empty: all empty tuples are one object.
        templates, words = self._template_settings(), self._words
        is_known = words is not None and words.values is values and words.template_settings == templates
        if words is None or not is_known or not values:
            self._words = words = VaultWords(
                tuple(tag.tag for tag in sorted(self.index.tags(), key=lambda tag: -tag.count)),
                self.index.types(),
                tuple(note_property.name for note_property in self.index.properties()),
                values,
                self.index.property_value_shares(),
                *templates,
            )
        return words

    def _template_settings(self) -> tuple[str, str, str]:
        """Return the folder of the templates, and the formats of dates and times in them."""
        obsidian = stored_obsidian_settings(self.store)
        return (
            templates_folder(self.settings.editor.templates_folder, obsidian),
            obsidian.date_format or DATE_FORMAT,
            obsidian.time_format or TIME_FORMAT,
        )

    def _paths_in_settings(self) -> tuple[PathInSettings, ...]:
        """Return the folders and the template that the settings name."""
        return paths_in_settings(self.settings.editor, stored_obsidian_settings(self.store))

    def _is_english_only(self) -> bool:
        """Return whether semantic search is on, with the shipped model, which supports only English."""
        embeddings = self.settings.embeddings
        return embeddings.enabled and embeddings.model == SHIPPED_MODEL

    def _properties_of(self, path: str) -> Mapping[str, object]:
        """Return the properties of the note at a path; empty for a missing note."""
        note = self.index.note(NotePath.on_disk(path))
        return note.properties if note is not None else {}

    def _headings_of(self, path: str) -> Sequence[str]:
        """Return the headings of the note at a path; none for a note that is missing or can't be read."""
        try:
            text = self.store.read(NotePath.on_disk(path)).decode("utf-8", "replace")
        except ScriptoriumError:
            return []
        return [heading.text for heading in scan(text).headings]

    def _builtin_changes_today(self) -> tuple[int, ...]:
        """Return the audit entry ids of the built-in agent's changes since midnight that were not undone."""
        midnight = datetime.combine(date.today(), datetime.min.time()).timestamp()
        entries = self.audit.matching(AuditFilter(caller=BUILTIN_NAME, since=midnight))
        return tuple(
            entry.id
            for entry in entries
            if entry.commit is not None and not entry.undoes and entry.undone_by is None
        )

    def _settings(self) -> Settings:
        return self.settings

    def _named_agents(self) -> Iterator[str]:
        """Yield the keys of the team's agents, and of the programs that have a token or are connected."""
        yield from (agent.name for agent in self.settings.team.agents)
        for client in self.endpoints.tokens.clients if self.endpoints.tokens else ():
            yield from (f"{kind.value}:{client.name}" for kind in (CallerKind.MCP, CallerKind.HTTP))
        for connected in self.endpoints.local_vault.client_registry.clients:
            yield agent_key(Caller(connected.client.kind, connected.client.name))

    def _vault_rules(self) -> VaultRules | None:
        try:
            return load_vault_rules(self.root)
        except InvalidParametersError as error:
            self.notices.append(error.message)
            return None

    # Life cycle

    async def begin(self, brief: bool = False, watch_later: bool = False) -> None:
        """Recover interrupted changes, open the index and, unless `brief`, start the background services.

        With `watch_later`, the folder is not watched before the first scan.

        Raises:
            StorageError: The index can't be opened.
        """
        self._should_watch = not brief
        loop = asyncio.get_running_loop()

        def publish_replacement(message: str) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self.events.publish, StoreReplaced(message))

        self._files.on_damage(publish_replacement)
        if not self.read_only:
            for recovery in await asyncio.to_thread(self.store.recover):
                self.notices.append(recovery_message(recovery))
            self.runner.log_lost_commits()
        await asyncio.to_thread(self.memory.store.back_up)
        self.notices += self._files.problems
        self.notices += [
            problem
            for problem in (self.sources.problem, self.external.problem, self.analysis.problem)
            if problem
        ]
        await self.index.open()
        if not watch_later:
            await self._watch()
        await self.sources.start(streams=not brief)
        if not self.read_only:
            for source in self.sources.open_folders():
                self.notices += [
                    recovery_message(recovery, f"the folder {source.config.name}")
                    for recovery in source.recovered
                ]
            # Also log the recovered changes to folders outside the vault.
            self.runner.log_lost_commits()
        if self._can_ask and not brief:  # Without an approver, no external tool may be called.
            self.external.start(self.settings.external)

    async def _watch(self) -> None:
        """Start watching the folder for external changes, unless watching is disabled or already running."""
        if not self._should_watch or self._is_watching:
            return
        self._is_watching = True
        is_watched = asyncio.Event()
        self._supervisor.start("watch the vault", partial(self._follow, is_watched))
        await is_watched.wait()
        self._supervisor.start("look for missed changes", partial(self.reconciler.run, self._stop))

    async def _follow(self, is_watched: asyncio.Event) -> None:
        """Watch the vault; after a failure, also scan for changes that were missed."""
        ready = asyncio.Event()
        is_first = not is_watched.is_set()

        async def check_missed_changes() -> None:
            await ready.wait()
            is_watched.set()
            if not is_first:
                await self.reconciler.check(self._stop.is_set)

        check_task = asyncio.create_task(
            check_missed_changes(), name="look for changes once the vault is watched"
        )
        try:
            await watch(
                self.root,
                self._handle_batch,
                self._stop,
                self.store.is_own_write,
                ready=ready,
                wait_idle=self.runner.wait_idle,
                rounds=self.watch_rounds,
            )
        finally:
            # A caller that waits for the watcher to start must not wait forever if it can't.
            is_watched.set()
            check_task.cancel()
            await asyncio.gather(check_task, return_exceptions=True)

    async def close(self) -> None:
        """Stop accepting clients, stop the agent, the watcher and the workers, and close every file."""
        await self.endpoints.close()
        await self._notification_trigger.close()
        self._undone_cards.close()
        await self.agent.close()
        await self.programs.close()
        await self.pending.close()
        await self.external.close()
        await self.runner.cancel_calls(_CLOSE_TIMEOUT_S)
        self._stop.set()
        await self._supervisor.close(_CLOSE_TIMEOUT_S)
        await self.embeddings.wait_model_change()
        await self.sources.close()
        await self.analysis.close()
        await self.web.close()
        await self.embeddings.close()
        self.runner.close()
        await self._files.close()

    async def start_scan(self, progress: Callable[[ScanProgress], None]) -> ScanReport:
        """Update the index, then the vectors in the background. Canceling keeps what was read.

        Also starts watching the folder if that was postponed, and resumes pending operations.

        Raises:
            VaultLostError: The vault's folder is missing; the index is unchanged.
            StorageError: The index can't be read or written.
        """
        await self._watch()
        stop = threading.Event()
        try:
            report = await self.index.scan(progress, stop.is_set)
        except asyncio.CancelledError:
            stop.set()
            raise
        self.embeddings.start()
        if not self.read_only:
            await asyncio.to_thread(self.store.cleanup)
        self.pending.resume(ask=self._ask_pending)
        return report

    async def _handle_batch(self, batch: FileBatch) -> None:
        """Process external changes in the folder."""
        if batch.lost:
            self.events.publish(VaultLost())
            return
        try:
            if batch.found:
                self.events.publish(VaultFound())
                await self.index.scan()
            else:
                await self._handle_files(batch)
        except VaultLostError:
            self.events.publish(VaultLost())
        except ScriptoriumError as error:
            log.warning("an external change could not be indexed: %s", error)

    async def _handle_files(self, batch: FileBatch) -> None:
        """Log an agent's direct edits as its own; index and publish all other changes."""
        if batch.misnamed:
            await self.index.refresh(batch.misnamed)
        own_edits = await self.programs.edits.collect((*batch.changed, *batch.removed))
        changed = tuple(path for path in batch.changed if path not in own_edits)
        removed = tuple(path for path in batch.removed if path not in own_edits)
        if changed or removed:
            delta = await self.index.refresh(changed, removed)
            self.events.publish(NotesChanged(changed, removed, delta.moved, _OUTSIDE, None))

    # Settings

    def change_settings(self, section: str, **values: object) -> None:
        """Change, save and apply some settings of a section.

        Raises:
            InvalidParametersError: A value is invalid.
            OSError: The settings can't be saved; they are unchanged.
        """
        old_section = getattr(self.settings, section)
        try:
            new_section = type(old_section).model_validate({**old_section.model_dump(), **values})
        except ValueError as error:
            raise InvalidParametersError(f"The setting is invalid: {error}") from error
        setattr(self.settings, section, new_section)
        try:
            save_settings(self.settings)
        except OSError:
            setattr(self.settings, section, old_section)
            raise
        self.apply_settings(self.settings)

    def apply_settings(self, settings: Settings) -> None:
        """Apply these settings now.

        Index settings, except `check_minutes`, and journal settings take effect when the vault is reopened.
        """
        previous_states = {category.id: category.on for category in self.registry.categories}
        self.settings = settings
        self.policy.configure(self._permissions(), self._vault_rules())
        self.external.configure(settings.external)
        self._apply_tool_settings()
        self._log_category_changes(previous_states)
        self._apply_search_settings()
        self.embeddings.apply_settings()
        self.endpoints.apply_settings()
        self.programs.apply_settings()
        self.events.publish(SettingsChanged(settings.model_copy(deep=True)))

    def _log_category_changes(self, previous_states: Mapping[str, bool]) -> None:
        """Log which tool categories were turned on or off."""
        current_states = {
            category.id: category.on
            for category in self.registry.categories
            if category.id in previous_states
        }
        for word, is_on in (("on", True), ("off", False)):
            if ids := [
                category_id
                for category_id, on in current_states.items()
                if on is is_on and previous_states[category_id] is not is_on
            ]:
                line = f"Turned {word} the tools of {', '.join(ids)}."
                self.runner.audit_writer.log_user_setting("categories", {"op": word, "categories": ids}, line)

    def change_vault_settings(self, settings: VaultSettings) -> None:
        """Replace, save and apply this vault's settings.

        Raises:
            OSError: The settings can't be saved; they are unchanged.
        """
        save_vault_settings(self._files.session_folder, settings)
        self.vault_settings = settings
        self.apply_settings(self.settings)

    @property
    def unreadable_rules(self) -> tuple[str, ...]:
        """The permission rule files that can't be read; until they are fixed, agents always ask."""
        return tuple(filter(None, (self.settings.permissions.unreadable, self.vault_settings.unreadable)))

    def accept_rules(self) -> None:
        """Replace the rules that can't be read with the rules in effect.

        Raises:
            OSError: The rules can't be saved; agents still ask before every call.
        """
        permissions, vault_settings = self.settings.permissions.model_copy(), self.vault_settings.model_copy()
        permissions.accept()
        vault_settings.accept()
        save_settings(self.settings.model_copy(update={"permissions": permissions}))
        save_vault_settings(self._files.session_folder, vault_settings)
        self.settings.permissions, self.vault_settings = permissions, vault_settings
        self.apply_settings(self.settings)

    def _permissions(self) -> PermissionSettings:
        """Return the user's permission settings, with the restrictions of the team's agents."""
        permissions = self.settings.permissions
        callers = (*permissions.callers, *team_profiles(self.settings.team))
        restricted = permissions.model_copy(update={"callers": callers})
        if self.vault_settings.unreadable:
            restricted.mark_unreadable(self.vault_settings.unreadable)
        return restricted

    def enable_categories(self, ids: Iterable[str]) -> None:
        """Turn tool categories on until the vault is closed, regardless of the settings.

        A category that permissions or the vault's rules turn off stays off.

        Raises:
            InvalidParametersError: There is no such category.
        """
        self._enabled_ids |= {self.registry.category(category_id).id for category_id in ids}
        self._apply_tool_settings()

    def _apply_tool_settings(self) -> None:
        """Apply the enabled tool categories and this vault's call limits."""
        tools, permissions, vault_settings = (
            self.settings.tools,
            self.settings.permissions,
            self.vault_settings,
        )
        default_on = {category.id for category in CATEGORIES if category.on} | self.external.categories_on
        for category in self.registry.categories:
            is_on = vault_settings.is_category_on(
                category.id, permissions, by_default=category.id in default_on
            )
            self.registry.set_category(category.id, is_on or category.id in self._enabled_ids)
        self.runner.configure((*tools.limits, *vault_settings.limits), tools.turn_rules)

    def _apply_search_settings(self) -> None:
        """Enable or disable `similar:` in the search language."""
        self.index.similarity = self.embeddings.similar if self.embeddings.is_enabled else None
