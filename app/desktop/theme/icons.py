"""Phosphor icons in the theme's colors, from the font that qtawesome includes.

qtawesome was chosen because it includes one consistent family as a font, without hundreds of image files.
Only its files are used: importing it loads qtpy, which takes longer than the rest of the startup, and it
draws its icons in Python on every repaint. Here, each icon is written once to the cache as an SVG file per
color; Qt renders it sharply at every scale and caches the pixmaps.
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
# The icons that the window needs when a vault is opened for the first time, before a cache exists.
_INITIAL_NAMES = [
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
_used_names: set[str] = set()


def icon(theme: Theme, name: str, color: str | None = None) -> QIcon:
    """Return the Phosphor icon `name` ("files", "magnifying-glass") in the theme's colors or in `color`.

    Without `color`, it has the muted color, the text color while hovered, and the accent color when checked.
    A disabled icon always has the theme's color for disabled controls.

    Raises:
        KeyError: The font has no such icon.
        OSError: The font can't be read, or the icon can't be written to the cache.
    """
    result = QIcon(_build_icon(os.environ.get(paths.CACHE_VARIABLE, ""), name, *_state_colors(theme, color)))
    _used_names.add(name)
    return result


def prerender_icons(theme: Theme) -> None:
    """Create the icons of a new window and those used earlier. Call this in a worker thread.

    Opening a panel or switching the theme would otherwise create dozens of them between two frames.

    Raises:
        OSError: The font can't be read, or an icon can't be written to the cache.
    """
    cache_home, colors = os.environ.get(paths.CACHE_VARIABLE, ""), _state_colors(theme, None)
    for name in {*_INITIAL_NAMES, *_used_names, *_cached_names(_icon_folder(cache_home))}:
        _build_icon(cache_home, name, *colors)


def _cached_names(folder: Path) -> Iterator[str]:
    """Yield the names of the icons that have files in the cache."""
    characters = _characters()
    files = folder.iterdir() if folder.is_dir() else ()
    return (name for name in {file.name.rpartition("-")[0] for file in files} if name in characters)


def _state_colors(theme: Theme, color: str | None) -> tuple[str, str, str, str]:
    """Return the colors for the normal, hovered, checked and disabled states."""
    return color or theme.muted, color or theme.text, color or theme.accent, theme.disabled


@functools.cache
def _build_icon(cache_home: str, name: str, normal: str, active: str, checked: str, disabled: str) -> QIcon:
    """Build the icon in these colors, once per cache folder.

    A window uses about a hundred icons, and switching the theme needs all of them at once.
    """
    mode, state = QIcon.Mode, QIcon.State
    folder = _icon_folder(cache_home)
    files = {color: _icon_file(folder, name, color) for color in (normal, active, checked, disabled)}
    result = QIcon()
    for color, icon_mode, icon_state in (
        (normal, mode.Normal, state.Off),
        (active, mode.Active, state.Off),
        (active, mode.Selected, state.Off),
        (checked, mode.Normal, state.On),
        (active, mode.Active, state.On),
        (disabled, mode.Disabled, state.Off),
    ):
        result.addFile(files[color], QSize(), icon_mode, icon_state)
    return result


@functools.cache
def _icon_folder(cache_home: str) -> Path:
    """Return the folder of icons in the cache; `cache_home` is only the key of the cached result."""
    return paths.cache_folder() / "icons" / _FONT_FILE.removesuffix(".ttf")


@functools.cache
def _icon_file(folder: Path, name: str, color: str) -> str:
    """Return the path of the icon's file in this color, writing the file if it does not exist."""
    file = folder / f"{name}-{color.lstrip('#')}.svg"
    if not file.is_file():
        drawing = _path_data(name)
        text = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_BOX_SIZE}" height="{_BOX_SIZE}" '
            f'viewBox="0 0 {_BOX_SIZE} {_BOX_SIZE}"><path fill="{color}" d="{drawing}"/></svg>'
        )
        # Replace atomically: another window or thread may read the file at the same time.
        write_atomic(file, text.encode("utf-8"), durable=False)
    return str(file)


@functools.cache
def _path_data(name: str) -> str:
    """Return an icon's outline as SVG path data, computed once for all colors and themes."""
    return " ".join(_path_commands(_outline(name)))


def _outline(name: str) -> QPainterPath:
    """Return an icon's outline, centered in its box."""
    font = QFont(_font_family())
    font.setPixelSize(_GLYPH_SIZE)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    metrics, character = QFontMetricsF(font), chr(int(_characters()[name], 16))
    left = (_BOX_SIZE - metrics.horizontalAdvance(character)) / 2
    outline = QPainterPath()
    outline.addText(QPointF(left, (_BOX_SIZE + metrics.ascent() - metrics.descent()) / 2), font, character)
    return outline


def _path_commands(outline: QPainterPath) -> Iterator[str]:
    """Yield the outline's SVG path commands."""
    element_type = QPainterPath.ElementType
    letters = {
        element_type.MoveToElement: "M",
        element_type.LineToElement: "L",
        element_type.CurveToElement: "C",
    }
    for index in range(outline.elementCount()):
        element = outline.elementAt(index)
        yield f"{letters.get(element.type, '')}{element.x:.1f} {element.y:.1f}"


def _font_folder() -> Path:
    """Return qtawesome's font folder, found without importing the package.

    Raises:
        ModuleNotFoundError: qtawesome is not installed.
    """
    spec = find_spec("qtawesome")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("qtawesome, which provides the icons, is not installed", name="qtawesome")
    return Path(spec.submodule_search_locations[0]) / "fonts"


@functools.cache
def _characters() -> Mapping[str, str]:
    """Return the code point of each icon in the font, as "0xf123"."""
    return cast("Mapping[str, str]", json.loads((_font_folder() / _CHARMAP_FILE).read_text(encoding="utf-8")))


@functools.cache
def _font_family() -> str:
    """Load the font into the application and return its family name."""
    font_id = QFontDatabase.addApplicationFont(str(_font_folder() / _FONT_FILE))
    return QFontDatabase.applicationFontFamilies(font_id)[0]
