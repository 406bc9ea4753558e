"""A vault made from texts, and its index."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.events import EventBus
from app.index.names import target_key
from app.index.records import IndexRebuilt, IndexUpdated, LinkRecord
from app.index.resolver import Resolver
from app.index.vault_index import VaultIndex
from app.settings import IndexSettings
from app.vault.path import NotePath, name_key

Names = dict[tuple[str, str], list[NotePath]]


def tables(resolver: Resolver) -> Names:
    """Return the resolver's tables of every name, path, alias and id."""
    table, found = resolver._table, Names()
    for entry in resolver.entries():
        parts = entry.stem.split("/")
        for start in range(len(parts)):
            key = "/".join(parts[start:])
            found["name", key] = [each.path for each in table.find_by_name(key)]
            found["path", key] = [each.path for each in table.find_by_path(key)]
        for alias in map(target_key, entry.aliases):
            found["alias", alias] = [each.path for each in table.find_by_alias(alias)]
        if entry.note_id:
            key = name_key(entry.note_id)
            found["id", key] = [each.path for each in table.find_by_id(key)]
    return found


LONG_AGO = time.time() - 3600


def write_file(root: Path, path: str, text: str | bytes, *, at: float = LONG_AGO) -> NotePath:
    """Write a file of a vault with a given time."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(file, (at, at))
    return NotePath.on_disk(path)


@dataclass
class IndexedVault:
    """A folder of notes, its index and the published events."""

    root: Path
    index: VaultIndex
    events: EventBus
    updates: list[IndexUpdated] = field(default_factory=list)
    rebuilds: list[IndexRebuilt] = field(default_factory=list)

    def write(self, path: str, text: str | bytes, *, at: float = LONG_AGO) -> NotePath:
        """Write a file with a given time."""
        return write_file(self.root, path, text, at=at)

    async def save(self, path: str, text: str) -> None:
        """Write a file and refresh the index."""
        await self.index.refresh([self.write(path, text, at=time.time())])

    async def found(self, query: str, *, private: bool = True) -> list[str]:
        """Return the names of the notes that a search finds, sorted."""
        page = await self.index.search(query, private=private)
        assert page.total == len(page.hits)
        return sorted(hit.path.stem_path for hit in page.hits)

    def links(self, path: str) -> list[tuple[str, str | None]]:
        """Return the texts and targets of a note's links."""
        found = self.index.outgoing(NotePath(path))
        return [(link.target_text, link.target.text if link.target else None) for link in found]

    def sources(self, path: str) -> list[str]:
        """Return the notes that link to a file."""
        return [link.source.text for link in self.index.backlinks(NotePath(path))]

    def link(self, path: str, number: int = 0) -> LinkRecord:
        """Return one of a note's links."""
        return self.index.outgoing(NotePath(path))[number]


MakeVault = Callable[..., Awaitable[IndexedVault]]


@pytest.fixture
async def make_vault(tmp_path: Path) -> AsyncIterator[MakeVault]:
    """Return a function that writes and scans a vault of texts by path."""
    async with vaults_in(tmp_path) as make:
        yield make


@asynccontextmanager
async def vaults_in(folder: Path) -> AsyncIterator[MakeVault]:
    """Yield a function that writes and scans vaults in a folder, and close their indexes in the end."""
    made: list[IndexedVault] = []

    async def make(
        files: Mapping[str, str | bytes] | None = None, *, scan: bool = True, **settings: object
    ) -> IndexedVault:
        number = len(made)
        root = folder / f"vault{number}"
        root.mkdir()
        for path, text in (files or {}).items():
            write_file(root, path, text)
        events = EventBus()
        index = VaultIndex(root, folder / f"cache{number}", IndexSettings(**settings), events)
        vault = IndexedVault(root, index, events)
        made.append(vault)
        events.subscribe(IndexUpdated, vault.updates.append)
        events.subscribe(IndexRebuilt, vault.rebuilds.append)
        await index.open()
        if scan:
            await index.scan()
        return vault

    yield make
    for vault in made:
        await vault.index.close()


@pytest.fixture
async def reopened() -> AsyncIterator[Callable[[IndexedVault], Awaitable[VaultIndex]]]:
    """Return a function that closes and reopens a vault's index, like the next start of the app."""
    opened: list[VaultIndex] = []

    async def reopen(vault: IndexedVault, settings: IndexSettings | None = None) -> VaultIndex:
        await vault.index.close()
        folder = vault.index._folder
        index = VaultIndex(vault.root, folder, settings or vault.index._settings, vault.events)
        opened.append(index)
        await index.open()
        return index

    yield reopen
    for index in opened:
        await index.close()
