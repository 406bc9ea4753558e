"""Pictures, formulas, diagrams and embedded notes that replace source in the editor, and their cache.

A worker thread makes them (`drawing_worker`). The editor asks the cache, shows the source for what is not
there yet, and is given the drawing later.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtGui import QImage

_MAX_DRAWINGS = 400
_MAX_BYTES = 96 * 2**20


class DrawingRequest(NamedTuple):
    """A request for a drawing.

    Attributes:
        kind: "image", "embed", "math" (a line of its own), "inline-math" or "mermaid".
        source: The target of a picture or embed, or the source of a formula or diagram.
        width: The width of the text column in whole pixels; 0 where it has no influence.
        points: The size of the text.
        color: The color of the text, as "#rrggbb".
        ratio: The pixels of the screen for each pixel of the window.
        dark: Whether the theme is dark.
        note: The path of the note that it stands in, for what names are relative to it.
    """

    kind: str
    source: str
    width: int = 0
    points: float = 0.0
    color: str = ""
    ratio: float = 1.0
    dark: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing: its size in pixels of the window, and how far its base line is from its top.

    An `image` of None says that the source can't be drawn: the source stays.
    """

    width: float
    height: float
    ascent: float
    image: QImage | None


NOT_DRAWABLE = Drawing(0.0, 0.0, 0.0, None)


class DrawingCache:
    """The drawings that were made last, within bounds of number and memory."""

    def __init__(self) -> None:
        self._drawings: OrderedDict[DrawingRequest, Drawing] = OrderedDict()
        self._bytes = 0

    def get(self, request: DrawingRequest) -> Drawing | None:
        """The drawing; None if it is not there."""
        drawing = self._drawings.get(request)
        if drawing is not None:
            self._drawings.move_to_end(request)
        return drawing

    def put(self, request: DrawingRequest, drawing: Drawing) -> None:
        """Keep a drawing, and drop those that were not used for longest."""
        self.drop(request)
        self._drawings[request] = drawing
        self._bytes += _size(drawing)
        while len(self._drawings) > _MAX_DRAWINGS or (self._bytes > _MAX_BYTES and len(self._drawings) > 1):
            _, oldest = self._drawings.popitem(last=False)
            self._bytes -= _size(oldest)

    def drop(self, request: DrawingRequest) -> None:
        """Forget a drawing whose file has changed."""
        if (old := self._drawings.pop(request, None)) is not None:
            self._bytes -= _size(old)

    def drop_files(self) -> None:
        """Forget the drawings of files, which may have changed."""
        for request in [one for one in self._drawings if one.kind in ("image", "embed")]:
            self.drop(request)


def _size(drawing: Drawing) -> int:
    return drawing.image.sizeInBytes() if drawing.image is not None else 0
