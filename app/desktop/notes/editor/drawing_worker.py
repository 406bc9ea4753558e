"""Render drawings: pictures, formulas with ziamath, diagrams with mermaid-render, embedded notes from HTML.

This runs in worker threads, so nothing here uses a widget. ziamath and mermaid-render were chosen because
they need no browser and no network: ziamath renders TeX as SVG paths, and mermaid-render runs Mermaid's own
parser in QuickJS and rasterizes with resvg. Each is imported on first use.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Callable

from PySide6.QtCore import QByteArray, QRectF, QSizeF, Qt, QUrl
from PySide6.QtGui import QFont, QImage, QPainter, QTextDocument
from PySide6.QtSvg import QSvgRenderer

from app.desktop.notes.editor.drawings import NOT_DRAWABLE, Drawing, DrawingRequest
from app.desktop.notes.editor.embeds import split_target
from app.desktop.widgets.page_images import fit_image, with_image_sizes
from app.desktop.widgets.url_parts import split_address

MAX_IMAGE_HEIGHT = 640.0
MAX_EMBED_HEIGHT = 900.0
_MAX_SOURCE_CHARS = 20_000
_PIXELS_PER_POINT = 96 / 72
_DISPLAY_SCALE, _INLINE_SCALE = 1.15, 1.02
_MAX_DIAGRAM_PIXELS = 4_000
_DIAGRAM_TEXT_PIXELS = 16
_IMAGE_ADDRESS = re.compile(r'<img src="((?:vault|drawing):[^"]*)"')
_LIGHT_THEME, _DARK_THEME = "redux-color", "dark"
# ziamath keeps its options and fonts in module globals, and QuickJS is not thread-safe.
_TYPESETTING_LOCK = threading.Lock()

Render = Callable[[str, int], tuple[str, dict[str, QImage]] | None]
Load = Callable[[str], QImage | None]


def draw(request: DrawingRequest, load: Load, render: Render | None = None) -> Drawing:
    """Render a drawing.

    Args:
        request: The request.
        load: Returns the picture for a target, or None if there is none.
        render: Returns the HTML and pictures of an embedded note for a given width, or None if there is no
            such note. Without it, embedded notes are not drawable.

    Returns:
        The drawing; `NOT_DRAWABLE` if the source is invalid or too long, its file can't be read, or the
            diagram is too large.
    """
    if len(request.source) > _MAX_SOURCE_CHARS:
        return NOT_DRAWABLE
    if request.kind == "image":
        return _draw_image(request, load)
    if request.kind == "embed":
        return _draw_embed(request, render) if render is not None else NOT_DRAWABLE
    # The libraries raise many kinds of errors for an incomplete or invalid source.
    try:
        with _TYPESETTING_LOCK:
            return _draw_diagram(request) if request.kind == "mermaid" else _draw_formula(request)
    except Exception:
        return NOT_DRAWABLE


def _draw_image(request: DrawingRequest, load: Load) -> Drawing:
    target, (wanted_width, wanted_height) = split_target(request.source)
    image = load(target)
    if image is None or image.isNull():
        return NOT_DRAWABLE
    size = QSizeF(image.width(), image.height())
    if wanted_width:
        size = QSizeF(wanted_width, wanted_height or image.height() * wanted_width / image.width())
    size *= request.zoom
    max_size = QSizeF(request.width or size.width(), MAX_IMAGE_HEIGHT * request.zoom)
    if size.width() > max_size.width() or size.height() > max_size.height():
        size.scale(max_size, Qt.AspectRatioMode.KeepAspectRatio)
    pixels = size * request.ratio
    if pixels.width() < image.width():
        image = image.scaled(
            max(1, round(pixels.width())),
            max(1, round(pixels.height())),
            Qt.AspectRatioMode.IgnoreAspectRatio,
            Qt.TransformationMode.SmoothTransformation,
        )
    return Drawing(size.width(), size.height(), size.height(), image)


def _draw_formula(request: DrawingRequest) -> Drawing:
    # ziamath locates its fonts with a function that Python has deprecated.
    warnings.filterwarnings("ignore", category=DeprecationWarning, module="ziamath")
    from ziamath.config import config
    from ziamath.zmath import Latex

    config.svg2 = False  # QtSvg misplaces the symbols of SVG 2
    is_inline = request.kind == "inline-math"
    scale = _INLINE_SCALE if is_inline else _DISPLAY_SCALE
    size = request.points * _PIXELS_PER_POINT * scale
    formula = Latex(request.source, size=size, inline=is_inline, color=request.color or None)
    renderer = QSvgRenderer(QByteArray(formula.svg().encode()))
    area = renderer.viewBoxF().size()
    if area.isEmpty():
        return NOT_DRAWABLE
    image = _blank_image(area, request.ratio)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    renderer.render(painter, QRectF(0, 0, area.width() * request.ratio, area.height() * request.ratio))
    painter.end()
    return Drawing(area.width(), area.height(), area.height() + formula.getyofst(), image)


def _draw_diagram(request: DrawingRequest) -> Drawing:
    import mermaid_render

    ratio = max(1.0, request.ratio)
    theme = _DARK_THEME if request.is_dark else _LIGHT_THEME
    # Match the text size of the note.
    scale = ratio * request.points * _PIXELS_PER_POINT / _DIAGRAM_TEXT_PIXELS
    png = mermaid_render.mermaid_to_png(request.source, scale=scale, theme=theme, background="transparent")
    image = QImage.fromData(png)
    if image.isNull() or max(image.width(), image.height()) > _MAX_DIAGRAM_PIXELS * ratio:
        return NOT_DRAWABLE
    width, height = image.width() / ratio, image.height() / ratio
    if request.width and width > request.width:
        height *= request.width / width
        width = float(request.width)
    return Drawing(width, height, height, image)


def _draw_embed(request: DrawingRequest, render: Render) -> Drawing:
    """Render an embedded note as a picture, cut off at a maximum height."""
    rendered = render(request.source, request.width)
    if rendered is None:
        return NOT_DRAWABLE
    html, images = rendered
    document = QTextDocument()
    document.setDocumentMargin(0)
    font = QFont(document.defaultFont())
    font.setPointSizeF(request.points)
    document.setDefaultFont(font)
    width = float(request.width)
    html = with_image_sizes(html)
    for address in set(_IMAGE_ADDRESS.findall(html)):
        scheme, path, options = split_address(url := QUrl(address))
        if (image := images.get(f"{scheme}:{path}")) is not None:
            if scheme != "drawing":
                image = fit_image(image, options, width, request.zoom, request.ratio)
            document.addResource(QTextDocument.ResourceType.ImageResource.value, url, image)
    document.setHtml(html)
    document.setTextWidth(width)
    height = min(document.size().height(), MAX_EMBED_HEIGHT)
    image = _blank_image(QSizeF(request.width, height), request.ratio)
    painter = QPainter(image)
    painter.scale(request.ratio, request.ratio)
    document.drawContents(painter, QRectF(0, 0, width, height))
    painter.end()
    return Drawing(float(request.width), height, height, image)


def _blank_image(size: QSizeF, ratio: float) -> QImage:
    width, height = max(1, round(size.width() * ratio)), max(1, round(size.height() * ratio))
    image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    return image
