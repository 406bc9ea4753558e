"""The vault for a command: the named one, the one containing the working directory, or the last opened."""

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
    """A vault's folder, and the reason for its choice as shown to the user."""

    root: Path
    reason: str


def locate_vault(named_folder: str | None = None) -> VaultLocation:
    """Return the vault from `--vault`, the environment or the working directory, or the last one opened.

    Raises:
        VaultLostError: No vault was found, or the named one is not a folder.
    """
    if named_folder is not None:
        return _location_from(named_folder, "--vault")
    if variable := os.environ.get(VAULT_VARIABLE):
        return _location_from(variable, VAULT_VARIABLE)
    working_directory = Path.cwd()
    enclosing_vault = next(
        (folder for folder in (working_directory, *working_directory.parents) if is_known_vault(folder)), None
    )
    if enclosing_vault is not None:
        return VaultLocation(enclosing_vault, "contains the working directory")
    for recent in RecentVaults().list_vaults():
        if recent.exists:
            return VaultLocation(Path(recent.path), "the last one opened")
    raise VaultLostError(
        f"No vault was found. Specify one with --vault FOLDER or {VAULT_VARIABLE}, or change to the folder "
        "of a vault that you have opened before."
    )


def is_known_vault(folder: Path) -> bool:
    """Return whether the app has opened this folder as a vault before; its data folder is not created."""
    return (paths.data_folder() / "vaults" / paths.vault_id(folder)).is_dir()


def _location_from(text: str, source: str) -> VaultLocation:
    root = Path(text).expanduser().resolve()
    if not root.is_dir():
        raise VaultLostError(f"The folder {text} in {source} does not exist.", path=text)
    return VaultLocation(root, f"from {source}")
