"""The graph as an SVG drawing: links, discs and names as shapes, written piece by piece."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from app.storage.files import replacing

_SHAPES_PER_PIECE = 4096
_UNPRINTABLE = re.compile("[\x00-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class SvgLines:
    """Links of one style: float32 (k, 4) x1, y1, x2, y2 in pixels, with one color, width and opacity."""

    ends: NDArray[np.float32]
    color: str
    width: float
    opacity: float
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class SvgDiscs:
    """Nodes of one style: float32 (k, 3) x, y and radius in pixels; hollow ones are rings."""

    circles: NDArray[np.float32]
    color: str
    hollow: bool = False
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class SvgLabel:
    """A label, centered at `x`, with its baseline at `y`."""

    x: float
    y: float
    size: float
    text: str


@dataclass(frozen=True, slots=True)
class SvgRing:
    """A circle around a region of a layout."""

    x: float
    y: float
    radius: float


@dataclass(frozen=True, slots=True)
class SvgDrawing:
    """A complete drawing.

    Attributes:
        width: The width in pixels.
        height: The height in pixels.
        title: The title, for screen readers.
        lines: The links.
        discs: The nodes.
        labels: The names of nodes, and annotations.
        rings: The regions of a layout.
        background: The color behind everything; None for a transparent drawing.
        paper: The color of rims, of hollow nodes and of the outlines of labels.
        ink: The color of labels.
        line: The color of rings.
        family: The fonts of labels, in order of preference.
    """

    width: int
    height: int
    title: str
    lines: Sequence[SvgLines]
    discs: Sequence[SvgDiscs]
    labels: Sequence[SvgLabel]
    rings: Sequence[SvgRing]
    background: str | None
    paper: str
    ink: str
    line: str
    family: str


class StoppedError(Exception):
    """Writing was canceled; an existing file is unchanged."""


def write_svg(drawing: SvgDrawing, file: Path, cancelled: threading.Event | None = None) -> int:
    """Write `drawing` to `file` atomically and return its size in bytes. Blocks: call it in a thread.

    Raises:
        OSError: The file can't be written; an existing file is unchanged.
        StoppedError: `cancelled` was set.
    """
    with replacing(file) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        for piece in svg_chunks(drawing):
            if cancelled is not None and cancelled.is_set():
                raise StoppedError
            stream.write(piece)
    return file.stat().st_size


def svg_chunks(drawing: SvgDrawing) -> Iterator[str]:
    """Yield the text of the file in pieces, each with at most a few thousand links or nodes."""
    yield (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{drawing.width}" height="{drawing.height}" '
        f'viewBox="0 0 {drawing.width} {drawing.height}">\n<title>{escape(drawing.title)}</title>\n'
    )
    if drawing.background is not None:
        yield f'<rect width="100%" height="100%" fill="{drawing.background}"/>\n'
    yield "".join(
        f'<circle cx="{ring.x:.1f}" cy="{ring.y:.1f}" r="{ring.radius:.1f}" fill="{drawing.line}" '
        f'fill-opacity="0.05" stroke="{drawing.line}" stroke-opacity="0.45"/>\n'
        for ring in drawing.rings
    )
    yield '<g id="links" fill="none" stroke-linecap="round">\n'
    for lines in drawing.lines:
        yield from _lines(lines)
    yield '</g>\n<g id="notes">\n'
    for discs in drawing.discs:
        yield from _discs(discs, drawing.paper)
    yield "</g>\n"
    yield from _labels(drawing)
    yield "</svg>\n"


def _lines(lines: SvgLines) -> Iterator[str]:
    dashes = ' stroke-dasharray="4 4"' if lines.dashed else ""
    style = f'stroke="{lines.color}" stroke-width="{lines.width:.2f}" stroke-opacity="{lines.opacity:.3f}"'
    style += dashes
    for start in range(0, len(lines.ends), _SHAPES_PER_PIECE):
        part = np.round(lines.ends[start : start + _SHAPES_PER_PIECE].astype(np.float64), 1).tolist()
        # Each link is a separate path, so that crossing links blend as they do on screen.
        yield "".join(f'<path {style} d="M{a:g} {b:g}L{c:g} {d:g}"/>\n' for a, b, c, d in part)


def _discs(discs: SvgDiscs, paper: str) -> Iterator[str]:
    opacity_attribute = f' opacity="{discs.opacity:.2f}"' if discs.opacity < 1 else ""
    if discs.hollow:
        style = f'fill="{paper}" stroke="{discs.color}" stroke-width="1.4"'
    else:
        style = f'fill="{discs.color}" stroke="{paper}" stroke-opacity="0.75" stroke-width="0.8"'
    yield f"<g {style}{opacity_attribute}>\n"
    for start in range(0, len(discs.circles), _SHAPES_PER_PIECE):
        part = np.round(discs.circles[start : start + _SHAPES_PER_PIECE].astype(np.float64), 1).tolist()
        yield "".join(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}"/>\n' for x, y, radius in part)
    yield "</g>\n"


def _labels(drawing: SvgDrawing) -> Iterator[str]:
    if not drawing.labels:
        return
    yield (
        f'<g id="names" font-family={quoteattr(drawing.family)} text-anchor="middle" fill="{drawing.ink}" '
        f'stroke="{drawing.paper}" stroke-width="3" stroke-linejoin="round" paint-order="stroke">\n'
    )
    for label in drawing.labels:
        text = escape(_printable(label.text))
        yield f'<text x="{label.x:.1f}" y="{label.y:.1f}" font-size="{label.size:g}">{text}</text>\n'
    yield "</g>\n"


def _printable(text: str) -> str:
    """Return the text without line breaks, tabs and characters that XML forbids."""
    return _UNPRINTABLE.sub("", text)
