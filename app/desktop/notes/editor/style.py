"""The editor's fonts, colors and text formats, from the theme, the zoom and the preferences."""

from __future__ import annotations

from PySide6.QtGui import QColor, QFont, QFontMetricsF, QTextCharFormat

from app.desktop.notes.editor import inline_scanner as inline
from app.desktop.notes.editor.preferences import EditorPreferences
from app.desktop.theme.colors import Theme
from app.desktop.theme.theme import code_font, interface_font
from app.vault.markdown.render_values import RenderColors

_HEADING_SCALES = (1.0, 1.7, 1.42, 1.24, 1.1, 1.0, 0.94)
_TEXT_SCALE = 1.12  # relative to the interface's font
_CODE_SCALE = 0.92  # relative to the text


class EditorStyle:
    """Fonts, colors and formats; recreated when the theme, the zoom or the preferences change."""

    def __init__(self, theme: Theme, zoom: float = 1.0, preferences: EditorPreferences | None = None) -> None:
        text_preferences = preferences or EditorPreferences()
        self.theme = theme
        self.font = interface_font(zoom)
        if text_preferences.family:
            self.font.setFamilies([text_preferences.family])
        default_points = self.font.pointSizeF() * _TEXT_SCALE
        points = text_preferences.points * zoom if text_preferences.points else default_points
        self.font.setPointSizeF(points)
        # Indents, bullets and boxes grow with the text.
        self.zoom = zoom * points / default_points
        self.mono = code_font(zoom)
        if text_preferences.code_family:
            self.mono.setFamilies([text_preferences.code_family])
        self.mono.setPointSizeF(
            text_preferences.code_points * zoom if text_preferences.code_points else points * _CODE_SCALE
        )
        self.metrics = QFontMetricsF(self.font)
        self.line_height = self.metrics.lineSpacing() * 1.2
        self.space = self.metrics.horizontalAdvance(" ")
        self.text = QColor(theme.text)
        self.faint = QColor(theme.faint)
        self.muted = QColor(theme.muted)
        self.link = QColor(theme.link)
        self.tag = QColor(theme.tag)
        self.border = QColor(theme.border)
        self.code_background = QColor(theme.code_bg)
        self.selection = QColor(theme.selection)
        self.accent = QColor(theme.accent)
        self.accent_text = QColor(theme.accent_text)
        self.panel = QColor(theme.panel)
        self.headings = [self._heading(level) for level in range(7)]
        self._render_colors = RenderColors.of(theme)
        self._formats: dict[int, QTextCharFormat] = {}
        self._code_formats: dict[tuple[str, bool, bool], QTextCharFormat] = {}

    def callout_color(self, name: str) -> QColor:
        """Return the color of a kind of callout."""
        return QColor(self._render_colors.callout_color(name))

    def text_format(self, bits: int) -> QTextCharFormat:
        """Return the format for style bits, from a cache."""
        text_format = self._formats.get(bits)
        if text_format is None:
            text_format = self._formats[bits] = self._create_format(bits)
        return text_format

    def code_format(self, color: str, bold: bool, italic: bool) -> QTextCharFormat:
        """Return the format of a range of highlighted code."""
        key = (color, bold, italic)
        code_format = self._code_formats.get(key)
        if code_format is None:
            code_format = self._code_formats[key] = QTextCharFormat()
            if color:
                code_format.setForeground(QColor(f"#{color}"))
            if bold:
                code_format.setFontWeight(QFont.Weight.Bold)
            code_format.setFontItalic(italic)
        return code_format

    def _heading(self, level: int) -> QFont:
        font = QFont(self.font)
        if level:
            font.setPointSizeF(self.font.pointSizeF() * _HEADING_SCALES[level])
            font.setWeight(QFont.Weight.Bold)
        return font

    def _create_format(self, bits: int) -> QTextCharFormat:
        text_format = QTextCharFormat()
        if bits & (inline.BOLD | inline.FIELD):
            text_format.setFontWeight(QFont.Weight.Bold)
        if bits & inline.ITALIC:
            text_format.setFontItalic(True)
        if bits & (inline.CODE | inline.MATH):
            text_format.setFontFamilies(self.mono.families() or [self.mono.family()])
            text_format.setFontFixedPitch(True)
            text_format.setFontPointSize(self.mono.pointSizeF())
        if bits & inline.CODE:
            text_format.setBackground(self.code_background)
        if bits & inline.STRIKE:
            text_format.setFontStrikeOut(True)
        if bits & inline.HIGHLIGHT:
            text_format.setBackground(QColor(self.theme.mark_bg))
        if bits & inline.RAISED:
            text_format.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignSuperScript)
        for bit, color in (
            (inline.FIELD | inline.MUTED, self.muted),
            (inline.LINK, self.link),
            (inline.UNRESOLVED, QColor(self.theme.unresolved)),
            (inline.TAG, self.tag),
            (inline.MATH, self.tag),
            (inline.FAINT, self.faint),
        ):
            if bits & bit:
                text_format.setForeground(color)
        if bits & inline.MISSPELLED:
            text_format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SpellCheckUnderline)
            text_format.setUnderlineColor(QColor(self.theme.danger))
        return text_format
