"""Pictures of the graph that need no window: SVG with names, PNG without, since fonts are the window's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.errors import InvalidParametersError
from app.graph import native
from app.graph.export import write_whole
from app.graph.model import Graph, Positions, node_radii
from app.graph.native_pictures import HOLLOW, Bodies, View, draw_discs
from app.graph.png import encode_png
from app.graph.raster import draw_edges
from app.graph.raster_look import EdgeLook, Exposure
from app.graph.svg import Discs, Drawing, Lines, Word, write_svg

_PALETTE = (0x4C78A8, 0xF58518, 0x54A24B, 0xB279A2, 0xE45756, 0x72B7B2, 0xD1A730, 0x9D755D)
_OTHER = 0x9AA0A6
_LINK = (122, 130, 142)
_MARGIN = 40.0
_CLOSEST = 34.0
_REFERENCE = 9.0
_NAMED_EVERY = 9000
_LIGHT, _DARK = ("#ffffff", "#1f2328"), ("#16181d", "#e6e8eb")
_LARGEST = 16_384


@dataclass(frozen=True, slots=True)
class PictureWish:
    """A picture's size in pixels, and whether it is on a dark ground, and with names (SVG)."""

    width: int = 1600
    height: int = 1000
    dark: bool = False
    names: bool = True

    @property
    def ground(self) -> str:
        """The colour of the ground."""
        return (_DARK if self.dark else _LIGHT)[0]

    @property
    def ink(self) -> str:
        """The colour of names."""
        return (_DARK if self.dark else _LIGHT)[1]


def write_picture(graph: Graph, positions: Positions, file: Path, wish: PictureWish) -> None:
    """Draw the graph as SVG or PNG, as the file's name says.

    Raises:
        InvalidParametersError: it is too large, or a PNG is wanted and the C core that draws it is missing.
        OSError: it can't be written; a file of that name is as it was.
    """
    if not (0 < wish.width <= _LARGEST and 0 < wish.height <= _LARGEST):
        raise InvalidParametersError(f"A picture is from 1 to {_LARGEST} pixels wide and high.")
    if file.suffix == ".png":
        if not native.available():
            raise InvalidParametersError(f"A PNG needs the C core ({native.missing}); SVG works without it.")
        write_whole(file, encode_png(_pixels(graph, positions, wish)))
    else:
        write_svg(_drawing(graph, positions, wish), file)


def _view(positions: Positions, wish: PictureWish) -> View:
    """All of the graph, in the middle."""
    if not len(positions):
        return View((0.0, 0.0), 1.0, (wish.width / 2, wish.height / 2), 1.0, 1.0)
    low, high = positions.min(axis=0), positions.max(axis=0)
    span = np.maximum(high - low, 1e-3)
    room = np.array([wish.width, wish.height]) - 2 * _MARGIN
    scale = float(min(*(np.maximum(room, 40) / span), _CLOSEST))
    growth = _REFERENCE * (scale / _REFERENCE) ** (0.55 if scale > _REFERENCE else 1.3)
    eye = ((low + high) / 2).tolist()
    return View((eye[0], eye[1]), scale, (wish.width / 2, wish.height / 2), growth, 1.15)


def _colors(graph: Graph) -> NDArray[np.uint32]:
    """uint32 (n,): by type where notes have types, else by the top folder; what is no note is grey."""
    named = sum(name not in ("", "note") for name in graph.types)
    typed = 3 * named >= np.count_nonzero(graph.is_note)
    keys = graph.types if typed else tuple(folder.split("/")[0] for folder in graph.folders)
    names, counts = np.unique(np.array(keys, dtype=object).astype(str), return_counts=True)
    ranked = [names[at] for at in np.argsort(-counts, kind="stable")]
    color_of = dict(zip(ranked, _PALETTE, strict=False))
    colors = np.array([color_of.get(key, _OTHER) for key in keys], dtype=np.uint32)
    colors[~graph.is_note] = _OTHER
    hollow = np.array([kind == "unresolved" for kind in graph.kinds], dtype=bool)
    colors[hollow] |= HOLLOW
    return colors


def _alpha(graph: Graph) -> float:
    return float(0.62 * (600 / max(len(graph.edges), 600)) ** 0.24)


def _pixels(graph: Graph, positions: Positions, wish: PictureWish) -> NDArray[np.uint8]:
    """uint8 (h, w, 3)."""
    ground = tuple(int(wish.ground[at : at + 2], 16) for at in (1, 3, 5))
    view, count = _view(positions, wish), len(graph.edges)
    pixels = np.zeros((wish.height, wish.width, 4), dtype=np.uint8)
    ones = np.ones(count, dtype=np.float32)
    look = EdgeLook(graph.edges, np.array([_LINK], dtype=np.uint8), np.zeros(count, np.int16), ones, ones)
    at = np.ascontiguousarray(view.places(positions), dtype=np.float32)
    with native.Workers() as workers:
        draw_edges(look, at, pixels, Exposure(_alpha(graph), 70.0 + 5.0 * view.scale), workers=workers)
        under = np.array(ground[::-1], dtype=np.float32) * (1 - pixels[..., 3:].astype(np.float32) / 255)
        pixels[..., :3] = np.clip(pixels[..., :3] + under, 0, 255).astype(np.uint8)
        pixels[..., 3] = 255
        radii = node_radii(graph)
        order = np.argsort(radii, kind="stable").astype(np.int32)
        bodies = Bodies(np.ascontiguousarray(positions, np.float32), radii, np.ones(len(graph), np.float32))
        red, green, blue = ground
        draw_discs(bodies, _colors(graph), order, None, 1.0, view, (red, green, blue), 1.0, pixels, workers)
    return pixels[..., 2::-1]


def _drawing(graph: Graph, positions: Positions, wish: PictureWish) -> Drawing:
    view = _view(positions, wish)
    at = view.places(positions)
    radii = view.radii(node_radii(graph))
    ends = np.concatenate([at[graph.edges[:, 0]], at[graph.edges[:, 1]]], axis=1)
    line = "#" + "".join(f"{part:02x}" for part in _LINK)
    links = (Lines(ends.astype(np.float32), line, 1.0, _alpha(graph)),) if len(ends) else ()
    words = tuple(_names(graph, at, radii, wish)) if wish.names else ()
    return Drawing(
        wish.width,
        wish.height,
        "Graph",
        links,
        _discs(_colors(graph), at, radii),
        words,
        (),
        wish.ground,
        wish.ground,
        wish.ink,
        line,
        "Inter, Helvetica, Arial, sans-serif",
    )


def _discs(
    colors: NDArray[np.uint32], at: NDArray[np.float32], radii: NDArray[np.float32]
) -> tuple[Discs, ...]:
    """Nodes of a colour together, the small ones of each first."""
    shapes = np.concatenate([at, radii[:, None]], axis=1).astype(np.float32)
    groups = []
    for color in np.unique(colors).tolist():
        rows = np.flatnonzero(colors == color)
        rows = rows[np.argsort(radii[rows], kind="stable")]
        groups.append(Discs(shapes[rows], f"#{color & 0xFFFFFF:06x}", bool(color & int(HOLLOW))))
    return tuple(groups)


def _names(
    graph: Graph, at: NDArray[np.float32], radii: NDArray[np.float32], wish: PictureWish
) -> list[Word]:
    """Names of the nodes with the most links; none over another, as far as widths can be guessed."""
    room = max(20, wish.width * wish.height // _NAMED_EVERY)
    ranked = np.argsort(-graph.degree, kind="stable")[: 3 * room].tolist()
    taken: list[tuple[float, float, float, float]] = []
    words: list[Word] = []
    for row in ranked:
        size = float(np.clip(9.0 + radii[row] * 0.3, 10, 15))
        text = graph.names[row] if len(graph.names[row]) <= 28 else graph.names[row][:27] + "…"
        x, y = float(at[row, 0]), float(at[row, 1] + radii[row]) + size
        half = 0.31 * size * sum(2 if ord(letter) > 0x2E80 else 1 for letter in text)
        box = (x - half, y - size, x + half, y + 0.3 * size)
        if any(a < box[2] and box[0] < c and b < box[3] and box[1] < d for a, b, c, d in taken):
            continue
        taken.append(box)
        words.append(Word(x, y, size, text))
        if len(words) >= room:
            break
    return words
