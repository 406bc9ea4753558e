"""Snapshots of the graph, rendered in a thread as pixels or as vector shapes."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF, QImage, QPainter

from app.desktop.graph.annotations import AxisTick, RegionDisc, paint_arrangement
from app.desktop.graph.camera import Camera, fit_camera
from app.desktop.graph.canvas import Canvas
from app.desktop.graph.export_dialog import ExportOptions
from app.desktop.graph.render.layers import draw_still
from app.desktop.graph.render.overlay_painter import edge_alpha
from app.desktop.graph.scene import Scene
from app.graph.svg import SvgDiscs, SvgDrawing, SvgLabel, SvgLines, SvgRing

_MIN_NAMED_RADIUS = 3.3
_EDGE_MARGIN = 70.0
_OPACITY_STEP = 0.05
_MARGIN = 60.0


@dataclass(frozen=True, eq=False)
class GraphSnapshot:
    """An immutable copy of everything that a picture needs."""

    scene: Scene
    camera: Camera
    places: tuple[RegionDisc, ...]
    moments: tuple[AxisTick, ...]
    font: QFont
    options: ExportOptions


def take_snapshot(
    canvas: Canvas, places: tuple[RegionDisc, ...], moments: tuple[AxisTick, ...], options: ExportOptions
) -> GraphSnapshot:
    """Return a snapshot of `canvas` with these options, without selection and hover."""
    scene = copy.copy(canvas.scene)
    scene.selection, scene.hovered = [], -1
    scene.pending, scene.changed = set(), set()
    if not options.names:
        scene.graph = replace(scene.graph, names=("",) * len(scene.graph))
    if options.everything:
        shown = scene.positions[scene.strength > 0.0]
        camera = fit_camera(shown, options.width, options.height, _MARGIN)
    else:
        factor = options.width / max(canvas.width(), 1)
        camera = Camera(canvas.camera.x, canvas.camera.y, canvas.camera.scale * factor)
    return GraphSnapshot(scene, camera, places, moments, QFont(canvas.font()), options)


def graph_aspect(canvas: Canvas) -> float:
    """Return width by height of the whole graph, within sensible limits."""
    shown = canvas.scene.positions[canvas.scene.strength > 0.0]
    if len(shown) < 2:
        return 1.6
    across, down = (shown.max(axis=0) - shown.min(axis=0)).tolist()
    return float(min(3.0, max(0.4, (across + 6) / (down + 6))))


def draw_pixels(still: GraphSnapshot) -> QImage:
    """Return the rendered picture; slow, so call it in a thread.

    A transparent background is rendered over black and over white: the difference gives the opacity.
    """
    if not still.options.transparent:
        return _paint_on(still, still.scene.theme.window)
    return _without_ground(_paint_on(still, "#000000"), _paint_on(still, "#ffffff"))


def _paint_on(still: GraphSnapshot, ground: str) -> QImage:
    scene = copy.copy(still.scene)
    scene.theme = replace(scene.theme, window=ground)
    size = (still.options.width, still.options.height)
    image = draw_still(scene, still.font, still.camera, size, float(still.options.scale))
    if still.places or still.moments:
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_arrangement(painter, still.places, still.moments, still.camera, size, scene.theme, still.font)
        painter.end()
    return image


def _without_ground(black: QImage, white: QImage) -> QImage:
    """Return one picture whose opacity is the share of light that is not the background's."""
    dark, light = _channels(black), _channels(white)
    through = (light[..., :3].astype(np.int16) - dark[..., :3]).max(axis=2)
    made: NDArray[np.uint8] = np.empty(dark.shape, dtype=np.uint8)
    made[..., 3] = np.clip(255 - through, 0, 255)
    made[..., :3] = np.minimum(dark[..., :3], made[..., 3:4])
    high, wide = len(made), black.width()
    image = QImage(made.data, wide, high, 4 * wide, QImage.Format.Format_ARGB32_Premultiplied).copy()
    image.setDevicePixelRatio(black.devicePixelRatio())
    return image


def _channels(image: QImage) -> NDArray[np.uint8]:
    """Return blue, green, red and the fourth channel, uint8 (h, w, 4)."""
    plain = image.convertToFormat(QImage.Format.Format_RGB32)
    flat = np.frombuffer(plain.constBits(), dtype=np.uint8)
    return flat.reshape(plain.height(), plain.bytesPerLine() // 4, 4)[:, : plain.width()].copy()


def draw_shapes(still: GraphSnapshot) -> SvgDrawing:
    """Return the vector drawing; slow, so call it in a thread."""
    scene, camera, options = still.scene, still.camera, still.options
    at = camera.to_screen(scene.positions, options.width, options.height)
    radii = scene.pixel_radii(camera.scale)
    theme = scene.theme
    named = tuple(_names(still, at, radii)) if options.names else ()
    half = options.width / 2, options.height / 2
    rings = tuple(
        SvgRing(
            (place.x - camera.x) * camera.scale + half[0],
            (place.y - camera.y) * camera.scale + half[1],
            place.radius * camera.scale,
        )
        for place in still.places
    )
    signs = [
        SvgLabel(ring.x, ring.y - ring.radius + 4, 12.0, place.name)
        for ring, place in zip(rings, still.places, strict=True)
        if place.name and ring.radius > 34
    ]
    signs += [
        SvgLabel((moment.x - camera.x) * camera.scale + half[0], options.height - 8, 11.0, moment.label)
        for moment in still.moments
        if moment.major
    ]
    return SvgDrawing(
        options.width,
        options.height,
        "Graph",
        tuple(_links(scene, at, camera)),
        tuple(_discs(scene, at, radii)),
        (*named, *signs),
        rings,
        None if options.transparent else theme.window,
        theme.window,
        theme.text,
        theme.faint,
        still.font.family() + ", sans-serif",
    )


def _links(scene: Scene, at: NDArray[np.float32], camera: Camera) -> Iterator[SvgLines]:
    """Group links by color, opacity and width, so that the file states each look once."""
    look = scene.edges
    ends = np.concatenate([at[look.edges[:, 0]], at[look.edges[:, 1]]], axis=1)
    length = np.hypot(ends[:, 2] - ends[:, 0], ends[:, 3] - ends[:, 1])
    alpha = edge_alpha(len(look.edges), camera.scale, scene.theme.is_dark)
    reach = _EDGE_MARGIN + 5.0 * camera.scale
    light = alpha * look.light * np.sqrt(np.minimum(1.0, reach / np.maximum(length, 1e-3)))
    dashed = np.zeros(len(ends), dtype=bool) if look.dashed is None else look.dashed
    steps = np.clip(np.round(light / _OPACITY_STEP), 0, 1 / _OPACITY_STEP).astype(np.int64)
    widths = np.round(look.width * 4).astype(np.int64)
    keys = ((look.classes.astype(np.int64) * 64 + steps) * 64 + np.clip(widths, 0, 63)) * 2 + dashed
    order = np.argsort(keys, kind="stable")
    order = order[steps[order] > 0]
    if not len(order):
        return
    cuts = np.flatnonzero(np.diff(keys[order])) + 1
    for rows in np.split(order, cuts):
        first = int(rows[0])
        color = "#" + "".join(f"{part:02x}" for part in look.colors[look.classes[first]].tolist())
        yield SvgLines(
            ends[rows],
            color,
            float(widths[first]) / 4,
            float(steps[first]) * _OPACITY_STEP,
            bool(dashed[first]),
        )


def _discs(scene: Scene, at: NDArray[np.float32], radii: NDArray[np.float32]) -> Iterator[SvgDiscs]:
    """Draw nodes, small ones first; consecutive nodes that look alike form one group."""
    shown = scene.order[scene.strength[scene.order] > 0.0]
    colors = scene.colors[shown]
    faint = scene.strength[shown] < 1.0
    keys = colors.astype(np.int64) * 2 + faint
    shapes = np.concatenate([at[shown], radii[shown, None]], axis=1)
    size = np.floor(np.log2(np.maximum(radii[shown], 1.0)) * 2).astype(np.int64)
    ranks = size * (1 << 40) + keys
    order = np.argsort(ranks, kind="stable")
    if not len(order):
        return
    for rows in np.split(order, np.flatnonzero(np.diff(ranks[order])) + 1):
        color = int(colors[rows[0]])
        yield SvgDiscs(
            shapes[rows], f"#{color & 0xFFFFFF:06x}", bool(color >> 24), 0.2 if faint[rows[0]] else 1.0
        )


def _names(still: GraphSnapshot, at: NDArray[np.float32], radii: NDArray[np.float32]) -> Iterator[SvgLabel]:
    """Draw the names of the heaviest nodes below them, without overlaps."""
    scene, options = still.scene, still.options
    room = max(20, options.width * options.height // 9000)
    inside = (at >= 0).all(axis=1) & (at <= (options.width, options.height)).all(axis=1)
    named = np.flatnonzero(inside & (scene.strength > 0.45) & (radii >= _MIN_NAMED_RADIUS))
    ranked = named[np.argsort(-scene.weight[named], kind="stable")][: room * 3].tolist()
    taken: dict[tuple[int, int], list[tuple[float, float, float, float]]] = {}
    font = QFont(still.font)
    found = 0
    for row in ranked:
        size = float(np.clip(10.4 + 2.6 * float(scene.radii[row]), 11, 15))
        font.setPixelSize(round(size))
        text = scene.graph.names[row]
        text = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, 16 * size)
        half = QFontMetricsF(font).horizontalAdvance(text) / 2 + 2
        x, y = float(at[row, 0]), float(at[row, 1]) + float(radii[row]) + size
        box = (x - half, y - size, x + half, y + 0.3 * size)
        cells = [
            (a, b)
            for a in range(int(box[0] // 64), int(box[2] // 64) + 1)
            for b in range(int(box[1] // 64), int(box[3] // 64) + 1)
        ]
        if any(_touch(box, other) for cell in cells for other in taken.get(cell, ())):
            continue
        for cell in cells:
            taken.setdefault(cell, []).append(box)
        yield SvgLabel(x, y, size, text)
        found += 1
        if found >= room:
            return


def _touch(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
