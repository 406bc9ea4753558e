"""Fixtures for the desktop's tests: a coroutine runs on the window's loop, as in the app."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
import qasync
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import QApplication

from app.desktop.bridge import ServiceThread
from app.desktop.runtime import tasks

TIMEOUT_S = 250


def pytest_configure(config: pytest.Config) -> None:
    # Qt's offscreen platform logs this for every top-level window; it concerns that platform only.
    config.addinivalue_line("qt_log_ignore", "This plugin does not support propagateSizeHints")


@pytest.fixture(autouse=True)
def garbage_of_the_window_is_collected_here() -> Iterator[None]:
    """Collect the garbage of a window test at its end, and restore the look of the application."""
    gc.freeze()
    app = QApplication.instance()
    before = _look(app) if isinstance(app, QApplication) else None
    yield
    # A leftover widget of a test must not receive themes or events in the next one. Qt deletes a child, such
    # as the list of a combo box, with its parent.
    for widget in QApplication.topLevelWidgets():
        if widget.parent() is None:
            widget.hide()
            widget.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    if isinstance(app, QApplication) and before is not None and before != _look(app):
        font, palette, sheet = before
        app.setStyleSheet("")
        app.setFont(font)
        app.setPalette(palette)
        app.setStyleSheet(sheet)


def _look(app: QApplication) -> tuple[QFont, QPalette, str]:
    return app.font(), app.palette(), app.styleSheet()


@pytest.fixture
def gui(qapp: QApplication) -> Iterator[Callable[[Coroutine[Any, Any, Any]], Any]]:
    """Return a function that runs a coroutine on a qasync loop, ends its tasks, and returns its result."""
    qapp.setQuitOnLastWindowClosed(False)

    async def run_to_end(coro: Coroutine[Any, Any, Any]) -> Any:
        try:
            return await asyncio.wait_for(coro, TIMEOUT_S)
        finally:
            await tasks.cancel_all()

    def run(coro: Coroutine[Any, Any, Any]) -> Any:
        with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(qapp)) as runner:
            return runner.run(run_to_end(coro))

    yield run
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def service() -> Iterator[ServiceThread]:
    """A running service thread."""
    thread = ServiceThread()
    thread.start()
    yield thread
    assert thread.stop(), "the service thread did not end"


async def until(condition: Callable[[], object], seconds: float = 200.0) -> None:
    """Wait, yielding to the loop, until `condition()`; fail after `seconds`."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, "the condition did not become true"
        await asyncio.sleep(0.005)


@pytest.fixture
def wait_until() -> Callable[..., Coroutine[Any, Any, None]]:
    """Return a coroutine function for use under `gui`: `await wait_until(lambda: …)`."""
    return until
