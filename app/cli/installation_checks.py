"""The doctor's checks of the installation: Python, C core, models, keys, folders, settings, disk space."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from app import __version__, paths
from app.cli.diagnostics import CheckResult, failure, ok, warning
from app.errors import ScriptoriumError
from app.launch import is_frozen
from app.settings import PermissionSettings, Settings, SettingsSection, settings_file
from app.settings.storage import permissions_file

_MIN_PYTHON, _MAX_PYTHON = (3, 11), (3, 14)
_LOW_DISK_BYTES, _MIN_DISK_BYTES = 500 * 1024**2, 50 * 1024**2
_SHARED_MODE_BITS = stat.S_IRWXG | stat.S_IRWXO


def check_installation() -> Iterator[CheckResult]:
    """Yield the results of all checks that do not depend on a vault.

    The app's folders are created if they are missing.
    """
    yield _check_python()
    yield _check_core()
    yield _check_model()
    yield _check_multilingual_model()
    yield _check_key_store()
    hint = "Repair the file; otherwise the app sets it aside and restores the last good version."
    yield _check_settings("settings", settings_file(), Settings, hint)
    hint = "Repair the file; until then everything that agents do needs approval."
    yield _check_settings("permission rules", permissions_file(), PermissionSettings, hint)
    for name, folder in (
        ("configuration", paths.config_folder()),
        ("data", paths.data_folder()),
        ("cache", paths.cache_folder()),
    ):
        yield check_app_folder(f"{name} folder", folder, private=name != "cache")
        yield check_disk_space(f"disk space for {name}", folder)


def _check_python() -> CheckResult:
    version = ".".join(map(str, sys.version_info[:3]))
    message = f"Scriptorium {__version__} on Python {version}"
    if is_frozen():
        return ok("Python", f"{message}, both from the installer")
    if _MIN_PYTHON <= sys.version_info[:2] <= _MAX_PYTHON:
        return ok("Python", message)
    versions = f"{'.'.join(map(str, _MIN_PYTHON))} to {'.'.join(map(str, _MAX_PYTHON))}"
    return warning(
        "Python", message, f"Scriptorium is tested with Python {versions}; install one of these versions."
    )


def _check_core() -> CheckResult:
    try:
        from app.graph import core_bindings  # noqa: F401
    except ImportError as error:
        hint = f"{_repair_hint('Run `python packaging/build_core.py`')}: the graph needs the core."
        return failure("graph core", str(error), hint)
    return ok("graph core", "the C core is available")


def _check_model() -> CheckResult:
    from app.embeddings.model_config import SHIPPED_MODEL
    from app.embeddings.onnx_model import check_files

    try:
        manifest = check_files(paths.resources_folder() / "models" / SHIPPED_MODEL)
    except ScriptoriumError as error:
        hint = f"{_repair_hint('Reinstall the package')}: semantic search needs the model."
        return failure("sentence model", error.message, hint)
    return ok("sentence model", f"{manifest['name']}, all file hashes match")


def _check_multilingual_model() -> CheckResult:
    from app.embeddings import multilingual
    from app.embeddings.model_config import MULTILINGUAL, model_folder
    from app.embeddings.onnx_model import check_files

    state = multilingual.state()
    if state == "convertible":
        return ok("multilingual model", "installed; converted when it is chosen in the settings")
    if state == "missing":
        # The model is optional; an English vault does not need it.
        return ok("multilingual model", multilingual.installation_instructions())
    try:
        manifest = check_files(model_folder(MULTILINGUAL))
    except ScriptoriumError as error:
        repair = _repair_hint("Run `python3 packaging/start.py --multilingual`")
        hint = f"{repair}; the English model works without it."
        return failure("multilingual model", error.message, hint)
    return ok("multilingual model", f"{manifest['name']}, all file hashes match")


def _repair_hint(from_source: str) -> str:
    """Return the advice for a damaged installation.

    An app from the installer has no Python to run scripts with, so the advice is to run the installer again.
    """
    return "Run the installer for this version again" if is_frozen() else from_source


def _check_key_store() -> CheckResult:
    from app.agent.credentials import CredentialStore

    if CredentialStore().is_persistent:
        return ok("key store", "the system stores API keys")
    hint = "Start the system's key store (on Linux a Secret Service, such as gnome-keyring or KWallet)."
    return warning("key store", "API keys are lost when the app closes", hint)


def _check_settings(name: str, file: Path, model: type[SettingsSection], hint: str) -> CheckResult:
    try:
        model.model_validate_json(file.read_text("utf-8"))
    except FileNotFoundError:
        return ok(name, "none saved; the defaults apply")
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        return failure(name, f"{file} can't be read: {str(error).splitlines()[0]}", hint)
    return ok(name, str(file))


def check_app_folder(name: str, folder: Path, *, private: bool) -> CheckResult:
    """Check that an app folder is readable and writable and, if `private`, inaccessible to other users."""
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return failure(name, f"{folder} can't be written", f"Grant yourself access: chmod u+rwx '{folder}'")
    if private and sys.platform != "win32" and folder.stat().st_mode & _SHARED_MODE_BITS:
        message = f"other users of this machine can read {folder}"
        return warning(name, message, f"Remove their access: chmod go-rwx '{folder}'")
    return ok(name, str(folder))


def check_disk_space(name: str, folder: Path) -> CheckResult:
    """Check the free space on the disk that contains a folder."""
    free = shutil.disk_usage(folder).free
    message = f"{free / 1024**3:,.1f} GiB free at {folder}"
    if free < _MIN_DISK_BYTES:
        return failure(name, message, "Free up space: nothing can be saved safely on a full disk.")
    if free < _LOW_DISK_BYTES:
        return warning(name, message, "Free up space before the disk is full.")
    return ok(name, message)
