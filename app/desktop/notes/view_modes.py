"""The view modes that the user has chosen for notes, stored in the app's data folder for the vault."""

from __future__ import annotations

from pathlib import Path

from app import paths
from app.desktop.notes.editor.mode import ViewMode
from app.desktop.shell.window_state import WindowState

_MAX_NOTES = 500


class ViewModes:
    """The view modes of a vault's notes; a note without one has the default.

    Only the most recently set ones are kept.
    """

    def __init__(self, root: Path) -> None:
        folder = paths.vault_data_folder(root)
        self._state = WindowState(folder / "note-modes.json")

    def get(self, path: str, default: ViewMode) -> ViewMode:
        """Return the mode of the note at `path`, or `default`."""
        mode = self._state.mapping("modes").get(path)
        return ViewMode(mode) if mode in set(ViewMode) else default

    def put(self, path: str, mode: ViewMode) -> None:
        """Store the mode of the note at `path`."""
        modes = self._state.mapping("modes")
        modes.pop(path, None)
        modes[path] = str(mode)
        for oldest in list(modes)[:-_MAX_NOTES]:
            del modes[oldest]
        self._state.save(modes=modes)
