"""Note names for shell completion, read from the index file without opening the vault.

The vault and its index are not changed, and a vault that was never opened has no names. Private notes are
left out, as for all commands.
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
_SELECT_NOTES = (
    "SELECT files.path FROM files JOIN notes ON notes.id = files.id WHERE files.is_note AND NOT notes.private"
    " AND files.hash IS NOT NULL"
)
_SPECIAL = re.compile(r"([^\w@%+=:,./-])")
_QUOTES = ("'", '"')


def completions(word: str, line: Sequence[str], shell: str) -> list[str]:
    """Return the completions of `word`, shortest first, quoted for `shell`; empty if there is no index.

    Args:
        word: The word at the cursor as typed, with quotes and backslashes.
        line: The words of the command so far; `--vault` among them selects the vault.
        shell: bash needs quoted names; the other shells quote names themselves.
    """
    try:
        root = locate_vault(_vault_of(line)).root
    except VaultLostError:
        return []
    is_quoted = word[:1] in _QUOTES
    typed = word[1:] if is_quoted else re.sub(r"\\(.)", r"\1", word)
    names = matching_names(_paths(root), typed)
    return [_SPECIAL.sub(r"\\\1", name) for name in names] if shell == "bash" and not is_quoted else names


def matching_names(notes: Iterable[str], typed: str) -> list[str]:
    """Return the names of notes that begin with `typed`, or their paths if `typed` contains a slash.

    A name that several notes share is replaced by the path. Case is ignored. At most 200 are returned,
    shortest first; names with unprintable characters are left out.
    """
    stems = {path: path.rpartition(".")[0] or path for path in notes}
    name_counts = Counter(name_key(stem.rpartition("/")[2]) for stem in stems.values())
    prefix_key, matches = name_key(typed), []
    for stem in stems.values():
        name = stem.rpartition("/")[2]
        candidate = stem if "/" in typed else name
        if name_key(candidate).startswith(prefix_key) and _is_plain(stem):
            matches.append(stem if name_counts[name_key(name)] > 1 else candidate)
    return sorted(matches, key=lambda match: (len(match), match))[:_MAX_COMPLETIONS]


def _is_plain(name: str) -> bool:
    """Return whether a name is printable; any other could contain terminal control sequences."""
    return name.isprintable()


def _paths(root: Path) -> list[str]:
    file = paths.cache_folder() / "vaults" / paths.vault_id(root) / _INDEX_FILE
    if not file.is_file():
        return []
    try:
        with closing(connect_read_only(file, timeout=0.5)) as connection:
            return [path for (path,) in connection.execute(_SELECT_NOTES)]
    except sqlite3.Error:
        return []


def _vault_of(line: Sequence[str]) -> str | None:
    """Return the folder that `--vault` names; bash passes the equals sign as a separate word."""
    for index, word in enumerate(line):
        option, _, value = word.partition("=")
        if option != "--vault":
            continue
        values = [part for part in (value, *line[index + 1 : index + 3]) if part not in ("", "=")]
        return values[0] if values else None
    return None
