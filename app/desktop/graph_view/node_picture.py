"""All nodes of one frame by the graph's C core, as one picture over what is painted already."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage, QPainter

from app.desktop.graph_view.look import rgb
from app.desktop.graph_view.scene import Scene
from app.graph.raster import DiscLook, draw_discs


def paint_nodes(
    painter: QPainter,
    scene: Scene,
    at: NDArray[np.float32],
    radii: NDArray[np.float32],
    opacity: NDArray[np.float32],
    rows: NDArray[np.int64],
    size: tuple[int, int],
) -> None:
    """Paints the nodes `rows`, those on top last.

    Args:
        painter: On a device of `size`.
        scene: Whose nodes have their colours.
        at: float32 (n, 2), in pixels.
        radii: float32 (n,), in pixels.
        opacity: float32 (n,), 0 to 1.
        rows: int (k,).
        size: Width and height in pixels at a ratio of one.
    """
    ratio = painter.device().devicePixelRatio()
    width, height = (max(1, round(side * ratio)) for side in size)
    pixels = np.zeros((height, width, 4), dtype=np.uint8)
    scaled = np.float32(ratio)
    order = rows.astype(np.int32)
    # By this thread alone: it is done in some milliseconds, and waits for no other.
    look = disc_look(scene)
    draw_discs(look, at * scaled, radii * scaled, opacity, order, pixels, ratio, threads=1)
    image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    painter.drawImage(0, 0, image)


def disc_look(scene: Scene) -> DiscLook:
    """The colours of a scene's nodes."""
    groups = scene.nodes.groups
    palette = [(*rgb(group.color), int(group.hollow)) for group in groups]
    ground = QColor(scene.theme.window)
    return DiscLook(
        np.array(palette, dtype=np.uint8).reshape(-1, 4),
        scene.nodes.group.astype(np.int16),
        (ground.red(), ground.green(), ground.blue()),
    )
