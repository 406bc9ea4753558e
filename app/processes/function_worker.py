"""A worker that calls the app's functions, one at a time: `python -m app.processes.function_worker`.

A call is pickled without the contents of its arrays, which precede it in separate frames: the arrays are not
copied, and no large pickle blocks the app. The answer is sent in the same way.

| kind | sent by | body |
|---|---|---|
| `BUFFER` | both | the contents of an array in the next `CALL` or `RESULT` |
| `CALL` | app | a pickled function with its arguments |
| `PROGRESS` | worker | a JSON list: the completed fraction, from 0 to 1 or -1 if unknown, and a description |
| `RESULT` | worker | the pickled result |
| `FAILED` | worker | the type and message of the error in UTF-8 |
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import signal
import sys
import time
from collections.abc import Iterator
from typing import IO, Any

from app.processes.frames import BinaryReader, Frame, claim_pipes, read_frame, write_frame

BUFFER = b"B"
CALL = b"C"
PROGRESS = b"P"
RESULT = b"R"
FAILED = b"F"
NICENESS = 5
_PROGRESS_INTERVAL_S = 0.05

log = logging.getLogger(__name__)


def pickle_frames(kind: bytes, value: object) -> Iterator[Frame]:
    """Yield the frames of a value: its arrays, then a frame of this kind with the rest."""
    buffers: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    for buffer in buffers:
        yield Frame(BUFFER, body=buffer.raw())
    yield Frame(kind, body=rest)


def unpickle(body: bytes, buffers: list[bytearray]) -> Any:  # noqa: ANN401
    """Return the value of a frame that followed these buffers; its arrays are writable."""
    return pickle.loads(body, buffers=buffers)


def main() -> int:
    """Answer calls until standard input ends; return the exit status."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    source, sink = claim_pipes()
    serve(source, sink)
    return 0


def serve(source: BinaryReader, sink: IO[bytes]) -> None:
    """Answer calls from `source` on `sink` until either end is closed."""
    buffers: list[bytearray] = []
    while (frame := read_frame(source)) is not None:
        if frame.kind == BUFFER:
            buffers.append(bytearray(frame.body))
            continue
        if not all(write_frame(sink, answer) for answer in _answer(bytes(frame.body), buffers, sink)):
            return
        buffers = []


def _answer(body: bytes, buffers: list[bytearray], sink: IO[bytes]) -> list[Frame]:
    last_report = 0.0

    def report(share: float, text: str) -> None:
        nonlocal last_report
        if time.monotonic() - last_report >= _PROGRESS_INTERVAL_S:
            last_report = time.monotonic()
            # If the app is gone, this frame is lost, and sending the answer fails too, which ends the
            # process.
            write_frame(sink, Frame(PROGRESS, body=json.dumps([float(share), text]).encode()))

    try:
        function, arguments = unpickle(body, buffers)
        return list(pickle_frames(RESULT, function(*arguments, report=report)))
    except Exception as error:
        # A library may raise anything for unusual input; the caller must receive it.
        log.exception("a function failed")
        return [Frame(FAILED, body=f"{type(error).__name__}: {error}".encode("utf-8", "replace"))]


if __name__ == "__main__":
    sys.exit(main())
