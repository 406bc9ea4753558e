"""The embedding worker: a process that runs one model on texts until its standard input ends.

It is a separate process so that a model can neither block the app's interpreter nor crash the app. It ends
with the app, because the app's end of the pipe closes. It ignores Ctrl+C, which a terminal sends to both, and
runs at low priority.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol

from app.embeddings import protocol
from app.embeddings.cross_encoder import CrossEncoderModel
from app.embeddings.language_model import LanguageIdModel
from app.embeddings.onnx_model import OnnxModel, Vectors
from app.embeddings.sentence_transformer import SentenceTransformerModel
from app.processes.frames import BinaryReader, Frame, claim_pipes, read_frame, write_frame

NICENESS = 10


class Model(Protocol):
    """A model that converts each text to a row of numbers: a sentence model or the language identifier."""

    dimension: int

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return one unit vector, or the probability of each language, per text, shape (n, dimension)."""
        ...


def main(arguments: list[str] | None = None) -> int:
    """Serve until standard input ends; return 0, or 1 after a `FAILED` frame if the model can't be loaded."""
    parser = argparse.ArgumentParser(prog="scriptorium --embedding-worker")
    model_options = parser.add_mutually_exclusive_group(required=True)
    model_options.add_argument("--model", type=Path, help="the folder of one of the app's own models")
    model_options.add_argument("--sentence-transformer", help="a sentence-transformers model: name or folder")
    model_options.add_argument(
        "--cross-encoder", help="a sentence-transformers cross-encoder: name or folder"
    )
    model_options.add_argument("--languages", action="store_true", help="identify the languages of texts")
    parser.add_argument("--threads", type=int, default=1, help="processor threads per batch")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _lower_priority()
    source, sink = claim_pipes()
    try:
        model: Model | CrossEncoderModel
        labels: tuple[str, ...] = ()
        if options.cross_encoder:
            model = CrossEncoderModel(options.cross_encoder, options.threads)
        elif options.sentence_transformer:
            model = SentenceTransformerModel(options.sentence_transformer, options.threads)
        elif options.languages:
            model = languages = LanguageIdModel()
            labels = languages.labels
        else:
            model = OnnxModel(options.model, options.threads)
    except Exception as error:
        # A runtime or a damaged file can raise anything, and the app must learn of it.
        return 1 if write_frame(sink, Frame(protocol.FAILED, body=str(error).encode())) else 0
    ready = json.dumps({"dimension": model.dimension, "labels": labels}).encode()
    if not write_frame(sink, Frame(protocol.READY, body=ready)):
        return 0
    serve(model, source, sink)
    return 0


def _lower_priority() -> None:
    """Lower the process's priority below that of other programs."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    if hasattr(os, "SCHED_BATCH"):
        # So that a new batch never preempts other work; not every system allows it.
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def serve(model: Model | CrossEncoderModel, source: BinaryReader, sink: IO[bytes]) -> None:
    """Answer each request from `source` on `sink` until either end is closed."""
    while (frame := read_frame(source)) is not None:
        if not write_frame(sink, answer_frame(model, frame)):
            return


def answer_frame(model: Model | CrossEncoderModel, frame: Frame) -> Frame:
    """Return a frame with the rows for a request, or with the reason for a failure."""
    try:
        texts = json.loads(bytes(frame.body))
        if isinstance(model, CrossEncoderModel):
            vectors = model.classify(texts)
        else:
            vectors = model.encode(texts, query=frame.kind == protocol.EMBED_QUERIES)
    except Exception as error:
        # A text that fails in the runtime must not end the worker; the caller gets the error.
        return Frame(protocol.FAILED, frame.number, f"{type(error).__name__}: {error}".encode())
    return Frame(protocol.VECTORS, frame.number, vectors.astype("<f4", copy=False).tobytes())


if __name__ == "__main__":
    sys.exit(main())
