"""Renames that never overwrite and atomic swaps of two names, as far as the system supports them.

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


def swap(first: Folder, name: str, second: Folder, other: str) -> bool:
    """Exchange two names atomically; return False if the system or file system can't.

    Raises:
        OSError: the operating system reports an error (FileNotFoundError if one of them is gone).
    """
    return first.platform.swap and _rename(first, name, second, other, _RENAME_SWAP)


def rename_new(source: Folder, name: str, target: Folder, new: str) -> None:
    """Give a file a free name, atomically if the system supports it.

    Raises:
        FileExistsError: something has the new name; nothing happened.
        OSError: the operating system reports an error.
    """
    if source.platform.exclusive and _rename(source, name, target, new, _RENAME_EXCLUSIVE):
        return
    source_name, target_name = source.at(name), target.at(new)
    if os.name == "nt":
        # A rename never overwrites there.
        Path(source_name).rename(target_name)
        return
    try:
        os.link(source_name, target_name, src_dir_fd=source.fd, dst_dir_fd=target.fd, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        # No hard links (FAT): check, then rename. The commit verifies the moved file.
        if target.lstat(new) is not None:
            raise FileExistsError(errno.EEXIST, "Something has that name", new) from None
        os.rename(source_name, target_name, src_dir_fd=source.fd, dst_dir_fd=target.fd)
    else:
        source.remove(name)


def rename_case(source: Folder, name: str, target: Folder, new: str) -> None:
    """Change only the case or the Unicode form of a name, on any kind of file system.

    Raises:
        FileExistsError: another file has the new name; nothing happened.
    """
    # Found by its name but not listed under it: the file system treats both as the same name.
    if target.lstat(new) is not None and new not in target.names():
        os.rename(source.at(name), target.at(new), src_dir_fd=source.fd, dst_dir_fd=target.fd)
    else:
        rename_new(source, name, target, new)


def replace(folder: Folder, name: str, target: str) -> None:
    """Replace `target` with the file `name` atomically."""
    os.replace(folder.at(name), folder.at(target), src_dir_fd=folder.fd, dst_dir_fd=folder.fd)


def _rename(source: Folder, name: str, target: Folder, new: str, flag: int) -> bool:
    call = _native()
    if call is None:
        return False
    source_name, target_name = os.fsencode(source.at(name)), os.fsencode(target.at(new))
    from_fd = _AT_FDCWD if source.fd is None else source.fd
    to_fd = _AT_FDCWD if target.fd is None else target.fd
    if call(from_fd, source_name, to_fd, target_name, flag) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED_ERRORS:
        return False
    raise OSError(number, os.strerror(number), name, None, new)


@cache
def _native() -> Callable[[int, bytes, int, bytes, int], int] | None:
    symbol = {"linux": "renameat2", "darwin": "renameatx_np"}.get(sys.platform)
    function = getattr(ctypes.CDLL(None, use_errno=True), symbol, None) if symbol else None
    if function is not None:
        function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
        function.restype = ctypes.c_int
    return function
