"""The sizes of pictures on a rendered page."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import QImage, QTextCursor

from app.desktop.theme.colors import LIGHT
from app.desktop.theme.theme import ThemeSource, code_font, interface_font
from app.desktop.widgets.page_images import fit_image
from app.desktop.widgets.reading_view import ReadingView, Rendered
from app.vault.markdown.render import render
from app.vault.markdown.render_values import NoteTarget, RenderColors

PICTURE = QImage(900, 300, QImage.Format.Format_RGB32)
PICTURE.fill(Qt.GlobalColor.red)
WORDS = "Some words about the picture and its history, which need some room of their own."


def show(qtbot, text: str, *, zoom: float = 1.0, width: int = 700) -> ReadingView:
    """Return a reading view of a note; `![[x.png]]` is a picture of 900 × 300 pixels."""
    view = ReadingView(ThemeSource("light"))
    qtbot.addWidget(view)
    view.set_text_style(interface_font(zoom), code_font(zoom), 0, zoom)
    view.resize(width, 600)
    view.show()
    html = render(text, lambda name: NoteTarget(name, None), RenderColors.of(LIGHT), path="A.md")
    view.show_rendered(Rendered(html, {"vault:x.png": PICTURE}), "A.md")
    return view


def pictures(view: ReadingView) -> list[QImage]:
    """Return the pictures in the order of the text."""
    images = []
    cursor = QTextCursor(view.document())
    while cursor.movePosition(QTextCursor.MoveOperation.NextCharacter):
        if view.document().characterAt(cursor.position() - 1) == "\ufffc":
            images.append(view._image(QUrl(cursor.charFormat().toImageFormat().name())))
    return images


@pytest.mark.parametrize(
    "text",
    [
        f"| a | b |\n|---|---|\n| {WORDS} | ![[x.png]] |",
        "| a | b | c |\n|---|---|---|\n| ![[x.png]] | ![[x.png]] | ![[x.png\\|800]] |",
        "> [!note] Title\n> ![[x.png]]",
        "> > ![[x.png]]",
        "- one\n    - two ![[x.png]]",
        "> [!note] Title\n> \n> | a | b |\n> |---|---|\n> | ![[x.png]] | b |",
    ],
)
@pytest.mark.parametrize("zoom", [1.0, 1.5])
def test_a_picture_is_not_wider_than_its_place(qtbot, text: str, zoom: float) -> None:
    view = show(qtbot, text, zoom=zoom)
    shown = pictures(view)
    assert len(shown) == text.count("x.png") and all(picture.width() > 100 for picture in shown)
    image = view.viewport().grab().toImage()
    red = [
        sum(image.pixelColor(x, y) == Qt.GlobalColor.red for x in range(image.width()))
        for y in range(0, image.height(), 10)
    ]
    assert max(red) == sum(picture.width() for picture in shown), "all of it is visible"
    assert view.horizontalScrollBar().maximum() == 0


def test_pictures_grow_with_the_text_up_to_its_width(qtbot) -> None:
    text = "![[x.png|100]] and ![[x.png|100x70]] and ![[x.png]]"
    sizes = [picture.deviceIndependentSize().toSize() for picture in pictures(show(qtbot, text, zoom=1.5))]
    assert sizes[:2] == [QSize(150, 50), QSize(150, 105)]
    view = show(qtbot, text)
    available_width = view._available_width()
    sizes = [picture.deviceIndependentSize().toSize() for picture in pictures(view)]
    assert sizes == [QSize(100, 33), QSize(100, 70), QSize(available_width, round(available_width / 3))]


def test_a_picture_has_the_pixels_of_the_screen() -> None:
    image = fit_image(PICTURE, "100xx2x10", 180.0, 1.0, 2.0)
    assert (image.width(), image.devicePixelRatio()) == (160, 2.0)


def test_a_picture_without_room_is_small_instead_of_its_own_size() -> None:
    assert fit_image(PICTURE, "xx8x90", 400.0, 1.5, 1.0).width() == 16


def test_a_page_without_pictures_is_unchanged(qtbot) -> None:
    view = show(qtbot, "| a |\n|---|\n| b |")
    assert not re.search("<img", view.toHtml())
