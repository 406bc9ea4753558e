"""Renames that never overwrite and atomic swaps of two names, where the system supports them.

A swap makes an update safe against a program that saves in the same instant: the old file survives under the
other name, where it can be compared and swapped back. Linux has `renameat2`, macOS `renameatx_np`; Python
exposes neither, hence ctypes. File systems without support get the next best operation.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from app.vault.safe_fs import Folder

_UNSUPPORTED_ERRORS = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
_AT_FDCWD = -2 if sys.platform == "darwin" else -100
_RENAME_EXCLUSIVE = 4 if sys.platform == "darwin" else 1
_RENAME_SWAP = 2


def swap(first: Folder, first_name: str, second: Folder, second_name: str) -> bool:
    """Exchange two names atomically; return False if the system or file system can't.

    Raises:
        OSError: The operating system reports an error (FileNotFoundError if one of them is gone).
    """
    return first.platform.can_swap and _rename(first, first_name, second, second_name, _RENAME_SWAP)


def rename_new(source: Folder, name: str, target: Folder, new_name: str) -> None:
    """Rename a file to an unused name, atomically if the system supports it.

    Raises:
        FileExistsError: The new name is already in use; nothing was changed.
        OSError: The operating system reports an error.
    """
    if source.platform.can_rename_exclusively and _rename(source, name, target, new_name, _RENAME_EXCLUSIVE):
        return
    source_name, target_name = source.at(name), target.at(new_name)
    if os.name == "nt":
        # On Windows, a rename never overwrites.
        Path(source_name).rename(target_name)
        return
    try:
        os.link(source_name, target_name, src_dir_fd=source.fd, dst_dir_fd=target.fd, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        # No hard links (FAT): check, then rename. The commit verifies the moved file.
        if target.lstat(new_name) is not None:
            raise FileExistsError(errno.EEXIST, "The name is already in use", new_name) from None
        os.rename(source_name, target_name, src_dir_fd=source.fd, dst_dir_fd=target.fd)
    else:
        source.remove(name)


def rename_case(source: Folder, name: str, target: Folder, new_name: str) -> None:
    """Change only the case or the Unicode form of a name, on any kind of file system.

    Raises:
        FileExistsError: Another file has the new name; nothing was changed.
        OSError: The operating system reports an error.
    """
    # Found by its name but not listed under it: the file system treats both as the same name.
    if target.lstat(new_name) is not None and new_name not in target.names():
        os.rename(source.at(name), target.at(new_name), src_dir_fd=source.fd, dst_dir_fd=target.fd)
    else:
        rename_new(source, name, target, new_name)


def replace(folder: Folder, name: str, target: str) -> None:
    """Replace `target` with the file `name` atomically."""
    os.replace(folder.at(name), folder.at(target), src_dir_fd=folder.fd, dst_dir_fd=folder.fd)


def _rename(source: Folder, name: str, target: Folder, new_name: str, flag: int) -> bool:
    rename_function = _native_rename()
    if rename_function is None:
        return False
    source_name, target_name = os.fsencode(source.at(name)), os.fsencode(target.at(new_name))
    from_fd = _AT_FDCWD if source.fd is None else source.fd
    to_fd = _AT_FDCWD if target.fd is None else target.fd
    if rename_function(from_fd, source_name, to_fd, target_name, flag) == 0:
        return True
    error_code = ctypes.get_errno()
    if error_code in _UNSUPPORTED_ERRORS:
        return False
    raise OSError(error_code, os.strerror(error_code), name, None, new_name)


@cache
def _native_rename() -> Callable[[int, bytes, int, bytes, int], int] | None:
    symbol = {"linux": "renameat2", "darwin": "renameatx_np"}.get(sys.platform)
    function = getattr(ctypes.CDLL(None, use_errno=True), symbol, None) if symbol else None
    if function is not None:
        function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
        function.restype = ctypes.c_int
    return function
