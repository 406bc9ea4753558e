"""Paint the overlays of a frame: lit and dragged links, the path, glows, rings and the selection."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QImage, QPainter, QPen, QRadialGradient

from app.desktop.graph.camera import Camera
from app.desktop.graph.highlights import Glow
from app.desktop.graph.node_style import relation_color, suggested_mask
from app.desktop.graph.render.edge_renderer import EdgeImage
from app.desktop.graph.render.labels import LabelRenderer
from app.desktop.graph.render.sprites import draw_lines, stroke_lines
from app.desktop.graph.scene import Scene
from app.graph.core_drawing import Viewport
from app.graph.model import PLAIN_LINK
from app.vault.markdown.render_values import mix_colors

_DIMMED_OPACITY = 0.14
_MAX_LIT_LINKS = 250  # More would obscure one another and take too long to draw in one frame.
_MAX_FINE_LIT_LINKS = 120
_MAX_ARROWS = 160
_MAX_DRAGGED_LINKS = 2500
_MAX_FORCED_LABELS = 36
_MAX_GRADIENT_RADIUS = 64  # Larger glows are scaled up: when zoomed in, their images would take gigabytes.


@dataclass(frozen=True, slots=True)
class FrameState:
    """The complete content of one frame.

    Args:
        scene: The graph and its state.
        camera: The camera.
        width: The width of the view in pixels.
        height: The height of the view in pixels.
        edge_image: The image of the links; None until there is one.
        labels: The labels.
        font: The font for messages.
        dim: 0 to 1, the dimming of all but the bright nodes.
        bright_rows: Rows that stay bright; for a hover, the hovered node comes last.
        dragged_rows: Rows whose links are drawn in each frame during a drag.
        glow_phase: 0 to 1, the phase of the pulsating glow.
        selection_rect: The selection rectangle.
    """

    scene: Scene
    camera: Camera
    width: int
    height: int
    edge_image: EdgeImage | None
    labels: LabelRenderer
    font: QFont
    dim: float
    bright_rows: NDArray[np.int32]
    dragged_rows: NDArray[np.int64] | None
    glow_phase: float
    selection_rect: QRectF | None

    @property
    def view(self) -> Viewport:
        """The frame's viewport."""
        return self.scene.view(self.camera, self.width, self.height)

    @property
    def content(self) -> tuple[object, ...]:
        """The content of the layers below the labels, for comparison with other frames."""
        return (*self.undimmed_content, self.scene.hovered, self.dim, self.bright_rows)

    @property
    def undimmed_content(self) -> tuple[object, ...]:
        """The content without hover and dimming, which shows whether a cached undimmed image is current."""
        scene = self.scene
        glow_phase = self.glow_phase if scene.pending or scene.highlights.is_pulsating else 0.0
        highlights = (
            tuple(scene.selection),
            tuple(scene.highlights.path),
            tuple(scene.highlights.glows.items()),
        )
        changes = (frozenset(scene.pending), frozenset(scene.changed), glow_phase)
        viewport = (self.camera, self.width, self.height, scene.version, scene.theme)
        return (
            viewport,
            self.edge_image,
            highlights,
            changes,
            self.selection_rect and self.selection_rect.getRect(),
            self.dragged_rows,
        )

    @property
    def bright_mask(self) -> NDArray[np.uint8] | None:
        """1 for nodes that stay bright, uint8 (n,); None while nothing is dimmed."""
        if self.dim <= 0.0:
            return None
        mask = np.zeros(len(self.scene.graph), dtype=np.uint8)
        mask[self.bright_rows] = 1
        return mask

    @property
    def dimmed_opacity(self) -> float:
        """The opacity of links and of nodes that do not stay bright."""
        return 1.0 - (1.0 - _DIMMED_OPACITY) * self.dim

    def opacity(self) -> NDArray[np.float32]:
        """Return the opacity of each node, float32 (n,)."""
        mask = self.bright_mask
        if mask is None:
            return self.scene.strength
        return np.where(mask, self.scene.strength, self.scene.strength * np.float32(self.dimmed_opacity))

    def place_labels(self) -> None:
        """Place the labels if the frame's content changed."""
        scene, size = self.scene, (self.width, self.height)
        highlights = (scene.hovered, tuple(scene.selection), tuple(scene.highlights.path))
        if self.labels.needs_placement((self.camera, size, scene.version, highlights, round(self.dim, 1))):
            self.labels.place(scene, self.view, self.opacity(), self._forced_labels(), size)

    def _forced_labels(self) -> list[int]:
        """Return the rows to label first: hovered node, path, selection, neighbors with the most links."""
        scene = self.scene
        forced = [scene.hovered] if scene.hovered >= 0 else []
        forced += [*scene.highlights.path[:40], *scene.selection[:40]]
        if scene.hovered >= 0:
            neighbors = self.bright_rows[self.bright_rows != scene.hovered]
            forced += _heaviest(neighbors, scene.weight, _MAX_FORCED_LABELS)
        return list(dict.fromkeys(forced))


def _heaviest(rows: NDArray[np.int32], weight: NDArray[np.float32], limit: int) -> list[int]:
    """Return the `limit` heaviest of `rows` in descending order; equal weights keep their order."""
    if len(rows) > limit:
        lowest = np.partition(weight[rows], -limit)[-limit]
        heavier, equal = rows[weight[rows] > lowest], rows[weight[rows] == lowest]
        rows = np.concatenate([heavier, equal[: limit - len(heavier)]])
    heaviest: list[int] = rows[np.argsort(-weight[rows], kind="stable")].tolist()
    return heaviest


def edge_alpha(count: int, scale: float, is_dark: bool) -> float:
    """Return the opacity of one link: lower for many links and in a light theme, higher when zoomed in."""
    base_alpha = float(0.62 * (600 / max(count, 600)) ** 0.24)
    zoom_factor = float(min(1.6, max(1.0, (scale / 9.0) ** 0.3)))
    return min(0.85, base_alpha * zoom_factor * (1.0 if is_dark else 0.9))


def paint_under(painter: QPainter, image: QImage, frame: FrameState) -> None:
    """Paint the overlays between the links and the nodes; `painter` paints on `image`."""
    if frame.dragged_rows is not None:
        _paint_dragged_links(painter, image, frame, frame.dragged_rows)
    if frame.dim > 0.0:
        _paint_lit_links(painter, image, frame)
    if len(frame.scene.highlights.path) > 1:
        _paint_path(painter, frame)
    _paint_glows(painter, frame)


def paint_over(painter: QPainter, frame: FrameState) -> None:
    """Paint the overlays between the nodes and the labels."""
    _paint_rings(painter, frame)
    if frame.selection_rect is not None:
        _paint_selection_rect(painter, frame, frame.selection_rect)


def _paint_lit_links(painter: QPainter, image: QImage, frame: FrameState) -> None:
    """Draw the links of the hovered node, or of the last one while it fades, colored by relation.

    Draws only a sample if there are many links, and none while a path is highlighted.
    """
    scene = frame.scene
    hub = (
        scene.hovered
        if scene.hovered >= 0
        else (int(frame.bright_rows[-1]) if len(frame.bright_rows) else -1)
    )
    if hub < 0 or scene.highlights.path:
        return
    links = _sample(scene.links_of(hub), _MAX_LIT_LINKS)
    is_fine = len(links) < _MAX_FINE_LIT_LINKS
    opacity = frame.dim * 0.85 if is_fine else frame.dim
    node_color = f"#{int(scene.colors[hub]) & 0xFFFFFF:06x}"
    suggested = suggested_mask(scene.graph)
    for code in np.unique(scene.graph.edge_codes[links]).tolist():
        name = scene.graph.edge_types[code]
        color = relation_color(scene.theme, name)
        if name == PLAIN_LINK:
            color = mix_colors(node_color, scene.theme.text, 0.15)
        if not is_fine:  # Opaque, because translucent lines would hide one another anyway.
            color = mix_colors(scene.theme.window, color, 0.6)
        links_of_type = links[scene.graph.edge_codes[links] == code]
        width = (1.3 if name == PLAIN_LINK else 1.9) if is_fine else 1.0
        is_suggested = (
            np.zeros(len(links_of_type), dtype=bool) if suggested is None else suggested[links_of_type]
        )
        ends = _ends(frame, scene.graph.edges[links_of_type[~is_suggested]])
        stroke_lines(image, ends, color, width, opacity)
        painter.setOpacity(opacity)
        painter.setPen(QPen(QColor(color), width, Qt.PenStyle.DashLine))
        draw_lines(painter, _ends(frame, scene.graph.edges[links_of_type[is_suggested]]))
        if len(links_of_type) <= _MAX_ARROWS:
            painter.setPen(QPen(QColor(color), width))
            _paint_arrows(painter, frame, links_of_type)
    painter.setOpacity(1.0)


def _paint_arrows(painter: QPainter, frame: FrameState, links: NDArray[np.int64]) -> None:
    """Draw an arrowhead at the end of each link that is long enough."""
    scene, view = frame.scene, frame.view
    edges = scene.graph.edges[links]
    source = view.to_pixels(scene.positions[edges[:, 0]])
    target = view.to_pixels(scene.positions[edges[:, 1]])
    vector = target - source
    distance = np.maximum(np.hypot(vector[:, 0], vector[:, 1]), 1e-3)
    direction = vector / distance[:, None]
    tip = target - direction * (view.radii(scene.radii[edges[:, 1]]) + 1.5)[:, None]
    normal = np.stack([-direction[:, 1], direction[:, 0]], axis=1)
    is_long = distance > 26
    for sign in (1.0, -1.0):
        wing = tip - direction * 5.5 + normal * (2.8 * sign)
        draw_lines(painter, np.concatenate([tip, wing], axis=1)[is_long])


def _paint_dragged_links(
    painter: QPainter, image: QImage, frame: FrameState, rows: NDArray[np.int64]
) -> None:
    """Draw the dragged nodes' links, or a sample of them."""
    scene = frame.scene
    style = scene.edges
    links = _sample(scene.links_touching(rows), _MAX_DRAGGED_LINKS)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for style_code in np.unique(style.classes[links]).tolist():
        color = "#" + "".join(f"{part:02x}" for part in style.colors[style_code].tolist())
        ends = _ends(frame, scene.graph.edges[links[style.classes[links] == style_code]])
        stroke_lines(image, ends, mix_colors(scene.theme.window, color, 0.5), 1.0, 1.0)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)


def _paint_path(painter: QPainter, frame: FrameState) -> None:
    """Draw the highlighted path."""
    scene = frame.scene
    rows = np.array(scene.highlights.path, dtype=np.int32)
    lines = _ends(frame, np.stack([rows[:-1], rows[1:]], axis=1))
    for color, width in ((scene.theme.window, 6.0), (scene.theme.accent, 3.0)):
        painter.setPen(QPen(QColor(color), width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        draw_lines(painter, lines)


def _glows(scene: Scene) -> list[Glow]:
    """Return all glows: changed nodes, highlights by key, nodes of pending changes."""
    changed = Glow(frozenset(scene.changed - scene.pending), scene.theme.success)
    pending = Glow(frozenset(scene.pending), scene.theme.accent, is_pulsating=True)
    return [changed, *scene.highlights.glows.values(), pending]


def _paint_glows(painter: QPainter, frame: FrameState) -> None:
    """Draw a glow behind each changed, highlighted or pending node; some glows pulsate."""
    scene = frame.scene
    pulse = 0.5 + 0.5 * math.sin(frame.glow_phase * 2 * math.pi)
    for glow in _glows(scene):
        color = glow.color or scene.theme.accent
        for center, radius in _circles(frame, scene.rows(glow.paths)):
            if glow.is_pulsating:
                _paint_gradient(painter, center, radius * 2.4 + 12 + 5 * pulse, color, 0.5 + 0.4 * pulse)
            else:
                _paint_gradient(painter, center, radius * 2.2 + 7, color, 0.45)


def _paint_gradient(painter: QPainter, center: QPointF, radius: float, color: str, strength: float) -> None:
    size = round(radius)
    image = _gradient_image(color, min(size, _MAX_GRADIENT_RADIUS), painter.device().devicePixelRatioF())
    painter.setOpacity(strength)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, size > _MAX_GRADIENT_RADIUS)
    painter.drawImage(QRectF(center.x() - size, center.y() - size, 2 * size, 2 * size), image)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
    painter.setOpacity(1.0)


# Cached, because filling a gradient for each of hundreds of changed notes takes 10 ms of each frame.
@lru_cache(maxsize=256)
def _gradient_image(color: str, radius: int, ratio: float) -> QImage:
    """Draw a disc that fades toward its edge."""
    pixels = math.ceil(2 * radius * ratio)
    image = QImage(pixels, pixels, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    center = QPointF(radius, radius)
    gradient = QRadialGradient(center, radius)
    for stop, share in ((0.0, 1.0), (0.45, 0.55), (1.0, 0.0)):
        tone = QColor(color)
        tone.setAlphaF(share)
        gradient.setColorAt(stop, tone)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QBrush(gradient))
    painter.drawEllipse(center, radius, radius)
    painter.end()
    return image


def _paint_rings(painter: QPainter, frame: FrameState) -> None:
    """Draw rings around glowing, selected and hovered nodes, to mark them without relying on color."""
    scene = frame.scene
    painter.setBrush(Qt.BrushStyle.NoBrush)
    solid, dashes = Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine
    rings = []
    for glow in _glows(scene):
        gap = 4.0 if glow.is_pulsating else 2.5
        rings.append((scene.rows(glow.paths), glow.color or scene.theme.accent, gap, glow.is_pulsating))
    rings.append((scene.selection, scene.theme.accent, 3.0, False))
    rings.append(([scene.hovered] if scene.hovered >= 0 else [], scene.theme.text, 2.0, False))
    for rows, color, gap, is_dashed in rings:
        if not rows:
            continue
        painter.setPen(QPen(QColor(color), 1.8, dashes if is_dashed else solid))
        for center, radius in _circles(frame, rows):
            painter.drawEllipse(center, radius + gap, radius + gap)


def _circles(frame: FrameState, rows: Sequence[int]) -> list[tuple[QPointF, float]]:
    """Return centers and radii in pixels of the nodes in `rows` that are in or near the view."""
    if not rows:
        return []
    view, scene = frame.view, frame.scene
    pixels, radii = view.to_pixels(scene.positions[rows]), view.radii(scene.radii[rows])
    margin = 3 * radii + 20
    x, y = pixels[:, 0], pixels[:, 1]
    is_near = (x > -margin) & (x < frame.width + margin) & (y > -margin) & (y < frame.height + margin)
    return [
        (QPointF(float(center[0]), float(center[1])), float(radius))
        for center, radius in zip(pixels[is_near], radii[is_near], strict=True)
    ]


def _paint_selection_rect(painter: QPainter, frame: FrameState, rect: QRectF) -> None:
    fill = QColor(frame.scene.theme.accent)
    painter.setPen(QPen(fill, 1))
    fill.setAlphaF(0.12)
    painter.setBrush(fill)
    painter.drawRoundedRect(rect, 3, 3)


def paint_empty(painter: QPainter, frame: FrameState) -> None:
    """Paint the message for a graph that is empty or still loading."""
    theme = frame.scene.theme
    if frame.scene.is_loading:
        title, hint = QCoreApplication.translate("Canvas", "Loading the graph…"), ""
    else:
        title = QCoreApplication.translate("Canvas", "No notes yet")
        hint = QCoreApplication.translate("Canvas", "New notes and their links appear here.")
    area = QRectF(24, 0, frame.width - 48, frame.height)
    font = painter.font()
    font.setPointSizeF(font.pointSizeF() * 1.25)
    painter.setFont(font)
    painter.setPen(QColor(theme.muted))
    flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
    painter.drawText(area.translated(0, -14), flags, title)
    painter.setFont(frame.font)
    painter.setPen(QColor(theme.faint))
    painter.drawText(area.translated(0, 16), flags, hint)


def _sample(links: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """Return `links`, or an even sample of them if there are more than `limit`."""
    if len(links) <= limit:
        return links
    return links[np.arange(limit) * len(links) // limit]


def _ends(frame: FrameState, edges: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the ends of links in pixels, float64 (k, 4)."""
    positions, view = frame.scene.positions, frame.view
    ends = [view.to_pixels(positions[edges[:, 0]]), view.to_pixels(positions[edges[:, 1]])]
    return np.concatenate(ends, axis=1).astype(np.float64)
