"""The images of a rendered note: they grow with the text and fit into their line, cell or list item."""

from __future__ import annotations

import re
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

_TAG = re.compile(
    r'<(?P<end>/?)(?P<name>table|ul|ol|tr|t[dh]|img(?= src="vault:))'
    r'(?: src="(?P<address>[^"#]*)")?(?P<size>(?: width="\d+")?(?: height="\d+")?)(?P<rest>[^>]*)>'
)
_NUMBER = re.compile(r"\d+")
_PADDING = re.compile(r'cellpadding="(\d+)"')
_LIST_INDENT = 40
_CELL_BORDER = 4
_MIN_WIDTH = 16
# The padding of a quote or callout, and the width of the bar next to it.
_QUOTE_PADDING = 31
_OPTIONS = re.compile(r"(\d*)x(\d*)x(\d+)x(\d+)")


@dataclass(slots=True)
class _Frame:
    """A table or list: its number of columns, and the padding of each column in pixels."""

    columns: int
    padding: int


def with_image_sizes(html: str) -> str:
    """Move the size of each vault image into its address, and add the space that it can use.

    The size is part of the address because an image may be shown at several sizes. Qt keeps the width and
    height of an image element even if the page is narrower. The space is a share of the text width, less the
    padding of the tables and lists around the image.
    """
    if '<img src="vault:' not in html:
        return html
    frames = _frames(html)
    open_frames: list[_Frame] = []

    def replace_tag(match: re.Match[str]) -> str:
        if match["name"] in ("table", "ul", "ol"):
            if not match["end"]:
                open_frames.append(frames[match.start()])
            elif open_frames:
                open_frames.pop()
        if match["name"] != "img":
            return match[0]
        divisor, padding = 1, 0
        for frame in open_frames:
            divisor *= frame.columns
            padding = -(-padding // frame.columns) + frame.padding
        width, height = (_size(match["size"], name) for name in ("width", "height"))
        return f'<img src="{match["address"]}#{width}x{height}x{divisor}x{padding}"{match["rest"]}>'

    return _TAG.sub(replace_tag, html)


def fit_image(image: QImage, options: str, text_width: float, zoom: float, ratio: float) -> QImage:
    """Scale an image to its size on the page.

    Args:
        image: The image.
        options: The fragment that `with_image_sizes` added to its address.
        text_width: The width of the page's text in pixels.
        zoom: The size of the text relative to its default.
        ratio: The device pixel ratio.
    """
    match = _OPTIONS.fullmatch(options)
    wanted_width, wanted_height, divisor, padding = match.groups() if match else ("", "", "1", "0")
    width = zoom * int(wanted_width or image.width())
    height = zoom * int(wanted_height) if wanted_height else image.height() * width / max(1, image.width())
    available_width = max(_MIN_WIDTH, text_width / int(divisor) - int(padding))
    if text_width > 0 and available_width < width:
        width, height = available_width, height * available_width / width
    scaled = image.scaled(
        max(1, round(width * ratio)),
        max(1, round(height * ratio)),
        Qt.AspectRatioMode.IgnoreAspectRatio,
        Qt.TransformationMode.SmoothTransformation,
    )
    scaled.setDevicePixelRatio(ratio)
    return scaled


def _frames(html: str) -> dict[int, _Frame]:
    """Return the tables and lists by their positions; a table has as many columns as its widest row."""
    frames: dict[int, _Frame] = {}
    open_frames: list[_Frame] = []
    cells: list[int] = []
    for match in _TAG.finditer(html):
        name = match["name"]
        if match["end"]:
            if name in ("table", "ul", "ol") and open_frames:
                open_frames.pop()
                cells.pop()
        elif name in ("table", "ul", "ol"):
            frames[match.start()] = frame = _Frame(1, _LIST_INDENT)
            if name == "table":
                padding = int(padding_match[1]) if (padding_match := _PADDING.search(match[0])) else 0
                frame.padding = 2 * padding + _CELL_BORDER if padding else _QUOTE_PADDING
            open_frames.append(frame)
            cells.append(0)
        elif name == "tr" and cells:
            cells[-1] = 0
        elif name in ("td", "th") and cells and not match["size"]:
            # The bar next to a quote is a cell with a width.
            cells[-1] += 1
            open_frames[-1].columns = max(open_frames[-1].columns, cells[-1])
    return frames


def _size(attributes: str, name: str) -> str:
    """Return the size in the attribute `name`, in pixels, or an empty string if there is none."""
    _, _, rest = attributes.partition(f'{name}="')
    number = _NUMBER.match(rest)
    return number[0] if number else ""
