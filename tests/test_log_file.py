"""The log file is private and limited in size."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app import paths
from app.log_file import log_to_file


@contextmanager
def no_handlers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[logging.Handler]]:
    """Remove the handlers of the root logger for a while."""
    handlers: list[logging.Handler] = []
    with monkeypatch.context() as patch:
        patch.setattr(logging.getLogger(), "handlers", handlers)
        yield handlers
    for handler in handlers:
        handler.close()


def test_the_log_file_and_its_successor_are_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRIPTORIUM_LOGS", str(tmp_path))
    file = paths.log_folder() / "test.log"
    with no_handlers(monkeypatch) as handlers:
        for _ in range(2):
            log_to_file(file.name, logging.NullHandler(), max_bytes=200, backups=1)
        assert len(handlers) == 1 and not file.exists()
        for number in range(5):
            logging.getLogger("app.test").warning("%d %s", number, "x" * 100)
    assert "4 xxx" in file.read_text()
    files = sorted(tmp_path.iterdir())
    assert files == [file, file.with_suffix(".log.1")]
    if os.name == "posix":
        assert {stat.S_IMODE(one.stat().st_mode) for one in files} == {0o600}


def test_another_handler_is_used_if_the_folder_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    fallback = logging.NullHandler()
    with no_handlers(monkeypatch) as handlers:
        monkeypatch.setattr(os, "access", lambda *_: False)
        log_to_file("test.log", fallback, max_bytes=200, backups=1)
        assert handlers == [fallback]
