"""Notes as PDF."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtGui import QFont, QPageLayout, QPageSize, QPdfWriter
from PySide6.QtPrintSupport import QPrinter

from app.desktop.notes.export import render_for_print, text_width, write_file, write_pdf
from app.desktop.notes.reading_view import Rendered
from app.desktop.theme.colors import LIGHT
from app.errors import StorageError
from app.vault.path import NotePath
from tests.desktop.whole_vault import whole_vault


@pytest.mark.parametrize(
    ("locale", "size"), [("en_US", (612, 792)), ("de_DE", (595, 842)), ("es_MX", (612, 792))]
)
def test_a_pdf_has_the_paper_size_of_the_region(qapp, tmp_path: Path, locale: str, size) -> None:
    before, file = QLocale(), tmp_path / "Note.pdf"
    QLocale.setDefault(QLocale(locale))
    try:
        write_pdf(Rendered("<p>words</p>", {}), "Note", QFont(), file)
    finally:
        QLocale.setDefault(before)
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)", file.read_bytes())
    assert tuple(round(float(side)) for side in box.groups()) == size


def test_callouts_keep_their_colors_on_paper(gui, service, tmp_path: Path) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path / "vault", service, {"A.md": "a"}) as vault:
            text = "> [!danger] Out\n> x\n\n> [!tip] In\n> y\n"
            rendered = await vault.client.run(lambda ws: render_for_print(ws, NotePath.parse("A.md"), text))
            assert LIGHT.danger in rendered.html and LIGHT.danger != LIGHT.link

    gui(main())


def test_images_are_as_wide_on_a_printer_as_in_a_pdf(qapp, tmp_path: Path) -> None:
    printer, writer = QPrinter(QPrinter.PrinterMode.HighResolution), QPdfWriter(str(tmp_path / "a.pdf"))
    for device in (printer, writer):
        device.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    printer.setOutputFileName(str(tmp_path / "b.pdf"))
    for unit in (QPageLayout.Unit.Millimeter, QPageLayout.Unit.Point):
        layout = printer.pageLayout()
        layout.setUnits(unit)
        printer.setPageLayout(layout)
        assert text_width(printer) == pytest.approx(text_width(writer), abs=20)
        assert text_width(printer) > 500


def test_images_do_not_reach_into_the_margins_of_the_page(qapp, tmp_path: Path) -> None:
    writer = QPdfWriter(str(tmp_path / "a.pdf"))
    margins_mm = 2 * 20  # According to the documentation of QTextDocument.print.
    page_width_mm = writer.pageLayout().paintRect(QPageLayout.Unit.Millimeter).width()
    assert text_width(writer) * 25.4 / 96 <= page_width_mm - margins_mm


def test_an_export_error_without_a_system_message_names_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(file: Path, content: bytes) -> None:
        raise OSError("The device is gone")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(StorageError, match="The device is gone"):
        write_file(tmp_path / "A.html", b"page")
