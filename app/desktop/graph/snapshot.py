"""Take snapshots of the graph and render them, as pixels or as vector shapes."""

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
from app.desktop.graph.render.labels import MIN_NAMED_OPACITY, MIN_NAMED_RADIUS, label_sizes
from app.desktop.graph.render.layers import draw_static_image
from app.desktop.graph.render.overlay_painter import edge_alpha
from app.desktop.graph.scene import Scene
from app.graph.svg import SvgDiscs, SvgDrawing, SvgLabel, SvgLines, SvgRing

_FULL_LIGHT_LENGTH_PX = 70.0
_OPACITY_STEP = 0.05
_FIT_MARGIN_PX = 60.0


@dataclass(frozen=True, eq=False)
class GraphSnapshot:
    """A copy of everything that an export needs, safe to use in another thread."""

    scene: Scene
    camera: Camera
    discs: tuple[RegionDisc, ...]
    ticks: tuple[AxisTick, ...]
    font: QFont
    options: ExportOptions


def take_snapshot(
    canvas: Canvas, discs: tuple[RegionDisc, ...], ticks: tuple[AxisTick, ...], options: ExportOptions
) -> GraphSnapshot:
    """Return a snapshot of `canvas` with these options, without the selection, hover and change marks."""
    scene = copy.copy(canvas.scene)
    scene.selection, scene.hovered = [], -1
    scene.pending, scene.changed = set(), set()
    if not options.labels:
        scene.graph = replace(scene.graph, names=("",) * len(scene.graph))
    if options.whole_graph:
        visible = scene.positions[scene.strength > 0.0]
        camera = fit_camera(visible, options.width, options.height, _FIT_MARGIN_PX)
    else:
        factor = options.width / max(canvas.width(), 1)
        camera = Camera(canvas.camera.x, canvas.camera.y, canvas.camera.scale * factor)
    return GraphSnapshot(scene, camera, discs, ticks, QFont(canvas.font()), options)


def graph_aspect(canvas: Canvas) -> float:
    """Return the visible nodes' width divided by their height, from 0.4 to 3; 1.6 for fewer than two."""
    visible = canvas.scene.positions[canvas.scene.strength > 0.0]
    if len(visible) < 2:
        return 1.6
    width, height = (visible.max(axis=0) - visible.min(axis=0)).tolist()
    return float(min(3.0, max(0.4, (width + 6) / (height + 6))))


def draw_pixels(snapshot: GraphSnapshot) -> QImage:
    """Return the rendered image; slow, so call it in a thread.

    A transparent image is rendered over black and over white: the difference gives the opacity.
    """
    if not snapshot.options.transparent:
        return _paint_on(snapshot, snapshot.scene.theme.window)
    return _extract_opacity(_paint_on(snapshot, "#000000"), _paint_on(snapshot, "#ffffff"))


def _paint_on(snapshot: GraphSnapshot, background: str) -> QImage:
    scene = copy.copy(snapshot.scene)
    scene.theme = replace(scene.theme, window=background)
    size = (snapshot.options.width, snapshot.options.height)
    image = draw_static_image(scene, snapshot.font, snapshot.camera, size, float(snapshot.options.scale))
    if snapshot.discs or snapshot.ticks:
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_arrangement(
            painter, snapshot.discs, snapshot.ticks, snapshot.camera, size, scene.theme, snapshot.font
        )
        painter.end()
    return image


def _extract_opacity(black: QImage, white: QImage) -> QImage:
    """Return one image with the opacity computed from renderings over black and over white."""
    dark, light = _channels(black), _channels(white)
    transmitted = (light[..., :3].astype(np.int16) - dark[..., :3]).max(axis=2)
    channels: NDArray[np.uint8] = np.empty(dark.shape, dtype=np.uint8)
    channels[..., 3] = np.clip(255 - transmitted, 0, 255)
    channels[..., :3] = np.minimum(dark[..., :3], channels[..., 3:4])
    height, width = len(channels), black.width()
    image = QImage(channels.data, width, height, 4 * width, QImage.Format.Format_ARGB32_Premultiplied).copy()
    image.setDevicePixelRatio(black.devicePixelRatio())
    return image


def _channels(image: QImage) -> NDArray[np.uint8]:
    """Return blue, green, red and the unused fourth channel, uint8 (h, w, 4)."""
    rgb = image.convertToFormat(QImage.Format.Format_RGB32)
    values = np.frombuffer(rgb.constBits(), dtype=np.uint8)
    return values.reshape(rgb.height(), rgb.bytesPerLine() // 4, 4)[:, : rgb.width()].copy()


def draw_shapes(snapshot: GraphSnapshot) -> SvgDrawing:
    """Return the vector drawing; slow, so call it in a thread."""
    scene, camera, options = snapshot.scene, snapshot.camera, snapshot.options
    pixels = camera.to_screen(scene.positions, options.width, options.height)
    radii = scene.pixel_radii(camera.scale)
    theme = scene.theme
    node_labels = tuple(_label_drawings(snapshot, pixels, radii)) if options.labels else ()
    center = options.width / 2, options.height / 2
    rings = tuple(
        SvgRing(
            (disc.x - camera.x) * camera.scale + center[0],
            (disc.y - camera.y) * camera.scale + center[1],
            disc.radius * camera.scale,
        )
        for disc in snapshot.discs
    )
    annotation_labels = [
        SvgLabel(ring.x, ring.y - ring.radius + 4, 12.0, disc.name)
        for ring, disc in zip(rings, snapshot.discs, strict=True)
        if disc.name and ring.radius > 34
    ]
    annotation_labels += [
        SvgLabel((tick.x - camera.x) * camera.scale + center[0], options.height - 8, 11.0, tick.label)
        for tick in snapshot.ticks
        if tick.major
    ]
    return SvgDrawing(
        options.width,
        options.height,
        "Graph",
        tuple(_link_groups(scene, pixels, camera)),
        tuple(_node_groups(scene, pixels, radii)),
        (*node_labels, *annotation_labels),
        rings,
        None if options.transparent else theme.window,
        theme.window,
        theme.text,
        theme.faint,
        snapshot.font.family() + ", sans-serif",
    )


def _link_groups(scene: Scene, pixels: NDArray[np.float32], camera: Camera) -> Iterator[SvgLines]:
    """Group links by style (color, opacity, width and dashes), so that the file contains each style once."""
    style = scene.edges
    ends = np.concatenate([pixels[style.edges[:, 0]], pixels[style.edges[:, 1]]], axis=1)
    length = np.hypot(ends[:, 2] - ends[:, 0], ends[:, 3] - ends[:, 1])
    alpha = edge_alpha(len(style.edges), camera.scale, scene.theme.is_dark)
    full_length = _FULL_LIGHT_LENGTH_PX + 5.0 * camera.scale
    opacity = alpha * style.light * np.sqrt(np.minimum(1.0, full_length / np.maximum(length, 1e-3)))
    is_dashed = np.zeros(len(ends), dtype=bool) if style.dashed is None else style.dashed
    steps = np.clip(np.round(opacity / _OPACITY_STEP), 0, 1 / _OPACITY_STEP).astype(np.int64)
    widths = np.round(style.width * 4).astype(np.int64)
    keys = ((style.classes.astype(np.int64) * 64 + steps) * 64 + np.clip(widths, 0, 63)) * 2 + is_dashed
    order = np.argsort(keys, kind="stable")
    order = order[steps[order] > 0]
    if not len(order):
        return
    boundaries = np.flatnonzero(np.diff(keys[order])) + 1
    for rows in np.split(order, boundaries):
        first = int(rows[0])
        color = "#" + "".join(f"{part:02x}" for part in style.colors[style.classes[first]].tolist())
        yield SvgLines(
            ends[rows],
            color,
            float(widths[first]) / 4,
            float(steps[first]) * _OPACITY_STEP,
            bool(is_dashed[first]),
        )


def _node_groups(scene: Scene, pixels: NDArray[np.float32], radii: NDArray[np.float32]) -> Iterator[SvgDiscs]:
    """Yield nodes, small ones first; nodes of similar size and the same appearance form a group."""
    visible = scene.order[scene.strength[scene.order] > 0.0]
    colors = scene.colors[visible]
    is_faint = scene.strength[visible] < 1.0
    keys = colors.astype(np.int64) * 2 + is_faint
    shapes = np.concatenate([pixels[visible], radii[visible, None]], axis=1)
    size = np.floor(np.log2(np.maximum(radii[visible], 1.0)) * 2).astype(np.int64)
    ranks = size * (1 << 40) + keys
    order = np.argsort(ranks, kind="stable")
    if not len(order):
        return
    for rows in np.split(order, np.flatnonzero(np.diff(ranks[order])) + 1):
        color = int(colors[rows[0]])
        yield SvgDiscs(
            shapes[rows], f"#{color & 0xFFFFFF:06x}", bool(color >> 24), 0.2 if is_faint[rows[0]] else 1.0
        )


def _label_drawings(
    snapshot: GraphSnapshot, pixels: NDArray[np.float32], radii: NDArray[np.float32]
) -> Iterator[SvgLabel]:
    """Yield labels of the most linked nodes, placed below them without overlaps."""
    scene, options = snapshot.scene, snapshot.options
    capacity = max(20, options.width * options.height // 9000)
    is_inside = (pixels >= 0).all(axis=1) & (pixels <= (options.width, options.height)).all(axis=1)
    candidates = np.flatnonzero(
        is_inside & (scene.strength > MIN_NAMED_OPACITY) & (radii >= MIN_NAMED_RADIUS)
    )
    ranked_rows = candidates[np.argsort(-scene.weight[candidates], kind="stable")][: capacity * 3].tolist()
    occupied: dict[tuple[int, int], list[tuple[float, float, float, float]]] = {}
    font = QFont(snapshot.font)
    sizes = label_sizes(scene.radii)
    count = 0
    for row in ranked_rows:
        size = float(sizes[row])
        font.setPixelSize(int(sizes[row]))
        text = scene.graph.names[row]
        text = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, 16 * size)
        half_width = QFontMetricsF(font).horizontalAdvance(text) / 2 + 2
        x, y = float(pixels[row, 0]), float(pixels[row, 1]) + float(radii[row]) + size
        box = (x - half_width, y - size, x + half_width, y + 0.3 * size)
        cells = [
            (column, row_number)
            for column in range(int(box[0] // 64), int(box[2] // 64) + 1)
            for row_number in range(int(box[1] // 64), int(box[3] // 64) + 1)
        ]
        if any(_overlap(box, other) for cell in cells for other in occupied.get(cell, ())):
            continue
        for cell in cells:
            occupied.setdefault(cell, []).append(box)
        yield SvgLabel(x, y, size, text)
        count += 1
        if count >= capacity:
            return


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
