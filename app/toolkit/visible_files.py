"""Find the files of the vault that a command may see."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from app.errors import ScriptoriumError
from app.toolkit.vault_view import VaultView
from app.vault.path import NotePath


@dataclass(frozen=True, slots=True)
class VisibleFiles:
    """The files that a call may see, and the hidden files and folders; paths are relative to the vault.

    `hidden_folders` are dot folders such as `.git`, which may hold old versions of private notes.
    `has_hidden` is true if a file other than a dotfile is hidden from the call.
    """

    visible: tuple[NotePath, ...]
    hidden_files: tuple[str, ...]
    hidden_folders: tuple[str, ...]
    has_hidden: bool


def find_visible_files(root: str, vault: VaultView) -> VisibleFiles:
    """Return the visible and the hidden files of the vault at `root`, except symbolic links.

    Reads every note that may be visible, so call it in a thread.
    """
    visible: list[NotePath] = []
    hidden_files: list[str] = []
    hidden_folders: list[str] = []
    has_hidden = False
    for folder, subfolders, names in os.walk(root):
        prefix = os.path.relpath(folder, root).replace(os.sep, "/")
        prefix = "" if prefix == "." else f"{prefix}/"
        hidden_folders += [f"{prefix}{name}" for name in subfolders if _is_hidden_folder(folder, name)]
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        for name in names:
            if Path(folder, name).is_symlink():
                continue
            path = NotePath.on_disk(f"{prefix}{name}")
            if path.is_hidden:
                hidden_files.append(path.text)
            elif _is_visible(vault, path):
                visible.append(path)
            else:
                hidden_files.append(path.text)
                has_hidden = True
    return VisibleFiles(tuple(visible), tuple(hidden_files), tuple(hidden_folders), has_hidden)


def _is_hidden_folder(folder: str, name: str) -> bool:
    return name.startswith(".") and not Path(folder, name).is_symlink()


def _is_visible(vault: VaultView, path: NotePath) -> bool:
    if not vault.can_see(path):
        return False
    if not path.is_note:
        return True
    try:
        vault.read(path)
    except ScriptoriumError:
        # It is hidden, or it can't be read and may be private.
        return False
    return True
