"""Complete runs of the app: a service thread, a window on a qasync loop, and an orderly end, as in `main`.

A flow fails if Qt warns, a task of the window fails or is left over, something logs an error, or the service
thread does not end.
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
from app.settings import Settings, load_settings, save_settings
from tests.flows.pilot import Pilot

Use = Callable[[Pilot], Awaitable[None]]
TIMEOUT_S = 250


def pytest_configure(config: pytest.Config) -> None:
    # Qt's offscreen platform logs this for windows and menus; it concerns that platform only.
    for what in ("propagateSizeHints", r"raise\(\)", "grabbing the keyboard"):
        config.addinivalue_line("qt_log_ignore", f"This plugin does not support {what}")


@pytest.fixture(autouse=True)
def garbage_of_the_window_is_collected_here() -> Iterator[None]:
    """Collect the garbage of a flow at its end."""
    gc.freeze()
    yield
    gc.collect()


@pytest.fixture
def settings() -> Settings:
    """The user's saved settings, without sentence vectors; call `save_settings` after a change."""
    made = Settings()
    made.embeddings.enabled = False
    made.general.theme = "light"
    save_settings(made)
    return made


@pytest.fixture
def app_run(qapp: QApplication, settings: Settings) -> Iterator[Callable[[Use], None]]:
    """Return a function that runs the app once and lets `use(pilot)` drive its window."""
    qapp.setQuitOnLastWindowClosed(False)

    def run(use: Use) -> None:
        with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(qapp)) as runner:
            runner.run(live(use))
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    yield run
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


async def live(use: Use) -> None:
    """Run the app once on the running loop, driven by `use`."""
    application._install_generator_hooks()
    service = ServiceThread()
    service.start()
    window = MainWindow(service, load_settings(), ThemeSource("light"), application._open)
    pilot = Pilot(window)
    # The screen of the offscreen platform is smaller than any real one.
    window.resize(1440, 900)
    window.show()
    window.activateWindow()
    try:
        await asyncio.wait_for(use(pilot), TIMEOUT_S)
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
    """Close the window with its close button; no question may appear."""
    window = pilot.window
    if not window.ended.is_set():
        window.close()
        await pilot.until(window.ended.is_set, "the window closes")


def _give_up(pilot: Pilot) -> None:
    """After a failure, deny open requests and discard unsaved text, so that the end does not hang."""
    if pilot.window.view is not None:
        for item in pilot.approvals.waiting:
            pilot.approvals.reject(item.request.id)
        for note in pilot.notes:
            note.document.discard_changes()


@pytest.fixture
def service_of_another() -> Iterator[ServiceThread]:
    """Start the service thread of another app."""
    made = ServiceThread()
    made.start()
    yield made
    assert made.stop(), "the other service thread did not end"


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    """A small vault with links between its notes."""
    root = tmp_path / "Garden"
    notes = {
        "Tea.md": "---\ntype: concept\n---\n# Tea\n\nA leaf in hot water. See [[Water]] and [[Kettle]].\n",
        "Water.md": "# Water\n\nIt boils at a hundred degrees. #nature\n",
        "Plants/Mint.md": "# Mint\r\n\r\nGrows by itself; good as [[Tea]].\r\n",
        "Plants/Camellia.md": "# Camellia\n\nThe plant behind [[Tea|real tea]].\n\n## Care\nShade. #nature\n",
    }
    return write_vault(root, notes)


def write_vault(root: Path, notes: dict[str, Any]) -> Path:
    """Create a folder with these notes (text or bytes)."""
    for name, content in notes.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root
