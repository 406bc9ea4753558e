"""Completions for the note editor: names, files, headings, block ids and tags of the vault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.desktop.notes.editor.completion import CompletionItem, CompletionRequest
from app.errors import ScriptoriumError
from app.vault.markdown.scan import scan
from app.vault.markdown.text import decode_lossy
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.workspace import VaultService

MAX_ITEMS = 30
_MAX_BLOCK_LABEL_CHARS = 60


async def complete(
    vault: VaultService, source: NotePath, request: CompletionRequest, text: str
) -> list[CompletionItem]:
    """Return the completions for the text being typed, at most `MAX_ITEMS`.

    A note that does not exist or can't be read has no headings or blocks.

    Args:
        vault: The open vault.
        source: The note being edited.
        request: The kind of completion, the typed text, and the note that contains the headings or blocks.
        text: The text of `source`, for its own headings and blocks.
    """
    if request.kind == "tag":
        return _plain_items(vault.notes.complete_tags(request.word, MAX_ITEMS))
    if request.kind in ("note", "embed"):
        names = vault.notes.complete_names(request.word, MAX_ITEMS)
        if request.kind == "note":
            return _plain_items(names)
        files = vault.notes.complete_files(request.word, MAX_ITEMS)
        return _plain_items((*names, *files)[:MAX_ITEMS])
    if request.note:
        path = vault.notes.resolve(request.note, source).path
        if path is None:
            return []
        try:
            text = decode_lossy(vault.notes.read(path))
        except ScriptoriumError:
            return []
    return _headings(text, request.word) if request.kind == "heading" else _blocks(text, request.word)


def _plain_items(labels: tuple[str, ...]) -> list[CompletionItem]:
    return [CompletionItem(label, label) for label in labels]


def _headings(text: str, word: str) -> list[CompletionItem]:
    query = word.casefold()
    headings = [heading for heading in scan(text).headings if query in heading.text.casefold()]
    return [
        CompletionItem(
            f"{'    ' * (heading.level - 1)}{heading.text}", heading.text.replace("#", " ").strip()
        )
        for heading in headings[:MAX_ITEMS]
    ]


def _blocks(text: str, word: str) -> list[CompletionItem]:
    query = word.casefold()
    lines = text.split("\n")
    items = []
    for block in scan(text).blocks:
        label = lines[block.line - 1].strip()
        if query in block.id.casefold() or query in label.casefold():
            items.append(CompletionItem(f"^{block.id}   {label[:_MAX_BLOCK_LABEL_CHARS]}", block.id))
    return items[:MAX_ITEMS]
