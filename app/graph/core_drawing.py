"""The C core's pictures, typed: links, nodes, layers, places of names, and what is under a pixel.

The rules of `app.graph.core_bindings` hold here too. Call nothing of this without the core.
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
    """From the layout to pixels: (place - eye) · scale + middle.

    Args:
        eye: The place in the layout that is looked at.
        scale: Pixels per layout unit of distance.
        middle: The pixel at which `eye` is seen.
        growth: Pixels per layout unit of a radius.
        least: No radius is smaller than that, in pixels.
    """

    eye: tuple[float, float]
    scale: float
    middle: tuple[float, float]
    growth: float
    least: float

    def to_pixels(self, at: Floats) -> Floats:
        """float32 (n, 2), pixels of places in the layout of the same shape."""
        eye, middle = np.array(self.eye, dtype=np.float32), np.array(self.middle, dtype=np.float32)
        return (at - eye) * np.float32(self.scale) + middle

    def radii(self, radii: Floats) -> Floats:
        """float32 (n,), radii in pixels."""
        grown: Floats = np.maximum(radii * np.float32(self.growth), np.float32(self.least))
        return grown

    def scaled(self, ratio: float) -> Viewport:
        """The same view on a picture with `ratio` times as many pixels each way."""
        middle = (self.middle[0] * ratio, self.middle[1] * ratio)
        return Viewport(self.eye, self.scale * ratio, middle, self.growth * ratio, self.least * ratio)

    @property
    def as_tuple(self) -> tuple[float, float, float, float, float, float, float]:
        """As the core takes it."""
        return (*self.eye, self.scale, *self.middle, self.growth, self.least)


@dataclass(frozen=True, eq=False, slots=True)
class Bodies:
    """Nodes: where they are, how large and how solid; in layout units.

    Args:
        at: float32 (n, 2).
        radii: float32 (n,).
        opacity: float32 (n,), 0 for a hidden one to 1.
    """

    at: Floats
    radii: Floats
    opacity: Floats


def disc_at(bodies: Bodies, view: Viewport, x: float, y: float, reach: float) -> int:
    """The row whose rim is nearest to pixel (x, y), at most `reach` pixels away; -1 for none."""
    return core_bindings.core.disc_at(bodies.at, bodies.radii, bodies.opacity, view.as_tuple, x, y, reach)


def first_seen(
    bodies: Bodies,
    order: Ints,
    view: Viewport,
    rectangle: tuple[float, float, float, float],
    least_radius: float,
    least_opacity: float,
    most: int,
) -> Ints:
    """The first `most` rows of `order` whose middles are inside a rectangle and that are large and solid.

    Args:
        bodies: The nodes.
        order: int32 (k,), rows.
        view: Where they are seen.
        rectangle: Left, top, right, bottom, in pixels.
        least_radius: In pixels.
        least_opacity: They have more.
        most: How many are wanted.
    """
    rows = np.empty(max(most, 0), dtype=np.int32)
    count = core_bindings.core.first_seen(
        bodies.at,
        bodies.radii,
        bodies.opacity,
        order,
        view.as_tuple,
        rectangle,
        least_radius,
        least_opacity,
        rows,
    )
    return rows[:count]


def composite(
    layer: Bytes,
    corner: tuple[float, float],
    zoom: float,
    opacity: float,
    ground: Color,
    pixels: Bytes,
    workers: WorkerThreads | None,
) -> None:
    """Overwrite `pixels` with `ground` and another picture over it; both are uint8 (height, width, 4).

    Args:
        layer: Premultiplied.
        corner: Where its left upper corner lies, in pixels.
        zoom: How large its pixels are; at 1 it is put on whole pixels, else interpolated.
        opacity: 0 to 1.
        ground: Red, green, blue.
        pixels: Opaque afterwards.
        workers: The threads that do it; None keeps the interpreter to itself meanwhile, see `draw_discs`.
    """
    alone = workers is None

    def work(top: int, bottom: int) -> None:
        core_bindings.core.lay(layer, *corner, zoom, opacity, ground, top, bottom, alone, pixels)

    (workers or WorkerThreads(1)).ranges(work, len(pixels), 128)


def draw_strokes(ends: Floats, breadth: float, color: Color, opacity: float, pixels: Bytes) -> None:
    """Draw lines of one colour over an opaque picture, one after another, with soft rims.

    Args:
        ends: float32 (k, 4): x and y of both ends, in pixels.
        breadth: In pixels, at most 64.
        color: Red, green, blue.
        opacity: 0 to 1.
        pixels: uint8 (height, width, 4).
    """
    core_bindings.core.draw_strokes(ends, breadth, color, opacity, pixels)


def stamp(images: list[Bytes], corners: Ints, opacity: Floats, pixels: Bytes) -> None:
    """Lay small pictures over an opaque one, one after another; what is outside is cut.

    Args:
        images: uint8 (h, w, 4) each, premultiplied.
        corners: int32 (k, 2), the pixel of each one's left upper corner.
        opacity: float32 (k,), 0 to 1.
        pixels: uint8 (height, width, 4).
    """
    core_bindings.core.stamp(images, corners, opacity, pixels)


def place_labels(
    names: Floats, discs: Floats, width: float, forced: int, most: int, insistent: int, side: Ints
) -> None:
    """Find room for names beside their nodes, in the order given.

    Args:
        names: float32 (k, 5): x and y of the node, its radius, width and height of the name; pixels.
        discs: float32 (j, 4): boxes that names do not cover: left, top, right, bottom.
        width: Of the view.
        forced: So many at the front may cover boxes, and do not count for `most`.
        most: How many are placed at most.
        insistent: So many of the first ones may cover boxes.
        side: int32 (k,): the side that each had last; then the one it has, -1 for none. 0 is below,
            1 above, 2 right, 3 left.
    """
    core_bindings.core.place_names(names, discs, width, forced, most, insistent, side)


class LineBatch:
    """The links of one picture, cut at its rim and sorted into bands of rows; made once, then drawn.

    Args:
        at: float32 (n, 2), nodes in pixels of the picture.
        edges: int32 (m, 2), rows.
        light: float32 (m,), 1 for an ordinary link, 0 for a hidden one.
        breadth: float32 (m,), in pixels at a ratio of one.
        classes: int16 (m,), the colour class of each link.
        colors: uint8 (k, 3), red, green, blue of each class.
        dashed: uint8 (m,), not 0 for a link with gaps. None for none.
        shown: uint8 (n,); a link with an end that is 0 is left out. None shows all.
        width: Of the picture, in pixels, at most 16,384.
        height: Of the picture, in pixels, at most 16,384.
        reach: Length in pixels, at a ratio of one, beyond which a link fades with the square root.
        ratio: Device pixels per pixel.
        budget: Pixels of lines that may be drawn; a fair sample stands for more. 0 draws all.
        workers: The threads that cut and sort them, by default this one; lines are the same for any number.
        is_wanted: Asked now and then; after a no nothing is made, and nothing can be drawn.
    """

    def __init__(
        self,
        at: Floats,
        edges: Ints,
        light: Floats,
        breadth: Floats,
        classes: NDArray[np.int16],
        colors: Bytes,
        dashed: Bytes | None,
        shown: Bytes | None,
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
            at, edges, light, breadth, classes, colors, dashed, shown, width, height, reach, ratio, budget
        )

        def take(part: int) -> None:
            if is_wanted():
                core_bindings.core.take_lines(self._lines, part)

        (workers or WorkerThreads(1)).each(take, parts)
        self.count, self.length, self.share = 0, 0.0, 0.0
        self.is_made = is_wanted()
        if self.is_made:
            self.count, self.length, self.share = core_bindings.core.close_lines(self._lines)

    def draw(
        self,
        alpha: float,
        pixels: Bytes,
        workers: WorkerThreads,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        """Overwrite `pixels`, uint8 (height, width, 4), band by band.

        Args:
            alpha: Opacity of an ordinary link.
            pixels: The picture.
            workers: The threads that draw.
            is_wanted: Asked before each band; the bands that follow a no are left as they are.
        """

        def draw_band(band: int) -> None:
            if is_wanted():
                core_bindings.core.draw_band(self._lines, band, alpha, pixels)

        if self.is_made:
            workers.each(draw_band, self._bands)


def draw_discs(
    bodies: Bodies,
    colors: NDArray[np.uint32],
    order: Ints,
    lit: Bytes | None,
    unlit: float,
    view: Viewport,
    ground: Color,
    ratio: float,
    pixels: Bytes,
    workers: WorkerThreads | None,
) -> None:
    """Draw nodes over a picture.

    Args:
        bodies: The nodes.
        colors: uint32 (n,), 0xRRGGBB; with `HOLLOW_FLAG` for one that is a ring.
        order: int32 (k,), the rows to draw, those on top last.
        lit: uint8 (n,): the opacity of a node whose byte is 0 is multiplied with `unlit`. None for none.
        unlit: 0 to 1.
        view: Where they are seen, in pixels of the picture.
        ground: Red, green, blue of what lies under the picture: rims and hollow nodes are filled with it.
        ratio: Device pixels per pixel, for the breadth of rims.
        pixels: uint8 (height, width, 4), premultiplied.
        workers: The threads that draw; the picture is the same for any number. None is this thread, and no
            other runs Python meanwhile: for a GUI, which may wait longer for its turn than it draws.
    """
    alone = workers is None

    def work(top: int, bottom: int) -> None:
        core_bindings.core.draw_discs(
            bodies.at,
            bodies.radii,
            bodies.opacity,
            colors.view(np.int32),
            order,
            lit,
            view.as_tuple,
            unlit,
            ground,
            ratio,
            top,
            bottom,
            alone,
            pixels,
        )

    (workers or WorkerThreads(1)).ranges(work, len(pixels), 128)
