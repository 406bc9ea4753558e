"""Puts the sources of a vault together: the folders open at the gate, the tool comes and goes with them."""

from __future__ import annotations

from pathlib import Path

from app.events import EventBus
from app.sources.sources import Sources
from app.toolkit.registry import ToolRegistry
from app.toolkit.runner import ToolRunner
from app.toolkit.sources import SourcesGate, follow_commits
from app.tools import FILE_TOOL
from app.vault.journal import Journal


def open_sources(
    runner: ToolRunner,
    registry: ToolRegistry,
    journal: Journal,
    events: EventBus,
    root: Path,
    data: Path,
    *,
    writable: bool,
) -> Sources:
    """The sources of the vault at `root`, kept in its data folder; started by `Sources.start`."""
    gate = SourcesGate(runner.places, registry, FILE_TOOL)
    memory = runner.services.memory
    sources = Sources(
        root, data, journal, memory.store if memory else None, events, gate.open, writable=writable
    )
    follow_commits(sources, journal, events)
    runner.services.sources = sources
    return sources
