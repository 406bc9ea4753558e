"""Resolve the paths that callers name, and refuse the locations that no tool may read.

A path points into the vault, where the views decide what is visible, or outside it, where the user is asked
to approve the real folder with all links resolved. Devices, virtual file systems, folders that contain keys,
the app's own data, and hidden files and folders in the vault are always refused.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from app.errors import InvalidPathError, NotFoundError, PermissionDeniedError, StorageError
from app.vault.path import NotePath
from app.vault.safe_fs import Folder, VaultRoot

_SYSTEM_FOLDERS = ("/proc", "/sys", "/dev", "/run/secrets")
_SECRET_FOLDERS = frozenset(
    {".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", "keyrings"}
)
_DRIVE = re.compile(r"[A-Za-z]:")


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    """A location on disk; `real_path` is its absolute path without links.

    `vault_path` is its path in the vault (empty: the vault itself), or None if it is outside.
    `used_as_folder`: access is requested for the location itself; otherwise for its parent folder.
    `requested` is the path as the caller gave it; an error about a hidden location shows no other path.
    """

    real_path: str
    vault_path: str | None
    used_as_folder: bool = False
    requested: str = ""

    def as_folder(self) -> ResolvedPath:
        """Return the same location, used as a folder."""
        return replace(self, used_as_folder=True)

    @property
    def folder(self) -> str:
        """The folder to request access to."""
        return self.real_path if self.used_as_folder else str(PurePath(self.real_path).parent)

    @property
    def name(self) -> str:
        """Its name in its parent folder."""
        return PurePath(self.real_path).name

    @property
    def is_outside(self) -> bool:
        """True if it lies outside the vault."""
        return self.vault_path is None


class FileAccess:
    """Resolves paths for tools, and decides which locations they may read.

    Args:
        root: The vault's folder.
        app_folders: The app's own folders, which no tool may read.
    """

    def __init__(self, root: Path, app_folders: Iterable[Path]) -> None:
        self.root = os.path.realpath(root)
        self._denied_folders = (*_SYSTEM_FOLDERS, *(os.path.realpath(folder) for folder in app_folders))

    def resolve(self, text: str) -> ResolvedPath:
        """Resolve `text`: a path relative to the vault or to `~`, or an absolute path.

        Raises:
            InvalidPathError: the path contains `..`, is not valid here, or is on the network.
            PermissionDeniedError: the path points to a location that no tool may read.
        """
        real_path = os.path.realpath(self._absolute(text))
        self._check(text, real_path)
        try:
            vault_path = PurePath(real_path).relative_to(self.root).as_posix()
        except ValueError:
            return ResolvedPath(real_path, None, requested=text)
        vault_path = "" if vault_path == "." else vault_path
        if vault_path and NotePath.on_disk(vault_path).is_hidden:
            raise PermissionDeniedError(f"{text} belongs to a program's own data.", path=text)
        return ResolvedPath(real_path, vault_path, requested=text)

    def may_enter(self, real_path: str) -> bool:
        """Return whether a walk outside the vault may enter a folder that is neither the vault nor denied.

        `real_path` must not contain links.
        """
        path = PurePath(real_path)
        if any(
            path.is_relative_to(denied) for denied in self._denied_folders
        ) or not _SECRET_FOLDERS.isdisjoint(path.parts):
            return False
        return not path.is_relative_to(self.root)

    def _check(self, text: str, real_path: str) -> None:
        for path in (PurePath(self._absolute(text)), PurePath(real_path)):
            if any(path.is_relative_to(denied) for denied in self._denied_folders):
                raise PermissionDeniedError(f"{text} is a location that no tool may read.", path=text)
            if not _SECRET_FOLDERS.isdisjoint(path.parts):
                raise PermissionDeniedError(
                    f"{text} is in a folder that contains keys, which no tool may read.", path=text
                )

    def _absolute(self, text: str) -> str:
        """Return the absolute path; a relative path is resolved against the vault."""
        if "\0" in text:
            raise InvalidPathError(f"{text!r} can't be read: a path can't contain a null byte.", path=text)
        if any(part == ".." for part in re.split(r"[/\\]", text)):
            raise InvalidPathError(f"{text!r} can't be read: a path may not contain '..'.", path=text)
        if os.name != "nt" and (text.startswith("\\\\") or _DRIVE.match(text)):
            raise InvalidPathError(f"{text!r} is a Windows path, which this system can't read.", path=text)
        if os.name == "nt" and re.match(r"[/\\]{2}", text):
            raise InvalidPathError(f"{text!r} is on the network or a device.", path=text)
        if text == "~" or text.startswith(("~/", "~\\")):
            return str(Path(text).expanduser())
        if PurePath(text).is_absolute():
            return text
        relative = text.strip().strip("/")
        if relative in ("", "."):
            return self.root
        if not os.path.lexists(PurePath(self.root, relative)):
            relative = NotePath.parse(relative.removeprefix("./")).text
        return str(PurePath(self.root, relative))


def open_folder(real_path: str) -> Folder:
    """Open the folder at an absolute path without following links, so that only what was approved is read.

    Raises:
        NotFoundError: the path does not exist or is not a folder.
        InvalidPathError: a part of the path has become a link.
        StorageError: the operating system denies access.
    """
    path = PurePath(real_path)
    try:
        return VaultRoot(Path(path.anchor)).folder(path.relative_to(path.anchor).as_posix().removeprefix("."))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFoundError(f"There is no folder {real_path}.", path=real_path) from error
    except OSError as error:
        raise StorageError(
            f"{real_path} can't be read: {error.strerror or error}.", path=real_path
        ) from error


def is_folder(real_path: str) -> bool:
    """Return whether this path is a folder and not a link to one."""
    try:
        return stat.S_ISDIR(os.lstat(real_path).st_mode)
    except OSError:
        return False
