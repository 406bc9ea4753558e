"""The services that tools use in addition to the notes. The workspace assembles them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.analysis.language_model import LanguageModel
    from app.analysis.suggestion_queue import SuggestionQueue
    from app.embeddings.entailment_client import EntailmentClassifier
    from app.messages.channel_registry import ChannelRegistry
    from app.sandbox.sandbox import Sandbox
    from app.sources.sources import Sources
    from app.toolkit.file_access import FileAccess
    from app.toolkit.memory_service import Memory
    from app.toolkit.pending import PendingOperations
    from app.toolkit.registry import ToolRegistry
    from app.toolkit.semantic_search import SemanticSearch
    from app.toolkit.team import TeamService
    from app.web.access import WebAccess


@dataclass(slots=True)
class Services:
    """One field per service; None if it is switched off, and then the tools that need it say so.

    Attributes:
        semantic_search: Semantic search.
        registry: The registered tools.
        pending: Operations that wait for the user.
        team: The agents of the team, and the user.
        channels: Channels for messages that leave the machine.
        file_access: Resolves paths in the vault and outside.
        sandbox: Runs commands.
        language_model: A model with structured output; None if no model is set up.
        entailment: A cross-encoder that decides whether passages support or contradict each other; None
            unless the user chose one.
        suggestions: Relations that may be missing.
        memory: The memory of the agents.
        web: Web pages and web searches.
        sources: Folders outside the vault, and streams.
    """

    semantic_search: SemanticSearch | None = None
    registry: ToolRegistry | None = None
    pending: PendingOperations | None = None
    team: TeamService | None = None
    channels: ChannelRegistry | None = None
    file_access: FileAccess | None = None
    sandbox: Sandbox | None = None
    language_model: LanguageModel | None = None
    entailment: EntailmentClassifier | None = None
    suggestions: SuggestionQueue | None = None
    memory: Memory | None = None
    web: WebAccess | None = None
    sources: Sources | None = None

    def with_usage_callback(self, record: Callable[[int, float], None]) -> Services:
        """Return the services for one call; `record` receives the tokens and cost that its tool uses."""
        if self.language_model is None:
            return self
        return replace(self, language_model=self.language_model.with_usage_callback(record))
