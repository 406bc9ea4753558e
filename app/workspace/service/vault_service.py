"""`VaultService`: the interface to an open vault for the window, the servers and the command line."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from app.errors import NotFoundError, ScriptoriumError
from app.permissions.caller import Caller
from app.workspace.service.agent import AgentService
from app.workspace.service.attachments import AttachmentService
from app.workspace.service.connections import ConnectionService
from app.workspace.service.edits import EditService
from app.workspace.service.graph import GraphService
from app.workspace.service.history import HistoryService
from app.workspace.service.memory import MemoryService
from app.workspace.service.notes import NoteService
from app.workspace.service.semantic import SemanticService
from app.workspace.service.settings import SettingsService
from app.workspace.service.templates import TemplateService
from app.workspace.service.tools import ToolService

if TYPE_CHECKING:
    from app.analysis.service import GraphAnalysisService
    from app.events import EventBus
    from app.external.servers import ExternalServers
    from app.index.records import ScanProgress, ScanReport
    from app.index.saved_searches import SavedSearches
    from app.index.search_service import SearchService
    from app.permissions.grants import Grants
    from app.sources.sources import Sources
    from app.toolkit.call import Call
    from app.toolkit.outcome import ToolOutcome
    from app.toolkit.related import LikeNote
    from app.workspace.workspace import Workspace

log = logging.getLogger(__name__)


class VaultService:
    """The operations of an open vault for a front end. It belongs to the vault's event loop.

    Every change to notes or memory is a logged call: `call` and the services make the user's calls,
    and `connections.access` makes those of other programs.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    # The vault

    @property
    def root(self) -> Path:
        """The vault's folder."""
        return self._workspace.root

    @property
    def name(self) -> str:
        """The vault's name."""
        return self._workspace.name

    @property
    def read_only(self) -> bool:
        """True if the vault was opened read-only, or its data folder can't be written to."""
        return self._workspace.read_only

    @property
    def notices(self) -> list[str]:
        """Messages to show the user on opening, for example about recovered changes, storage and settings."""
        return self._workspace.notices

    @property
    def events(self) -> EventBus:
        """The events of the vault; published in its loop."""
        return self._workspace.events

    async def start_scan(self, progress: Callable[[ScanProgress], None]) -> ScanReport:
        """Update the index, then the vectors in the background. If canceled, the notes read so far are kept.

        Also starts watching the folder if that was postponed, and resumes pending operations.

        Raises:
            VaultLostError: The vault's folder is missing; the index is unchanged.
            StorageError: The index can't be read or written.
        """
        return await self._workspace.start_scan(progress)

    async def update_index(self, progress: Callable[[ScanProgress], None]) -> ScanReport:
        """Update only the index, for a short session; raises the same errors as `start_scan`."""
        return await self._workspace.index.scan(progress, lambda: False)

    async def close(self) -> None:
        """Stop accepting clients, stop the agent, the watcher and the workers, and close every file."""
        await self._workspace.close()

    # Calls

    async def call(self, call: Call) -> ToolOutcome:
        """Run a tool call or the user's own edit; errors are outcomes, too.

        Raises:
            CancelledError: The caller withdrew the call; the audit log has an entry for it.
        """
        return await self._workspace.runner.run(call)

    def is_pending(self, call: str) -> bool:
        """Return whether the call with this id is an undecided operation; False if that can't be read."""
        pending = self._workspace.pending
        if not pending.can_wait:
            return False
        try:
            return pending.status(call, Caller.user()).state.is_open
        except NotFoundError:
            return False
        except ScriptoriumError:
            log.exception("a pending operation can't be looked up")
            return False

    # Services of this package

    @cached_property
    def notes(self) -> NoteService:
        """The service that reads notes and files and their records in the index."""
        parts = self._workspace

        def similar_notes() -> LikeNote | None:
            return parts.semantic_search.like_note if parts.settings.embeddings.enabled else None

        return NoteService(parts.store, parts.index, parts.runner, lambda: parts.settings, similar_notes)

    @cached_property
    def edits(self) -> EditService:
        """The user's own edits to notes."""
        parts = self._workspace
        return EditService(
            self.notes, self.history, parts.runner, parts.note_moves, parts.watch_rounds.wait_next
        )

    @cached_property
    def templates(self) -> TemplateService:
        """Templates and daily notes."""
        return TemplateService(self.notes, self.settings, self._workspace.runner)

    @cached_property
    def attachments(self) -> AttachmentService:
        """Files that are added to notes."""
        return AttachmentService(self.root, self.notes, self.settings, self._workspace.runner)

    @cached_property
    def graph(self) -> GraphService:
        """The graph of the notes."""
        return GraphService(self._workspace.index)

    @cached_property
    def history(self) -> HistoryService:
        """The audit log, commits, versions and undo."""
        parts = self._workspace
        return HistoryService(parts.audit, parts.journal, parts.runner.stores)

    @cached_property
    def tools(self) -> ToolService:
        """The tools and their categories."""
        return ToolService(self._workspace.registry, self._workspace.policy)

    @cached_property
    def agent(self) -> AgentService:
        """Conversations and turns."""
        return AgentService(self._workspace.agent, self._workspace.programs)

    @cached_property
    def memory(self) -> MemoryService:
        """The agents' memory."""
        parts = self._workspace
        semantic_search = parts.runner.models.semantic_search
        return MemoryService(parts.memory, parts.journal, parts.runner, semantic_search)

    @cached_property
    def settings(self) -> SettingsService:
        """Settings and keys."""
        return SettingsService(self._workspace)

    @cached_property
    def semantic(self) -> SemanticService:
        """Semantic search."""
        return SemanticService(self._workspace.embeddings, self._workspace.store.read)

    @cached_property
    def connections(self) -> ConnectionService:
        """The local server and the programs that use it."""
        return ConnectionService(self._workspace.endpoints)

    # Parts that front ends use directly

    @property
    def search(self) -> SearchService:
        """Searches, explanations and completions."""
        return self._workspace.index.searcher

    @property
    def searches(self) -> SavedSearches:
        """The saved searches."""
        return self._workspace.searches

    @property
    def analysis(self) -> GraphAnalysisService:
        """Centrality, communities, paths, layouts and suggested links."""
        return self._workspace.analysis

    @property
    def grants(self) -> Grants:
        """The permissions that the user granted."""
        return self._workspace.grants

    @property
    def sources(self) -> Sources:
        """Folders and feeds outside the vault."""
        return self._workspace.sources

    @property
    def external(self) -> ExternalServers:
        """MCP servers of other programs, whose tools the agents may use."""
        return self._workspace.external
