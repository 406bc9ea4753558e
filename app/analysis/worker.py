"""The process that computes: it takes one question after the other until nobody is at the other end.

A question is a function of this package with its arguments. Arrays that are large come in pieces before it,
because whoever packs one in a single go holds up every other thread of the app meanwhile.
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
    """What is to be computed; arguments that are `ArrayChunks` stand for arrays that came before."""

    work: Callable[..., object]
    arguments: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class ArrayChunks:
    """An array that comes in so many pieces of rows."""

    count: int


@dataclass(frozen=True, slots=True)
class WorkerProgress:
    """How far it is: 0 to 1, or -1 where that cannot be told; and in words."""

    share: float
    words: str


@dataclass(frozen=True, slots=True)
class WorkerResult:
    """What came of a question."""

    value: object


@dataclass(frozen=True, slots=True)
class WorkerFailure:
    """Why nothing came of it."""

    words: str


def split_array(array: NDArray[Any]) -> list[NDArray[Any]]:
    """The array as pieces of some megabytes; the array itself alone when it is small."""
    if array.nbytes <= _CHUNK_BYTES:
        return [array]
    return np.array_split(array, -(-array.nbytes // _CHUNK_BYTES))


def serve(connection: Connection) -> None:
    """Answer questions until the other end is closed."""
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
    told = 0.0

    def report(share: float, words: str) -> None:
        nonlocal told
        if time.monotonic() - told >= _PROGRESS_INTERVAL_S:
            told = time.monotonic()
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
        # Whatever a library can raise over some odd graph, the asker has to hear of it.
        log.exception("an analysis failed")
        return WorkerFailure(f"{type(error).__name__}: {error}")
