"""Quarantine of damaged files under dated names, with a message for the user."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Damage:
    """A file that could not be read.

    Attributes:
        store: The name of the file's content, as the subject of a sentence: "The journal".
        file: The original path.
        reason: Why it could not be read.
        moved_to: The current path: a new name, or the original one if the file could not or must not be
            moved, or None if it held derived data and was deleted.
    """

    store: str
    file: Path
    reason: str
    moved_to: Path | None

    @property
    def message(self) -> str:
        """A message of one or two sentences: what happened and where the file is now."""
        if self.moved_to is None:
            return f"{self.store} could not be read ({self.reason}) and is being rebuilt."
        if self.moved_to == self.file:
            return f"{self.store} could not be read ({self.reason}). The file was not changed: {self.file}."
        return (
            f"{self.store} could not be read ({self.reason}). The file was set aside as {self.moved_to.name}."
        )


def set_aside(file: Path, companions: tuple[str, ...] = ()) -> Path:
    """Rename a file to a dated name in the same folder.

    Args:
        file: The file; it may be missing.
        companions: Suffixes of files that belong to it. They are renamed first: a write-ahead log left behind
            would be replayed into the next file with the same name.

    Returns:
        The file's new path.

    Raises:
        OSError: It can't be renamed.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S")
    target = file.with_name(f"{file.stem}.damaged-{stamp}{file.suffix}")
    number = 1
    while target.exists():
        number += 1
        target = file.with_name(f"{file.stem}.damaged-{stamp}-{number}{file.suffix}")
    for suffix in (*companions, ""):
        companion = file.with_name(file.name + suffix)
        if companion.exists():
            companion.replace(target.with_name(target.name + suffix))
    return target
