"""The display part of the live editor: modes, header, drawings, scrolling, pointer."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from weakref import ref

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QPointF, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPaintEvent,
    QPalette,
    QRegion,
    QResizeEvent,
    QTextCursor,
)
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from app.desktop.notes.editor import hit_test, navigation, painting, row_layout, text_cursor
from app.desktop.notes.editor.document_layout import LiveLayout
from app.desktop.notes.editor.drawings import Drawing, DrawingCache, DrawingRequest
from app.desktop.notes.editor.inline_scanner import InlineLink, scan_inline
from app.desktop.notes.editor.line_scanner import LineKind
from app.desktop.notes.editor.mode import EditorMode
from app.desktop.notes.editor.preferences import EditorPreferences
from app.desktop.notes.editor.rows import EditorRow
from app.desktop.notes.editor.style import EditorStyle
from app.desktop.notes.editor.text_flow import TextFlow
from app.desktop.notes.newlines import PARAGRAPH_SEPARATOR
from app.desktop.theme.colors import Theme
from app.desktop.theme.theme import ThemeSource

_MIN_MARGIN = 32
_TOP_MARGIN = 12.0
_CHECKBOX_TOLERANCE = 4
_FOLD_MARK_TOLERANCE = 9.0
_WIDTH_STEP = 80  # drawings that depend on the width are rendered in steps of this many pixels
_SHARED_CACHE = DrawingCache()
_BACKWARD = (QKeySequence.StandardKey.MoveToPreviousChar, QKeySequence.StandardKey.MoveToPreviousWord)


@dataclass(frozen=True, slots=True)
class OutlineItem:
    """A heading: its level from 1 to 6, its source text, and its line, counted from 0."""

    level: int
    text: str
    line: int


class LiveView(QTextEdit):
    """Shows the source of a note as a live preview, or verbatim.

    Signals:
        edited: The text has changed, other than through `load`.
        link_followed: The kind of a link ("note", "address", "tag") and its target.
        link_hovered: The target note of the link under the pointer (empty for none), and the pointer's
            position on the screen.
        style_changed: The fonts, colors or widths have changed.
        drawing_requested: A `DrawingRequest`, to be answered with `show_drawing`.
        links_requested: The targets of links, to be answered with `show_links`.

    Attributes:
        drawing_scope: Identifies the vault and note, so that notes do not share pictures in the cache.
        flow: The note's lines as rows.
    """

    edited = Signal()
    link_followed = Signal(str, str)
    link_hovered = Signal(str, QPoint)
    style_changed = Signal()
    drawing_requested = Signal(object)
    links_requested = Signal(object)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._preferences = EditorPreferences()
        self._mode = EditorMode.LIVE
        self._header: QWidget | None = None
        self._has_form = True
        self._is_in_properties = False
        self._goal_x: float | None = None
        self._is_pressed = False
        self._hovered_link = ""
        self._painted_caret = QRect()
        self._has_caret_moved = False
        self._queued_requests: dict[DrawingRequest, None] = {}
        self._pending_requests: set[DrawingRequest] = set()
        self._last_drawings: dict[tuple[str, str], Drawing] = {}
        self._link_exists: dict[str, bool] = {}
        self._unknown_links: dict[str, None] = {}
        self.drawing_scope = ""
        self.flow = TextFlow(EditorStyle(theme.theme, theme.zoom))
        self._request_timer = QTimer(self)
        self._request_timer.setSingleShot(True)
        self._request_timer.setInterval(0)
        self._request_timer.timeout.connect(self._send_requests)
        self.setAccessibleName(self.tr("Note"))
        self.setProperty("plain", True)
        self.setAcceptRichText(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.document().setDocumentMargin(0)
        self._layout = LiveLayout(self.document(), self.flow)
        self._layout.top = _TOP_MARGIN
        self.document().setDocumentLayout(self._layout)
        self._connect_weakly()
        self.cursorPositionChanged.connect(self._activate_line)
        self.cursorPositionChanged.connect(self._repaint_caret)
        self.selectionChanged.connect(self._repaint_selection)
        self.textChanged.connect(self._report_edit)
        self.verticalScrollBar().valueChanged.connect(self._follow_scrolling)
        theme.changed.connect(self._apply_theme)
        self._apply_theme(theme.theme)
        self.load("")

    def _connect_weakly(self) -> None:
        """Connect layout and flow to the editor without reference cycles through the layout."""
        weak = ref(self)

        def cursor_position() -> int:
            editor = weak()
            return editor.textCursor().position() if editor is not None else 0

        def drawing(row: EditorRow, kind: str, source: str) -> Drawing | None:
            editor = weak()
            return editor._drawing(row, kind, source) if editor is not None else None  # noqa: SLF001

        def is_unresolved(target: str) -> bool:
            editor = weak()
            return editor is not None and editor._is_unresolved(target)  # noqa: SLF001

        self._layout.cursor_position = cursor_position
        self.flow.drawing = drawing
        self.flow.is_unresolved = is_unresolved

    def load(self, text: str) -> None:
        """Load new text, clear the undo history, and put the cursor at the start of the visible text."""
        layout = self._layout
        layout.is_paused = True
        self.setPlainText(text)
        self.document().setModified(False)
        self.flow.load(self.text().split("\n"))
        layout.mark_current()
        first = navigation.first_text_line(self.flow)
        if first:
            self.setTextCursor(QTextCursor(self.document().findBlockByNumber(first)))
        self._activate_line()
        layout.emit_size()
        self.viewport().update()

    def reload(self, text: str) -> None:
        """Load a new version of the text, with the cursor and the scroll position in the same place.

        A cursor outside the properties stays outside them: their source is only shown to edit it.
        """
        old_text, scroll_value = self.text(), self.verticalScrollBar().value()
        position, was_in_properties = self.textCursor().position(), self._is_in_properties
        self.load(text)
        start_of_text = self.textCursor()
        if position:
            cursor = self.textCursor()
            cursor.setPosition(text_cursor.position_after_change(old_text, self.text(), position))
            self.setTextCursor(cursor)
            if self._is_in_properties and not was_in_properties:
                self.setTextCursor(start_of_text)
        self.verticalScrollBar().setValue(scroll_value)

    def text(self) -> str:
        """Return the exact source, with line feeds between its lines."""
        return self.document().toRawText().replace(PARAGRAPH_SEPARATOR, "\n")

    def outline(self) -> list[OutlineItem]:
        """Return the headings of the note."""
        items = []
        flow = self.flow
        for line, row in enumerate(flow.rows):
            if row.scan.kind in (LineKind.HEADING, LineKind.TEXT) and (level := flow.heading_level(line)):
                items.append(OutlineItem(level, flow.lines[line][row.scan.marker :].strip(), line))
        return items

    def visible_lines(self) -> range:
        """Return the indexes of the visible lines."""
        top = self.verticalScrollBar().value() - self._layout.top
        first, _ = self.flow.heights.line_at(max(0.0, top))
        last, _ = self.flow.heights.line_at(max(0.0, top + self.viewport().height()))
        return range(first, last + 1)

    def go_to_line(self, line: int) -> None:
        """Put the cursor at the start of a line, counted from 1, and center it."""
        block = self.document().findBlockByNumber(max(0, line - 1))
        self.setTextCursor(QTextCursor(block if block.isValid() else self.document().lastBlock()))
        self.center_cursor()

    def center_cursor(self) -> None:
        """Scroll the cursor to the middle of the view."""
        bar = self.verticalScrollBar()
        for _ in range(2):  # rows laid out on the way may be taller than estimated
            caret = self._layout.caret(self.textCursor().position())
            bar.setValue(round(caret.center().y() - self.viewport().height() / 2))
            self._layout_visible()

    def _report_edit(self) -> None:
        if not self._layout.is_paused:
            self.edited.emit()

    @property
    def mode(self) -> EditorMode:
        """The display mode of the source."""
        return self._mode

    def set_mode(self, mode: EditorMode) -> None:
        """Show the source as a live preview, or verbatim."""
        if mode is self._mode:
            return
        self._mode = mode
        with self._keep_top_line():
            self.flow.show_source(mode is EditorMode.SOURCE)
            self._place_header()
        self._activate_line()
        self.viewport().update()

    @property
    def preferences(self) -> EditorPreferences:
        """The user's preferences."""
        return self._preferences

    def set_preferences(self, preferences: EditorPreferences) -> None:
        """Apply the user's preferences."""
        self._preferences = preferences
        self._apply_theme(self._theme.theme)

    def set_spelling(self, check: Callable[[str], list[tuple[int, int]]] | None) -> None:
        """Underline the ranges that `check` finds in prose; None disables it."""
        self.flow.misspelled = check
        self.flow.forget_layouts()
        self.viewport().update()

    def _apply_theme(self, theme: Theme) -> None:
        style = EditorStyle(theme, self._theme.zoom, self._preferences)
        self.setFont(style.font)
        colors = self.palette()
        colors.setColor(QPalette.ColorRole.Highlight, QColor(theme.selection))
        colors.setColor(QPalette.ColorRole.Base, QColor(theme.panel))
        self.setPalette(colors)
        with self._keep_top_line():
            self.flow.set_style(style)
            self._layout.mark_current()
        self._fit_column()
        self.viewport().update()
        self.style_changed.emit()

    @contextmanager
    def _keep_top_line(self) -> Iterator[None]:
        """Keep the line at the top of the view in place while heights change."""
        bar = self.verticalScrollBar()
        flow, layout = self.flow, self._layout
        scroll_offset = bar.value() - layout.top
        line, top = flow.heights.line_at(max(0.0, scroll_offset))
        offset = scroll_offset - top
        yield
        layout.emit_size()
        if scroll_offset > 0:
            bar.setValue(round(layout.top + flow.heights.top(min(line, len(flow.rows) - 1)) + offset))

    def set_header(self, header: QWidget) -> None:
        """Show a widget above the live preview that scrolls with it, in place of the properties."""
        if header is not self._header:
            header.installEventFilter(self)
        self._header = header
        if header.parentWidget() is not self.viewport():
            header.setParent(self.viewport())
        self._place_header()

    def show_properties_source(self, shown: bool) -> None:
        """Show the source of the properties instead of the form, or the form again."""
        self._has_form = not shown
        self._place_header()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Update the layout when the height of the header changes."""
        if watched is self._header and event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.ShowToParent):
            self._place_header()
        return super().eventFilter(watched, event)

    def _place_header(self) -> None:
        """Position the header, and the text below it."""
        header, layout, flow = self._header, self._layout, self.flow
        is_live = self._mode is EditorMode.LIVE
        height = 0
        if header is not None and header.parentWidget() is self.viewport():
            header.setVisible(is_live and not self._is_in_properties)
            width = self.viewport().width()
            if is_live and not self._is_in_properties:
                height = max(header.sizeHint().height(), header.heightForWidth(width))
                header.setGeometry(0, -self.verticalScrollBar().value(), width, height)
        hides_properties = header is not None and is_live and self._has_form
        if hides_properties != flow.hides_properties:
            flow.hides_properties = hides_properties
            first, last = flow.block(0)
            if flow.rows[first].scan.kind is LineKind.PROPERTIES:
                for row in flow.rows[first : last + 1]:
                    row.fragments = None
                for line in range(first, last + 1):
                    flow.row(line)
        top = height + _TOP_MARGIN
        if top != layout.top:
            bar = self.verticalScrollBar()
            value = bar.value()
            distance, layout.top = top - layout.top, top
            layout.emit_size()
            if value > layout.top:
                bar.setValue(round(value + distance))
        self.viewport().update()

    def show_drawing(self, request: DrawingRequest, drawing: Drawing) -> None:
        """Show a requested drawing, keeping the visible text in place."""
        self._pending_requests.discard(request)
        _SHARED_CACHE.put(request, drawing)
        self._last_drawings[(request.kind, request.source)] = drawing
        bar = self.verticalScrollBar()
        top = bar.value() - self._layout.top
        new_top = self.flow.relayout_lines(self.flow.lines_waiting_for(request), top)
        self._layout.emit_size()
        if new_top != top:
            bar.setValue(round(new_top + self._layout.top))
        self.viewport().update()

    def refresh_files(self) -> None:
        """Request pictures and embedded notes again, because files have changed."""
        rows = [row for row in self.flow.rows if any(r.kind in ("image", "embed") for r in row.requests)]
        if rows:
            _SHARED_CACHE.drop_files()
            for row in rows:
                row.fragments = None
            self.viewport().update()

    def embeds_any_of(self, notes: Collection[str]) -> bool:
        """Return whether a line embeds one of these notes or a part of it; "" is the note itself.

        Embeds within other text do not count: only pictures are drawn there.
        """
        embeds = (row.scan.detail for row in self.flow.rows if row.scan.kind is LineKind.EMBED)
        return any(embed.split("|")[0].split("#")[0].strip() in notes for embed in embeds)

    def _drawing(self, row: EditorRow, kind: str, source: str) -> Drawing | None:
        """Return the drawing for a row; request a missing one and return an earlier one for now."""
        style = self.flow.style
        is_file = kind in ("image", "embed")
        available_width = int(self.flow.width - row.indent)
        request = DrawingRequest(
            kind,
            source,
            -(-available_width // _WIDTH_STEP) * _WIDTH_STEP if is_file or kind == "mermaid" else 0,
            style.font.pointSizeF(),
            style.theme.text,
            self.devicePixelRatioF(),
            style.theme.is_dark,
            style.zoom if is_file else 1.0,
            self.drawing_scope if is_file else "",
        )
        row.requests.append(request)
        drawing = _SHARED_CACHE.get(request)
        if drawing is None:
            if request not in self._pending_requests:
                self._queued_requests[request] = None
                self._request_timer.start()
            drawing = self._last_drawings.get((kind, source))
        return drawing if drawing is not None and drawing.image is not None else None

    def _is_unresolved(self, target: str) -> bool:
        """Return whether a link is known to be unresolved; request an unknown target."""
        exists = self._link_exists.get(target)
        if exists is None and target not in self._unknown_links:
            self._unknown_links[target] = None
            self._request_timer.start()
        return exists is False

    def show_links(self, existence: dict[str, bool]) -> None:
        """Set which of the link targets exist."""
        changed_targets = {
            target for target, exists in existence.items() if self._link_exists.get(target, True) != exists
        }
        self._link_exists.update(existence)
        for target in existence:
            self._unknown_links.pop(target, None)
        for row, line in zip(self.flow.rows, self.flow.lines, strict=True):
            if row.fragments and any(f"[[{target}" in line for target in changed_targets):
                row.fragments = None
        if changed_targets:
            self.viewport().update()

    def refresh_links(self) -> None:
        """Check again which link targets exist, because notes were added or removed."""
        if self._link_exists:
            self.links_requested.emit(list(self._link_exists))

    def _send_requests(self) -> None:
        if targets := [target for target in self._unknown_links if target not in self._link_exists]:
            self.links_requested.emit(targets)
        requests, self._queued_requests = list(self._queued_requests), {}
        for request in requests:
            self._pending_requests.add(request)
            self.drawing_requested.emit(request)

    def _activate_line(self) -> None:
        """Show the source of the cursor's line; while a mouse button is down, leave the text in place."""
        if self._layout.is_paused or self._is_pressed:
            return
        line = self.textCursor().blockNumber()
        flow = self.flow
        is_in_properties = flow.rows[line].scan.kind is LineKind.PROPERTIES
        if is_in_properties != self._is_in_properties:  # show either the form or the source, never both
            self._is_in_properties = is_in_properties
            self._place_header()
        is_revealed = flow.reveal(line)
        if flow.set_active(line, line) or is_revealed:
            first, last = flow.active
            for index in range(first, min(last, first + 60) + 1):
                flow.row(index)
            self._layout.emit_size()
            self.viewport().update()
            self.ensureCursorVisible()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Toggle a check box or a fold, or put the cursor where the user clicked."""
        if event.button() == Qt.MouseButton.LeftButton and self._click(event):
            event.accept()
            return
        self._is_pressed = event.button() == Qt.MouseButton.LeftButton
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Show the source of the clicked line; with Ctrl, follow the clicked link."""
        was_pressed = self._is_pressed
        super().mouseReleaseEvent(event)
        self._release()
        has_ctrl = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if was_pressed and has_ctrl and not self.textCursor().hasSelection():
            self.follow_link_at(self.textCursor().position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show the pointer shape for clickable elements."""
        super().mouseMoveEvent(event)
        if self._is_pressed and not QGuiApplication.mouseButtons() and not event.buttons():
            self._release()  # a drag has ended elsewhere
        if not event.buttons():
            self._hover(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Clear the hover state."""
        super().leaveEvent(event)
        self._set_hovered_line(-1)
        self._set_hovered_link("", QPoint())

    def _release(self) -> None:
        if self._is_pressed:
            self._is_pressed = False
            self._activate_line()

    def _flow_point(self, event: QMouseEvent) -> QPointF:
        """Convert the position of an event to flow coordinates."""
        scroll_offset = QPointF(self.horizontalScrollBar().value(), self.verticalScrollBar().value())
        return self._layout.to_flow(event.position() + scroll_offset)

    def _click(self, event: QMouseEvent) -> bool:
        """Handle a click on an active element; return whether there was one."""
        point, flow = self._flow_point(event), self.flow
        if not 0 <= point.y() < flow.heights.total:
            return False
        line, top = flow.heights.line_at(point.y())
        row = flow.row(line)
        if self._is_on_fold_mark(row, point - QPointF(0, top)) and flow.fold_range(line) is not None:
            self.set_folded(line, not flow.is_folded(row))
            return True
        is_title = row.scan.kind is LineKind.CALLOUT and bool(row.scan.fold) and not row.active
        if is_title and not event.modifiers() and hit_test.is_on_text(flow, point.x(), point.y()):
            self.set_folded(line, not flow.is_folded(row))
            return True
        if self.is_on_checkbox(point):
            self.toggle_task(line)
            return True
        return False

    def is_on_checkbox(self, point: QPointF) -> bool:
        """Return whether a point in the flow is on a task's checkbox, either drawn or shown as source."""
        line, top = self.flow.heights.line_at(point.y())
        row = self.flow.row(line)
        if row.scan.kind is not LineKind.TASK or not row.fragments:
            return False
        if not row.active:
            tolerance = _CHECKBOX_TOLERANCE
            box = row_layout.checkbox(self.flow, row).translated(0, top)
            return box.adjusted(-tolerance, -tolerance, tolerance, tolerance).contains(point)
        start = self.flow.lines[line].find("[", 0, row.scan.marker)
        if start < 0:
            return False
        left = hit_test.caret_rect(self.flow, line, start)
        right = hit_test.caret_rect(self.flow, line, start + 3)
        return QRectF(left.topLeft(), right.bottomRight()).contains(point)

    def _is_on_fold_mark(self, row: EditorRow, point: QPointF) -> bool:
        center = painting.fold_mark_center(self.flow, row)
        tolerance = _FOLD_MARK_TOLERANCE * self.flow.style.zoom
        return abs(point.x() - center.x()) <= tolerance and abs(point.y() - center.y()) <= tolerance

    def _hover(self, event: QMouseEvent) -> None:
        point, flow = self._flow_point(event), self.flow
        is_inside = 0 <= point.y() < flow.heights.total
        line, top = flow.heights.line_at(point.y()) if is_inside else (-1, 0.0)
        self._set_hovered_line(line)
        shape = Qt.CursorShape.IBeamCursor
        link = None
        if is_inside:
            link = self.link_at_point(point)
            row = flow.row(line)
            has_ctrl = event.modifiers() & Qt.KeyboardModifier.ControlModifier
            is_on_fold_mark = (
                self._is_on_fold_mark(row, point - QPointF(0, top)) and flow.fold_range(line) is not None
            )
            if is_on_fold_mark or self.is_on_checkbox(point) or (has_ctrl and link is not None):
                shape = Qt.CursorShape.PointingHandCursor
        self.viewport().setCursor(shape)
        # An embedded note is already shown.
        is_text = link is not None and hit_test.is_on_text(flow, point.x(), point.y())
        name = link.target if link is not None and is_text and link.kind == "note" else ""
        self._set_hovered_link(name, event.globalPosition().toPoint())

    def _set_hovered_line(self, line: int) -> None:
        if line != self._layout.hovered:
            self._layout.hovered = line
            self.viewport().update()

    def _set_hovered_link(self, name: str, position: QPoint) -> None:
        if name != self._hovered_link:
            self._hovered_link = name
            self.link_hovered.emit(name, position)

    def link_at_point(self, point: QPointF) -> InlineLink | None:
        """Return the link or embed at a point in the flow."""
        if not hit_test.is_on_text(self.flow, point.x(), point.y()):
            return self._embed_at(point)
        line, column = hit_test.position_at(self.flow, point.x(), point.y())
        return self._link_in_line(line, column)

    def _embed_at(self, point: QPointF) -> InlineLink | None:
        line, top = self.flow.heights.line_at(point.y())
        row = self.flow.row(line)
        is_drawn = row.scan.kind is LineKind.EMBED and row.drawing is not None
        if is_drawn and row_layout.picture_box(self.flow, row).translated(0, top).contains(point):
            return self._link_in_line(line, self.flow.lines[line].find("[") + 1)
        return None

    def _link_in_line(self, line: int, column: int) -> InlineLink | None:
        row, text = self.flow.rows[line], self.flow.lines[line]
        links = scan_inline(text, row.scan.marker).links
        return next((link for link in links if link.start <= column <= link.end), None)

    def follow_link_at(self, position: int) -> bool:
        """Follow the link at a position; return whether it was followed."""
        link = self._link_in_line(*self._layout.locate(position))
        if link is None:
            return False
        if link.kind == "footnote":
            return self._go_to_footnote(link.target)
        self.link_followed.emit(link.kind, link.target)
        return True

    def _go_to_footnote(self, name: str) -> bool:
        for line, row in enumerate(self.flow.rows):
            if row.scan.kind is LineKind.FOOTNOTE and row.scan.detail == name:
                self.go_to_line(line + 1)
                return True
        return False

    def set_folded(self, line: int, folded: bool) -> None:
        """Fold or unfold the content of the heading, list item or callout in a line."""
        hidden_range = self.flow.fold_range(line)
        if hidden_range is None:
            return
        if folded and hidden_range[0] <= self.textCursor().blockNumber() <= hidden_range[1]:
            self.setTextCursor(QTextCursor(self.document().findBlockByNumber(line)))
        self.flow.set_folded(line, folded)
        self._layout.emit_size()
        self.viewport().update()

    def task_lines(self, text: str) -> list[int]:
        """Return the lines of the tasks whose text after the box is `text`."""
        flow = self.flow
        return [
            line
            for line, row in enumerate(flow.rows)
            if row.scan.kind is LineKind.TASK and flow.lines[line][row.scan.marker :].strip() == text
        ]

    def toggle_task(self, line: int) -> None:
        """Check or uncheck the task in a line, as one undo step; the cursor does not move."""
        row, text = self.flow.rows[line], self.flow.lines[line]
        if self.isReadOnly() or row.scan.kind is not LineKind.TASK:
            return
        column = text.rindex("[", 0, row.scan.marker) + 1
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._layout.position(line, column))
        cursor.setPosition(self._layout.position(line, column + 1), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText("x" if row.scan.detail.isspace() else " ")
        self.viewport().update()

    def move_by_key(self, event: QKeyEvent) -> bool:
        """Move the cursor in the rendered text, which Qt does not lay out; return False for other keys."""
        if (vertical := navigation.vertical_key(event)) is not None:
            step, by_page, selects = vertical
            height = self.viewport().height() if by_page else 0
            start = self._layout.locate(self.textCursor().position())
            target, self._goal_x = navigation.move_vertically(self.flow, start, self._goal_x, step, height)
            if by_page and not navigation.has_moved(self.flow, start, target):
                if self._scroll_in_row(start[0], step):
                    return True
                target, _ = navigation.move_vertically(self.flow, start, self._goal_x, step, 0)
            self._move_to(target, selects)
            return True
        self._goal_x = None
        if (side := navigation.side_key(event)) is not None:
            to_end, selects = side
            start = self._layout.locate(self.textCursor().position())
            self._move_to(navigation.move_to_side(self.flow, start, to_end), selects)
            return True
        if self.is_at_start_of_text() and any(event.matches(key) for key in _BACKWARD):
            return True  # the form shows the properties
        if event.matches(QKeySequence.StandardKey.MoveToStartOfDocument):
            hides_properties = self.flow.hides_properties
            self._move_to((navigation.first_text_line(self.flow) if hides_properties else 0, 0), False)
            self.verticalScrollBar().setValue(0)  # the header is above the cursor
            return True
        return False

    def _scroll_in_row(self, line: int, step: int) -> bool:
        """Scroll by a page in a row taller than the view, for example an embed; return False at its end."""
        bar, height = self.verticalScrollBar(), self.viewport().height()
        top = round(self.flow.heights.top(line) + self._layout.top) - bar.value()
        bottom = top + math.ceil(self.flow.heights[line])
        remaining = bottom - height if step > 0 else -top
        if bottom - top <= height or remaining <= 0 or bottom <= 0 or top >= height:
            return False
        bar.setValue(bar.value() + step * min(remaining, round(height * navigation.PAGE_SHARE)))
        return True

    def is_at_start_of_text(self) -> bool:
        """Return whether the cursor is right after the properties shown in a form, without a selection."""
        cursor, first = self.textCursor(), navigation.first_text_line(self.flow)
        return (
            bool(first) and not cursor.hasSelection() and cursor.position() == self._layout.position(first, 0)
        )

    def _move_to(self, target: tuple[int, int], selects: bool) -> None:
        mode = QTextCursor.MoveMode.KeepAnchor if selects else QTextCursor.MoveMode.MoveAnchor
        cursor = self.textCursor()
        cursor.setPosition(self._layout.position(*target), mode)
        self.setTextCursor(cursor)

    def createMimeDataFromSelection(self) -> QMimeData:
        """Copy the source; selected rendered text includes its markup."""
        cursor = self.selection_with_markup()
        data = QMimeData()
        data.setText(cursor.selectedText().replace(PARAGRAPH_SEPARATOR, "\n"))
        return data

    def selection_with_markup(self) -> QTextCursor:
        """Return the selection, including the markup of rendered text that it fully contains."""
        cursor = self.textCursor()
        if self.flow.shows_source:
            return cursor
        start, end = cursor.selectionStart(), cursor.selectionEnd()
        first = self._extended_edge(start, end, at_start=True)
        last = self._extended_edge(start, end, at_start=False)
        cursor.setPosition(first)
        cursor.setPosition(last, QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _extended_edge(self, start: int, end: int, *, at_start: bool) -> int:
        line, _ = self._layout.locate(start if at_start else end)
        row, text = self.flow.rows[line], self.flow.lines[line]
        edge = start if at_start else end
        if row.active:
            return edge
        for construct in scan_inline(text, row.scan.marker).constructs:
            inner_start = self._layout.position(line, construct.inner_start)
            inner_end = self._layout.position(line, construct.inner_end)
            if start <= inner_start and end >= inner_end:
                outer = self._layout.position(line, construct.start if at_start else construct.end)
                edge = min(edge, outer) if at_start else max(edge, outer)
        if at_start and row.scan.marker > 0:
            marker_end = self._layout.position(line, row.scan.marker)
            line_end = self._layout.position(line, len(text))
            if start == marker_end and end > line_end:
                edge = min(edge, self._layout.position(line, 0))
        return edge

    def paintEvent(self, event: QPaintEvent) -> None:
        """Lay out the newly visible rows before painting, so that the visible text does not move."""
        self._layout_visible()
        if self._has_caret_moved and not self._is_pressed:
            self._has_caret_moved = False
            self._reveal_clipped_caret()
        super().paintEvent(event)
        if event.region().intersects(self.cursorRect()):
            self._repaint_caret(event.region())

    def _repaint_caret(self, painted: QRegion | None = None) -> None:
        """Repaint the old and new areas of the caret, unless the `painted` region contains them.

        Qt computes the area of a moving or blinking caret with the font of the text, but headings and code
        use other fonts.
        """
        if self._layout.is_paused:
            return
        if painted is None:
            self._has_caret_moved = True
        previous, self._painted_caret = self._painted_caret, self.caret_in_view()
        visible = QRegion(self.viewport().rect())
        # Only the visible part: a part that is never painted would request another repaint each time.
        caret_region = QRegion(previous).united(self._painted_caret).intersected(visible)
        if painted is None or not caret_region.subtracted(painted).isEmpty():
            self.viewport().update(caret_region)

    def _reveal_clipped_caret(self) -> None:
        """Scroll the caret into view if the edge of the view cuts it off: Qt underestimates its height."""
        caret, bar, height = self.caret_in_view(), self.verticalScrollBar(), self.viewport().height()
        if caret.top() < height <= caret.bottom() and caret.height() < height:
            bar.setValue(bar.value() + caret.bottom() - height + 1)
        elif caret.top() < 0 <= caret.bottom():
            bar.setValue(bar.value() + caret.top())

    def _repaint_selection(self) -> None:
        self.viewport().update()

    def caret_in_view(self) -> QRect:
        """Return the area of the cursor in the viewport."""
        caret = self._layout.caret(self.textCursor().position())
        bars = -self.horizontalScrollBar().value(), -self.verticalScrollBar().value()
        return caret.translated(*bars).toAlignedRect().adjusted(-1, 0, 2, 0)

    def _layout_visible(self) -> None:
        bar, flow, layout = self.verticalScrollBar(), self.flow, self._layout
        old_height, value = flow.heights.total, bar.value()
        top = flow.lay_out_visible(value - layout.top, self.viewport().height())
        if flow.heights.total != old_height:
            layout.emit_size()
            new_value = round(top + layout.top)
            if new_value != value and value > layout.top:
                bar.setValue(new_value)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the text in a column of readable width."""
        self._fit_column()
        super().resizeEvent(event)
        self._layout.emit_size()

    def _fit_column(self) -> None:
        layout, view_width = self._layout, self.viewport().width()
        zoom = self._theme.zoom
        max_width = round(self._preferences.line_width * zoom) or view_width
        width = max(120, min(max_width, view_width - round(2 * _MIN_MARGIN * zoom)))
        with self._keep_top_line():
            layout.left = max(_MIN_MARGIN * zoom * 0.75, (view_width - width) / 2)
            layout.page_width = view_width
            self.flow.set_width(float(width))
            self._place_header()

    def _follow_scrolling(self, value: int) -> None:
        if self._header is not None:
            self._header.move(0, -value)
