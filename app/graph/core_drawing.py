"""Typed bindings of the C core's drawing: links, nodes, layers, label placement and hit testing.

The rules of `app.graph.core_bindings` apply here, too, except that drawing may hold the GIL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.graph import core_bindings
from app.graph.core_bindings import Bytes, Floats, Ints, WorkerThreads

Color = tuple[int, int, int]
HOLLOW_FLAG = np.uint32(0x01000000)


@dataclass(frozen=True, slots=True)
class Viewport:
    """The transformation from the layout to pixels: (point - eye) · scale + center.

    Args:
        eye: The point of the layout at the center of the view.
        scale: Pixels per layout unit of distance.
        center: The pixel at which `eye` is shown.
        radius_scale: Pixels per layout unit of a radius.
        min_radius: The minimum radius in pixels.
    """

    eye: tuple[float, float]
    scale: float
    center: tuple[float, float]
    radius_scale: float
    min_radius: float

    def to_pixels(self, positions: Floats) -> Floats:
        """Convert positions in the layout, float32 (n, 2), to pixels."""
        eye, center = np.array(self.eye, dtype=np.float32), np.array(self.center, dtype=np.float32)
        return (positions - eye) * np.float32(self.scale) + center

    def radii(self, radii: Floats) -> Floats:
        """Convert radii, float32 (n,), to pixels."""
        pixel_radii: Floats = np.maximum(radii * np.float32(self.radius_scale), np.float32(self.min_radius))
        return pixel_radii

    def scaled(self, ratio: float) -> Viewport:
        """Return the same view for a picture with `ratio` times as many pixels in each direction."""
        center = (self.center[0] * ratio, self.center[1] * ratio)
        return Viewport(
            self.eye, self.scale * ratio, center, self.radius_scale * ratio, self.min_radius * ratio
        )

    @property
    def as_tuple(self) -> tuple[float, float, float, float, float, float, float]:
        """The fields as the core expects them."""
        return (*self.eye, self.scale, *self.center, self.radius_scale, self.min_radius)


@dataclass(frozen=True, eq=False, slots=True)
class Bodies:
    """Nodes with position, size and opacity, in layout units.

    Args:
        at: float32 (n, 2).
        radii: float32 (n,).
        opacity: float32 (n,), 0 for a hidden node to 1.
    """

    at: Floats
    radii: Floats
    opacity: Floats


def disc_at(bodies: Bodies, view: Viewport, x: float, y: float, reach: float) -> int:
    """Return the row whose rim is nearest to pixel (x, y), at most `reach` pixels away; -1 for none."""
    return core_bindings.core.disc_at(bodies.at, bodies.radii, bodies.opacity, view.as_tuple, x, y, reach)


def first_seen(
    bodies: Bodies,
    order: Ints,
    view: Viewport,
    rectangle: tuple[float, float, float, float],
    min_radius: float,
    min_opacity: float,
    limit: int,
) -> Ints:
    """Return the first `limit` rows of `order` with centers in a rectangle that are large and opaque enough.

    Args:
        bodies: The nodes.
        order: int32 (k,), rows.
        view: The view.
        rectangle: Left, top, right, bottom, in pixels.
        min_radius: The minimum radius in pixels.
        min_opacity: The opacity that a node must exceed.
        limit: The maximum number of rows.
    """
    rows = np.empty(max(limit, 0), dtype=np.int32)
    count = core_bindings.core.first_seen(
        bodies.at,
        bodies.radii,
        bodies.opacity,
        order,
        view.as_tuple,
        rectangle,
        min_radius,
        min_opacity,
        rows,
    )
    return rows[:count]


def composite(
    layer: Bytes,
    corner: tuple[float, float],
    zoom: float,
    opacity: float,
    background: Color,
    pixels: Bytes,
    workers: WorkerThreads | None,
) -> None:
    """Overwrite `pixels` with `background` and `layer` over it; both pictures are uint8 (height, width, 4).

    Args:
        layer: The picture, premultiplied.
        corner: The pixel of its top left corner.
        zoom: The size of its pixels; at 1 it is aligned to whole pixels, else interpolated.
        opacity: 0 to 1.
        background: Red, green, blue.
        pixels: The target; opaque afterwards.
        workers: The threads that draw; None draws in this thread and holds the GIL, see `draw_discs`.
    """
    alone = workers is None

    def work(top: int, bottom: int) -> None:
        core_bindings.core.lay(layer, *corner, zoom, opacity, background, top, bottom, alone, pixels)

    (workers or WorkerThreads(1)).ranges(work, len(pixels), 128)


def draw_strokes(ends: Floats, line_width: float, color: Color, opacity: float, pixels: Bytes) -> None:
    """Draw antialiased lines of one color over an opaque picture, in order.

    Args:
        ends: float32 (k, 4): x and y of both ends, in pixels.
        line_width: The width in pixels, at most 64.
        color: Red, green, blue.
        opacity: 0 to 1.
        pixels: uint8 (height, width, 4).
    """
    core_bindings.core.draw_strokes(ends, line_width, color, opacity, pixels)


def stamp(images: list[Bytes], corners: Ints, opacity: Floats, pixels: Bytes) -> None:
    """Draw small pictures over an opaque one, in order, clipped to it.

    Args:
        images: uint8 (h, w, 4) each, premultiplied.
        corners: int32 (k, 2), the pixel of each picture's top left corner.
        opacity: float32 (k,), 0 to 1.
        pixels: uint8 (height, width, 4).
    """
    core_bindings.core.stamp(images, corners, opacity, pixels)


def place_labels(
    names: Floats, discs: Floats, width: float, forced: int, limit: int, overlapping: int, side: Ints
) -> None:
    """Place labels next to their nodes, in the given order; no label covers another.

    Args:
        names: float32 (k, 5): x and y of the node, its radius, width and height of the label; pixels.
        discs: float32 (j, 4): boxes that labels do not cover: left, top, right, bottom.
        width: The width of the view.
        forced: The number of labels at the start that may cover boxes; they raise `limit` by as many.
        limit: The maximum number of labels.
        overlapping: Labels may cover boxes until this number has been placed.
        side: int32 (k,): the previous side of each label; replaced by the new one, -1 for none. 0 is below,
            1 above, 2 right, 3 left.
    """
    core_bindings.core.place_names(names, discs, width, forced, limit, overlapping, side)


class LineBatch:
    """The links of one picture, clipped and sorted into bands of rows; prepared once, then drawn.

    Args:
        positions: float32 (n, 2), nodes in pixels of the picture.
        edges: int32 (m, 2), rows.
        light: float32 (m,), 1 for an ordinary link, 0 for a hidden one.
        widths: float32 (m,), the width in pixels at a ratio of one.
        classes: int16 (m,), the color class of each link.
        colors: uint8 (k, 3), red, green, blue of each class.
        dashed: uint8 (m,), not 0 for a dashed link. None if no link is dashed.
        visible: uint8 (n,); a link with an end that is 0 is left out. None shows all.
        width: The picture's width in pixels, at most 16,384.
        height: The picture's height in pixels, at most 16,384.
        reach: The length in pixels, at a ratio of one, beyond which a link fades with the square root.
        ratio: Device pixels per pixel.
        budget: The number of line pixels to draw; beyond it a fair sample represents all. 0 draws all.
        workers: The threads that clip and sort, by default this one; the result is the same for any number.
        is_wanted: Called periodically; once it returns false, nothing is prepared and nothing can be drawn.
    """

    def __init__(
        self,
        positions: Floats,
        edges: Ints,
        light: Floats,
        widths: Floats,
        classes: NDArray[np.int16],
        colors: Bytes,
        dashed: Bytes | None,
        visible: Bytes | None,
        width: int,
        height: int,
        *,
        reach: float,
        ratio: float,
        budget: float,
        workers: WorkerThreads | None = None,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        self._lines, parts, self._bands = core_bindings.core.lines(
            positions,
            edges,
            light,
            widths,
            classes,
            colors,
            dashed,
            visible,
            width,
            height,
            reach,
            ratio,
            budget,
        )

        def take_part(part: int) -> None:
            if is_wanted():
                core_bindings.core.take_lines(self._lines, part)

        (workers or WorkerThreads(1)).each(take_part, parts)
        self._is_prepared = is_wanted()
        if self._is_prepared:
            core_bindings.core.close_lines(self._lines)

    def draw(
        self,
        alpha: float,
        pixels: Bytes,
        workers: WorkerThreads,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        """Overwrite `pixels`, uint8 (height, width, 4), band by band.

        Args:
            alpha: The opacity of an ordinary link.
            pixels: The picture.
            workers: The threads that draw.
            is_wanted: Called before each band; once it returns false, the remaining bands are unchanged.
        """

        def draw_band(band: int) -> None:
            if is_wanted():
                core_bindings.core.draw_band(self._lines, band, alpha, pixels)

        if self._is_prepared:
            workers.each(draw_band, self._bands)


def draw_discs(
    bodies: Bodies,
    colors: NDArray[np.uint32],
    order: Ints,
    highlighted: Bytes | None,
    dimmed_opacity: float,
    view: Viewport,
    background: Color,
    ratio: float,
    pixels: Bytes,
    workers: WorkerThreads | None,
) -> None:
    """Draw nodes over a picture.

    Args:
        bodies: The nodes.
        colors: uint32 (n,), 0xRRGGBB; with `HOLLOW_FLAG` for a ring.
        order: int32 (k,), the rows to draw, those on top last.
        highlighted: uint8 (n,): the opacity of a node whose byte is 0 is multiplied by `dimmed_opacity`. None
            highlights all.
        dimmed_opacity: 0 to 1.
        view: The view, in pixels of the picture.
        background: Red, green, blue of the background: rims and hollow nodes are filled with it.
        ratio: Device pixels per pixel, for the width of rims.
        pixels: uint8 (height, width, 4), premultiplied.
        workers: The threads that draw; the picture is the same for any number. None draws in this thread and
            holds the GIL: for a GUI, which may wait for the GIL longer than drawing takes.
    """
    alone = workers is None

    def work(top: int, bottom: int) -> None:
        core_bindings.core.draw_discs(
            bodies.at,
            bodies.radii,
            bodies.opacity,
            colors.view(np.int32),
            order,
            highlighted,
            view.as_tuple,
            dimmed_opacity,
            background,
            ratio,
            top,
            bottom,
            alone,
            pixels,
        )

    (workers or WorkerThreads(1)).ranges(work, len(pixels), 128)
