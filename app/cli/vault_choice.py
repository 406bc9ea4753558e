"""Which vault a command is about: the one named, the one around the working directory, or the last opened."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from app import paths
from app.errors import VaultLostError
from app.settings.recent import RecentVaults

VARIABLE = "SCRIPTORIUM_VAULT"


@dataclass(frozen=True, slots=True)
class Choice:
    """A vault's folder, and why it is this one, as it is told to the user."""

    root: Path
    reason: str


def choose_vault(named: str | None = None) -> Choice:
    """The vault that is meant, by `--vault`, the environment, the working directory, or as the last opened.

    Raises:
        VaultLostError: none of these names one, or the one that is named is no folder.
    """
    if named is not None:
        return _named(named, "--vault")
    if variable := os.environ.get(VARIABLE):
        return _named(variable, VARIABLE)
    here = Path.cwd()
    around = next((folder for folder in (here, *here.parents) if is_known(folder)), None)
    if around is not None:
        return Choice(around, "around the working directory")
    for recent in RecentVaults().all():
        if recent.exists:
            return Choice(Path(recent.path), "the last one opened")
    raise VaultLostError(
        f"No vault: name one with --vault FOLDER or {VARIABLE}, or go into one that was opened before."
    )


def is_known(folder: Path) -> bool:
    """Whether the app had this folder open as a vault before; makes nothing."""
    return (paths.data_folder() / "vaults" / paths.vault_id(folder)).is_dir()


def _named(text: str, by: str) -> Choice:
    root = Path(text).expanduser().resolve()
    if not root.is_dir():
        raise VaultLostError(f"{by} names {text}, and there is no such folder.", path=text)
    return Choice(root, f"by {by}")
