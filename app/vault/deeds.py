"""What a commit does on disk, deed by deed: prepare, do, take back, and tell from the disk what is done.

Two kinds of deed are enough. A `Put` gives a name new bytes, a `Rename` gives a file another name
(a move, or a deletion, which is a move to the trash). Each checks the hash of what it touches in the same
moment, and what it displaced is kept until the whole commit is recorded.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from app.errors import ConflictError
from app.vault.containment import Folder, VaultRoot, sync_file
from app.vault.intents import Deed, Put, Rename
from app.vault.path import name_key
from app.vault.rename import rename_case, rename_new, replace, swap

Image = Callable[[str], bytes]

# The system writes what several threads wait for in one go: so many files of a commit are open at a time.
_STAGED_AT_ONCE = 64
_WAITING = 8


@dataclass(frozen=True, slots=True)
class Progress:
    """Whether a deed is done, and whether somebody else has changed the file since it was planned."""

    done: bool
    edited: bool


class Doer:
    """Carries out deeds below the vault's root; `step` is called with a name before each disk step."""

    def __init__(self, root: VaultRoot, step: Callable[[str], None]) -> None:
        self._root = root
        self._step = step

    def make_folder(self, path: str) -> None:
        """Make one folder whose parent exists; nothing happens if it is there."""
        parent, name = split(path)
        with self._root.folder(parent) as folder:
            self._step(f"folder {path}")
            folder.make_folder(name)

    def remove_folder(self, path: str) -> None:
        """Remove a folder if it is empty; a folder that is in use or gone is none of our business."""
        parent, name = split(path)
        try:
            with self._root.folder(parent) as folder:
                self._step(f"remove folder {path}")
                folder.remove_folder(name)
        except (FileNotFoundError, NotADirectoryError):
            return

    def stage(self, put: Put, content: bytes) -> None:
        """Write the new bytes beside their place, complete and on the disk, with the old one's mode."""
        with ExitStack() as opened:
            fd = self._write(put, content, opened)
            self._step(f"stage {put.path}: sync")
            sync_file(fd)

    def stage_all(self, puts: Sequence[Put], contents: Mapping[str, bytes]) -> None:
        """Stage many, with the bytes by their hashes; all are on the disk when this returns."""
        if len(puts) == 1:
            self.stage(puts[0], contents[puts[0].after])
            return
        with ThreadPoolExecutor(_WAITING, "sync") as waiting:
            for start in range(0, len(puts), _STAGED_AT_ONCE):
                some = puts[start : start + _STAGED_AT_ONCE]
                with ExitStack() as opened:
                    fds = [self._write(put, contents[put.after], opened) for put in some]
                    for put in some:
                        self._step(f"stage {put.path}: sync")
                    synced = [waiting.submit(sync_file, fd) for fd in fds]
                    # No file is closed before the last thread is done with it, whatever fails.
                    wait(synced)
                    for each in synced:
                        each.result()

    def _write(self, put: Put, content: bytes, opened: ExitStack) -> int:
        """A new file beside the place of a put with its bytes, not yet on the disk; `opened` closes it."""
        parent, _ = split(put.path)
        with self._root.folder(parent) as folder:
            self._step(f"stage {put.path}: open")
            fd = folder.make_file(put.temp)
        opened.callback(os.close, fd)
        self._step(f"stage {put.path}: write")
        view = memoryview(content)
        while view:
            view = view[os.write(fd, view) :]
        if put.like is not None:
            self._keep_mode(fd, put.like)
        return fd

    def _keep_mode(self, fd: int, like: str) -> None:
        """Give a new file the permissions of another, and its owner where we may."""
        parent, name = split(like)
        with self._root.folder(parent) as folder:
            status = folder.lstat(name)
        if status is None or os.name != "posix":
            return
        mine = os.fstat(fd)
        if (mine.st_uid, mine.st_gid) != (status.st_uid, status.st_gid):
            # Only root may give a file away; the rights are kept in any case.
            with suppress(PermissionError):
                os.fchown(fd, status.st_uid, status.st_gid)
        os.fchmod(fd, stat.S_IMODE(status.st_mode))

    def do(self, deed: Deed) -> None:
        """Carry out one deed.

        Raises:
            ConflictError: the file is not what the deed was planned for; this deed has changed nothing.
            OSError: as the system says.
        """
        if isinstance(deed, Rename):
            self._rename(deed.path, deed.to, deed.hash, same_name=deed.same_name)
            return
        parent, name = split(deed.path)
        with self._root.folder(parent) as folder:
            if deed.before is None:
                self._step(f"put {deed.path}")
                try:
                    rename_new(folder, deed.temp, folder, name)
                except FileExistsError as error:
                    raise conflict(deed.path, None, folder.digest(name)) from error
            else:
                self._exchange(folder, deed.temp, deed.path, deed.before, deed.after)

    def _exchange(self, folder: Folder, temp: str, path: str, old: str, new: str) -> None:
        """Put `temp` (hash `new`) in the place of the file at `path`, which must have the hash `old`."""
        name = split(path)[1]
        if (found := folder.digest(name)) != old:
            raise conflict(path, old, found)
        self._step(f"put {path}")
        try:
            swapped = swap(folder, temp, folder, name)
        except FileNotFoundError as error:
            raise conflict(path, old, None) from error
        if not swapped:
            if (found := folder.digest(name)) != old:
                raise conflict(path, old, found)
            replace(folder, temp, name)
            return
        self._step(f"check {path}")
        if (found := folder.digest(temp)) != old:
            # Somebody saved in the same instant; their text goes back, and the newest if they saved twice.
            swap(folder, temp, folder, name)
            if folder.digest(temp) != new:
                swap(folder, temp, folder, name)
            raise conflict(path, old, found)

    def _rename(self, path: str, to: str, expected: str, *, same_name: bool) -> None:
        (parent, name), (target, new) = split(path), split(to)
        with self._root.folder(parent) as source, self._root.folder(target) as goal:
            if (found := source.digest(name)) != expected:
                raise conflict(path, expected, found)
            self._step(f"rename {path}")
            try:
                (rename_case if same_name else rename_new)(source, name, goal, new)
            except FileExistsError as error:
                raise conflict(to, None, goal.digest(new)) from error
            except FileNotFoundError as error:
                raise conflict(path, expected, None) from error
            self._step(f"check {to}")
            if (found := goal.digest(new)) != expected:
                (rename_case if same_name else rename_new)(goal, new, source, name)
                raise conflict(path, expected, found)

    def undo(self, deed: Deed, image: Image) -> bool:
        """Take a deed back that is done; False if the file was changed since and was left as it is.

        Args:
            deed: the deed.
            image: gives the bytes of a hash, for systems where an update keeps no old file.
        """
        try:
            if isinstance(deed, Rename):
                self._finish_link(deed)
                self._rename(deed.to, deed.path, deed.hash, same_name=deed.same_name)
            else:
                self._unput(deed, image)
        except (ConflictError, FileNotFoundError, NotADirectoryError):
            return False
        return True

    def _unput(self, put: Put, image: Image) -> None:
        parent, name = split(put.path)
        with self._root.folder(parent) as folder:
            if (found := folder.digest(name)) != put.after:
                raise conflict(put.path, put.after, found)
            if put.before is None:
                self._step(f"take back {put.path}")
                folder.remove(put.temp)
                rename_new(folder, name, folder, put.temp)
                if folder.digest(put.temp) != put.after:
                    rename_new(folder, put.temp, folder, name)
                    raise conflict(put.path, put.after, None)
                return
            if folder.digest(put.temp) != put.before:
                folder.remove(put.temp)
                self.stage(Put(put.path, put.temp, put.after, put.before, put.path), image(put.before))
            self._exchange(folder, put.temp, put.path, put.after, put.before)

    def _finish_link(self, deed: Rename) -> None:
        """Where a rename is a link and an unlink, a crash may leave both names: remove the first."""
        (parent, name), (target, new) = split(deed.path), split(deed.to)
        with self._root.folder(parent) as source, self._root.folder(target) as goal:
            first, second = source.lstat(name), goal.lstat(new)
            both = first is not None and second is not None and os.path.samestat(first, second)
            if both and name in source.names() and new in goal.names():
                source.remove(name)

    def finish(self, deed: Deed) -> None:
        """Complete a deed that is done but was cut off in the middle."""
        if isinstance(deed, Rename):
            self._finish_link(deed)

    def progress(self, deed: Deed) -> Progress:
        """What the disk says about a deed of a commit whose temporary files were all complete."""
        return self._renamed(deed) if isinstance(deed, Rename) else self._put(deed)

    def _put(self, put: Put) -> Progress:
        now = self.digest(put.path)
        if now in (put.after, put.before):
            return Progress(done=now == put.after, edited=False)
        return Progress(done=not self.waits(put), edited=True)

    def waits(self, put: Put) -> bool:
        """Whether the new bytes still wait, complete, beside their place."""
        parent, _ = split(put.path)
        return self.digest(f"{parent}/{put.temp}" if parent else put.temp) == put.after

    def _renamed(self, deed: Rename) -> Progress:
        there = self._named(deed.to)
        if there in (deed.hash, deed.final):
            return Progress(done=True, edited=False)
        here = self._named(deed.path)
        if here is None and there is not None:
            return Progress(done=True, edited=True)
        return Progress(done=False, edited=here != deed.hash)

    def _named(self, path: str) -> str | None:
        """The hash of the file that is listed under exactly this name."""
        parent, name = split(path)
        try:
            with self._root.folder(parent) as folder:
                return folder.digest(name) if name in folder.names() else None
        except (FileNotFoundError, NotADirectoryError):
            return None

    def digest(self, path: str) -> str | None:
        """The hash of the file at a path, None if there is none."""
        parent, name = split(path)
        try:
            with self._root.folder(parent) as folder:
                return folder.digest(name)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def drop_all(self, puts: Sequence[Put]) -> None:
        """`drop` many; whatever fails, the others are dropped, and then the first failure is raised."""
        if len(puts) < _STAGED_AT_ONCE:
            for put in puts:
                self.drop(put)
            return
        # Removing a file waits for the disk as well.
        with ThreadPoolExecutor(_WAITING, "drop") as waiting:
            for each in [waiting.submit(self.drop, put) for put in puts]:
                each.result()

    def drop(self, put: Put) -> None:
        """Remove the temporary file of a put that is settled.

        If it holds neither the old nor the new bytes, a program that had the old file open has written to
        it in the meantime: its text is kept as a file of its own.
        """
        parent, name = split(put.path)
        try:
            with self._root.folder(parent) as folder:
                found = folder.digest(put.temp)
                if found is None:
                    return
                self._step(f"drop {put.temp}")
                if found in (put.before, put.after):
                    folder.remove(put.temp)
                else:
                    rename_new(folder, put.temp, folder, free_name(folder.names(), name, " (edited outside)"))
        except (FileNotFoundError, NotADirectoryError):
            return

    def discard(self, put: Put) -> None:
        """Remove a temporary file that never came into use, complete or not."""
        parent, _ = split(put.path)
        try:
            with self._root.folder(parent) as folder:
                self._step(f"discard {put.temp}")
                folder.remove(put.temp)
        except (FileNotFoundError, NotADirectoryError):
            return

    def sync(self, deeds: tuple[Deed, ...]) -> None:
        """Have the names of all these deeds on the disk, each folder once."""
        paths = [deed.path for deed in deeds] + [deed.to for deed in deeds if isinstance(deed, Rename)]
        for parent in dict.fromkeys(split(path)[0] for path in paths):
            try:
                with self._root.folder(parent) as folder:
                    self._step(f"sync {parent or '/'}")
                    folder.sync()
            except (FileNotFoundError, NotADirectoryError):
                continue


def split(path: str) -> tuple[str, str]:
    """The folder (empty for the root) and the last part of a vault path."""
    folder, _, name = path.rpartition("/")
    return folder, name


def conflict(path: str, expected: str | None, found: str | None) -> ConflictError:
    """The error for a file that is not what was expected (None: that nothing is there)."""
    if expected is None:
        message = f"There is already something at {path}."
    elif found is None:
        message = f"{path} is gone."
    else:
        message = f"{path} has changed in the meantime."
    hashes = {"expected_hash": expected, "current_hash": found}
    return ConflictError(f"{message} Nothing was written.", path=path, **hashes)


def free_name(taken: list[str], name: str, mark: str = "") -> str:
    """A name like `name` that none of `taken` has on any system, with a number if need be."""
    keys = {name_key(each) for each in taken}
    stem, dot, suffix = name.rpartition(".")
    stem, suffix = (stem, dot + suffix) if stem else (name, "")
    number = 1
    while True:
        tail = f"{mark}{'' if number == 1 else f' {number}'}{suffix}"
        room = 255 - len(tail.encode("utf-8", "surrogatepass"))
        while len(stem.encode("utf-8", "surrogatepass")) > room:
            stem = stem[:-1]
        if name_key(stem + tail) not in keys:
            return stem + tail
        number += 1

