"""The C core (app/graph/core); app.graph.native documents it."""

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float32]
_Ints = NDArray[np.int32]
_Bytes = NDArray[np.uint8]
_Color = tuple[int, int, int]
_View = tuple[float, float, float, float, float, float, float]

def interface() -> int: ...
def compiler() -> str: ...
def tree() -> object: ...
def build(tree: object, at: _Floats, mass: _Floats | None, /) -> int: ...
def push(
    tree: object,
    first: int,
    last: int,
    kernel: int,
    strength: float,
    softness: float,
    opening: float,
    force: _Floats,
    /,
) -> None: ...
def push_places(
    tree: object,
    at: _Floats,
    kernel: int,
    strength: float,
    softness: float,
    opening: float,
    force: _Floats,
    /,
) -> None: ...
def attract(
    starts: _Ints,
    neighbours: _Ints,
    weight: _Floats,
    at: _Floats,
    linear: float,
    near: float,
    rate: float,
    first: int,
    last: int,
    force: _Floats,
    /,
) -> None: ...
def spring(
    starts: _Ints,
    neighbours: _Ints,
    strength: _Floats,
    share: _Floats,
    rest: _Floats,
    at: _Floats,
    rate: float,
    first: int,
    last: int,
    force: _Floats,
    /,
) -> None: ...
def step(
    at: _Floats,
    velocity: _Floats,
    fixed: _Bytes | None,
    gravity: float,
    damping: float,
    longest: float,
    first: int,
    last: int,
    /,
) -> float: ...
def cluster(
    starts: _Ints,
    neighbours: _Ints,
    weight: _Floats,
    mass: _Floats,
    order: _Ints,
    cap: float,
    rounds: int,
    label: _Ints,
    /,
) -> None: ...
def separate(at: _Floats, radius: _Floats, gap: float, /) -> float: ...
def swarm(x: _Floats, radius: _Floats, order: _Ints, gap: float, y: _Floats, /) -> None: ...
def lines(
    at: _Floats,
    edges: _Ints,
    light: _Floats,
    breadth: _Floats,
    classes: NDArray[np.int16],
    colors: _Bytes,
    dashed: _Bytes | None,
    shown: _Bytes | None,
    width: int,
    height: int,
    reach: float,
    ratio: float,
    budget: float,
    /,
) -> tuple[object, int, int]: ...
def take_lines(lines: object, part: int, /) -> None: ...
def close_lines(lines: object, /) -> tuple[int, float, float]: ...
def draw_band(lines: object, band: int, alpha: float, pixels: _Bytes, /) -> None: ...
def draw_discs(
    at: _Floats,
    radius: _Floats,
    opacity: _Floats,
    color: _Ints,
    order: _Ints,
    lit: _Bytes | None,
    view: _View,
    unlit: float,
    ground: _Color,
    ratio: float,
    top: int,
    bottom: int,
    alone: bool,
    pixels: _Bytes,
    /,
) -> None: ...
def disc_at(
    at: _Floats, radius: _Floats, opacity: _Floats, view: _View, x: float, y: float, reach: float, /
) -> int: ...
def first_seen(
    at: _Floats,
    radius: _Floats,
    opacity: _Floats,
    order: _Ints,
    view: _View,
    rectangle: tuple[float, float, float, float],
    least_radius: float,
    least_opacity: float,
    rows: _Ints,
    /,
) -> int: ...
def lay(
    layer: _Bytes,
    left: float,
    top: float,
    zoom: float,
    opacity: float,
    ground: _Color,
    first: int,
    last: int,
    alone: bool,
    pixels: _Bytes,
    /,
) -> None: ...
def draw_strokes(ends: _Floats, breadth: float, color: _Color, opacity: float, pixels: _Bytes, /) -> None: ...
def stamp(images: list[_Bytes], corners: _Ints, opacity: _Floats, pixels: _Bytes, /) -> None: ...
def place_names(
    names: _Floats,
    discs: _Floats,
    width: float,
    forced: int,
    most: int,
    insistent: int,
    side: _Ints,
    /,
) -> None: ...
