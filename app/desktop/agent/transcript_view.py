"""The transcript of the conversation: a column of items that scrolls to the newest one."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from app.agent.transcript import AgentText, AnyItem, Message, Question, ToolCard, UserText
from app.desktop.agent.items import CardView, ItemView, UserView, create_view
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.markdown_label import MarkdownLabel

_FOLLOW_DISTANCE = 48
_REDRAW_INTERVAL_MS = 80
_DOT_INTERVAL_MS = 260


class TranscriptView(QScrollArea):
    """Shows items by position, and streamed text after them.

    Streamed text is redrawn at most once every 80 ms, not for every token. The view follows the end of the
    conversation until the user scrolls up.

    `resend_requested` carries the position and text of a prompt; the other signals are those of `ItemView`.
    """

    link_clicked = Signal(str, str)
    tag_clicked = Signal(str)
    reply_chosen = Signal(str)
    completions_requested = Signal(str, object)
    action_requested = Signal(str)
    resend_requested = Signal(int, str)
    diff_requested = Signal(int)
    undo_requested = Signal(int)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._views: dict[int, ItemView] = {}
        self._items: dict[int, AnyItem] = {}
        self._indicator = WorkingIndicator(theme)
        self._streamed_text = ""
        self._stream_label: MarkdownLabel | None = None
        self._follows_end = True
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        # Text wraps or is elided; only a word wider than the panel needs the scroll bar.
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setAccessibleName(self.tr("Conversation"))
        page = QWidget()
        self._column = QVBoxLayout(page)
        self._column.setContentsMargins(12, 12, 12, 12)
        self._column.setSpacing(12)
        self._column.addWidget(self._indicator)
        self._column.addStretch(1)
        self.setWidget(page)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REDRAW_INTERVAL_MS)
        self._timer.timeout.connect(self._draw_streamed)
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(lambda _, maximum: bar.setValue(maximum) if self._follows_end else None)
        bar.sliderMoved.connect(lambda _: self._update_following())
        bar.actionTriggered.connect(lambda _: QTimer.singleShot(0, self, self._update_following))

    def show_items(self, items: tuple[AnyItem, ...]) -> None:
        """Show a whole conversation in place of the current one."""
        self.truncate(0)
        for position, item in enumerate(items):
            self.put(position, item)

    def truncate(self, position: int) -> None:
        """Remove the items from `position` on, and the streamed text."""
        self.end_stream()
        for index in [index for index in self._views if index >= position]:
            self._remove_item(index)
        self._follows_end = True

    def item(self, position: int) -> AnyItem | None:
        """Return the item at `position`, or None if there is none."""
        return self._items.get(position)

    def put(self, position: int, item: AnyItem) -> None:
        """Show `item` at `position`, replacing an earlier item there.

        A prompt is the last item when it is sent, so it replaces all items from `position` on, and the
        controls of the earlier items are disabled.
        """
        if isinstance(item, AgentText):
            self.end_stream()
        if isinstance(item, UserText):
            self.truncate(position)
            for earlier_view in self._views.values():
                earlier_view.deactivate()
        replaced_item = self._items.get(position)
        self._items[position] = item
        if replaced_item is not None and type(replaced_item) is type(item):
            self._views[position].show_item(item)
            return
        if replaced_item is not None:
            self._remove_item(position)
            self._items[position] = item
        previous_item = self._items.get(position - 1)
        previous_agent = (
            "" if previous_item is None or isinstance(previous_item, Message) else previous_item.agent
        )
        view = create_view(item, self._theme, previous_agent)
        if isinstance(view, UserView) and isinstance(previous_item, Question):
            view.show_as_answer(previous_item)
        view.link_clicked.connect(self.link_clicked)
        view.tag_clicked.connect(self.tag_clicked)
        view.reply_chosen.connect(self.reply_chosen)
        view.completions_requested.connect(self.completions_requested)
        view.action_requested.connect(self.action_requested)
        view.resend_requested.connect(lambda text: self.resend_requested.emit(position, text))
        view.diff_requested.connect(self.diff_requested)
        view.undo_requested.connect(self.undo_requested)
        self._views[position] = view
        self._insert(view)

    def show_progress(self, tool: str, message: str) -> None:
        """Show the progress on every running call of `tool`."""
        for position, item in self._items.items():
            view = self._views[position]
            if isinstance(item, ToolCard) and isinstance(view, CardView) and item.tool == tool:
                view.card.show_progress(message)

    def stream(self, text: str) -> None:
        """Append `text` to the streamed text."""
        if self._stream_label is None:
            self._stream_label = MarkdownLabel(self._theme)
            self._insert(self._stream_label)
        self._streamed_text += text
        if not self._timer.isActive():
            self._timer.start()

    def end_stream(self) -> None:
        """Remove the streamed text, because an item replaces it or the turn has ended."""
        self._timer.stop()
        self._streamed_text = ""
        if self._stream_label is not None:
            self._column.removeWidget(self._stream_label)
            self._stream_label.hide()
            self._stream_label.deleteLater()
            self._stream_label = None

    def set_working(self, working: bool) -> None:
        """Show or hide the indicator that the agent is working."""
        self._indicator.set_active(working)

    def wheelEvent(self, event: object) -> None:
        """Scroll, and record whether the view is at or near the end."""
        super().wheelEvent(event)  # type: ignore[arg-type]
        self._update_following()

    def _insert(self, widget: QWidget) -> None:
        index = self._column.count() - 2
        if self._stream_label is not None and widget is not self._stream_label:
            index -= 1
        self._column.insertWidget(index, widget)

    def _remove_item(self, position: int) -> None:
        self._items.pop(position)
        view = self._views.pop(position)
        self._column.removeWidget(view)
        view.hide()
        view.deleteLater()

    def _draw_streamed(self) -> None:
        if self._stream_label is not None:
            self._stream_label.set_text(self._streamed_text)

    def _update_following(self) -> None:
        bar = self.verticalScrollBar()
        self._follows_end = bar.maximum() - bar.value() < _FOLLOW_DISTANCE


class WorkingIndicator(QWidget):
    """Animated dots, shown while the agent is working."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._theme = theme
        self._step = 0
        self._timer = QTimer(self)
        self._timer.setInterval(_DOT_INTERVAL_MS)
        self._timer.timeout.connect(self._advance)
        self.setAccessibleName(self.tr("The agent is working"))
        self.setFixedHeight(round(16 * theme.zoom))
        self.hide()

    def set_active(self, active: bool) -> None:
        """Show and animate the dots, or hide them."""
        self.setVisible(active)
        self._timer.start() if active else self._timer.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint three dots: each is bright for one step, and none in the fourth."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            theme, zoom = self._theme.theme, self._theme.zoom
            for dot in range(3):
                is_bright = dot == self._step % 4
                painter.setBrush(QColor(theme.accent if is_bright else theme.faint))
                radius = (3.0 if is_bright else 2.2) * zoom
                painter.drawEllipse(QPointF((6 + 11 * dot) * zoom, self.height() / 2), radius, radius)

    def _advance(self) -> None:
        self._step += 1
        self.update()
