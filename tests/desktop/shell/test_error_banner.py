"""Failed tasks become sentences for the user."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.desktop.runtime.tasks import TaskFailure
from app.desktop.shell.banners import Banners
from app.desktop.shell.error_banner import ErrorBanner
from app.desktop.theme.theme import ThemeSource
from app.errors import StorageError


def test_a_failure_names_the_action_and_the_problem(qtbot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    banner = ErrorBanner(Banners(ThemeSource("light"), window), window)
    known = TaskFailure("save the note", StorageError("The disk is full."))
    assert banner.describe(known) == "Could not save the note. The disk is full."
    unknown = TaskFailure("save the note", OSError("no space"))
    assert banner.describe(unknown).startswith("Could not save the note. no space (OSError). No file ")
    wordless = TaskFailure("save the note", TimeoutError())
    assert banner.describe(wordless).startswith("Could not save the note. TimeoutError. No file ")
