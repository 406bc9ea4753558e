"""Names of notes for a shell that completes a command: read from the index file, without opening the vault.

Nothing is made or changed, and a vault that was never opened has no names. Private notes are left out, as
for every caller on the command line.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from app import paths
from app.cli.vault_location import locate_vault
from app.errors import VaultLostError
from app.storage.sqlite import connect_read_only
from app.vault.path import name_key

_INDEX_FILE = "index.sqlite"
_MAX_COMPLETIONS = 200
_NOTES = (
    "SELECT files.path FROM files JOIN notes ON notes.id = files.id WHERE files.is_note AND NOT notes.private"
    " AND files.hash IS NOT NULL"
)
_SPECIAL = re.compile(r"([^\w@%+=:,./-])")
_QUOTES = ("'", '"')


def completions(word: str, line: Sequence[str], shell: str) -> list[str]:
    """What `word` may go on to, the shortest first, written as `shell` wants it.

    Args:
        word: What stands at the cursor, as it is typed: with quotes and backslashes.
        line: The words of the command so far; its `--vault` counts.
        shell: bash has names put down as they are to be typed; the others quote by themselves.
    """
    try:
        root = locate_vault(_vault_of(line)).root
    except VaultLostError:
        return []
    quoted = word[:1] in _QUOTES
    typed = word[1:] if quoted else re.sub(r"\\(.)", r"\1", word)
    names = matching_names(_paths(root), typed)
    return [_SPECIAL.sub(r"\\\1", name) for name in names] if shell == "bash" and not quoted else names


def matching_names(notes: Iterable[str], typed: str) -> list[str]:
    """Names of the notes at these paths that begin with `typed`, or their paths if it has a folder.

    A name that several notes have is told by its path, since by itself it means none of them for sure.
    """
    stems = {path: path.rpartition(".")[0] or path for path in notes}
    many = Counter(name_key(stem.rpartition("/")[2]) for stem in stems.values())
    wanted, found = name_key(typed), []
    for stem in stems.values():
        name = stem.rpartition("/")[2]
        compared = stem if "/" in typed else name
        if name_key(compared).startswith(wanted) and _is_plain(stem):
            found.append(stem if many[name_key(name)] > 1 else compared)
    return sorted(found, key=lambda one: (len(one), one))[:_MAX_COMPLETIONS]


def _is_plain(name: str) -> bool:
    """Whether it can stand on a line: a terminal must not be told to do things by a note's name."""
    return name.isprintable()


def _paths(root: Path) -> list[str]:
    file = paths.cache_folder() / "vaults" / paths.vault_id(root) / _INDEX_FILE
    if not file.is_file():
        return []
    try:
        with closing(connect_read_only(file, timeout=0.5)) as connection:
            return [path for (path,) in connection.execute(_NOTES)]
    except sqlite3.Error:
        return []


def _vault_of(line: Sequence[str]) -> str | None:
    """The folder that `--vault` names; bash gives the equals sign as a word of its own."""
    for at, word in enumerate(line):
        option, _, value = word.partition("=")
        if option != "--vault":
            continue
        rest = [one for one in (value, *line[at + 1 : at + 3]) if one not in ("", "=")]
        return rest[0] if rest else None
    return None
