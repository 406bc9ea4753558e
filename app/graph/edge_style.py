"""The style of links, and the exposure that converts their light to pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class EdgeStyle:
    """The style of each link.

    Args:
        edges: int32 (m, 2) rows.
        colors: uint8 (k, 3), red, green and blue of each color class.
        classes: int16 (m,), the color class of each link.
        light: float32 (m,), 1 for an ordinary link, 0 for a hidden one.
        width: float32 (m,), in pixels at a ratio of one.
        dashed: bool (m,), dashed links; None if no link is dashed.
    """

    edges: NDArray[np.int32]
    colors: NDArray[np.uint8]
    classes: NDArray[np.int16]
    light: NDArray[np.float32]
    width: NDArray[np.float32]
    dashed: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Exposure:
    """The conversion of light to pixels.

    Args:
        alpha: Opacity of one ordinary link, 0 to 1.
        reach: Length in pixels up to which a link has its full light; longer ones fade with the square
            root, so that clusters stand out from the links between them.
        ratio: Device pixels per pixel.
        budget: The approximate number of line pixels to draw; beyond it, a uniform sample, brightened
            accordingly, represents all links. None draws all.
    """

    alpha: float = 0.35
    reach: float = 70.0
    ratio: float = 1.0
    budget: int | None = None
