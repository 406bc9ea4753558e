"""A small preview of a note, shown while the pointer rests on a link to it."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QCursor, QGuiApplication, QHideEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.notes import loader
from app.desktop.runtime import tasks
from app.desktop.theme.theme import ThemeSource, code_font, interface_font
from app.desktop.widgets.reading_view import ReadingView
from app.errors import ScriptoriumError
from app.vault.markdown.render_values import RenderColors
from app.vault.path import NotePath

_HOVER_DELAY_MS = 450
_POINTER_POLL_MS = 120
_MAX_SHOWN_CHARS = 1500
_WIDTH = 380
_MAX_HEIGHT = 280
# How far the pointer may move from where it entered the link, in pixels (horizontally, vertically).
_HOVER_TOLERANCE = (160, 24)


class Preview(QFrame):
    """Appears when the pointer rests on a link.

    Hides when the pointer leaves both the link and the preview, or the window becomes inactive.
    """

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.ToolTip | Qt.WindowType.FramelessWindowHint)
        self.setObjectName("card")
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self._client = client
        self._theme = theme
        self._path = ""
        self._link_position = QPoint()
        self._text = ReadingView(theme)
        self._text.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._text.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._text.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._text)
        self._hover_timer = QTimer(self)
        self._hover_timer.setSingleShot(True)
        self._hover_timer.setInterval(_HOVER_DELAY_MS)
        self._hover_timer.timeout.connect(self._load)
        self._pointer_timer = QTimer(self)
        self._pointer_timer.setInterval(_POINTER_POLL_MS)
        self._pointer_timer.timeout.connect(self._hide_if_left)

    def hover_link(self, path: str, position: QPoint) -> None:
        """Handle the pointer entering a link to `path` at a screen position, or leaving it (empty path)."""
        # Pictures and other attachments have no text to preview.
        self._path = path if path and NotePath(path).is_note else ""
        if self._path:
            self._link_position = position
            self._hover_timer.start()
        else:
            self._hover_timer.stop()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop watching the pointer."""
        self._pointer_timer.stop()
        super().hideEvent(event)

    def _hide_if_left(self) -> None:
        """Hide if the pointer has left; polled, because a link under another window gets no leave event."""
        pointer, distance = QCursor.pos(), QCursor.pos() - self._link_position
        is_near = (
            bool(self._path)
            and abs(distance.x()) <= _HOVER_TOLERANCE[0]
            and abs(distance.y()) <= _HOVER_TOLERANCE[1]
        )
        owner = self.parentWidget()
        is_covered = owner is None or not owner.isVisible() or not owner.isActiveWindow()
        if is_covered or not (is_near or self.geometry().contains(pointer)):
            self.hide()

    def _load(self) -> None:
        tasks.start(self._show(self._path), owner=self, action=self.tr("preview the note"))

    async def _show(self, path: str) -> None:
        colors = RenderColors.of(self._theme.theme)
        try:
            note = await self._client.run(lambda vault: vault.notes.load(NotePath(path)))
        except ScriptoriumError:
            # The link may lead to a deleted note: there is nothing to preview.
            return
        rendered = await self._client.run(
            lambda vault: loader.render_note(vault, note.path, note.text[:_MAX_SHOWN_CHARS], colors)
        )
        if self._path != path:
            return
        zoom = self._theme.zoom
        self._text.set_text_style(interface_font(zoom), code_font(zoom), 0, zoom)
        width, max_height = round(_WIDTH * zoom), round(_MAX_HEIGHT * zoom)
        self.resize(width, max_height)
        self._move_to_link()
        # Images are fitted to the width of the view, which a hidden view does not have yet.
        self.show()
        self._text.show_rendered(rendered, str(note.path))
        overflow = round(self._text.document().size().height()) - self._text.viewport().height()
        self.resize(width, min(max_height, self.height() + overflow))
        self._move_to_link()
        self._pointer_timer.start()

    def _move_to_link(self) -> None:
        screen = QGuiApplication.screenAt(self._link_position) or QGuiApplication.primaryScreen()
        area, size = screen.availableGeometry(), self.size()
        link = self._link_position
        x = min(link.x() + 12, area.right() - size.width())
        y_below = link.y() + 20
        y = y_below if y_below + size.height() <= area.bottom() else link.y() - size.height() - 12
        self.move(max(area.left(), x), max(area.top(), y))
