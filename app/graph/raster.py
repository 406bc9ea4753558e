"""Draw all links into one picture: a density of light per color, then tone mapping.

Lines are summed, not painted over each other. Therefore, the picture does not depend on their order, dense
links stay translucent, and a line is equally bright in every direction. Pixels are a numpy array, independent
of Qt, so drawing works in any thread and gives the same picture everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from app.graph import core_bindings
from app.graph.core_drawing import LineBatch
from app.graph.edge_style import EdgeStyle, Exposure

FRAME_BUDGET = 3_000_000
"""The budget (see `Exposure`) that fits one frame."""

T = TypeVar("T", bound=np.generic)


def draw_edges(
    style: EdgeStyle,
    positions: NDArray[np.float32],
    pixels: NDArray[np.uint8],
    exposure: Exposure,
    hidden: NDArray[np.bool_] | None = None,
    workers: core_bindings.WorkerThreads | None = None,
    is_wanted: Callable[[], bool] = lambda: True,
) -> None:
    """Overwrite `pixels` with the picture of all links.

    Args:
        style: The links and their style.
        positions: float32 (n, 2), the nodes' positions in picture pixels.
        pixels: uint8 (height, width, 4): blue, green, red, alpha; premultiplied afterwards.
        exposure: The conversion of light to pixels.
        hidden: bool (n,), nodes whose links are left out.
        workers: The threads that draw; by default, only the calling thread. Their number does not affect the
            picture.
        is_wanted: Called periodically; once it returns false, the picture is left unfinished.
    """
    workers = workers or core_bindings.WorkerThreads(1)
    height, width = pixels.shape[:2]
    lines = LineBatch(
        as_contiguous(positions, np.float32),
        as_contiguous(style.edges, np.int32),
        as_contiguous(style.light, np.float32),
        as_contiguous(style.width, np.float32),
        as_contiguous(style.classes, np.int16),
        as_contiguous(style.colors, np.uint8),
        None if style.dashed is None else as_contiguous(style.dashed, np.bool_).view(np.uint8),
        None if hidden is None else (~hidden).view(np.uint8),
        width,
        height,
        reach=exposure.reach,
        ratio=exposure.ratio,
        budget=float(exposure.budget or 0),
        workers=workers,
        is_wanted=is_wanted,
    )
    lines.draw(exposure.alpha, pixels, workers, is_wanted)


def as_contiguous(values: NDArray[Any], kind: type[T]) -> NDArray[T]:
    """Convert an array to a C-contiguous one of type `kind`, without a copy if possible."""
    return np.ascontiguousarray(values, dtype=kind)
