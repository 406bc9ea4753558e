"""Paints what a frame shows in addition to links and nodes: lit links, rings, glows and the path."""

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
_MAX_LIT_LINES = 250  # More of them hide each other, and take longer to draw than a frame may.
_MAX_FINE_LIT_LINES = 120
_MAX_ARROWS = 160
_MAX_HELD_LINES = 2500
_MAX_FORCED_LABELS = 36


@dataclass(frozen=True, slots=True)
class FrameState:
    """Everything that one frame shows.

    Args:
        scene: The graph and its state.
        camera: The camera.
        width: The width of the view in pixels.
        height: The height of the view in pixels.
        picture: The links, once there is a picture.
        labels: The labels.
        font: The font of messages.
        dim: 0 to 1, how far all but the lit nodes are dimmed.
        bright: Rows that stay bright.
        held: Rows whose links are drawn live during a drag.
        glow: 0 to 1, the phase of the pulsating glow.
        band: The selection rectangle.
    """

    scene: Scene
    camera: Camera
    width: int
    height: int
    picture: EdgeImage | None
    labels: LabelRenderer
    font: QFont
    dim: float
    bright: NDArray[np.int32]
    held: NDArray[np.int64] | None
    glow: float
    band: QRectF | None

    @property
    def view(self) -> Viewport:
        """The view of the layout."""
        return self.scene.view(self.camera, self.width, self.height)

    @property
    def content(self) -> tuple[object, ...]:
        """Everything that decides how the frame looks but its labels; equal frames share arrays."""
        return (*self.undimmed_state, self.scene.hovered, self.dim, self.bright)

    @property
    def undimmed_state(self) -> tuple[object, ...]:
        """The same without what is lit and dimmed: the part that stays visible during a hover."""
        scene = self.scene
        breath = self.glow if scene.pending or scene.marks.breathing else 0.0
        marked = (tuple(scene.selection), tuple(scene.marks.path), tuple(scene.marks.glows.items()))
        changed = (frozenset(scene.pending), frozenset(scene.changed), breath)
        seen = (self.camera, self.width, self.height, scene.version, scene.theme)
        return (seen, self.picture, marked, changed, self.band and self.band.getRect(), self.held)

    @property
    def lit(self) -> NDArray[np.uint8] | None:
        """1 for nodes that stay bright, uint8 (n,); None while nothing is dimmed."""
        if self.dim <= 0.0:
            return None
        lit = np.zeros(len(self.scene.graph), dtype=np.uint8)
        lit[self.bright] = 1
        return lit

    def opacity(self) -> NDArray[np.float32]:
        """The opacity of each node, float32 (n,)."""
        lit = self.lit
        if lit is None:
            return self.scene.strength
        dimmed = np.float32(1.0 - (1.0 - _DIMMED_OPACITY) * self.dim)
        return np.where(lit, self.scene.strength, self.scene.strength * dimmed)

    def name(self) -> None:
        """Place the labels if the frame's content changed."""
        scene, size = self.scene, (self.width, self.height)
        marked = (scene.hovered, tuple(scene.selection), tuple(scene.marks.path))
        if self.labels.needs_placement((self.camera, size, scene.version, marked, round(self.dim, 1))):
            self.labels.place(scene, self.view, self.opacity(), self._named_first(), size)

    def _named_first(self) -> list[int]:
        """Return rows labeled first: hovered, on the path, selected, heavy neighbors of the hovered one."""
        scene = self.scene
        forced = [scene.hovered] if scene.hovered >= 0 else []
        forced += [*scene.marks.path[:40], *scene.selection[:40]]
        if scene.hovered >= 0:
            neighbours = self.bright[self.bright != scene.hovered]
            forced += _heaviest(neighbours, scene.weight, _MAX_FORCED_LABELS)
        return list(dict.fromkeys(forced))


def _heaviest(rows: NDArray[np.int32], weight: NDArray[np.float32], most: int) -> list[int]:
    """Return the `most` heaviest of `rows` in descending order; equal weights keep their order."""
    if len(rows) > most:
        least = np.partition(weight[rows], -most)[-most]
        heavier, equal = rows[weight[rows] > least], rows[weight[rows] == least]
        rows = np.concatenate([heavier, equal[: most - len(heavier)]])
    found: list[int] = rows[np.argsort(-weight[rows], kind="stable")].tolist()
    return found


def edge_alpha(count: int, scale: float, is_dark: bool) -> float:
    """Return the opacity of one link: lower for many links, higher when zoomed in."""
    base = float(0.62 * (600 / max(count, 600)) ** 0.24)
    closer = float(min(1.6, max(1.0, (scale / 9.0) ** 0.3)))
    return min(0.85, base * closer * (1.0 if is_dark else 0.9))


def paint_under(painter: QPainter, image: QImage, frame: FrameState) -> None:
    """Paint what lies between the links and the nodes; `painter` paints on `image`."""
    if frame.held is not None:
        _paint_held_lines(painter, image, frame, frame.held)
    if frame.dim > 0.0:
        _paint_lit_lines(painter, image, frame)
    if len(frame.scene.marks.path) > 1:
        _paint_path(painter, frame)
    _paint_glow(painter, frame)


def paint_over(painter: QPainter, frame: FrameState) -> None:
    """Paint what lies between the nodes and the labels."""
    _paint_rings(painter, frame)
    if frame.band is not None:
        _paint_band(painter, frame, frame.band)


def _paint_lit_lines(painter: QPainter, image: QImage, frame: FrameState) -> None:
    """Draw the links of the hovered node in the color of their relation."""
    scene = frame.scene
    hub = scene.hovered if scene.hovered >= 0 else (int(frame.bright[-1]) if len(frame.bright) else -1)
    if hub < 0 or scene.marks.path:
        return
    mine = _sample(scene.links_of(hub), _MAX_LIT_LINES)
    fine = len(mine) < _MAX_FINE_LIT_LINES
    opacity = frame.dim * 0.85 if fine else frame.dim
    own = f"#{int(scene.colors[hub]) & 0xFFFFFF:06x}"
    suggested = suggested_mask(scene.graph)
    for code in np.unique(scene.graph.edge_codes[mine]).tolist():
        name = scene.graph.edge_types[code]
        color = relation_color(scene.theme, name)
        if name == PLAIN_LINK:
            color = mix_colors(own, scene.theme.text, 0.15)
        if not fine:  # Opaque, because translucent lines would hide one another all the same.
            color = mix_colors(scene.theme.window, color, 0.6)
        chosen = mine[scene.graph.edge_codes[mine] == code]
        width = (1.3 if name == PLAIN_LINK else 1.9) if fine else 1.0
        proposed = np.zeros(len(chosen), dtype=bool) if suggested is None else suggested[chosen]
        ends = _ends(frame, scene.graph.edges[chosen[~proposed]])
        stroke_lines(image, ends, color, width, opacity)
        painter.setOpacity(opacity)
        painter.setPen(QPen(QColor(color), width, Qt.PenStyle.DashLine))
        draw_lines(painter, _ends(frame, scene.graph.edges[chosen[proposed]]))
        if len(chosen) <= _MAX_ARROWS:
            painter.setPen(QPen(QColor(color), width))
            _paint_arrows(painter, frame, chosen)
    painter.setOpacity(1.0)


def _paint_arrows(painter: QPainter, frame: FrameState, chosen: NDArray[np.int64]) -> None:
    """Draw an arrowhead at the end of each link."""
    scene, view = frame.scene, frame.view
    edges = scene.graph.edges[chosen]
    source, target = (
        view.to_pixels(scene.positions[edges[:, 0]]),
        view.to_pixels(scene.positions[edges[:, 1]]),
    )
    apart = target - source
    length = np.maximum(np.hypot(apart[:, 0], apart[:, 1]), 1e-3)
    way = apart / length[:, None]
    tip = target - way * (view.radii(scene.radii[edges[:, 1]]) + 1.5)[:, None]
    side = np.stack([-way[:, 1], way[:, 0]], axis=1)
    far_enough = length > 26
    for turn in (1.0, -1.0):
        wing = tip - way * 5.5 + side * (2.8 * turn)
        draw_lines(painter, np.concatenate([tip, wing], axis=1)[far_enough])


def _paint_held_lines(painter: QPainter, image: QImage, frame: FrameState, held: NDArray[np.int64]) -> None:
    """Draw the links of dragged nodes live."""
    scene = frame.scene
    look = scene.edges
    mine = _sample(scene.links_among(held), _MAX_HELD_LINES)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for each in np.unique(look.classes[mine]).tolist():
        color = "#" + "".join(f"{part:02x}" for part in look.colors[each].tolist())
        ends = _ends(frame, scene.graph.edges[mine[look.classes[mine] == each]])
        stroke_lines(image, ends, mix_colors(scene.theme.window, color, 0.5), 1.0, 1.0)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)


def _paint_path(painter: QPainter, frame: FrameState) -> None:
    """Draw the highlighted path."""
    scene = frame.scene
    rows = np.array(scene.marks.path, dtype=np.int32)
    lines = _ends(frame, np.stack([rows[:-1], rows[1:]], axis=1))
    for color, width in ((scene.theme.window, 6.0), (scene.theme.accent, 3.0)):
        painter.setPen(QPen(QColor(color), width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        draw_lines(painter, lines)


def _glows(scene: Scene) -> list[Glow]:
    """Return all glows: changed nodes, highlights by key, nodes of pending changes."""
    changed = Glow(frozenset(scene.changed - scene.pending), scene.theme.success)
    pending = Glow(frozenset(scene.pending), scene.theme.accent, breathing=True)
    return [changed, *scene.marks.glows.values(), pending]


def _paint_glow(painter: QPainter, frame: FrameState) -> None:
    """Draw a pulsating glow behind nodes of pending changes and a steady one behind changed nodes."""
    scene = frame.scene
    breath = 0.5 + 0.5 * math.sin(frame.glow * 2 * math.pi)
    for glow in _glows(scene):
        color = glow.color or scene.theme.accent
        for middle, radius in _circles(frame, scene.rows(glow.paths)):
            if glow.breathing:
                _paint_light(painter, middle, radius * 2.4 + 12 + 5 * breath, color, 0.5 + 0.4 * breath)
            else:
                _paint_light(painter, middle, radius * 2.2 + 7, color, 0.45)


def _paint_light(painter: QPainter, middle: QPointF, reach: float, color: str, strength: float) -> None:
    size = round(reach)
    painter.setOpacity(strength)
    light = _light(color, size, painter.device().devicePixelRatioF())
    painter.drawImage(middle - QPointF(size, size), light)
    painter.setOpacity(1.0)


# An hour of work changes hundreds of notes, and to fill that many gradients takes 10 ms of each frame.
@lru_cache(maxsize=256)
def _light(color: str, reach: int, ratio: float) -> QImage:
    """Draw a light with a radius of `reach` that fades toward its edge."""
    pixels = math.ceil(2 * reach * ratio)
    image = QImage(pixels, pixels, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    middle = QPointF(reach, reach)
    gradient = QRadialGradient(middle, reach)
    for stop, share in ((0.0, 1.0), (0.45, 0.55), (1.0, 0.0)):
        tone = QColor(color)
        tone.setAlphaF(share)
        gradient.setColorAt(stop, tone)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QBrush(gradient))
    painter.drawEllipse(middle, reach, reach)
    painter.end()
    return image


def _paint_rings(painter: QPainter, frame: FrameState) -> None:
    """Draw rings around selected, hovered, pending and changed nodes, so that color is not the only sign."""
    scene = frame.scene
    painter.setBrush(Qt.BrushStyle.NoBrush)
    solid, dashes = Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine
    rings = []
    for glow in _glows(scene):
        gap = 4.0 if glow.breathing else 2.5
        rings.append((scene.rows(glow.paths), glow.color or scene.theme.accent, gap, glow.breathing))
    rings.append((scene.selection, scene.theme.accent, 3.0, False))
    rings.append(([scene.hovered] if scene.hovered >= 0 else [], scene.theme.text, 2.0, False))
    for rows, color, gap, dashed in rings:
        if not rows:
            continue
        painter.setPen(QPen(QColor(color), 1.8, dashes if dashed else solid))
        for middle, radius in _circles(frame, rows):
            painter.drawEllipse(middle, radius + gap, radius + gap)


def _circles(frame: FrameState, rows: Sequence[int]) -> list[tuple[QPointF, float]]:
    """Return centers and radii in pixels of those nodes in `rows` that are in or near the view."""
    if not rows:
        return []
    view, scene = frame.view, frame.scene
    at, radii = view.to_pixels(scene.positions[rows]), view.radii(scene.radii[rows])
    reach = 3 * radii + 20
    x, y = at[:, 0], at[:, 1]
    near = (x > -reach) & (x < frame.width + reach) & (y > -reach) & (y < frame.height + reach)
    return [(to_point(place), float(radius)) for place, radius in zip(at[near], radii[near], strict=True)]


def _paint_band(painter: QPainter, frame: FrameState, band: QRectF) -> None:
    fill = QColor(frame.scene.theme.accent)
    painter.setPen(QPen(fill, 1))
    fill.setAlphaF(0.12)
    painter.setBrush(fill)
    painter.drawRoundedRect(band, 3, 3)


def paint_empty(painter: QPainter, frame: FrameState) -> None:
    """Paint the message of an empty graph."""
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
    middle = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
    painter.drawText(area.translated(0, -14), middle, title)
    painter.setFont(frame.font)
    painter.setPen(QColor(theme.faint))
    painter.drawText(area.translated(0, 16), middle, hint)


def _sample(links: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return `links`, or an even sample if there are more than a frame can draw."""
    if len(links) <= most:
        return links
    return links[np.arange(most) * len(links) // most]


def _ends(frame: FrameState, edges: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the ends of links in pixels, float64 (k, 4)."""
    places, view = frame.scene.positions, frame.view
    ends = [view.to_pixels(places[edges[:, 0]]), view.to_pixels(places[edges[:, 1]])]
    return np.concatenate(ends, axis=1).astype(np.float64)


def to_point(at: NDArray[np.float32]) -> QPointF:
    """Return a position, float32 (2,), as a QPointF."""
    return QPointF(float(at[0]), float(at[1]))
