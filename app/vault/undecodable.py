r"""Files and folders whose names are not UTF-8: how they are shown, found again and renamed.

Such a name comes from another system's encoding (`Grüße.md` in Latin-1). It is shown with its bytes spelled
out (`Gr\xfc\xdfe.md`), is not in the index, and is given to no tool; the user can give it another name.
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
    """How the file at `path` is listed: by the first part of its path whose name is not UTF-8."""
    parts = path.text.split("/")
    last = next((number for number, part in enumerate(parts, 1) if not is_encodable(part)), len(parts))
    return NotePath.on_disk(escape_unencodable("/".join(parts[:last])))


def find_path(root: Path, listed: NotePath) -> NotePath | None:
    """The path, as the disk spells it, of the file or folder that is listed as `listed`; None without one."""
    folder, _, name = listed.text.rpartition("/")
    try:
        with os.scandir(root / folder if folder else root) as entries:
            names = [
                one.name
                for one in entries
                if not is_encodable(one.name) and escape_unencodable(one.name) == name
            ]
    except OSError:
        return None
    return NotePath.on_disk(f"{folder}/{names[0]}" if folder else names[0]) if names else None


def suggest_name(path: NotePath) -> str:
    """A name for the file at `path`: what its bytes say in Latin-1, which most such names come from."""
    raw = path.file_name.encode("utf-8", "surrogateescape")
    return "".join(one for one in raw.decode("latin-1") if one.isprintable())


def plan_rename(store: NoteStore, listed: NotePath, name: str) -> ChangeSet:
    """Return the change set that gives a file, or all files of a folder, a name that is UTF-8.

    Args:
        store: The vault.
        listed: The path as it is listed.
        name: The new name, in the same folder.

    Raises:
        NotFoundError: nothing has that name any more.
        InvalidPathError: the new name is not one that every system can keep.
        InvalidParametersError: the folder holds nothing that could be moved.
        LimitError: it holds more than `MAX_RENAMED_FILES` files.
    """
    path = find_path(store.root, listed)
    if path is None:
        raise NotFoundError(f"There is no {listed} any more; nothing was changed.", path=str(listed))
    if "/" in name:
        raise InvalidParametersError("A name can't hold a slash; nothing was changed.", name=name)
    to = NotePath.parse(f"{path.folder}/{name}" if path.folder else name)
    files = {path: to}
    if stat.S_ISDIR(os.lstat(store.root / path.text).st_mode):
        files = {
            one: NotePath.on_disk(to.text + one.text[len(path.text) :]) for one in _below(store.root, path)
        }
    if not files:
        raise InvalidParametersError(f"The folder {listed} holds no files, so it can't be renamed here.")
    moves = []
    for old, new in files.items():
        content = store.read(old)
        moves.append(Move(old, new, content, content))
    return ChangeSet.of(*moves, summary=f"Rename {listed} to {to}")


def _below(root: Path, folder: NotePath) -> list[NotePath]:
    """Return the regular files in a folder whose own names can be kept."""
    files: list[NotePath] = []
    for top, inner, names in os.walk(root / folder.text):
        inner[:] = [name for name in inner if not name.startswith(".")]
        below = Path(top).relative_to(root).as_posix()
        for name in names:
            path = NotePath.on_disk(f"{below}/{name}")
            if name.startswith(".") or not stat.S_ISREG(os.lstat(root / path.text).st_mode):
                continue
            if not is_encodable(path.text[len(folder.text) :]):
                raise InvalidParametersError(
                    f"A file in the folder has such a name, too: {escape_unencodable(path.text)}. "
                    "Rename it with another program; nothing was changed."
                )
            files.append(path)
            if len(files) > MAX_RENAMED_FILES:
                raise LimitError(
                    f"The folder holds more than {MAX_RENAMED_FILES} files; nothing was changed."
                )
    return files
