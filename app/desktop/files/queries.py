"""Queries of the file panel, run in the service thread."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

from app.desktop.files.model import FolderListing

if TYPE_CHECKING:
    from app.workspace import VaultService

_MAX_MATCHES = 500


async def list_files(vault: VaultService, attachments: bool) -> tuple[set[str], FolderListing]:
    """Return the paths and their listing."""
    paths = _list_paths(vault, attachments)
    return set(paths), await asyncio.to_thread(FolderListing.of, paths)


async def find_matches(vault: VaultService, text: str, attachments: bool) -> list[str]:
    """Return up to 500 files whose names contain `text`."""
    search_text = text.strip().casefold()

    def match(paths: list[str]) -> list[str]:
        matches = (path for path in paths if search_text in path.rpartition("/")[2].casefold())
        return list(itertools.islice(matches, _MAX_MATCHES))

    return await asyncio.to_thread(match, _list_paths(vault, attachments))


def _list_paths(vault: VaultService, attachments: bool) -> list[str]:
    paths = [path.text for path in vault.notes.paths()]
    if attachments:
        paths += [record.path.text for record in vault.notes.files()]
    return paths
