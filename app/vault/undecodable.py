r"""Display, find and rename files and folders whose names are not UTF-8.

Such names come from another system's encoding (`Grüße.md` in Latin-1). They are displayed with escaped bytes
(`Gr\xfc\xdfe.md`), are not indexed and are not passed to tools; the user can rename them.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from app.encoding import escape_unencodable, is_encodable
from app.errors import InvalidParametersError, LimitError, NotFoundError
from app.vault.changes import ChangeSet, Move
from app.vault.path import NotePath
from app.vault.store import NoteStore

MAX_RENAMED_FILES = 1000


def listed_path(path: NotePath) -> NotePath:
    """Return the escaped path under which a file is listed, up to the first part that is not UTF-8."""
    parts = path.text.split("/")
    last = next((number for number, part in enumerate(parts, 1) if not is_encodable(part)), len(parts))
    return NotePath.on_disk(escape_unencodable("/".join(parts[:last])))


def find_path(root: Path, listed: NotePath) -> NotePath | None:
    """Return the path on disk of the file or folder listed as `listed`, or None if it can't be found."""
    folder, _, name = listed.text.rpartition("/")
    try:
        with os.scandir(root / folder if folder else root) as entries:
            names = [
                entry.name
                for entry in entries
                if not is_encodable(entry.name) and escape_unencodable(entry.name) == name
            ]
    except OSError:
        return None
    return NotePath.on_disk(f"{folder}/{names[0]}" if folder else names[0]) if names else None


def suggest_name(path: NotePath) -> str:
    """Suggest a name for the file at `path` by decoding it as Latin-1, the usual encoding of such names."""
    raw = path.file_name.encode("utf-8", "surrogateescape")
    return "".join(character for character in raw.decode("latin-1") if character.isprintable())


def plan_rename(store: NoteStore, listed: NotePath, name: str) -> ChangeSet:
    """Plan the rename of a file, or of a folder with its visible files, to a UTF-8 name.

    Args:
        store: The vault.
        listed: The path as it is listed.
        name: The new name, in the same folder.

    Raises:
        NotFoundError: The listed file or folder no longer exists.
        InvalidPathError: The new name is not valid on every system.
        InvalidParametersError: The new name contains a slash, or the folder contains no files to move or
            another file whose name is not UTF-8.
        LimitError: The folder contains more than `MAX_RENAMED_FILES` files, or a file is larger than 64 MiB.
        StorageError: A file can't be read.
    """
    path = find_path(store.root, listed)
    if path is None:
        raise NotFoundError(f"{listed} no longer exists. Nothing was changed.", path=str(listed))
    if "/" in name:
        raise InvalidParametersError("A name can't contain a slash. Nothing was changed.", name=name)
    new_path = NotePath.parse(f"{path.folder}/{name}" if path.folder else name)
    files = {path: new_path}
    if stat.S_ISDIR(os.lstat(store.root / path.text).st_mode):
        files = {
            file: NotePath.on_disk(new_path.text + file.text[len(path.text) :])
            for file in _files_below(store.root, path)
        }
    if not files:
        raise InvalidParametersError(
            f"The folder {listed} contains no files, so it can't be renamed here. Nothing was changed."
        )
    moves = []
    for source, target in files.items():
        content = store.read(source)
        moves.append(Move(source, target, content, content))
    return ChangeSet.of(*moves, summary=f"Rename {listed} to {new_path}")


def _files_below(root: Path, folder: NotePath) -> list[NotePath]:
    """Return the regular files in a folder and its subfolders, except hidden ones.

    Raises:
        InvalidParametersError: The name of one of them is not UTF-8 either.
        LimitError: There are too many.
    """
    files: list[NotePath] = []
    for top, subfolders, names in os.walk(root / folder.text):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        relative = Path(top).relative_to(root).as_posix()
        for name in names:
            path = NotePath.on_disk(f"{relative}/{name}")
            if name.startswith(".") or not stat.S_ISREG(os.lstat(root / path.text).st_mode):
                continue
            if not is_encodable(path.text[len(folder.text) :]):
                raise InvalidParametersError(
                    f"The name of {escape_unencodable(path.text)} in the folder is not UTF-8 either. "
                    "Nothing was changed. Rename that file with another program first."
                )
            files.append(path)
            if len(files) > MAX_RENAMED_FILES:
                raise LimitError(
                    f"The folder contains more than {MAX_RENAMED_FILES} files. Nothing was changed."
                )
    return files
