"""Where things live: configuration, data, cache and logs of the user, and the shipped resources."""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import platformdirs

from app.storage.private import make_private_folder

APP_NAME = "scriptorium"
CACHE_VARIABLE = "SCRIPTORIUM_CACHE"  # the variable of the environment that names the cache


def _made(path: Path) -> Path:
    """Make a folder for the user alone; one that the disk refuses is missing for its readers and writers."""
    with suppress(OSError):
        make_private_folder(path)
    return path


def _folder(variable: str, default: str) -> Path:
    """Return the folder that `variable` names, else the platform's; made if missing, for the user alone."""
    named = os.environ.get(variable)
    path = Path(named or default)
    # A folder that the user names may serve others, too: it keeps its mode.
    return path if named and path.is_dir() else _made(path)


def config_folder() -> Path:
    """Settings. `SCRIPTORIUM_CONFIG` overrides it."""
    return _folder("SCRIPTORIUM_CONFIG", platformdirs.user_config_dir(APP_NAME, appauthor=False))


def data_folder() -> Path:
    """What cannot be derived: audit logs, journals, conversations. `SCRIPTORIUM_DATA` overrides it."""
    return _folder("SCRIPTORIUM_DATA", platformdirs.user_data_dir(APP_NAME, appauthor=False))


def cache_folder() -> Path:
    """What can be made again: indexes, layouts, vectors. `SCRIPTORIUM_CACHE` overrides it.

    Where it can't be written, a temporary folder that ends with the process.
    """
    usual = usual_cache_folder()
    return usual if os.access(usual, os.W_OK) else _temporary_instead_of(usual)


def usual_cache_folder() -> Path:
    """Return the folder of the cache, whether it can be written or not."""
    return _folder(CACHE_VARIABLE, platformdirs.user_cache_dir(APP_NAME, appauthor=False))


@functools.cache
def _temporary_instead_of(folder: Path) -> Path:
    made = tempfile.mkdtemp(prefix=f"{APP_NAME}-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


def log_folder() -> Path:
    """Log files. `SCRIPTORIUM_LOGS` overrides it."""
    return _folder("SCRIPTORIUM_LOGS", platformdirs.user_log_dir(APP_NAME, appauthor=False))


def plugin_folder() -> Path:
    """Plug-ins that the user put there, each a folder or a wheel; made if missing."""
    return _made(data_folder() / "plugins")


def app_folders() -> tuple[Path, ...]:
    """Return the app's own folders: what is in them is no tool's to read."""
    return config_folder(), data_folder(), cache_folder(), log_folder()


def vault_id(root: Path) -> str:
    """Return a stable id of a vault's folder: 16 hex digits of the hash of its real path."""
    return hashlib.sha256(os.path.realpath(root).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def vault_data_folder(root: Path) -> Path:
    """Return the folder of the data of the vault at `root`, outside the vault."""
    return _made(data_folder() / "vaults" / vault_id(root))


def audit_head_file(root: Path) -> Path:
    """Where the last row of a vault's audit log is kept a second time: not beside the log."""
    return config_folder() / "audit-heads" / vault_id(root)


def vault_cache_folder(root: Path) -> Path:
    """The folder of the cache of the vault at `root`, outside the vault; may be deleted at any moment."""
    return _made(cache_folder() / "vaults" / vault_id(root))


def resources_folder() -> Path:
    """Return the shipped resources: in a checkout, in an installed package, or in a frozen bundle."""
    if frozen := getattr(sys, "_MEIPASS", None):
        return Path(frozen) / "resources"
    here = Path(__file__).resolve().parent
    installed = here / "resources"
    return installed if installed.is_dir() else here.parent / "resources"
