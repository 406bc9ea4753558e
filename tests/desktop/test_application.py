"""Start of the desktop app from the command line."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import QProcess

from app.desktop import application
from app.desktop.bridge import ServiceThread
from app.desktop.main_window import MainWindow
from app.desktop.shell.file_open_events import FileOpenEvents
from app.desktop.theme.theme import ThemeSource
from app.settings import Settings
from tests.desktop.open_vault import SHELL_PANELS, open_vault


@pytest.mark.parametrize("read_only", [False, True])
def test_another_folder_opens_with_the_same_access(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, read_only: bool
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(QProcess, "startDetached", lambda _, arguments: started.append(arguments))
    application._open_in_new_process(tmp_path, read_only=read_only)
    words = started[0][started[0].index("open") + 1 :]
    options = application._parse_options(words)
    assert (options.folders, options.read_only) == ([tmp_path], read_only)


@pytest.mark.parametrize("read_only", [False, True])
def test_the_sample_vault_opens_with_the_requested_access(
    gui, qapp, service: ServiceThread, wait_until, monkeypatch: pytest.MonkeyPatch, read_only: bool
) -> None:
    monkeypatch.setattr(application, "_close_on_signals", lambda _: None)
    options = application._parse_options(["--sample", "--read-only"] if read_only else ["--sample"])

    async def main() -> None:
        window = MainWindow(service, Settings(), ThemeSource("light"), open_vault, SHELL_PANELS)
        shown = asyncio.create_task(application._show_window(window, options, FileOpenEvents(qapp)))
        await wait_until(lambda: window.view is not None)
        assert window.session.read_only is read_only
        window.close()
        await shown

    gui(main())
