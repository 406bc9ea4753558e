"""Icons: Phosphor, from the font that qtawesome ships, in the colours of the theme.

qtawesome was chosen because it brings one consistent family as a font, without hundreds of image files. Only
its files are used: importing it loads qtpy, which takes longer than all else before the window is there, and
its icons are drawn anew, in Python, in every frame. Here each is written once as an SVG file to the cache,
one per colour; Qt draws it sharp at every scale and keeps the pictures.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QFont, QFontDatabase, QFontMetricsF, QIcon, QPainterPath

from app import paths
from app.desktop.theme.colors import Theme
from app.storage.files import write_atomic

_FONT_FILE, _CHARMAP_FILE = "phosphor-1.3.0.ttf", "phosphor-charmap-1.3.0.json"
_BOX_SIZE = 256
_GLYPH_SIZE = 224
# What the window asks for when a vault is opened for the first time, before there is a cache.
_FIRST_SEEN = [
    "activity",
    "arrow-bend-up-left",
    "arrow-left",
    "arrow-right",
    "arrows-in-line-vertical",
    "bookmarks",
    "brain",
    "calendar-plus",
    "caret-down",
    "caret-right",
    "check-square",
    "circle-dashed",
    "circles-three",
    "clock",
    "clock-counter-clockwise",
    "corners-out",
    "download-simple",
    "file-text",
    "files",
    "folder",
    "folder-notch-plus",
    "folder-simple",
    "gear-six",
    "git-fork",
    "hash",
    "image",
    "link",
    "list-bullets",
    "lock-simple",
    "magic-wand",
    "magnifying-glass",
    "minus",
    "note-blank",
    "note-pencil",
    "palette",
    "paper-plane-tilt",
    "paperclip",
    "path",
    "pause",
    "pencil-simple",
    "plus",
    "robot",
    "scribble-loop",
    "share-network",
    "sliders-horizontal",
    "sparkle",
    "squares-four",
    "star",
    "tag",
    "warning-circle",
    "x",
]
_asked: set[str] = set()


def icon(theme: Theme, name: str, color: str | None = None) -> QIcon:
    """The Phosphor icon `name` ("files", "magnifying-glass") in the theme's muted colour or in `color`.

    While hovered it takes the text's colour and when checked the accent's, so that a button answers.

    Raises:
        KeyError: there is no such icon; so a misspelt one is found by the first test that builds its widget.
    """
    made = QIcon(_build_icon(os.environ.get(paths.CACHE_VARIABLE, ""), name, *_inks(theme, color)))
    _asked.add(name)
    return made


def prerender_icons(theme: Theme) -> None:
    """Make the icons of the first window, and those asked for by now or by an earlier run: in a thread.

    So neither a panel that comes up nor a switch of the theme makes some dozen of them between two frames.
    """
    home, inks = os.environ.get(paths.CACHE_VARIABLE, ""), _inks(theme, None)
    for name in {*_FIRST_SEEN, *_asked, *_cached_names(_folder_of_files(home))}:
        _build_icon(home, name, *inks)


def _cached_names(folder: Path) -> Iterator[str]:
    """The names of the icons whose files are there."""
    characters = _characters()
    files = folder.iterdir() if folder.is_dir() else ()
    return (name for name in {file.name.rpartition("-")[0] for file in files} if name in characters)


def _inks(theme: Theme, color: str | None) -> tuple[str, str, str, str]:
    """The colours at rest, while hovered, when checked and when disabled."""
    return color or theme.muted, color or theme.text, color or theme.accent, theme.disabled


@functools.cache
def _build_icon(home: str, name: str, resting: str, lively: str, on: str, disabled: str) -> QIcon:
    """The icon in these colours, put together once for each cache that is in use.

    A window has some hundred, and a theme is switched between two frames.
    """
    mode, state = QIcon.Mode, QIcon.State
    folder = _folder_of_files(home)
    files = {ink: _file(folder, name, ink) for ink in (resting, lively, on, disabled)}
    made = QIcon()
    for ink, when, whether in (
        (resting, mode.Normal, state.Off),
        (lively, mode.Active, state.Off),
        (lively, mode.Selected, state.Off),
        (on, mode.Normal, state.On),
        (lively, mode.Active, state.On),
        (disabled, mode.Disabled, state.Off),
    ):
        made.addFile(files[ink], QSize(), when, whether)
    return made


@functools.cache
def _folder_of_files(home: str) -> Path:
    """The folder of the icons in the cache that is at `home`."""
    return paths.cache_folder() / "icons" / _FONT_FILE.removesuffix(".ttf")


@functools.cache
def _file(folder: Path, name: str, color: str) -> str:
    """Where the icon is in that colour, written if it is not there yet."""
    file = folder / f"{name}-{color.lstrip('#')}.svg"
    if not file.is_file():
        drawing = _drawing(name)
        text = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_BOX_SIZE}" height="{_BOX_SIZE}" '
            f'viewBox="0 0 {_BOX_SIZE} {_BOX_SIZE}"><path fill="{color}" d="{drawing}"/></svg>'
        )
        # Whole or not there: another window or thread may look for it now.
        write_atomic(file, text.encode("utf-8"), durable=False)
    return str(file)


@functools.cache
def _drawing(name: str) -> str:
    """The shape of an icon in SVG's words, worked out once for all colours and themes."""
    return " ".join(_strokes(_outline(name)))


def _outline(name: str) -> QPainterPath:
    """The shape of an icon, in the middle of the box."""
    font = QFont(_font_family())
    font.setPixelSize(_GLYPH_SIZE)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    metrics, character = QFontMetricsF(font), chr(int(_characters()[name], 16))
    left = (_BOX_SIZE - metrics.horizontalAdvance(character)) / 2
    outline = QPainterPath()
    outline.addText(QPointF(left, (_BOX_SIZE + metrics.ascent() - metrics.descent()) / 2), font, character)
    return outline


def _strokes(outline: QPainterPath) -> Iterator[str]:
    """The path in SVG's words."""
    kind = QPainterPath.ElementType
    letters = {kind.MoveToElement: "M", kind.LineToElement: "L", kind.CurveToElement: "C"}
    for at in range(outline.elementCount()):
        element = outline.elementAt(at)
        yield f"{letters.get(element.type, '')}{element.x:.1f} {element.y:.1f}"


def _folder() -> Path:
    """Where qtawesome has its fonts, found without importing it."""
    spec = find_spec("qtawesome")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("qtawesome, which has the icons, is not installed", name="qtawesome")
    return Path(spec.submodule_search_locations[0]) / "fonts"


@functools.cache
def _characters() -> Mapping[str, str]:
    """The code of each icon in the font, as "0xf123"."""
    return cast("Mapping[str, str]", json.loads((_folder() / _CHARMAP_FILE).read_text(encoding="utf-8")))


@functools.cache
def _font_family() -> str:
    """The font's family, once the font is loaded into the application."""
    number = QFontDatabase.addApplicationFont(str(_folder() / _FONT_FILE))
    return QFontDatabase.applicationFontFamilies(number)[0]
