from __future__ import annotations

import dataclasses
import itertools
import re
import threading
from pathlib import Path

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QComboBox, QPushButton, QStyleOptionViewItem, QTreeWidget
from pytestqt.qtbot import QtBot

import app.desktop
from app.desktop.theme.colors import DARK, LIGHT, THEMES, Theme
from app.desktop.theme.icons import icon, prerender_icons
from app.desktop.theme.stylesheet import stylesheet, write_mark_images
from app.desktop.theme.theme import ThemeSource, interface_font
from tests.desktop.theme.applied_theme import is_applied

INKS = ["text", "muted", "faint", "link", "tag", "danger", "warning", "success", "accent"]
TINTS = ["accent_soft", "selection", "added_bg", "removed_bg", "added_word", "removed_word"]
EVERY = pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES.keys())


def luminance(color: str) -> float:
    parts = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@EVERY
def test_every_color_is_a_color(theme: Theme) -> None:
    for field in dataclasses.fields(theme):
        value = getattr(theme, field.name)
        if isinstance(value, str) and field.name != "name":
            assert re.fullmatch(r"#[0-9a-f]{6}", value), field.name
    for color in (*theme.node_colors.values(), *theme.edge_colors.values()):
        assert QColor(color).isValid()


@EVERY
@pytest.mark.parametrize("surface", ["window", "panel", "raised", "sunken"])
@pytest.mark.parametrize("ink", INKS)
def test_text_can_be_read(theme: Theme, surface: str, ink: str) -> None:
    assert contrast(getattr(theme, ink), getattr(theme, surface)) >= 4.5


@EVERY
@pytest.mark.parametrize("surface", TINTS)
def test_text_on_tinted_surfaces_can_be_read(theme: Theme, surface: str) -> None:
    assert contrast(theme.text, getattr(theme, surface)) >= 4.5


@EVERY
def test_filled_buttons_can_be_read(theme: Theme) -> None:
    assert contrast(theme.accent_text, theme.accent) >= 4.5
    assert contrast(theme.danger_text, theme.danger) >= 4.5


@EVERY
def test_disabled_buttons_differ_from_enabled_ones(theme: Theme) -> None:
    sheet = stylesheet(theme)
    for rule in ('QPushButton[role="quiet"]:disabled', "QToolButton:disabled", "QMenu::item:disabled"):
        assert theme.disabled in sheet[sheet.index(rule) :].partition("}")[0]
    assert contrast(theme.disabled, theme.muted) >= 1.6
    assert contrast(theme.disabled, theme.panel) >= 1.6


def test_a_damaged_mark_in_the_cache_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRIPTORIUM_CACHE", str(tmp_path))
    marks = write_mark_images(LIGHT)
    expected = Path(marks["check"]).read_bytes()
    Path(marks["check"]).write_bytes(b"\xff damaged")
    assert write_mark_images(LIGHT) == marks
    assert Path(marks["check"]).read_bytes() == expected


@EVERY
def test_a_node_stands_out_from_the_ground(theme: Theme) -> None:
    for kind, color in theme.node_colors.items():
        assert contrast(color, theme.window) >= (2.0 if kind == "unresolved" else 2.5), kind


@EVERY
@pytest.mark.parametrize("zoom", [0.8, 1.0, 1.5, 2.0])
def test_the_style_sheet_has_only_units_that_qt_knows(theme: Theme, zoom: float) -> None:
    sheet = stylesheet(theme, zoom)
    assert not re.search(r"\d+u\b", sheet)
    assert sheet.count("{") == sheet.count("}")


def test_zoom_scales_the_style_sheet() -> None:
    assert "padding: 5px 12px" in stylesheet(LIGHT, 1.0)
    assert "padding: 10px 24px" in stylesheet(LIGHT, 2.0)
    assert "border: 1px solid" in stylesheet(LIGHT, 0.5)


def test_the_theme_source_styles_the_application_and_notifies(qtbot: QtBot, qapp: QApplication) -> None:
    source = ThemeSource("light")
    themes: list[Theme] = []
    source.changed.connect(themes.append)
    source.apply(qapp)
    assert DARK.window not in qapp.styleSheet()
    source.set("dark")
    source.set("dark")
    qtbot.waitUntil(lambda: is_applied(source), timeout=10_000)
    assert themes == [DARK]
    assert source.theme is DARK
    assert qapp.palette().window().color() == QColor(DARK.window)
    assert DARK.window in qapp.styleSheet()
    source.set("dark", zoom=1.5)
    assert len(themes) == 2
    assert qapp.font().pointSizeF() > interface_font(1.0).pointSizeF()
    source.set("light", zoom=1.0)
    qapp.setStyleSheet("")


@pytest.mark.qt_log_ignore("This plugin does not support")
@pytest.mark.parametrize("zoom", [1.0, 2.0])
def test_the_list_of_a_combo_box_has_one_frame(qtbot: QtBot, qapp: QApplication, zoom: float) -> None:
    source = ThemeSource("light", zoom=zoom)
    source.apply(qapp)
    box = QComboBox()
    qtbot.addWidget(box)
    box.addItems(["one", "two"])
    box.resize(200, box.sizeHint().height())
    box.show()
    box.showPopup()
    popup = box.view().window()
    image = popup.grab().toImage()
    first = box.view().visualRect(box.model().index(0, 0))
    top = box.view().viewport().mapTo(popup, first.topLeft()).y()
    middle = [image.pixelColor(image.width() // 2, y).name() for y in range(top)]
    assert [color for color, _ in itertools.groupby(middle)] == [LIGHT.border, LIGHT.raised]
    box.hidePopup()
    qapp.setStyleSheet("")
    source.set("light", zoom=1.0)


def test_icons_of_buttons_and_lists_grow_with_the_zoom(qtbot: QtBot, qapp: QApplication) -> None:
    theme = ThemeSource("light")
    theme.apply(qapp)
    button, tree = QPushButton("Tag"), QTreeWidget()
    qtbot.addWidget(button)
    qtbot.addWidget(tree)

    def sizes() -> tuple[int, int]:
        option = QStyleOptionViewItem()
        tree.initViewItemOption(option)
        return button.iconSize().width(), option.decorationSize.width()

    assert sizes() == (16, 16)
    theme.set("light", zoom=2.0)
    assert sizes() == (32, 32)
    qapp.setStyleSheet("")


def test_an_unknown_theme_is_an_error(qapp: QApplication) -> None:
    with pytest.raises(KeyError):
        ThemeSource("light").set("no such theme")


def test_an_icon_is_drawn_in_the_color_asked_for(qapp: QApplication) -> None:
    image = icon(LIGHT, "circle-fill", "#ff0000").pixmap(32, 32).toImage()
    assert image.pixelColor(16, 16).red() > 200


def test_icons_drawn_ahead_are_those_of_the_other_theme(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRIPTORIUM_CACHE", str(tmp_path))
    icon(LIGHT, "anchor")
    ahead = threading.Thread(target=prerender_icons, args=(DARK,))
    ahead.start()
    ahead.join()
    written = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("anchor-*.svg")}
    drawn = icon(DARK, "anchor").pixmap(16, 16).toImage()
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("anchor-*.svg")} == written
    assert not drawn.isNull()
    assert len(written) > 4


def test_the_window_never_nests_an_event_loop() -> None:
    """`exec()` in a coroutine blocks other tasks forever; use `dialogs.run_dialog`."""
    banned = re.compile(
        r"\.exec_?\(|processEvents\("
        r"|QMessageBox\.(?:about|critical|information|question|warning)\("
        r"|QFileDialog\.get\w+\(|QInputDialog\.get\w+\(|QColorDialog\.getColor\(|QFontDialog\.getFont\("
        r"|\basyncSlot\b|QEventLoop\(\)"
    )
    violations = [
        f"{path.name}:{number}: {line.strip()}"
        for path in Path(app.desktop.__file__).parent.rglob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if banned.search(line)
    ]
    assert not violations
