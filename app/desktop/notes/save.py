"""Save an edited note without overwriting other changes.

The note is written only if it still has the content that was loaded. Otherwise, nothing is written and the
user chooses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.desktop.notes.loader import NoteData, load
from app.errors import ConflictError, NotFoundError, StorageError, VaultLostError
from app.index.records import Mention
from app.permissions.caller import Caller
from app.toolkit.call import Call
from app.toolkit.outcome import ToolOutcome
from app.vault.merge import merge
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.workspace import VaultService


@dataclass(frozen=True, slots=True)
class Saved:
    """The note was saved; `page` is its new state."""

    page: NoteData


@dataclass(frozen=True, slots=True)
class SaveConflict:
    """The note has changed since it was loaded, so nothing was written.

    Attributes:
        theirs: The note on the disk, under its new path if the app has moved it; None if it was deleted.
        by_app: Whether the app itself wrote the change: the user approved it.
    """

    theirs: NoteData | None
    by_app: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """Saving failed and nothing was written; `reason` is one sentence."""

    reason: str


_MAX_MOVES = 20
Result = Saved | SaveConflict | Failed


async def save(vault: VaultService, page: NoteData, text: str, session: str = "") -> Result:
    """Write `text` as the note of `page`, if the note has not changed.

    Args:
        vault: The open vault.
        page: The note that `text` is based on.
        text: The new text.
        session: The editing session, which groups its saves in the history.
    """
    after = text.encode("utf-8")
    outcome = await vault.call(Call.save(page.path, page.content, after, _writer(session)))
    if outcome.success:
        return Saved(await load(vault, page.path))
    kind = (outcome.error or {}).get("type")
    try:
        if kind == "conflict" or not vault.notes.exists(page.path):
            return await check_note(vault, page.path)
    except VaultLostError as error:
        # The whole vault is missing, not only the note: it may become available again.
        return Failed(error.message)
    return Failed(outcome.message)


async def create(vault: VaultService, path: NotePath, text: str, session: str = "") -> Result:
    """Write `text` as a note that does not exist (any more)."""
    outcome = await vault.call(Call.save(path, None, text.encode("utf-8"), _writer(session)))
    if outcome.success:
        return Saved(await load(vault, path))
    try:
        return SaveConflict(await load(vault, path))
    except (NotFoundError, StorageError):
        return Failed(outcome.message)


async def check_note(vault: VaultService, path: NotePath) -> SaveConflict:
    """Read the note at `path`, or at its new path if the app has moved it.

    Raises:
        StorageError: It can't be read.
    """
    for _ in range(_MAX_MOVES):
        commits = vault.history.commits(1, path=path)
        changes = commits[0].changes if commits else ()
        try:
            page = await load(vault, path)
        except NotFoundError:
            to = next((change.to for change in changes if change.path == path), None)
            if to is None:
                break
            path = to
        else:
            return SaveConflict(page, any(each.place == path and each.after == page.hash for each in changes))
    return SaveConflict(None)


def merge_texts(base: bytes, ours: bytes, theirs: bytes) -> str | None:
    """Return both texts merged, or None if they collide."""
    both = merge(base, ours, theirs)
    return None if both.conflicts else both.text.decode("utf-8")


def _writer(session: str) -> Caller:
    return replace(Caller.user(), turn=session)


async def link_mention(vault: VaultService, mention: Mention, target: NotePath) -> ToolOutcome:
    """Propose to turn a mention into a link, in its note.

    Raises:
        ConflictError: The mention no longer exists.
    """
    note = await load(vault, mention.source)
    lines = note.text.split("\n")
    line = lines[mention.line - 1] if mention.line <= len(lines) else ""
    start, end = mention_span(mention, line)
    excerpt = line[start:end]
    name = vault.notes.shortest(target, mention.source)
    link = f"[[{name}]]" if excerpt == name else f"[[{name}|{excerpt}]]"
    new = f"{line[:start]}{link}{line[end:]}"
    patch = f"@@ -{mention.line},1 +{mention.line},1 @@\n-{line}\n+{new}\n"
    arguments = {"name": mention.source.text, "op": "patch", "patch": patch}
    return await vault.call(Call.of("edit_note", arguments, Caller.user()))


def mention_span(mention: Mention, line: str) -> tuple[int, int]:
    """Return the offset of a mention in its line, of which it shows a part between two "…".

    Raises:
        ConflictError: The line has changed.
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
