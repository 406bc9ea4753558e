"""Paths of the user's configuration, data, cache and logs, and of the shipped resources."""

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
CACHE_VARIABLE = "SCRIPTORIUM_CACHE"  # the environment variable that names the cache folder


def _create_private(path: Path) -> Path:
    """Create a private folder; if that fails, the error appears when the folder is used."""
    with suppress(OSError):
        make_private_folder(path)
    return path


def _folder(variable: str, default: str) -> Path:
    """Return the folder named by `variable`, else the platform's, created privately if missing."""
    chosen = os.environ.get(variable)
    path = Path(chosen or default)
    # A folder that the user chose may have other uses, so it keeps its mode.
    return path if chosen and path.is_dir() else _create_private(path)


def config_folder() -> Path:
    """Return the settings folder: `SCRIPTORIUM_CONFIG` if set, else the platform's."""
    return _folder("SCRIPTORIUM_CONFIG", platformdirs.user_config_dir(APP_NAME, appauthor=False))


def data_folder() -> Path:
    """Return the data folder: `SCRIPTORIUM_DATA` if set, else the platform's.

    It contains original data: audit logs, journals and conversations.
    """
    return _folder("SCRIPTORIUM_DATA", platformdirs.user_data_dir(APP_NAME, appauthor=False))


def cache_folder() -> Path:
    """Return the cache folder: `SCRIPTORIUM_CACHE` if set, else the platform's.

    It contains derived data: indexes, layouts and vectors. If it is not writable, return a temporary folder,
    which is removed when the process ends.
    """
    default = default_cache_folder()
    return default if os.access(default, os.W_OK) else _temporary_cache_folder(default)


def default_cache_folder() -> Path:
    """Return the cache folder, even if it is not writable."""
    return _folder(CACHE_VARIABLE, platformdirs.user_cache_dir(APP_NAME, appauthor=False))


@functools.cache
def _temporary_cache_folder(folder: Path) -> Path:
    """Return a temporary folder in place of `folder`: the same one on every call."""
    temporary = tempfile.mkdtemp(prefix=f"{APP_NAME}-")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    return Path(temporary)


def log_folder() -> Path:
    """Return the folder of the log files: `SCRIPTORIUM_LOGS` if set, else the platform's."""
    return _folder("SCRIPTORIUM_LOGS", platformdirs.user_log_dir(APP_NAME, appauthor=False))


def plugin_folder() -> Path:
    """Return the folder for the user's plug-ins (folders or wheels), created if missing."""
    return _create_private(data_folder() / "plugins")


def app_folders() -> tuple[Path, ...]:
    """Return the app's own folders, which tools must not read."""
    return config_folder(), data_folder(), cache_folder(), log_folder()


def vault_id(root: Path) -> str:
    """Return a stable id of a vault's folder: 16 hex digits of the hash of its real path."""
    return hashlib.sha256(os.path.realpath(root).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def vault_data_folder(root: Path) -> Path:
    """Return the data folder of the vault at `root`, outside the vault."""
    return _create_private(data_folder() / "vaults" / vault_id(root))


def audit_head_file(root: Path) -> Path:
    """Return the file with a copy of the audit log's last row, stored apart from the log."""
    return config_folder() / "audit-heads" / vault_id(root)


def vault_cache_folder(root: Path) -> Path:
    """Return the cache folder of the vault at `root`, outside the vault; it may be deleted at any time."""
    return _create_private(cache_folder() / "vaults" / vault_id(root))


def resources_folder() -> Path:
    """Return the folder of resources in a checkout, an installed package or a frozen bundle."""
    if bundle := getattr(sys, "_MEIPASS", None):
        return Path(bundle) / "resources"
    package_folder = Path(__file__).resolve().parent
    installed_resources = package_folder / "resources"
    return installed_resources if installed_resources.is_dir() else package_folder.parent / "resources"
