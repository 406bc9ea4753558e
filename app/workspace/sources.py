"""Assemble a vault's sources and their audit lines, and format the notifications that a model may see."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from app.agent.notifications import format_notifications
from app.agent.turn import Turn
from app.events import EventBus
from app.sources.config import SourceConfig
from app.sources.source import Notification
from app.sources.sources import Sources
from app.toolkit.audit_writer import AuditWriter
from app.toolkit.memory_service import Memory, memory_binding
from app.toolkit.registry import ToolRegistry
from app.toolkit.runner import ToolRunner
from app.toolkit.sources import SourcesGate, authorize_loading, follow_commits
from app.tools import FILE_TOOL
from app.vault.journal import Journal


def open_sources(
    runner: ToolRunner,
    registry: ToolRegistry,
    journal: Journal,
    events: EventBus,
    memory: Memory,
    root: Path,
    data: Path,
    *,
    writable: bool,
) -> Sources:
    """Return the sources of the vault at `root`, saved in the data folder; `Sources.start` starts them.

    Also registers the memory with the gate: an agent may load a file unchanged into its own block, whatever
    the file's permission.
    """
    gate = SourcesGate(runner.stores, registry, FILE_TOOL)
    sources = Sources(root, data, journal, memory.store, events, gate.open, writable=writable)
    sources.on_configured = partial(_log_setting, runner.audit_writer)
    follow_commits(sources, journal, events)
    runner.stores.add(memory_binding(memory.store, partial(authorize_loading, sources)))
    return sources


_SETTING_LINES = {
    "add": "Added the source {0}.",
    "change": "Changed the source {0}.",
    "pause": "Paused the source {0}.",
    "resume": "Resumed the source {0}.",
    "remove": "Removed the source {0}.",
}


def _log_setting(audit: AuditWriter, op: str, config: SourceConfig) -> None:
    arguments = {"op": op, "source": config.model_dump(mode="json")}
    audit.log_user_setting("sources", arguments, _SETTING_LINES[op].format(config.name))


def notifications_for_model(sources: Sources, note_text: Callable[[str], str | None], turn: Turn) -> str:
    """Format the notifications for a turn, omitting those about notes that a model may not see."""

    def may_see(news: Notification) -> bool:
        return not (news.path and sources.is_vault_notification(news)) or note_text(news.path) is not None

    return format_notifications(turn, sources, may_see)
