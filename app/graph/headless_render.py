"""Pictures of the graph without a window: SVG with names, PNG without, because fonts need a window."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.errors import InvalidParametersError
from app.graph import core_bindings
from app.graph.core_drawing import HOLLOW_FLAG, Bodies, Viewport, draw_discs
from app.graph.edge_style import EdgeStyle, Exposure
from app.graph.model import Graph, Positions, node_radii
from app.graph.png import encode_png
from app.graph.raster import draw_edges
from app.graph.svg import SvgDiscs, SvgDrawing, SvgLabel, SvgLines, write_svg
from app.storage.files import replacing

_PALETTE = (0x4C78A8, 0xF58518, 0x54A24B, 0xB279A2, 0xE45756, 0x72B7B2, 0xD1A730, 0x9D755D)
_OTHER_COLOR = 0x9AA0A6
_LINK_COLOR = (122, 130, 142)
_MARGIN = 40.0
_MAX_SCALE = 34.0
_REFERENCE_SCALE = 9.0
_PIXELS_PER_NAME = 9000
_LIGHT_COLORS, _DARK_COLORS = ("#ffffff", "#1f2328"), ("#16181d", "#e6e8eb")
_MAX_SIDE_PX = 16_384


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """A picture's size in pixels, its theme, and whether an SVG has names."""

    width: int = 1600
    height: int = 1000
    dark: bool = False
    names: bool = True

    @property
    def background(self) -> str:
        """The background color."""
        return (_DARK_COLORS if self.dark else _LIGHT_COLORS)[0]

    @property
    def ink(self) -> str:
        """The color of names."""
        return (_DARK_COLORS if self.dark else _LIGHT_COLORS)[1]


def write_picture(graph: Graph, positions: Positions, file: Path, options: RenderOptions) -> None:
    """Draw the graph as PNG if the file's suffix is .png, else as SVG.

    Raises:
        InvalidParametersError: The picture is too large, or has no pixels.
        OSError: The file can't be written; an existing file is unchanged.
    """
    if not (0 < options.width <= _MAX_SIDE_PX and 0 < options.height <= _MAX_SIDE_PX):
        raise InvalidParametersError(f"A picture must be 1 to {_MAX_SIDE_PX:,} pixels wide and high.")
    if file.suffix == ".png":
        with replacing(file) as temporary:
            temporary.write_bytes(encode_png(_render_pixels(graph, positions, options)))
    else:
        write_svg(_build_drawing(graph, positions, options), file)


def _fit_view(positions: Positions, options: RenderOptions) -> Viewport:
    """Return a view of the whole graph, centered."""
    if not len(positions):
        return Viewport((0.0, 0.0), 1.0, (options.width / 2, options.height / 2), 1.0, 1.0)
    low, high = positions.min(axis=0), positions.max(axis=0)
    span = np.maximum(high - low, 1e-3)
    available = np.array([options.width, options.height]) - 2 * _MARGIN
    scale = float(min(*(np.maximum(available, 40) / span), _MAX_SCALE))
    radius_scale = _REFERENCE_SCALE * (scale / _REFERENCE_SCALE) ** (
        0.55 if scale > _REFERENCE_SCALE else 1.3
    )
    eye = ((low + high) / 2).tolist()
    return Viewport((eye[0], eye[1]), scale, (options.width / 2, options.height / 2), radius_scale, 1.15)


def _colors(graph: Graph) -> NDArray[np.uint32]:
    """Return a color for each node, uint32 (n,).

    Notes are colored by type if at least a third of them have a type other than `note`, else by top-level
    folder. Other nodes and rare groups are gray, and unresolved names are hollow.
    """
    typed_count = sum(name not in ("", "note") for name in graph.types)
    has_types = 3 * typed_count >= np.count_nonzero(graph.is_note)
    keys = graph.types if has_types else tuple(folder.split("/")[0] for folder in graph.folders)
    names, counts = np.unique(np.array(keys, dtype=object).astype(str), return_counts=True)
    ranked = [names[index] for index in np.argsort(-counts, kind="stable")]
    color_of = dict(zip(ranked, _PALETTE, strict=False))
    colors = np.array([color_of.get(key, _OTHER_COLOR) for key in keys], dtype=np.uint32)
    colors[~graph.is_note] = _OTHER_COLOR
    hollow = np.array([kind == "unresolved" for kind in graph.kinds], dtype=bool)
    colors[hollow] |= HOLLOW_FLAG
    return colors


def _link_opacity(graph: Graph) -> float:
    return float(0.62 * (600 / max(len(graph.edges), 600)) ** 0.24)


def _render_pixels(graph: Graph, positions: Positions, options: RenderOptions) -> NDArray[np.uint8]:
    """Return the picture, uint8 (h, w, 3)."""
    background = tuple(int(options.background[start : start + 2], 16) for start in (1, 3, 5))
    view, count = _fit_view(positions, options), len(graph.edges)
    pixels = np.zeros((options.height, options.width, 4), dtype=np.uint8)
    ones = np.ones(count, dtype=np.float32)
    style = EdgeStyle(
        graph.edges, np.array([_LINK_COLOR], dtype=np.uint8), np.zeros(count, np.int16), ones, ones
    )
    pixel_positions = np.ascontiguousarray(view.to_pixels(positions), dtype=np.float32)
    with core_bindings.WorkerThreads() as workers:
        draw_edges(
            style,
            pixel_positions,
            pixels,
            Exposure(_link_opacity(graph), 70.0 + 5.0 * view.scale),
            workers=workers,
        )
        background_part = np.array(background[::-1], dtype=np.float32) * (
            1 - pixels[..., 3:].astype(np.float32) / 255
        )
        pixels[..., :3] = np.clip(pixels[..., :3] + background_part, 0, 255).astype(np.uint8)
        pixels[..., 3] = 255
        radii = node_radii(graph)
        order = np.argsort(radii, kind="stable").astype(np.int32)
        bodies = Bodies(np.ascontiguousarray(positions, np.float32), radii, np.ones(len(graph), np.float32))
        red, green, blue = background
        draw_discs(bodies, _colors(graph), order, None, 1.0, view, (red, green, blue), 1.0, pixels, workers)
    return pixels[..., 2::-1]


def _build_drawing(graph: Graph, positions: Positions, options: RenderOptions) -> SvgDrawing:
    view = _fit_view(positions, options)
    pixel_positions = view.to_pixels(positions)
    radii = view.radii(node_radii(graph))
    ends = np.concatenate([pixel_positions[graph.edges[:, 0]], pixel_positions[graph.edges[:, 1]]], axis=1)
    line = "#" + "".join(f"{part:02x}" for part in _LINK_COLOR)
    links = (SvgLines(ends.astype(np.float32), line, 1.0, _link_opacity(graph)),) if len(ends) else ()
    labels = tuple(_build_labels(graph, pixel_positions, radii, options)) if options.names else ()
    return SvgDrawing(
        options.width,
        options.height,
        "Graph",
        links,
        _build_discs(_colors(graph), pixel_positions, radii),
        labels,
        (),
        options.background,
        options.background,
        options.ink,
        line,
        "Inter, Helvetica, Arial, sans-serif",
    )


def _build_discs(
    colors: NDArray[np.uint32], positions: NDArray[np.float32], radii: NDArray[np.float32]
) -> tuple[SvgDiscs, ...]:
    """Group nodes by color, the smallest of each group first."""
    shapes = np.concatenate([positions, radii[:, None]], axis=1).astype(np.float32)
    groups = []
    for color in np.unique(colors).tolist():
        rows = np.flatnonzero(colors == color)
        rows = rows[np.argsort(radii[rows], kind="stable")]
        groups.append(SvgDiscs(shapes[rows], f"#{color & 0xFFFFFF:06x}", bool(color & int(HOLLOW_FLAG))))
    return tuple(groups)


def _build_labels(
    graph: Graph, positions: NDArray[np.float32], radii: NDArray[np.float32], options: RenderOptions
) -> list[SvgLabel]:
    """Label the nodes with the most links, skipping labels whose estimated widths overlap."""
    available = max(20, options.width * options.height // _PIXELS_PER_NAME)
    ranked = np.argsort(-graph.degree, kind="stable")[: 3 * available].tolist()
    boxes: list[tuple[float, float, float, float]] = []
    labels: list[SvgLabel] = []
    for row in ranked:
        size = float(np.clip(9.0 + radii[row] * 0.3, 10, 15))
        text = graph.names[row] if len(graph.names[row]) <= 28 else graph.names[row][:27] + "…"
        x, y = float(positions[row, 0]), float(positions[row, 1] + radii[row]) + size
        half = 0.31 * size * sum(2 if ord(letter) > 0x2E80 else 1 for letter in text)
        box = (x - half, y - size, x + half, y + 0.3 * size)
        if any(a < box[2] and box[0] < c and b < box[3] and box[1] < d for a, b, c, d in boxes):
            continue
        boxes.append(box)
        labels.append(SvgLabel(x, y, size, text))
        if len(labels) >= available:
            break
    return labels
