"""Notes that are rare in real vaults but hard for the window, added to a generated vault."""

from __future__ import annotations

import random
from pathlib import Path

BUSIEST_NOTE, LONGEST_NOTE, RICHEST_NOTE = "Home.md", "Archive/Everything.md", "Archive/Index of links.md"
LONGEST_NOTE_BYTES = 3_000_000
RICHEST_LINKS = 2_000
_NOTES_PER_LINK = 5


def add_extreme_notes(folder: Path) -> None:
    """Add three notes.

    `BUSIEST_NOTE` is linked from every fifth note, `LONGEST_NOTE` has 3 MB, and `RICHEST_NOTE` 2,000 links.
    """
    notes = sorted(folder.rglob("*.md"))
    for note in notes[::_NOTES_PER_LINK]:
        with note.open("a", encoding="utf-8") as file:
            file.write("\nUp to [[Home]].\n")
    names = [note.stem for note in notes]
    dice = random.Random(1)
    (folder / "Archive").mkdir(exist_ok=True)
    (folder / BUSIEST_NOTE).write_text("# Home\n\nWhere everything begins.\n", encoding="utf-8")
    links = "".join(f"- [[{dice.choice(names)}]]\n" for _ in range(RICHEST_LINKS))
    (folder / RICHEST_NOTE).write_text(f"# Index of links\n\n{links}", encoding="utf-8")
    (folder / LONGEST_NOTE).write_text("".join(_parts(names, dice)), encoding="utf-8")


def _parts(names: list[str], dice: random.Random) -> list[str]:
    parts, length = ["# Everything\n"], 0
    while length < LONGEST_NOTE_BYTES:
        words, link = " ".join(dice.choices(names, k=60)), dice.choice(names)
        part = f"\n## {dice.choice(names)}\n\n{words}.\n\n- see [[{link}]]\n"
        parts.append(part)
        length += len(part)
    return parts
