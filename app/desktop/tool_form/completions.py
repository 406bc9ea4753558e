"""Completions for a form's fields: notes, folders, tags, and headings of the chosen note."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.desktop.bridge import VaultClient
from app.errors import ScriptoriumError
from app.index.completion import complete
from app.toolkit.argument_types import ArgumentKind
from app.vault.markdown.scan import scan
from app.vault.markdown.text import decode_lossy

if TYPE_CHECKING:
    from app.workspace import VaultService

COMPLETED_KINDS = (ArgumentKind.NOTE, ArgumentKind.FOLDER, ArgumentKind.TAG, ArgumentKind.HEADING)
_MAX_COMPLETIONS = 12


async def find_names(client: VaultClient, kind: ArgumentKind, word: str, note: str) -> tuple[str, ...]:
    """Return the best matches for `word` among the names of one of `COMPLETED_KINDS`.

    Headings are those of `note`.
    """
    return await client.run(lambda vault: _complete(vault, kind, word, note))


def _complete(vault: VaultService, kind: ArgumentKind, word: str, note: str) -> tuple[str, ...]:
    match kind:
        case ArgumentKind.NOTE:
            return vault.notes.complete_names(word, _MAX_COMPLETIONS)
        case ArgumentKind.FOLDER:
            return vault.notes.complete_folders(word, _MAX_COMPLETIONS)
        case ArgumentKind.TAG:
            return vault.notes.complete_tags(word.lstrip("#"), _MAX_COMPLETIONS)
        case _:
            return complete(_headings(vault, note), word.lstrip("#"), _MAX_COMPLETIONS)


def _headings(vault: VaultService, note: str) -> tuple[str, ...]:
    try:
        text = decode_lossy(vault.notes.read(vault.notes.resolve_strictly(note)))
    except ScriptoriumError:
        return ()
    return tuple(dict.fromkeys(heading.text for heading in scan(text).headings))
