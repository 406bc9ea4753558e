"""Folders that the desktop sends to the app as events."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.desktop.application import _parse_options
from app.desktop.shell.file_open_events import FileOpenEvents


@pytest.fixture
def events(qapp: QApplication) -> FileOpenEvents:
    new_events = FileOpenEvents(qapp, "darwin")
    yield new_events
    qapp.removeEventFilter(new_events)
    new_events.deleteLater()


def send(path: Path) -> None:
    QApplication.sendEvent(QApplication.instance(), QFileOpenEvent(QUrl.fromLocalFile(str(path))))


def test_a_folder_that_came_before_the_window_is_opened_when_there_is_one(events, tmp_path: Path) -> None:
    opened: list[Path] = []
    send(tmp_path)
    assert events.set_receiver(opened.append) and opened == [tmp_path]
    other = tmp_path / "Other"
    other.mkdir()
    send(other)
    assert opened == [tmp_path, other]
    assert not events.set_receiver(opened.append), "each folder is opened once"


def test_no_event_of_a_widget_reaches_python_where_no_such_event_is_sent(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    received: list[object] = []
    monkeypatch.setattr(
        FileOpenEvents, "eventFilter", lambda self, watched, event: bool(received.append(event))
    )
    events = FileOpenEvents(qapp, "linux")
    QWidget().setWindowTitle("an event")
    assert not received
    events.deleteLater()


def test_files_are_ignored(events, tmp_path: Path) -> None:
    opened: list[Path] = []
    events.set_receiver(opened.append)
    note = tmp_path / "Note.md"
    note.touch()
    send(note)
    send(tmp_path / "gone")
    assert opened == []


def test_a_file_manager_may_name_several_folders() -> None:
    assert _parse_options(["a", "b"]).folders == [Path("a"), Path("b")]
    assert _parse_options([]).folders == []
