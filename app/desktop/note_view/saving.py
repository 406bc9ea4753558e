"""Saving an edited note without losing anybody's text.

The note is written only if it still holds what it held when it was loaded. If it was changed meanwhile,
both texts are merged by lines where they do not collide; where they do, the user chooses.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.desktop.note_view.page import Page, load
from app.errors import ConflictError, VaultLostError
from app.index.records import Mention
from app.permissions.caller import Caller
from app.toolkit.runner import ToolOutcome
from app.vault.merge import merge
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Saved:
    """It is on the disk; `page` is the note as it is now."""

    page: Page


@dataclass(frozen=True, slots=True)
class Changed:
    """Somebody else changed the note meanwhile: nothing was written.

    `theirs` is the note on the disk (None: it is gone), `merged` both texts together where they do not
    collide, else None.
    """

    theirs: Page | None
    merged: str | None


@dataclass(frozen=True, slots=True)
class Failed:
    """The disk refused; nothing was written. `reason` is one sentence."""

    reason: str


Result = Saved | Changed | Failed


async def save(workspace: Workspace, page: Page, text: str) -> Result:
    """Write `text` as the note of `page`, if the note is still what it was."""
    after = text.encode("utf-8")
    outcome = await workspace.runner.save(page.path, page.content, after, Caller.user())
    if outcome.success:
        return Saved(await load(workspace, page.path))
    kind = (outcome.error or {}).get("type")
    try:
        if kind == "conflict":
            return await _compare(workspace, page, after)
        if kind == "not_found" or not workspace.store.exists(page.path):
            return Changed(None, None)
    except VaultLostError as error:
        # Not the note is gone but all of the vault: it may come back.
        return Failed(error.message)
    return Failed(outcome.message)


async def create(workspace: Workspace, path: NotePath, text: str) -> Result:
    """Write `text` as a note that does not exist (any more)."""
    outcome = await workspace.runner.save(path, None, text.encode("utf-8"), Caller.user())
    return Saved(await load(workspace, path)) if outcome.success else Failed(outcome.message)


async def _compare(workspace: Workspace, page: Page, ours: bytes) -> Result:
    if not workspace.store.exists(page.path):
        return Changed(None, None)
    return await _against(await load(workspace, page.path), page, ours)


async def _against(theirs: Page, page: Page, ours: bytes) -> Changed:
    if theirs.problem:
        return Changed(theirs, None)
    both = await asyncio.to_thread(merge, page.content, ours, theirs.content)
    return Changed(theirs, None if both.conflicts else both.text.decode("utf-8"))


async def compare(workspace: Workspace, page: Page, text: str, now_at: NotePath) -> Result:
    """How the note, which is at `now_at` now, differs from `page` that `text` was typed on."""
    if not workspace.store.exists(now_at):
        return Changed(None, None)
    theirs = await load(workspace, now_at)
    return await _against(theirs, page, text.encode("utf-8"))


async def link_mention(workspace: Workspace, mention: Mention, target: NotePath) -> ToolOutcome:
    """Propose to make a link of a mention, in the note that it stands in.

    Raises:
        ConflictError: the mention is not there any more.
    """
    note = await load(workspace, mention.source)
    lines = note.text.split("\n")
    line = lines[mention.line - 1] if mention.line <= len(lines) else ""
    start, end = place_of(mention, line)
    said = line[start:end]
    name = workspace.index.resolver.shortest(target, mention.source)
    link = f"[[{name}]]" if said == name else f"[[{name}|{said}]]"
    new = f"{line[:start]}{link}{line[end:]}"
    patch = f"@@ -{mention.line},1 +{mention.line},1 @@\n-{line}\n+{new}\n"
    arguments = {"name": mention.source.text, "op": "patch", "patch": patch}
    return await workspace.runner.call("edit_note", arguments, Caller.user())


def place_of(mention: Mention, line: str) -> tuple[int, int]:
    """Where a mention stands in its whole line, of which it shows a part between two "…".

    Raises:
        ConflictError: the line does not say it any more.
    """
    shown, cut = mention.text, 0
    if shown not in line and shown.startswith("…"):
        shown, cut = shown[1:], 1
    if shown not in line:
        shown = shown.removesuffix("…")
    at = line.find(shown)
    if at < 0:
        raise ConflictError(f"{mention.source} was changed: it does not say that any more.")
    return at + mention.start - cut, at + mention.end - cut
