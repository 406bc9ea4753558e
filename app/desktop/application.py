"""The desktop app: the window, its event loop, the service thread, and an orderly shutdown."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import qasync
from PySide6.QtCore import QProcess, QTimer
from PySide6.QtWidgets import QApplication

from app import __version__
from app.desktop.bridge import ServiceThread
from app.desktop.main_window import MainWindow
from app.desktop.runtime import tasks, watchdog
from app.desktop.runtime.gc_scheduler import GcScheduler
from app.desktop.runtime.translation import translate
from app.desktop.shell.file_open_events import FileOpenEvents
from app.desktop.theme.app_icon import app_icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.vault_lifecycle import preload_vault_view
from app.index.memory_release import limit_arenas
from app.launch import APP_ID, is_frozen, own_program
from app.log_file import log_to_file
from app.permissions.approval import Approver
from app.settings import Settings, load_settings

if TYPE_CHECKING:
    from app.workspace import VaultService

log = logging.getLogger(__name__)

_SWITCH_INTERVAL_S = 0.001
_MAX_LOG_BYTES = 2_000_000


def main(arguments: list[str]) -> int:
    """Run the window until it is closed; return the exit status of the process."""
    options = _parse_options(arguments)
    # Without a log folder, the log is shown on the terminal, if there is one.
    log_to_file("scriptorium.log", logging.StreamHandler(), max_bytes=_MAX_LOG_BYTES, backups=3)
    logging.getLogger().setLevel(logging.INFO)
    limit_arenas()
    # Limit how long the GUI thread waits for the interpreter while another thread computes.
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    app = QApplication.instance() or QApplication([sys.argv[0]])
    assert isinstance(app, QApplication)
    app.setApplicationName("Scriptorium")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName(APP_ID)
    app.setQuitOnLastWindowClosed(False)
    open_events = FileOpenEvents(app)
    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(app)) as runner:
        return runner.run(_run_app(app, options, open_events))


def _parse_options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scriptorium", description="Open a vault in the window.")
    parser.add_argument("folders", nargs="*", type=Path, metavar="folder", help="a vault folder")
    parser.add_argument("--sample", action="store_true", help="open your copy of the sample vault")
    parser.add_argument("--read-only", action="store_true", help="open the vault read-only")
    return parser.parse_args(arguments)


async def _run_app(app: QApplication, options: argparse.Namespace, open_events: FileOpenEvents) -> int:
    """Create the window, wait until it is closed, and shut everything down in order."""
    _install_generator_hooks()
    settings = load_settings()
    theme = ThemeSource(settings.general.theme, app, settings.general.zoom)
    theme.apply(app)
    app.setWindowIcon(app_icon(theme.theme))
    theme.changed.connect(lambda new_theme: app.setWindowIcon(app_icon(new_theme)))
    service = ServiceThread()
    service.start()
    gc_scheduler = GcScheduler(app)
    stall_watchdog = watchdog.from_environment(app)
    try:
        window = MainWindow(service, settings, theme, _open)
        quit_connection = app.aboutToQuit.connect(lambda: _end_without_display(window, service))
        try:
            await _show_window(window, options, open_events)
        finally:
            app.aboutToQuit.disconnect(quit_connection)
    finally:
        open_events.set_receiver(None)
        await tasks.cancel_all()
        if not await asyncio.to_thread(service.stop):
            log.error("the service thread did not end in time")
        gc_scheduler.stop()
        if stall_watchdog is not None:
            print(stall_watchdog.stop())
    return 0


async def _show_window(window: MainWindow, options: argparse.Namespace, open_events: FileOpenEvents) -> None:
    """Show `window`, open the requested vault, and wait until the window is closed."""
    try:
        window.show()
        _close_on_signals(window)
        requested = options.folders[0] if options.folders else None
        folder = requested or (window.last_vault() if window.settings.general.reopen_last else None)
        if open_events.set_receiver(window.open_folder):
            pass  # A folder dropped on the app's icon takes precedence.
        elif options.sample:
            window.open_sample(read_only=options.read_only)
        elif folder is not None:
            window.open_folder(folder, read_only=options.read_only, confirmed=requested is None)
        for other_folder in options.folders[1:]:
            _open_in_new_process(other_folder, read_only=options.read_only)
        window.begin_updates()
        # Load the modules of the vault view while the user chooses a vault.
        tasks.start(preload_vault_view(), action=translate("Application", "load the vault view"))
        await window.ended.wait()
    finally:
        await window.session.close()
        window.hide()
        window.deleteLater()


def _end_without_display(window: MainWindow, service: ServiceThread) -> None:
    """Keep unsaved text, close the vault and end the process.

    When the display is lost, Qt exits its event loop even though a window is still open. No coroutine of the
    window runs after that, so the process would keep the vault locked, and Qt must not draw or destroy
    anything.
    """
    log.error("the display was lost: unsaved text is kept as drafts, and the app exits")
    try:
        window.keep_drafts()
    finally:
        client = window.session.client
        if not (service.stop() if client is None else client.finish()):
            log.error("the service thread did not end in time")
        logging.shutdown()
        os._exit(1)


def _open_in_new_process(folder: Path, *, read_only: bool) -> None:
    """Open a folder in a new process: each process has one window with one vault.

    A file manager that opens several folders starts the app only once.
    """
    program, *arguments = (sys.executable,) if is_frozen() else own_program().words
    options = ["--read-only"] if read_only else []
    QProcess.startDetached(program, [*arguments, "open", *options, str(folder.absolute())])


async def _open(root: Path, settings: Settings, approver: Approver, read_only: bool) -> VaultService:
    """Open a vault in the service thread, which imports the core while the window is already visible."""
    from app.workspace import open_vault

    return await open_vault(
        root, settings, approver, read_only=read_only, take_over=not read_only, watch_later=True
    )


def _install_generator_hooks() -> None:
    """Install asyncio's hooks for async generators, without which qasync would not close abandoned ones."""
    loop = asyncio.get_running_loop()
    sys.set_asyncgen_hooks(
        firstiter=loop._asyncgen_firstiter_hook,  # type: ignore[attr-defined]  # noqa: SLF001
        finalizer=loop._asyncgen_finalizer_hook,  # type: ignore[attr-defined]  # noqa: SLF001
    )


def _close_on_signals(window: MainWindow) -> None:
    """Close the window on Ctrl+C and SIGTERM, like its close button."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: QTimer.singleShot(0, window.close))
