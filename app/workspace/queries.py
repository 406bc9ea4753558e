"""Small queries of views on an open vault; they run in its loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from app.agent import models
from app.index.completion import complete

if TYPE_CHECKING:
    from app.workspace.workspace import Workspace


async def local_models(workspace: Workspace) -> tuple[tuple[models.Provider, tuple[str, ...]], ...]:
    """Return the model servers that respond on this machine, with their models."""
    return await models.find_local()


async def check_model(workspace: Workspace) -> models.ModelCheck:
    """Check whether the model in the settings works, for the test button."""
    model = workspace.settings.model
    # The system's key store is a separate program.
    key = await asyncio.to_thread(workspace.keys.get, model.provider, model.base_url)
    return await models.check(model, key)


def complete_names(workspace: Workspace, word: str, limit: int) -> tuple[str, ...]:
    """Return link texts that continue `word`, each of which identifies exactly one note."""
    shortest = workspace.index.resolver.shortest
    records = {record.path.name: record.path for record in workspace.index.notes()}
    found = complete(records, word, limit)
    return tuple(shortest(records[name], None) for name in found)


def complete_files(workspace: Workspace, word: str, limit: int) -> tuple[str, ...]:
    """Return link texts of files other than notes that continue `word`."""
    shortest = workspace.index.resolver.shortest
    files = {file.path.text.rpartition("/")[2]: file.path for file in workspace.index.files()}
    return tuple(shortest(files[name], None) for name in complete(files, word, limit))


def complete_tags(workspace: Workspace, word: str, limit: int) -> tuple[str, ...]:
    """Return tags that continue `word`, most used first."""
    tags = sorted(workspace.index.tags(), key=lambda count: -count.count)
    return complete((count.tag for count in tags), word, limit)


async def most_linked_names(workspace: Workspace, limit: int) -> tuple[str, ...]:
    """Return the names of the notes with the most links."""
    paths = await asyncio.to_thread(workspace.index.most_linked, limit)
    return tuple(path.name for path in paths)
