"""Terminate server programs that outlived a killed app, the next time the app starts.

According to the protocol, a program exits when its input closes. One that doesn't would keep running after
the app was killed. A process is identified by its id and start time, because ids are reused.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from app.storage.files import to_json, write_atomic

log = logging.getLogger(__name__)

_RECORD_PATTERN = "running-*.json"
_TERMINATE_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class _ProcessRecord:
    """A running program and the app that started it."""

    program: int
    program_started: float
    app: int
    app_started: float


@contextmanager
def track_process(folder: Path, pid: int) -> Iterator[None]:
    """Record a running program in `folder` while the context is open, if the record can be written."""
    file = folder / f"running-{pid}.json"
    with suppress(psutil.Error, OSError):
        this_process = psutil.Process()
        record = _ProcessRecord(
            pid, psutil.Process(pid).create_time(), this_process.pid, this_process.create_time()
        )
        write_atomic(file, to_json(asdict(record)), durable=False)
    try:
        yield
    finally:
        with suppress(OSError):
            file.unlink(missing_ok=True)


def end_orphans(folder: Path) -> int:
    """Terminate programs whose app is gone, with their child processes, and return the number of programs.

    Reads the records in the subfolders of `folder`, and deletes those that are unreadable or no longer
    needed. This can take a few seconds per program: call it in a thread.
    """
    ended_count = 0
    for file in folder.glob(f"*/{_RECORD_PATTERN}"):
        try:
            record = _ProcessRecord(**json.loads(file.read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            record = None
        if record is not None and _find_process(record.app, record.app_started) is not None:
            continue  # this app is still running, with another vault
        if (
            record is not None
            and (program := _find_process(record.program, record.program_started)) is not None
        ):
            _end_process(program)
            ended_count += 1
        with suppress(OSError):
            file.unlink(missing_ok=True)
    if ended_count:
        log.info("terminated %d programs that outlived the app", ended_count)
    return ended_count


def _find_process(pid: int, started: float) -> psutil.Process | None:
    """Return the process with this id and start time, or None."""
    try:
        process = psutil.Process(pid)
        return process if abs(process.create_time() - started) < 1.0 else None
    except psutil.Error:
        return None


def _end_process(program: psutil.Process) -> None:
    processes = [program]
    with suppress(psutil.Error):
        processes += program.children(recursive=True)
    for process in processes:
        with suppress(psutil.Error):
            process.terminate()
    _, alive = psutil.wait_procs(processes, timeout=_TERMINATE_TIMEOUT_S)
    for process in alive:
        with suppress(psutil.Error):
            process.kill()
