"""An editor in a window, for the tests of the live editor."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtTest import QTest

from app.desktop.notes.editor import live_view
from app.desktop.notes.editor.drawings import DrawingCache
from app.desktop.notes.editor.live_editor import LiveEditor
from app.desktop.theme.theme import ThemeSource


@pytest.fixture(autouse=True)
def empty_drawing_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the drawings of other tests: a drawing in the cache is not requested."""
    monkeypatch.setattr(live_view, "_SHARED_CACHE", DrawingCache())


@pytest.fixture
def make_editor(qtbot) -> Callable[..., LiveEditor]:
    """Return a function that shows and focuses an editor with a text: `make_editor(text)`."""

    def make(text: str = "", width: int = 800, height: int = 700) -> LiveEditor:
        editor = LiveEditor(ThemeSource("light"))
        qtbot.addWidget(editor)
        editor.resize(width, height)
        editor.load(text)
        editor.show()
        QTest.qWaitForWindowExposed(editor)
        editor.activateWindow()
        editor.setFocus()
        qtbot.waitUntil(editor.hasFocus)
        return editor

    return make
