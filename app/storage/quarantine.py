"""Damaged files: set aside under a dated name, never deleted, and described to the user."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Damage:
    """A file that could not be used.

    Attributes:
        store: What the file holds, as the subject of a sentence: "The journal".
        file: Where the file was.
        reason: Why it could not be used.
        aside: Where it is now: another name, or the same where this process may not move it; None where it
            held derived data and was deleted.
    """

    store: str
    file: Path
    reason: str
    aside: Path | None

    @property
    def message(self) -> str:
        """What happened and where the file is now, in one or two sentences."""
        if self.aside is None:
            return f"{self.store} could not be read ({self.reason}) and is built again."
        if self.aside == self.file:
            return f"{self.store} could not be read ({self.reason}). The file was left as it is: {self.file}."
        return f"{self.store} could not be read ({self.reason}). The file was set aside as {self.aside.name}."


def set_aside(file: Path, companions: tuple[str, ...] = ()) -> Path:
    """Rename a file to a dated name in the same folder.

    Args:
        file: The file; it may be missing.
        companions: Endings of files that belong to it. They are renamed first: a write-ahead log that
            stayed behind would be replayed into the next file of the name.

    Returns:
        The file's new path.

    Raises:
        OSError: It can't be renamed.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside = file.with_name(f"{file.stem}.damaged-{stamp}{file.suffix}")
    number = 1
    while aside.exists():
        number += 1
        aside = file.with_name(f"{file.stem}.damaged-{stamp}-{number}{file.suffix}")
    for ending in (*companions, ""):
        part = file.with_name(file.name + ending)
        if part.exists():
            part.replace(aside.with_name(aside.name + ending))
    return aside
