"""The current theme, chosen by the user or the system, and its application to the widgets."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from app.desktop.theme.colors import DARK, LIGHT, THEMES, Theme
from app.desktop.theme.stylesheet import stylesheet, write_mark_images
from app.desktop.theme.transition import Step, ThemeTransition
from app.desktop.theme.weak_signal import WeakSignal

_PREFERRED_FONTS = ("Inter", "SF Pro Text", "Segoe UI", "Noto Sans", "Cantarell", "Ubuntu", "DejaVu Sans")
_REPLACED_FONTS = (
    "",
    "Sans Serif",
    "MS Shell Dlg 2",
    "Helvetica",
    "Fixed",
    "Bitstream Vera Sans",
    "DejaVu Sans",
)
_MIN_FONT_POINTS = 9.5


class ThemeSource(QObject):
    """Holds the current theme and zoom, and emits `changed` with the theme when one of them changes.

    The name "system" follows the desktop's light or dark mode while the app runs.
    """

    def __init__(self, name: str = "system", parent: QObject | None = None, zoom: float = 1.0) -> None:
        super().__init__(parent)
        self.changed: WeakSignal[Theme] = WeakSignal()
        self._name = name
        self._zoom = zoom
        self._theme = _theme_by_name(name)
        self._application: QApplication | None = None
        self._transition = ThemeTransition(self)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._follow_system)

    @property
    def theme(self) -> Theme:
        """The current theme."""
        return self._theme

    @property
    def name(self) -> str:
        """The chosen name: "system" or the name of a theme."""
        return self._name

    @property
    def zoom(self) -> float:
        """The scale factor for all sizes in the interface."""
        return self._zoom

    def set(self, name: str, zoom: float | None = None) -> None:
        """Choose "system", "light", "dark" or "high-contrast", and a factor for all sizes (None keeps it).

        Raises:
            KeyError: There is no theme with this name.
        """
        new_zoom = zoom or self._zoom
        theme = _theme_by_name(name)
        self._name = name
        if theme == self._theme and new_zoom == self._zoom:
            return
        is_resized = new_zoom != self._zoom
        self._theme, self._zoom = theme, new_zoom
        if is_resized or self._application is None:  # hidden widgets, too, affect the layout
            self._apply()
            for _, notify in tuple(self.changed.calls(theme)):
                notify()
            return
        visible: list[Step] = []
        hidden: list[Step] = []
        for owner, notify in self.changed.calls(theme):
            is_visible = owner is not None and not owner.visibleRegion().isEmpty()
            (visible if is_visible else hidden).append(notify)
        self._transition.run((self._clear_style, self._set_palette, self._set_style), visible, hidden)

    def apply(self, app: QApplication) -> None:
        """Style `app` with the theme: Fusion as the base, then palette, font and style sheet."""
        self._application = app
        app.setStyle("Fusion")
        self._apply()

    def _apply(self) -> None:
        if self._application is not None:
            # Without the old style sheet, each widget is updated only once, which takes a fifth of the time.
            self._clear_style()
            self._application.setFont(interface_font(self._zoom))
            self._set_palette()
            self._set_style()

    def _clear_style(self) -> None:
        if self._application is not None:
            self._application.setStyleSheet("")

    def _set_palette(self) -> None:
        if self._application is not None:
            self._application.setPalette(palette(self._theme))

    def _set_style(self) -> None:
        if self._application is not None:
            marks = write_mark_images(self._theme)
            self._application.setStyleSheet(stylesheet(self._theme, self._zoom, marks))

    def _follow_system(self) -> None:
        if self._name == "system":
            self.set("system")


def _theme_by_name(name: str) -> Theme:
    if name == "system":
        is_dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return DARK if is_dark else LIGHT
    return THEMES[name]


def interface_font(zoom: float = 1.0) -> QFont:
    """Return the system's interface font, scaled by `zoom` and at least 9.5 points before scaling.

    If the system's font is only a fallback, the best installed font takes its place.
    """
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    if font.family() in _REPLACED_FONTS:
        installed = set(QFontDatabase.families())
        font.setFamilies([name for name in _PREFERRED_FONTS if name in installed] or [font.family()])
    points = font.pointSizeF() if font.pointSizeF() > 0 else 10.0
    font.setPointSizeF(max(points, _MIN_FONT_POINTS) * zoom)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


def code_font(zoom: float = 1.0) -> QFont:
    """Return the system's fixed-pitch font, scaled by `zoom` and at least 9.5 points before scaling."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPointSizeF(max(font.pointSizeF(), _MIN_FONT_POINTS) * zoom)
    return font


def palette(theme: Theme) -> QPalette:
    """Return the theme as a Qt palette, for the parts that a style sheet can't style."""
    role = QPalette.ColorRole
    result = QPalette(QColor(theme.panel), QColor(theme.window))
    for color_role, color in (
        (role.Window, theme.window),
        (role.WindowText, theme.text),
        (role.Base, theme.panel),
        (role.AlternateBase, theme.sunken),
        (role.Text, theme.text),
        (role.Button, theme.raised),
        (role.ButtonText, theme.text),
        (role.BrightText, theme.danger),
        (role.Highlight, theme.selection),
        (role.HighlightedText, theme.text),
        (role.Link, theme.link),
        (role.LinkVisited, theme.link),
        (role.ToolTipBase, theme.raised),
        (role.ToolTipText, theme.text),
        (role.Accent, theme.accent),
        (role.PlaceholderText, theme.faint),
        (role.Light, theme.raised),
        (role.Midlight, theme.hover),
        (role.Mid, theme.border),
        (role.Dark, theme.border),
        (role.Shadow, theme.sunken),
    ):
        result.setColor(color_role, QColor(color))
    for color_role in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        result.setColor(QPalette.ColorGroup.Disabled, color_role, QColor(theme.faint))
    return result
