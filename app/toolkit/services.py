"""The services of the tool categories, and the models that the user can switch off.

A tool that needs more than the notes declares it in the type of its context: `context: WebContext` provides
`context.services.web`. The workspace creates one object per category that has services.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.toolkit.context import ServiceContext
from app.translatable_text import TranslatableText

if TYPE_CHECKING:
    from app.analysis.language_model import LanguageModel
    from app.analysis.suggestion_queue import SuggestionQueue
    from app.embeddings.entailment_client import EntailmentClassifier
    from app.messages.channel_registry import ChannelRegistry
    from app.permissions.policy import Policy
    from app.sandbox.sandbox import Sandbox
    from app.sources.sources import Sources
    from app.toolkit.file_access import FileAccess
    from app.toolkit.memory_service import Memory
    from app.toolkit.pending import PendingOperations
    from app.toolkit.registry import ToolRegistry
    from app.toolkit.semantic_search import SemanticSearch
    from app.toolkit.team import TeamService
    from app.web.access import WebAccess


@dataclass(frozen=True, slots=True)
class OptionalModels:
    """The models that the user can switch off at any time; each function returns None while its model is off.

    Attributes:
        semantic_search: Returns semantic search.
        language_model: Returns a model with structured output.
    """

    semantic_search: Callable[[], SemanticSearch | None] = lambda: None
    language_model: Callable[[], LanguageModel | None] = lambda: None


@dataclass(frozen=True, slots=True)
class PathInSettings:
    """A folder or note that the settings name; `use` is what for, with its article."""

    path: str
    use: TranslatableText
    is_folder: bool = True


@dataclass(frozen=True, slots=True)
class NoteServices:
    """The services of the notes category.

    Attributes:
        policy: The permission rules.
        paths_in_settings: Returns the folders and notes that the settings name.
    """

    policy: Policy
    paths_in_settings: Callable[[], Iterable[PathInSettings]]


@dataclass(frozen=True, slots=True)
class MemoryServices:
    """The services of the memory and sources categories: files of a source are loaded into memory blocks."""

    memory: Memory
    sources: Sources


@dataclass(frozen=True, slots=True)
class FileServices:
    """The services of the filesystem and programs categories: `file_access` resolves all their paths."""

    file_access: FileAccess


@dataclass(frozen=True, slots=True)
class DevelopmentServices(FileServices):
    """The services of the development category: `sandbox` runs commands."""

    sandbox: Sandbox


@dataclass(frozen=True, slots=True)
class RelationServices:
    """The services of the nodes and relationships categories.

    Attributes:
        suggestions: Relations that may be missing.
        entailment: Decides whether passages support or contradict each other, if the user chose a model.
    """

    suggestions: SuggestionQueue
    entailment: EntailmentClassifier


@dataclass(frozen=True, slots=True)
class MessageServices:
    """The services of the messages category: the team and the user, and channels to other services."""

    team: TeamService
    channels: ChannelRegistry


@dataclass(frozen=True, slots=True)
class AgentServices:
    """The services of the agents category: the tools, the pending operations, and the other agents."""

    registry: ToolRegistry
    pending: PendingOperations
    team: TeamService


@dataclass(frozen=True, slots=True)
class WebServices:
    """The services of the web category: web pages and web searches."""

    web: WebAccess


NoteContext = ServiceContext[NoteServices]
MemoryContext = ServiceContext[MemoryServices]
FileContext = ServiceContext[FileServices]
DevelopmentContext = ServiceContext[DevelopmentServices]
RelationContext = ServiceContext[RelationServices]
MessageContext = ServiceContext[MessageServices]
AgentContext = ServiceContext[AgentServices]
WebContext = ServiceContext[WebServices]
