"""The boxes of labels around their nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SIDE_COUNT = 4
Box = tuple[float, float, float, float]


def label_box(label: list[float], side: int) -> Box:
    """Return a label's box: left, top, right, bottom.

    Args:
        label: x and y of its node, the node's radius, the label's width and height.
        side: The side of the node: 0 is below, 1 above, 2 right, 3 left.
    """
    x, y, radius, width, height = label
    left, top = x - width / 2, y - height / 2
    if side == 0:
        top = y + radius + 0.5
    elif side == 1:
        top = y - radius - height + 1.5
    elif side == 2:
        left = x + radius - 0.5
    else:
        left = x - radius - width + 0.5
    return left, top, left + width, top + height


def label_corners(labels: NDArray[np.float32], sides: NDArray[np.int32]) -> NDArray[np.float32]:
    """Return the upper left corners of many labels, float32 (k, 2), as `label_box` does for one."""
    radius, size = labels[:, 2], labels[:, 3:]
    corners: NDArray[np.float32] = labels[:, :2] - np.float32(0.5) * size
    below, above, right, left = (sides == side for side in range(SIDE_COUNT))
    corners[below, 1] = labels[below, 1] + radius[below] + np.float32(0.5)
    corners[above, 1] = labels[above, 1] - radius[above] - size[above, 1] + np.float32(1.5)
    corners[right, 0] = labels[right, 0] + radius[right] - np.float32(0.5)
    corners[left, 0] = labels[left, 0] - radius[left] - size[left, 0] + np.float32(0.5)
    return corners
