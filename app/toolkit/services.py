"""What the tools of a category work with beside the notes; the workspace puts it together."""

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
    """One field per service; None where it is switched off, and the tool that needs it says so.

    Attributes:
        meaning: Search by meaning.
        registry: The tools there are.
        pending: Operations that wait for the user.
        team: The agents of the team, and the person.
        outbox: Messages that leave the machine.
        disk: Where paths lead, in the vault and outside.
        sandbox: Where commands run.
        thinker: A model that answers in a given form; None without a model.
        judge: A cross-encoder, where the user named one: do passages support or contradict each other?
        suggestions: Relations that may be missing.
        memory: What agents remember.
        web: Pages and searches of the web.
        sources: Folders outside the vault and streams of news.
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
        """Return the services for one call: `record` gets the tokens and the cost that it uses inside."""
        if self.language_model is None:
            return self
        return replace(self, language_model=self.language_model.with_usage_callback(record))
