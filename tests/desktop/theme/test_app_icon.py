"""The app's icon is its own, in every size, and stands out on light and on dark."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from PySide6.QtCore import QSize, QUrl
from PySide6.QtGui import QColor, QImage, QTextDocument

from app import paths
from app.desktop.help.pages import ABOUT, help_pages
from app.desktop.help.view import HandbookView
from app.desktop.theme.app_icon import SIZES, app_icon
from app.desktop.theme.colors import DARK, LIGHT, Theme
from app.desktop.theme.theme import ThemeSource
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES

CONTAINERS = Path(__file__).resolve().parents[3] / "packaging" / "desktop" / "icons"


def contrast(first: QColor, second: QColor) -> float:
    """The contrast of two colors by the WCAG."""

    def light(color: QColor) -> float:
        parts = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in (color.redF(), color.greenF(), color.blueF())
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((light(first), light(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("size", SIZES)
def test_every_size_is_there_and_stands_out(qapp, theme: Theme, size: int) -> None:
    image: QImage = app_icon(theme).pixmap(size).toImage()
    assert image.width() == size
    colors = {
        image.pixelColor(x, y).name()
        for x in range(size)
        for y in range(size)
        if image.pixelColor(x, y).alpha() == 255
    }
    tile = image.pixelColor(size // 2, size - max(2, size // 8))
    assert contrast(tile, QColor(theme.window)) >= 3
    assert max(contrast(tile, QColor(color)) for color in colors) >= 4.5, "the quill stands out on its tile"


def test_the_containers_hold_every_size() -> None:
    ico = (CONTAINERS / "scriptorium.ico").read_bytes()
    count = struct.unpack("<HHH", ico[:6])[2]
    entries = [struct.unpack("<BBBBHHII", ico[6 + 16 * offset : 22 + 16 * offset]) for offset in range(count)]
    assert [entry[0] or 256 for entry in entries] == [16, 24, 32, 48, 64, 128, 256]
    for *_, length, start in entries:
        assert not QImage.fromData(ico[start : start + length], "PNG").isNull()
    icns = (CONTAINERS / "scriptorium.icns").read_bytes()
    assert icns[:4] == b"icns" and struct.unpack(">I", icns[4:8])[0] == len(icns)
    offset, kinds = 8, {}
    while offset < len(icns):
        kind, length = icns[offset : offset + 4], struct.unpack(">I", icns[offset + 4 : offset + 8])[0]
        kinds[kind] = QImage.fromData(icns[offset + 8 : offset + length], "PNG").width()
        offset += length
    assert kinds[b"ic10"] == 1024 and kinds[b"ic11"] == 32 and min(kinds.values()) == 16


def test_the_files_are_those_that_the_drawings_make() -> None:
    for grid in (16, 32, 256):
        drawing = (paths.resources_folder() / "icons" / f"scriptorium-{grid}.svg").read_text("utf-8")
        dark = (paths.resources_folder() / "icons" / "dark" / f"scriptorium-{grid}.svg").read_text("utf-8")
        assert drawing.count("<path") == dark.count("<path") and LIGHT.accent in drawing
        assert DARK.accent in dark and LIGHT.accent not in dark


def test_the_about_page_shows_it(qtbot) -> None:
    view = HandbookView(ThemeSource("light"), can_run=True)
    qtbot.addWidget(view)
    view.set_pages(help_pages(ToolRegistry(CATEGORIES, CATALOG)))
    view.show_page(ABOUT)
    image = view.page.loadResource(QTextDocument.ResourceType.ImageResource.value, QUrl("drawing:app-icon"))
    assert not image.isNull() and image.deviceIndependentSize().toSize() == QSize(64, 64)
    assert "drawing:app-icon" in view.page.toHtml()
