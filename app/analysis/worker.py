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
_OFTEN_SECONDS = 0.05
_PIECE_BYTES = 2 * 2**20

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be computed; arguments that are `Pieces` stand for arrays that came before."""

    work: Callable[..., object]
    arguments: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Pieces:
    """An array that comes in so many pieces of rows."""

    count: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is: 0 to 1, or -1 where that cannot be told; and in words."""

    share: float
    words: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question."""

    value: object


@dataclass(frozen=True, slots=True)
class Failure:
    """Why nothing came of it."""

    words: str


def pieces_of(array: NDArray[Any]) -> list[NDArray[Any]]:
    """The array as pieces of some megabytes; the array itself alone when it is small."""
    if array.nbytes <= _PIECE_BYTES:
        return [array]
    return np.array_split(array, -(-array.nbytes // _PIECE_BYTES))


def serve(connection: Connection) -> None:
    """Answer questions until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    waiting: list[NDArray[Any]] = []
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError), connection:
        while True:
            message = connection.recv()
            if isinstance(message, Question):
                connection.send(_answer(message, waiting, connection))
                waiting.clear()
            else:
                waiting.append(message)


def _answer(question: Question, pieces: list[NDArray[Any]], connection: Connection) -> Answer | Failure:
    told = 0.0

    def report(share: float, words: str) -> None:
        nonlocal told
        if time.monotonic() - told >= _OFTEN_SECONDS:
            told = time.monotonic()
            connection.send(Progress(share, words))

    rest = iter(pieces)
    arguments = [
        np.concatenate([next(rest) for _ in range(each.count)]) if isinstance(each, Pieces) else each
        for each in question.arguments
    ]
    try:
        return Answer(question.work(*arguments, report=report))
    except BrokenPipeError:
        raise
    except Exception as error:
        # Whatever a library can raise over some odd graph, the asker has to hear of it.
        log.exception("an analysis failed")
        return Failure(f"{type(error).__name__}: {error}")
