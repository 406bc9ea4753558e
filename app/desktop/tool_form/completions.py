"""Completions for a form's fields: notes, folders, tags, and headings of the chosen note."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from app.desktop.bridge import VaultClient
from app.errors import ScriptoriumError
from app.index.completion import complete
from app.toolkit.argument_types import ArgumentKind
from app.vault.markdown.scan import scan
from app.vault.markdown.text import decode_lossy
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.workspace import VaultService

_MAX_COMPLETIONS = 12


class NameCompleter:
    """Completes names of one vault; notes, folders and tags are loaded once, when first needed."""

    def __init__(self, client: VaultClient) -> None:
        self._client = client
        self._cache: dict[ArgumentKind, tuple[str, ...]] = {}

    async def find_names(self, kind: ArgumentKind, word: str, note: str) -> list[str]:
        """Return the best matches for `word` among the names of this kind; empty if it has no completions.

        Headings are those of `note`.
        """
        if kind is ArgumentKind.HEADING:
            names = await self._client.run(lambda vault: _headings(vault, note))
        elif kind in self._cache:
            names = self._cache[kind]
        elif (load := _LOADERS.get(kind)) is not None:
            names = self._cache[kind] = await asyncio.to_thread(tuple, await self._client.run(load))
        else:
            return []
        return list(await asyncio.to_thread(complete, names, word.lstrip("#"), _MAX_COMPLETIONS))


def has_completions(kind: ArgumentKind) -> bool:
    """Return whether an argument of this kind can be completed."""
    return kind in _LOADERS or kind is ArgumentKind.HEADING


def _notes(vault: VaultService) -> Iterable[str]:
    """Return the name of each note, or its path if the name is ambiguous; recently changed notes first."""
    notes = sorted(vault.notes.records(), key=lambda note: -note.modified)
    counts = Counter(note.path.name.casefold() for note in notes)
    return [
        note.path.name if counts[note.path.name.casefold()] == 1 else note.path.stem_path for note in notes
    ]


def _folders(vault: VaultService) -> Iterable[str]:
    folders = {note.path.folder for note in vault.notes.records()}
    parts = (folder.split("/") for folder in folders)
    parents = {"/".join(names[:end]) for names in parts for end in range(1, len(names))}
    return sorted((folders | parents) - {""})


def _tags(vault: VaultService) -> Iterable[str]:
    return [tag.tag for tag in sorted(vault.notes.tags(), key=lambda tag: -tag.count)]


def _headings(vault: VaultService, note: str) -> tuple[str, ...]:
    try:
        path: NotePath = vault.notes.resolve_strictly(note)
        text = decode_lossy(vault.notes.read(path))
    except ScriptoriumError:
        return ()
    return tuple(dict.fromkeys(heading.text for heading in scan(text).headings))


_LOADERS: dict[ArgumentKind, Callable[[VaultService], Iterable[str]]] = {
    ArgumentKind.NOTE: _notes,
    ArgumentKind.FOLDER: _folders,
    ArgumentKind.TAG: _tags,
}
