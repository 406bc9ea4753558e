"""Drawings that replace source in the editor (pictures, formulas, diagrams, embeds), and their cache.

`drawing_worker` renders them in worker threads. Until a drawing arrives, the editor shows the source, or an
earlier drawing of the same source.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtGui import QImage

_MAX_DRAWINGS = 400
_MAX_CACHED_BYTES = 96 * 2**20


class DrawingRequest(NamedTuple):
    """A request for a drawing.

    Attributes:
        kind: "image", "embed", "math" (on its own line), "inline-math" or "mermaid".
        source: The target of a picture or embed, or the source of a formula or diagram.
        width: The available width in whole pixels; 0 if irrelevant.
        points: The size of the text in points.
        color: The color of the text, as "#rrggbb".
        ratio: The device pixel ratio.
        is_dark: Whether the theme is dark.
        zoom: The size of the text relative to its default.
        note: Identifies the vault and note that contain a picture or embed, since names may be relative.
    """

    kind: str
    source: str
    width: int = 0
    points: float = 0.0
    color: str = ""
    ratio: float = 1.0
    is_dark: bool = False
    zoom: float = 1.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing: its size in logical pixels, and the distance of its baseline from its top.

    An `image` of None means that the source can't be drawn and stays visible.
    """

    width: float
    height: float
    ascent: float
    image: QImage | None


NOT_DRAWABLE = Drawing(0.0, 0.0, 0.0, None)


class DrawingCache:
    """A cache of recently used drawings, limited by number and memory."""

    def __init__(self) -> None:
        self._drawings: OrderedDict[DrawingRequest, Drawing] = OrderedDict()
        self._bytes = 0

    def get(self, request: DrawingRequest) -> Drawing | None:
        """Return the drawing; None if it is not cached."""
        drawing = self._drawings.get(request)
        if drawing is not None:
            self._drawings.move_to_end(request)
        return drawing

    def put(self, request: DrawingRequest, drawing: Drawing) -> None:
        """Add a drawing; evict the least recently used ones if the cache is full."""
        self._drop(request)
        self._drawings[request] = drawing
        self._bytes += _size(drawing)
        while len(self._drawings) > _MAX_DRAWINGS or (
            self._bytes > _MAX_CACHED_BYTES and len(self._drawings) > 1
        ):
            _, oldest = self._drawings.popitem(last=False)
            self._bytes -= _size(oldest)

    def _drop(self, request: DrawingRequest) -> None:
        if (drawing := self._drawings.pop(request, None)) is not None:
            self._bytes -= _size(drawing)

    def drop_files(self) -> None:
        """Remove all pictures and embedded notes, because files may have changed."""
        for request in [key for key in self._drawings if key.kind in ("image", "embed")]:
            self._drop(request)


def _size(drawing: Drawing) -> int:
    return drawing.image.sizeInBytes() if drawing.image is not None else 0
