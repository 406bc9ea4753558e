"""Which vault a command is about: the one named, the one around the working directory, or the last opened."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from app import paths
from app.errors import VaultLostError
from app.settings.recent import RecentVaults

VAULT_VARIABLE = "SCRIPTORIUM_VAULT"


@dataclass(frozen=True, slots=True)
class VaultLocation:
    """A vault's folder, and why it is this one, as it is told to the user."""

    root: Path
    reason: str


def locate_vault(named: str | None = None) -> VaultLocation:
    """The vault that is meant, by `--vault`, the environment, the working directory, or as the last opened.

    Raises:
        VaultLostError: none of these names one, or the one that is named is no folder.
    """
    if named is not None:
        return _location_from(named, "--vault")
    if variable := os.environ.get(VAULT_VARIABLE):
        return _location_from(variable, VAULT_VARIABLE)
    here = Path.cwd()
    around = next((folder for folder in (here, *here.parents) if is_known_vault(folder)), None)
    if around is not None:
        return VaultLocation(around, "around the working directory")
    for recent in RecentVaults().list_vaults():
        if recent.exists:
            return VaultLocation(Path(recent.path), "the last one opened")
    raise VaultLostError(
        f"No vault: name one with --vault FOLDER or {VAULT_VARIABLE}, or go into one that was opened before."
    )


def is_known_vault(folder: Path) -> bool:
    """Whether the app had this folder open as a vault before; makes nothing."""
    return (paths.data_folder() / "vaults" / paths.vault_id(folder)).is_dir()


def _location_from(text: str, by: str) -> VaultLocation:
    root = Path(text).expanduser().resolve()
    if not root.is_dir():
        raise VaultLostError(f"{by} names {text}, and there is no such folder.", path=text)
    return VaultLocation(root, f"by {by}")
