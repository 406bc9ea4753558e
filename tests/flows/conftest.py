"""Whole runs of the app: a service thread, a window on a qasync loop, and an orderly end, as in `main`.

A flow fails when Qt warns, when a task of the window fails or is left over, when something logs an error, and
when the service thread does not end.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import qasync
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication

from app.desktop import application
from app.desktop.bridge import ServiceThread
from app.desktop.main_window import MainWindow
from app.desktop.runtime import tasks
from app.desktop.theme.theme import ThemeSource
from app.permissions.approval import Denied
from app.settings import Settings, load_settings, save_settings
from tests.flows.pilot import Pilot

Use = Callable[[Pilot], Awaitable[None]]
LONGEST_S = 100


def pytest_configure(config: pytest.Config) -> None:
    # Qt's offscreen platform says this of windows and menus; it is about that platform alone.
    for what in ("propagateSizeHints", r"raise\(\)", "grabbing the keyboard"):
        config.addinivalue_line("qt_log_ignore", f"This plugin does not support {what}")


@pytest.fixture(autouse=True)
def garbage_of_the_window_is_collected_here() -> Iterator[None]:
    """What a journey leaves behind ends with it."""
    gc.freeze()
    yield
    gc.collect()


@pytest.fixture
def settings() -> Settings:
    """The user's saved settings; `save_settings` again after a change. Without sentence vectors."""
    made = Settings()
    made.embeddings.enabled = False
    made.general.theme = "light"
    save_settings(made)
    return made


@pytest.fixture
def app_run(qapp: QApplication, settings: Settings) -> Iterator[Callable[[Use], None]]:
    """`app_run(use)` starts the app, lets `use(pilot)` drive its window, and ends it; as often as wanted."""
    qapp.setQuitOnLastWindowClosed(False)

    def run(use: Use) -> None:
        with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(qapp)) as runner:
            runner.run(live(use))
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    yield run
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


async def live(use: Use) -> None:
    """One run of the app on the running loop, driven by `use`."""
    application._install_generator_hooks()
    service = ServiceThread()
    service.start()
    window = MainWindow(service, load_settings(), ThemeSource("light"), application._open)
    pilot = Pilot(window)
    # The offscreen platform's screen is smaller than anybody's.
    window.resize(1440, 900)
    window.show()
    window.activateWindow()
    try:
        await asyncio.wait_for(use(pilot), LONGEST_S)
        await _close(pilot)
    except BaseException:
        _give_up(pilot)
        raise
    finally:
        await window.session.close()
        window.hide()
        window.deleteLater()
        pilot.leave()
        await tasks.cancel_all()
        assert await asyncio.to_thread(service.stop), "the service thread did not end"
    pilot.check()


async def _close(pilot: Pilot) -> None:
    """Close the window as its cross does; nothing may ask any more."""
    window = pilot.window
    if not window.ended.is_set():
        window.close()
        await pilot.until(window.ended.is_set, "the window closes")


def _give_up(pilot: Pilot) -> None:
    """After a failure: deny what waits and throw unsaved text away, so that the end does not hang."""
    for question in pilot.window.session.approver.waiting:
        question.answer(Denied())
    if pilot.window.view is not None:
        for note in pilot.notes:
            note.document.discard_changes()


@pytest.fixture
def service_of_another() -> Iterator[ServiceThread]:
    """The service thread of another app."""
    made = ServiceThread()
    made.start()
    yield made
    assert made.stop(), "the other service thread did not end"


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    """A small vault that links to itself."""
    root = tmp_path / "Garden"
    notes = {
        "Tea.md": "---\ntype: concept\n---\n# Tea\n\nA leaf in hot water. See [[Water]] and [[Kettle]].\n",
        "Water.md": "# Water\n\nIt boils at a hundred degrees. #nature\n",
        "Plants/Mint.md": "# Mint\r\n\r\nGrows by itself; good as [[Tea]].\r\n",
        "Plants/Camellia.md": "# Camellia\n\nThe plant behind [[Tea|real tea]].\n\n## Care\nShade. #nature\n",
    }
    return write_vault(root, notes)


def write_vault(root: Path, notes: dict[str, Any]) -> Path:
    """Make a folder of these notes (text, or bytes)."""
    for name, content in notes.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root
