"""The layers of a frame: pictures of links, nodes and labels, cached until what they show changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QImage

from app.desktop.graph.camera import Camera
from app.desktop.graph.render.edge_renderer import MARGIN_SHARE, EdgeRenderer, EdgeRenderRequest
from app.desktop.graph.render.framebuffer import Framebuffer
from app.desktop.graph.render.label_images import LabelImages, LabelStyle
from app.desktop.graph.render.labels import LabelRenderer, label_sizes
from app.desktop.graph.render.overlay_painter import FrameState, edge_alpha
from app.desktop.graph.scene import Scene
from app.graph.model import Graph


@dataclass(frozen=True, slots=True)
class Motion:
    """The animated values of a frame and the dragged nodes; see `FrameState`."""

    dim: float = 0.0
    bright: NDArray[np.int32] | None = None
    held: NDArray[np.int64] | None = None
    glow: float = 0.0
    band: QRectF | None = None


class Layers:
    """The layers of one scene for one view.

    Args:
        scene: The state to show.
        font: The font of labels.
        ratio: Device pixels per pixel.
        zoom: The zoom of the interface, which labels grow with.
        still: True for a picture, which waits for labels and shows them without fading.
    """

    def __init__(
        self, scene: Scene, font: QFont, ratio: float, zoom: float = 1.0, *, still: bool = False
    ) -> None:
        self._scene = scene
        self._font = font
        self.ratio = ratio
        self.zoom = zoom
        self._still = still
        self.edges = EdgeRenderer()
        self.names = LabelImages(self._name_look())
        self._surface = Framebuffer()
        self.renew()

    def _name_look(self) -> LabelStyle:
        theme = self._scene.theme
        return LabelStyle(self._font, theme.text, theme.window, self.ratio, self.zoom)

    def renew(self, font: QFont | None = None, ratio: float | None = None, zoom: float | None = None) -> None:
        """Place labels again after a change of graph, theme, font, screen or zoom."""
        self._font = font or self._font
        self.ratio = ratio or self.ratio
        self.zoom = zoom or self.zoom
        if self._name_look() != self.names.look:
            self.names.set_look(self._name_look())
        self.labels = LabelRenderer(self._scene.graph.names, self.names)
        self.labels.hurried = not self._still
        self.resize()

    def resize(self) -> None:
        """Update after the radii changed."""
        self.labels.sizes = label_sizes(self._scene.radii)

    def replace(self, before: Graph) -> None:
        """Take over the scene's next state of the graph; visible labels stay visible."""
        graph = self._scene.graph
        known = graph.rows
        shown = {row: before.paths[row] for row in self.labels.shown_rows}
        self.labels.rename(graph.names, {row: known[path] for row, path in shown.items() if path in known})
        self.resize()

    def request(
        self,
        camera: Camera,
        size: tuple[int, int],
        moving: NDArray[np.int64] | None = None,
        hurried: bool = False,
        margin: float = MARGIN_SHARE,
    ) -> EdgeRenderRequest:
        """Return the request for the next picture of links; see `EdgeRenderRequest`."""
        scene = self._scene
        alpha = edge_alpha(len(scene.graph.edges), camera.scale, scene.theme.is_dark)
        looks = scene.edge_looks()
        return EdgeRenderRequest(
            looks, scene.positions, camera, *size, self.ratio, alpha, moving, hurried, margin
        )

    def paint(self, camera: Camera, size: tuple[int, int], motion: Motion) -> QImage:
        """Paint a frame; the returned image is valid until the next call."""
        bright = motion.bright if motion.bright is not None else np.empty(0, dtype=np.int32)
        frame = FrameState(
            self._scene,
            camera,
            *size,
            self.edges.picture,
            self.labels,
            self._font,
            motion.dim,
            bright,
            motion.held,
            motion.glow,
            motion.band,
        )
        return self._surface.paint(frame, self.ratio, still=self._still)

    def close(self) -> None:
        """Stop the worker and the thread of labels."""
        self.edges.close()
        self.names.close()


def draw_still(
    scene: Scene, font: QFont, camera: Camera, size: tuple[int, int], ratio: float, zoom: float = 1.0
) -> QImage:
    """Draw the scene at once in full quality, at any size.

    Args:
        scene: The state to show.
        font: The font of labels.
        camera: The camera.
        size: Width and height in pixels at a ratio of one.
        ratio: Device pixels per pixel.
        zoom: The zoom of the interface, which labels grow with.
    """
    layers = Layers(scene, font, ratio, zoom, still=True)
    try:
        layers.edges.draw_now(layers.request(camera, size))
        return layers.paint(camera, size, Motion())
    finally:
        layers.close()
