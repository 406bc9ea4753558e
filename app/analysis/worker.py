"""The worker process: answers one request after the other until the connection is closed.

A request is a function of this package with its arguments. Large arrays are sent in chunks before it,
because pickling one at once would block every other thread of the app.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

NICENESS = 5
_PROGRESS_INTERVAL_S = 0.05
_CHUNK_BYTES = 2 * 2**20

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerRequest:
    """A function to run; arguments of type `ArrayChunks` stand for arrays that were sent before."""

    work: Callable[..., object]
    arguments: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class ArrayChunks:
    """The number of chunks of rows of an array."""

    count: int


@dataclass(frozen=True, slots=True)
class WorkerProgress:
    """The progress: 0 to 1, or -1 if unknown, and a description."""

    share: float
    words: str


@dataclass(frozen=True, slots=True)
class WorkerResult:
    """The result of a request."""

    value: object


@dataclass(frozen=True, slots=True)
class WorkerFailure:
    """The error of a failed request."""

    words: str


def split_array(array: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the array in chunks of some megabytes; a small array in one."""
    if array.nbytes <= _CHUNK_BYTES:
        return [array]
    return np.array_split(array, -(-array.nbytes // _CHUNK_BYTES))


def serve(connection: Connection) -> None:
    """Answer requests until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    waiting: list[NDArray[Any]] = []
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError), connection:
        while True:
            message = connection.recv()
            if isinstance(message, WorkerRequest):
                connection.send(_compute(message, waiting, connection))
                waiting.clear()
            else:
                waiting.append(message)


def _compute(
    question: WorkerRequest, pieces: list[NDArray[Any]], connection: Connection
) -> WorkerResult | WorkerFailure:
    last_report = 0.0

    def report(share: float, words: str) -> None:
        nonlocal last_report
        if time.monotonic() - last_report >= _PROGRESS_INTERVAL_S:
            last_report = time.monotonic()
            connection.send(WorkerProgress(share, words))

    rest = iter(pieces)
    arguments = [
        np.concatenate([next(rest) for _ in range(each.count)]) if isinstance(each, ArrayChunks) else each
        for each in question.arguments
    ]
    try:
        return WorkerResult(question.work(*arguments, report=report))
    except BrokenPipeError:
        raise
    except Exception as error:
        # A library may raise anything for an unusual graph; the caller must receive it.
        log.exception("an analysis failed")
        return WorkerFailure(f"{type(error).__name__}: {error}")
