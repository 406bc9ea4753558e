"""The style sheet: flat surfaces on a 4-pixel grid, in the colors of a theme.

Selectors use object names and dynamic properties, for example `panelTitle`, `emptyState`, `[role="primary"]`,
`[role="danger"]` and `[tone="muted"]`. A view sets one of these, never a color.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from app.desktop.theme.colors import Theme
from app.desktop.theme.overlay_style import graph_overlay_style
from app.paths import cache_folder
from app.storage.private import make_private_folder
from app.vault.markdown.render_values import mix_colors

_SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16">'
_MARKS = {
    "check": '<path d="M3 8.5l3.2 3.2L13 4.8" fill="none" stroke="{0}" stroke-width="2" '
    'stroke-linecap="round" stroke-linejoin="round"/>',
    "minus": '<path d="M4 8h8" stroke="{0}" stroke-width="2" stroke-linecap="round"/>',
    "down": '<path d="M4 6l4 4 4-4" fill="none" stroke="{0}" stroke-width="1.6" '
    'stroke-linecap="round" stroke-linejoin="round"/>',
    "up": '<path d="M4 10l4-4 4 4" fill="none" stroke="{0}" stroke-width="1.6" '
    'stroke-linecap="round" stroke-linejoin="round"/>',
    "right": '<path d="M6 4l4 4-4 4" fill="none" stroke="{0}" stroke-width="1.6" '
    'stroke-linecap="round" stroke-linejoin="round"/>',
    "dot": '<circle cx="8" cy="8" r="3.4" fill="{0}"/>',
    "cross": '<path d="M5 5l6 6m0-6l-6 6" stroke="{0}" stroke-width="1.2" stroke-linecap="round"/>',
}


def write_mark_images(theme: Theme) -> Mapping[str, str]:
    """Write the theme's marks for controls (such as check marks and arrows) as SVG files.

    A style sheet can only load an image from a file. The files are in the cache and can be deleted.

    Returns:
        The path of each file by the name of its mark.

    Raises:
        OSError: The cache can't be read or written.
    """
    folder = cache_folder() / "theme" / theme.name
    make_private_folder(folder)
    colors = {"check": theme.accent_text, "minus": theme.accent_text, "dot": theme.accent_text}
    paths: dict[str, str] = {}
    for name, shape in _MARKS.items():
        path = folder / f"{name}.svg"
        drawing = shape.format(colors.get(name, theme.muted))
        _write_if_changed(path, f"{_SVG}{drawing}</svg>")
        paths[name] = path.as_posix()
    return paths


def _write_if_changed(path: Path, text: str) -> None:
    content = text.encode("utf-8")
    # Compare bytes: a damaged file is replaced, not decoded.
    if not path.is_file() or path.read_bytes() != content:
        path.write_bytes(content)


def stylesheet(theme: Theme, zoom: float = 1.0, marks: Mapping[str, str] | None = None) -> str:
    """Return the style sheet of `theme` with every size multiplied by `zoom`.

    Args:
        theme: The colors.
        zoom: The zoom of the interface; 1.0 draws on the 4-pixel grid.
        marks: Paths of the images that `write_mark_images` wrote; without them, controls show no marks.
    """
    controls = (_buttons, _button_roles, _tool_buttons, _checks, _fields)
    parts = (_surfaces, *controls, _views, _tabs, _bars, _overlays)
    sheet = "\n".join(part(theme, marks or {}) for part in parts) + graph_overlay_style(theme)
    return _scale_units(sheet, zoom)


def _scale_units(style_sheet: str, zoom: float) -> str:
    """Replace `4u` with 4 pixels times `zoom`, and scale points; positive sizes stay at least 1 pixel."""

    def pixels(match: re.Match[str]) -> str:
        units = float(match[1])
        return f"{max(1, round(units * zoom)) if units > 0 else round(units * zoom)}px"

    style_sheet = re.sub(r"(?<![\w#.])(-?\d+(?:\.\d+)?)u\b", pixels, style_sheet)
    return re.sub(r"\b(\d+)pt\b", lambda match: f"{float(match[1]) * zoom:g}pt", style_sheet)


def _image(marks: Mapping[str, str], name: str) -> str:
    return f"image: url({marks[name]});" if name in marks else ""


def _surfaces(t: Theme, marks: Mapping[str, str]) -> str:
    return f"""
* {{ outline: none; }}
QPushButton, QCheckBox, QTreeView {{ icon-size: 16u; }}
QListView {{ icon-size: 24u; }}
QWidget {{ color: {t.text}; selection-background-color: {t.selection}; selection-color: {t.text}; }}
QMainWindow, QDialog {{ background: {t.window}; }}
QDialog {{ background: {t.panel}; }}
QFrame#panel, QWidget#panel, QStackedWidget#panel {{ background: {t.panel}; border: none; }}
QWidget#page {{ background: {t.window}; }}
QWidget#panelTitle {{ background: {t.panel}; border: none; border-bottom: 1u solid {t.border}; }}
QWidget#panelTitle QLabel {{ color: {t.muted}; font-weight: 600; padding-left: 4u; background: transparent; }}
QWidget#activityBar {{ background: {t.window}; border: none; border-right: 1u solid {t.border}; }}
QLabel {{ background: transparent; }}
QLabel[textFormat="AutoText"] {{ qproperty-textFormat: "PlainText"; }}
QWidget#panelTitle QLabel[badge="true"] {{
    color: {t.warning}; background: {mix_colors(t.panel, t.warning, 0.16)}; border-radius: 4u; padding: 1u 6u;
}}
QWidget#panelTitle QLabel[badge="quiet"] {{
    color: {t.muted}; background: {mix_colors(t.panel, t.muted, 0.16)}; border-radius: 4u; padding: 1u 6u;
    font-weight: 400;
}}
QLabel[tone="muted"] {{ color: {t.muted}; }}
QLabel[tone="faint"] {{ color: {t.faint}; }}
QLabel[tone="danger"] {{ color: {t.danger}; }}
QLabel[tone="warning"] {{ color: {t.warning}; }}
QLabel[tone="success"] {{ color: {t.success}; }}
QLabel[tone="accent"] {{ color: {t.accent}; }}
QLabel[textSize="title"] {{ font-size: 22pt; font-weight: 600; }}
QLabel[textSize="heading"] {{ font-size: 13pt; font-weight: 600; }}
QLabel[textSize="strong"] {{ font-weight: 600; }}
QWidget#card, QFrame#card {{ background: {t.raised}; border: 1u solid {t.border}; border-radius: 8u; }}
QFrame#line {{ background: {t.border}; border: none; max-height: 1u; min-height: 1u; }}
QSplitter {{ background: {t.window}; }}
QWidget#panel QSplitter {{ background: {t.panel}; }}
QSplitter::handle {{ background: {t.border}; }}
QSplitter::handle:hover, QSplitter::handle:pressed {{ background: {t.accent}; }}
QSplitter::handle:horizontal {{ width: 1u; }}
QSplitter::handle:vertical {{ height: 1u; }}
QGroupBox {{ border: 1u solid {t.border}; border-radius: 8u; margin-top: 12u; padding: 12u; }}
QGroupBox::title {{ subcontrol-origin: margin; left: 12u; padding: 0 4u; color: {t.muted}; }}
QScrollArea, QAbstractScrollArea {{ background: {t.panel}; border: none; }}
QScrollArea > QWidget > QWidget, QScrollArea[clear="true"] {{ background: transparent; }}
"""


def _buttons(t: Theme, marks: Mapping[str, str]) -> str:
    return f"""
QPushButton {{ background: {t.raised}; color: {t.text}; border: 1u solid {t.border}; border-radius: 6u;
  padding: 5u 12u; min-height: 18u; }}
QPushButton:hover {{ background: {t.hover}; }}
QPushButton:pressed {{ background: {t.sunken}; }}
QPushButton:focus {{ border: 1u solid {t.accent}; }}
QPushButton:disabled {{ color: {t.disabled}; background: {t.window}; }}
QPushButton[role="primary"] {{ background: {t.accent}; color: {t.accent_text}; border: 1u solid {t.accent};
  font-weight: 600; }}
QPushButton[role="primary"]:hover {{ background: {mix_colors(t.accent, t.text, 0.12)}; }}
QPushButton[role="primary"]:focus {{ border: 2u solid {t.text}; padding: 4u 11u; }}
QPushButton[role="primary"]:disabled, QPushButton[role="danger"]:disabled {{ background: {t.window};
  color: {t.disabled}; border-color: {t.border}; }}
QPushButton[role="danger"] {{ background: {t.danger}; color: {t.danger_text}; border: 1u solid {t.danger};
  font-weight: 600; }}
QPushButton[role="danger"]:hover {{ background: {mix_colors(t.danger, t.text, 0.12)}; }}
QPushButton[role="danger"]:focus {{ border: 2u solid {t.text}; padding: 4u 11u; }}
"""


def _button_roles(t: Theme, marks: Mapping[str, str]) -> str:
    return f"""
QPushButton[role="answer"] {{ text-align: left; }}
QPushButton[role="quiet"] {{ background: transparent; border: 1u solid transparent; color: {t.muted}; }}
QPushButton[role="quiet"]:hover {{ background: {t.hover}; color: {t.text}; }}
QPushButton[role="quiet"]:focus {{ border: 1u solid {t.accent}; }}
QPushButton[role="link"] {{ background: transparent; border: 1u solid transparent; color: {t.link};
  padding: 2u 4u; text-align: left; }}
QPushButton[role="link"]:hover {{ text-decoration: underline; }}
QPushButton[role="link"]:focus {{ border: 1u solid {t.accent}; }}
QPushButton[role="quiet"]:disabled, QPushButton[role="link"]:disabled {{ background: transparent;
  color: {t.disabled}; }}
QWidget#chip {{ background: {t.sunken}; border-radius: 11u; }}
QPushButton[role="chip"] {{ background: transparent; border: 1u solid transparent; border-radius: 10u;
  padding: 1u 2u; color: {t.text}; }}
QPushButton[role="chip"]:hover {{ text-decoration: underline; }}
QLabel[role="reading"], QPushButton[role="reading"] {{ background: {t.accent_soft}; color: {t.text};
    border: 1u solid transparent; border-radius: 9u; padding: 1u 8u; }}
QPushButton[role="reading"]:hover, QPushButton[role="reading"]:focus {{ border: 1u solid {t.accent}; }}
QLabel[role="reading"]:disabled, QPushButton[role="reading"]:disabled {{ color: {t.muted}; }}
QPushButton[role="row"], QPushButton[role="row-main"] {{ padding: 1u 8u; border-radius: 5u;
    min-height: 0; }}
QPushButton[role="row-main"] {{ color: {t.accent}; border-color: {t.accent}; }}
QPushButton[role="chip"]:focus {{ border: 1u solid {t.accent}; }}
QPushButton[role="attachment"] {{ background: {t.accent_soft}; border: 1u solid transparent;
  border-radius: 10u; padding: 1u 8u; min-height: 16u; }}
QPushButton[role="attachment"]:hover {{ border: 1u solid {t.accent}; }}
QPushButton[role="suggestion"] {{ background: {t.raised}; border: 1u solid {t.border}; border-radius: 8u;
  padding: 8u 12u; text-align: left; color: {t.muted}; }}
QPushButton[role="suggestion"]:hover {{ background: {t.hover}; color: {t.text}; }}
QPushButton[role="suggestion"]:focus {{ border: 1u solid {t.accent}; }}
"""


def _tool_buttons(t: Theme, marks: Mapping[str, str]) -> str:
    return f"""
QToolButton {{ background: transparent; color: {t.muted}; border: 1u solid transparent; border-radius: 6u;
  padding: 3u; }}
QToolButton:hover {{ background: {t.hover}; color: {t.text}; }}
QToolButton:pressed {{ background: {t.sunken}; }}
QToolButton:checked {{ background: {t.accent_soft}; color: {t.text}; }}
QToolButton[role="chip"] {{ padding: 1u; border-radius: 9u; }}
QToolButton[role="fold"]:checked {{ background: transparent; }}
QToolButton:focus {{ border: 1u solid {t.accent}; }}
QToolButton:disabled {{ color: {t.disabled}; }}
QToolButton::menu-indicator {{ image: none; }}
QWidget#activityBar QToolButton {{ padding: 6u; border-radius: 8u; }}
"""


def _checks(t: Theme, marks: Mapping[str, str]) -> str:
    return f"""
QCheckBox, QRadioButton {{ spacing: 8u; background: transparent; padding: 2u; border: 1u solid transparent;
  border-radius: 4u; }}
QCheckBox:focus, QRadioButton:focus {{ border: 1u solid {t.accent}; }}
QCheckBox::indicator, QRadioButton::indicator, QAbstractItemView::indicator {{ width: 14u; height: 14u;
  border: 1u solid {t.faint}; background: {t.raised}; }}
QCheckBox::indicator, QAbstractItemView::indicator {{ border-radius: 4u; }}
QRadioButton::indicator {{ border-radius: 8u; }}
QCheckBox::indicator:hover, QRadioButton::indicator:hover {{ border-color: {t.accent}; }}
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked {{ background: {t.accent};
  border-color: {t.accent}; {_image(marks, "check")} }}
QCheckBox::indicator:indeterminate, QAbstractItemView::indicator:indeterminate {{ background: {t.accent};
  border-color: {t.accent}; {_image(marks, "minus")} }}
QRadioButton::indicator:checked {{ background: {t.accent}; border-color: {t.accent}; {_image(marks, "dot")} }}
QCheckBox:disabled, QRadioButton:disabled {{ color: {t.faint}; }}
"""


def _fields(t: Theme, marks: Mapping[str, str]) -> str:
    return f"""
QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox, QDateEdit, QDateTimeEdit {{
  background: {t.raised}; color: {t.text}; border: 1u solid {t.border}; border-radius: 6u; padding: 4u 8u; }}
QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox, QDateEdit, QDateTimeEdit {{ min-height: 18u; }}
QLineEdit:hover, QSpinBox:hover, QDoubleSpinBox:hover, QComboBox:hover {{ border-color: {t.faint}; }}
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus,
QDateEdit:focus, QDateTimeEdit:focus {{ border: 1u solid {t.accent}; }}
QLineEdit[invalid="true"] {{ border: 1u solid {t.danger}; }}
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled {{ color: {t.faint};
  background: {t.window}; }}
QTextBrowser, QTextEdit[plain="true"], QPlainTextEdit[plain="true"] {{ background: {t.panel}; border: none;
  border-radius: 0; padding: 0; }}
QTextBrowser:focus, QTextEdit[plain="true"]:focus, QPlainTextEdit[plain="true"]:focus {{ border: none; }}
QAbstractSpinBox QLineEdit {{ background: transparent; border: none; padding: 0 6u; min-height: 0; }}
SearchField {{ padding-left: 2u; padding-right: 4u; }}
QListWidget#sections {{ background: transparent; padding: 0; }}
QLineEdit[quiet="true"] {{ background: transparent; border: 1u solid transparent; padding: 2u 6u; }}
QLineEdit[quiet="true"]:hover {{ border: 1u solid {t.border}; }}
QLineEdit[quiet="true"]:focus {{ background: {t.raised}; border: 1u solid {t.accent}; }}
QFrame#card QPlainTextEdit[plain="true"], QFrame#card QTextBrowser, QTextBrowser[clear="true"] {{
  background: transparent; }}
QLineEdit[plain="true"] {{ background: transparent; border: none; }}
QLineEdit QToolButton {{ border: none; padding: 0; background: transparent; }}
QComboBox::drop-down {{ border: none; width: 24u; }}
QComboBox::down-arrow {{ width: 14u; height: 14u; {_image(marks, "down")} }}
QComboBox {{ combobox-popup: 0; }}
QComboBox QAbstractItemView {{ background: {t.raised}; border: 1u solid {t.border}; padding: 4u;
  selection-background-color: {t.accent_soft}; selection-color: {t.text}; }}
QSpinBox::up-button, QDoubleSpinBox::up-button {{ border: none; width: 18u; subcontrol-position: top right; }}
QSpinBox::down-button, QDoubleSpinBox::down-button {{ border: none; width: 18u;
  subcontrol-position: bottom right; }}
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow {{ width: 10u; height: 10u; {_image(marks, "up")} }}
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow {{ width: 10u; height: 10u; {_image(marks, "down")} }}
QSlider::groove:horizontal {{ height: 4u; border-radius: 2u; background: {t.border}; }}
QSlider::sub-page:horizontal {{ height: 4u; border-radius: 2u; background: {t.accent}; }}
QSlider::handle:horizontal {{ width: 14u; height: 14u; margin: -5u 0; border-radius: 7u;
  background: {t.raised};
  border: 1u solid {t.faint}; }}
QSlider::handle:horizontal:hover, QSlider::handle:horizontal:focus {{ border: 2u solid {t.accent}; }}
QProgressBar {{ background: {t.border}; border: none; border-radius: 2u; max-height: 4u; min-height: 4u;
  text-align: center; color: transparent; }}
QProgressBar::chunk {{ background: {t.accent}; border-radius: 2u; }}
"""


def _views(t: Theme, marks: Mapping[str, str]) -> str:
    return f"""
QTreeView, QListView, QTableView, QTreeWidget, QListWidget, QTableWidget {{ background: {t.panel};
  border: none;
  alternate-background-color: {t.window}; show-decoration-selected: 0; padding: 4u; }}
QTreeView::item, QListView::item {{ padding: 3u 4u; border: 1u solid transparent; border-radius: 5u;
  min-height: 18u; color: {t.text}; }}
QTreeView::item:hover, QListView::item:hover {{ background: {t.hover}; }}
QTreeView::item:selected, QListView::item:selected {{ background: {t.accent_soft}; color: {t.text}; }}
QTreeView::item:focus, QListView::item:focus {{ border: 1u solid {t.accent}; }}
QTreeView::branch, QTreeView::branch:selected, QTreeView::branch:hover {{ background: {t.panel}; }}
QTreeView::branch:has-children:!has-siblings:closed, QTreeView::branch:closed:has-children:has-siblings {{
  {_image(marks, "right")} }}
QTreeView::branch:open:has-children:!has-siblings, QTreeView::branch:open:has-children:has-siblings {{
  {_image(marks, "down")} }}
QTableView {{ gridline-color: {t.border}; }}
QTableView::item {{ padding: 4u 8u; border: none; }}
QTableView::item:selected {{ background: {t.accent_soft}; color: {t.text}; }}
QTableView::item:focus {{ border: 1u solid {t.accent}; }}
QHeaderView {{ background: {t.panel}; border: none; }}
QHeaderView::section {{ background: {t.panel}; color: {t.muted}; border: none;
  border-bottom: 1u solid {t.border}; padding: 6u 8u; font-weight: 600; }}
QTableCornerButton::section {{ background: {t.panel}; border: none; }}
QScrollBar:vertical {{ background: transparent; width: 10u; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: 10u; margin: 0; }}
QScrollBar::handle:vertical {{ background: {mix_colors(t.border, t.faint, 0.35)}; border-radius: 3u;
  min-height: 32u;
  margin: 2u; }}
QScrollBar::handle:horizontal {{ background: {mix_colors(t.border, t.faint, 0.35)}; border-radius: 3u;
  min-width: 32u;
  margin: 2u; }}
QScrollBar::handle:hover {{ background: {t.faint}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QAbstractScrollArea::corner {{ background: transparent; }}
"""


def _tabs(t: Theme, marks: Mapping[str, str]) -> str:
    return f"""
QTabWidget::pane {{ border: none; background: {t.panel}; }}
QTabBar {{ background: {t.window}; border: none; qproperty-drawBase: 0; }}
QTabBar::tab {{ background: {t.window}; color: {t.muted}; border: none; border-right: 1u solid {t.border};
  border-bottom: 1u solid {t.border}; padding: 7u 12u; min-width: 56u; max-width: 220u; }}
QTabBar::tab:selected {{ background: {t.panel}; color: {t.text}; border-bottom: 1u solid {t.panel};
  border-top: 2u solid {t.accent}; padding-top: 5u; }}
QTabBar::tab:hover:!selected {{ background: {t.hover}; color: {t.text}; }}
QTabBar::tab:focus {{ color: {t.text}; border-top: 2u solid {t.accent}; padding-top: 5u; }}
QTabBar::close-button {{ {_image(marks, "cross")} margin: 2u; }}
QTabBar::close-button:hover {{ background: {t.border}; border-radius: 4u; }}
QTabBar QToolButton {{ background: {t.window}; border: none; }}
"""


def _bars(t: Theme, marks: Mapping[str, str]) -> str:
    return f"""
QMenuBar {{ background: {t.window}; color: {t.muted}; border-bottom: 1u solid {t.border}; padding: 2u 4u; }}
QMenuBar::item {{ background: transparent; padding: 4u 8u; border-radius: 4u; }}
QMenuBar::item:selected {{ background: {t.hover}; color: {t.text}; }}
QStatusBar {{ background: {t.window}; color: {t.muted}; border-top: 1u solid {t.border}; }}
QStatusBar::item {{ border: none; }}
QStatusBar QLabel {{ color: {t.muted}; padding: 0 4u; }}
QStatusBar QToolButton {{ padding: 2u 6u; border-radius: 4u; }}
QStatusBar QToolButton[tone="warning"] {{ color: {t.warning}; }}
QFrame#banner {{ background: {t.raised}; border: none; border-bottom: 1u solid {t.border}; }}
QFrame#banner[tone="danger"] {{ background: {t.removed_bg}; }}
QFrame#banner[tone="warning"] {{ background: {mix_colors(t.panel, t.warning, 0.16)}; }}
QFrame#banner[tone="info"] {{ background: {t.accent_soft}; }}
"""


def _overlays(t: Theme, marks: Mapping[str, str]) -> str:
    return f"""
QMenu {{ background: {t.raised}; color: {t.text}; border: 1u solid {t.border}; padding: 4u; }}
QMenu::item {{ padding: 5u 24u 5u 12u; border-radius: 4u; }}
QMenu::item:selected {{ background: {t.accent_soft}; }}
QMenu::item:disabled {{ color: {t.disabled}; }}
QMenu::separator {{ height: 1u; background: {t.border}; margin: 4u 8u; }}
QMenu::icon {{ padding-left: 8u; }}
QListView#popup {{ background: {t.raised}; border: 1u solid {t.border}; border-radius: 0; padding: 4u; }}
QToolTip {{ qproperty-textFormat: "PlainText"; }}
QToolTip {{ background: {t.raised}; color: {t.text}; border: 1u solid {t.border}; padding: 4u 8u; }}
QFrame#palette {{ background: {t.raised}; border: 1u solid {t.border}; border-radius: 10u; }}
QFrame#palette QLineEdit {{ background: transparent; border: none; border-bottom: 1u solid {t.border};
  border-radius: 0; padding: 10u 14u; font-size: 12pt; }}
QFrame#palette QListView {{ background: {t.raised}; }}
QLabel#keycap {{ background: {t.sunken}; color: {t.muted}; border: 1u solid {t.border}; border-radius: 4u;
  padding: 1u 6u; }}
QFrame#dropZone {{ background: transparent; border: 2u dashed {t.border}; border-radius: 12u; }}
QFrame#dropZone[over="true"] {{ background: {t.accent_soft}; border-color: {t.accent}; }}
"""
