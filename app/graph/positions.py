"""A vault's layout, saved by path in its cache folder so that it appears immediately at the next start."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.graph.model import Graph, Positions
from app.storage.files import write_atomic

_FILE = "layout.npz"
_FORMAT_VERSION = 3


Communities = NDArray[np.int64]


def save_positions(
    folder: Path, graph: Graph, positions: Positions, communities: Communities | None = None
) -> None:
    """Write the positions of all nodes, and their communities if known, to `folder`, atomically.

    Raises:
        OSError: The folder can't be written; an earlier file is unchanged.
    """
    content = io.BytesIO()
    text = "\0".join(graph.paths).encode("utf-8", "surrogatepass")
    np.savez(
        content,
        format=np.int32(_FORMAT_VERSION),
        paths=np.frombuffer(text, dtype=np.uint8),
        positions=np.asarray(positions, dtype=np.float32),
        communities=np.asarray([] if communities is None else communities, dtype=np.int64),
    )
    write_atomic(folder / _FILE, content.getbuffer(), durable=False)


def load_positions(folder: Path, graph: Graph) -> Positions | None:
    """Return the saved positions for `graph`, nan for a node without one.

    Returns None if nothing readable is saved (a cache may disappear or be damaged at any time), or if less
    than half of the nodes have a position: a layout from scratch is better in that case.
    """
    layout = _load_layout(folder)
    if layout is None:
        return None
    paths, positions, _ = layout
    if positions.shape != (len(paths), 2) or not np.isfinite(positions).all():
        return None
    row_of = {path: row for row, path in enumerate(paths)}
    placed = np.full((len(graph), 2), np.nan, dtype=np.float32)
    for row, path in enumerate(graph.paths):
        if (saved_row := row_of.get(path)) is not None:
            placed[row] = positions[saved_row]
    share = 1 - np.isnan(placed[:, 0]).mean() if len(graph) else 0.0
    return placed if share >= 0.5 else None


def load_communities(folder: Path, graph: Graph) -> Communities | None:
    """Return the saved community of each node, -1 for none; None unless all nodes are in the file."""
    layout = _load_layout(folder)
    if layout is None or len(layout[2]) != len(layout[0]):
        return None
    community_by_path = dict(zip(layout[0], layout[2].tolist(), strict=True))
    if not all(path in community_by_path for path in graph.paths):
        return None
    return np.array([community_by_path[path] for path in graph.paths], dtype=np.int64)


def _load_layout(folder: Path) -> tuple[list[str], Positions, Communities] | None:
    """Return the paths, positions and communities in the file; None if it is missing or unusable."""
    try:
        with (folder / _FILE).open("rb") as file, np.load(file, allow_pickle=False) as saved:
            if int(saved["format"]) != _FORMAT_VERSION:
                return None
            paths = saved["paths"].tobytes().decode("utf-8", "surrogatepass").split("\0")
            positions = np.asarray(saved["positions"], dtype=np.float32)
            return paths, positions, np.asarray(saved["communities"], dtype=np.int64)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
