"""The saved window state: the window's geometry, and each vault's layout and tabs."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from app import paths
from app.storage.files import to_json, write_atomic

log = logging.getLogger(__name__)


class WindowState:
    """Named values in a small JSON file; a missing or unreadable file counts as empty."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._values: dict[str, Any] = {}
        try:
            values = json.loads(file.read_text("utf-8"))
            self._values = values if isinstance(values, dict) else {}
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            log.warning("%s could not be read, so the window starts with defaults: %s", file, error)

    @classmethod
    def of_window(cls) -> WindowState:
        """Load the state that applies to every vault."""
        return cls(paths.data_folder() / "window.json")

    @classmethod
    def of_vault(cls, root: Path) -> WindowState:
        """Load the state of the vault at `root`."""
        return cls(paths.vault_data_folder(root) / "window.json")

    def text(self, name: str) -> str:
        """Return the string `name`; empty if it is missing or not a string."""
        value = self._values.get(name, "")
        return value if isinstance(value, str) else ""

    def numbers(self, name: str) -> list[int]:
        """Return the integers in the list `name`; empty if it is missing or not a list."""
        value = self._values.get(name, [])
        return [number for number in value if isinstance(number, int)] if isinstance(value, list) else []

    def mapping(self, name: str) -> dict[str, Any]:
        """Return the mapping `name`; empty if it is missing or not a mapping."""
        value = self._values.get(name, {})
        return value if isinstance(value, dict) else {}

    def save(self, **values: object) -> None:
        """Save `values`; log a failure, since a lost layout is not worth interrupting the user for."""
        self._values.update(values)
        try:
            write_atomic(self._file, to_json(self._values), durable=False)
        except OSError as error:
            log.warning("could not save the window's layout: %s", error)
