"""The last view mode of each note, saved with the layout of the vault."""

from __future__ import annotations

from pathlib import Path

from app import paths
from app.desktop.notes.editor.mode import ViewMode
from app.desktop.shell.window_state import WindowState

_MAX_NOTES = 500


class ViewModes:
    """The view modes of the notes of a vault; notes without one use the default."""

    def __init__(self, root: Path) -> None:
        folder = paths.vault_data_folder(root)
        self._state = WindowState(folder / "note-modes.json")

    def get(self, path: str, default: ViewMode) -> ViewMode:
        """Return the mode of a note."""
        mode = self._state.mapping("modes").get(path)
        return ViewMode(mode) if mode in set(ViewMode) else default

    def put(self, path: str, mode: ViewMode) -> None:
        """Set the mode of a note."""
        modes = self._state.mapping("modes")
        modes.pop(path, None)
        modes[path] = str(mode)
        for oldest in list(modes)[:-_MAX_NOTES]:
            del modes[oldest]
        self._state.save(modes=modes)
