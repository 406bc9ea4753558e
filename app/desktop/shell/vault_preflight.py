"""Check a folder before it is opened as a vault."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from app.desktop.runtime.translation import PluralText, translate
from app.vault.path import NOTE_SUFFIXES

_MAX_COUNTED_FILES = 200_000
_COUNT_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class FolderFacts:
    """The numbers of notes and other files in a folder; `is_complete` is False if counting stopped early."""

    root: Path
    note_count: int
    other_count: int
    is_complete: bool


def inspect_folder(root: Path) -> FolderFacts:
    """Count the files under `root`, skipping hidden folders and `node_modules`.

    Counting stops after about two seconds or 200,000 files that are not notes. This blocks: call it in a
    thread.

    Raises:
        OSError: The folder does not exist or can't be listed.
    """
    next(root.iterdir(), None)
    note_count = other_count = 0
    deadline = time.monotonic() + _COUNT_TIMEOUT_S
    for _, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "node_modules"]
        notes = sum(name.lower().endswith(NOTE_SUFFIXES) for name in files)
        note_count += notes
        other_count += len(files) - notes
        if other_count >= _MAX_COUNTED_FILES or time.monotonic() > deadline:
            return FolderFacts(root, note_count, other_count, is_complete=False)
    return FolderFacts(root, note_count, other_count, is_complete=True)


def open_warning(facts: FolderFacts) -> str | None:
    """Return the reason to ask the user before opening the folder, or None if there is none."""
    root = facts.root.resolve()
    if root == Path(root.anchor):
        return translate(
            "VaultPreflight", "This is the root of a disk. Scriptorium would read every note on it."
        )
    if root == Path.home():
        return translate("VaultPreflight", "This is your home folder. A vault is usually a folder inside it.")
    if facts.note_count == 0 and facts.is_complete:
        if not facts.other_count:
            return translate("VaultPreflight", "This folder is empty.")
        return PluralText(
            "VaultPreflight",
            "This folder has no Markdown notes, only {0} other file.",
            "This folder has no Markdown notes, only {0} other files.",
        ).format(facts.other_count)
    if facts.other_count >= _MAX_COUNTED_FILES:
        text = translate("VaultPreflight", "This folder has at least {0} files that are not notes.")
        return text.format(f"{_MAX_COUNTED_FILES:,}")
    return None
