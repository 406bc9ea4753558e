"""The layers of a frame: images of links, nodes and labels, cached until their content changes."""

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
    bright_rows: NDArray[np.int32] | None = None
    dragged_rows: NDArray[np.int64] | None = None
    glow_phase: float = 0.0
    selection_rect: QRectF | None = None


class Layers:
    """The layers of one scene for one view.

    Args:
        scene: The state to show.
        font: The label font.
        ratio: Device pixels per pixel.
        zoom: The zoom of the interface, which scales labels.
        is_static: True for a still image, which waits for labels and shows them without fading.
    """

    def __init__(
        self, scene: Scene, font: QFont, ratio: float, zoom: float = 1.0, *, is_static: bool = False
    ) -> None:
        self._scene = scene
        self._font = font
        self.ratio = ratio
        self.zoom = zoom
        self._is_static = is_static
        self.edges = EdgeRenderer()
        self.label_images = LabelImages(self._label_style())
        self._framebuffer = Framebuffer()
        self.renew()

    def _label_style(self) -> LabelStyle:
        theme = self._scene.theme
        return LabelStyle(self._font, theme.text, theme.window, self.ratio, self.zoom)

    def renew(self, font: QFont | None = None, ratio: float | None = None, zoom: float | None = None) -> None:
        """Place labels again after a change of graph, theme, font, screen or zoom."""
        self._font = font or self._font
        self.ratio = ratio or self.ratio
        self.zoom = zoom or self.zoom
        if self._label_style() != self.label_images.style:
            self.label_images.set_style(self._label_style())
        self.labels = LabelRenderer(self._scene.graph.names, self.label_images)
        self.labels.is_animated = not self._is_static
        self.resize()

    def resize(self) -> None:
        """Update after the radii have changed."""
        self.labels.sizes = label_sizes(self._scene.radii)

    def replace(self, previous_graph: Graph) -> None:
        """Adopt the next state of the scene's graph; visible labels stay visible."""
        graph = self._scene.graph
        after_rows = graph.rows
        labeled_paths = {row: previous_graph.paths[row] for row in self.labels.shown_rows}
        self.labels.replace_names(
            graph.names,
            {row: after_rows[path] for row, path in labeled_paths.items() if path in after_rows},
        )
        self.resize()

    def create_edge_request(
        self,
        camera: Camera,
        size: tuple[int, int],
        omitted_rows: NDArray[np.int64] | None = None,
        is_draft: bool = False,
        margin: float = MARGIN_SHARE,
    ) -> EdgeRenderRequest:
        """Return the request for the next image of links; see `EdgeRenderRequest`."""
        scene = self._scene
        alpha = edge_alpha(len(scene.graph.edges), camera.scale, scene.theme.is_dark)
        compute_style = scene.edge_style_factory()
        return EdgeRenderRequest(
            compute_style, scene.positions, camera, *size, self.ratio, alpha, omitted_rows, is_draft, margin
        )

    def paint(self, camera: Camera, size: tuple[int, int], motion: Motion) -> QImage:
        """Paint a frame; the returned image is valid until the next call."""
        bright_rows = motion.bright_rows if motion.bright_rows is not None else np.empty(0, dtype=np.int32)
        frame = FrameState(
            self._scene,
            camera,
            *size,
            self.edges.latest_image,
            self.labels,
            self._font,
            motion.dim,
            bright_rows,
            motion.dragged_rows,
            motion.glow_phase,
            motion.selection_rect,
        )
        return self._framebuffer.paint(frame, self.ratio, is_static=self._is_static)

    def close(self) -> None:
        """Stop the worker and the thread that draws labels, and wait until both end."""
        self.edges.close()
        self.label_images.close()


def draw_static_image(
    scene: Scene, font: QFont, camera: Camera, size: tuple[int, int], ratio: float, zoom: float = 1.0
) -> QImage:
    """Draw the scene at full quality and any size, in the calling thread.

    Args:
        scene: The state to show.
        font: The label font.
        camera: The camera.
        size: Width and height in pixels at a ratio of one.
        ratio: Device pixels per pixel.
        zoom: The zoom of the interface, which scales labels.
    """
    layers = Layers(scene, font, ratio, zoom, is_static=True)
    try:
        layers.edges.draw_now(layers.create_edge_request(camera, size))
        return layers.paint(camera, size, Motion())
    finally:
        layers.close()
