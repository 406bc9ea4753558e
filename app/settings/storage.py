"""Settings files: damage never prevents startup, never loosens a rule, and is always reported.

The permission rules have a file of their own. While it can't be read, agents ask before everything, under the
last good version of the rules if there is one, and the file is left for the user to repair.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import NoReturn, TypeVar, cast

from pydantic import ValidationError

from app import paths
from app.settings.migration import move_enabled_categories, upgrade
from app.settings.section import GuardedSection, SettingsSection
from app.settings.sections import PermissionSettings, Settings
from app.settings.vault import VaultSettings
from app.storage.files import READ_ERRORS, DurableFile, to_json, write_atomic

log = logging.getLogger(__name__)

_S = TypeVar("_S", bound=SettingsSection)
_G = TypeVar("_G", bound=GuardedSection)

_Raw = dict[str, object]
_PERMISSIONS = "permissions"
_MAX_INVALID_VALUES = 1000
# Dropping an invalid rule would loosen permissions; an invalid number has a safe default.
_PROTECTING = frozenset({"rules", "categories", "callers"})


def settings_file() -> Path:
    """Return the path of the settings file."""
    return paths.config_folder() / "settings.json"


def permissions_file() -> Path:
    """Return the path of the permission rules file."""
    return paths.config_folder() / "permissions.json"


def load_settings() -> Settings:
    """Return the saved settings, converted from an older version if necessary.

    Invalid values are replaced by their defaults, a damaged file by its last good version, and
    `Settings.problems` reports it. Unreadable permission rules are marked by `PermissionSettings.unreadable`.
    """
    file = _settings_file(settings_file(), "The settings")
    raw, problem = file.load()
    _move_permissions(raw, bool(problem) and file.last_good() is None)
    settings, invalid = _valid_part(Settings, raw)
    if invalid:
        moved_to = file.set_aside("some values are invalid").moved_to
        if moved_to is None or moved_to == file.path:
            ending = f"{file.path.name} was not changed."
        else:
            _write(file, settings)
            ending = f"The old file was saved as {moved_to.name}."
        problem = (
            f"{problem} Invalid settings were reset to their defaults: {', '.join(invalid)}. {ending}"
        ).lstrip()
    settings.permissions, rules_problem = _load_guarded(
        PermissionSettings, _settings_file(permissions_file(), "The file of permission rules")
    )
    move_enabled_categories(settings)
    return settings.with_problems(tuple(filter(None, (problem, rules_problem))))


def save_settings(settings: Settings) -> None:
    """Write the settings and the permission rules, each atomically.

    Permission rules that replace an unreadable file are not written until they are changed or accepted.

    Raises:
        OSError: a file can't be written; its old version is kept.
    """
    _save_guarded(settings.permissions, _settings_file(permissions_file(), "The file of permission rules"))
    raw = settings.model_dump(mode="json", exclude={_PERMISSIONS})
    _settings_file(settings_file(), "The settings").save(to_json(raw, indent=2))


def load_vault_settings(folder: Path, *, writable: bool = True) -> tuple[VaultSettings, str]:
    """Return the user's settings for a vault, and a message about invalid values or a missing file, or "".

    Unreadable settings are marked by `VaultSettings.unreadable`.

    Args:
        folder: The vault's data folder.
        writable: Whether this process owns the folder.
    """
    file = _settings_file(folder / "settings.json", "The settings of this vault")
    return _load_guarded(VaultSettings, file, writable=writable)


def save_vault_settings(folder: Path, settings: VaultSettings) -> None:
    """Write the user's settings for a vault atomically.

    Settings that replace an unreadable file are not written until they are changed or accepted.

    Raises:
        OSError: the file can't be written; the old file is kept.
    """
    _save_guarded(settings, _settings_file(folder / "settings.json", "The settings of this vault"))


def _settings_file(file: Path, store: str) -> DurableFile[_Raw]:
    return DurableFile(file, store, _parse, dict, "The defaults apply.")


def _parse(content: bytes) -> _Raw:
    # Infinity and NaN are not valid JSON, and could not be written back.
    raw = json.loads(content, parse_constant=_reject_constant)
    if not isinstance(raw, dict):
        raise TypeError("the file is not a JSON object")
    return raw


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")


def _move_permissions(raw: _Raw, is_damaged: bool) -> None:
    """Move the permission rules from the settings to their own file if there is none yet.

    If the settings file was damaged, an unreadable rules file is written, so that agents ask first.
    """
    rules = raw.pop(_PERMISSIONS, None)
    file = permissions_file()
    if file.exists() or _settings_file(file, "").backup.exists() or (rules is None and not is_damaged):
        return
    try:
        write_atomic(file, to_json("lost with the settings" if is_damaged else rules, indent=2))
    except OSError as error:
        log.warning("%s could not be written: %s", file, error)


def _write(file: DurableFile[_Raw], settings: Settings) -> None:
    try:
        file.save(to_json(settings.model_dump(mode="json", exclude={_PERMISSIONS}), indent=2))
    except OSError as error:
        log.warning("%s could not be written: %s", file.path, error)


def _load_guarded(kind: type[_G], file: DurableFile[_Raw], *, writable: bool = True) -> tuple[_G, str]:
    """Return settings that restrict agents, and a message about invalid values or a missing file, or ""."""
    try:
        raw = _parse(file.path.read_bytes())
    except FileNotFoundError:
        return _without_file(kind, file)
    except READ_ERRORS:
        return _fallback(kind, file), ""
    settings, invalid = _valid_part(kind, raw)
    if any(name.split(".")[0] in _PROTECTING for name in invalid):
        return _fallback(kind, file), ""
    if invalid:
        return settings, f"{file.store} has invalid values: {', '.join(invalid)}."
    # The content is valid, even if the user edited the file by hand.
    file.load(writable=writable)
    return settings, ""


def _without_file(kind: type[_G], file: DurableFile[_Raw]) -> tuple[_G, str]:
    last_good = file.last_good()
    if last_good is None:
        return (_fallback(kind, file), "") if file.backup.exists() else (kind(), "")
    settings, _ = _valid_part(kind, last_good)
    return settings, f"{file.store} is missing ({file.path.name}). The last good version is in effect."


def _fallback(kind: type[_G], file: DurableFile[_Raw]) -> _G:
    settings, _ = _valid_part(kind, file.last_good() or {})
    settings.mark_unreadable(str(file.path))
    log.warning("%s can't be read: %s", file.store, file.path)
    return settings


def _save_guarded(settings: GuardedSection, file: DurableFile[_Raw]) -> None:
    if settings.is_unreadable:
        return
    settings.accept()
    try:
        _parse(file.path.read_bytes())
    except FileNotFoundError:
        pass
    except READ_ERRORS:
        file.set_aside("it was replaced")
    file.save(to_json(settings.model_dump(mode="json"), indent=2))


def _valid_part(kind: type[_S], raw: _Raw) -> tuple[_S, list[str]]:
    """Return the settings without invalid values, and the names of those values."""
    upgrade(kind, raw)
    invalid: list[str] = []
    for _ in range(_MAX_INVALID_VALUES):
        try:
            return kind.model_validate(raw), invalid
        except ValidationError as error:
            name = _drop_value(raw, error.errors()[0]["loc"])
            if name not in invalid:
                invalid.append(name)
    return kind(), [*invalid, "all others"]


def _drop_value(raw: _Raw, location: tuple[int | str, ...]) -> str:
    """Drop the value at `location` and return its name.

    A list entry is dropped as a whole: a partial entry could allow more.
    """
    parent: object = raw
    for depth, key in enumerate(location):
        if isinstance(parent, dict) and key not in parent and depth:
            return _drop_value(raw, location[:depth])
        child = _child(parent, key)
        if isinstance(parent, list) or depth == len(location) - 1 or not isinstance(child, dict | list):
            if isinstance(parent, list):
                del parent[cast("int", key)]
            elif isinstance(parent, dict):
                parent.pop(key, None)
            return ".".join(str(part) for part in location[: depth + 1])
        parent = child
    raw.clear()
    return "all"


def _child(parent: object, key: int | str) -> object:
    if isinstance(parent, dict):
        return parent.get(key)
    if isinstance(parent, list) and isinstance(key, int) and key < len(parent):
        return parent[key]
    return None
