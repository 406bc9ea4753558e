"""Paints one frame of the graph: links, nodes, what is lit or chosen, names."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QPainter, QPen, QRadialGradient

from app.desktop.graph_view import edge_picture
from app.desktop.graph_view.camera import Camera
from app.desktop.graph_view.edge_picture import Picture
from app.desktop.graph_view.labels import Labels
from app.desktop.graph_view.look import mixed, relation_color
from app.desktop.graph_view.node_picture import paint_nodes
from app.desktop.graph_view.scene import Scene
from app.desktop.graph_view.sprites import LARGEST_SPRITE, Atlas, draw_disc, draw_lines
from app.graph import native
from app.graph.model import PLAIN_LINK

_DIMMED = 0.14
_MOST_LIT_LINES = 3000


@dataclass(frozen=True, slots=True)
class Frame:
    """All that one frame shows.

    Args:
        scene: The graph and its state.
        camera: From where.
        width: Of the view, in pixels.
        height: Of the view, in pixels.
        picture: The links, once there is a picture.
        atlas: The node pictures.
        labels: The names.
        font: For words beside names.
        dim: 0 to 1, how far all but the lit nodes are dimmed.
        lit: Rows that stay bright.
        held: Rows whose links are drawn live, while a node is dragged.
        glow: 0 to 1, where the breath of pending nodes is.
        band: The rectangle that selects.
    """

    scene: Scene
    camera: Camera
    width: int
    height: int
    picture: Picture | None
    atlas: Atlas
    labels: Labels
    font: QFont
    dim: float
    lit: NDArray[np.int32]
    held: NDArray[np.int64] | None
    glow: float
    band: QRectF | None


def edge_alpha(count: int, scale: float, is_dark: bool) -> float:
    """Opacity of one link: less where there are many, more when one looks closer."""
    base = float(0.62 * (600 / max(count, 600)) ** 0.24)
    closer = float(min(1.6, max(1.0, (scale / 9.0) ** 0.3)))
    return min(0.85, base * closer * (1.0 if is_dark else 0.9))


def paint(painter: QPainter, frame: Frame, *, still: bool = False) -> None:
    """Everything, back to front.

    Args:
        painter: Where to.
        frame: What.
        still: Names are all there at once, for a picture that nobody sees fade in.
    """
    scene = frame.scene
    width, height = frame.width, frame.height
    painter.fillRect(QRectF(0, 0, width, height), QColor(scene.theme.window))
    if not len(scene.graph):
        _paint_empty(painter, frame)
        return
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
    at = frame.camera.to_screen(scene.positions, width, height)
    radii = scene.pixel_radii(frame.camera.scale)
    opacity = _opacity(frame)
    if frame.picture is not None:
        painter.setOpacity(1.0 - (1.0 - _DIMMED) * frame.dim)
        edge_picture.show(painter, frame.picture, frame.camera, width, height)
        painter.setOpacity(1.0)
    if frame.held is not None:
        _paint_held_lines(painter, frame, at)
    if frame.dim > 0.0:
        _paint_lit_lines(painter, frame, at)
    _paint_glow(painter, frame, at, radii)
    _paint_nodes(painter, frame, at, radii, opacity)
    _paint_rings(painter, frame, at, radii)
    if frame.labels.due(_named_for(frame)):
        frame.labels.place(at, radii, scene.weight, opacity, _named_first(frame), (width, height))
    if still:
        frame.labels.finish()
    frame.labels.paint(painter, at, radii)
    if frame.band is not None:
        _paint_band(painter, frame, frame.band)


def _opacity(frame: Frame) -> NDArray[np.float32]:
    """float32 (n,): how solid each node is now."""
    opacity = frame.scene.strength.copy()
    if frame.dim > 0.0:
        lit = np.zeros(len(opacity), dtype=bool)
        lit[frame.lit] = True
        opacity[~lit] *= np.float32(1.0 - (1.0 - _DIMMED) * frame.dim)
    return opacity


def _named_for(frame: Frame) -> tuple[object, ...]:
    """All that decides which names are shown where."""
    scene = frame.scene
    size = (frame.width, frame.height)
    return frame.camera, size, scene.version, scene.hovered, tuple(scene.selection), round(frame.dim, 1)


def _named_first(frame: Frame) -> list[int]:
    """Rows named before others: hovered, selected, and the weightiest neighbours of the hovered one."""
    scene = frame.scene
    forced = [scene.hovered] if scene.hovered >= 0 else []
    forced += scene.selection[:40]
    if scene.hovered >= 0:
        neighbours = frame.lit[frame.lit != scene.hovered]
        forced += neighbours[np.argsort(-scene.weight[neighbours], kind="stable")][:36].tolist()
    return list(dict.fromkeys(forced))


def _paint_nodes(
    painter: QPainter,
    frame: Frame,
    at: NDArray[np.float32],
    radii: NDArray[np.float32],
    opacity: NDArray[np.float32],
) -> None:
    """Small nodes first, so that hubs lie on top; the few that outgrow the atlas are drawn one by one."""
    scene = frame.scene
    x, y = at[:, 0], at[:, 1]
    inside = (x > -radii) & (x < frame.width + radii) & (y > -radii) & (y < frame.height + radii)
    rows = scene.order[(inside & (opacity > 0.0))[scene.order]]
    if native.available():
        paint_nodes(painter, scene, at, radii, opacity, rows, (frame.width, frame.height))
        return
    small = rows[radii[rows] <= LARGEST_SPRITE]
    frame.atlas.draw(
        painter, frame.atlas.fragments(at[small], radii[small], scene.nodes.group[small], opacity[small])
    )
    for row in rows[radii[rows] > LARGEST_SPRITE].tolist():
        painter.setOpacity(float(opacity[row]))
        group = scene.nodes.groups[scene.nodes.group[row]]
        draw_disc(painter, _point(at, row), float(radii[row]), group, scene.theme.window)
    painter.setOpacity(1.0)


def _paint_lit_lines(painter: QPainter, frame: Frame, at: NDArray[np.float32]) -> None:
    """The links of the node under the pointer, in the colour of their relation."""
    scene = frame.scene
    hub = scene.hovered if scene.hovered >= 0 else (int(frame.lit[-1]) if len(frame.lit) else -1)
    if hub < 0:
        return
    mine = np.flatnonzero((scene.graph.edges == hub).any(axis=1) & (scene.edges.light > 0))[:_MOST_LIT_LINES]
    painter.setOpacity(frame.dim * (0.85 if len(mine) < 120 else 0.5))
    own = scene.nodes.groups[scene.nodes.group[hub]].color
    for code in np.unique(scene.graph.edge_codes[mine]).tolist():
        name = scene.graph.edge_types[code]
        color = relation_color(scene.theme, name)
        if name == PLAIN_LINK:
            color = mixed(own, scene.theme.text, 0.15)
        chosen = mine[scene.graph.edge_codes[mine] == code]
        painter.setPen(QPen(QColor(color), 1.3 if name == PLAIN_LINK else 1.9))
        draw_lines(painter, _ends(at, scene.graph.edges[chosen]))
        if len(chosen) <= 160:
            _paint_arrows(painter, frame, at, chosen, color)
    painter.setOpacity(1.0)


def _paint_arrows(
    painter: QPainter, frame: Frame, at: NDArray[np.float32], chosen: NDArray[np.int64], color: str
) -> None:
    """A small head where each link ends."""
    scene = frame.scene
    edges = scene.graph.edges[chosen]
    apart = at[edges[:, 1]] - at[edges[:, 0]]
    length = np.maximum(np.hypot(apart[:, 0], apart[:, 1]), 1e-3)
    way = apart / length[:, None]
    tip = at[edges[:, 1]] - way * (scene.pixel_radii(frame.camera.scale)[edges[:, 1]] + 1.5)[:, None]
    side = np.stack([-way[:, 1], way[:, 0]], axis=1)
    far_enough = length > 26
    for turn in (1.0, -1.0):
        wing = tip - way * 5.5 + side * (2.8 * turn)
        draw_lines(painter, np.concatenate([tip, wing], axis=1)[far_enough])


def _paint_held_lines(painter: QPainter, frame: Frame, at: NDArray[np.float32]) -> None:
    """Links of the nodes that follow the hand, live."""
    scene = frame.scene
    held = np.zeros(len(at), dtype=bool)
    held[frame.held] = True
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    mine = np.flatnonzero(held[scene.graph.edges].any(axis=1) & (scene.edges.light > 0.2))
    for each in np.unique(scene.edges.classes[mine]).tolist():
        color = "#" + "".join(f"{part:02x}" for part in scene.edges.colors[each].tolist())
        painter.setPen(QPen(QColor(mixed(scene.theme.window, color, 0.5)), 1))
        draw_lines(painter, _ends(at, scene.graph.edges[mine[scene.edges.classes[mine] == each]]))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)


def _paint_glow(
    painter: QPainter, frame: Frame, at: NDArray[np.float32], radii: NDArray[np.float32]
) -> None:
    """A breathing light behind what waits for an answer, and a steady one behind what was changed."""
    scene = frame.scene
    breath = 0.5 + 0.5 * math.sin(frame.glow * 2 * math.pi)
    for row in scene.rows(scene.changed - scene.pending):
        _paint_light(painter, _point(at, row), float(radii[row]) * 2.2 + 7, scene.theme.success, 0.45)
    for row in scene.rows(scene.pending):
        reach = float(radii[row]) * 2.4 + 12 + 5 * breath
        _paint_light(painter, _point(at, row), reach, scene.theme.accent, 0.5 + 0.4 * breath)


def _paint_light(painter: QPainter, middle: QPointF, reach: float, color: str, strength: float) -> None:
    light = QRadialGradient(middle, reach)
    for stop, share in ((0.0, 1.0), (0.45, 0.55), (1.0, 0.0)):
        tone = QColor(color)
        tone.setAlphaF(strength * share)
        light.setColorAt(stop, tone)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QBrush(light))
    painter.drawEllipse(middle, reach, reach)


def _paint_rings(
    painter: QPainter, frame: Frame, at: NDArray[np.float32], radii: NDArray[np.float32]
) -> None:
    """Rings around what is selected, hovered, pending and changed: not by colour alone."""
    scene = frame.scene
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for rows, color, gap, line in (
        (scene.rows(scene.changed - scene.pending), scene.theme.success, 2.5, Qt.PenStyle.SolidLine),
        (scene.rows(scene.pending), scene.theme.accent, 4.0, Qt.PenStyle.DashLine),
        (scene.selection, scene.theme.accent, 3.0, Qt.PenStyle.SolidLine),
        ([scene.hovered] if scene.hovered >= 0 else [], scene.theme.text, 2.0, Qt.PenStyle.SolidLine),
    ):
        painter.setPen(QPen(QColor(color), 1.8, line))
        for row in rows:
            reach = float(radii[row]) + gap
            painter.drawEllipse(_point(at, row), reach, reach)


def _paint_band(painter: QPainter, frame: Frame, band: QRectF) -> None:
    fill = QColor(frame.scene.theme.accent)
    painter.setPen(QPen(fill, 1))
    fill.setAlphaF(0.12)
    painter.setBrush(fill)
    painter.drawRoundedRect(band, 3, 3)


def _paint_empty(painter: QPainter, frame: Frame) -> None:
    """What is said where there is nothing to show."""
    theme = frame.scene.theme
    area = QRectF(24, 0, frame.width - 48, frame.height)
    font = painter.font()
    font.setPointSizeF(font.pointSizeF() * 1.25)
    painter.setFont(font)
    painter.setPen(QColor(theme.muted))
    middle = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
    painter.drawText(area.translated(0, -14), middle, "Nothing to show yet")
    painter.setFont(frame.font)
    painter.setPen(QColor(theme.faint))
    words = "Notes appear here with their links as they are read or written."
    painter.drawText(area.translated(0, 16), middle, words)


def _ends(at: NDArray[np.float32], edges: NDArray[np.int32]) -> NDArray[np.float64]:
    return np.concatenate([at[edges[:, 0]], at[edges[:, 1]]], axis=1).astype(np.float64)


def _point(at: NDArray[np.float32], row: int) -> QPointF:
    return QPointF(float(at[row, 0]), float(at[row, 1]))
