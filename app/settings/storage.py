"""Where the settings are kept: read so that damage never stops a start, written in one step."""

from __future__ import annotations

import json
import logging
import os
import tempfile
import time
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from app import paths
from app.settings.section import Section
from app.settings.sections import Settings
from app.settings.vault import VaultSettings

log = logging.getLogger(__name__)

_S = TypeVar("_S", bound=Section)


def settings_file() -> Path:
    """Where the settings are kept."""
    return paths.config_folder() / "settings.json"


def load_settings() -> Settings:
    """The saved settings; a file that can't be read is set aside, and the defaults hold."""
    return _load(Settings, settings_file())


def save_settings(settings: Settings) -> None:
    """Write the settings in one step, so that a crash leaves the old or the new file."""
    _save(settings, settings_file())


def load_vault_settings(folder: Path) -> VaultSettings:
    """What is set for the vault whose data is in `folder`; a file that can't be read is set aside."""
    return _load(VaultSettings, folder / "settings.json")


def save_vault_settings(folder: Path, settings: VaultSettings) -> None:
    """Write the settings of a vault in one step."""
    _save(settings, folder / "settings.json")


def _load(kind: type[_S], file: Path) -> _S:
    try:
        return kind.model_validate_json(file.read_text("utf-8"))
    except FileNotFoundError:
        return kind()
    except (ValidationError, UnicodeDecodeError) as error:
        aside = file.with_suffix(f".damaged-{int(time.time())}.json")
        file.replace(aside)
        log.warning("the settings could not be read and were set aside as %s: %s", aside, error)
        return kind()


def _save(settings: Section, file: Path) -> None:
    text = json.dumps(settings.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".settings-")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    Path(name).replace(file)
