"""How links are drawn: what each looks like, and how their light becomes pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class EdgeStyle:
    """How each link is drawn.

    Args:
        edges: int32 (m, 2) rows.
        colors: uint8 (k, 3), red green blue of each colour class.
        classes: int (m,), the class of each link.
        light: float32 (m,), 1 for an ordinary link, 0 for a hidden one.
        width: float32 (m,), in pixels at a ratio of one.
        dashed: bool (m,), links drawn with gaps; None for none.
    """

    edges: NDArray[np.int32]
    colors: NDArray[np.uint8]
    classes: NDArray[np.int16]
    light: NDArray[np.float32]
    width: NDArray[np.float32]
    dashed: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Exposure:
    """How light becomes pixels.

    Args:
        alpha: Opacity of one ordinary link, 0 to 1.
        reach: Length in pixels up to which a link has its full light; longer ones fade with the square
            root, so that clusters stand out from what crosses between them.
        ratio: Device pixels per pixel.
        budget: About how many pixels of lines may be drawn: beyond it a fair sample stands for all of
            them, brighter by as much. None draws all.
    """

    alpha: float = 0.35
    reach: float = 70.0
    ratio: float = 1.0
    budget: int | None = None
