"""Export a note as an HTML file or PDF, or print it; links within the vault become plain text.

Rendering takes time proportional to the note's length, so it runs in worker threads.
"""

from __future__ import annotations

import base64
import mimetypes
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from PySide6.QtCore import QLocale, QUrl
from PySide6.QtGui import QFont, QPagedPaintDevice, QPageLayout, QPageSize, QPdfWriter, QTextDocument

from app.desktop.notes.loader import render_note
from app.desktop.notes.paste import encode_png
from app.desktop.notes.reading_view import Rendered
from app.desktop.runtime.translation import translate
from app.desktop.theme.colors import LIGHT
from app.errors import ScriptoriumError, StorageError
from app.storage.files import replacing
from app.vault.markdown.render_values import RenderColors
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.workspace import VaultService

# Always light: paper is white.
_COLORS = replace(RenderColors.of(LIGHT), background="#ffffff")
_INNER_LINK = re.compile(r' href="(?:note|unresolved|tag|vault):[^"]*"')
_IMAGE = re.compile(r'(<img\b[^>]*?\bsrc=")([^"]*)(")')
_BODY = re.compile(r"<body[^>]*>(.*)</body>", re.S)
_STYLE = (
    "body{max-width:46em;margin:2em auto;padding:0 1em;line-height:1.5;"
    "font-family:system-ui,-apple-system,'Segoe UI',sans-serif;color:#1e2024;background:#fff}"
    "img{max-width:100%;height:auto}pre{white-space:pre-wrap}"
    "table{border-collapse:collapse}@media print{body{max-width:none;margin:0}}"
)
_DPI = 300
# `QTextDocument.print_` adds it on each side.
_PRINT_MARGIN_MM = 20
# The countries that use US Letter, according to the Unicode CLDR; all others use A4.
_LETTER_TERRITORIES = frozenset(
    ["BZ", "CA", "CL", "CO", "CR", "GT", "MX", "NI", "PA", "PH", "PR", "SV", "US", "VE"]
)


async def render_for_print(vault: VaultService, path: NotePath, text: str) -> Rendered:
    """Render the whole note as HTML for printing, without the length limit of the reading view.

    Runs in the service thread.
    """
    return await render_note(vault, path, text, _COLORS, truncate=False)


def html_page(vault: VaultService, rendered: Rendered, title: str) -> str:
    """Return the note as a web page in one file.

    Images are embedded, except those on the web, which keep their address; an unreadable image gets an empty
    address. Links within the vault become plain text.
    """

    def embed(match: re.Match[str]) -> str:
        return f"{match[1]}{_data_url(vault, rendered, match[2])}{match[3]}"

    body_match = _BODY.search(rendered.html)
    body = _IMAGE.sub(embed, _INNER_LINK.sub("", body_match[1] if body_match else rendered.html))
    return (
        f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n'
        f"<body>{body}</body></html>\n"
    )


def write_file(file: Path, content: bytes) -> None:
    """Write an export atomically, so that a failure leaves an existing file unchanged.

    Raises:
        StorageError: Writing failed.
    """
    with _replacing(file) as temporary:
        temporary.write_bytes(content)


def write_pdf(rendered: Rendered, title: str, font: QFont, file: Path) -> None:
    """Write a note as a PDF with the paper size of the user's region.

    Raises:
        StorageError: Writing failed; an existing file is unchanged.
    """
    with _replacing(file) as temporary:
        writer = QPdfWriter(str(temporary))
        writer.setPageSize(QPageSize(page_size(QLocale())))
        writer.setResolution(_DPI)
        writer.setTitle(title)
        print_note(rendered, font, writer)
        del writer  # Writes the end of the file.
        if not temporary.is_file() or not temporary.read_bytes()[-1024:].rstrip().endswith(b"%%EOF"):
            message = translate(
                "Export", "{0} was not exported: the disk may be full. Free some space and try again."
            )
            raise StorageError(message.format(file.name), path=str(file))


def page_size(locale: QLocale) -> QPageSize.PageSizeId:
    """Return the usual paper size of a locale: A4 or US Letter."""
    is_letter = QLocale.territoryToCode(locale.territory()) in _LETTER_TERRITORIES
    return QPageSize.PageSizeId.Letter if is_letter else QPageSize.PageSizeId.A4


@contextmanager
def _replacing(file: Path) -> Iterator[Path]:
    try:
        with replacing(file) as temporary:
            yield temporary
    except OSError as error:
        message = translate("Export", "{0} was not exported: {1}. An existing file is unchanged.")
        raise StorageError(message.format(file.name, error.strerror or error), path=str(file)) from error


def print_note(rendered: Rendered, font: QFont, device: QPagedPaintDevice) -> None:
    """Print a note to a PDF writer or a printer; may run in any thread."""
    document = QTextDocument()
    document.setDefaultFont(font)
    max_width = text_width(device)
    html = _INNER_LINK.sub("", rendered.html)

    def fit(match: re.Match[str]) -> str:
        image = rendered.images.get(match[2])
        is_too_wide = image is not None and image.width() / image.devicePixelRatio() > max_width
        return f'<img width="{max_width}" {match[0].removeprefix("<img ")}' if is_too_wide else match[0]

    for address, image in rendered.images.items():
        document.addResource(int(QTextDocument.ResourceType.ImageResource.value), QUrl(address), image)
    document.setHtml(_IMAGE.sub(fit, html))
    document.print_(device)


def text_width(device: QPagedPaintDevice) -> int:
    """Return the width of the text on a device's pages in pixels at 96 dpi, which images must not exceed."""
    width_mm = device.pageLayout().paintRect(QPageLayout.Unit.Millimeter).width() - 2 * _PRINT_MARGIN_MM
    return int(width_mm * 96 / 25.4)


def _data_url(vault: VaultService, rendered: Rendered, address: str) -> str:
    """Return the image at an address as a data URL, empty if it can't be read; a web address is kept."""
    if address.startswith(("https:", "http:", "data:")):
        return address
    try:
        content, mime_type = b"", "image/png"
        if address.startswith("vault:"):
            path = NotePath.on_disk(unquote(address.removeprefix("vault:")))
            content = vault.notes.read(path)
            mime_type = mimetypes.guess_type(path.file_name)[0] or mime_type
        elif (image := rendered.images.get(unquote(address))) is not None:
            content = encode_png(image)
    except ScriptoriumError:
        return ""
    return f"data:{mime_type};base64,{base64.b64encode(content).decode()}" if content else ""
