"""Start of the desktop app from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QProcess

from app.desktop import application


@pytest.mark.parametrize("read_only", [False, True])
def test_another_folder_opens_with_the_same_access(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, read_only: bool
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(QProcess, "startDetached", lambda _, arguments: started.append(arguments))
    application._open_in_new_process(tmp_path, read_only=read_only)
    words = started[0][started[0].index("open") + 1 :]
    options = application._options(words)
    assert (options.folders, options.read_only) == ([tmp_path], read_only)
