#!/usr/bin/env python3
"""Generate all formats of the icon from its three drawings.

    .venv/bin/python packaging/desktop/make_icons.py

The drawings are `resources/icons/scriptorium-{16,32,256}.svg`, each on the pixel grid of its size. The dark
set has other colors. The PNG files go next to the drawings, where the app reads them. The `.ico` and `.icns`
files go to `packaging/desktop/icons`, where only the installers read them. The result is committed.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

ROOT = Path(__file__).resolve().parents[2]
DRAWINGS = ROOT / "resources" / "icons"
CONTAINERS = Path(__file__).resolve().parent / "icons"
SIZES = (16, 24, 32, 48, 64, 128, 256, 512)
ICO_SIZES = (16, 24, 32, 48, 64, 128, 256)
ICNS_KINDS = (
    (b"icp4", 16),
    (b"icp5", 32),
    (b"ic07", 128),
    (b"ic08", 256),
    (b"ic09", 512),
    (b"ic10", 1024),
    (b"ic11", 32),
    (b"ic12", 64),
    (b"ic13", 256),
    (b"ic14", 512),
)
DARK = {
    "#4a55c8": "#8f9bff",
    "#aab3f5": "#3d4590",
    "#b9c1f8": "#3d4590",
    "#c9cffa": "#2b3175",
    "#d5daff": "#2b3175",
    "#e4e7ff": "#2b3175",
    "#ffffff": "#12131f",
}


def drawing(size: int, dark: bool = False) -> bytes:
    """Return the drawing for a size in pixels as SVG."""
    grid = 16 if size <= 20 else 32 if size <= 40 else 256
    text = (DRAWINGS / f"scriptorium-{grid}.svg").read_text("utf-8")
    if dark:
        for light, dark_color in DARK.items():
            text = text.replace(light, dark_color)
    return text.encode()


def png(size: int, dark: bool = False) -> bytes:
    """Return the icon as PNG, `size` pixels wide."""
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    QSvgRenderer(QByteArray(drawing(size, dark))).render(painter)
    painter.end()
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(content.data())


def ico() -> bytes:
    """Return a Windows icon of PNG images."""
    header, body = struct.pack("<HHH", 0, 1, len(ICO_SIZES)), b""
    start = len(header) + 16 * len(ICO_SIZES)
    for size in ICO_SIZES:
        image = png(size)
        offset = start + len(body)
        header += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(image), offset)
        body += image
    return header + body


def icns() -> bytes:
    """Return a macOS icon of PNG images."""
    images = {size: png(size) for _, size in ICNS_KINDS}
    parts = b"".join(
        kind + struct.pack(">I", len(images[size]) + 8) + images[size] for kind, size in ICNS_KINDS
    )
    return b"icns" + struct.pack(">I", len(parts) + 8) + parts


def main() -> None:
    """Write all PNG, SVG, ICO and ICNS files."""
    application = QGuiApplication([])
    for dark, folder in ((False, DRAWINGS), (True, DRAWINGS / "dark")):
        folder.mkdir(parents=True, exist_ok=True)
        for size in SIZES:
            (folder / f"{size}.png").write_bytes(png(size, dark))
    for grid in (16, 32, 256):
        (DRAWINGS / "dark" / f"scriptorium-{grid}.svg").write_bytes(drawing(grid, dark=True))
    CONTAINERS.mkdir(exist_ok=True)
    (CONTAINERS / "scriptorium.ico").write_bytes(ico())
    (CONTAINERS / "scriptorium.icns").write_bytes(icns())
    application.quit()


if __name__ == "__main__":
    main()
