"""d3-force as the peer of the graph's layout: fetched from npm, run in Node with its defaults."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from app.graph.model import Graph

FOLDER = Path(tempfile.gettempdir()) / "scriptorium-d3-force"
PACKAGE = "d3-force@3.0.0"
LINK_LENGTH = 30.0


def install() -> None:
    """Install d3-force if it is missing, and copy the script that runs it.

    Raises:
        OSError: npm is not installed.
        subprocess.CalledProcessError: npm could not fetch it.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not (FOLDER / "node_modules" / "d3-force").is_dir():
        command = ["npm", "install", "--no-audit", "--no-fund", "--silent", PACKAGE]
        subprocess.run(command, cwd=FOLDER, check=True)
    script = Path(__file__).with_name("d3.mjs")
    (FOLDER / script.name).write_bytes(script.read_bytes())


def run(graph: Graph, ticks: int, start: np.ndarray | None = None) -> tuple[np.ndarray, list[float]]:
    """Return d3's positions, float32 (n, 2), after `ticks`, and the seconds of each tick.

    Args:
        graph: The graph to lay out.
        ticks: The number of ticks; a complete run has 300.
        start: float32 (n, 2), the initial positions at any scale; d3's own by default.

    Raises:
        subprocess.CalledProcessError: d3-force failed.
    """
    with tempfile.TemporaryDirectory() as work:
        edges, positions = Path(work, "edges"), Path(work, "positions")
        edges.write_bytes(graph.links.astype("<i4").tobytes())
        if start is not None:
            positions.write_bytes(_scale_to_link_length(graph, start).astype("<f4").tobytes())
        command = ["node", "--max-old-space-size=4096", "d3.mjs", str(edges), str(positions)]
        done = subprocess.run(
            [*command, str(len(graph)), str(ticks)], cwd=FOLDER, check=True, capture_output=True, text=True
        )
        at = np.fromfile(positions, dtype="<f4").reshape(-1, 2)
    return at, [each / 1000 for each in json.loads(done.stdout)]


def _scale_to_link_length(graph: Graph, at: np.ndarray) -> np.ndarray:
    """Scale positions to d3's link length."""
    apart = at[graph.links[:, 0]] - at[graph.links[:, 1]]
    return at * (LINK_LENGTH / np.linalg.norm(apart, axis=1).mean())
